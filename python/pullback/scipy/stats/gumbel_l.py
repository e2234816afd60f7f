"""The left-skewed Gumbel distribution."""

from pullback import _core
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution("left-skewed Gumbel", "exp(x - exp(x))", {"x": "real numbers"})


@_of("1.0", -1.7183)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("gumbel_l.logpdf", x, loc, scale)
    y = (x - loc) / scale
    return _n.where(scale > 0, y - _n.exp(y) - _n.log(scale), float("nan"))


@_of("1.0", 0.1794)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("1.0", -0.0683)
def logcdf(x, loc=0, scale=1):
    return _n.log(cdf(x, loc, scale))


@_of("1.0", 0.934)
def cdf(x, loc=0, scale=1):
    return -_n.expm1(logsf(x, loc, scale))


@_of("0.25", -1.2459)
def ppf(p, loc=0, scale=1):
    p, loc, scale = _promote("gumbel_l.ppf", p, loc, scale)
    return _n.where(scale > 0, loc + scale * _n.log(-_n.log1p(-p)), float("nan"))


@_of("1.0", 0.066)
def sf(x, loc=0, scale=1):
    return _n.exp(logsf(x, loc, scale))


@_of("1.0", -2.7183)
def logsf(x, loc=0, scale=1):
    x, loc, scale = _promote("gumbel_l.logsf", x, loc, scale)
    return _n.where(scale > 0, -_n.exp((x - loc) / scale), float("nan"))
