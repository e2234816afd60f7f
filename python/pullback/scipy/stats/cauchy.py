"""The Cauchy distribution."""

import math as _math

from pullback import _core
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_DENSITY = "1 / (pi (1 + x**2))"


@_of("Cauchy", _DENSITY)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("cauchy.logpdf", x, loc, scale)
    y = (x - loc) / scale
    return -(_n.log(_math.pi * scale) + _n.log1p(y * y))


@_of("Cauchy", _DENSITY)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("Cauchy")
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("cauchy.cdf", x, loc, scale)
    return 0.5 + _n.arctan((x - loc) / scale) / _math.pi


@_of("Cauchy")
def logcdf(x, loc=0, scale=1):
    return _n.log(cdf(x, loc, scale))


@_of("Cauchy")
def sf(x, loc=0, scale=1):
    x, loc, scale = _promote("cauchy.sf", x, loc, scale)
    return cdf(-x, -loc, scale)


@_of("Cauchy")
def logsf(x, loc=0, scale=1):
    x, loc, scale = _promote("cauchy.logsf", x, loc, scale)
    return logcdf(-x, -loc, scale)


@_of("Cauchy")
def ppf(q, loc=0, scale=1):
    q, loc, scale = _promote("cauchy.ppf", q, loc, scale)
    return _n.tan(_math.pi * q - _math.pi / 2) * scale + loc


@_of("Cauchy")
def isf(q, loc=0, scale=1):
    q, loc, scale = _promote("cauchy.isf", q, loc, scale)
    return _n.tan(_math.pi / 2 - _math.pi * q) * scale + loc
