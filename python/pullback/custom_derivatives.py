"""Functions with derivatives of the user's own."""

import functools as _functools
import inspect as _inspect

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._core import CustomVJPPrimal as CustomVJPPrimal
from pullback._core import SymbolicZero as SymbolicZero
from pullback.tree_util import Partial as _Partial, register_pytree_node as _register_pytree_node
from pullback.tree_util import tree_flatten as _tree_flatten, tree_leaves as _tree_leaves, tree_map as _tree_map
from pullback.tree_util import tree_structure as _tree_structure


def _positional(owner, args, kwargs, kind):
    """All arguments in their places, those with defaults that are not given too."""
    if "_signature" not in owner.__dict__:
        owner._signature = _Signature.of(owner.fun)
    signature = owner._signature
    if signature is None:
        return args if not kwargs else _refuse(owner.fun, kind, "it has no signature whose defaults could be filled in")
    if not kwargs and signature.n_fixed == len(args):
        return args
    try:
        bound = signature.full.bind(*args, **kwargs)
    except TypeError as error:
        return _refuse(owner.fun, kind, error)
    bound.apply_defaults()
    unplaced = [name for name in bound.kwargs if name in kwargs]
    return bound.args if not unplaced else _refuse(owner.fun, kind, f"keyword arguments could not be resolved to positions: {unplaced}")


def _refuse(fun, kind, error):
    raise _user_error(
        TypeError,
        f"The input arguments to the {kind}-decorated function {_name(fun)} could not be resolved to positional-only arguments. "
        f"Binding failed with the error:\n{error}"
    ) from None


class _Signature:
    """The signature of a function, and how many positional arguments it takes where that is a fixed number."""

    def __init__(self, full):
        self.full = full
        kinds = [parameter.kind for parameter in full.parameters.values()]
        fixed = (_inspect.Parameter.POSITIONAL_ONLY, _inspect.Parameter.POSITIONAL_OR_KEYWORD)
        self.n_fixed = len(kinds) if all(kind in fixed for kind in kinds) else None

    @classmethod
    def of(cls, fun):
        """The signature; None of what has none, and of a `partial`, whose defaults are not for others to fill in."""
        if isinstance(fun, _functools.partial):
            return None
        try:
            return cls(_inspect.signature(fun))
        except (TypeError, ValueError):
            return None


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


def _check_no_tracers(static):
    """Refuses tracers among arguments that the backward function takes as they are: its derivative could not reach them."""
    from pullback.errors import UnexpectedTracerError

    if any(isinstance(leaf, _core.Tracer) for leaf in _tree_flatten(static)[0]):
        raise UnexpectedTracerError(
            "Found a JAX Tracer object passed as an argument to a custom_vjp function in a position indicated by nondiff_argnums as "
            "non-differentiable. Tracers cannot be passed as non-differentiable arguments to custom_vjp functions; instead, "
            "nondiff_argnums should only be used for arguments that can't be or contain JAX tracers, e.g. function-valued "
            "arguments. In particular, array-valued arguments should typically not be indicated as nondiff_argnums."
        )


