"""Traces that Python code defines: what a trace is asked to process, and how primitives are performed in a trace."""

from pullback import _core
from pullback.core import Trace, _entered, jaxpr_as_fun
from pullback.extend.linear_util import wrap_init as _wrap_init


def _function(jaxpr):
    """A jaxpr as the function that methods of traces are given."""
    return _wrap_init(jaxpr_as_fun(jaxpr))


def _rule_missing(name):
    def rule(*args):
        raise NotImplementedError(f"{name} of a function with a custom rule is not given to traces defined in Python; process its function")

    return _wrap_init(rule)


def _processed(trace, primitive, tracers, params):
    """What a trace of Python gives for a primitive: functions with custom rules have methods of their own."""
    if primitive.name == "custom_jvp_call":
        fun = _function(params["call_jaxpr"])
        zeros = params.get("symbolic_zeros", False)
        return trace.process_custom_jvp_call(primitive, fun, _rule_missing("the rule"), tracers, symbolic_zeros=zeros)
    if primitive.name == "custom_vjp_call":
        fun = _function(params["call_jaxpr"])
        fwd, bwd = _rule_missing("the forward rule"), _rule_missing("the backward rule")
        zeros = params.get("symbolic_zeros", False)
        return trace.process_custom_vjp_call(
            primitive, fun, fwd, bwd, tracers, out_trees=params.get("out_trees"), symbolic_zeros=zeros
        )
    return trace.process_primitive(primitive, tracers, params)


def _process(trace, primitive, tracers, params):
    """The results of a primitive in a trace of Python, as a list."""
    outs = _processed(trace, primitive, tracers, params)
    return outs if primitive.multiple_results else [outs]


def _bind_in(trace, primitive, args, params):
    """Performs a primitive in a trace, whatever trace is current."""
    if isinstance(trace, Trace):
        with _entered(None):
            return _processed(trace, primitive, list(args), params)
    with _entered(trace):
        return primitive.bind(*args, **params)
