"""The generalized normal distribution."""

from pullback import _core
from pullback.scipy.special import gammainc as _gammainc
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_DENSITY = "beta exp(-|x|**beta) / (2 gamma(1 / beta))"


@_of("generalized normal", _DENSITY)
def logpdf(x, beta):
    x, beta = _promote("gennorm.logpdf", x, beta)
    return _n.log(0.5 * beta) - _gammaln(1 / beta) - _n.abs(x) ** beta


@_of("generalized normal")
def cdf(x, beta):
    x, beta = _promote("gennorm.cdf", x, beta)
    return 0.5 * (1 + _n.sign(x) * _gammainc(1 / beta, _n.abs(x) ** beta))


@_of("generalized normal", _DENSITY)
def pdf(x, beta):
    return _n.exp(logpdf(x, beta))
