"""The multinomial distribution."""

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "multinomial",
    "n! / prod x! prod p**x",
    {
        "x": "counts `[..., k]`, integers",
        "n": "numbers of trials `[...]`; where the counts do not sum to them the probability is 0",
        "p": "probabilities `[..., k]`",
    },
    "`[...]`",
    "the counts or `n` are no integers",
)


@_of("jnp.array([1, 2]), 3, jnp.array([0.25, 0.75])", -0.863, wrt="p")
def logpmf(x, n, p):
    (p,) = _promote("multinomial.logpmf", p)
    x, n = _n._promote("multinomial.logpmf", x, n)
    if x.dtype.kind not in "iu":
        raise _user_error(ValueError, f"x and n must be of integer type; got x.dtype={x.dtype}, n.dtype={n.dtype}")
    x, n = x.astype(p.dtype), n.astype(p.dtype)
    value = _gammaln(n + 1) + (_xlogy(x, p) - _gammaln(x + 1)).sum(-1)
    return _n.where(x.sum(-1) == n, value, -_INF)


@_of("jnp.array([1, 2]), 3, jnp.array([0.25, 0.75])", 0.4219, wrt="p")
def pmf(x, n, p):
    return _n.exp(logpmf(x, n, p))
