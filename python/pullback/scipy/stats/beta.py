"""The beta distribution."""

from pullback import _core
from pullback.scipy.special import betainc as _betainc
from pullback.scipy.special import betaln as _betaln
from pullback.scipy.special import xlog1py as _xlog1py
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "beta",
    "x**(a - 1) (1 - x)**(b - 1) / beta(a, b)",
    {
        "x": "real numbers",
        "a": "positive shapes",
        "b": "positive shapes",
    },
)


@_of("0.25, 2.0, 3.0", 0.5232)
def logpdf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("beta.logpdf", x, a, b, loc, scale)
    y = (x - loc) / scale
    value = _xlogy(a - 1, y) + _xlog1py(b - 1, -y) - _betaln(a, b) - _n.log(scale)
    value = _n.where((y < 0) | (y > 1), -_INF, value)
    return _n.where((a <= 0) | (b <= 0) | (scale <= 0), float("nan"), value)


@_of("0.25, 2.0, 3.0", 1.6875)
def pdf(x, a, b, loc=0, scale=1):
    return _n.exp(logpdf(x, a, b, loc, scale))


@_of("0.25, 2.0, 3.0", 0.2617, wrt="x, loc, scale")
def cdf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("beta.cdf", x, a, b, loc, scale)
    return _betainc(a, b, _n.clip((x - loc) / scale, 0, 1))


@_of("0.25, 2.0, 3.0", -1.3405, wrt="x, loc, scale")
def logcdf(x, a, b, loc=0, scale=1):
    return _n.log(cdf(x, a, b, loc, scale))


@_of("0.25, 2.0, 3.0", 0.7383, wrt="x, loc, scale")
def sf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("beta.sf", x, a, b, loc, scale)
    return _betainc(b, a, 1 - _n.clip((x - loc) / scale, 0, 1))


@_of("0.25, 2.0, 3.0", -0.3034, wrt="x, loc, scale")
def logsf(x, a, b, loc=0, scale=1):
    return _n.log(sf(x, a, b, loc, scale))
