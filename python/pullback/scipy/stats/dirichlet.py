"""The Dirichlet distribution."""

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "Dirichlet",
    "prod x**(alpha - 1) gamma(sum alpha) / prod gamma(alpha)",
    {
        "x": "points `[k, ...]` with positive coordinates that sum to 1, else the density is 0; or `[k - 1, ...]`, without the last",
        "alpha": "positive concentrations `[k]`",
    },
    "`[...]`",
    "`alpha` is no vector, or `x` has another number of coordinates",
)


@_of("jnp.array([0.25, 0.75]), jnp.array([2.0, 3.0])", 0.5232)
def logpdf(x, alpha):
    x, alpha = _promote("dirichlet.logpdf", x, alpha)
    if alpha.ndim != 1:
        raise _user_error(ValueError, f"`alpha` must be one-dimensional; got alpha.shape={alpha.shape}")
    if x.shape[0] not in (alpha.shape[0], alpha.shape[0] - 1):
        raise _user_error(
            ValueError,
            f"`x` must have either the same number of entries as `alpha` or one entry fewer; got x.shape={x.shape}, "
            f"alpha.shape={alpha.shape}"
        )
    if x.shape[0] != alpha.shape[0]:
        x = _n.concatenate([x, _n.clip(1 - x.sum(axis=0, keepdims=True), 0)])
    alpha = _n.reshape(alpha, (-1,) + (1,) * (x.ndim - 1))
    constant = _gammaln(alpha).sum() - _gammaln(alpha.sum())
    value = _xlogy(alpha - 1, x).sum(axis=0) - constant
    is_inside = (x > 0).all(axis=0) & (_n.abs(x.sum(axis=0) - 1) < 1e-6)
    return _n.where(is_inside, value, -_INF)


@_of("jnp.array([0.25, 0.75]), jnp.array([2.0, 3.0])", 1.6875)
def pdf(x, alpha):
    return _n.exp(logpdf(x, alpha))
