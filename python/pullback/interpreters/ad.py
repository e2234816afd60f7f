"""Rules of differentiation for primitives that Python code defines.

`primitive_jvps[p] = rule(primals, tangents, **params) -> (out, tangent)` and
`primitive_transposes[p] = rule(ct, *args, **params) -> cotangents` are set by assignment or through the functions below.
Symbolic zeros are `Zero`, operands without value in a transpose are `UndefinedPrimal`. Rules of the core's own primitives
are not here.
"""

import functools as _functools

from pullback import _core
from pullback._core import JVPTracer as JVPTracer
from pullback.interpreters._tables import RuleTable as _RuleTable

primitive_jvps = _RuleTable("differentiation rule")
primitive_transposes = _RuleTable("transpose rule")
# Transposes that accumulate into references do not exist here; libraries look for the name.
fancy_transposes = _RuleTable("accumulating transpose rule")
reducing_transposes = _RuleTable("reducing transpose rule")


class CustomVJPException(Exception):
    """Forward differentiation of a function that has only a reverse rule."""


class Zero:
    """A zero that is not an array: its aval alone.

    >>> from pullback import core, numpy as jnp
    >>> Zero(core.ShapedArray((3,), jnp.float32))
    Zero(ShapedArray(float32[3]))
    """

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self):
        return f"Zero({self.aval!r})"

    @staticmethod
    def from_primal_value(value):
        """The zero tangent of a value."""
        return Zero(_core.typeof(value).to_tangent_aval())

    def instantiate(self):
        """The zero as an array."""
        return zeros_like_aval(self.aval)


class UndefinedPrimal:
    """An operand in which a transpose is taken: its aval alone."""

    __slots__ = ("aval",)

    def __init__(self, aval):
        self.aval = aval

    def __repr__(self):
        return f"UndefinedPrimal({self.aval})"


from pullback.tree_util import register_pytree_node as _register_pytree_node

_register_pytree_node(UndefinedPrimal, lambda operand: ((), operand.aval), lambda aval, _: UndefinedPrimal(aval))


def is_undefined_primal(x):
    """Whether `x` is an operand without value."""
    return type(x) is UndefinedPrimal


def zeros_like_aval(aval):
    """An array of zeros; of `float0` a NumPy array."""
    import numpy as np

    from pullback import dtypes, lax

    if aval.dtype == dtypes.float0:
        return np.zeros(aval.shape, dtypes.float0)
    return lax.full(aval.shape, 0, aval.dtype)


def instantiate_zeros(tangent):
    """`tangent`, or zeros when it is a symbolic zero."""
    return tangent.instantiate() if type(tangent) is Zero else tangent


def instantiate_zeros_aval(aval, tangent):
    """`tangent`, or zeros like `aval`."""
    return zeros_like_aval(aval) if type(tangent) is Zero else tangent


def add_tangents(x, y):
    """The sum of two tangents."""
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return add_jaxvals(x, y)


def add_jaxvals(x, y):
    """The sum of two arrays, by the primitive that sums cotangents."""
    return _core.find_primitive("add_any").bind(x, y)


def _sum(terms):
    return _functools.reduce(add_tangents, terms)


def defjvp(primitive, *rules):
    """Sets one rule per operand: `rule(tangent, *primals, **params)`; None for an operand without derivative."""

    def wrapped(rule):
        return None if rule is None else lambda t, out, *primals, **params: rule(t, *primals, **params)

    defjvp2(primitive, *map(wrapped, rules))


def defjvp2(primitive, *rules):
    """As `defjvp`, for rules that take the result too: `rule(tangent, out, *primals, **params)`."""

    def jvp(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        terms = [
            rule(t, out, *primals, **params)
            for rule, t in zip(rules, tangents, strict=True)
            if rule is not None and type(t) is not Zero
        ]
        return out, _sum([Zero.from_primal_value(out), *terms])

    primitive_jvps[primitive] = jvp


def defjvp_zero(primitive):
    """Says that results carry no derivative."""

    def jvp(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        return out, [Zero.from_primal_value(x) for x in out] if primitive.multiple_results else Zero.from_primal_value(out)

    primitive_jvps[primitive] = jvp


def _linear_jvp(primitive):
    def jvp(primals, tangents, **params):
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            return out, [Zero.from_primal_value(x) for x in out] if primitive.multiple_results else Zero.from_primal_value(out)
        return out, primitive.bind(*map(instantiate_zeros, tangents), **params)

    return jvp


def deflinear2(primitive, transpose_rule):
    """Says that the primitive is linear in all operands; `transpose_rule(ct, *args, **params)`."""
    primitive_jvps[primitive] = _linear_jvp(primitive)
    primitive_transposes[primitive] = transpose_rule


def deflinear(primitive, transpose_rule):
    """As `deflinear2`, for a rule that needs no operands: `transpose_rule(ct, **params)`."""

    def transpose(ct, *args, **params):
        zero = all(type(c) is Zero for c in ct) if primitive.multiple_results else type(ct) is Zero
        return [Zero(arg.aval.to_ct_aval()) for arg in args] if zero else transpose_rule(ct, **params)

    deflinear2(primitive, transpose)


def defbilinear(primitive, lhs_rule, rhs_rule):
    """Says that the primitive is linear in each of two operands; `lhs_rule(ct, x, y)` and `rhs_rule(ct, x, y)`."""
    defjvp(
        primitive,
        lambda t, x, y, **params: primitive.bind(t, y, **params),
        lambda t, x, y, **params: primitive.bind(x, t, **params),
    )

    def transpose(ct, x, y, **params):
        if is_undefined_primal(x):
            return (Zero(x.aval) if type(ct) is Zero else lhs_rule(ct, x, y, **params)), None
        return None, (Zero(y.aval) if type(ct) is Zero else rhs_rule(ct, x, y, **params))

    primitive_transposes[primitive] = transpose




def jvp(fun, primals, tangents):
    """Results and tangents of a function of flat arguments."""
    import pullback

    return pullback.jvp(fun, primals, tangents)
