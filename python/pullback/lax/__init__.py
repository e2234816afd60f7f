"""Functions that stand for one primitive each, without promotion, and control flow that is traced once."""

from pullback import _core
from pullback._later import later as _later

# Where names live that are not functions of the core: modules that are imported when one of their names is asked for.
_PARTS = {
    "pullback._control": ("associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"),
    "pullback._solve": ("custom_linear_solve", "custom_root"),
    "pullback.lax._composed": (
        "dce_sink", "fft", "index_take", "platform_dependent", "round", "scaled_dot", "scatter_apply", "shape_as_value", "stage",
    ),
    "pullback.lax._composites": ("composite",),
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
    "pullback.lax._ragged": ("ragged_dot", "ragged_dot_general"),
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


for _function in (with_sharding_constraint, dtype):
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
