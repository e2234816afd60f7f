"""The Bernoulli distribution."""

from pullback import _core
from pullback.scipy.special import xlog1py as _xlog1py
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_DENSITY = "p**k (1 - p)**(1 - k)"


@_of("Bernoulli", _DENSITY)
def logpmf(k, p, loc=0):
    k, p, loc = _promote("bernoulli.logpmf", k, p, loc)
    x = k - loc
    value = _xlogy(x, p) + _xlog1py(1 - x, -p)
    return _n.where((x < 0) | (x > 1), -_INF, value)


@_of("Bernoulli", _DENSITY)
def pmf(k, p, loc=0):
    return _n.exp(logpmf(k, p, loc))


@_of("Bernoulli")
def cdf(k, p):
    k, p = _promote("bernoulli.cdf", k, p)
    is_invalid = _n.isnan(k) | _n.isnan(p) | (p < 0) | (p > 1)
    return _n.select([is_invalid, k < 0, k < 1, k >= 1], [_n.full_like(p, float("nan")), _n.zeros_like(p), 1 - p, _n.ones_like(p)])


@_of("Bernoulli")
def ppf(q, p):
    q, p = _promote("bernoulli.ppf", q, p)
    is_invalid = _n.isnan(q) | _n.isnan(p) | (p < 0) | (p > 1) | (q < 0) | (q > 1)
    return _n.where(is_invalid, float("nan"), _n.where(q == 0, -1.0, _n.where(q <= 1 - p, 0.0, 1.0))).astype(q.dtype)