class custom_jvp:
    """A function whose forward derivative is given by a rule, for both modes.

    The rule `jvp(primals, tangents) -> (out, out_dot)` takes tuples of the differentiated arguments. With
    `symbolic_zeros=True` a tangent that is known to be zero comes as a `SymbolicZero`, which the rule may also give.
    Closed-over tracers are constant to the derivative.

    Attributes:
      fun: the function, of trees of arrays; calls that are not differentiated run it.
      nondiff_argnums: positions of arguments that are not differentiated, those that `nondiff_argnames` names among them;
        they come first in the rule.
      jvp: the rule, None until `defjvp` or `defjvps` sets it.
    Raises AttributeError when called without a rule; TypeError for rules that give no pair, other structures, or tangents
    whose shapes or dtypes do not fit.

    Example:
      >>> @jax.custom_jvp
      ... def double(x):
      ...     return x * 2
      >>> _ = double.defjvp(lambda primals, tangents: (double(*primals), tangents[0] * 3))
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
        self.jvp, self.symbolic_zeros = jvp, bool(symbolic_zeros)
        return jvp

    def defjvps(self, *jvps):
        """Sets one rule for each argument: `jvp(tangent, out, *args) -> out_dot`, or None for no derivative."""
        if self.nondiff_argnums:
            raise _user_error(TypeError, "Can't use ``defjvps`` with ``nondiff_argnums``.")

        def jvp(primals, tangents):
            out = self(*primals)
            terms = [rule(t, out, *primals) for rule, t in zip(jvps, tangents) if rule is not None]
            if not terms:
                from pullback import numpy as jnp

                return out, _tree_map(jnp.zeros_like, out)
            return out, _tree_map(lambda *parts: _functools.reduce(lambda a, b: a + b, parts), *terms)

        self.defjvp(jvp)

    def __call__(self, *args, **kwargs):
        if self.jvp is None:
            raise _user_error(AttributeError, f"No JVP defined for custom_jvp function {_name(self.fun)} using defjvp.")
        args = _positional(self, args, kwargs, "custom_jvp")
        fun, rule = self.fun, self.jvp
        if self.nondiff_argnums:
            fun, args, static = _bind_static(fun, self.nondiff_argnums, args)
            rule = _functools.partial(rule, *static)
        return _core.custom_jvp_call(fun, rule, _name(self.jvp), tuple(args), self.symbolic_zeros)

    def __get__(self, obj, owner=None):
        return self if obj is None else _Partial(self, obj)


class _Residuals:
    """What a forward rule keeps, where Python's own numbers among it stay what they are: rules branch on them."""

    def __init__(self, residuals):
        leaves, tree = _tree_flatten(residuals)
        own = [type(leaf) in (bool, int, float, complex) for leaf in leaves]
        self.arrays = [leaf for leaf, is_own in zip(leaves, own) if not is_own]
        # Kept with their types, since equal numbers of different types are different residuals.
        self.numbers = (tree, tuple((type(leaf), leaf) if is_own else None for leaf, is_own in zip(leaves, own)))

    def tree(self):
        """The residuals as the rule gave them."""
        tree, numbers = self.numbers
        arrays = iter(self.arrays)
        return tree.unflatten([next(arrays) if number is None else number[1] for number in numbers])


def _filled_residuals(numbers, arrays):
    residuals = object.__new__(_Residuals)
    residuals.numbers, residuals.arrays = numbers, arrays
    return residuals


_register_pytree_node(_Residuals, lambda residuals: (residuals.arrays, residuals.numbers), _filled_residuals)


def _keeping_numbers(fwd, bwd):
    """The rules with residuals in which Python's own numbers are not made arrays."""

    def forward(*args):
        pair = fwd(*args)
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        return (pair[0], _Residuals(pair[1])) if is_pair else pair

    def backward(residuals, cotangent):
        return bwd(residuals.tree(), cotangent)

    return forward, backward


