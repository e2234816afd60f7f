"""What the pull-back that `vjp` gives may be asked to do with each cotangent: `jax.ad`, and `with_refs`."""

import dataclasses as _dataclasses
import types as _types

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.tree_util import (
    GetAttrKey,
    register_pytree_with_keys,
    register_static,
    tree_flatten,
    tree_structure,
    tree_unflatten,
)


@_dataclasses.dataclass(frozen=True)
class DontWant:
    """Asks for no cotangent of an argument."""


@_dataclasses.dataclass(frozen=True)
class DidntWant:
    """Stands for a cotangent that was not asked for."""


@_dataclasses.dataclass(frozen=True)
class GradRef:
    """Stands for a cotangent that was added to a reference."""


@_dataclasses.dataclass(frozen=True)
class GradValue:
    """Asks for the cotangent of an argument as a value."""


ad = _types.SimpleNamespace(DontWant=DontWant, DidntWant=DidntWant, GradRef=GradRef, GradValue=GradValue)


@register_static
@_dataclasses.dataclass(frozen=True)
class NotNeeded:
    """Stands among `args_res` for an argument that the derivative does not need."""


class PullBack:
    """The function from cotangents of results to those of arguments that `vjp` gives: a tree of its residuals.

    Attributes:
      args_res: for each argument a tree like it: the arrays that the derivative needs as they were given, and `NotNeeded()` for
        the others. What is put there instead is what the derivative uses.
      opaque_residuals: a list of all else that the derivative needs.
      in_tree, out_tree: structures of the arguments and of the result.

    Example:
      >>> _, pull_back = jax.vjp(jnp.multiply, 2.0, 3.0)
      >>> total = jax.new_ref(jnp.float32(10.0))
      >>> pull_back.with_refs(total, jax.ad.DontWant())(1.0)
      (GradRef(), DidntWant())
      >>> float(total[...])
      13.0
    """

    def __init__(self, fun, in_tree, out_tree, places, args_res, opaque_residuals):
        self.fun, self.in_tree, self.out_tree, self._places = fun, in_tree, out_tree, places
        self.args_res, self.opaque_residuals = args_res, opaque_residuals

    @classmethod
    def of(cls, rule, residuals, primals, out_tree):
        """From what linearization gives: its rule and residuals, and the arguments that some of these are."""
        leaves, in_tree = tree_flatten(primals)
        positions = {key: i for i, key in reversed(list(enumerate(map(_identity, leaves)))) if key is not None}
        places, kept, opaque = [], [NotNeeded()] * len(leaves), []
        for residual in residuals:
            at = positions.get(_identity(residual))
            if at is None or kept[at] != NotNeeded():
                places.append((False, len(opaque)))
                opaque.append(residual)
            else:
                places.append((True, at))
                kept[at] = residual
        args_res = list(tree_unflatten(in_tree, kept))
        return cls(rule, in_tree, out_tree, tuple(places), args_res, opaque)

    def _residuals(self):
        if not any(is_argument for is_argument, _ in self._places):
            return self.opaque_residuals
        kept = self.in_tree.flatten_up_to(tuple(self.args_res))
        return [kept[at] if is_argument else self.opaque_residuals[at] for is_argument, at in self._places]

    def __call__(self, *cotangents):
        if len(cotangents) != 1:
            raise _user_error(
                TypeError,
                f"The function returned by `jax.vjp` was called with {len(cotangents)} arguments, but functions returned by "
                "`jax.vjp` must be called with a single argument corresponding to the single value returned by the function "
                "being differentiated (even if that returned value is a tuple or other container)."
            )
        return self.fun(*self._residuals(), *cotangents)

    def with_refs(self, *maybe_ct_refs):
        """The same function that adds cotangents to references where there are some.

        `maybe_ct_refs` has for each argument a `Ref`, to which its cotangent is added, `jax.ad.GradValue()`, which asks for it as
        a value, or `jax.ad.DontWant()`; or a tree of them. The function gives `GradRef()`, the value, and `DidntWant()` there.

        Raises ValueError when the function is called, where the tree is not that of the arguments.
        """
        return lambda *cotangents: _accumulated(self(*cotangents), maybe_ct_refs)


def _is_wish(leaf):
    from pullback.ref import Ref

    return isinstance(leaf, (Ref, GradValue, DontWant))


def _accumulated(cotangents, wishes):
    wanted, tree = tree_flatten(wishes, is_leaf=_is_wish)
    if len(wishes) != len(cotangents):
        raise _user_error(ValueError, f"with_refs was given {len(wishes)} values for {len(cotangents)} arguments; give one for each")
    parts = tree.flatten_up_to(cotangents)
    return tree_unflatten(tree, map(_one, wanted, parts))


def _one(wish, cotangent):
    from pullback.ref import addupdate

    if isinstance(wish, DontWant):
        return DidntWant()
    if isinstance(wish, GradValue):
        return cotangent
    if not _is_wish(wish) or tree_structure(cotangent) != tree_structure(0):
        raise _user_error(ValueError, f"with_refs takes for each array a Ref, jax.ad.GradValue() or jax.ad.DontWant(), got {wish!r}")
    addupdate(wish, None, cotangent)
    return GradRef()


def _identity(x):
    """What two arrays have in common that are the same elements; None of what has no place in memory."""
    if not isinstance(x, _core.Array) or isinstance(x, _core.Tracer) or "key<" in str(x.dtype):
        return None
    try:
        return x.unsafe_buffer_pointer(), x.shape, x.dtype, x.size > 0
    except (RuntimeError, ValueError):
        # Deleted, or on several devices.
        return None


def _static(pull_back):
    return pull_back.fun, pull_back.in_tree, pull_back.out_tree, pull_back._places


def _flatten(pull_back):
    return (pull_back.args_res, pull_back.opaque_residuals), _static(pull_back)


def _flatten_with_keys(pull_back):
    keyed = [(GetAttrKey(name), getattr(pull_back, name)) for name in ("args_res", "opaque_residuals")]
    return keyed, _static(pull_back)


register_pytree_with_keys(PullBack, _flatten_with_keys, lambda static, parts: PullBack(*static, *parts), _flatten)
