"""The Bernoulli distribution."""

from pullback import _core
from pullback.scipy.special import xlog1py as _xlog1py
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution("Bernoulli", "p**k (1 - p)**(1 - k)", {"k": "integers", "p": "probabilities of 1"})


@_of("1, 0.25", -1.3863, wrt="p")
def logpmf(k, p, loc=0):
    k, p, loc = _promote("bernoulli.logpmf", k, p, loc)
    x = k - loc
    value = _xlogy(x, p) + _xlog1py(1 - x, -p)
    return _n.where((x < 0) | (x > 1), -_INF, value)


@_of("1, 0.25", 0.25, wrt="p")
def pmf(k, p, loc=0):
    return _n.exp(logpmf(k, p, loc))


@_of("1, 0.25", 1.0, wrt="p")
def cdf(k, p):
    k, p = _promote("bernoulli.cdf", k, p)
    is_invalid = _n.isnan(k) | _n.isnan(p) | (p < 0) | (p > 1)
    return _n.select([is_invalid, k < 0, k < 1, k >= 1], [_n.full_like(p, float("nan")), _n.zeros_like(p), 1 - p, _n.ones_like(p)])


@_of("0.9, 0.25", 1.0, wrt="p")
def ppf(q, p):
    q, p = _promote("bernoulli.ppf", q, p)
    is_invalid = _n.isnan(q) | _n.isnan(p) | (p < 0) | (p > 1) | (q < 0) | (q > 1)
    return _n.where(is_invalid, float("nan"), _n.where(q == 0, -1.0, _n.where(q <= 1 - p, 0.0, 1.0))).astype(q.dtype)
