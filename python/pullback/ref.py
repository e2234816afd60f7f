"""Mutable references to arrays.

References may be arguments of functions that `jit`, `vmap`, `grad`, `checkpoint` and `cond` transform, and be closed over by
those and by `scan`, `while_loop`, `fori_loop`, `switch`, `map`, `vjp` and `jvp`: what one holds goes in and comes out. Elsewhere
(rules of custom derivatives, callbacks) a reference of another trace raises NotImplementedError, since a read would freeze the value.
"""

from pullback._core import user_error as _user_error
from pullback import _core, _refs
from pullback._src.state.types import AbstractRef as AbstractRef
from pullback.core import get_opaque_trace_state as _trace_state


class Ref:
    """A cell that holds an array. `ref[...]` reads, `ref[...] = x` writes, other indices read and write parts.

    Attributes:
      shape, dtype, ndim, aval: those of the array.
    Made by `jax.new_ref`, from the aval and the value that the cell holds first.

    Raises ValueError when it was frozen; NotImplementedError in another trace than that which made it.

    Example:
      >>> ref = jax.new_ref(jnp.zeros(3))
      >>> ref[1] = 5.0
      >>> ref[...]
      Array([0., 5., 0.], dtype=float32)
    """

    __slots__ = ("_aval", "_frames", "_is_frozen", "__weakref__")

    def __init__(self, aval, refs):
        _refs.install(self)
        self._aval, self._is_frozen = aval, False
        # Values by the trace that has them: the innermost last.
        self._frames = [(_trace_state(), refs)]

    @classmethod
    def _local(cls, value):
        """A reference of the current trace alone."""
        return cls(_core.typeof(value), value)

    def _enter(self, value):
        self._frames.append((_trace_state(), value))

    def _leave(self):
        self._frames.pop()

    def _check(self):
        if self._is_frozen:
            raise _user_error(ValueError, "the reference was frozen; it holds nothing any more")
        if self._frames[-1][0] != _trace_state():
            raise _refs.Touched(self)

    @property
    def _value(self):
        return None if self._is_frozen else self._frames[-1][1]

    @_value.setter
    def _value(self, value):
        if value is None:
            self._is_frozen = True
        else:
            self._frames[-1] = self._frames[-1][0], value

    @property
    def aval(self):
        """The aval of the reference, which has that of the array."""
        return AbstractRef(self._aval)

    @property
    def shape(self):
        """The array's shape."""
        return self._aval.shape

    @property
    def dtype(self):
        """The array's element type."""
        return self._aval.dtype

    @property
    def ndim(self):
        """The array's number of axes."""
        return self._aval.ndim

    def __len__(self):
        return len(self._aval)

    def _check_bounds(self, index):
        """Numbers that are known have to lie inside; ValueError elsewhere, which also ends an iteration."""
        parts = index if isinstance(index, tuple) else (index,)
        if any(type(part) is not int and not isinstance(part, slice) for part in parts):
            return
        for part, size in zip(parts, self.shape):
            if type(part) is int and not -size <= part < size:
                raise _user_error(ValueError, f"Out of bound indexer: idx={part}, dim={size}.")

    def __getitem__(self, index):
        self._check()
        self._check_bounds(index)
        return self._value if index is Ellipsis else self._value[index]

    def __setitem__(self, index, value):
        self._check()
        value = self._fitted(index, value, "swap")
        self._value = value if index is Ellipsis else self._value.at[index].set(value)

    def _fitted(self, index, value, what):
        """A value for a part; ValueError where shape or dtype are not those of the part."""
        self._check_bounds(index)
        import pullback
        from pullback import numpy as jnp

        value = jnp.asarray(value)
        wanted = self.shape if index is Ellipsis else pullback.eval_shape(lambda x: x[index], self._value).shape
        if value.shape != wanted:
            raise _user_error(
                ValueError, f"Invalid shape for `{what}`. Ref shape: {self.shape}. Expected shape: {wanted}. Value shape: {value.shape}."
            )
        if value.dtype != self.dtype:
            raise _user_error(ValueError, f"Invalid dtype for `{what}`. Ref dtype: {self.dtype}. Value dtype: {value.dtype}.")
        return value

    @property
    def size(self):
        """The array's number of elements."""
        return self._aval.size

    @property
    def weak_type(self):
        """Whether the array's dtype gives way to others."""
        return self._aval.weak_type

    def get(self, index=Ellipsis):
        """What it holds at an index."""
        return self[index]

    def set(self, value, index=Ellipsis):
        """Writes at an index."""
        self[index] = value

    def swap(self, value, index=Ellipsis):
        """Writes at an index and gives what was there."""
        before = self[index]
        self[index] = value
        return before

    def addupdate(self, value, index=Ellipsis):
        """Adds at an index."""
        self._check()
        value = self._fitted(index, value, "addupdate")
        self._value = self._value + value if index is Ellipsis else self._value.at[index].add(value)

    def __repr__(self):
        return f"Ref({self._value!r})"


