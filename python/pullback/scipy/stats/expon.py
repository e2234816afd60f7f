"""The exponential distribution."""

from pullback import _core
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution("exponential", "exp(-x)", {"x": "real numbers"})


@_of("1.0", -1.0)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("expon.logpdf", x, loc, scale)
    value = -((x - loc) / scale + _n.log(scale))
    return _n.where(x < loc, -_INF, value)


@_of("1.0", 0.3679)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("1.0", 0.6321)
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("expon.cdf", x, loc, scale)
    return _n.where(x < loc, 0.0, -_n.expm1(-(x - loc) / scale)).astype(x.dtype)


@_of("1.0", -0.4587)
def logcdf(x, loc=0, scale=1):
    x, loc, scale = _promote("expon.logcdf", x, loc, scale)
    y = (x - loc) / scale
    return _n.where(x < loc, -_INF, _n.log1p(-_n.exp(-y)))


@_of("1.0", 0.3679)
def sf(x, loc=0, scale=1):
    x, loc, scale = _promote("expon.sf", x, loc, scale)
    return _n.where(x < loc, 1.0, _n.exp(-(x - loc) / scale)).astype(x.dtype)


@_of("1.0", -1.0)
def logsf(x, loc=0, scale=1):
    x, loc, scale = _promote("expon.logsf", x, loc, scale)
    return _n.where(x < loc, 0.0, -(x - loc) / scale).astype(x.dtype)


@_of("0.5", 0.6931)
def ppf(q, loc=0, scale=1):
    q, loc, scale = _promote("expon.ppf", q, loc, scale)
    return _n.where(_n.isnan(q) | (q < 0) | (q > 1), float("nan"), loc - scale * _n.log1p(-q))
