"""The logistic distribution."""

from pullback import _core
from pullback.scipy.special import expit as _expit
from pullback.scipy.special import logit as _logit
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_DENSITY = "exp(-x) / (1 + exp(-x))**2"


@_of("logistic", _DENSITY)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.logpdf", x, loc, scale)
    y = (x - loc) / scale * 0.5
    return -2 * _n.logaddexp(y, -y) - _n.log(scale)


@_of("logistic", _DENSITY)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("logistic")
def ppf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.ppf", x, loc, scale)
    return _logit(x) * scale + loc


@_of("logistic")
def sf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.sf", x, loc, scale)
    return _expit(-(x - loc) / scale)


@_of("logistic")
def isf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.isf", x, loc, scale)
    return -_logit(x) * scale + loc


@_of("logistic")
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.cdf", x, loc, scale)
    return _expit((x - loc) / scale)
