"""The uniform distribution."""

from pullback import _core
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution("uniform", "1 on 0 to 1", {"x": "real numbers"})


@_of("0.25", -0.0)
def logpdf(x, loc=0, scale=1):
    x, loc, scale = _promote("uniform.logpdf", x, loc, scale)
    return _n.where((x > loc + scale) | (x < loc), -_INF, -_n.log(scale))


@_of("0.25", 1.0)
def pdf(x, loc=0, scale=1):
    return _n.exp(logpdf(x, loc, scale))


@_of("0.25", 0.25)
def cdf(x, loc=0, scale=1):
    x, loc, scale = _promote("uniform.cdf", x, loc, scale)
    y = (x - loc) / scale
    return _n.where(x <= loc, 0.0, _n.where(x >= loc + scale, 1.0, y)).astype(x.dtype)


@_of("0.25", 0.25)
def ppf(q, loc=0, scale=1):
    q, loc, scale = _promote("uniform.ppf", q, loc, scale)
    return _n.where(_n.isnan(q) | (q < 0) | (q > 1), float("nan"), q * scale + loc)
