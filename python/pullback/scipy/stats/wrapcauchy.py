"""The wrapped Cauchy distribution."""

import math as _math

from pullback import _core
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "wrapped Cauchy",
    "(1 - c**2) / (2 pi (1 + c**2 - 2 c cos(x)))",
    {
        "x": "angles in radians, from 0 to 2 pi; the density is 0 outside",
        "c": "shapes between 0 and 1; NaN for others",
    },
)


@_of("0.5, 0.5", -1.1378)
def logpdf(x, c):
    x, c = _promote("wrapcauchy.logpdf", x, c)
    value = _n.log1p(-c * c) - _math.log(2 * _math.pi) - _n.log1p(c * c - 2 * c * _n.cos(x))
    value = _n.where((x >= 0) & (x <= 2 * _math.pi), value, -_INF)
    return _n.where((c > 0) & (c < 1), value, float("nan"))


@_of("0.5, 0.5", 0.3205)
def pdf(x, c):
    return _n.exp(logpdf(x, c))
