"""How primitives that Python code defines become part of compiled programs.

`register_lowering(p, lower_fun(f))` says that an application of `p` is the inlined application of `f`. Rules that build
operations of a compiler's representation by hand cannot be run: there is none here; they raise when the primitive is compiled.
"""

from pullback._core import user_error as _user_error
from pullback.interpreters._tables import RuleTable as _RuleTable

_lowerings = _RuleTable("lowering")


class _Inlined:
    """A lowering that stands for the traced function."""

    def __init__(self, fun, multiple_results):
        self.fun = fun
        self.multiple_results = multiple_results

    def __call__(self, ctx, *args, **params):
        raise _user_error(NotImplementedError, "a lowering made by lower_fun is inlined by the core; it cannot be called by hand")


def lower_fun(fun, multiple_results=True):
    """The lowering that inlines `fun(*args, **params)`.

    Args:
      fun: a function of arrays, traced when a program with the primitive is compiled.
      multiple_results: whether `fun` gives a sequence rather than one array.
    Returns: a rule for `register_lowering`.
    Differentiable: no; rules of differentiation are set by `interpreters.ad`.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import mlir
      >>> p = Primitive("twice")
      >>> _ = p.def_abstract_eval(lambda x: x)
      >>> _ = mlir.register_lowering(p, mlir.lower_fun(lambda x: 2 * x, multiple_results=False))
      >>> float(jax.jit(p.bind)(3.0))
      6.0
    """
    return _Inlined(fun, multiple_results)


def register_lowering(prim, rule, platform=None, inline=True, cacheable=True, override=None):
    """Sets how `prim` is compiled; gives the rule back. Rules for other platforms than the CPU are not asked.

    Args:
      prim: a primitive that Python code defines.
      rule: what `lower_fun` gives.
      platform: None or "cpu"; rules for others are kept out.
      inline, cacheable, override: accepted for compatibility; without effect.
    Returns: `rule`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import mlir
      >>> p = Primitive("twice")
      >>> _ = p.def_abstract_eval(lambda x: x)
      >>> _ = mlir.register_lowering(p, mlir.lower_fun(lambda x: 2 * x, multiple_results=False))
      >>> float(jax.jit(p.bind)(3.0))
      6.0
    """
    if platform in (None, "cpu"):
        _lowerings[prim] = rule
    return rule


def lowering_of(primitive):
    """The rule that was set.

    Args:
      primitive: a primitive that Python code defines.
    Returns: what `register_lowering` was given.
    Raises:
      NotImplementedError: there is none.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import mlir
      >>> p = Primitive("twice")
      >>> rule = mlir.register_lowering(p, mlir.lower_fun(lambda x: 2 * x, multiple_results=False))
      >>> mlir.lowering_of(p) is rule
      True
    """
    rule = _lowerings.get(primitive)
    if rule is None:
        raise _user_error(
            NotImplementedError,
            f"MLIR translation rule for primitive '{primitive}' not found for platform cpu; set one with "
            "mlir.register_lowering(primitive, mlir.lower_fun(f))"
        )
    return rule


def inlined(primitive, rule, avals, params):
    """The jaxpr of a lowering for operands of given avals.

    Args:
      primitive: the primitive, for errors.
      rule: what `lower_fun` gave.
      avals: types of the operands.
      params: parameters of the primitive.
    Returns: a jaxpr.
    Raises:
      NotImplementedError: the rule is another one.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import mlir
      >>> p = Primitive("twice")
      >>> rule = mlir.register_lowering(p, mlir.lower_fun(lambda x: 2 * x, multiple_results=False))
      >>> mlir.inlined(p, rule, [jax.core.ShapedArray((), jnp.float32)], {}).eqns[0].primitive
      mul
    """
    import pullback

    if not isinstance(rule, _Inlined):
        raise _user_error(
            NotImplementedError,
            f"the lowering of primitive '{primitive}' builds MLIR by hand, which Pullback does not have; register "
            "mlir.lower_fun(f) with a function of arrays instead"
        )

    def flat(*args):
        out = rule.fun(*args, **params)
        return list(out) if rule.multiple_results else [out]

    avals = [pullback.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in avals]
    return pullback.make_jaxpr(flat)(*avals)
