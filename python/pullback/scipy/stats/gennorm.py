"""The generalized normal distribution."""

from pullback import _core
from pullback.scipy.special import gammainc as _gammainc
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution(
    "generalized normal",
    "beta exp(-|x|**beta) / (2 gamma(1 / beta))",
    {
        "x": "real numbers",
        "beta": "positive shapes: 1 gives the Laplace distribution, 2 the normal one with variance 1/2",
    },
)


@_of("0.5, 1.5", -0.9444)
def logpdf(x, beta):
    x, beta = _promote("gennorm.logpdf", x, beta)
    return _n.log(0.5 * beta) - _gammaln(1 / beta) - _n.abs(x) ** beta


@_of("0.5, 1.5", 0.7417)
def cdf(x, beta):
    x, beta = _promote("gennorm.cdf", x, beta)
    return 0.5 * (1 + _n.sign(x) * _gammainc(1 / beta, _n.abs(x) ** beta))


@_of("0.5, 1.5", 0.3889)
def pdf(x, beta):
    return _n.exp(logpdf(x, beta))
