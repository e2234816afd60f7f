"""The gamma distribution."""

from pullback import _core
from pullback.scipy.special import gammainc as _gammainc
from pullback.scipy.special import gammaincc as _gammaincc
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution("gamma", "x**(a - 1) exp(-x) / gamma(a)", {"x": "real numbers", "a": "positive shapes"})


@_of("1.0, 2.0", -1.0)
def logpdf(x, a, loc=0, scale=1):
    x, a, loc, scale = _promote("gamma.logpdf", x, a, loc, scale)
    is_inside = x >= loc
    y = _n.where(is_inside, (x - loc) / scale, 1)
    value = _xlogy(a - 1, y) - y - (_gammaln(a) + _n.log(scale))
    return _n.where(is_inside, value, -_INF)


@_of("1.0, 2.0", 0.3679)
def pdf(x, a, loc=0, scale=1):
    return _n.exp(logpdf(x, a, loc, scale))


@_of("1.0, 2.0", 0.2642)
def cdf(x, a, loc=0, scale=1):
    x, a, loc, scale = _promote("gamma.cdf", x, a, loc, scale)
    return _gammainc(a, _n.clip((x - loc) / scale, 0))


@_of("1.0, 2.0", -1.3309)
def logcdf(x, a, loc=0, scale=1):
    return _n.log(cdf(x, a, loc, scale))


@_of("1.0, 2.0", 0.7358)
def sf(x, a, loc=0, scale=1):
    x, a, loc, scale = _promote("gamma.sf", x, a, loc, scale)
    y = (x - loc) / scale
    return _n.where(x < loc, 1.0, _gammaincc(a, _n.clip(y, 0))).astype(x.dtype)


@_of("1.0, 2.0", -0.3069)
def logsf(x, a, loc=0, scale=1):
    return _n.log(sf(x, a, loc, scale))
