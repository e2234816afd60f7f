"""`auto_axes` and `explicit_axes`: functions during which types do not speak of mesh axes, or do. `pullback.sharding` shows them."""

from __future__ import annotations

import functools as _functools

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._meshes import AxisType, get_abstract_mesh, use_abstract_mesh
from pullback._specs import PartitionSpec, _names
from pullback.sharding import NamedSharding, reshard


def _given_keyword(given, outer, name):
    if given is None and outer is None:
        raise _user_error(TypeError, f"Missing required keyword argument: '{name}'")
    return outer if given is None else given


def _retyped(mesh, axes, kind):
    """The mesh with axes of another type: those that are named, or all."""
    names = mesh.axis_names if axes is None else (axes,) if isinstance(axes, str) else tuple(axes)
    return mesh.update_axis_types({name: kind for name in names})


def _context_mesh(function):
    mesh = get_abstract_mesh()
    if mesh.empty:
        raise _user_error(ValueError, f"{function} needs a mesh in context; enter one with `jax.set_mesh`.")
    return mesh


def auto_axes(f=None, /, *, axes=None, out_sharding=None):
    """A function during which mesh axes are of type `Auto`: types do not speak of them, and the system splits as it likes.

    Args:
      f: a function of arrays; without it a decorator is made.
      axes: names of the axes; all of the mesh of the context by default.
      out_sharding: how the results are split, a spec or a tree of them; it may be given at the call instead.
    Returns: a function like `f`, which takes `out_sharding` too.
    Raises:
      TypeError: `out_sharding` is given neither here nor at the call.
      ValueError: there is no mesh in the context.
    Differentiable: yes, as `f` is.
    Example:
      >>> with jax.set_mesh(jax.make_mesh((1,), ("x",))):
      ...     print(jax.sharding.auto_axes(lambda x: x * 2, out_sharding=jax.P("x"))(jnp.arange(2)))
      [0 2]
    """
    if f is None:
        return lambda f: auto_axes(f, axes=axes, out_sharding=out_sharding)

    @_functools.wraps(f)
    def with_auto_axes(*args, out_sharding=None, **kwargs):
        target = _given_keyword(out_sharding, given, "out_sharding")
        mesh = _context_mesh("auto_axes")
        inner = _retyped(mesh, axes, AxisType.Auto)
        args, kwargs = _without_axes((args, kwargs), set(inner.explicit_axes))
        with use_abstract_mesh(inner):
            out = f(*args, **kwargs)
        return reshard(out, target)

    given = out_sharding
    return with_auto_axes


def explicit_axes(f=None, /, *, axes=None, in_sharding=None):
    """A function during which mesh axes are of type `Explicit`: types say how values are split along them.

    Args:
      f: a function of arrays; without it a decorator is made.
      axes: names of the axes; all of the mesh of the context by default.
      in_sharding: how the arguments are split, a spec or a tree of them; it may be given at the call instead.
    Returns: a function like `f`, which takes `in_sharding` too.
    Raises:
      TypeError: `in_sharding` is given neither here nor at the call.
      ValueError: there is no mesh in the context.
    Differentiable: yes, as `f` is.
    Example:
      >>> with jax.set_mesh(jax.make_mesh((1,), ("x",))):
      ...     print(jax.sharding.explicit_axes(lambda x: x * 2, in_sharding=jax.P("x"))(jnp.arange(2)))
      [0 2]
    """
    if f is None:
        return lambda f: explicit_axes(f, axes=axes, in_sharding=in_sharding)

    @_functools.wraps(f)
    def with_explicit_axes(*args, in_sharding=None, **kwargs):
        target = _given_keyword(in_sharding, given, "in_sharding")
        mesh = _context_mesh("explicit_axes")
        inner = _retyped(mesh, axes, AxisType.Explicit)
        with use_abstract_mesh(inner):
            args = reshard(args, target)
            out = f(*args, **kwargs)
        return _without_axes(out, set(mesh.explicit_axes))

    given = in_sharding
    return with_explicit_axes


def _without_axes(tree, kept):
    """The tree of arrays whose types speak only of the mesh axes that are kept."""
    from pullback.tree_util import tree_map

    def strip(leaf):
        if not isinstance(leaf, _core.Array):
            return leaf
        sharding = _core.typeof(leaf).sharding
        entries = [tuple(name for name in _names(entry) if name in kept) for entry in sharding.spec]
        spec = PartitionSpec(*entries)
        return leaf if spec == sharding.spec else NamedSharding(sharding.mesh, spec)._reshard(leaf)

    return tree_map(strip, tree)


for _public in (auto_axes, explicit_axes):
    _public.__module__ = "pullback.sharding"
