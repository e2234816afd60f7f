"""Methods of arrays that are functions of `pullback.numpy` too."""

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


for _name in (
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "choose", "clip", "compress", "cumprod", "cumsum", "diagonal",
    "dot", "max", "mean", "min", "nonzero", "prod", "ptp", "ravel", "repeat", "round", "searchsorted", "sort", "squeeze", "std",
    "sum", "swapaxes", "take", "trace", "var",
):
    setattr(_Array, _name, _delegate(_name))
for _name, _target in (("conj", "conjugate"), ("conjugate", "conjugate")):
    setattr(_Array, _name, _delegate(_name, _target))


def _is_sequence(args):
    return len(args) == 1 and isinstance(args[0], (tuple, list))


def reshape(self, *args, order="C", copy=None, out_sharding=None):
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


def on_device_size_in_bytes(self):
    """How many bytes the elements take."""
    return self.nbytes


for _method in (reshape, transpose, flatten, astype, copy, view, resize, to_device, on_device_size_in_bytes):
    _method.__qualname__ = f"Array.{_method.__name__}"
    setattr(_Array, _method.__name__, _method)
_Array.__doc__ = "An array: concrete, or a tracer of one. `isinstance(x, jax.Array)` holds for both."
