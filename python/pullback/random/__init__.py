"""Random keys and samples, equal to JAX's bit for bit."""

import typing as _typing

import numpy as _np

from pullback import _core
from pullback.random._counts import binomial as binomial
from pullback.random._counts import multinomial as multinomial
from pullback.random._counts import poisson as poisson
from pullback.random._vectors import ball as ball
from pullback.random._vectors import multivariate_normal as multivariate_normal
from pullback.random._vectors import orthogonal as orthogonal

__all__ = [
    "Key", "PRNGKey", "ball", "bernoulli", "beta", "binomial", "bits", "categorical", "cauchy", "chisquare", "choice", "clone",
    "dirichlet", "double_sided_maxwell", "exponential", "f", "fold_in", "gamma", "generalized_normal", "geometric",
    "gumbel", "key", "key_data", "key_dtype", "key_impl", "laplace", "loggamma", "logistic", "lognormal", "maxwell",
    "multinomial", "multivariate_normal", "normal", "orthogonal", "pareto", "permutation", "poisson", "rademacher",
    "randint", "random_gamma_p", "rayleigh", "split", "t", "triangular", "truncated_normal", "uniform", "wald", "weibull_min",
    "wrap_key_data",
]

globals().update({name: getattr(_core.random, name) for name in __all__ if hasattr(_core.random, name) and name != "lognormal"})


def lognormal(key, sigma=_np.float32(1.0), shape=None, dtype=None, *, out_sharding=None):
    """Numbers whose logarithm is normal with mean 0 and deviation `sigma`.

    Args:
      key: a key, typed or of two words.
      sigma: the deviation of the logarithm; real numbers.
      shape: the shape of the result, to which parameters broadcast; their common shape by default.
      dtype: a floating dtype; float32 by default, float64 with x64.
      out_sharding: not served; None.
    Returns: an array of `shape` and `dtype`.
    Raises:
      TypeError: `key` is no key, or a size is negative.
      ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
      NotImplementedError: `out_sharding` is given.
    Differentiable: in `sigma`.
    Example:
      >>> jax.random.lognormal(jax.random.key(0), jnp.zeros(2))
      Array([1., 1.], dtype=float32)
    """
    return _core.random.lognormal(key, sigma, shape, dtype, out_sharding=out_sharding)


def key_dtype(impl_spec=None):
    """The element type of keys.

    Args:
      impl_spec: the name of the generator: 'threefry2x32', 'rbg', 'unsafe_rbg', or None for the default.
    Returns: the dtype object that arrays of keys have.
    Raises:
      ValueError: there is no such generator. NotImplementedError: it is another one of JAX's.
    Differentiable: no, the result is no array.
    Example:
      >>> jax.random.key(0).dtype == jax.random.key_dtype()
      True
    """
    return _core.random._key_dtype(impl_spec)


for _name in ("ball", "binomial", "lognormal", "multinomial", "multivariate_normal", "orthogonal", "poisson"):
    globals()[_name].__module__ = "pullback.random"

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
