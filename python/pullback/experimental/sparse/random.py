"""Sparse arrays at random."""

import math as _math

from pullback import numpy as _jnp, random as _random
from pullback._core import user_error as _user_error
from pullback.experimental.sparse.bcoo import BCOO as _BCOO


def _number(nse, size):
    """How many elements: a number, or a part of the size."""
    if isinstance(nse, float) and 0 < nse < 1:
        return _math.ceil(nse * size)
    if nse != int(nse) or not 0 <= nse <= size or isinstance(nse, float) and nse >= 1:
        raise _user_error(ValueError, f"got {nse=}, expected to be between 0 and {size}")
    return int(nse)


def random_bcoo(key, shape, *, dtype=float, indices_dtype=None, nse=0.2, n_batch=0, n_dense=0, unique_indices=True,
                sorted_indices=False, generator=_random.uniform, **kwds):  # fmt: skip
    """A sparse array with random elements in random places.

    Args:
      key: a key.
      shape: its shape.
      dtype: the type of its elements.
      indices_dtype: the type of its indices, by default int32.
      nse: how many elements are stored, or as a float below 1 which part of all.
      n_batch, n_dense: how many axes, in front and at the end, are those of a batch and of blocks.
      unique_indices: whether no place is chosen twice.
      sorted_indices: whether the indices are put in order.
      generator: a sampler, called with a key and the keyword arguments `shape` and `dtype`.
      kwds: further keyword arguments for it.
    Returns: a `BCOO`.
    Raises:
      ValueError: `nse` is none for the shape, or there are fewer axes.
      NotImplementedError: there is a batch of more than one.
    Differentiable: no.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.random_bcoo(jax.random.key(0), (3, 4), nse=0.5)
      BCOO(float32[3, 4], nse=6)
    """
    shape = tuple(shape)
    end = len(shape) - n_dense
    if n_batch < 0 or n_dense < 0 or n_batch > end:
        raise _user_error(ValueError, f"Invalid {n_batch=}, {n_dense=} for {shape=}")
    batch, sizes, dense = shape[:n_batch], shape[n_batch:end], shape[end:]
    size = _math.prod(sizes)
    nse = _number(nse, size)
    indices_dtype = indices_dtype or _jnp.int32
    data_key, place_key = _random.split(key)
    if _math.prod(batch) > 1:
        # The reference's order of draws for them is not known here, and other places would be other numbers in silence.
        raise _user_error(NotImplementedError, "random_bcoo with a batch; make the indices with jax.random")
    if unique_indices:
        flat = _random.permutation(place_key, _jnp.arange(size, dtype=indices_dtype))[:nse].reshape(*batch, nse)
    else:
        flat = _random.randint(place_key, (*batch, nse), 0, size, dtype=indices_dtype)
    columns = _jnp.unravel_index(flat, sizes) if sizes else ()
    indices = _jnp.stack(columns, -1).astype(indices_dtype) if columns else _jnp.zeros((*batch, nse, 0), indices_dtype)
    data = generator(data_key, shape=(*batch, nse, *dense), dtype=dtype, **kwds)
    mat = _BCOO((data, indices), shape=shape, unique_indices=unique_indices)
    return mat.sort_indices() if sorted_indices else mat
