"""`pallas_call`: kernels step by step over the grid."""

import functools as _functools
import math as _math

from pullback._core import user_error as _user_error
from pullback.experimental.pallas import _kernel
from pullback.experimental.pallas._specs import BlockSpec, Element, GridSpec, NoBlockSpec, Squeezed, no_block_spec


class _Division:
    """How one array is divided: sizes of blocks, which axes the kernel sees, and where blocks begin."""

    def __init__(self, spec, shape, n_grid, what):
        if spec is None or isinstance(spec, NoBlockSpec):
            spec = BlockSpec()
        entries = tuple(shape) if spec.block_shape is None else tuple(spec.block_shape)
        if len(entries) != len(shape):
            raise _user_error(
                ValueError, f"Block shape for {what} (= {entries}) must have the same number of dimensions as the array shape {tuple(shape)}"
            )
        self.is_element = [isinstance(entry, Element) for entry in entries]
        if any(entry.padding != (0, 0) for entry in entries if isinstance(entry, Element)):
            raise _user_error(NotImplementedError, "blocks with padding are not supported")
        self.hidden = tuple(k for k, entry in enumerate(entries) if entry is None or isinstance(entry, Squeezed))
        self.sizes = tuple(1 if k in self.hidden else getattr(entry, "block_size", entry) for k, entry in enumerate(entries))
        self.shape = tuple(shape)
        default = lambda *_: (0,) * len(shape)
        self.index_map = spec.index_map or default
        self.padded = tuple(
            size if is_element else -(-size // block) * block for size, block, is_element in zip(shape, self.sizes, self.is_element)
        )

    def starts(self, position):
        """Where the block of a position begins."""
        found = self.index_map(*position)
        found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(self.shape):
            raise _user_error(ValueError, f"Index map of a block shape of {len(self.shape)} axes must return {len(self.shape)} values, got {len(found)}")
        return [at if is_element else at * size for at, size, is_element in zip(found, self.sizes, self.is_element)]

    def widen(self, x):
        """The array up to whole blocks; what is beyond means nothing, and is NaN where there is one."""
        from pullback import numpy as jnp

        if self.padded == self.shape:
            return x
        fill = jnp.nan if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.iinfo(x.dtype).min if jnp.issubdtype(x.dtype, jnp.integer) else False
        return jnp.pad(x, [(0, wide - size) for wide, size in zip(self.padded, self.shape)], constant_values=fill)

    def block(self, x, position):
        """The block of a position as the kernel sees it."""
        from pullback import lax

        return lax.squeeze(lax.dynamic_slice(x, self.starts(position), self.sizes), self.hidden)

    def put(self, x, block, position):
        """The array with a block written."""
        from pullback import lax

        return lax.dynamic_update_slice(x, lax.expand_dims(block, self.hidden), self.starts(position))

    def narrow(self, x):
        """The array without what is beyond."""
        return x[tuple(map(slice, self.shape))] if self.padded != self.shape else x


def _listed(specs, tree, count, what):
    """For each leaf its division."""
    if specs is None or isinstance(specs, NoBlockSpec):
        return [no_block_spec] * count
    is_spec = lambda x: x is None or isinstance(x, (BlockSpec, NoBlockSpec))
    if is_spec(specs):
        return [specs] * count
    found = tree.flatten_up_to(specs) if not isinstance(specs, (list, tuple)) or len(specs) != count else list(specs)
    if len(found) != count or not all(map(is_spec, found)):
        raise _user_error(ValueError, f"{what} must be a tree of BlockSpecs like that of the arrays: {specs}")
    return found


def _check_supported(interpret, mesh, input_output_aliases, out_leaves, leaves):
    if not interpret:
        raise _user_error(ValueError, "Only interpret mode is supported on CPU backend.")
    for source, target in input_output_aliases.items():
        if (leaves[source].shape, leaves[source].dtype) != (tuple(out_leaves[target].shape), out_leaves[target].dtype):
            raise _user_error(ValueError, f"input_output_aliases pairs argument {source} with result {target}, which has another type")


def pallas_call(
    kernel, out_shape, *, grid_spec=None, grid=(), in_specs=no_block_spec, out_specs=no_block_spec, scratch_shapes=(),
    input_output_aliases={}, debug=False, interpret=False, name=None, compiler_params=None, cost_estimate=None, metadata=None
):
    """A function of arrays that runs a kernel at each position of a grid.

    Args:
      kernel: a function of references: to the blocks of the arguments, of the results, and to scratch memory.
      out_shape: a tree of types of the results.
      grid_spec: a `GridSpec` in place of the next four.
      grid: sizes, or one; one step when empty.
      in_specs, out_specs: for each argument and result a `BlockSpec`; the whole array without.
      scratch_shapes: types of memory that lasts over all steps.
      input_output_aliases: from positions of arguments to those of results that begin with the same elements.
      debug, name, compiler_params, cost_estimate, metadata: accepted for compatibility; without effect.
      interpret: must be true: there are no accelerators.
    Returns: a function of arrays.
    Raises:
      ValueError: `interpret` is false; blocks do not fit arrays.
      NotImplementedError: blocks with padding.
    Differentiable: yes, through the operations of the kernel; forward, or in reverse.
    Example:
      >>> from pullback.experimental import pallas as pl
      >>> def add(x, y, out):
      ...     out[...] = x[...] + y[...]
      >>> print(pl.pallas_call(add, jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(jnp.arange(3.0), jnp.ones(3)))
      [1. 2. 3.]
    """
    from pullback import tree_util

    given = grid_spec or GridSpec(grid, in_specs, out_specs, scratch_shapes)
    sizes = (given.grid,) if isinstance(given.grid, int) else tuple(given.grid)
    out_leaves, out_tree = tree_util.tree_flatten(out_shape)

    def wrapped(*args):
        from pullback import numpy as jnp

        leaves, in_tree = tree_util.tree_flatten(args)
        leaves = list(map(jnp.asarray, leaves))
        aliases = dict(input_output_aliases)
        _check_supported(interpret, None, aliases, out_leaves, leaves)
        ins = [_Division(spec, x.shape, len(sizes), f"args[{k}]") for k, (spec, x) in enumerate(zip(_listed(given.in_specs, in_tree, len(leaves), "in_specs"), leaves))]
        outs = [_Division(spec, x.shape, len(sizes), f"outputs[{k}]") for k, (spec, x) in enumerate(zip(_listed(given.out_specs, out_tree, len(out_leaves), "out_specs"), out_leaves))]
        begun = {target: leaves[source] for source, target in aliases.items()}
        results = [begun.get(k, jnp.zeros(tuple(x.shape), x.dtype)) for k, x in enumerate(out_leaves)]
        scratch, scratch_tree = tree_util.tree_flatten(given.scratch_shapes, is_leaf=lambda x: hasattr(x, "shape") and hasattr(x, "dtype"))
        trees = in_tree, out_tree, scratch_tree
        found = _stepped(kernel, sizes, (ins, outs), trees, leaves, results, [jnp.zeros(tuple(x.shape), x.dtype) for x in scratch])
        return out_tree.unflatten([division.narrow(x) for division, x in zip(outs, found)])

    return _functools.wraps(kernel)(wrapped) if hasattr(kernel, "__name__") else wrapped


def _stepped(kernel, grid, divisions, trees, leaves, results, scratch):
    """The results after all steps of the grid, row by row."""
    from pullback import lax, numpy as jnp

    ins, outs = divisions
    leaves = [division.widen(x) for division, x in zip(ins, leaves)]
    results = [division.widen(x) for division, x in zip(outs, results)]

    def step(k, carry):
        position, rest = [], k
        for size in reversed(grid):
            position.append(rest % size)
            rest = rest // size
        position = tuple(reversed(position))
        return _one_step(kernel, grid, position, divisions, trees, leaves, *carry)

    # No step of an empty grid is known before it runs, so a loop of known length is one that can be differentiated in reverse.
    count = _math.prod(grid)
    if not grid:
        return _one_step(kernel, grid, (), divisions, trees, leaves, results, scratch)[0]
    return lax.fori_loop(0, count, lambda k, carry: step(jnp.asarray(k, jnp.int32), carry), (results, scratch))[0]


def _one_step(kernel, grid, position, divisions, trees, leaves, results, scratch):
    from pullback.ref import new_ref

    ins, outs = divisions
    in_refs = [new_ref(division.block(x, position)) for division, x in zip(ins, leaves)]
    out_refs = [new_ref(division.block(x, position)) for division, x in zip(outs, results)]
    kept = list(map(new_ref, scratch))
    in_tree, out_tree, scratch_tree = trees
    given = out_tree.unflatten(out_refs)
    given = given if isinstance(given, (tuple, list)) else (given,)
    own = scratch_tree.unflatten(kept)
    with _kernel.at_step(position, grid):
        found = kernel(*in_tree.unflatten(in_refs), *given, *(own if isinstance(own, (tuple, list)) else () if own is None else own.values()))
    if found is not None:
        raise _user_error(ValueError, f"The kernel function in the pallas_call should return None. It returns a value of type {type(found)}")
    results = [division.put(x, ref[...], position) for division, x, ref in zip(outs, results, out_refs)]
    return results, [ref[...] for ref in kept]


