"""The normal distribution."""

import math as _math

from pullback import _core
from pullback.scipy.special import log_ndtr as _log_ndtr
from pullback.scipy.special import ndtr as _ndtr
from pullback.scipy.special import ndtri as _ndtri
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_DENSITY = "exp(-x**2 / 2) / sqrt(2 pi)"


@_of("normal", _DENSITY)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.logpdf", x, loc, scale)
    variance = scale * scale
    return -0.5 * (_n.log(2 * _math.pi * variance) + (x - loc) ** 2 / variance)


@_of("normal", _DENSITY)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("normal")
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.cdf", x, loc, scale)
    return _ndtr((x - loc) / scale)


@_of("normal")
def logcdf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.logcdf", x, loc, scale)
    return _log_ndtr((x - loc) / scale)


@_of("normal")
def sf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.sf", x, loc, scale)
    return cdf(-x, -loc, scale)


@_of("normal")
def logsf(x, loc=0, scale=1):
    x, loc, scale = _promote("norm.logsf", x, loc, scale)
    return logcdf(-x, -loc, scale)


@_of("normal")
def ppf(q, loc=0, scale=1):
    (q,) = _promote("norm.ppf", q)
    return _ndtri(q) * scale + loc


@_of("normal")
def isf(q, loc=0, scale=1):
    return ppf(1 - _n.asarray(q), loc, scale)
