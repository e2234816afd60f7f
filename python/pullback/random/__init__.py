"""Random keys and samples, equal to JAX's bit for bit."""

from pullback import _core
from pullback.dtypes import _key_dtype as _key_dtype

__all__ = [
    "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare", "choice", "clone",
    "dirichlet", "double_sided_maxwell", "exponential", "f", "fold_in", "gamma", "generalized_normal", "geometric",
    "gumbel", "key", "key_data", "key_dtype", "key_impl", "laplace", "loggamma", "logistic", "lognormal", "maxwell",
    "multinomial", "multivariate_normal", "normal", "orthogonal", "pareto", "permutation", "poisson", "rademacher",
    "randint", "rayleigh", "split", "t", "triangular", "truncated_normal", "uniform", "wald", "weibull_min",
    "wrap_key_data",
]

globals().update({name: getattr(_core.random, name) for name in __all__ if hasattr(_core.random, name)})


def key_dtype(impl_spec=None):
    """The element type of keys."""
    _core.random.check_impl(impl_spec)
    return _key_dtype


def _missing(name, what):
    raise NotImplementedError(f"jax.random.{name} is not implemented: it needs {what}")


def ball(key, d, p=2, shape=(), dtype=None, *, out_sharding=None):
    """Points uniform in the unit ball of an Lp norm."""
    _missing("ball", "sums of random powers")


def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1):
    """Counts of categories."""
    _missing("multinomial", "binomial samples")


def multivariate_normal(key, mean, cov, shape=None, dtype=None, method="cholesky", *, out_sharding=None):
    """Normal vectors with the given mean and covariance."""
    _missing("multivariate_normal", "the primitive 'cholesky'")


def orthogonal(key, n, shape=(), dtype=None, m=None, *, out_sharding=None):
    """Random orthogonal matrices."""
    _missing("orthogonal", "the primitive 'qr'")
