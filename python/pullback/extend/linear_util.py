"""Functions with transformations around them, as libraries that trace by hand build them.

A `WrappedFun` is a function, transformations of it as generators, and stores that they fill; `call_wrapped` runs it.
"""

import functools as _functools


class StoreException(Exception):
    """A store was read before it was filled, or filled twice."""


class Store:
    """A cell that is filled once."""

    __slots__ = ("_value",)
    _EMPTY = object()

    def __init__(self):
        self._value = Store._EMPTY

    def store(self, value):
        """Fills it."""
        if self._value is not Store._EMPTY:
            raise StoreException("Store occupied")
        self._value = value

    def reset(self):
        """Empties it."""
        self._value = Store._EMPTY

    @property
    def val(self):
        """What it holds."""
        if self._value is Store._EMPTY:
            raise StoreException("Store empty")
        return self._value

    def __bool__(self):
        return self._value is not Store._EMPTY


class EqualStore(Store):
    """A cell that may be filled again with an equal value."""

    __slots__ = ()

    def store(self, value):
        """Fills it, or checks that the value is the one it holds."""
        if self and self._value != value:
            raise StoreException("Store occupied by another value")
        self._value = value


class WrappedFun:
    """A function with transformations, the innermost last."""

    __slots__ = ("f", "transforms", "stores", "params", "debug_info")

    def __init__(self, f, transforms=(), stores=(), params=(), debug_info=None):
        self.f = f
        self.transforms = transforms
        self.stores = stores
        self.params = params
        self.debug_info = debug_info

    @property
    def __name__(self):
        return getattr(self.f, "__name__", "<unnamed wrapped function>")

    def wrap(self, transform, args, store):
        """The function with one more transformation around it."""
        return WrappedFun(
            self.f, ((transform, args), *self.transforms), (store, *self.stores), self.params, self.debug_info
        )

    def call_wrapped(self, *args, **kwargs):
        """Runs the function inside its transformations."""
        fun = _functools.partial(self.f, **dict(self.params))
        for (transform, own), store in reversed(list(zip(self.transforms, self.stores))):
            fun = _functools.partial(transform, fun, store, own)
        return fun(*args, **kwargs)

    def replace_debug_info(self, debug_info):
        """The function under another description."""
        return WrappedFun(self.f, self.transforms, self.stores, self.params, debug_info)


def wrap_init(f, params=None, *, debug_info=None):
    """A function without transformations.

    Args:
      f: a function.
      params: what it is always given by name.
      debug_info: a description of it.
    Returns: a `WrappedFun`.
    Differentiable: as `f`.
    Example:
      >>> from pullback.extend import linear_util
      >>> linear_util.wrap_init(lambda x: x + 1).call_wrapped(1)
      2
    """
    return WrappedFun(f, params=tuple(sorted((params or {}).items())), debug_info=debug_info)


def _run_generator(generator, fun, store, own, *args, **kwargs):
    """Runs one transformation: it yields arguments, gets results, and yields its own."""
    steps = generator(*own, *args, **kwargs)
    inner_args, inner_kwargs = next(steps)
    out = steps.send(fun(*inner_args, **inner_kwargs))
    steps.close()
    if store is None:
        return out
    out, aux = out
    store.store(aux)
    return out


def _run_function(wrapper, fun, store, own, *args, **kwargs):
    if store is None:
        return wrapper(fun, *own, *args, **kwargs)
    return wrapper(fun, store, *own, *args, **kwargs)


def transformation(generator):
    """A transformation from a generator that yields `(args, kwargs)`, is sent the results, and yields its results.

    Args:
      generator: a generator function of arguments of its own, then those of the call.
    Returns: a function of a `WrappedFun` and the generator's own arguments that gives a `WrappedFun`.
    Differentiable: as the function is.
    Example:
      >>> from pullback.extend import linear_util
      >>> @linear_util.transformation
      ... def doubled(x):
      ...     out = yield (x,), {}
      ...     yield 2 * out
      >>> doubled(linear_util.wrap_init(lambda x: x + 1)).call_wrapped(1)
      4
    """

    def apply(fun, *own):
        return fun.wrap(_functools.partial(_run_generator, generator), own, None)

    return apply


