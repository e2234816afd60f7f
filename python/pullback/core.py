"""Types of the core: avals, jaxprs, tracers, primitives."""

import contextlib as _contextlib
import functools as _functools
import itertools as _itertools
import typing as _typing
import weakref as _weakref

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._core import (
    DebugInfo as DebugInfo,
    DropVar as DropVar,
    Jaxpr as Jaxpr,
    JaxprEqn as JaxprEqn,
    Literal as Literal,
    Primitive as Primitive,
    ShapedArray as ShapedArray,
    Tracer as Tracer,
    Var as Var,
    trace_state_clean as trace_state_clean,
)
from pullback._effects import Effect as Effect, no_effects as no_effects
from pullback.errors import (
    ConcretizationTypeError as ConcretizationTypeError,
    TracerArrayConversionError as TracerArrayConversionError,
    UnexpectedTracerError as UnexpectedTracerError,
)

AbstractValue = ShapedArray
Atom = Var | Literal
# Open and closed jaxprs are one class.
ClosedJaxpr = Jaxpr
Value = _typing.Any
ParamDict = dict[str, _typing.Any]


def get_aval(x):
    """The aval of an array or number.

    Args:
      x: an array or number; tracers too.
    Returns: a `ShapedArray`.
    Raises:
      TypeError: `x` is neither.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.core.get_aval(2.0)
      ShapedArray(float32[], weak_type=True)
    """
    return _core.typeof(x)


class Token:
    """Orders effects; no value here is one."""


class TraceTag:
    """What tells one user-defined trace from others."""


class Trace:
    """The base of traces that Python code defines.

    While one is current (`set_current_trace`), each operation calls its `process_primitive(primitive, tracers, params)`, with
    evaluation current meanwhile. Functions with custom rules come to `process_custom_jvp_call` and `process_custom_vjp_call`. What
    these give are values, or tracers: objects of a subclass of `Tracer` that are made with the trace and an aval.
    """

    def __new__(cls, *args, **kwargs):
        trace = super().__new__(cls)
        object.__setattr__(trace, "_handle", _core.TraceHandle())
        return trace

    def __init__(self):
        pass

    def stage_value(self, val):
        """The value as one of this trace."""
        return val

    def process_primitive(self, primitive, tracers, params):
        """The result of a primitive, or the list of its results."""
        raise NotImplementedError(f"{type(self).__name__} must define process_primitive")

    def process_custom_jvp_call(self, primitive, fun, jvp, tracers, *, symbolic_zeros):
        """The results of a function that has a forward rule of its own."""
        raise NotImplementedError(f"{type(self).__name__} must override process_custom_jvp_call to handle custom_jvp primitives")

    def process_custom_vjp_call(self, primitive, fun, fwd, bwd, tracers, *, out_trees, symbolic_zeros):
        """The results of a function that has a reverse rule of its own."""
        raise NotImplementedError(f"{type(self).__name__} must override process_custom_vjp_call to handle custom_vjp primitives")

    def invalidate(self):
        """Says that the trace is over."""
        object.__setattr__(self, "_is_over", True)

    def is_valid(self):
        """Whether the trace is not over."""
        return not getattr(self, "_is_over", False)

    def __repr__(self):
        return type(self).__name__


def eval_jaxpr(jaxpr, consts, *args, propagate_source_info=True):
    """The results of a jaxpr for flat arguments, as a list.

    Args:
      jaxpr: a jaxpr.
      consts: values of its constvars; tracers too.
      *args: values of its inputs.
      propagate_source_info: accepted for compatibility; without effect.
    Returns: a list of the results.
    Raises:
      TypeError: the number of consts or arguments is wrong, or an equation refuses its operands.
    Differentiable: as the equations are.
    Example:
      >>> jaxpr = jax.make_jaxpr(lambda x: x * 2)(1.0)
      >>> jax.core.eval_jaxpr(jaxpr, jaxpr.consts, 3.0)
      [Array(6., dtype=float32, weak_type=True)]
    """
    return _core.eval_jaxpr(jaxpr, list(consts), list(args))


