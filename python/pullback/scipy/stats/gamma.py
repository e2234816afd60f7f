"""The gamma distribution."""

from pullback import _core
from pullback.scipy.special import gammainc as _gammainc
from pullback.scipy.special import gammaincc as _gammaincc
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_DENSITY = "x**(a - 1) exp(-x) / gamma(a)"


@_of("gamma", _DENSITY)
def logpdf(x, a, loc=0, scale=1):
    x, a, loc, scale = _promote("gamma.logpdf", x, a, loc, scale)
    is_inside = x >= loc
    y = _n.where(is_inside, (x - loc) / scale, 1)
    value = _xlogy(a - 1, y) - y - (_gammaln(a) + _n.log(scale))
    return _n.where(is_inside, value, -_INF)


@_of("gamma", _DENSITY)
def pdf(x, a, loc=0, scale=1):
    return _n.exp(logpdf(x, a, loc, scale))


@_of("gamma")
def cdf(x, a, loc=0, scale=1):
    x, a, loc, scale = _promote("gamma.cdf", x, a, loc, scale)
    return _gammainc(a, _n.clip((x - loc) / scale, 0))


@_of("gamma")
def logcdf(x, a, loc=0, scale=1):
    return _n.log(cdf(x, a, loc, scale))


@_of("gamma")
def sf(x, a, loc=0, scale=1):
    x, a, loc, scale = _promote("gamma.sf", x, a, loc, scale)
    y = (x - loc) / scale
    return _n.where(x < loc, 1.0, _gammaincc(a, _n.clip(y, 0))).astype(x.dtype)


@_of("gamma")
def logsf(x, a, loc=0, scale=1):
    return _n.log(sf(x, a, loc, scale))
