"""The von Mises distribution."""

import math as _math

from pullback import _core, lax
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_DENSITY = "exp(kappa cos(x)) / (2 pi i0(kappa))"


@_of("von Mises", _DENSITY)
def logpdf(x, kappa):
    x, kappa = _promote("vonmises.logpdf", x, kappa)
    value = -(_math.log(2 * _math.pi) + _n.log(lax.bessel_i0e(kappa))) + kappa * (_n.cos(x) - 1)
    return _n.where(kappa > 0, value, float("nan"))


@_of("von Mises", _DENSITY)
def pdf(x, kappa):
    return _n.exp(logpdf(x, kappa))