def jaxpr_as_fun(closed_jaxpr, *args):
    """A jaxpr as a function of flat arguments that gives a list; with arguments, its results.

    Args:
      closed_jaxpr: a jaxpr.
      args: values of its inputs.
    Returns: a function of as many values as there are inputs; with `args`, the list of results.
    Raises:
      TypeError: the number of arguments is wrong.
    Differentiable: as the equations are.
    Example:
      >>> f = jax.core.jaxpr_as_fun(jax.make_jaxpr(lambda x: x * 2)(1.0))
      >>> f(3.0)
      [Array(6., dtype=float32, weak_type=True)]
    """
    if args:
        return eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)
    return lambda *args: eval_jaxpr(closed_jaxpr, closed_jaxpr.consts, *args)


def new_jaxpr_eqn(invars, outvars, primitive, params, effects=no_effects, source_info=None, ctx=None):
    """An equation from variables, a primitive and its parameters by name.

    Args:
      invars, outvars: variables; literals too among the first.
      primitive: what is applied.
      params: its parameters by name.
      effects, source_info, ctx: what the equation does besides, and where it comes from.
    Returns: a `JaxprEqn`.
    Raises:
      TypeError: the primitive does not take the parameters.
    Differentiable: no; it takes no arrays.
    Example:
      >>> x, y = jax.core.Var(jax.core.ShapedArray((), jnp.float32)), jax.core.Var(jax.core.ShapedArray((), jnp.float32))
      >>> jax.core.new_jaxpr_eqn([x], [y], jax.lax.sin_p, {}).primitive
      sin
    """
    return JaxprEqn(list(invars), list(outvars), primitive, params, effects, source_info, ctx)


def gensym(suffix=""):
    """A function from avals to new variables.

    Args:
      suffix: accepted for compatibility; names are given when a jaxpr is printed.
    Returns: a function of an aval.
    Differentiable: no; it takes no arrays.
    Example:
      >>> new = jax.core.gensym()
      >>> new(jax.core.ShapedArray((2,), jnp.float32)).aval
      ShapedArray(float32[2])
    """
    return lambda aval: Var(aval)


def _jaxprs_of(value):
    if isinstance(value, Jaxpr):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from _jaxprs_of(item)


def jaxprs_in_params(params):
    """The jaxprs among parameters of an equation.

    Args:
      params: parameters of an equation by name.
    Returns: an iterator of jaxprs; those in tuples and lists too.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jaxpr = jax.make_jaxpr(jax.jit(jnp.sin))(1.0)
      >>> len(list(jax.core.jaxprs_in_params(jaxpr.eqns[0].params)))
      1
    """
    yield from _itertools.chain.from_iterable(map(_jaxprs_of, params.values()))


def subjaxprs(jaxpr):
    """The jaxprs among the parameters of all equations.

    Args:
      jaxpr: a jaxpr.
    Returns: an iterator of jaxprs, in the order of the equations.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jaxpr = jax.make_jaxpr(jax.jit(jnp.sin))(1.0)
      >>> [len(sub.eqns) for sub in jax.core.subjaxprs(jaxpr)]
      [1]
    """
    for eqn in jaxpr.eqns:
        yield from jaxprs_in_params(eqn.params)


def mapped_aval(size, axis, aval):
    """The aval of one slice along an axis; None as axis leaves it.

    Args:
      size: the size of the axis.
      axis: which one; None for no axis.
      aval: the type of the whole.
    Returns: the type without the axis.
    Raises:
      ValueError: the axis has another size.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.core.mapped_aval(3, 0, jax.core.ShapedArray((3, 2), jnp.float32))
      ShapedArray(float32[2])
    """
    if axis is None:
        return aval
    if aval.shape[axis] != size:
        raise _user_error(ValueError, f"axis {axis} of {aval} has size {aval.shape[axis]}, not {size}")
    shape = list(aval.shape)
    del shape[axis]
    return aval.update(shape=tuple(shape))


