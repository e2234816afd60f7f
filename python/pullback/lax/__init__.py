"""Functions that stand for one primitive each, without promotion, and control flow that is traced once."""

from pullback import _core
from pullback._later import later as _later

# Where names live that are not functions of the core: modules that are imported when one of their names is asked for.
_PARTS = {
    "pullback._control": ("associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"),
    "pullback._solve": ("custom_linear_solve", "custom_root"),
    "pullback.lax._composed": (
        "approx_max_k", "approx_min_k", "composite", "dce_sink", "fft", "index_take", "platform_dependent", "ragged_dot",
        "ragged_dot_general", "scaled_dot", "scatter_apply", "shape_as_value", "stage",
    ),
    "pullback.lax._convolution": (
        "conv", "conv_dimension_numbers", "conv_general_dilated", "conv_general_dilated_local",
        "conv_general_dilated_patches", "conv_general_permutations", "conv_general_shape_tuple", "conv_shape_tuple",
        "conv_transpose", "conv_transpose_shape_tuple", "conv_with_general_padding", "padtype_to_pads",
    ),
    "pullback.lax._generators": ("after_all", "create_token", "rng_bit_generator", "rng_uniform"),
    "pullback.lax._parallel": (
        "all_gather", "all_to_all", "axis_index", "axis_size", "pbroadcast", "pcast", "pmax", "pmean", "pmin", "ppermute", "precv",
        "psend", "pshuffle", "psum", "psum_scatter", "pswapaxes", "ragged_all_to_all",
    ),
    "pullback.lax._windows": ("reduce", "reduce_window", "reduce_window_shape_tuple"),
    "pullback.lax._records": (
        "AccuracyMode", "ConvDimensionNumbers", "ConvGeneralDilatedDimensionNumbers", "DotAlgorithm", "DotAlgorithmPreset",
        "DotDimensionNumbers", "FftType", "GatherDimensionNumbers", "GatherScatterMode", "Precision", "PrecisionLike",
        "RaggedDotDimensionNumbers", "RandomAlgorithm", "RoundingMethod", "ScatterDimensionNumbers", "Tolerance",
    ),
    "pullback.lax.linalg": ("linalg",),
}
_part, _homes = _later(__name__, _PARTS)

_functions = [name for name in dir(_core.lax) if not name.startswith("_")]
globals().update({name: getattr(_core.lax, name) for name in _functions if name not in _homes})
broadcast_shapes = _core.numpy.broadcast_shapes
asarray = _core.numpy.asarray


def with_sharding_constraint(x, shardings):
    """The same tree with its leaves put where `shardings` says.

    Args:
      x: a tree of arrays.
      shardings: a `Sharding` for all leaves, or a tree of them that is a prefix of `x`; a `PartitionSpec` needs a
        mesh in context.
    Returns: a tree of arrays with the same values.
    Raises:
      TypeError: something else is given for a sharding.
    Differentiable: yes, linear; cotangents are put there too.
    Example:
      >>> jax.lax.with_sharding_constraint(jnp.array([1, 2]), jax.sharding.SingleDeviceSharding(jax.devices()[0]))
      Array([1, 2], dtype=int32)
    """
    from pullback.sharding import with_sharding_constraint as put

    return put(x, shardings)


def optimization_barrier(operand, /):
    """The same tree of values, of which no optimization may know that they are.

    Args:
      operand: a tree of arrays and numbers.
    Returns: a tree of arrays with the same values.
    Raises:
      TypeError: a leaf is no array or number.
    Differentiable: yes, linear; tangents and cotangents pass a barrier of their own.
    Example:
      >>> jax.lax.optimization_barrier((jnp.array(1), jnp.array([2])))
      (Array(1, dtype=int32, weak_type=True), Array([2], dtype=int32))
    """
    from pullback.tree_util import tree_flatten, tree_unflatten

    leaves, tree = tree_flatten(operand)
    return tree_unflatten(tree, _core.find_primitive("optimization_barrier").bind(*leaves))


def dtype(x):
    """The dtype of a value.

    Args:
      x: an array, a number or a dtype; Python numbers have the default dtypes.
    Returns: a NumPy dtype.
    Raises:
      TypeError: `x` has no dtype.
    Differentiable: no, the result is no array.
    Example:
      >>> jax.lax.dtype(1.0)
      dtype('float32')
    """
    return _core.numpy.result_type(x)


def empty(shape, dtype, *, out_sharding=None):
    """An array of zeros: there are no arrays without values.

    Args:
      shape: the shape of the result.
      dtype: the dtype of the result; 64-bit ones are halved without x64.
      out_sharding: None, or a sharding that splits nothing over devices; `jax.device_put` splits the result.
    Returns: an array of `shape` and `dtype`.
    Raises:
      TypeError: there is no such dtype, or a size is negative.
    Differentiable: nothing to differentiate, it takes no array.
    Example:
      >>> jax.lax.empty((2,), jnp.int32)
      Array([0, 0], dtype=int32)
    """
    from pullback._out_sharding import check_out_sharding

    check_out_sharding("lax.empty", out_sharding)
    return _core.numpy.zeros(shape, dtype)


def broadcast_like(arr, like_arr):
    """An array repeated to the shape of another, axes matched from the last.

    Args:
      arr: array or scalar of any dtype.
      like_arr: the array whose shape is taken.
    Returns: an array of the dtype of `arr` and the shape of `like_arr`.
    Raises:
      ValueError: an axis has neither size 1 nor that of its match.
    Differentiable: in `arr`, linear; the transpose sums.
    Example:
      >>> jax.lax.broadcast_like(jnp.array([1, 2]), jnp.zeros((3, 2)))
      Array([[1, 2],
             [1, 2],
             [1, 2]], dtype=int32)
    """
    return _core.numpy.broadcast_to(arr, _core.numpy.shape(like_arr))


def polynomial(x, coeffs, *, unroll=None):
    """The value of a polynomial with coefficients of rising powers, by Horner's rule.

    Args:
      x: array or number of any shape.
      coeffs: a sequence of numbers, or of arrays that broadcast with `x`; 0 of none.
      unroll: taken for compatibility and ignored.
    Returns: an array of the promoted dtype.
    Differentiable: in `x` and in the coefficients.
    Example:
      >>> jax.lax.polynomial(jnp.array([0, 2]), [1, 2, 3])
      Array([ 1, 17], dtype=int32)
    """
    value = _core.numpy.zeros_like(x)
    for c in reversed(list(coeffs)):
        value = value * x + c
    return value


for _function in (with_sharding_constraint, optimization_barrier, dtype, empty, broadcast_like, polynomial):
    _function.__module__ = "pullback.lax"


def __getattr__(name):
    if name in _homes:
        return _part(name)
    if name == "rng_uniform_p":
        from pullback.lax._generators import rng_uniform_p

        return rng_uniform_p
    if name == "linear_solve_p":
        return _core.find_primitive("custom_linear_solve")
    # `mul_p`, `dynamic_slice_p`: the primitives themselves, under the names that libraries key on.
    if name.endswith("_p"):
        for primitive in (name[:-2], name[:-2].replace("_", "-")):
            try:
                return _core.find_primitive(primitive)
            except ValueError:
                continue
    return _part(name)


__all__ = sorted({
    *_functions, *_homes, "asarray", "broadcast_like", "broadcast_shapes", "dtype", "empty", "optimization_barrier", "polynomial",
    "stop_gradient", "with_sharding_constraint",
})


def __dir__():
    return sorted({*globals(), *_homes})
