"""The beta-binomial distribution."""

from pullback import _core, lax
from pullback.scipy.special import betaln as _betaln
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "beta-binomial",
    "comb(n, k) beta(k + a, n - k + b) / beta(a, b)",
    {
        "k": "integers",
        "n": "numbers of trials; NaN where negative",
        "a": "positive shapes; NaN for others",
        "b": "positive shapes; NaN for others",
    },
)


@_of("1, 4, 2.0, 3.0", -1.2528, wrt="a, b")
def logpmf(k, n, a, b, loc=0):
    k, n, a, b, loc = _promote("betabinom.logpmf", k, n, a, b, loc)
    y = lax.floor(k) - loc
    ways = -_n.log1p(n) - _betaln(n - y + 1, y + 1)
    value = ways + _betaln(y + a, n - y + b) - _betaln(a, b)
    value = _n.where((y < 0) | (y > n), -_INF, value)
    return lax.convert_element_type(_n.where((n < 0) | (a <= 0) | (b <= 0), float("nan"), value), k.dtype)


@_of("1, 4, 2.0, 3.0", 0.2857, wrt="a, b")
def pmf(k, n, a, b, loc=0):
    return _n.exp(logpmf(k, n, a, b, loc))
