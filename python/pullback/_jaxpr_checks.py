"""What is wrong with jaxprs that Python code puts together: parameters of control flow, types of results."""

from pullback import _core
from pullback._core import user_error as _user_error
from pullback.errors import JaxprTypeError

_IS_COUNT = ("non-negative int", lambda value: isinstance(value, int) and value >= 0)
_IS_BOOL = ("bool", lambda value: isinstance(value, bool))
_IS_JAXPR = ("closed Jaxpr", lambda value: isinstance(value, _core.Jaxpr))
_ARE_JAXPRS = (
    "tuple of closed Jaxpr", lambda value: isinstance(value, tuple) and all(isinstance(item, _core.Jaxpr) for item in value),
)
# Of the primitives of control flow: what their parameters must be.
_PARAMS = {
    "cond": {"branches": _ARE_JAXPRS},
    "scan": {"reverse": _IS_BOOL, "length": _IS_COUNT, "unroll": _IS_COUNT, "jaxpr": _IS_JAXPR},
    "while": {"cond_jaxpr": _IS_JAXPR, "body_jaxpr": _IS_JAXPR, "cond_nconsts": _IS_COUNT, "body_nconsts": _IS_COUNT},
}


def check_params(primitive, params):
    """Refuses parameters of control flow of another type than they must have."""
    for name, (wanted, fits) in _PARAMS.get(primitive, {}).items():
        value = params.get(name)
        if name in params and not fits(value):
            kind = type(value).__name__
            raise _user_error(JaxprTypeError, f"invalid {primitive} param {name} of type {kind}, {wanted} required: {value}")


def _check_results(eqn):
    """Refuses binders of another type than the primitive gives."""
    found, _ = eqn.primitive.abstract_eval(*[atom.aval for atom in eqn.invars], **eqn.params)
    found = found if eqn.primitive.multiple_results else [found]
    if len(found) != len(eqn.outvars):
        raise _user_error(JaxprTypeError, f"{len(eqn.outvars)} binders for {len(found)} results\nin equation:\n{eqn}")
    for var, aval in zip(eqn.outvars, found):
        if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):
            raise _user_error(
                JaxprTypeError,
                f"Value for variable '{var}' inconsistently typed as {aval.str_short(True)} for let-binder of type "
                f"{var.aval.str_short(True)}\nin equation:\n{eqn}"
            )


def check_jaxpr(jaxpr):
    """Checks that a jaxpr is well formed: parameters of control flow, and the types that each equation binds.

    That variables are bound once, and before they are used, was checked when the jaxpr was put together.

    Args:
      jaxpr: a jaxpr.
    Returns: None.
    Raises:
      JaxprTypeError: an equation binds other types than its primitive gives, or a parameter has another type than it must.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import core
      >>> core.check_jaxpr(jax.make_jaxpr(jnp.sin)(1.0))
    """
    from pullback.core import subjaxprs

    jaxpr.outvars  # noqa: B018  what is no jaxpr lacks them
    for eqn in jaxpr.eqns:
        check_params(eqn.primitive.name, eqn.params)
        _check_results(eqn)
    for inner in subjaxprs(jaxpr):
        check_jaxpr(inner)
