"""`jit`: functions that are traced once for each signature, and what of it is kept."""

import enum as _enum
import functools as _functools

from pullback._core import user_error as _user_error
from pullback import _core



class _Unset:
    """Stands for an argument that was not given; prints as a word."""

    def __init__(self, word):
        self._word = word

    def __repr__(self):
        return self._word


_UNSET = _Unset("<not-specified>")
# Of the arguments of `jit` that say where values lie: they lie where they are put otherwise.
_UNSPECIFIED = _Unset("UnspecifiedValue")


def _check_callable(fun):
    if not callable(fun):
        raise _user_error(TypeError, f"Expected a callable value, got {fun}")


def _wraps(fun, name="{fun}", doc=None):
    """`functools.wraps` that tolerates objects without names."""

    def decorate(wrapper):
        try:
            _functools.update_wrapper(wrapper, fun)
        except AttributeError:
            pass
        original = getattr(fun, "__name__", None)
        if original is not None:
            wrapper.__name__ = name.format(fun=original)
        if doc is not None and getattr(fun, "__doc__", None):
            wrapper.__doc__ = doc.format(fun=original, doc=fun.__doc__)
        wrapper.__wrapped__ = fun
        return wrapper

    return decorate


# Options of a build, whose names do not begin with `xla_`.
_BUILD_OPTIONS = {
    "num_replicas", "num_partitions", "device_ordinal", "use_spmd_partitioning", "use_auto_spmd_partitioning", "exec_time_optimization_effort",
    "memory_fitting_effort", "optimization_level", "memory_fitting_level", "fdo_profile", "debug_options", "device_memory_size",
}


def _check_compiler_options(options):
    """Refuses names that no compiler of the reference knows."""
    for name in () if options is None else dict(options.items()):
        if not name.startswith("xla_") and name not in _BUILD_OPTIONS:
            from pullback.errors import JaxRuntimeError

            raise JaxRuntimeError(f"INVALID_ARGUMENT: No such compile option: '{name}'")


def _as_tuple(value):
    if value is None:
        return ()
    if isinstance(value, (str, int)):
        return (value,)
    return tuple(value)


def _parameters(fun):
    import inspect

    try:
        return inspect.signature(fun).parameters
    except (ValueError, TypeError):
        return None


def _resolve_arguments(fun, argnums, argnames, option):
    """Positions and names that `argnums` and `argnames` ask for, each completed from the other by the signature."""
    if argnums is None and argnames is None:
        return [], []
    numbers, names = _as_tuple(argnums), _as_tuple(argnames)
    if bad := [name for name in names if not isinstance(name, str)]:
        raise _user_error(TypeError, f"{option}_argnames must be a str or a collection of strs; got {bad[0]!r}")
    for number in numbers:
        if not isinstance(number, int) and not hasattr(number, "__index__"):
            raise _user_error(TypeError, f"{option}_argnums must be an int or a collection of ints; got {argnums!r}")
    if not numbers and not names:
        return [], []
    parameters = _parameters(fun)
    if parameters is None:
        return sorted(n for n in numbers if n >= 0), sorted(names)
    positional = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    has_args = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    has_kwargs = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    n = len(positional)
    if not has_args and (bad := [k for k in numbers if not -n <= k < n]):
        raise _user_error(ValueError, f"Jitted function has {option}_argnums={numbers}, but only accepts {n} positional arguments.")
    if not has_kwargs and (unknown := {k for k in names if k not in parameters}):
        raise _user_error(
            ValueError,
            f"Jitted function has invalid argnames {unknown} in {option}_argnames. Function does not take these args."
        )
    numbers = {k % n if k < 0 and n else k for k in numbers}
    if argnums is None:
        numbers |= {positional.index(name) for name in names if name in positional}
    if argnames is None:
        names = {positional[k] for k in numbers if k < n and parameters[positional[k]].kind.value == 1}
    return sorted(numbers), sorted(names)


_caches = None


def _cache_of(fun, options):
    """The cache of what was traced, shared by all `jit` of the same function with the same options."""
    global _caches
    if _caches is None:
        import weakref

        _caches = weakref.WeakKeyDictionary()
    try:
        known = _caches.setdefault(fun, {})
    except TypeError:
        return _core.JitCache()
    # An empty cache is false.
    found = known.get(options)
    return known.setdefault(options, _core.JitCache()) if found is None else found


def clear_caches():
    """Forgets all that was traced and compiled; what is needed again is made again.

    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> f = jax.jit(lambda x: x + 1)
      >>> _ = f(1.0)
      >>> jax.clear_caches()
      >>> f._cache_size()
      0
    """
    # Other threads may make caches meanwhile: only lists taken at once are walked.
    for reference in _caches.keyrefs() if _caches is not None else ():
        fun = reference()
        for cache in list(_caches.get(fun, {}).values()) if fun is not None else ():
            cache.clear()
    _core.clear_bodies()
    _core.clear_executables()


class Inline(_enum.Enum):
    """What becomes of a jitted function that is called inside of another trace.

    `JAX_EARLY` leaves its equations there. With `JAX_LATE`, `XLA_EARLY`, `XLA_LATE` and `AUTO` there is a call in the jaxpr, and
    the compiler puts the equations in its place where that pays.

    Example:
      >>> f = jax.jit(jnp.sin, inline=jax.Inline.JAX_EARLY)
      >>> print(jax.make_jaxpr(f)(1.0))
      { lambda ; a:f32[]. let b:f32[] = sin a in (b,) }
    """

    JAX_EARLY = "jax_early"
    JAX_LATE = "jax_late"
    XLA_EARLY = "xla_early"
    XLA_LATE = "xla_late"
    AUTO = "auto"

    @classmethod
    def _of(cls, option):
        if isinstance(option, cls):
            return option
        if isinstance(option, bool):
            return cls.JAX_LATE if option else cls.AUTO
        raise _user_error(ValueError, f"Invalid inline option: {option!r}")