def unmapped_aval(size, axis, aval, explicit_mesh_axis=None):
    """The aval with a new axis of the given size; None as axis leaves it.

    Args:
      size: the size of the new axis.
      axis: where it goes; None for no axis.
      aval: the type of a slice.
      explicit_mesh_axis: accepted for compatibility; without effect.
    Returns: the type with the axis.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.core.unmapped_aval(3, 0, jax.core.ShapedArray((2,), jnp.float32))
      ShapedArray(float32[3,2])
    """
    if axis is None:
        return aval
    shape = list(aval.shape)
    shape.insert(axis % (len(shape) + 1), size)
    return aval.update(shape=tuple(shape))


class _Owner(BaseException):
    """Carries the trace that a value belongs to out of the rule that the core asked."""


def _tell_owner(kind):
    def rule(*_, **__):
        raise _Owner(kind, _core.current_trace())

    return rule


@_functools.cache
def _owner_p():
    """A primitive that no trace takes: the rule that is asked first tells which trace a value belongs to."""
    from pullback.interpreters import ad, batching

    primitive = _core.Primitive("owner")
    primitive.def_impl(_tell_owner("evaluation"))
    primitive.def_abstract_eval(_tell_owner("jaxpr"))
    ad.primitive_jvps[primitive] = _tell_owner("jvp")
    batching.primitive_batchers[primitive] = _tell_owner("batch")
    return primitive


# Tags of traces that are looked at, by what their rules tell: one object for each trace as long as somebody has it.
_tags = _weakref.WeakValueDictionary()


class _TraceOf:
    """The trace that a value belongs to, as far as Python sees it: its `main` is one object for each trace."""

    def __init__(self, main):
        self.main = main

    def __eq__(self, other):
        return isinstance(other, _TraceOf) and self.main is other.main

    def __hash__(self):
        return id(self.main)


def _trace_of(*values):
    """The trace that operations on the values go to; under an inner `jit` that one's, which takes all values as its own."""
    try:
        _owner_p().bind(*values)
    except _Owner as owner:
        return _TraceOf(_tags.setdefault(owner.args, TraceTag()))
    raise AssertionError("no trace takes the primitive")


def _trace_of_tracer(tracer):
    return tracer._python_trace or _trace_of(tracer)


Tracer._trace = property(_trace_of_tracer, doc="The trace that the tracer belongs to.")


def find_top_trace(values, axis_names=None):
    """The trace that operations on the values go to.

    Args:
      values: the operands.
      axis_names: accepted for compatibility; without effect.
    Returns: an object, equal for values of one trace, whose `main` is the same object for them.
    Differentiable: no; it takes no arrays.
    Example:
      >>> def f(x):
      ...     print(jax.core.find_top_trace([1.0, x]).main is x._trace.main)
      ...     return x
      >>> _ = jax.jvp(f, (1.0,), (1.0,))
      True
    """
    return _trace_of(*values)


def full_lower(value):
    """The value itself: tracers here never stand for known values.

    Args:
      value: any value.
    Returns: `value`.
    Differentiable: yes; it changes nothing.
    Example:
      >>> jax.core.full_lower(3)
      3
    """
    return value


@_contextlib.contextmanager
def ensure_compile_time_eval():
    """A context in which operations on known values run at once, even where a function is traced.

    Returns: a context manager.
    Differentiable: no: what is computed inside is constant to a program around.
    Example:
      >>> @jax.jit
      ... def f(x):
      ...     with jax.ensure_compile_time_eval():
      ...         n = int(jnp.arange(3).sum())
      ...     return x * n
      >>> float(f(2.0))
      6.0
    """
    _core.enter_evaluation()
    try:
        yield
    finally:
        _core.leave_evaluation()


