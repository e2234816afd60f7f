"""`x.at[index]`: updates of parts of arrays, each giving a new array."""

from contextlib import nullcontext as _nullcontext

import numpy as _np

from pullback import _core


class _IndexUpdateHelper:
    """What `x.at` gives; index it to choose elements, then update them: each update gives a new array.

    Example:
      >>> print(jnp.zeros(3).at[1].set(5.0))
      [0. 5. 0.]
    """

    __slots__ = ("array",)

    def __init__(self, array):
        self.array = array

    def __getitem__(self, index):
        return _IndexUpdateRef(self.array, index)

    def __repr__(self):
        return f"_IndexUpdateHelper({self.array!r})"


class _IndexUpdateRef:
    """The elements that an index chooses, to be read or updated."""

    __slots__ = ("array", "index")

    def __init__(self, array, index):
        self.array, self.index = array, index

    def __repr__(self):
        return f"_IndexUpdateRef({self.array!r}, {self.index!r})"

    def get(
        self, *, indices_are_sorted=False, unique_indices=False, mode=None, fill_value=None, out_sharding=None,
        wrap_negative_indices=True,
    ):
        """The chosen elements; as indexing, with a choice of what indices outside give.

        `mode`: "fill" (`fill_value`, by default NaN or the least integer), "clip" (the nearest element) or "promise_in_bounds".
        `indices_are_sorted` and `unique_indices` are promises. `wrap_negative_indices=False` puts negative ones outside.
        """
        given = self.array, self.index, indices_are_sorted, unique_indices, mode, fill_value, wrap_negative_indices
        if out_sharding is None:
            return _core.index_get(*given)
        return _core.split_call("gather", out_sharding, lambda: _core.index_get(*given))

    def apply(self, func, *, indices_are_sorted=False, unique_indices=False, mode=None, wrap_negative_indices=True):
        """The array with an elementwise `func` of the chosen elements in their places, as often as each is chosen.

        Keywords as in `set`. Without a derivative: one is NotImplementedError.

        Example:
          >>> print(jnp.arange(3).at[jnp.array([1, 1])].apply(lambda x: 2 * x))
          [0 4 2]
        """
        from pullback import numpy as jnp
        from pullback.core import ensure_compile_time_eval

        options = {"mode": mode, "wrap_negative_indices": wrap_negative_indices}
        is_known = not any(isinstance(part, _core.Tracer) for part in _parts(self.index))
        with ensure_compile_time_eval() if is_known else _nullcontext():
            counts = _IndexUpdateRef(jnp.zeros(_core.typeof(self.array).shape, jnp.int32), self.index).add(1, **options)
        if unique_indices or _core.is_concrete(counts) and not (_np.asarray(counts) > 1).any():
            options = {**options, "indices_are_sorted": indices_are_sorted, "unique_indices": unique_indices}

            def applied(x):
                chosen = _IndexUpdateRef(x, self.index)
                return chosen.set(func(chosen.get(**options)), **options)
        else:
            def applied(x):
                return _applied(func, x, counts)

        x = jnp.asarray(self.array)
        return _without_derivative(applied, "scatter_apply")(x) if isinstance(x, _core.Tracer) else applied(x)


def _without_derivative(function, name):
    """A function of one array whose derivative is an error."""
    from pullback.custom_derivatives import custom_jvp

    def refuse(primals, tangents):
        raise _core.user_error(NotImplementedError, f"{name} JVP not implemented")

    guarded = custom_jvp(function)
    guarded.defjvp(refuse)
    return guarded


def _parts(index):
    return index if isinstance(index, tuple) else (index,)


def _applied(func, x, counts):
    """`func` of each element as often as `counts` says."""
    from pullback import lax
    from pullback import numpy as jnp

    def step(state):
        done, x = state
        return done + 1, jnp.where(counts > done, lax.convert_element_type(func(x), x.dtype), x)

    most = counts.max() if counts.size else jnp.zeros((), counts.dtype)
    return lax.while_loop(lambda state: state[0] < most, step, (jnp.zeros((), counts.dtype), x))[1]


def _update(name, kind, doc):
    def method(
        self, values, *, indices_are_sorted=False, unique_indices=False, mode=None, out_sharding=None, wrap_negative_indices=True
    ):
        given = kind, self.array, self.index, values, indices_are_sorted, unique_indices, mode, wrap_negative_indices
        if out_sharding is None:  # the caller of this frame is the one that is warned
            return _core.index_update(*given)
        return _core.split_call("scatter", out_sharding, lambda: _core.index_update(*given))

    method.__doc__, method.__name__ = f"{doc}\n\n{_OPTIONS}", name
    return method


_OPTIONS = """`values` broadcast to the chosen elements; ValueError where they do not. The dtype is that of the array.
`mode` says what indices outside do: nothing ("drop", the default), the nearest element ("clip"), or they are promised
not to occur ("promise_in_bounds"). `indices_are_sorted` and `unique_indices` are promises too; `wrap_negative_indices=False`
puts negative ones outside. `out_sharding` says how the result is split where types do."""

for _name, _kind, _doc in (
    ("set", "set", "The array with `values` in place of the chosen elements; which of several for one element is not said."),
    ("add", "add", "The array with `values` added to the chosen elements, all of several for one element."),
    ("subtract", "subtract", "The array with `values` subtracted from the chosen elements, all of several for one element."),
    ("multiply", "multiply", "The array with the chosen elements multiplied by `values`, all of several for one element."),
    ("mul", "multiply", "As `multiply`: the array with the chosen elements multiplied by `values`."),
    ("divide", "divide", "The array with the chosen elements divided by `values`, all of several for one element."),
    ("power", "power", "The array with the chosen elements raised to the power of `values`."),
    ("min", "min", "The array with the smaller of the chosen elements and `values`."),
    ("max", "max", "The array with the greater of the chosen elements and `values`."),
):
    setattr(_IndexUpdateRef, _name, _update(_name, _kind, _doc))
