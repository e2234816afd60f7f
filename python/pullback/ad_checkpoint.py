"""Rematerialization: names of values, policies that say which values are kept, and what is kept."""

import types as _types
from collections import namedtuple as _namedtuple

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.custom_derivatives import checkpoint as checkpoint
from pullback.custom_derivatives import remat as remat
from pullback.tree_util import tree_map as _tree_map


class RecomputeType:
    """The answer of a policy: compute the value again."""

    def __repr__(self):
        return "Recompute"


class SaveableType:
    """The answer of a policy: keep the value."""

    def __repr__(self):
        return "Saveable"


Recompute = RecomputeType()
Saveable = SaveableType()
Offloadable = _namedtuple("Offloadable", ["src", "dst"])
Offloadable.__doc__ = "The answer of a policy: move the value from one memory to another. This engine has one memory."

name_p = _core.find_primitive("name")


def checkpoint_name(x, name):
    """A tree of values with a name, by which checkpoint policies know them.

    Args:
      x: a tree of arrays and numbers.
      name: a string; anything else is turned into one.
    Returns: a tree like `x` with the same values.
    Raises:
      TypeError: a leaf is no array or number.
    Differentiable: yes; tangents and cotangents pass unchanged.
    Example:
      >>> from pullback.ad_checkpoint import checkpoint_name
      >>> policy = jax.checkpoint_policies.save_only_these_names("y")
      >>> float(jax.grad(jax.checkpoint(lambda x: jnp.sin(checkpoint_name(2 * x, "y")), policy=policy))(0.0))
      2.0
    """
    return _tree_map(lambda leaf: name_p.bind(leaf, name=str(name)), x)


checkpoint_name_fwd = checkpoint_name


def everything_saveable(*_, **__):
    """A checkpoint policy that keeps all values: what no checkpoint does, too.

    Args:
      _, __: the primitive, avals of its operands, and its params; not looked at.
    Returns: True.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.everything_saveable
      >>> float(jax.grad(jax.checkpoint(jnp.sin, policy=policy))(0.0))
      1.0
    """
    return True


def nothing_saveable(*_, **__):
    """A checkpoint policy that keeps nothing but the arguments: as without a policy.

    Args:
      _, __: the primitive, avals of its operands, and its params; not looked at.
    Returns: False.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.nothing_saveable
      >>> float(jax.grad(jax.checkpoint(jnp.sin, policy=policy))(0.0))
      1.0
    """
    return False


def dots_saveable(prim, *_, **__):
    """A checkpoint policy that keeps results of products of matrices and of convolutions.

    Args:
      prim: the primitive.
      _, __: avals of its operands, and its params; not looked at.
    Returns: a bool.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.dots_saveable
      >>> print(jax.grad(jax.checkpoint(lambda x: jnp.sin(x @ x), policy=policy))(jnp.zeros(2)))
      [0. 0.]
    """
    return prim.name in ("dot_general", "conv_general_dilated")


def dots_with_no_batch_dims_saveable(prim, *_, **params):
    """A checkpoint policy that keeps results of products of matrices without batch dimensions, such as those with weights.

    Args:
      prim: the primitive.
      _: avals of its operands; not looked at.
      params: its params.
    Returns: a bool.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.dots_with_no_batch_dims_saveable
      >>> print(jax.grad(jax.checkpoint(lambda x: jnp.sin(x @ x), policy=policy))(jnp.zeros(2)))
      [0. 0.]
    """
    if prim.name != "dot_general":
        return False
    _, (lhs_batch, rhs_batch) = params["dimension_numbers"]
    return not lhs_batch and not rhs_batch


def save_anything_except_these_names(*names_not_to_save):
    """A checkpoint policy that keeps all values but those with these names.

    Args:
      names_not_to_save: names that `checkpoint_name` gives.
    Returns: a policy for `jax.checkpoint`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.save_anything_except_these_names("y")
      >>> float(jax.grad(jax.checkpoint(jnp.sin, policy=policy))(0.0))
      1.0
    """
    names_not_to_save = frozenset(names_not_to_save)
    return lambda prim, *_, **params: not (prim.name == "name" and params["name"] in names_not_to_save)


