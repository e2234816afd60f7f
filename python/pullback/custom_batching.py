"""Functions with batching of the user's own."""

import functools as _functools

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.tree_util import tree_map as _tree_map

__all__ = ["custom_vmap", "sequential_vmap"]


class custom_vmap:
    """A function whose behaviour under `vmap` is given by a rule.

    The rule `rule(axis_size, in_batched, *args) -> (out, out_batched)` gets the number of examples, for each argument a
    tree of booleans that says which arrays have the batch axis in front, and the arguments. `out_batched` says the same
    of the results. Differentiable in forward mode: the derivative of the rule is the rule of the derivative.

    Attributes:
      fun: the function, of trees of arrays.
      vmap_rule: the rule, None until `def_vmap` sets it.
    Raises AttributeError when called without a rule; ValueError for a rule that gives another structure.

    Example:
      >>> @jax.custom_batching.custom_vmap
      ... def f(x, y):
      ...     return x + y
      >>> @f.def_vmap
      ... def rule(axis_size, in_batched, xs, ys):
      ...     return xs * ys, True
      >>> print(jax.vmap(f)(jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])))
      [3. 8.]
    """

    def __init__(self, fun):
        _functools.update_wrapper(self, fun)
        self.fun = fun
        self.vmap_rule = None

    def def_vmap(self, vmap_rule):
        """Sets the rule; gives it back, so that it can be used as a decorator."""
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args, **kwargs):
        from pullback.custom_derivatives import _name, _positional

        if self.vmap_rule is None:
            raise _user_error(AttributeError, f"No batching rule defined for custom_vmap function {_name(self.fun)} using def_vmap.")
        return _core.custom_vmap_call(self.fun, self.vmap_rule, tuple(_positional(self, args, kwargs, "custom_vmap")))


def sequential_vmap(f):
    """A version of `f` that `vmap` runs for one example after the other, in a loop.

    Args:
      f: a function of trees of arrays.
    Returns: a function with the arguments and values of `f`.
    Differentiable: yes, in forward mode, as `f` is; reverse mode raises ValueError.
    Example:
      >>> print(jax.vmap(jax.custom_batching.sequential_vmap(jnp.sin))(jnp.zeros(2)))
      [0. 0.]
    """
    from pullback.lax import map as lax_map
    from pullback.tree_util import tree_leaves, tree_unflatten, tree_flatten

    f = custom_vmap(f)

    @f.def_vmap
    def rule(axis_size, in_batched, *args):
        del axis_size
        leaves, tree = tree_flatten(args)
        marks = tree_leaves(tuple(in_batched))
        mapped = [leaf for leaf, mark in zip(leaves, marks) if mark]

        def one(batched):
            batched = iter(batched)
            return f(*tree_unflatten(tree, [next(batched) if mark else leaf for leaf, mark in zip(leaves, marks)]))

        out = lax_map(one, mapped)
        return out, _tree_map(lambda _: True, out)

    return f
