"""Mutable references to arrays.

A reference lives in the trace that made it: there, or where nothing is traced, it can be read and written. Taking one into
another trace (an argument of `jit`, a closure of `grad` or `scan`) is not supported and raises NotImplementedError, since a
read there would freeze the value.
"""

from pullback import _core
from pullback._src.state.types import AbstractRef as AbstractRef
from pullback.core import get_opaque_trace_state as _trace_state


class Ref:
    """A cell that holds an array. `ref[...]` reads, `ref[...] = x` writes, other indices read and write parts.

    >>> import pullback as jax, pullback.numpy as jnp
    >>> ref = new_ref(jnp.zeros(3))
    >>> ref[1] = 5.0
    >>> ref[...]
    Array([0., 5., 0.], dtype=float32)
    """

    __slots__ = ("_value", "_trace", "__weakref__")

    def __init__(self, value):
        self._value = value
        self._trace = _trace_state()

    def _check(self):
        if self._value is None:
            raise ValueError("the reference was frozen; it holds nothing any more")
        if self._trace != _trace_state():
            raise NotImplementedError(
                "a Ref can be used only in the trace that made it: pass the array in and out of the transformed function instead"
            )

    @property
    def aval(self):
        """The aval of the array."""
        return _core.typeof(self._value)

    @property
    def shape(self):
        """The array's shape."""
        return self.aval.shape

    @property
    def dtype(self):
        """The array's element type."""
        return self.aval.dtype

    @property
    def ndim(self):
        """The array's number of axes."""
        return self.aval.ndim

    def __len__(self):
        return len(self.aval)

    def __getitem__(self, index):
        self._check()
        return self._value if index is Ellipsis else self._value[index]

    def __setitem__(self, index, value):
        from pullback import numpy as jnp

        self._check()
        if index is Ellipsis:
            value = jnp.asarray(value, self.dtype)
            if value.shape not in (self.shape, ()):
                raise ValueError(f"Invalid shape for `swap`. Ref shape: {self.shape}. Value shape: {value.shape}.")
            self._value = jnp.broadcast_to(value, self.shape)
        else:
            self._value = self._value.at[index].set(value)

    def __repr__(self):
        return f"Ref({self._value!r})"


def new_ref(init_val, *, memory_space=None, kind=None, pin=False):
    """A reference that holds an array.

    Args:
      init_val: the first value.
      memory_space, kind, pin: only the defaults are supported.
    """
    from pullback import numpy as jnp

    if memory_space is not None or kind is not None or pin:
        raise NotImplementedError(f"a reference of {memory_space=}, {kind=}, {pin=} is not supported; leave these out")
    return Ref(jnp.asarray(init_val))


def empty_ref(ty, memory_space=None, pin=False):
    """A reference that holds an array of a given type, zeros at first."""
    from pullback import numpy as jnp

    return new_ref(jnp.zeros(ty.shape, ty.dtype), memory_space=memory_space, pin=pin)


def get(ref, idx=None):
    """What the reference holds at an index, None for all."""
    return ref[Ellipsis if idx is None else idx]


def set(ref, idx, value):  # noqa: A001
    """Writes at an index, None for all."""
    ref[Ellipsis if idx is None else idx] = value


def swap(ref, idx, value, _function_name="ref_swap"):
    """Writes at an index and gives what was there."""
    before = get(ref, idx)
    set(ref, idx, value)
    return before


def addupdate(ref, idx, x):
    """Adds at an index."""
    set(ref, idx, get(ref, idx) + x)


def freeze(ref):
    """The array in a reference, which holds nothing from then on."""
    ref._check()
    value, ref._value = ref._value, None
    return value


free_ref = freeze


__all__ = ["Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]