def new_ref(init_val, *, memory_space=None, kind=None, pin=False):
    """A reference that holds an array: `ref[...]` reads it, `ref[...] = x` writes it.

    Args:
      init_val: the first value: an array or number.
      memory_space, kind, pin: only the defaults are supported.
    Returns: a `Ref` of the shape and dtype of the value; it can be used in the trace that made it only.
    Raises:
      NotImplementedError: another memory, kind or pin.
      TypeError: `init_val` is no array or number.
    Differentiable: yes, while it stays inside the differentiated function.
    Example:
      >>> ref = jax.new_ref(jnp.zeros(3))
      >>> ref[1] = 5.0
      >>> print(ref[...])
      [0. 5. 0.]
    """
    from pullback import numpy as jnp

    if memory_space is not None or kind is not None or pin:
        raise _user_error(NotImplementedError, f"a reference of {memory_space=}, {kind=}, {pin=} is not supported; leave these out")
    value = jnp.asarray(init_val)
    return Ref(_core.typeof(value), value)


def empty_ref(ty, memory_space=None, pin=False):
    """A reference that holds an array of a given type, zeros at first.

    Args:
      ty: anything with `shape` and `dtype`.
      memory_space, pin: only the defaults are supported.
    Returns: a `Ref`.
    Raises:
      NotImplementedError: another memory, or pin.
    Differentiable: yes, while it stays inside the differentiated function.
    Example:
      >>> print(jax.empty_ref(jax.ShapeDtypeStruct((2,), jnp.int32))[...])
      [0 0]
    """
    from pullback import numpy as jnp

    return new_ref(jnp.zeros(ty.shape, ty.dtype), memory_space=memory_space, pin=pin)


def get(ref, idx=None):
    """What a reference holds at an index.

    Args:
      ref: a `Ref`.
      idx: an index as for arrays; None for all.
    Returns: an array.
    Raises:
      ValueError: the reference was frozen.
      NotImplementedError: it was made in another trace.
    Differentiable: yes, while the reference stays inside the differentiated function.
    Example:
      >>> int(jax.ref.get(jax.new_ref(jnp.arange(3)), 1))
      1
    """
    return ref[Ellipsis if idx is None else idx]


def set(ref, idx, value):  # noqa: A001
    """Writes into a reference at an index.

    Args:
      ref: a `Ref`.
      idx: an index as for arrays; None for all.
      value: an array or number of the shape and dtype of the part.
    Returns: None.
    Raises:
      ValueError: shapes do not fit, or the reference was frozen.
      NotImplementedError: it was made in another trace.
    Differentiable: yes, while the reference stays inside the differentiated function.
    Example:
      >>> ref = jax.new_ref(jnp.arange(3))
      >>> jax.ref.set(ref, 1, 5)
      >>> print(ref[...])
      [0 5 2]
    """
    ref[Ellipsis if idx is None else idx] = value


def swap(ref, idx, value, _function_name="ref_swap"):
    """Writes into a reference at an index and gives what was there.

    Args:
      ref: a `Ref`.
      idx: an index as for arrays; None for all.
      value: an array or number of the shape and dtype of the part.
    Returns: an array: the part before.
    Raises:
      ValueError: shapes do not fit, or the reference was frozen.
      NotImplementedError: it was made in another trace.
    Differentiable: yes, while the reference stays inside the differentiated function.
    Example:
      >>> ref = jax.new_ref(jnp.arange(3))
      >>> int(jax.ref.swap(ref, 2, 7)), int(ref[2])
      (2, 7)
    """
    before = get(ref, idx)
    set(ref, idx, value)
    return before


def addupdate(ref, idx, x):
    """Adds to a part of a reference.

    Args:
      ref: a `Ref`.
      idx: an index as for arrays; None for all.
      x: an array or number of the shape and dtype of the part.
    Returns: None.
    Raises:
      ValueError: shapes do not fit, or the reference was frozen.
      NotImplementedError: it was made in another trace.
    Differentiable: yes, while the reference stays inside the differentiated function.
    Example:
      >>> ref = jax.new_ref(jnp.arange(3))
      >>> jax.ref.addupdate(ref, 0, 4)
      >>> print(ref[...])
      [4 1 2]
    """
    ref.addupdate(x, Ellipsis if idx is None else idx)


def freeze(ref):
    """The array in a reference, which holds nothing from then on. `jax.free_ref` is the same function.

    Args:
      ref: a `Ref`.
    Returns: an array.
    Raises:
      ValueError: the reference was frozen before.
      NotImplementedError: it was made in another trace.
    Differentiable: yes, while the reference stays inside the differentiated function.
    Example:
      >>> print(jax.freeze(jax.new_ref(jnp.arange(3))))
      [0 1 2]
    """
    ref._check()
    value, ref._value = ref._value, None
    return value


free_ref = freeze


__all__ = ["Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]
