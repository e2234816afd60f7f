"""The binomial distribution."""

from pullback import _core
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlog1py as _xlog1py
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "binomial",
    "comb(n, k) p**k (1 - p)**(n - k)",
    {
        "k": "integers",
        "n": "numbers of trials",
        "p": "probabilities of success",
    },
)


@_of("1, 4, 0.25", -0.863, wrt="p")
def logpmf(k, n, p, loc=0):
    k, n, p, loc = _promote("binom.logpmf", k, n, p, loc)
    y = k - loc
    ways = _gammaln(n + 1) - (_gammaln(y + 1) + _gammaln(n - y + 1))
    value = ways + _xlogy(y, p) + _xlog1py(n - y, -p)
    return _n.where((y < 0) | (y > n), -_INF, value)


@_of("1, 4, 0.25", 0.4219, wrt="p")
def pmf(k, n, p, loc=0):
    return _n.exp(logpmf(k, n, p, loc))
