"""Arrays from and to files, buffers and other libraries."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["from_dlpack", "frombuffer", "fromfile", "fromiter", "fromstring", "load", "save", "savez"]


def save(file, arr, allow_pickle=True):
    """Writes an array to a file in NumPy's format `.npy`.

    Args:
      file: a path, which gets the ending `.npy` if it has none, or an open binary file.
      arr: an array or what converts to one; concrete.
      allow_pickle: passed on to `numpy.save`.
    Returns: None.
    Raises:
      OSError: the file cannot be written.
      TracerArrayConversionError: a traced array.
    Differentiable: no.
    Example:
      >>> import io
      >>> file = io.BytesIO()
      >>> jnp.save(file, jnp.arange(3))
      >>> file.getvalue()[1:6]
      b'NUMPY'
    """
    _np.save(file, arr, allow_pickle)


def savez(file, *args, allow_pickle=True, **kwds):
    """Writes several arrays to a file in NumPy's format `.npz`, not compressed.

    Args:
      file: a path, which gets the ending `.npz` if it has none, or an open binary file.
      args: arrays, which are named `arr_0`, `arr_1` and so on; concrete.
      allow_pickle: passed on to `numpy.savez`.
      kwds: arrays by name.
    Returns: None.
    Raises:
      OSError: the file cannot be written.
      TracerArrayConversionError: a traced array.
    Differentiable: no.
    Example:
      >>> import io
      >>> file = io.BytesIO()
      >>> jnp.savez(file, x=jnp.arange(3))
      >>> _ = file.seek(0)
      >>> print(jnp.load(file)["x"])
      [0 1 2]
    """
    _np.savez(file, *args, allow_pickle=allow_pickle, **kwds)


def load(file, *args, **kwargs):
    """An array from a file that `save` wrote, or the archive of several that `savez` wrote.

    Args:
      file: a path or an open binary file.
      args, kwargs: passed on to `numpy.load`.
    Returns: an array; for an archive the mapping that `numpy.load` gives.
    Raises:
      OSError: there is no such file.
      ValueError: the file holds no array.
    Differentiable: no; the values come from outside.
    Example:
      >>> import io
      >>> file = io.BytesIO()
      >>> jnp.save(file, jnp.arange(3))
      >>> _ = file.seek(0)
      >>> print(jnp.load(file))
      [0 1 2]
    """
    out = _np.load(file, *args, **kwargs)
    # NumPy reads dtypes that it does not know as bytes.
    if isinstance(out, _np.ndarray):
        return _n.asarray(out if out.dtype.kind != "V" else out.view(_core.as_dtype("bfloat16")))
    return out


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """The vector of the bytes of a buffer, which are copied.

    Args:
      buffer: an object with a buffer, such as bytes.
      dtype: the dtype of the elements; float by default.
      count: how many; -1, the default, takes all.
      offset: the first byte; 0 by default.
    Returns: a vector of the dtype; 64-bit types narrow unless `jax_enable_x64` is set.
    Raises:
      ValueError: the buffer is too small, or not a multiple of the elements.
    Differentiable: no; the values come from outside.
    Example:
      >>> print(jnp.frombuffer(bytes([1, 2]), dtype=jnp.uint8))
      [1 2]
    """
    return _n.asarray(_np.frombuffer(buffer, dtype=getattr(dtype, "dtype", dtype), count=count, offset=offset))


def fromfile(*args, **kwargs):
    """Not served, as in JAX: reading a file is no pure function. Use `jnp.asarray(numpy.fromfile(...))`.

    Args:
      args, kwargs: for compatibility; without influence.
    Returns: nothing; it always raises.
    Raises:
      NotImplementedError: always.
    Differentiable: no.
    Example:
      >>> jnp.fromfile("file")
      Traceback (most recent call last):
          ...
      NotImplementedError: jnp.fromfile() is not implemented...
    """
    raise _user_error(
        NotImplementedError,
        "jnp.fromfile() is not implemented because it may be non-pure and thus unsafe for use with JIT and other JAX "
        "transformations. Consider using jnp.asarray(np.fromfile(...)) instead, although care should be taken if np.fromfile is "
        "used within jax transformations because of its potential side-effect of consuming the file object."
    )


def fromiter(*args, **kwargs):
    """Not served, as in JAX: an iterator is used up. Use `jnp.asarray(numpy.fromiter(...))`.

    Args:
      args, kwargs: for compatibility; without influence.
    Returns: nothing; it always raises.
    Raises:
      NotImplementedError: always.
    Differentiable: no.
    Example:
      >>> jnp.fromiter(range(3), int)
      Traceback (most recent call last):
          ...
      NotImplementedError: jnp.fromiter() is not implemented...
    """
    raise _user_error(
        NotImplementedError,
        "jnp.fromiter() is not implemented because it may be non-pure and thus unsafe for use with JIT and other JAX "
        "transformations. Consider using jnp.asarray(np.fromiter(...)) instead, although care should be taken if np.fromiter is "
        "used within jax transformations because of its potential side-effect of consuming the iterable object."
    )


def fromstring(string, dtype=float, count=-1, *, sep):
    """The vector of the numbers that a text holds.

    Args:
      string: the text.
      dtype: the dtype of the elements; float by default.
      count: how many; -1, the default, takes all.
      sep: what stands between them, not empty.
    Returns: a vector of the dtype; 64-bit types narrow unless `jax_enable_x64` is set.
    Raises:
      ValueError: the separator is empty, or the text has what is no number.
    Differentiable: no; the values come from outside.
    Example:
      >>> print(jnp.fromstring("1 2", dtype=int, sep=" "))
      [1 2]
    """
    return _n.asarray(_np.fromstring(string=string, dtype=getattr(dtype, "dtype", dtype), count=count, sep=sep))


def from_dlpack(x, /, *, device=None, copy=None):
    """The array of another library, by way of DLPack.

    Args:
      x: an object with `__dlpack__`, or an array of ours.
      device: where the result lies, a device or a sharding; the default device when it is not given.
      copy: whether to copy. Memory of other libraries is always copied, so that False is an error for it.
    Returns: an array of the shape and dtype of `x`.
    Raises:
      TypeError: `x` has no `__dlpack__`.
      ValueError: `copy=False` of an array that is not ours.
    Differentiable: no; the values come from outside.
    Example:
      >>> import numpy
      >>> print(jnp.from_dlpack(numpy.array([1.0, 2.0])))
      [1. 2.]
    """
    if device is not None:
        from pullback import device_put

        return device_put(from_dlpack(x, copy=copy), device)
    if isinstance(x, _core.Array):
        return _n.array(x, copy=bool(copy))
    if not hasattr(x, "__dlpack__"):
        raise _user_error(TypeError, f"from_dlpack takes an object with __dlpack__, got {type(x)}")
    if copy is False:
        raise _user_error(ValueError, "from_dlpack(copy=False) of an array of another library is not implemented: its memory is copied")
    return _n.array(x if isinstance(x, _np.ndarray) else _np.from_dlpack(x))


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
