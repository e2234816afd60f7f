"""Functions with derivatives of the user's own."""

import functools as _functools
import inspect as _inspect

from pullback import _core
from pullback.tree_util import Partial, tree_map


def _positional(fun, args, kwargs):
    """Keyword arguments in their places."""
    if not kwargs:
        return args
    bound = _inspect.signature(fun).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"keyword arguments could not be resolved to positions: {sorted(bound.kwargs)}")
    return bound.args


def _name(fun):
    return getattr(fun, "__name__", type(fun).__name__)


def _numbers(fun, argnums, argnames):
    numbers = {n for n in ((argnums,) if isinstance(argnums, int) else tuple(argnums))}
    if argnames:
        names = [p.name for p in _inspect.signature(fun).parameters.values()]
        numbers |= {names.index(name) for name in ((argnames,) if isinstance(argnames, str) else argnames)}
    return tuple(sorted(numbers))


def _bind_static(fun, numbers, args):
    """The function of the other arguments, and those."""
    static = {i: args[i] for i in numbers}
    others = tuple(arg for i, arg in enumerate(args) if i not in static)

    @_functools.wraps(fun)
    def bound(*rest):
        rest = iter(rest)
        return fun(*(static[i] if i in static else next(rest) for i in range(len(args))))

    return bound, others, tuple(static.values())


class custom_jvp:
    """A function whose forward derivative is given by a rule, for both modes.

    Args:
      fun: the function.
      nondiff_argnums: positions of arguments that are not differentiated; they come first in the rule.
      nondiff_argnames: names of such arguments.

    The rule `jvp(primals, tangents) -> (out, out_dot)` takes tuples of the differentiated arguments. Without a rule a call
    raises AttributeError.

    >>> import pullback as jax
    >>> @jax.custom_jvp
    ... def double(x):
    ...     return x * 2
    >>> double.defjvp(lambda primals, tangents: (double(*primals), tangents[0] * 3))  # doctest: +ELLIPSIS
    <function <lambda> at ...>
    >>> float(jax.grad(double)(1.0))
    3.0
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        _functools.update_wrapper(self, fun, updated=())
        self.fun = fun
        self.nondiff_argnums = _numbers(fun, nondiff_argnums, nondiff_argnames)
        self.jvp = None
        self.symbolic_zeros = False

    def defjvp(self, jvp, symbolic_zeros=False):
        """Sets the rule; gives it back, so that it can be used as a decorator."""
        if symbolic_zeros:
            raise NotImplementedError("custom_jvp rules with symbolic_zeros=True are not supported yet")
        self.jvp = jvp
        return jvp

    def defjvps(self, *jvps):
        """Sets one rule for each argument: `jvp(tangent, out, *args) -> out_dot`, or None for no derivative."""
        if self.nondiff_argnums:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``.")

        def jvp(primals, tangents):
            out = self(*primals)
            terms = [rule(t, out, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            if not terms:
                from pullback import numpy as jnp

                return out, tree_map(jnp.zeros_like, out)
            return out, tree_map(lambda *parts: _functools.reduce(lambda a, b: a + b, parts), *terms)

        self.defjvp(jvp)

    def __call__(self, *args, **kwargs):
        if self.jvp is None:
            raise AttributeError(f"No JVP defined for custom_jvp function {_name(self.fun)} using defjvp.")
        args = _positional(self.fun, args, kwargs)
        fun, rule = self.fun, self.jvp
        if self.nondiff_argnums:
            fun, args, static = _bind_static(fun, self.nondiff_argnums, args)
            rule = _functools.partial(rule, *static)
        return _core.custom_jvp_call(fun, rule, _name(self.jvp), tuple(args))

    def __get__(self, obj, owner=None):
        return self if obj is None else Partial(self, obj)


class custom_vjp:
    """A function whose reverse derivative is given by a pair of functions. It has no forward derivative.

    Args:
      fun: the function.
      nondiff_argnums: positions of arguments that are not differentiated; `bwd` gets them first.
      nondiff_argnames: names of such arguments.

    `fwd(*args) -> (out, residuals)` and `bwd(residuals, ct) -> cotangents`, a tuple with one entry for each
    differentiated argument, None for zero.

    >>> import pullback as jax
    >>> @jax.custom_vjp
    ... def clip_gradient(x):
    ...     return x
    >>> clip_gradient.defvjp(lambda x: (x, None), lambda _, ct: (ct.clip(-1, 1),))
    >>> float(jax.grad(lambda x: 5 * clip_gradient(x))(1.0))
    1.0
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        _functools.update_wrapper(self, fun, updated=())
        self.fun = fun
        self.nondiff_argnums = _numbers(fun, nondiff_argnums, nondiff_argnames)
        self.fwd = self.bwd = None

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """Sets the forward and the backward function."""
        if symbolic_zeros:
            raise NotImplementedError("custom_vjp rules with symbolic_zeros=True are not supported yet")
        self.fwd, self.bwd = fwd, bwd

    def __call__(self, *args, **kwargs):
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"No VJP defined for custom_vjp function {_name(self.fun)} using defvjp.")
        args = _positional(self.fun, args, kwargs)
        fun, fwd, bwd = self.fun, self.fwd, self.bwd
        if self.nondiff_argnums:
            forward = fwd
            fun, others, static = _bind_static(fun, self.nondiff_argnums, args)
            fwd, _, _ = _bind_static(forward, self.nondiff_argnums, args)
            bwd, args = _functools.partial(bwd, *static), others
        return _core.custom_vjp_call(fun, fwd, bwd, [_name(self.fwd), _name(self.bwd)], tuple(args))

    def __get__(self, obj, owner=None):
        return self if obj is None else Partial(self, obj)


