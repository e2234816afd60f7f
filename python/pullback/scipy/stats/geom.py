"""The geometric distribution."""

from pullback import _core, lax
from pullback.scipy.special import xlog1py as _xlog1py
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_DENSITY = "(1 - p)**(k - 1) p"


@_of("geometric", _DENSITY)
def logpmf(k, p, loc=0):
    k, p, loc = _promote("geom.logpmf", k, p, loc)
    y = k - loc
    value = _xlog1py(y - 1, -p) + _n.log(p)
    return lax.convert_element_type(_n.where(y <= 0, -_INF, value), k.dtype)


@_of("geometric", _DENSITY)
def pmf(k, p, loc=0):
    return _n.exp(logpmf(k, p, loc))
