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
    """Whether `x` is an operand without value.

    Args:
      x: an operand of a transpose rule.
    Returns: a bool.
    Differentiable: no; the result is no array.
    Example:
      >>> from pullback.interpreters import ad
      >>> ad.is_undefined_primal(1.0)
      False
    """
    return type(x) is UndefinedPrimal


def zeros_like_aval(aval):
    """An array of zeros; of `float0` a NumPy array.

    Args:
      aval: a type.
    Returns: an array of the type.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.interpreters import ad
      >>> ad.zeros_like_aval(jax.core.ShapedArray((2,), jnp.float32))
      Array([0., 0.], dtype=float32)
    """
    import numpy as np

    from pullback import dtypes, lax

    if aval.dtype == dtypes.float0:
        return np.zeros(aval.shape, dtypes.float0)
    return lax.full(aval.shape, 0, aval.dtype)


def instantiate_zeros(tangent):
    """`tangent`, or zeros when it is a symbolic zero.

    Args:
      tangent: an array or a `Zero`.
    Returns: an array.
    Differentiable: yes; it changes no values.
    Example:
      >>> from pullback.interpreters import ad
      >>> ad.instantiate_zeros(ad.Zero(jax.core.ShapedArray((2,), jnp.float32)))
      Array([0., 0.], dtype=float32)
    """
    return tangent.instantiate() if type(tangent) is Zero else tangent


def instantiate_zeros_aval(aval, tangent):
    """`tangent`, or zeros like `aval`.

    Args:
      aval: the type of the zeros.
      tangent: an array or a `Zero`.
    Returns: an array.
    Differentiable: yes; it changes no values.
    Example:
      >>> from pullback.interpreters import ad
      >>> aval = jax.core.ShapedArray((2,), jnp.float32)
      >>> ad.instantiate_zeros_aval(aval, ad.Zero(aval))
      Array([0., 0.], dtype=float32)
    """
    return zeros_like_aval(aval) if type(tangent) is Zero else tangent


def add_tangents(x, y):
    """The sum of two tangents.

    Args:
      x, y: arrays of one type, or `Zero`.
    Returns: an array, or a `Zero` when both are.
    Differentiable: yes, linear.
    Example:
      >>> from pullback.interpreters import ad
      >>> float(ad.add_tangents(jnp.array(1.0), ad.Zero(jax.core.ShapedArray((), jnp.float32))))
      1.0
    """
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return add_jaxvals(x, y)


def add_jaxvals(x, y):
    """The sum of two arrays, by the primitive that sums cotangents.

    Args:
      x, y: arrays of one type.
    Returns: an array.
    Differentiable: yes, linear.
    Example:
      >>> from pullback.interpreters import ad
      >>> float(ad.add_jaxvals(jnp.array(1.0), jnp.array(2.0)))
      3.0
    """
    return _core.find_primitive("add_any").bind(x, y)


def _sum(terms):
    return _functools.reduce(add_tangents, terms)


def defjvp(primitive, *rules):
    """Sets one rule per operand: `rule(tangent, *primals, **params)`; None for an operand without derivative.

    Args:
      primitive: a primitive with one result.
      rules: one for each operand.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import ad
      >>> p = Primitive("twice")
      >>> _ = p.def_impl(lambda x: 2 * x)
      >>> _ = p.def_abstract_eval(lambda x: x)
      >>> ad.defjvp(p, lambda t, x: 2 * t)
      >>> float(jax.jvp(p.bind, (3.0,), (1.0,))[1])
      2.0
    """

    def wrapped(rule):
        return None if rule is None else lambda t, out, *primals, **params: rule(t, *primals, **params)

    defjvp2(primitive, *map(wrapped, rules))


def defjvp2(primitive, *rules):
    """As `defjvp`, for rules that take the result too: `rule(tangent, out, *primals, **params)`.

    Args:
      primitive: a primitive with one result.
      rules: one for each operand.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import ad
      >>> p = Primitive("twice")
      >>> _ = p.def_impl(lambda x: 2 * x)
      >>> _ = p.def_abstract_eval(lambda x: x)
      >>> ad.defjvp2(p, lambda t, out, x: 2 * t)
      >>> float(jax.jvp(p.bind, (3.0,), (1.0,))[1])
      2.0
    """

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
    """Says that results carry no derivative.

    Args:
      primitive: a primitive.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import ad
      >>> p = Primitive("twice")
      >>> _ = p.def_impl(lambda x: 2 * x)
      >>> _ = p.def_abstract_eval(lambda x: x)
      >>> ad.defjvp_zero(p)
      >>> float(jax.jvp(p.bind, (3.0,), (1.0,))[1])
      0.0
    """

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
    """Says that the primitive is linear in all operands; `transpose_rule(ct, *args, **params)`.

    Args:
      primitive: a primitive.
      transpose_rule: gives a cotangent for each operand, None where there is none.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import ad
      >>> p = Primitive("twice")
      >>> _ = p.def_impl(lambda x: 2 * x)
      >>> _ = p.def_abstract_eval(lambda x: x)
      >>> ad.deflinear2(p, lambda ct, x: [2 * ct])
      >>> float(jax.jvp(p.bind, (3.0,), (1.0,))[1])
      2.0
    """
    primitive_jvps[primitive] = _linear_jvp(primitive)
    primitive_transposes[primitive] = transpose_rule


def deflinear(primitive, transpose_rule):
    """As `deflinear2`, for a rule that needs no operands: `transpose_rule(ct, **params)`.

    Args:
      primitive: a primitive.
      transpose_rule: gives a cotangent for each operand.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import ad
      >>> p = Primitive("twice")
      >>> _ = p.def_impl(lambda x: 2 * x)
      >>> _ = p.def_abstract_eval(lambda x: x)
      >>> ad.deflinear(p, lambda ct: [2 * ct])
      >>> float(jax.jvp(p.bind, (3.0,), (1.0,))[1])
      2.0
    """

    def transpose(ct, *args, **params):
        zero = all(type(c) is Zero for c in ct) if primitive.multiple_results else type(ct) is Zero
        return [Zero(arg.aval.to_ct_aval()) for arg in args] if zero else transpose_rule(ct, **params)

    deflinear2(primitive, transpose)


def defbilinear(primitive, lhs_rule, rhs_rule):
    """Says that the primitive is linear in each of two operands; `lhs_rule(ct, x, y)` and `rhs_rule(ct, x, y)`.

    Args:
      primitive: a primitive of two operands with one result.
      lhs_rule, rhs_rule: give the cotangent of one operand, where the other is known.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.core import Primitive
      >>> from pullback.interpreters import ad
      >>> p = Primitive("product")
      >>> _ = p.def_impl(lambda x, y: x * y)
      >>> _ = p.def_abstract_eval(lambda x, y: x)
      >>> ad.defbilinear(p, lambda ct, x, y: ct * y, lambda ct, x, y: x * ct)
      >>> float(jax.jvp(p.bind, (3.0, 4.0), (1.0, 0.0))[1])
      4.0
    """
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
    """Results and tangents of a function of flat arguments.

    Args:
      fun: a function of arrays.
      primals, tangents: tuples of arrays, one tangent like each primal.
    Returns: results and their tangents, as `jax.jvp`.
    Differentiable: yes, to any order.
    Example:
      >>> from pullback.interpreters import ad
      >>> float(ad.jvp(lambda x: x * x, (3.0,), (1.0,))[1])
      6.0
    """
    import pullback

    return pullback.jvp(fun, primals, tangents)
