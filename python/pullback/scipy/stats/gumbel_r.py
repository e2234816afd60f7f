"""The right-skewed Gumbel distribution."""

from pullback import _core
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution("right-skewed Gumbel", "exp(-(x + exp(-x)))", {"x": "real numbers"})


@_of("1.0", -1.3679)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("gumbel_r.logpdf", x, loc, scale)
    y = (x - loc) / scale
    return _n.where(scale > 0, -(y + _n.exp(-y)) - _n.log(scale), float("nan"))


@_of("1.0", 0.2546)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("1.0", -0.3679)
def logcdf(x, loc=0, scale=1):
    x, loc, scale = _promote("gumbel_r.logcdf", x, loc, scale)
    return _n.where(scale > 0, -_n.exp(-(x - loc) / scale), float("nan"))


@_of("1.0", 0.6922)
def cdf(x, loc=0, scale=1):
    return _n.exp(logcdf(x, loc, scale))


@_of("0.25", -0.3266)
def ppf(p, loc=0, scale=1):
    p, loc, scale = _promote("gumbel_r.ppf", p, loc, scale)
    return _n.where(scale > 0, loc - scale * _n.log(-_n.log(p)), float("nan"))


@_of("1.0", 0.3078)
def sf(x, loc=0, scale=1):
    return -_n.expm1(logcdf(x, loc, scale))


@_of("1.0", -1.1783)
def logsf(x, loc=0, scale=1):
    x, loc, scale = _promote("gumbel_r.logsf", x, loc, scale)
    z = (x - loc) / scale
    # Far out the tail is exp(-z); expm1 keeps it where one minus the distribution function has no digits left.
    is_far = z > 40
    double = -_n.exp(-_n.where(is_far, 0, z))
    near = _n.where(z > 0, _n.log(-_n.expm1(double)), _n.log1p(-_n.exp(double)))
    return _n.where(is_far, -z, near)
