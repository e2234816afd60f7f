"""What the pull-back that `vjp` gives may be asked to do with each cotangent: `jax.ad`, and `with_refs`."""

import dataclasses as _dataclasses
import types as _types
import weakref as _weakref

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
        self.fun, self.in_tree, self.out_tree = fun, in_tree, out_tree
        self._places, self._args_res, self._opaque_residuals = places, args_res, opaque_residuals
        self._unsorted = None

    @classmethod
    def of(cls, rule, residuals, primals, out_tree):
        """From what linearization gives: its rule and residuals, and the arguments that some of these may be."""
        leaves, in_tree = tree_flatten(primals)
        made = cls(rule, in_tree, out_tree, None, None, None)
        # Sorted when somebody asks; until then arguments that the derivative does not need are not kept alive.
        made._unsorted = residuals, [_weakref.ref(leaf) if isinstance(leaf, _core.Array) else None for leaf in leaves]
        return made

    def _sort(self):
        """Tells the residuals that are arguments from the others."""
        if self._unsorted is None:
            return
        residuals, given = self._unsorted
        keys = [_identity(None if leaf is None else leaf()) for leaf in given]
        positions = {key: i for i, key in reversed(list(enumerate(keys))) if key is not None}
        places, kept, opaque = [], [NotNeeded()] * len(given), []
        for residual in residuals:
            at = positions.get(_identity(residual))
            if at is None or kept[at] != NotNeeded():
                places.append((False, len(opaque)))
                opaque.append(residual)
            else:
                places.append((True, at))
                kept[at] = residual
        self._places, self._args_res = tuple(places), list(tree_unflatten(self.in_tree, kept))
        self._opaque_residuals, self._unsorted = opaque, None

    @property
    def args_res(self):
        """For each argument a tree like it, of arrays that the derivative needs and `NotNeeded()`."""
        self._sort()
        return self._args_res

    @args_res.setter
    def args_res(self, args_res):
        self._sort()
        self._args_res = args_res

    @property
    def opaque_residuals(self):
        """All else that the derivative needs, as a list."""
        self._sort()
        return self._opaque_residuals

    @opaque_residuals.setter
    def opaque_residuals(self, residuals):
        self._sort()
        self._opaque_residuals = residuals

    def _residuals(self):
        if self._unsorted is not None:
            return self._unsorted[0]
        if not any(is_argument for is_argument, _ in self._places):
            return self._opaque_residuals
        kept = self.in_tree.flatten_up_to(tuple(self._args_res))
        return [kept[at] if is_argument else self._opaque_residuals[at] for is_argument, at in self._places]

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
    pull_back._sort()
    return pull_back.fun, pull_back.in_tree, pull_back.out_tree, pull_back._places


def _flatten(pull_back):
    return (pull_back.args_res, pull_back.opaque_residuals), _static(pull_back)


def _flatten_with_keys(pull_back):
    keyed = [(GetAttrKey(name), getattr(pull_back, name)) for name in ("args_res", "opaque_residuals")]
    return keyed, _static(pull_back)


register_pytree_with_keys(PullBack, _flatten_with_keys, lambda static, parts: PullBack(*static, *parts), _flatten)