def transformation_with_aux(generator):
    """As `transformation`, for a generator that yields results and something more; gives the function and a way to it.

    Args:
      generator: a generator function of arguments of its own, then those of the call.
    Returns: a function of a `WrappedFun` and the generator's own arguments that gives a pair: a `WrappedFun`, and a function that
      gives the rest once it ran.
    Differentiable: as the function is.
    Example:
      >>> from pullback.extend import linear_util
      >>> @linear_util.transformation_with_aux
      ... def noted(x):
      ...     out = yield (x,), {}
      ...     yield out, "note"
      >>> fun, note = noted(linear_util.wrap_init(lambda x: x + 1))
      >>> fun.call_wrapped(1), note()
      (2, 'note')
    """

    def apply(fun, *own):
        store = Store()
        return fun.wrap(_functools.partial(_run_generator, generator), own, store), lambda: store.val

    apply.__name__, apply.__doc__ = generator.__name__, generator.__doc__
    return apply


def transformation2(wrapper):
    """A transformation from a function `(inner, *own, *args)`.

    Args:
      wrapper: a function of the inner function, arguments of its own, then those of the call.
    Returns: a function of a `WrappedFun` and the wrapper's own arguments that gives a `WrappedFun`.
    Differentiable: as the function is.
    Example:
      >>> from pullback.extend import linear_util
      >>> doubled = linear_util.transformation2(lambda inner, x: 2 * inner(x))
      >>> doubled(linear_util.wrap_init(lambda x: x + 1)).call_wrapped(1)
      4
    """

    def apply(fun, *own):
        return fun.wrap(_functools.partial(_run_function, wrapper), own, None)

    return apply


def transformation_with_aux2(wrapper):
    """A transformation from a function `(inner, store, *own, *args)`.

    Args:
      wrapper: a function of the inner function, a store that it fills, arguments of its own, then those of the call.
    Returns: a function of a `WrappedFun` and the wrapper's own arguments that gives a pair: a `WrappedFun`, and a function that
      gives what was stored once it ran.
    Differentiable: as the function is.
    Example:
      >>> from pullback.extend import linear_util
      >>> def noted(inner, store, x):
      ...     store.store("note")
      ...     return inner(x)
      >>> fun, note = linear_util.transformation_with_aux2(noted)(linear_util.wrap_init(lambda x: x + 1))
      >>> fun.call_wrapped(1), note()
      (2, 'note')
    """

    def apply(fun, *own):
        store = Store()
        return fun.wrap(_functools.partial(_run_function, wrapper), own, store), lambda: store.val

    return apply


def merge_linear_aux(first, second):
    """Whichever of two ways to something more was taken: which, and what it gives.

    Args:
      first, second: functions that give what was stored, of which one can.
    Returns: whether it is the first, and what it gives.
    Raises:
      StoreException: both stores are filled, or none.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import linear_util
      >>> full, empty = linear_util.Store(), linear_util.Store()
      >>> full.store(3)
      >>> linear_util.merge_linear_aux(lambda: full.val, lambda: empty.val)
      (True, 3)
    """
    try:
        found = first()
    except StoreException:
        return False, second()
    try:
        second()
    except StoreException:
        return True, found
    raise StoreException("neither store is empty")


def cache(call, **_):
    """`call(fun, *args)`, remembered by function and arguments.

    Args:
      call: a function of hashable arguments.
    Returns: a function with the same results.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import linear_util
      >>> linear_util.cache(lambda n: n + 1)(2)
      3
    """
    return _functools.lru_cache(maxsize=None)(call)


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "EqualStore", "Store",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
