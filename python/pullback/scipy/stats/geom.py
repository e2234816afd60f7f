"""The geometric distribution."""

from pullback import _core, lax
from pullback.scipy.special import xlog1py as _xlog1py
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "geometric",
    "(1 - p)**(k - 1) p",
    {
        "k": "integers: the number of trials up to the first success",
        "p": "probabilities of success",
    },
)


@_of("2, 0.25", -1.674, wrt="p")
def logpmf(k, p, loc=0):
    k, p, loc = _promote("geom.logpmf", k, p, loc)
    y = k - loc
    value = _xlog1py(y - 1, -p) + _n.log(p)
    return lax.convert_element_type(_n.where(y <= 0, -_INF, value), k.dtype)


@_of("2, 0.25", 0.1875, wrt="p")
def pmf(k, p, loc=0):
    return _n.exp(logpmf(k, p, loc))
