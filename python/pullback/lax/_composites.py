"""Functions under a name by which compilers may know them: the primitive `composite`, which holds its decomposition."""

import functools as _functools
import re as _re

import numpy as _np

from pullback import _core
from pullback._core import user_error as _user_error

_NAME = _re.compile(r"[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+")
_ATTRIBUTES = (bool, int, float, str, bytes, _np.ndarray, _np.generic, type(None))


def _run(*args, call_jaxpr, **_):
    from pullback.core import jaxpr_as_fun

    return jaxpr_as_fun(call_jaxpr)(*args)


def _compiled(*args, name, attributes, call_jaxpr, version):
    """The decomposition, where it is compiled: names and attributes must be such that compilers can read."""
    if not _NAME.fullmatch(name):
        raise _user_error(ValueError, f"the name of a composite must be namespaced, such as 'my_namespace.my_op', got {name!r}")
    for _, leaves, _ in attributes:
        for leaf in leaves:
            if not isinstance(leaf, (*_ATTRIBUTES, _core.Array)):
                raise _user_error(TypeError, f"No attribute handler defined for type: {type(leaf)}")
    return _run(*args, call_jaxpr=call_jaxpr)


def _no_derivative(primals, tangents, **params):
    raise _user_error(
        ValueError,
        "JVP rule for composite not implemented. You can use `jax.custom_jvp` to add support.",
    )


@_functools.cache
def _primitive():
    from pullback.core import Primitive
    from pullback.interpreters import ad, mlir

    prim = Primitive("composite")
    prim.multiple_results = True
    prim.def_impl(_run)
    prim.def_abstract_eval(lambda *avals, call_jaxpr, **_: list(call_jaxpr.out_avals))
    ad.primitive_jvps[prim] = _no_derivative
    mlir.register_lowering(prim, mlir.lower_fun(_compiled, multiple_results=True))
    return prim


def _refuse_tracers(leaves, what, name):
    from pullback.errors import UnexpectedTracerError

    if any(isinstance(leaf, _core.Tracer) for leaf in leaves):
        raise _user_error(
            UnexpectedTracerError,
            f"Found a JAX Tracer as {what} in the decomposition for the composite op '{name}'. This means that the decomposition "
            "function closes over a value that is involved in a JAX transformation. Any values that aren't explicitly known at compile "
            "time must be explicitly passed as arguments to the composite."
        )


def _static(attributes, name):
    """Attributes as triples of a name, leaves and their tree."""
    from pullback import tree_util

    found = []
    for key, value in attributes.items():
        leaves, tree = tree_util.tree_flatten(value, is_leaf=lambda one: one is None)
        _refuse_tracers(leaves, "an attribute", name)
        found.append((key, tuple(leaves), tree))
    return tuple(found)


def composite(decomposition, name, version=0):
    """A function under a name by which compilers may know it. Jaxprs show one operation; here it runs as its decomposition.

    Args:
      decomposition: a function of trees of arrays, and of attributes by keyword, which are fixed values.
      name: the name with its namespace, such as 'my.softmax'.
      version: a number for the decomposition.
    Returns: a function as `decomposition`. It raises UnexpectedTracerError where a traced value is an attribute or is closed over.
    Raises:
      TypeError, ValueError: when the function is compiled, for attributes that no compiler reads and for a name without namespace.
    Differentiable: no; inside of a function with a rule of its own (`jax.custom_jvp`).
    Example:
      >>> double = lax.composite(lambda x: x * 2, "my.double")
      >>> double(jnp.array(3))
      Array(6, dtype=int32, weak_type=True)
    """

    @_functools.wraps(decomposition)
    def composed(*args, **attributes):
        import pullback
        from pullback import tree_util

        fixed = _static(attributes, name)
        leaves, tree = tree_util.tree_flatten(args)
        leaves = [_core.numpy.asarray(leaf) for leaf in leaves]
        structure = []

        def flat(*flat_args):
            results, out_tree = tree_util.tree_flatten(decomposition(*tree.unflatten(flat_args), **attributes))
            structure.append(out_tree)
            return results

        jaxpr = pullback.make_jaxpr(flat)(*leaves)
        _refuse_tracers(jaxpr.consts, "a constant", name)
        results = _primitive().bind(
            *jaxpr.consts, *leaves, name=name, version=version, attributes=fixed, call_jaxpr=_core.open_constvars(jaxpr)
        )
        return structure[-1].unflatten(results)

    return composed
