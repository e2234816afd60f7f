"""The truncated normal distribution."""

from pullback import _core
from pullback.scipy.special import log_ndtr as _log_ndtr
from pullback.scipy.special import ndtr as _ndtr
from pullback.scipy.stats import norm as _norm
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "truncated normal",
    "norm.pdf(x) / (norm.cdf(b) - norm.cdf(a)) on a to b",
    {
        "x": "real numbers",
        "a": "lower bounds, before `loc` and `scale`; `-inf` for none",
        "b": "upper bounds, greater than `a` (else NaN); `inf` for none",
    },
)


def _log_mass(a, b):
    """The logarithm of the probability that a standard normal number lies between `a` and `b`, exact in both tails."""
    a, b = _n.broadcast_arrays(a, b)
    is_left, is_right = b <= 0, a > 0
    left = _log_difference(_log_ndtr(b), _log_ndtr(a))
    right = _log_difference(_log_ndtr(-a), _log_ndtr(-b))
    middle = _n.log1p(-_ndtr(a) - _ndtr(-b))
    return _n.where(is_left, left, _n.where(is_right, right, middle))


def _log_difference(x, y):
    """`log(exp(x) - exp(y))` for `x >= y`."""
    return x + _n.log1p(-_n.exp(_n.minimum(y - x, 0)))


@_of("0.5, -1.0, 2.0", -0.8438)
def logpdf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("truncnorm.logpdf", x, a, b, loc, scale)
    y = (x - loc) / scale
    value = _norm.logpdf(y) - _log_mass(a, b) - _n.log(scale)
    value = _n.where((y < a) | (y > b), -_INF, value)
    return _n.where(a >= b, float("nan"), value)


@_of("0.5, -1.0, 2.0", 0.4301)
def pdf(x, a, b, loc=0, scale=1):
    return _n.exp(logpdf(x, a, b, loc, scale))


@_of("0.5, -1.0, 2.0", -1.0523)
def logsf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("truncnorm.logsf", x, a, b, loc, scale)
    return logcdf(-x, -b, -a, -loc, scale)


@_of("0.5, -1.0, 2.0", 0.3491)
def sf(x, a, b, loc=0, scale=1):
    return _n.exp(logsf(x, a, b, loc, scale))


@_of("0.5, -1.0, 2.0", -0.4294)
def logcdf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("truncnorm.logcdf", x, a, b, loc, scale)
    x, a, b = _n.broadcast_arrays((x - loc) / scale, a, b)
    value = _log_mass(a, x) - _log_mass(a, b)
    rest = _log_mass(x, b) - _log_mass(a, b)
    # Near the upper end the complement is exact.
    value = _n.where(value > -0.1, _n.log1p(-_n.exp(rest)), value)
    value = _n.where(x <= a, -_INF, _n.where(x >= b, 0.0, value)).astype(x.dtype)
    return _n.where(a >= b, float("nan"), value)


@_of("0.5, -1.0, 2.0", 0.6509)
def cdf(x, a, b, loc=0, scale=1):
    return _n.exp(logcdf(x, a, b, loc, scale))
