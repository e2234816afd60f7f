"""Random keys and samples, equal to JAX's bit for bit."""

import typing as _typing

import numpy as _np

from pullback import _core

__all__ = [
    "Key", "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare", "choice", "clone",
    "dirichlet", "double_sided_maxwell", "exponential", "f", "fold_in", "gamma", "generalized_normal", "geometric",
    "gumbel", "key", "key_data", "key_dtype", "key_impl", "laplace", "loggamma", "logistic", "lognormal", "maxwell",
    "multinomial", "multivariate_normal", "normal", "orthogonal", "pareto", "permutation", "poisson", "rademacher",
    "randint", "random_gamma_p", "rayleigh", "split", "t", "triangular", "truncated_normal", "uniform", "wald", "weibull_min",
    "wrap_key_data",
]

globals().update({name: getattr(_core.random, name) for name in __all__ if hasattr(_core.random, name)})


# In Python for its signature alone: the reference's default is a scalar of NumPy.
def lognormal(key, sigma=_np.float32(1.0), shape=None, dtype=None, *, out_sharding=None):
    return _core.random.lognormal(key, sigma, shape, dtype, out_sharding=out_sharding)


lognormal.__doc__ = _core.random.lognormal.__doc__

lognormal.__module__ = "pullback.random"

Key = _typing.NewType("Key", _core.Array)
Key.__doc__ = """A name for arrays of keys in annotations; called, it gives back what it is given.

Args:
  x: any value; it is not checked.
Returns: `x`.
Differentiable: no, keys have no tangents.
Example:
  >>> jax.random.Key(jax.random.key(0)).shape
  ()
"""
random_gamma_p = _core.find_primitive("random_gamma")
