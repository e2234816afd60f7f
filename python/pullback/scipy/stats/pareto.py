"""The Pareto distribution."""

from pullback import _core
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_DENSITY = "b / x**(b + 1)"


@_of("Pareto", _DENSITY)
def logpdf(x, b, loc=0, scale=1):
    x, b, loc, scale = _promote("pareto.logpdf", x, b, loc, scale)
    y = (x - loc) / scale
    value = _n.log(b / scale) - (b + 1) * _n.log(y)
    return _n.where(x < loc + scale, -_INF, value)


@_of("Pareto", _DENSITY)
def pdf(x, b, loc=0, scale=1):
    return _n.exp(logpdf(x, b, loc, scale))


@_of("Pareto")
def cdf(x, b, loc=0, scale=1):
    x, b, loc, scale = _promote("pareto.cdf", x, b, loc, scale)
    y = (x - loc) / scale
    return _n.where(y < 1, 0.0, 1 - y ** -b).astype(x.dtype)


@_of("Pareto")
def logcdf(x, b, loc=0, scale=1):
    x, b, loc, scale = _promote("pareto.logcdf", x, b, loc, scale)
    y = (x - loc) / scale
    return _n.where(y < 1, -_INF, _n.log1p(-(y ** -b)))


@_of("Pareto")
def sf(x, b, loc=0, scale=1):
    return _n.exp(logsf(x, b, loc, scale))


@_of("Pareto")
def logsf(x, b, loc=0, scale=1):
    x, b, loc, scale = _promote("pareto.logsf", x, b, loc, scale)
    y = (x - loc) / scale
    return _n.where(y < 1, 0.0, -b * _n.log(y)).astype(x.dtype)


@_of("Pareto")
def ppf(q, b, loc=0, scale=1):
    q, b, loc, scale = _promote("pareto.ppf", q, b, loc, scale)
    return _n.where(_n.isnan(q) | (q < 0) | (q > 1), float("nan"), loc + scale * (1 - q) ** (-1 / b))
