"""Tracing by hand: functions of flat arguments to jaxprs, partial evaluation by known and unknown arguments."""


from pullback import _core
from pullback._core import DynamicJaxprTracer as DynamicJaxprTracer
from pullback.core import ShapedArray as _ShapedArray

# Values of unknown arguments in a partial evaluation are ordinary staged tracers here.
JaxprTracer = DynamicJaxprTracer
dce_rules = {}
custom_partial_eval_rules = {}
partial_eval_jaxpr_custom_rules = {}


def _struct(aval):
    import pullback

    return pullback.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))


def _staged(fun, avals):
    """The jaxpr of a function of flat arguments with what it closes over as its first inputs, and the values of these."""
    staged = _core.stage_call(fun, tuple(map(_struct, avals)), {}, [], [], "make_jaxpr")
    return _core.open_constvars(staged.jaxpr), [*staged.jaxpr.consts, *staged.captured]


def trace_to_jaxpr_dynamic(fun, in_avals, *, keep_inputs=None, lower=False, auto_lower=False):
    """Traces a wrapped function of flat arguments that gives a list.

    Args:
      fun: a `linear_util.WrappedFun`.
      in_avals: avals of the arguments.

    Returns:
      the jaxpr, with what the function closes over as its first inputs; avals of the results; values of those inputs.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.interpreters import partial_eval as pe
      >>> from pullback.extend import linear_util
      >>> fun = linear_util.wrap_init(lambda x: [x * 2])
      >>> jaxpr, avals, consts = pe.trace_to_jaxpr_dynamic(fun, [jax.core.ShapedArray((), jnp.float32)])
      >>> avals, consts
      ([ShapedArray(float32[])], [])
    """
    jaxpr, consts = _staged(lambda *args: list(fun.call_wrapped(*args)), in_avals)
    return jaxpr, jaxpr.out_avals, consts


def convert_constvars_jaxpr(jaxpr):
    """The jaxpr with its constvars as its first inputs.

    Args:
      jaxpr: a jaxpr.
    Returns: a jaxpr without constvars.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.interpreters import partial_eval as pe
      >>> jaxpr = jax.make_jaxpr(lambda x: x + jnp.arange(3.0))(1.0)
      >>> len(pe.convert_constvars_jaxpr(jaxpr).invars) == len(jaxpr.invars) + len(jaxpr.constvars)
      True
    """
    return _core.open_constvars(jaxpr)


def close_jaxpr(jaxpr):
    """The jaxpr, closed over no consts.

    Args:
      jaxpr: a jaxpr without constvars.
    Returns: the same jaxpr: open and closed ones are one class.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.interpreters import partial_eval as pe
      >>> jaxpr = jax.make_jaxpr(jnp.sin)(1.0)
      >>> pe.close_jaxpr(jaxpr) is jaxpr
      True
    """
    return jaxpr


def dce_jaxpr(jaxpr, used_outputs, instantiate=False):
    """The jaxpr of the marked results, and which inputs it uses.

    Args:
      jaxpr: a jaxpr.
      used_outputs: a bool for each result.
      instantiate: whether to keep inputs that are not used: one bool, or one for each.
    Returns: a jaxpr, and a list of bools: which inputs are left.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.interpreters import partial_eval as pe
      >>> jaxpr = jax.make_jaxpr(lambda x, y: (x + 1, y * 2))(1.0, 2.0)
      >>> used, inputs = pe.dce_jaxpr(jaxpr, [True, False])
      >>> len(used.eqns), inputs
      (1, [True, False])
    """
    n_inputs = len(jaxpr.invars)
    kept = [instantiate] * n_inputs if isinstance(instantiate, bool) else list(instantiate)
    return _core.dce_jaxpr(jaxpr, list(used_outputs), kept)


class PartialVal(tuple):
    """A known value, or the aval of an unknown one: the pair `(None, value)` or `(aval, None)`."""

    def __new__(cls, pair):
        return tuple.__new__(cls, pair)

    @classmethod
    def known(cls, value):
        """A known value."""
        return PartialVal((None, value))

    @classmethod
    def unknown(cls, aval):
        """An unknown value."""
        return PartialVal((aval, None))

    def is_known(self):
        """Whether the value is known."""
        return self[0] is None

    def get_known(self):
        """The known value, or None."""
        return self[1] if self.is_known() else None

    def get_aval(self):
        """The aval."""
        return _core.typeof(self[1]) if self.is_known() else self[0]




def trace_to_jaxpr_nounits(fun, pvals, instantiate=False):
    """Runs a wrapped function with some arguments unknown.

    Results that do not depend on an unknown argument come out known; the jaxpr has the others.

    Args:
      fun: a `linear_util.WrappedFun` of flat arguments that gives a list.
      pvals: a `PartialVal` for each argument.
      instantiate: whether all results go to the jaxpr.
    Returns:
      the jaxpr, with what the function closes over as its first inputs; a `PartialVal` for each result; values of those
      inputs.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.interpreters import partial_eval as pe
      >>> from pullback.extend import linear_util
      >>> fun = linear_util.wrap_init(lambda x, y: [x + 1, y * 2])
      >>> known, unknown = pe.PartialVal.known(1), pe.PartialVal.unknown(jax.core.ShapedArray((), jnp.float32))
      >>> jaxpr, results, _ = pe.trace_to_jaxpr_nounits(fun, [known, unknown])
      >>> [result.is_known() for result in results]
      [True, False]
    """
    unknown = [i for i, pval in enumerate(pvals) if not pval.is_known()]
    known_results = {}

    def flat(*args):
        full = [pval.get_known() for pval in pvals]
        for i, arg in zip(unknown, args):
            full[i] = arg
        outs = list(fun.call_wrapped(*full))
        staged = []
        for i, out in enumerate(outs):
            if not instantiate and not isinstance(out, _core.Tracer):
                known_results[i] = out
            else:
                staged.append(out)
        known_results["n"] = len(outs)
        return staged

    jaxpr, consts = _staged(flat, [pvals[i].get_aval() for i in unknown])
    avals = iter(jaxpr.out_avals)
    outs = [
        PartialVal.known(known_results[i]) if i in known_results else PartialVal.unknown(next(avals))
        for i in range(known_results["n"])
    ]
    return jaxpr, outs, consts


def abstract_eval_fun(fun, *avals, debug_info=None, **params):
    """Avals of the results of `fun`, which gives a list.

    Args:
      fun: a function of arrays.
      avals: types of its arguments.
      debug_info: accepted for compatibility; without effect.
      params: what it takes by name.
    Returns: a list of `ShapedArray`.
    Differentiable: no; no array is computed.
    Example:
      >>> from pullback.interpreters import partial_eval as pe
      >>> pe.abstract_eval_fun(lambda x: [x[0]], jax.core.ShapedArray((2,), jnp.float32))
      [ShapedArray(float32[])]
    """
    import pullback

    outs = pullback.eval_shape(lambda *args: fun(*args, **params), *map(_struct, avals))
    return [_ShapedArray(out.shape, out.dtype, getattr(out, "weak_type", False)) for out in outs]
