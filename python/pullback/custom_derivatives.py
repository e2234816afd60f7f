"""Functions with derivatives that the user writes."""

import functools as _functools

from pullback import _core
from pullback._api import _check_callable, _parameters
from pullback.tree_util import tree_map as _tree_map


def _resolve(fun, args, kwargs):
    """Positional arguments of a call, keywords and defaults put in their places."""
    if not kwargs and _parameters(fun) is None:
        return args
    import inspect

    try:
        bound = inspect.signature(fun).bind(*args, **kwargs)
    except (ValueError, TypeError) as error:
        if not kwargs and isinstance(error, ValueError):
            return args
        raise
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            "The following keyword arguments could not be resolved to positions: " + ", ".join(bound.kwargs)
        )
    return bound.args


def _numbers(fun, nondiff_argnums, nondiff_argnames):
    numbers = set(nondiff_argnums)
    if nondiff_argnames:
        names = list(_parameters(fun) or ())
        numbers |= {names.index(name) for name in nondiff_argnames}
    return tuple(sorted(numbers))


class _Custom:
    """What both kinds share: the function, and its arguments that are not differentiated."""

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        _check_callable(fun)
        _functools.update_wrapper(self, fun, assigned=[n for n in _functools.WRAPPER_ASSIGNMENTS if hasattr(fun, n)])
        self.fun = fun
        self.nondiff_argnums = _numbers(fun, nondiff_argnums, nondiff_argnames)

    def __getattr__(self, name):
        if name == "fun":
            raise AttributeError(name)
        return getattr(self.fun, name)

    def __get__(self, instance, owner=None):
        import types

        return self if instance is None else types.MethodType(self, instance)

    def _split(self, args):
        """The arguments that are not differentiated, the others, and the function of the others."""
        if not self.nondiff_argnums:
            return (), args, self.fun
        fixed = tuple(args[k] for k in self.nondiff_argnums if k < len(args))
        open_at = [k for k in range(len(args)) if k not in self.nondiff_argnums]

        def partial(*given):
            full = list(args)
            for k, value in zip(open_at, given):
                full[k] = value
            return self.fun(*full)

        _functools.update_wrapper(partial, self.fun, assigned=["__name__", "__qualname__"])
        partial.__wrapped__ = self.fun
        return fixed, tuple(args[k] for k in open_at), partial


class custom_jvp(_Custom):
    """A function whose forward derivative the user writes; see `defjvp`."""

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.jvp = None
        self.symbolic_zeros = False

    def defjvp(self, jvp, symbolic_zeros=False):
        """Sets the rule `jvp(primals, tangents) -> (out, out tangent)`."""
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps):
        """Sets one rule for each argument: `jvp(tangent, out, *primals) -> out tangent`; `None` for zero."""
        if self.nondiff_argnums:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``.")

        def jvp(primals, tangents):
            out = self(*primals)
            parts = [rule(t, out, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            if not parts:
                return out, _tree_map(lambda x: x * 0, out)
            total = parts[0]
            for part in parts[1:]:
                total = _tree_map(lambda a, b: a + b, total, part)
            return out, total

        self.defjvp(jvp)

    def __call__(self, *args, **kwargs):
        name = _core.name_of(self.fun)
        if self.jvp is None:
            raise AttributeError(f"No JVP defined for custom_jvp function {name} using defjvp.")
        args = _resolve(self.fun, args, kwargs)
        fixed, given, fun = self._split(args)
        rule = _functools.partial(self.jvp, *fixed) if fixed else self.jvp
        if self.symbolic_zeros:
            rule = _with_symbolic(rule)
        return _core.custom_jvp_call(fun, rule, given, name, _core.name_of(self.jvp))


class SymbolicZero:
    """A tangent or cotangent that is known to be zero."""

    def __init__(self, aval):
        self.aval = aval

    @property
    def shape(self):
        return self.aval.shape

    @property
    def dtype(self):
        return self.aval.dtype

    def __repr__(self):
        return f"SymbolicZero({self.aval})"


def zero_from_primal(val, symbolic_zeros=False):
    """The zero tangent of a value."""
    aval = _core.typeof(val).to_tangent_aval()
    if symbolic_zeros:
        return SymbolicZero(aval)
    import pullback.numpy as jnp

    return jnp.zeros(aval.shape, aval.dtype)


class CustomVJPPrimal:
    """A primal of a forward rule that asked for symbolic zeros."""

    def __init__(self, value, perturbed=True):
        self.value, self.perturbed = value, perturbed


def _with_symbolic(rule):
    def materialized(primals, tangents):
        out, dot = rule(primals, tangents)
        return out, _tree_map(lambda o, t: zero_from_primal(o) if isinstance(t, SymbolicZero) else t, out, dot)

    return materialized


class custom_vjp(_Custom):
    """A function whose reverse derivative the user writes; see `defvjp`."""

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.fwd = self.bwd = None
        self.symbolic_zeros = False

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """Sets the rules `fwd(*args) -> (out, residuals)` and `bwd(residuals, cotangent) -> cotangents of args`."""
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, symbolic_zeros

    def __call__(self, *args, **kwargs):
        name = _core.name_of(self.fun)
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"No VJP defined for custom_vjp function {name} using defvjp.")
        args = _resolve(self.fun, args, kwargs)
        fixed, given, fun = self._split(args)
        fwd, bwd = self.fwd, self.bwd
        if fixed:
            bwd = _functools.partial(bwd, *fixed)
            fwd = self._forward_of_open(args)
        if self.symbolic_zeros:
            fwd = _with_custom_primals(fwd)
        return _core.custom_vjp_call(fun, fwd, bwd, given, name, [_core.name_of(self.fwd), _core.name_of(self.bwd)])

    def _forward_of_open(self, args):
        open_at = [k for k in range(len(args)) if k not in self.nondiff_argnums]

        def forward(*given):
            full = list(args)
            for k, value in zip(open_at, given):
                full[k] = value
            return self.fwd(*full)

        return forward


def _with_custom_primals(fwd):
    def forward(*args):
        return fwd(*_tree_map(CustomVJPPrimal, args))

    return forward


def custom_gradient(fun):
    """A function that gives its value and its own `vjp` function."""
    def call(*args, **kwargs):
        return fun(*args, **kwargs)[0]

    wrapped = custom_vjp(call)

    def fwd(*args, **kwargs):
        out, rule = fun(*args, **kwargs)
        from pullback._api import closure_convert

        converted, residuals = closure_convert(rule, out)
        return out, (_Static(converted), residuals)

    def bwd(residuals, ct):
        rule, values = residuals
        cts = rule.value(ct, *values)
        return cts if isinstance(cts, tuple) else (cts,)

    wrapped.defvjp(fwd, bwd)
    return wrapped


class _Static:
    """A value without leaves, held by its identity."""

    def __init__(self, value):
        self.value = value


from pullback.tree_util import register_pytree_node as _register

_register(_Static, lambda static: ((), static.value), lambda value, _: _Static(value))


def linear_call(fun, fun_transpose, residual_args, linear_args):
    """`fun(residuals, linear)`; its transpose is not taken from `fun_transpose` yet."""
    return fun(residual_args, linear_args)


def closure_convert(fun, *example_args):
    """`fun` with the tracers it captured as further arguments, and those."""
    from pullback._api import closure_convert as convert

    return convert(fun, *example_args)