def custom_gradient(fun):
    """A function from one that gives its value and its backward function: `fun(*args) -> (out, bwd)`."""

    @custom_vjp
    @_functools.wraps(fun)
    def wrapped(*args):
        return fun(*args)[0]

    def forward(*args):
        out, backward = fun(*args)
        return out, Partial(backward)

    def backward(residuals, ct):
        cts = residuals(ct)
        return cts if isinstance(cts, tuple) else (cts,)

    wrapped.defvjp(forward, backward)
    return wrapped


def checkpoint(fun, *, prevent_cse=True, policy=None, static_argnums=(), concrete=False):
    """A version of `fun` whose intermediate values are computed again for the reverse derivative instead of kept.

    Args:
      fun: a function of trees.
      prevent_cse: accepted; the recomputation is never merged with the first computation.
      policy: which values to keep; not supported yet.
      static_argnums: positions of arguments that are passed on as they are.

    >>> import pullback as jax, pullback.numpy as jnp
    >>> float(jax.grad(jax.checkpoint(jnp.sin))(0.0))
    1.0
    """
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun}")
    if policy is not None:
        raise NotImplementedError("jax.checkpoint with a policy is not supported yet; leave it out to recompute everything")
    numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @_functools.wraps(fun)
    def wrapped(*args, **kwargs):
        body = fun
        if numbers:
            body, args, _ = _bind_static(fun, [n % len(args) for n in numbers], args)
        if kwargs:
            names = sorted(kwargs)
            n_args = len(args)
            inner = body

            def body(*flat):
                return inner(*flat[:n_args], **dict(zip(names, flat[n_args:])))

            args = (*args, *(kwargs[name] for name in names))
        return _core.checkpoint(body, tuple(args), bool(prevent_cse))

    return wrapped


remat = checkpoint


def closure_convert(fun, *example_args):
    """`fun` as a function that takes the arrays it closes over as further arguments, and those arrays."""
    raise NotImplementedError("jax.closure_convert is not supported yet")


__all__ = ["checkpoint", "closure_convert", "custom_gradient", "custom_jvp", "custom_vjp", "remat"]