class custom_vjp:
    """A function whose reverse derivative is given by a pair of functions. It has no forward derivative.

    `fwd(*args) -> (out, residuals)` and `bwd(residuals, ct) -> cotangents`, a tuple with one entry for each
    differentiated argument, None for zero. With `symbolic_zeros=True`, leaves of the arguments of `fwd` come as
    `CustomVJPPrimal`, which tells whether they are differentiated, and zero cotangents as `SymbolicZero`.

    Attributes:
      fun: the function, of trees of arrays; calls that are not differentiated run it.
      nondiff_argnums: positions of arguments that are not differentiated, those that `nondiff_argnames` names among them;
        `bwd` gets them first.
      fwd, bwd: the functions, None until `defvjp` sets them.
    Raises:
      AttributeError: it is called and no functions are set.
      TypeError: `fwd` gives no pair; `bwd` gives another structure than that of the arguments; forward differentiation.
      ValueError: a cotangent has another shape or dtype than its argument.

    Example:
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
        self.symbolic_zeros = False

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False, generic_batching=False):
        """Sets the forward and the backward function.

        Args:
          fwd: `fwd(*args) -> (out, residuals)`.
          bwd: `bwd(*nondiff_args, residuals, ct) -> cotangents`.
          symbolic_zeros: whether the functions get zeros and undifferentiated arguments marked as such.
          optimize_remat, generic_batching: choose among implementations of the same derivative; there is one.
        """
        self.fwd, self.bwd, self.symbolic_zeros = fwd, bwd, bool(symbolic_zeros)

    def defvjp_with_logs(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False, generic_batching=False):
        """Sets functions whose backward pass also gives logs; not supported."""
        raise _user_error(NotImplementedError, "custom_vjp rules with logs are not supported; use defvjp")

    def defvjp_with_accums(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False, generic_batching=False):
        """Sets functions that add to accumulators of cotangents; not supported."""
        raise _user_error(NotImplementedError, "custom_vjp rules with accumulators are not supported; use defvjp")

    def defremat(self, fwd, rem, bwd, generic_batching=False):
        """Sets functions with a rematerialization of their own; not supported."""
        raise _user_error(NotImplementedError, "custom_vjp rules with their own rematerialization are not supported; use defvjp")

    def defremat_with_logs(self, fwd, rem, bwd, generic_batching=False):
        """As `defremat`, with logs; not supported."""
        raise _user_error(NotImplementedError, "custom_vjp rules with their own rematerialization are not supported; use defvjp")

    def __call__(self, *args, **kwargs):
        if self.fwd is None or self.bwd is None:
            raise _user_error(AttributeError, f"No VJP defined for custom_vjp function {_name(self.fun)} using defvjp.")
        args = _positional(self, args, kwargs, "custom_vjp")
        fun, fwd, bwd = self.fun, self.fwd, self.bwd
        if self.nondiff_argnums:
            forward = fwd
            fun, others, static = _bind_static(fun, self.nondiff_argnums, args)
            _check_no_tracers(static)
            fwd, _, _ = _bind_static(forward, self.nondiff_argnums, args)
            bwd, args = _functools.partial(bwd, *static), others
        names = [_name(self.fwd), _name(self.bwd)]
        fwd, bwd = _keeping_numbers(fwd, bwd)
        return _core.custom_vjp_call(fun, fwd, bwd, names, tuple(args), self.symbolic_zeros)

    def __get__(self, obj, owner=None):
        return self if obj is None else _Partial(self, obj)


def custom_vjp_primal_tree_values(tree):
    """The values of a tree of `CustomVJPPrimal`, in their places.

    Args:
      tree: a tree whose leaves are `CustomVJPPrimal`, as `fwd` rules get them with `symbolic_zeros=True`.
    Returns: a tree of the same structure.
    Raises:
      TypeError: a leaf is something else.
    Differentiable: yes; values are passed unchanged.
    Example:
      >>> from pullback.custom_derivatives import CustomVJPPrimal, custom_vjp_primal_tree_values
      >>> custom_vjp_primal_tree_values((CustomVJPPrimal(1.0, True), CustomVJPPrimal(2.0, False)))
      (1.0, 2.0)
    """

    def value(leaf):
        if not isinstance(leaf, CustomVJPPrimal):
            raise _user_error(TypeError, f"custom_vjp_primal_tree_values was given {leaf} of type {type(leaf)}, not a CustomVJPPrimal")
        return leaf.value

    return _tree_map(value, tree)


def _zeros_like_tangent(val):
    import numpy as np

    from pullback import numpy as jnp
    from pullback.dtypes import float0

    aval = _core.typeof(val)
    if _core.tangent_dtype_is_float0(aval):
        return np.zeros(aval.shape, float0)
    return jnp.zeros_like(val)


def zero_from_primal(val, symbolic_zeros=False):
    """The zero cotangents of values.

    Args:
      val: a tree of arrays and numbers.
      symbolic_zeros: whether to give a `SymbolicZero`, which holds no elements, for each.
    Returns: a tree of the same structure; for each leaf an array of zeros of its shape and dtype, for integers and booleans a NumPy array of dtype `float0`; or a
      `SymbolicZero`.
    Raises:
      TypeError: a leaf is no array or number.
    Differentiable: yes; the derivative is zero.
    Example:
      >>> print(jax.custom_derivatives.zero_from_primal(jnp.ones(2)))
      [0. 0.]
    """
    return _tree_map(SymbolicZero.from_primal_value if symbolic_zeros else _zeros_like_tangent, val)


def linear_call(fun, fun_transpose, residual_args, linear_args):
    """Calls `fun(residual_args, linear_args)`, a function linear in `linear_args`, whose transpose the user gives.

    Args:
      fun: the linear function.
      fun_transpose: `fun_transpose(residual_args, cotangents)`, with results like `linear_args`. That it is the
        transpose of `fun` is not checked.
      residual_args: a tree of arrays, not differentiated.
      linear_args: a tree of arrays.
    Returns: what `fun` gives.
    Raises:
      TypeError: the transpose gives another structure or other shapes than those of `linear_args`.
      NotImplementedError: a derivative with respect to `residual_args`.
    Differentiable: yes, with respect to `linear_args`, in both modes.
    Example:
      >>> from pullback.custom_derivatives import linear_call
      >>> half = lambda x: linear_call(lambda r, x: x / r, lambda r, ct: ct / r, 2.0, x)
      >>> float(jax.grad(half)(3.0))
      0.5
    """
    return _core.linear_call(fun, fun_transpose, residual_args, linear_args)


def custom_gradient(fun=None, *, with_logs=False, remat=False, with_accums=None):
    """A function from one that gives its value and its backward function: `fun(*args) -> (out, bwd)`.

    The backward function takes the cotangent of the result and gives those of the arguments: a tuple, or one for a
    function of one argument. What it closes over is kept for it.

    Args:
      fun: the function. Without it, a decorator is returned.
      with_logs, remat, with_accums: not supported: only the defaults.
    Returns: a function with the arguments of `fun` that gives `out`.
    Raises:
      NotImplementedError: an option is given.
    Differentiable: yes, in reverse mode, by `bwd`; forward mode raises TypeError.
    Example:
      >>> @jax.custom_gradient
      ... def f(x):
      ...     return x * x, lambda ct: ct * x
      >>> float(jax.grad(f)(3.0))
      3.0
    """
    if with_logs or remat or with_accums is not None:
        raise _user_error(NotImplementedError, "custom_gradient takes none of its options yet; use jax.custom_vjp")
    if fun is None:
        return custom_gradient

    @custom_vjp
    @_functools.wraps(fun)
    def wrapped(*args):
        return fun(*args)[0]

    def forward(*args):
        out, backward = fun(*args)
        # What the backward function closes over becomes residuals, so that transformations see it.
        staged = _core.stage_call(backward, (_tree_map(zero_from_primal, out),), {})
        return out, _Partial(_functools.partial(_call_closed, staged), *staged.captured)

    def backward(residuals, ct):
        cts = residuals(_tree_leaves(ct))
        return cts if isinstance(cts, tuple) else (cts,)

    wrapped.defvjp(forward, backward)
    return wrapped


def _call_closed(staged, *captured_and_leaves):
    *captured, leaves = captured_and_leaves
    return staged.call_closed(captured, leaves)


def _numbers_of(static_argnums):
    return (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)


def checkpoint(fun, *, prevent_cse=True, policy=None, static_argnums=(), static_argnames=()):
    """A version of `fun` whose intermediate values are computed again for the reverse derivative instead of kept.

    Args:
      fun: a function of trees.
      prevent_cse: whether the recomputation must not be merged with the first computation; this engine never merges them.
        A sequence has one entry for each leaf of the arguments.
      policy: which values to keep, one of `jax.checkpoint_policies` or a function of a primitive, the avals of its
        operands and its params that says whether the results are kept. None keeps nothing but the arguments.
      static_argnums: positions of arguments that are passed on as they are.
      static_argnames: names of such arguments.
    Returns: a function with the signature and the values of `fun`.
    Raises:
      TypeError: `fun` is not callable.
      ValueError: when called: fewer arguments than `static_argnums` names.
      NotImplementedError: a policy that moves a value to another memory, when differentiated.
    Differentiable: as `fun` is, with the same values.
    Example:
      >>> float(jax.grad(jax.checkpoint(jnp.sin))(0.0))
      1.0
    """
    if not callable(fun):
        raise _user_error(TypeError, f"Expected a callable value, got {fun}")
    numbers = _numbers_of(static_argnums)
    names = {static_argnames} if isinstance(static_argnames, str) else set(static_argnames)
    if names:
        positional = [p.name for p in _inspect.signature(fun).parameters.values()]
        numbers = tuple(sorted({*numbers, *(positional.index(name) for name in names if name in positional)}))
    merges = prevent_cse if isinstance(prevent_cse, bool) else any(prevent_cse)

    @_functools.wraps(fun)
    def wrapped(*args, **kwargs):
        if not names and any(not -len(args) <= number < len(args) for number in numbers):
            raise _user_error(
                ValueError,
                "the `static_argnums` argument to `jax.checkpoint` / `jax.remat` can only take integer values greater than or equal to "
                f"`-len(args)` and less than `len(args)`, but got static_argnums={numbers}, while len(args) = {len(args)}"
            )
        body = fun
        static = {name: kwargs.pop(name) for name in list(kwargs) if name in names}
        if static:
            body = _functools.wraps(fun)(_functools.partial(body, **static))
        positions = sorted({n % len(args) for n in numbers if -len(args) <= n < len(args)})
        if positions:
            body, args, _ = _bind_static(body, positions, args)
        if kwargs:
            keys = sorted(kwargs)
            n_args = len(args)
            inner = body

            def body(*flat):
                return inner(*flat[:n_args], **dict(zip(keys, flat[n_args:])))

            args = (*args, *(kwargs[key] for key in keys))
        return _core.checkpoint(body, tuple(args), merges, policy)

    return wrapped


def remat(fun, *, prevent_cse=True, policy=None, static_argnums=()):
    """`jax.checkpoint` under its older name: intermediate values are computed again for the reverse derivative.

    Args:
      fun: a function of trees.
      prevent_cse: as in `checkpoint`.
      policy: which values to keep, as in `checkpoint`.
      static_argnums: positions of arguments that are passed on as they are.
    Returns: a function with the signature and the values of `fun`.
    Raises:
      TypeError: `fun` is not callable.
      ValueError: when called: fewer arguments than `static_argnums` names.
    Differentiable: as `fun` is, with the same values.
    Example:
      >>> float(jax.grad(jax.remat(jnp.sin))(0.0))
      1.0
    """
    return checkpoint(fun, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums)


def closure_convert(fun, *example_args):
    """`fun` as a function that takes the tracers it closes over as further arguments, and those tracers.

    Only tracers of floating or complex type that a derivative may go through are taken out; other values stay closed over.

    Args:
      fun: a function of trees of arrays.
      example_args: arguments of the structure, shapes and dtypes with which it will be called.
    Returns: `converted(*args, *consts)` and the list of `consts`.
    Raises:
      TypeError: the converted function is called with another structure of arguments.
    Differentiable: as `fun` is, with respect to its arguments and to `consts`.
    Example:
      >>> def integrate(f, x):
      ...     f, consts = jax.closure_convert(f, x)
      ...     return f(x, *consts)
      >>> float(jax.grad(lambda a: integrate(lambda x: a * x, 2.0))(3.0))
      2.0
    """
    staged = _core.stage_call(fun, example_args, {})
    in_tree = _tree_structure((example_args, {}))
    captured, hoisted = staged.captured, staged.perturbed_captures()

    def converted_fun(*args_and_consts):
        n_args = len(args_and_consts) - sum(hoisted)
        args, consts = args_and_consts[:n_args], iter(args_and_consts[n_args:])
        leaves, tree = _tree_flatten((args, {}))
        if tree != in_tree:
            raise _user_error(
                TypeError,
                "The inputs to the closure produced by closure_convert must have the same Pytree structure as the example "
                f"arguments passed when closure_convert was called. Expected {in_tree}, but got {tree}"
            )
        given = [next(consts) if is_hoisted else value for value, is_hoisted in zip(captured, hoisted)]
        return staged.call_closed(given, leaves)

    return converted_fun, [value for value, is_hoisted in zip(captured, hoisted) if is_hoisted]


__all__ = [
    "CustomVJPPrimal", "SymbolicZero", "checkpoint", "closure_convert", "custom_gradient", "custom_jvp", "custom_vjp",
    "custom_vjp_primal_tree_values", "linear_call", "remat", "zero_from_primal",
]


def __getattr__(name):
    # `custom_jvp_call_p`: the primitives, under the names that libraries key on.
    if name.endswith("_p"):
        from pullback.extend.core import primitives

        return getattr(primitives, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "checkpoint", "remat",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
