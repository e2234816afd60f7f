"""The negative binomial distribution."""

from pullback import _core, lax
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "negative binomial",
    "comb(k + n - 1, n - 1) p**n (1 - p)**k",
    {
        "k": "integers: the number of failures",
        "n": "positive numbers of successes",
        "p": "probabilities of success",
    },
)


@_of("1, 2, 0.25", -2.3671, wrt="p")
def logpmf(k, n, p, loc=0):
    k, n, p, loc = _promote("nbinom.logpmf", k, n, p, loc)
    y = k - loc
    ways = _gammaln(y + n) - _gammaln(n) - _gammaln(y + 1)
    value = ways + n * _n.log(p) + _xlogy(y, 1 - p)
    return lax.convert_element_type(_n.where(y < 0, -_INF, value), k.dtype)


@_of("1, 2, 0.25", 0.0938, wrt="p")
def pmf(k, n, p, loc=0):
    return _n.exp(logpmf(k, n, p, loc))
