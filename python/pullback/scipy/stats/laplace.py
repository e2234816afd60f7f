"""The Laplace distribution."""

from pullback import _core
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution("Laplace", "exp(-|x|) / 2", {"x": "real numbers"})


@_of("1.0", -1.6931)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("laplace.logpdf", x, loc, scale)
    return -(_n.abs(x - loc) / scale + _n.log(2 * scale))


@_of("1.0", 0.1839)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("1.0", 0.8161)
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("laplace.cdf", x, loc, scale)
    y = (x - loc) / scale
    return _n.where(y <= 0, 0.5 * _n.exp(y), 1 - 0.5 * _n.exp(-y))
