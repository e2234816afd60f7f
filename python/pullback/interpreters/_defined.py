"""What the core asks of a primitive that Python code defines.

Each function gets the primitive and its parameters first, finds the rule, calls it and brings the answer into one form:
lists of results, with None for a symbolic zero. The core makes the transform's emitter current around the call.
"""

from pullback import _core
from pullback._effects import check_lowerable as _check_lowerable
from pullback.interpreters import ad, batching, mlir


_NO_EFFECTS = frozenset()


def _missing(what, primitive):
    return NotImplementedError(f"{what} for '{primitive}' not implemented")


def _results(primitive, out):
    return list(out) if primitive.multiple_results else [out]


def evaluate(primitive, params, args):
    """Results for arrays."""
    implementation = primitive.__dict__.get("impl")
    if implementation is None:
        raise _missing("Evaluation rule", primitive)
    return _results(primitive, implementation(*args, **params))


def _avals(primitive, out):
    if primitive.multiple_results != isinstance(out, (tuple, list)):
        raise ValueError(f"{primitive}.abstract_eval() method should return a tuple or a list iff {primitive}.multiple_results.")
    return _results(primitive, out)


def typed(primitive, params, avals):
    """Avals of the results, and the set of effects."""
    rule = primitive.__dict__.get("abstract_evaluation")
    if rule is not None:
        return _avals(primitive, rule(*avals, **params)), _NO_EFFECTS
    rule = primitive.__dict__.get("effectful_abstract_evaluation")
    if rule is None:
        raise _missing("Abstract evaluation", primitive)
    out, effects = rule(*avals, **params)
    return _avals(primitive, out), effects


def abstract_eval(primitive, params, avals):
    """Avals of the results."""
    return typed(primitive, params, avals)[0]


def jvp(primitive, params, primals, tangents):
    """Results and their tangents."""
    # Integers move in no direction: their tangents are zeros without elements.
    tangents = [None if t is None or _core.tangent_dtype_is_float0(_core.typeof(x)) else t for x, t in zip(primals, tangents)]
    if all(t is None for t in tangents):
        out = _results(primitive, primitive.bind(*primals, **params))
        return out, [None] * len(out)
    rule = ad.primitive_jvps.get(primitive)
    if rule is None:
        raise _missing("Differentiation rule", primitive)
    tangents = [ad.Zero.from_primal_value(x) if t is None else t for x, t in zip(primals, tangents)]
    out, out_tangents = rule(primals, tangents, **params)
    out_tangents = _results(primitive, out_tangents)
    return _results(primitive, out), [None if type(t) is ad.Zero else t for t in out_tangents]


def transpose(primitive, params, cotangents, known, avals):
    """Cotangents of the operands that are not known."""
    rule = ad.primitive_transposes.get(primitive)
    if rule is None:
        raise _missing("Transpose rule (for reverse-mode differentiation)", primitive)
    outs = abstract_eval(primitive, params, avals)
    cotangents = [ad.Zero(aval.to_ct_aval()) if ct is None else ct for ct, aval in zip(cotangents, outs)]
    args = [ad.UndefinedPrimal(aval) if x is None else x for x, aval in zip(known, avals)]
    found = rule(cotangents if primitive.multiple_results else cotangents[0], *args, **params)
    found = [None] * len(args) if type(found) is ad.Zero else list(found)
    return [None if ct is None or type(ct) is ad.Zero or x is not None else ct for ct, x in zip(found, known)]


def batch(primitive, params, size, name, args, dims):
    """Results and their batch axes."""
    if primitive in batching.fancy_primitive_batchers:
        axis = batching.AxisData(name, size, None, None)
        out, out_dims = batching.fancy_primitive_batchers[primitive](axis, args, dims, **params)
    elif primitive in batching.axis_primitive_batchers:
        out, out_dims = batching.axis_primitive_batchers[primitive](size, name, None, tuple(args), tuple(dims), **params)
    elif primitive in batching.primitive_batchers:
        out, out_dims = batching.primitive_batchers[primitive](args, dims, **params)
    else:
        raise _missing("Batching rule", primitive)
    if primitive.multiple_results:
        out = list(out)
        out_dims = list(out_dims) if isinstance(out_dims, (list, tuple)) else [out_dims] * len(out)
        return out, out_dims
    return [out], [out_dims]


def lowered(primitive, params, avals, effects=None):
    """The jaxpr that takes the primitive's place in compiled programs."""
    _check_lowerable(effects or _NO_EFFECTS)
    rule = mlir.lowering_of(primitive)
    return mlir.inlined(primitive, rule, avals, params, effects or _NO_EFFECTS)
