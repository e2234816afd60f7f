"""The Pareto distribution."""

from pullback import _core
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution("Pareto", "b / x**(b + 1)", {"x": "real numbers", "b": "positive shapes"})


@_of("2.0, 3.0", -1.674)
def logpdf(x, b, loc=0, scale=1):
    x, b, loc, scale = _promote("pareto.logpdf", x, b, loc, scale)
    y = (x - loc) / scale
    value = _n.log(b / scale) - (b + 1) * _n.log(y)
    return _n.where(x < loc + scale, -_INF, value)


@_of("2.0, 3.0", 0.1875)
def pdf(x, b, loc=0, scale=1):
    return _n.exp(logpdf(x, b, loc, scale))


@_of("2.0, 3.0", 0.875)
def cdf(x, b, loc=0, scale=1):
    x, b, loc, scale = _promote("pareto.cdf", x, b, loc, scale)
    y = (x - loc) / scale
    return _n.where(y < 1, 0.0, 1 - y ** -b).astype(x.dtype)


@_of("2.0, 3.0", -0.1335)
def logcdf(x, b, loc=0, scale=1):
    x, b, loc, scale = _promote("pareto.logcdf", x, b, loc, scale)
    y = (x - loc) / scale
    return _n.where(y < 1, -_INF, _n.log1p(-(y ** -b)))


@_of("2.0, 3.0", 0.125)
def sf(x, b, loc=0, scale=1):
    return _n.exp(logsf(x, b, loc, scale))


@_of("2.0, 3.0", -2.0794)
def logsf(x, b, loc=0, scale=1):
    x, b, loc, scale = _promote("pareto.logsf", x, b, loc, scale)
    y = (x - loc) / scale
    return _n.where(y < 1, 0.0, -b * _n.log(y)).astype(x.dtype)


@_of("0.5, 3.0", 1.2599)
def ppf(q, b, loc=0, scale=1):
    q, b, loc, scale = _promote("pareto.ppf", q, b, loc, scale)
    return _n.where(_n.isnan(q) | (q < 0) | (q > 1), float("nan"), loc + scale * (1 - q) ** (-1 / b))
