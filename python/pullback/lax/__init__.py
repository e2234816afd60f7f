"""Functions that stand for one primitive each, without promotion, and control flow that is traced once."""

from pullback import _core
from pullback.lax import _parallel
from pullback._control import (
    associative_scan as associative_scan,
    cond as cond,
    fori_loop as fori_loop,
    map as map,
    scan as scan,
    switch as switch,
    while_loop as while_loop,
)
from pullback.lax._parallel import (
    all_gather as all_gather,
    all_to_all as all_to_all,
    axis_index as axis_index,
    axis_size as axis_size,
    pbroadcast as pbroadcast,
    pcast as pcast,
    pmax as pmax,
    pmean as pmean,
    pmin as pmin,
    ppermute as ppermute,
    pshuffle as pshuffle,
    psum as psum,
    psum_scatter as psum_scatter,
    pswapaxes as pswapaxes,
)
from pullback._solve import custom_linear_solve as custom_linear_solve
from pullback._solve import custom_root as custom_root
from pullback.lax._composed import *  # noqa: F403
from pullback.lax._composed import __all__ as _composed_names
from pullback.lax._convolution import *  # noqa: F403
from pullback.lax._convolution import __all__ as _convolution_names
from pullback.lax._records import (
    AccuracyMode as AccuracyMode,
    ConvDimensionNumbers as ConvDimensionNumbers,
    ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers,
    DotAlgorithm as DotAlgorithm,
    DotAlgorithmPreset as DotAlgorithmPreset,
    DotDimensionNumbers as DotDimensionNumbers,
    FftType as FftType,
    GatherDimensionNumbers as GatherDimensionNumbers,
    GatherScatterMode as GatherScatterMode,
    Precision as Precision,
    PrecisionLike as PrecisionLike,
    RaggedDotDimensionNumbers as RaggedDotDimensionNumbers,
    RandomAlgorithm as RandomAlgorithm,
    RoundingMethod as RoundingMethod,
    ScatterDimensionNumbers as ScatterDimensionNumbers,
    Tolerance as Tolerance,
)
from pullback.lax._windows import *  # noqa: F403
from pullback.lax._windows import __all__ as _window_names
from pullback.lax import linalg as linalg  # noqa: E402

_functions = [name for name in dir(_core.lax) if not name.startswith("_")]
globals().update({name: getattr(_core.lax, name) for name in _functions})
broadcast_shapes = _core.numpy.broadcast_shapes
asarray = _core.numpy.asarray


def stop_gradient(x):
    """The same tree of values, constant to differentiation.

    >>> import pullback as jax
    >>> float(jax.grad(lambda t: jax.lax.stop_gradient(t) * t)(2.0))
    2.0
    """
    from pullback.tree_util import tree_map

    return tree_map(_core.lax._stop_gradient, x)


def with_sharding_constraint(x, shardings):
    """The same tree with its leaves put where `shardings` says; see `pullback.sharding`."""
    from pullback.sharding import with_sharding_constraint as put

    return put(x, shardings)


def optimization_barrier(operand, /):
    """The same tree of values, of which no optimization may know that they are.

    Differentiable; tangents and cotangents pass a barrier of their own.

    >>> import pullback as jax
    >>> float(jax.lax.optimization_barrier(2.0))
    2.0
    """
    from pullback.tree_util import tree_flatten, tree_unflatten

    leaves, tree = tree_flatten(operand)
    return tree_unflatten(tree, _core.find_primitive("optimization_barrier").bind(*leaves))


def dtype(x):
    """The dtype of a value."""
    return _core.numpy.result_type(x)


def empty(shape, dtype, *, out_sharding=None):
    """An array of zeros, as there is no array without elements' values."""
    return _core.numpy.zeros(shape, dtype)


def broadcast_like(arr, like_arr):
    """An array repeated to the shape of another."""
    return _core.numpy.broadcast_to(arr, _core.numpy.shape(like_arr))


def polynomial(x, coeffs, *, unroll=None):
    """The value of a polynomial with coefficients of rising powers."""
    value = _core.numpy.zeros_like(x)
    for c in reversed(list(coeffs)):
        value = value * x + c
    return value


for _function in (with_sharding_constraint, stop_gradient, optimization_barrier, dtype, empty, broadcast_like, polynomial):
    _function.__module__ = "pullback.lax"


def __getattr__(name):
    if name == "linear_solve_p":
        return _core.find_primitive("custom_linear_solve")
    # `mul_p`, `dynamic_slice_p`: the primitives themselves, under the names that libraries key on.
    if name.endswith("_p"):
        for primitive in (name[:-2], name[:-2].replace("_", "-")):
            try:
                return _core.find_primitive(primitive)
            except ValueError:
                continue
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = sorted({
    *_functions, *_parallel.__all__, *_composed_names, *_convolution_names, *_window_names, "linalg", "associative_scan", "asarray",
    "broadcast_like", "broadcast_shapes", "cond", "custom_linear_solve", "custom_root", "dtype", "empty", "fori_loop", "map",
    "optimization_barrier", "polynomial", "scan", "stop_gradient", "switch", "while_loop", "with_sharding_constraint",
    "ConvDimensionNumbers", "FftType", "GatherDimensionNumbers", "AccuracyMode", "ConvGeneralDilatedDimensionNumbers", "DotAlgorithm",
    "DotAlgorithmPreset", "DotDimensionNumbers", "PrecisionLike", "RaggedDotDimensionNumbers", "RandomAlgorithm", "Tolerance",
    "GatherScatterMode", "Precision", "RoundingMethod", "ScatterDimensionNumbers",
})
