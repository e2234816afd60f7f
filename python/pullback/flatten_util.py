"""Trees of arrays as one vector."""

from pullback._core import user_error as _user_error
from pullback.tree_util import tree_flatten as _tree_flatten, tree_unflatten as _tree_unflatten

import numpy as _np


def ravel_pytree(pytree):
    """All elements of a tree of arrays as one vector, and the function back.

    Args:
      pytree: a tree of arrays and numbers.
    Returns: a vector of the leaves' elements one after the other, in the dtype that all promote to (float32 of size 0 for a
      tree without leaves), and a function from such a vector to a tree with the structure, shapes and dtypes of `pytree`.
    Raises:
      TypeError: a leaf is no array or number; the function back is given another dtype.
      ValueError: the function back is given another shape.
    Differentiable: yes, linear both ways.
    Example:
      >>> flat, unravel = jax.flatten_util.ravel_pytree({"a": jnp.arange(2.0), "b": 5.0})
      >>> print(flat)
      [0. 1. 5.]
      >>> print(unravel(2 * flat)["a"])
      [0. 2.]
    """
    import pullback.numpy as jnp

    leaves, treedef = _tree_flatten(pytree)
    if not leaves:
        return jnp.zeros(0), lambda flat: _tree_unflatten(treedef, [])
    arrays = [jnp.asarray(leaf) for leaf in leaves]
    dtypes, shapes = [a.dtype for a in arrays], [a.shape for a in arrays]
    to_dtype = jnp.result_type(*arrays)
    ends = _np.cumsum([a.size for a in arrays]).tolist()
    flat = jnp.concatenate([jnp.ravel(a).astype(to_dtype) for a in arrays])

    def unravel(flat):
        given = jnp.asarray(flat)
        if given.shape != (ends[-1],):
            raise _user_error(ValueError, f"unravel function given array of shape {given.shape}, but expected array of shape ({ends[-1]},)")
        if given.dtype != to_dtype:
            raise _user_error(TypeError, f"unravel function given array of dtype {given.dtype}, but expected dtype {to_dtype}")
        parts = [
            given[end - a_size : end].reshape(shape).astype(dtype)
            for end, a_size, shape, dtype in zip(ends, [int(_np.prod(s)) for s in shapes], shapes, dtypes)
        ]
        return _tree_unflatten(treedef, parts)

    return flat, unravel
