"""The von Mises distribution."""

import math as _math

from pullback import _core, lax
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution(
    "von Mises",
    "exp(kappa cos(x)) / (2 pi i0(kappa))",
    {
        "x": "angles in radians",
        "kappa": "positive concentrations; NaN for others",
    },
)


@_of("0.5, 2.0", -0.9067)
def logpdf(x, kappa):
    x, kappa = _promote("vonmises.logpdf", x, kappa)
    value = -(_math.log(2 * _math.pi) + _n.log(lax.bessel_i0e(kappa))) + kappa * (_n.cos(x) - 1)
    return _n.where(kappa > 0, value, float("nan"))


@_of("0.5, 2.0", 0.4039)
def pdf(x, kappa):
    return _n.exp(logpdf(x, kappa))
