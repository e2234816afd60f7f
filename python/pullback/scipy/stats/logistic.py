"""The logistic distribution."""

from pullback import _core
from pullback.scipy.special import expit as _expit
from pullback.scipy.special import logit as _logit
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution("logistic", "exp(-x) / (1 + exp(-x))**2", {"x": "real numbers"})


@_of("1.0", -1.6265)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.logpdf", x, loc, scale)
    y = (x - loc) / scale * 0.5
    return -2 * _n.logaddexp(y, -y) - _n.log(scale)


@_of("1.0", 0.1966)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("0.25", -1.0986)
def ppf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.ppf", x, loc, scale)
    return _logit(x) * scale + loc


@_of("1.0", 0.2689)
def sf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.sf", x, loc, scale)
    return _expit(-(x - loc) / scale)


@_of("0.25", 1.0986)
def isf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.isf", x, loc, scale)
    return -_logit(x) * scale + loc


@_of("1.0", 0.7311)
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("logistic.cdf", x, loc, scale)
    return _expit((x - loc) / scale)
