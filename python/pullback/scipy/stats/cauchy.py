"""The Cauchy distribution."""

import math as _math

from pullback import _core
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution("Cauchy", "1 / (pi (1 + x**2))", {"x": "real numbers"})


@_of("1.0", -1.8379)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("cauchy.logpdf", x, loc, scale)
    y = (x - loc) / scale
    return -(_n.log(_math.pi * scale) + _n.log1p(y * y))


@_of("1.0", 0.1592)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("1.0", 0.75)
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("cauchy.cdf", x, loc, scale)
    return 0.5 + _n.arctan((x - loc) / scale) / _math.pi


@_of("1.0", -0.2877)
def logcdf(x, loc=0, scale=1):
    return _n.log(cdf(x, loc, scale))


@_of("1.0", 0.25)
def sf(x, loc=0, scale=1):
    x, loc, scale = _promote("cauchy.sf", x, loc, scale)
    return cdf(-x, -loc, scale)


@_of("1.0", -1.3863)
def logsf(x, loc=0, scale=1):
    x, loc, scale = _promote("cauchy.logsf", x, loc, scale)
    return logcdf(-x, -loc, scale)


@_of("0.25", -1.0)
def ppf(q, loc=0, scale=1):
    q, loc, scale = _promote("cauchy.ppf", q, loc, scale)
    return _n.tan(_math.pi * q - _math.pi / 2) * scale + loc


@_of("0.25", 1.0)
def isf(q, loc=0, scale=1):
    q, loc, scale = _promote("cauchy.isf", q, loc, scale)
    return _n.tan(_math.pi / 2 - _math.pi * q) * scale + loc