def save_any_names_but_these(*names_not_to_save):
    """A checkpoint policy that keeps values with names, but not with these.

    Args:
      names_not_to_save: names that `checkpoint_name` gives.
    Returns: a policy for `jax.checkpoint`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.save_any_names_but_these("y")
      >>> float(jax.grad(jax.checkpoint(jnp.sin, policy=policy))(0.0))
      1.0
    """
    names_not_to_save = frozenset(names_not_to_save)

    def policy(prim, *_, **params):
        return prim.name == "name" and params["name"] not in names_not_to_save

    return policy


def save_only_these_names(*names_which_can_be_saved):
    """A checkpoint policy that keeps values with these names.

    Args:
      names_which_can_be_saved: names that `checkpoint_name` gives.
    Returns: a policy for `jax.checkpoint`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.save_only_these_names("y")
      >>> float(jax.grad(jax.checkpoint(jnp.sin, policy=policy))(0.0))
      1.0
    """
    names_which_can_be_saved = frozenset(names_which_can_be_saved)

    def policy(prim, *_, **params):
        return prim.name == "name" and params["name"] in names_which_can_be_saved

    return policy


def save_from_both_policies(policy_1, policy_2):
    """A checkpoint policy that keeps what either of two keeps.

    Args:
      policy_1, policy_2: policies whose answers have a truth value.
    Returns: a policy for `jax.checkpoint`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policies = jax.checkpoint_policies
      >>> policy = policies.save_from_both_policies(policies.dots_saveable, policies.save_only_these_names("y"))
      >>> float(jax.grad(jax.checkpoint(jnp.sin, policy=policy))(0.0))
      1.0
    """

    def policy(prim, *args, **params):
        return policy_1(prim, *args, **params) or policy_2(prim, *args, **params)

    return policy


def offload_dot_with_no_batch_dims(offload_src, offload_dst):
    """A checkpoint policy that moves results of products of matrices without batch dimensions to another memory.

    This engine has one memory: a derivative that would move a value raises NotImplementedError.

    Args:
      offload_src: the memory that values are in.
      offload_dst: the memory that they go to.
    Returns: a policy for `jax.checkpoint`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")
      >>> float(jax.grad(jax.checkpoint(jnp.sin, policy=policy))(0.0))
      1.0
    """

    def policy(prim, *args, **params):
        wanted = dots_with_no_batch_dims_saveable(prim, *args, **params)
        return Offloadable(src=offload_src, dst=offload_dst) if wanted else Recompute

    return policy


def save_and_offload_only_these_names(
    *, names_which_can_be_saved, names_which_can_be_offloaded, offload_src, offload_dst
):
    """A checkpoint policy that keeps values with the first names and moves those with the second to another memory.

    This engine has one memory: a derivative that would move a value raises NotImplementedError.

    Args:
      names_which_can_be_saved: names of values to keep.
      names_which_can_be_offloaded: names of values to move.
      offload_src: the memory that values are in.
      offload_dst: the memory that they go to.
    Returns: a policy for `jax.checkpoint`.
    Raises:
      ValueError: a name is in both.
    Differentiable: no; it takes no arrays.
    Example:
      >>> policy = jax.checkpoint_policies.save_and_offload_only_these_names(
      ...     names_which_can_be_saved=["y"], names_which_can_be_offloaded=[], offload_src="device", offload_dst="pinned_host")
      >>> float(jax.grad(jax.checkpoint(jnp.sin, policy=policy))(0.0))
      1.0
    """
    saved, offloaded = frozenset(names_which_can_be_saved), frozenset(names_which_can_be_offloaded)
    if both := saved & offloaded:
        raise _user_error(ValueError, f"The names should be exclusive and should not intersect in `names_which_can_be_saved` and "
                         f"`names_which_can_be_offloaded`. Got names_which_can_be_saved={names_which_can_be_saved}, "
                         f"names_which_can_be_offloaded={names_which_can_be_offloaded} and the intersection={both}")

    def policy(prim, *_, **params):
        if prim.name == "name" and params["name"] in saved:
            return Saveable
        if prim.name == "name" and params["name"] in offloaded:
            return Offloadable(src=offload_src, dst=offload_dst)
        return Recompute

    return policy


