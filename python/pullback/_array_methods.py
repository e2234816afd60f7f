"""Methods of arrays that are functions of `pullback.numpy` too."""

import inspect as _inspect
import os as _os
import sys as _sys
import warnings as _warnings

from pullback._core import user_error as _user_error
from pullback._core import Array as _Array

_FOLDER = _os.path.dirname(__file__) + _os.sep
_numpy = None


def _np():
    """`pullback.numpy`, imported on first use."""
    global _numpy
    if _numpy is None:
        import pullback.numpy

        _numpy = pullback.numpy
    return _numpy


_AXIS = "axis=None, out=None, keepdims=False"
# Of each method: its parameters after the array itself, and what it gives.
_METHODS = {
    "all": (f"{_AXIS}, *, where=None", "Whether all elements, along an axis or of the whole array, are true."),
    "any": (f"{_AXIS}, *, where=None", "Whether any element, along an axis or of the whole array, is true."),
    "argmax": ("axis=None, out=None, keepdims=None", "The index of the first greatest element along an axis; of the flat array without one."),
    "argmin": ("axis=None, out=None, keepdims=None", "The index of the first least element along an axis; of the flat array without one."),
    "argpartition": ("kth, axis=-1", "The indices that put the least `kth` elements along an axis before all others."),
    "argsort": (
        "axis=-1, *, kind=None, order=None, stable=True, descending=False",
        "The indices that sort along an axis, NaN last; of the flat array for None.",
    ),
    "choose": ("choices, out=None, mode='raise'", "From each place of the arrays `choices` the element of the one that this array numbers."),
    "clip": ("min=None, max=None", "The elements limited to bounds that broadcast; None leaves a side open."),
    "conj": ("", "The complex conjugates; the array itself if it is real."),
    "conjugate": ("", "The complex conjugates; the array itself if it is real."),
    "cumprod": ("axis=None, dtype=None, out=None", "The products of all elements up to each along an axis; of the flat array without one."),
    "cumsum": ("axis=None, dtype=None, out=None", "The sums of all elements up to each along an axis; of the flat array without one."),
    "diagonal": ("offset=0, axis1=0, axis2=1", "The elements where the indices along two axes differ by `offset`, as a last axis."),
    "dot": ("b, *, precision=None, preferred_element_type=None", "The sum of products over the last axis and the last but one of `b`."),
    "max": (f"{_AXIS}, initial=None, where=None", "The greatest element along an axis or of the whole array; NaN if there is one."),
    "mean": ("axis=None, dtype=None, out=None, keepdims=False, *, where=None", "The mean along an axis or of the whole array, floating."),
    "min": (f"{_AXIS}, initial=None, where=None", "The least element along an axis or of the whole array; NaN if there is one."),
    "nonzero": ("*, fill_value=None, size=None", "The indices of the elements that are not zero, an array for each axis; `size` fixes how many."),
    "prod": (
        "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True",
        "The product along an axis or of the whole array; 1 of no elements.",
    ),
    "ptp": (_AXIS, "The greatest less the least element along an axis or of the whole array."),
    "ravel": ("order='C', *, out_sharding=None", "The elements as a vector, in order of rows, or of columns for \"F\"."),
    "repeat": (
        "repeats, axis=None, *, total_repeat_length=None, out_sharding=None",
        "Each slice along an axis (element of the flat array without one) as often as `repeats` says.",
    ),
    "round": ("decimals=0, out=None", "The elements rounded to decimals, halves to the even neighbour."),
    "searchsorted": ("v, side='left', sorter=None, *, method='scan'", "Where each element of `v` would stand in this sorted vector."),
    "sort": (
        "axis=-1, *, kind=None, order=None, stable=True, descending=False",
        "The elements in ascending order along an axis, NaN last; of the flat array for None.",
    ),
    "squeeze": ("axis=None", "The array without axes of size 1, all or those given; ValueError for another size."),
    "std": (
        "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None",
        "The standard deviation along an axis or of the whole array.",
    ),
    "sum": (
        "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=None, promote_integers=True",
        "The sum along an axis or of the whole array; 0 of no elements.",
    ),
    "swapaxes": ("axis1, axis2", "The array with two axes exchanged."),
    "take": (
        "indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None",
        "The slices at indices along an axis (elements of the flat array without one); NaN or the least integer outside.",
    ),
    "trace": ("offset=0, axis1=0, axis2=1, dtype=None, out=None", "The sum of the elements where the indices along two axes differ by `offset`."),
    "var": (
        "axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=None, correction=None",
        "The variance along an axis or of the whole array.",
    ),
}


