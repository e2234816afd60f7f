"""Functions of the host inside programs."""

from pullback import _core
from pullback.tree_util import tree_flatten, tree_unflatten


def pure_callback(callback, result_shape_dtypes, *args, sharding=None, vmap_method=None, **kwargs):
    """Calls a Python function without effects on concrete arrays; gives arrays of the announced shapes and dtypes."""
    from pullback import ShapeDtypeStruct

    leaves, tree = tree_flatten((args, kwargs))
    announced, out_tree = tree_flatten(result_shape_dtypes)

    def run(*flat):
        args, kwargs = tree_unflatten(tree, flat)
        results, given = tree_flatten(callback(*args, **kwargs))
        if given != out_tree:
            raise ValueError(f"callback returned a tree of structure {given}, but {out_tree} was announced")
        return results

    announced = [ShapeDtypeStruct(like.shape, like.dtype) for like in announced]
    outs = _core.pure_callback(run, getattr(callback, "__name__", "callback"), announced, tuple(leaves))
    return tree_unflatten(out_tree, outs)


def io_callback(callback, result_shape_dtypes, *args, sharding=None, ordered=False, **kwargs):
    """Calls a Python function with effects. Functions with results are called as `pure_callback` calls them."""
    announced, out_tree = tree_flatten(result_shape_dtypes)
    if announced:
        return pure_callback(callback, result_shape_dtypes, *args, **kwargs)
    from pullback import debug

    debug.callback(callback, *args, ordered=ordered, **kwargs)
    return tree_unflatten(out_tree, [])