checkpoint_policies = _types.SimpleNamespace(
    everything_saveable=everything_saveable,
    nothing_saveable=nothing_saveable,
    dots_saveable=dots_saveable,
    checkpoint_dots=dots_saveable,
    dots_with_no_batch_dims_saveable=dots_with_no_batch_dims_saveable,
    checkpoint_dots_with_no_batch_dims=dots_with_no_batch_dims_saveable,
    offload_dot_with_no_batch_dims=offload_dot_with_no_batch_dims,
    save_anything_except_these_names=save_anything_except_these_names,
    save_any_names_but_these=save_any_names_but_these,
    save_only_these_names=save_only_these_names,
    save_from_both_policies=save_from_both_policies,
    save_and_offload_only_these_names=save_and_offload_only_these_names,
)


def saved_residuals(f, *args, **kwargs):
    """What the reverse derivative of `f` at arguments of these shapes keeps.

    Args:
      f: a function of trees of arrays.
      args, kwargs: trees of arrays: where it would be differentiated.
    Returns: a list of pairs of an aval and a text that says where the value is from.
    Raises:
      TypeError: an argument is no tree of arrays.
    Differentiable: no; nothing is computed.
    Example:
      >>> from pullback.ad_checkpoint import saved_residuals
      >>> [origin for _, origin in saved_residuals(lambda x, y: x * y, jnp.ones(3), jnp.ones(3))]
      ['from the argument x', 'from the argument y']
    """
    from pullback import linearize, make_jaxpr
    from pullback.tree_util import tree_flatten, tree_leaves, tree_unflatten

    leaves, tree = tree_flatten((args, kwargs))

    def flat(*leaves):
        given, keywords = tree_unflatten(tree, leaves)
        return f(*given, **keywords)

    staged = _core.stage_call(f, args, kwargs)
    names = list(staged.jaxpr.debug_info.arg_names)
    jaxpr = make_jaxpr(lambda *leaves: tree_leaves(linearize(flat, *leaves)[1]))(*leaves)
    inputs = {var: name for var, name in zip(jaxpr.invars, names)}
    # Numbers written in place take no memory.
    kept = {out for out in jaxpr.outvars if type(out).__name__ != "Literal"}
    found = [(out.aval, f"from the argument {inputs[out]}") for out in jaxpr.invars if out in kept]
    found += [(out.aval, "from a constant") for out in jaxpr.constvars if out in kept]
    for eqn in jaxpr.eqns:
        found += [(out.aval, _origin(jaxpr, eqn)) for out in eqn.outvars if out in kept]
    return found


def _origin(jaxpr, eqn):
    # What is rounded to its own format is the value before; a named value is known by its name.
    if eqn.primitive.name == "reduce_precision":
        eqn = next((e for e in jaxpr.eqns if eqn.invars[0] in e.outvars), eqn)
    what = f"named '{eqn.params['name']}'" if eqn.primitive.name == "name" else f"output of {eqn.primitive.name}"
    return f"{what} from {eqn.source_info}" if eqn.source_info else what


def print_saved_residuals(f, *args, **kwargs):
    """Prints what the reverse derivative of `f` keeps: its type and where it is from, a line each.

    Args:
      f: a function of trees of arrays.
      args, kwargs: trees of arrays: where it would be differentiated.
    Returns: None.
    Raises:
      TypeError: an argument is no tree of arrays.
    Differentiable: no; nothing is computed.
    Example:
      >>> from pullback.ad_checkpoint import print_saved_residuals
      >>> print_saved_residuals(lambda x, y: x * y, jnp.ones(3), jnp.ones(3))
      f32[3] from the argument x
      f32[3] from the argument y
    """
    for aval, origin in saved_residuals(f, *args, **kwargs):
        print(f"{aval.str_short(short_dtypes=True)} {origin}")


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "RecomputeType", "SaveableType", "checkpoint", "dots_saveable", "dots_with_no_batch_dims_saveable",
    "everything_saveable", "nothing_saveable", "offload_dot_with_no_batch_dims", "remat",
    "save_and_offload_only_these_names", "save_any_names_but_these", "save_anything_except_these_names",
    "save_from_both_policies", "save_only_these_names", "saved_residuals",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
