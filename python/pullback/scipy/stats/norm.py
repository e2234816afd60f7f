"""The normal distribution."""

import math as _math

from pullback import _core
from pullback.scipy.special import log_ndtr as _log_ndtr
from pullback.scipy.special import ndtr as _ndtr
from pullback.scipy.special import ndtri as _ndtri
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution("normal", "exp(-x**2 / 2) / sqrt(2 pi)", {"x": "real numbers"})


@_of("1.0", -1.4189)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.logpdf", x, loc, scale)
    variance = scale * scale
    return -0.5 * (_n.log(2 * _math.pi * variance) + (x - loc) ** 2 / variance)


@_of("1.0", 0.242)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("1.0", 0.8413)
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.cdf", x, loc, scale)
    return _ndtr((x - loc) / scale)


@_of("1.0", -0.1728)
def logcdf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.logcdf", x, loc, scale)
    return _log_ndtr((x - loc) / scale)


@_of("1.0", 0.1587)
def sf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.sf", x, loc, scale)
    return cdf(-x, -loc, scale)


@_of("1.0", -1.841)
def logsf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.logsf", x, loc, scale)
    return logcdf(-x, -loc, scale)


@_of("0.25", -0.6745)
def ppf(q, loc=0, scale=1):
    (q,) = _promote("norm.ppf", q)
    return _ndtri(q) * scale + loc


@_of("0.25", 0.6745)
def isf(q, loc=0, scale=1):
    return ppf(1 - _n.asarray(q), loc, scale)