class CompilerEffortLevel(_enum.Enum):
    """How much time a compiler may spend for faster programs or less memory, for the options of accelerators' compilers.

    Example:
      >>> jax.CompilerEffortLevel.O2.value
      29
    """

    UNKNOWN = 0
    O0 = 9
    O1 = 19
    O2 = 29
    O3 = 39


for _class in (Inline, CompilerEffortLevel):
    _class.__module__ = "pullback"


def jit(
    fun=_UNSET,
    /,
    *,
    in_shardings=_UNSPECIFIED,
    out_shardings=_UNSPECIFIED,
    static_argnums=None,
    static_argnames=None,
    donate_argnums=None,
    donate_argnames=None,
    keep_unused=False,
    device=None,
    backend=None,
    inline=False,
    compiler_options=None,
):
    """A version of `fun` that is traced once for each signature of its arguments and then runs as a compiled program.

    The signature is the tree of the arguments with the shape, dtype and weak type of each leaf, the static arguments and the
    settings that change programs. Side effects of `fun` happen while it is traced only. Two `jit` of one function with the
    same options share what was traced.

    Args:
      fun: a pure function of trees of arrays. Without it, a decorator with the options is returned.
      in_shardings: where the arguments are put: shardings, in a tree that is a prefix of the arguments; None leaves them,
        and so does the default.
      out_shardings: where the results are put: shardings, in a tree that is a prefix of the result; None leaves them,
        and so does the default.
      static_argnums: positions of arguments that are part of the signature: hashable Python values.
      static_argnames: names of such arguments. Positions and names are completed from each other by `fun`'s signature.
      donate_argnums: positions of arguments whose memory results may take over; they are deleted.
      donate_argnames: names of such arguments.
      keep_unused: keep arguments that the program does not use.
      device: where the arguments are put, and the program runs; deprecated.
      backend: deprecated; None or "cpu".
      inline: a `jax.Inline`, or a boolean. Inside another trace, `Inline.JAX_EARLY` leaves the equations instead of a call;
        with all others there is a call, which the compiler replaces.
      compiler_options: options of XLA by their names, without effect here: a dict, whose names begin with `xla_` but for
        those of a build.
    Returns: a callable with the signature of `fun`; its methods `lower`, `trace` and `eval_shape` stage without running.
    Raises:
      TypeError: `fun` is not callable or is a generator function; when called, an argument is neither an array nor a tree.
      ValueError: numbers or names that `fun` does not have; an argument both static and donated; a static argument that
        cannot be hashed; `inline` is something else.
      JaxRuntimeError: `compiler_options` has a name that is no option.
    Differentiable: as `fun` is, in both modes.
    Example:
      >>> @jax.jit
      ... def norm(x):
      ...     return jnp.sqrt(jnp.sum(x**2))
      >>> float(norm(jnp.array([3.0, 4.0])))
      5.0
    """
    if device is not None or backend is not None:
        import warnings

        from pullback._device import devices

        warnings.warn("backend and device argument on jit is deprecated; put the arguments on a device with jax.device_put.", DeprecationWarning, stacklevel=2)
        devices(backend)
    _check_compiler_options(compiler_options)
    options = dict(
        static_argnums=static_argnums, static_argnames=static_argnames, donate_argnums=donate_argnums,
        donate_argnames=donate_argnames, keep_unused=keep_unused, inline=Inline._of(inline) is Inline.JAX_EARLY,
        in_shardings=None if in_shardings is _UNSPECIFIED else in_shardings,
        out_shardings=None if out_shardings is _UNSPECIFIED else out_shardings, device=device,
    )
    if fun is _UNSET:
        return _functools.partial(_jit, **options)
    return _jit(fun, **options)


def _jit(
    fun, *, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, inline, in_shardings, out_shardings, device
):
    _check_callable(fun)
    if getattr(getattr(fun, "__code__", None), "co_flags", 0) & 0x20:
        raise _user_error(TypeError, f"Expected a function, got a generator function: {fun}")
    if out_shardings is not None:
        from pullback._sharded_jit import constrained

        fun = constrained(fun, out_shardings, _wraps)
    static = _resolve_arguments(fun, static_argnums, static_argnames, "static")
    donate = _resolve_arguments(fun, donate_argnums, donate_argnames, "donate")
    if both := {*static[1]} & {*donate[1]}:
        raise _user_error(
            ValueError,
            f"static_argnames and donate_argnames cannot intersect. Argument names {both} appear in both static_argnames and "
            "donate_argnames"
        )
    if both := {*static[0]} & {*donate[0]}:
        raise _user_error(ValueError, f"static_argnums and donate_argnums cannot intersect: {sorted(both)} are in both")
    key = (*map(tuple, static), *map(tuple, donate), bool(keep_unused), bool(inline))
    name = getattr(fun, "__name__", None) or getattr(getattr(fun, "func", None), "__name__", None) or "<unnamed function>"
    parts = fun, _cache_of(fun, key), name, *static, *donate, bool(keep_unused), bool(inline)
    if in_shardings is None and device is None:
        jitted = _core.PjitFunction(*parts)
    else:
        from pullback._sharded_jit import ShardedJit

        jitted = ShardedJit.of(in_shardings, device, *parts)
    return _wraps(fun)(jitted)


class _Signature:
    """The signature of the function that is jitted, for those who do not follow `__wrapped__`; the class has its own."""

    def __get__(self, jitted, owner):
        import inspect  # seldom asked for, and slow to import

        return None if jitted is None else inspect.signature(jitted.__wrapped__)


_core.PjitFunction.__signature__ = _Signature()
