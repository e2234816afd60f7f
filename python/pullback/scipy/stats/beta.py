"""The beta distribution."""

from pullback import _core
from pullback.scipy.special import betainc as _betainc
from pullback.scipy.special import betaln as _betaln
from pullback.scipy.special import xlog1py as _xlog1py
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_DENSITY = "x**(a - 1) (1 - x)**(b - 1) / beta(a, b)"


@_of("beta", _DENSITY)
def logpdf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("beta.logpdf", x, a, b, loc, scale)
    y = (x - loc) / scale
    value = _xlogy(a - 1, y) + _xlog1py(b - 1, -y) - _betaln(a, b) - _n.log(scale)
    value = _n.where((y < 0) | (y > 1), -_INF, value)
    return _n.where((a <= 0) | (b <= 0) | (scale <= 0), float("nan"), value)


@_of("beta", _DENSITY)
def pdf(x, a, b, loc=0, scale=1):
    return _n.exp(logpdf(x, a, b, loc, scale))


@_of("beta")
def cdf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("beta.cdf", x, a, b, loc, scale)
    return _betainc(a, b, _n.clip((x - loc) / scale, 0, 1))


@_of("beta")
def logcdf(x, a, b, loc=0, scale=1):
    return _n.log(cdf(x, a, b, loc, scale))


@_of("beta")
def sf(x, a, b, loc=0, scale=1):
    x, a, b, loc, scale = _promote("beta.sf", x, a, b, loc, scale)
    return _betainc(b, a, 1 - _n.clip((x - loc) / scale, 0, 1))


@_of("beta")
def logsf(x, a, b, loc=0, scale=1):
    return _n.log(sf(x, a, b, loc, scale))