def _delegate(name, parameters, doc):
    target = {"conj": "conjugate"}.get(name, name)

    def method(self, *args, **kwargs):
        return getattr(_np(), target)(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Array.{name}"
    method.__doc__ = f"{doc}\n\nArguments as those of `jax.numpy.{target}` after the array."
    method.__signature__ = _inspect.signature(eval(f"lambda self, {parameters}: None"))
    return method


for _name, (_parameters, _doc) in _METHODS.items():
    setattr(_Array, _name, _delegate(_name, _parameters, _doc))


def _is_sequence(args):
    return len(args) == 1 and isinstance(args[0], (tuple, list))


def reshape(self, *args, order="C", out_sharding=None):
    """The elements, in order of rows, in another shape, given as a tuple or as several ints; one of them may be -1.

    Raises TypeError where the number of elements differs. `order="F"` takes the order of columns.
    """
    shape = args[0] if _is_sequence(args) or (len(args) == 1 and getattr(args[0], "ndim", 0) == 1) else args
    return _np().reshape(self, shape, order=order, out_sharding=out_sharding)


def transpose(self, *args):
    """The array with its axes in another order, given as a tuple or as several ints; reversed by default."""
    axes = args[0] if _is_sequence(args) or args == (None,) else (args or None)
    return _np().transpose(self, axes)


def flatten(self, order="C", *, out_sharding=None):
    """The elements as a vector, in order of rows, or of columns with `order="F"`."""
    return _np().ravel(self, order=order, out_sharding=out_sharding)


def astype(self, dtype, copy=False, device=None):
    """The elements converted to another dtype: floating to integer truncates, complex to real drops imaginary parts.

    `copy` and `device` are accepted for compatibility. Warns of the imaginary parts that are dropped, as the reference does.
    """
    if self.dtype.kind == "c" and not _is_call_of_ours(_sys._getframe(1)) and _np().dtype(dtype).kind in "iuf":
        _warnings.warn(
            "Casting from complex to real dtypes will soon raise a ValueError. Please first use jnp.real or jnp.imag to take the "
            "real/imaginary component of your input.",
            DeprecationWarning,
            stacklevel=2,
        )
    return _np().astype(self, dtype)


def _is_call_of_ours(frame):
    return frame.f_code.co_filename.startswith(_FOLDER)


def copy(self):
    """A copy of the array with elements of its own."""
    return _np().array(self, copy=True)


def view(self, dtype=None, type=None):
    """The bytes of the elements read as another dtype; the last axis grows or shrinks when the size of elements differs."""
    if type is not None:
        raise NotImplementedError("`type` argument of array.view() is not supported.")
    return self if dtype is None else _view(self, dtype)


def _view(self, dtype):
    from pullback import _core, dtypes

    new = _core.as_dtype(dtype)
    if new == self.dtype:
        return self
    if any(dtypes.issubdtype(each, dtypes.extended) for each in (new, self.dtype)):
        raise NotImplementedError("view() of random keys, or as them; jax.random.key_data has their words.")
    narrow, wide = sorted((dtypes.itemsize_bits(self.dtype), dtypes.itemsize_bits(new)))
    if self.ndim == 0 and narrow != wide:
        raise ValueError("view() of a 0d array is only supported if the itemsize is unchanged.")
    if wide == dtypes.itemsize_bits(new) and self.ndim and self.shape[-1] * narrow % wide:
        raise ValueError(
            "When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis of the array."
        )
    return _seen_as(_in_bits(self), new)


def _in_bits(x):
    """The elements as such that have bits of their own: parts of complex numbers along the last axis, 0 and 1 for booleans."""
    if x.dtype == bool:
        return x.astype("uint8")
    if x.dtype.kind == "c":
        parts = _np().stack([x.real, x.imag], axis=-1)
        return parts.reshape(*x.shape[:-1], -1) if x.ndim else parts
    return x


def _seen_as(x, new):
    from pullback import dtypes, lax

    if new == bool:
        return _seen_as(x, _np().dtype("uint8")) != 0
    if new.kind == "c":
        parts = _seen_as(x, _np().finfo(new).dtype)
        parts = parts.reshape(*parts.shape[:-1], -1, 2) if parts.ndim > 1 or parts.size != 2 else parts.reshape(-1, 2)
        return lax.complex(parts[..., 0], parts[..., 1])
    ratio = dtypes.itemsize_bits(new) / dtypes.itemsize_bits(x.dtype)
    if ratio == 1:
        return lax.bitcast_convert_type(x, new)
    if ratio < 1:
        return lax.bitcast_convert_type(x, new).reshape(*x.shape[:-1], int(x.shape[-1] / ratio))
    return lax.bitcast_convert_type(x.reshape(*x.shape[:-1], int(x.shape[-1] / ratio), int(ratio)), new)


def resize(self, *args, refcheck=False):
    """The elements, in order of rows, repeated or cut to fill a shape, given as a tuple or as several ints."""
    return _np().resize(self, args[0] if _is_sequence(args) else args)


def to_device(self, device, *, stream=None):
    """The array on a device or divided by a sharding; as `jax.device_put`."""
    from pullback._device import device_put

    return device_put(self, device)


def compress(self, condition, axis=None, *, out=None, size=None, fill_value=0):
    """The slices along an axis (elements of the flat array without one) where the vector `condition` is true.

    `size` fixes how many, filled up with `fill_value`: needed where the condition is traced.
    """
    return _np().compress(condition, self, axis=axis, out=out, size=size, fill_value=fill_value)


def byteswap(self):
    """The elements with their bytes in reverse order."""
    from pullback import lax

    if self.dtype.itemsize == 1:
        return self
    if self.dtype.kind == "c":
        return lax.complex(self.real.byteswap(), self.imag.byteswap())
    jnp = _np()
    return lax.bitcast_convert_type(jnp.flip(lax.bitcast_convert_type(self, jnp.uint8), -1), self.dtype)


@property
def flat(self):
    """Not implemented: raises NotImplementedError, as arrays are immutable; use `ravel` or `flatten`."""
    raise _user_error(NotImplementedError, "JAX Arrays do not implement the arr.flat property: consider arr.flatten() instead.")


def __array_namespace__(self, *, api_version=None):
    """The module with the functions of the array API, `pullback.numpy`; ValueError for a version other than 2025.12."""
    if api_version not in (None, "2025.12"):
        raise _user_error(ValueError, f"api_version={api_version!r} is not available; available versions are: ['2025.12']")
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


@property
def format(self):
    """The layout and the sharding."""
    from pullback.experimental.layout import Format, row_major

    return Format(row_major(self.ndim), self.sharding)


def clone(self):
    """A copy of the array with elements of its own."""
    return _np().array(self, copy=True)


_Array.format = format
_Array.flat, _Array.__cuda_array_interface__, _Array.__numpy_dtype__ = flat, __cuda_array_interface__, __numpy_dtype__
for _method in (
    reshape, transpose, flatten, astype, copy, view, resize, to_device, compress, byteswap, __array_namespace__, __reversed__,
    on_device_size_in_bytes, platform, clone,
):
    _method.__qualname__ = f"Array.{_method.__name__}"
    setattr(_Array, _method.__name__, _method)
_Array.__doc__ = """An array of numbers of one dtype, immutable: concrete, or a tracer of one.

`isinstance(x, jax.Array)` holds for both. Functions of `jax.numpy` make arrays; operators work elementwise, promote dtypes
and broadcast. A tracer has no elements to read: `bool`, `float` and the like of it raise ConcretizationTypeError.

Attributes:
  shape, ndim, size: sizes of the axes, how many axes, how many elements.
  dtype, itemsize, nbytes, weak_type: the element type, its bytes, those of all elements, and whether the type gives way.
  at: updates of parts, each giving a new array: `x.at[index].set(y)`.
  T, mT, real, imag: the array with other axes, and parts of its elements.
  sharding, device, committed: where the elements are.

Example:
  >>> x = jnp.arange(3.0)
  >>> x.at[1].set(7.0).sum()
  Array(9., dtype=float32)
"""
