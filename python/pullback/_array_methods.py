"""Methods of arrays that are functions of `pullback.numpy` too."""

import inspect as _inspect

from pullback._core import Array as _Array

_numpy = None


def _np():
    """`pullback.numpy`, imported on first use."""
    global _numpy
    if _numpy is None:
        import pullback.numpy

        _numpy = pullback.numpy
    return _numpy


def _delegate(name, target=None):
    target = target or name

    def method(self, *args, **kwargs):
        return getattr(_np(), target)(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"Array.{name}"
    method.__doc__ = f"As `jax.numpy.{target}` of the array."
    return method


_AXIS = "axis=None, out=None, keepdims=False"
# Parameters of each method after the array itself.
_SIGNATURES = {
    "all": f"{_AXIS}, *, where=None",
    "any": f"{_AXIS}, *, where=None",
    "argmax": "axis=None, out=None, keepdims=None",
    "argmin": "axis=None, out=None, keepdims=None",
    "argpartition": "kth, axis=-1",
    "argsort": "axis=-1, *, kind=None, order=None, stable=True, descending=False",
    "choose": "choices, out=None, mode='raise'",
    "clip": "min=None, max=None",
    "conj": "",
    "conjugate": "",
    "cumprod": "axis=None, dtype=None, out=None",
    "cumsum": "axis=None, dtype=None, out=None",
    "diagonal": "offset=0, axis1=0, axis2=1",
    "dot": "b, *, precision=None, preferred_element_type=None",
    "max": f"{_AXIS}, initial=None, where=None",
    "mean": "axis=None, dtype=None, out=None, keepdims=False, *, where=None",
    "min": f"{_AXIS}, initial=None, where=None",
    "nonzero": "*, fill_value=None, size=None",
    "prod": "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True",
    "ptp": _AXIS,
    "ravel": "order='C', *, out_sharding=None",
    "repeat": "repeats, axis=None, *, total_repeat_length=None, out_sharding=None",
    "round": "decimals=0, out=None",
    "searchsorted": "v, side='left', sorter=None, *, method='scan'",
    "sort": "axis=-1, *, kind=None, order=None, stable=True, descending=False",
    "squeeze": "axis=None",
    "std": "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None",
    "sum": "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True",
    "swapaxes": "axis1, axis2",
    "take": "indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None",
    "trace": "offset=0, axis1=0, axis2=1, dtype=None, out=None",
    "var": "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None",
}

for _name, _parameters in _SIGNATURES.items():
    _method = _delegate(_name, {"conj": "conjugate"}.get(_name))
    _method.__signature__ = _inspect.signature(eval(f"lambda self, {_parameters}: None"))
    setattr(_Array, _name, _method)


def _is_sequence(args):
    return len(args) == 1 and isinstance(args[0], (tuple, list))


def reshape(self, *args, order="C", out_sharding=None):
    """The elements in another shape, given as a tuple or as several arguments."""
    shape = args[0] if _is_sequence(args) or (len(args) == 1 and getattr(args[0], "ndim", 0) == 1) else args
    return _np().reshape(self, shape, order=order)


def transpose(self, *args):
    """The array with its axes in another order, reversed by default."""
    axes = args[0] if _is_sequence(args) or args == (None,) else (args or None)
    return _np().transpose(self, axes)


def flatten(self, order="C", *, out_sharding=None):
    """The elements as a vector."""
    return _np().ravel(self, order=order)


def astype(self, dtype, copy=False, device=None):
    """The elements converted to another dtype."""
    return _np().astype(self, dtype)


def copy(self):
    """A copy of the array."""
    return _np().array(self, copy=True)


def view(self, dtype=None, type=None):
    """The bytes of the elements read as another dtype."""
    return self if dtype is None else _view(self, dtype)


def _view(self, dtype):
    from pullback import _core, lax

    new = _core.as_dtype(dtype)
    if new.itemsize == self.dtype.itemsize:
        return lax.bitcast_convert_type(self, new)
    if new.itemsize < self.dtype.itemsize:
        out = lax.bitcast_convert_type(self, new)
        return out.reshape(*self.shape[:-1], -1)
    k = new.itemsize // self.dtype.itemsize
    return lax.bitcast_convert_type(self.reshape(*self.shape[:-1], self.shape[-1] // k, k), new)


def resize(self, *args, refcheck=False):
    """The elements repeated or cut to fill a shape."""
    return _np().resize(self, args[0] if _is_sequence(args) else args)


def to_device(self, device, *, stream=None):
    """The array on a device or sharding."""
    from pullback._device import device_put

    return device_put(self, device)


def compress(self, condition, axis=None, *, out=None, size=None, fill_value=0):
    """As `jax.numpy.compress` with the array as its second argument."""
    return _np().compress(condition, self, axis=axis, out=out, size=size, fill_value=fill_value)


def byteswap(self):
    """The elements with their bytes in reverse order.

    >>> import pullback.numpy as jnp
    >>> jnp.array([1, 256], jnp.uint16).byteswap()
    Array([256,   1], dtype=uint16)
    """
    from pullback import lax

    if self.dtype.itemsize == 1:
        return self
    if self.dtype.kind == "c":
        return lax.complex(self.real.byteswap(), self.imag.byteswap())
    jnp = _np()
    return lax.bitcast_convert_type(jnp.flip(lax.bitcast_convert_type(self, jnp.uint8), -1), self.dtype)


@property
def flat(self):
    """The elements one after the other; `numpy.nditer` has none for immutable arrays, so use `ravel`."""
    raise NotImplementedError("JAX Arrays do not implement the arr.flat property: consider arr.flatten() instead.")


def __array_namespace__(self, *, api_version=None):
    """The module with the functions of the array API."""
    if api_version not in (None, "2025.12"):
        raise ValueError(f"api_version={api_version!r} is not available; available versions are: ['2025.12']")
    return _np()


def __reversed__(self):
    return iter([self[i] for i in range(len(self) - 1, -1, -1)])


@property
def __cuda_array_interface__(self):
    raise AttributeError("__cuda_array_interface__ is only defined for GPU buffers.")


def on_device_size_in_bytes(self):
    """Bytes that the elements take."""
    return self.nbytes


@property
def __numpy_dtype__(self):
    """The dtype, for NumPy's conversion of an array to one."""
    return self.dtype


def platform(self):
    """The name of the platform that holds the elements."""
    return "cpu"


def clone(self):
    """The same array as another object."""
    return _np().array(self, copy=True)


_Array.flat, _Array.__cuda_array_interface__, _Array.__numpy_dtype__ = flat, __cuda_array_interface__, __numpy_dtype__
for _method in (
    reshape, transpose, flatten, astype, copy, view, resize, to_device, compress, byteswap, __array_namespace__, __reversed__,
    on_device_size_in_bytes, platform, clone,
):
    _method.__qualname__ = f"Array.{_method.__name__}"
    setattr(_Array, _method.__name__, _method)
_Array.__doc__ = "An array: concrete, or a tracer of one. `isinstance(x, jax.Array)` holds for both."
