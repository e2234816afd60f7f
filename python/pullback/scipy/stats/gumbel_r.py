"""The right-skewed Gumbel distribution."""

from pullback import _core
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_DENSITY = "exp(-(x + exp(-x)))"


@_of("right-skewed Gumbel", _DENSITY)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("gumbel_r.logpdf", x, loc, scale)
    y = (x - loc) / scale
    return _n.where(scale > 0, -(y + _n.exp(-y)) - _n.log(scale), float("nan"))


@_of("right-skewed Gumbel", _DENSITY)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("right-skewed Gumbel")
def logcdf(x, loc=0, scale=1):
    x, loc, scale = _promote("gumbel_r.logcdf", x, loc, scale)
    return _n.where(scale > 0, -_n.exp(-(x - loc) / scale), float("nan"))


@_of("right-skewed Gumbel")
def cdf(x, loc=0, scale=1):
    return _n.exp(logcdf(x, loc, scale))


@_of("right-skewed Gumbel")
def ppf(p, loc=0, scale=1):
    p, loc, scale = _promote("gumbel_r.ppf", p, loc, scale)
    return _n.where(scale > 0, loc - scale * _n.log(-_n.log(p)), float("nan"))


@_of("right-skewed Gumbel")
def sf(x, loc=0, scale=1):
    return -_n.expm1(logcdf(x, loc, scale))


@_of("right-skewed Gumbel")
def logsf(x, loc=0, scale=1):
    return _n.log1p(-cdf(x, loc, scale))
