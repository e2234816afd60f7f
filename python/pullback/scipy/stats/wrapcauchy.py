"""The wrapped Cauchy distribution."""

import math as _math

from pullback import _core
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_DENSITY = "(1 - c**2) / (2 pi (1 + c**2 - 2 c cos(x)))"


@_of("wrapped Cauchy", _DENSITY)
def logpdf(x, c):
    x, c = _promote("wrapcauchy.logpdf", x, c)
    value = _n.log1p(-c * c) - _math.log(2 * _math.pi) - _n.log1p(c * c - 2 * c * _n.cos(x))
    value = _n.where((x >= 0) & (x <= 2 * _math.pi), value, -_INF)
    return _n.where((c > 0) & (c < 1), value, float("nan"))


@_of("wrapped Cauchy", _DENSITY)
def pdf(x, c):
    return _n.exp(logpdf(x, c))
