"""How primitives that Python code defines become part of compiled programs.

`register_lowering(p, lower_fun(f))` says that an application of `p` is the inlined application of `f`. Other rules are called
with stand-ins of the operands: they may hand those on and call functions of the host (`emit_python_callback`). Rules that build
operations of a compiler's representation by hand cannot be run: there is none here; they raise when the primitive is compiled.
"""

from pullback import _core
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


class TokenSet:
    """Tokens by effect: what a lowering rule of ordered effects takes from `ctx.tokens_in` and gives to `ctx.set_tokens_out`.

    Programs here keep the order of calls by themselves, so a token is only a mark that the rule took part.
    """

    def __init__(self, tokens=()):
        self._tokens = dict(tokens)

    @classmethod
    def create(cls, effects):
        """New tokens for some effects."""
        return cls({effect: object() for effect in effects})

    def __len__(self):
        return len(self._tokens)

    def get(self, effect):
        """The token of an effect."""
        return self._tokens[effect]

    def items(self):
        """Pairs of effect and token."""
        return self._tokens.items()

    def effects(self):
        """The effects that have tokens."""
        return set(self._tokens)

    def subset(self, effects):
        """The tokens of some of the effects."""
        return TokenSet({effect: self._tokens[effect] for effect in effects})

    def update_tokens(self, tokens):
        """These tokens with those of another set in their place."""
        return TokenSet({effect: tokens._tokens.get(effect, token) for effect, token in self.items()})


class LoweringRuleContext:
    """What a lowering rule is told: the primitive, types of operands and results, and tokens of ordered effects."""

    def __init__(self, primitive, avals_in, avals_out, tokens_in):
        self.primitive, self.avals_in, self.avals_out = primitive, avals_in, avals_out
        self.tokens_in, self.tokens_out = tokens_in, None

    def set_tokens_out(self, tokens_out):
        """Says that the effects are ordered after the operation."""
        assert self.tokens_out is None, "tokens_out is set already"
        self.tokens_out = tokens_out


def emit_python_callback(ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect, returns_token=True, **options):
    """A call of a Python function in the place of the primitive that is lowered.

    Args:
      ctx: what the lowering rule was given.
      callback: a function of arrays that gives a sequence of arrays.
      token: a token of an ordered effect, or None; with one the calls keep the program's order.
      operands: what the rule was given.
      operand_avals, result_avals: their types, and those of the results.
      has_side_effect: whether it is called even when its results are not used.
      returns_token, options: accepted for compatibility; without effect.
    Returns: results, token, and what must be kept alive, which is nothing.
    Differentiable: no; rules of differentiation are set by `interpreters.ad`.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import mlir
      >>> p, seen = Primitive("seen"), []
      >>> _ = p.def_abstract_eval(lambda x: x)
      >>> def rule(ctx, x):
      ...     note = lambda v: (seen.append(float(v)), (v,))[1]
      ...     out, _, _ = mlir.emit_python_callback(ctx, note, None, [x], ctx.avals_in, ctx.avals_out, has_side_effect=True)
      ...     return out
      >>> _ = mlir.register_lowering(p, rule)
      >>> float(jax.jit(p.bind)(3.0)), seen
      (3.0, [3.0])
    """
    import pullback
    from pullback._callbacks import io_callback, pure_callback

    announced = tuple(pullback.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in result_avals)
    flat = lambda *args: tuple(callback(*args))
    if has_side_effect or token is not None:
        return list(io_callback(flat, announced, *operands, ordered=token is not None)), token, None
    return list(pure_callback(flat, announced, *operands)), token, None


def _by_hand(primitive, rule, args, params, effects):
    """Results of a rule that is no traced function, called on stand-ins of the operands.

    Such a rule may hand on its operands and call functions of the host; operations of a compiler's representation it cannot build.
    """
    from pullback._effects import ordered_effects
    from pullback.interpreters._defined import abstract_eval

    ordered = ordered_effects.filter_in(effects)
    avals = [_core.typeof(x) for x in args]
    ctx = LoweringRuleContext(primitive, avals, abstract_eval(primitive, params, avals), TokenSet.create(ordered))
    try:
        out = rule(ctx, *args, **params)
    except (ImportError, AttributeError) as error:
        raise _user_error(
            NotImplementedError,
            f"the lowering of primitive '{primitive}' builds MLIR by hand, which Pullback does not have; register "
            "mlir.lower_fun(f) with a function of arrays instead"
        ) from error
    if ordered and ctx.tokens_out is None:
        raise _user_error(
            ValueError, f"Lowering rule for `{primitive}` needs to set `tokens_out` because it has effects: {set(effects)}."
        )
    return list(out) if isinstance(out, (list, tuple)) else [out]


def inlined(primitive, rule, avals, params, effects=frozenset()):
    """The jaxpr of a lowering for operands of given avals.

    Args:
      primitive: the primitive, for errors.
      rule: what `lower_fun` gave, or a function of a context and stand-ins of the operands.
      avals: types of the operands.
      params: parameters of the primitive.
      effects: what the application does besides computing.
    Returns: a jaxpr.
    Raises:
      NotImplementedError: the rule builds operations by hand.
      ValueError: the rule of an ordered effect sets no tokens.
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

    def flat(*args):
        if not isinstance(rule, _Inlined):
            return _by_hand(primitive, rule, args, params, effects)
        out = rule.fun(*args, **params)
        return list(out) if rule.multiple_results else [out]

    avals = [pullback.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type) for aval in avals]
    return pullback.make_jaxpr(flat)(*avals)
