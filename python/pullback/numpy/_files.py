"""Arrays from and to files, buffers and other libraries."""

import numpy as _np

from pullback import _core

_n = _core.numpy

__all__ = ["from_dlpack", "frombuffer", "fromfile", "fromiter", "fromstring", "load", "save", "savez"]

save, savez = _np.save, _np.savez


def load(file, *args, **kwargs):
    """An array from a file that `save` wrote, or the archive of several.

    Args:
      file: a path or an open file.
      args, kwargs: as for `numpy.load`.
    Returns: an array; for an archive what `numpy.load` gives.
    Raises:
      OSError: there is no such file, or it holds no array.
    """
    out = _np.load(file, *args, **kwargs)
    # NumPy reads dtypes that it does not know as bytes.
    if isinstance(out, _np.ndarray):
        return _n.asarray(out if out.dtype.kind != "V" else out.view(_core.as_dtype("bfloat16")))
    return out


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """The vector of the bytes of a buffer.

    Args:
      buffer: an object with a buffer: bytes, an array.
      dtype: the dtype of the elements.
      count: how many; -1 takes all.
      offset: the first byte.
    Raises:
      ValueError: the buffer is too small, or not a multiple of the elements.

    >>> import pullback.numpy as jnp
    >>> print(jnp.frombuffer(bytes([1, 2]), dtype=jnp.uint8))
    [1 2]
    """
    return _n.asarray(_np.frombuffer(buffer, dtype=getattr(dtype, "dtype", dtype), count=count, offset=offset))


def fromfile(*args, **kwargs):
    """Not served, as in JAX: reading is no pure function.

    Raises:
      NotImplementedError: always.
    """
    raise NotImplementedError(
        "jnp.fromfile() is not implemented because it may be non-pure and thus unsafe for use with JIT and other JAX "
        "transformations. Consider using jnp.asarray(np.fromfile(...)) instead, although care should be taken if np.fromfile is "
        "used within jax transformations because of its potential side-effect of consuming the file object."
    )


def fromiter(*args, **kwargs):
    """Not served, as in JAX: an iterator is used up.

    Raises:
      NotImplementedError: always.
    """
    raise NotImplementedError(
        "jnp.fromiter() is not implemented because it may be non-pure and thus unsafe for use with JIT and other JAX "
        "transformations. Consider using jnp.asarray(np.fromiter(...)) instead, although care should be taken if np.fromiter is "
        "used within jax transformations because of its potential side-effect of consuming the iterable object."
    )


def fromstring(string, dtype=float, count=-1, *, sep):
    """The vector of the numbers that a text holds.

    Args:
      string: the text.
      dtype: the dtype of the elements.
      count: how many; -1 takes all.
      sep: what stands between them.
    Raises:
      ValueError: the separator is empty.

    >>> import pullback.numpy as jnp
    >>> print(jnp.fromstring("1 2", dtype=int, sep=" "))
    [1 2]
    """
    return _n.asarray(_np.fromstring(string=string, dtype=getattr(dtype, "dtype", dtype), count=count, sep=sep))


def from_dlpack(x, /, *, device=None, copy=None):
    """The array of another library, by way of DLPack.

    Args:
      x: an object with `__dlpack__`.
      device: None, or the device of the CPU.
      copy: whether to copy; None as is needed. Memory is copied here, so `copy=False` is an error for foreign arrays.
    Raises:
      TypeError: `x` has no `__dlpack__`; ValueError: `copy=False` of an array that is not ours.
    """
    if isinstance(x, _core.Array):
        return _n.array(x, copy=bool(copy))
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack takes an object with __dlpack__, got {type(x)}")
    if copy is False:
        raise ValueError("from_dlpack(copy=False) of an array of another library is not implemented: its memory is copied")
    return _n.array(x if isinstance(x, _np.ndarray) else _np.from_dlpack(x))


for _name in __all__:
    if not _name.startswith("save"):
        globals()[_name].__module__ = "pullback.numpy"