@_contextlib.contextmanager
def eval_context():
    """As `ensure_compile_time_eval`.

    Returns: a context manager.
    Differentiable: no: what is computed inside is constant to a program around.
    Example:
      >>> with jax.core.eval_context():
      ...     jnp.sin(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    with ensure_compile_time_eval():
        yield


@_contextlib.contextmanager
def _entered(trace):
    _core.enter_trace(trace)
    try:
        yield
    finally:
        _core.leave_trace()


@_contextlib.contextmanager
def take_current_trace():
    """Gives the current trace, and makes evaluation current.

    Returns: a context manager; with the trace, which may be made current again.
    Differentiable: no; it takes no arrays.
    Example:
      >>> with jax.core.take_current_trace() as trace:
      ...     with jax.core.set_current_trace(trace):
      ...         print(jnp.sin(0.0))
      0.0
    """
    trace = _core.trace_in_force()
    with _entered(None):
        yield trace


@_contextlib.contextmanager
def set_current_trace(trace, **_):
    """Makes a trace current.

    Args:
      trace: a `Trace` that Python code defines, what `take_current_trace` gave, or None for evaluation.
    Returns: a context manager.
    Raises:
      TypeError: it is no trace.
    Differentiable: no; it takes no arrays.
    Example:
      >>> with jax.core.set_current_trace(None):
      ...     jax.core.trace_state_clean()
      True
    """
    if not (trace is None or isinstance(trace, (Trace, _core.OpaqueTrace))):
        raise _user_error(TypeError, f"expected a trace, got {trace!r}")
    with _entered(trace):
        yield


def _extreme(name, d1, d2):
    from pullback._export import dims  # imported with export: integers, which are the rule, do not need it

    return dims.operation(name, d1, d2)


def max_dim(d1, d2):
    """The larger of two sizes.

    Args:
      d1, d2: sizes, or expressions of dimension variables.
    Returns: an integer; of expressions one.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.core.max_dim(2, 3)
      3
    """
    return _extreme("max", d1, d2)


def min_dim(d1, d2):
    """The smaller of two sizes.

    Args:
      d1, d2: sizes, or expressions of dimension variables.
    Returns: an integer; of expressions one.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.core.min_dim(2, 3)
      2
    """
    return _extreme("min", d1, d2)


def is_concrete(x):
    """Whether the value of `x` is known.

    Args:
      x: an array, number or tracer.
    Returns: a bool; tracers of `grad` know their values, those of `jit` do not.
    Differentiable: no; the result is no array.
    Example:
      >>> jax.core.is_concrete(jnp.ones(2))
      True
    """
    return _core.is_concrete(x)


def concrete_or_error(force, value, context=""):
    """`force(value)` of a known value.

    Args:
      force: a function of the value, such as `int`; None for none.
      value: an array, number or tracer.
      context: text that the error ends with.
    Returns: what `force` gives.
    Raises:
      ConcretizationTypeError: the value is not known.
    Differentiable: no; the result is known to a program around.
    Example:
      >>> jax.core.concrete_or_error(int, jnp.array(3))
      3
    """
    if _core.is_concrete(value):
        return force(value) if force is not None else value
    raise ConcretizationTypeError(
        "Abstract tracer value encountered where concrete value is expected: traced array with shape "
        f"{_core.typeof(value).strip_weak_type().str_short()}\n{context}"
    )


def to_concrete_value(x):
    """The known value of `x`, or `None`.

    Args:
      x: an array, number or tracer.
    Returns: an array or number, or None.
    Differentiable: no; the value is constant to a program around.
    Example:
      >>> jax.core.to_concrete_value(3)
      3
    """
    return _core.concrete_or_none(x)


def valid_jaxtype(x):
    """Whether `x` is an array or a number.

    Args:
      x: anything.
    Returns: a bool.
    Differentiable: no; the result is no array.
    Example:
      >>> jax.core.valid_jaxtype(1.0), jax.core.valid_jaxtype("a")
      (True, False)
    """
    try:
        _core.typeof(x)
    except (TypeError, OverflowError):
        return False
    return True


def get_opaque_trace_state(convention=None):
    """A token that is equal while the same trace is current.

    Args:
      convention: accepted for compatibility; without effect.
    Returns: a token.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.core.get_opaque_trace_state() == jax.core.get_opaque_trace_state()
      True
    """
    return _core.current_trace()


def __getattr__(name):
    if name == "pytype_aval_mappings":
        from pullback.interpreters.xla import pytype_aval_mappings

        return pytype_aval_mappings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
