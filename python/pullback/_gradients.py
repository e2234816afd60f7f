"""What the pull-back that `vjp` gives may be asked to do with each cotangent: `jax.ad`, and `with_refs`."""

import dataclasses as _dataclasses
import types as _types

from pullback._core import user_error as _user_error
from pullback.tree_util import (
    Partial,
    _flatten_partial,
    _flatten_partial_with_keys,
    register_pytree_with_keys,
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


class PullBack(Partial):
    """The function from cotangents of results to those of arguments that `vjp` gives: a tree of its residuals.

    Example:
      >>> _, pull_back = jax.vjp(jnp.multiply, 2.0, 3.0)
      >>> total = jax.new_ref(jnp.float32(10.0))
      >>> pull_back.with_refs(total, jax.ad.DontWant())(1.0)
      (GradRef(), DidntWant())
      >>> float(total[...])
      13.0
    """

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


register_pytree_with_keys(
    PullBack, _flatten_partial_with_keys, lambda fun, parts: PullBack(fun, *parts[0], **parts[1]), _flatten_partial
)
