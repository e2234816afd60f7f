"""Functions of `lax` that are compositions of primitives, or that concern other platforms than this one."""

import operator

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax._records import FftType, GatherDimensionNumbers, RoundingMethod

_n = _core.numpy
_l = _core.lax


def _fft_type(kind):
    if isinstance(kind, str):
        names = {"fft": FftType.FFT, "ifft": FftType.IFFT, "rfft": FftType.RFFT, "irfft": FftType.IRFFT}
        if kind.lower() not in names:
            raise _user_error(ValueError, f"Unknown FFT type '{kind}'")
        return names[kind.lower()]
    return FftType(int(kind))


def fft(x, fft_type, fft_lengths):
    """A discrete Fourier transform over the last axes: sums of `x[k] exp(-2πi jk/n)`, the inverse with the other sign
    and divided by n.

    Args:
      x: complex for `FFT`, `IFFT` and `IRFFT` (others are converted), real for `RFFT` (integers become floats).
      fft_type: an `FftType` or its name: 'fft', 'ifft', 'rfft', 'irfft'.
      fft_lengths: sizes of the transformed axes in the longer array.
    Returns: the transform, complex64 or complex128; of `RFFT` the last axis has `n // 2 + 1` elements, and `IRFFT`,
      which gives real numbers, undoes that.
    Raises:
      ValueError: the shape does not fit `fft_lengths`, the name is unknown, or `RFFT` is given complex or half-width
        numbers.
    Differentiable: yes, linear.
    Example:
      >>> jax.lax.fft(jnp.ones(4), "rfft", (4,)).real
      Array([4., 0., 0.], dtype=float32)
    """
    kind, lengths = _fft_type(fft_type), tuple(map(operator.index, fft_lengths))
    x = _n.asarray(x)
    name = kind.name
    if kind == FftType.RFFT:
        if _n.iscomplexobj(x):
            raise _user_error(ValueError, "only real valued inputs supported for rfft")
        if x.dtype.kind in "iub":
            x = x.astype(_n.result_type(x, float))
        if x.dtype.name not in ("float32", "float64"):
            raise _user_error(ValueError, f"RFFT input must be float32 or float64, got {x.dtype}")
    elif not _n.iscomplexobj(x):
        x = x.astype(_n.result_type(x, complex))
    if len(lengths) > x.ndim:
        raise _user_error(ValueError, f"{name} input shape {x.shape} must have at least as many input dimensions as fft_lengths {lengths}.")
    minor = x.shape[x.ndim - len(lengths):]
    if kind == FftType.IRFFT and lengths:
        if minor[:-1] != lengths[:-1] or minor[-1] != lengths[-1] // 2 + 1:
            raise _user_error(ValueError, f"IRFFT input shape {x.shape} minor dimensions must be equal to all except the last fft_length, got fft_lengths={lengths}")
    elif minor != lengths:
        raise _user_error(ValueError, f"{name} input shape {x.shape} minor dimensions must be equal to fft_lengths {lengths}")
    if not lengths:
        return x
    return _core.find_primitive("fft").bind(x, fft_type=int(kind), fft_lengths=lengths)


# In Python for its signature alone: the reference's default is a member of an enumeration.
def round(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO):  # noqa: A001
    return _l.round(x, rounding_method)


round.__doc__ = _l.round.__doc__


def index_take(src, idxs, axes):
    """Elements of an array at index arrays for some axes, with the axis of the indices in front.

    Args:
      src: array of any dtype.
      idxs: vectors of integers, one for each of `axes`, of one size; they wrap around at both ends.
      axes: the axes they are for, rising.
    Returns: an array of the size of the indices, then the other axes of `src`.
    Raises:
      TypeError: an axis is negative or out of bounds. ValueError: indices are no vectors.
    Differentiable: in `src`, linear.
    Example:
      >>> jax.lax.index_take(jnp.array([[1, 2], [3, 4]]), (jnp.array([0, -1]),), (1,))
      Array([[1, 3],
             [2, 4]], dtype=int32)
    """
    axes = tuple(axes)
    if any(not 0 <= axis < src.ndim for axis in axes):
        raise _user_error(TypeError, f"index_take axes must be in [0, {src.ndim}), got {axes}; count them from the first")
    if any(_n.ndim(i) != 1 for i in idxs):
        raise _user_error(ValueError, f"index_take takes vectors of indices, got shapes {[_n.shape(i) for i in idxs]}")
    indices = _n.stack([_n.asarray(i) for i in idxs], axis=-1)
    indices = indices % _n.asarray([src.shape[axis] for axis in axes], dtype=indices.dtype)
    sizes = tuple(1 if axis in axes else size for axis, size in enumerate(src.shape))
    dims = GatherDimensionNumbers(tuple(range(1, src.ndim - len(axes) + 1)), axes, axes)
    return _l.gather(src, indices, dims, sizes)


def scatter_apply(
    operand, scatter_indices, func, dimension_numbers, *, update_shape=(), indices_are_sorted=False, unique_indices=False,
    mode=None,
):
    """The operand with `func` applied to the elements at computed positions, as often as each position occurs.

    Args:
      operand: array of any dtype.
      scatter_indices: integers; the last axis holds one position in several axes of `operand`.
      func: an elementwise function; it is called with whole arrays.
      dimension_numbers: a `ScatterDimensionNumbers`, as `scatter` takes it.
      update_shape: the shape that updates would have.
      indices_are_sorted: a promise that positions rise.
      unique_indices: a promise that no position occurs twice; `func` is then called once.
      mode: a `GatherScatterMode` or its name, as `scatter` takes it.
    Returns: an array like `operand`.
    Raises:
      TypeError: numbers do not fit the shapes.
      NotImplementedError: a derivative is taken.
    Differentiable: no.
    Example:
      >>> at = lax.ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))
      >>> lax.scatter_apply(jnp.array([1, 2, 3]), jnp.array([[1], [1]]), lambda x: x * 10, at, update_shape=(2,))
      Array([  1, 200,   3], dtype=int32)
    """
    counts = _l.scatter_add(
        _n.zeros(_n.shape(operand), "int32"), scatter_indices, _n.ones(update_shape, "int32"), dimension_numbers,
        indices_are_sorted=indices_are_sorted, unique_indices=unique_indices, mode=mode,
    )
    from pullback._indexing import _without_derivative

    return _without_derivative(lambda x: _applied(x, counts, func, unique_indices), "scatter_apply")(_n.asarray(operand))


def _applied(operand, counts, func, is_once):
    """An array with a function applied as often as counts say."""
    from pullback._indexing import _applied

    return _n.where(counts > 0, func(operand), operand) if is_once else _applied(func, operand, counts)


def platform_dependent(*args, default=None, **per_platform):
    """The result of the function for the CPU, or else of the default.

    Args:
      args: arguments of the function.
      default: a function for platforms that are not named.
      per_platform: functions by the names of platforms; only 'cpu' is looked for.
    Returns: what the function gives.
    Raises:
      NotImplementedError: there is neither.
    Differentiable: as the function is.
    Example:
      >>> lax.platform_dependent(jnp.array(1), cpu=lambda x: x + 1, tpu=lambda x: x - 1)
      Array(2, dtype=int32, weak_type=True)
    """
    function = per_platform.get("cpu", default)
    if function is None:
        raise _user_error(NotImplementedError, f"platform_dependent has a function for {sorted(per_platform)} and no default, but runs on cpu")
    return function(*args)


def dce_sink(val, *, prevent_mlir_dce=False):
    """Keeps a value that nothing uses; here values have no effects that could be lost, so that it does nothing.

    Args:
      val: any tree.
      prevent_mlir_dce: taken for compatibility and ignored.
    Returns: None.
    Differentiable: nothing to differentiate, it gives no array.
    Example:
      >>> lax.dce_sink(jnp.array(1))
    """


def shape_as_value(shape):
    """A shape as an array.

    Args:
      shape: a sequence of integers.
    Returns: int32 of as many elements as the shape has axes.
    Raises:
      TypeError: a size is no number.
    Differentiable: no, sizes are integers.
    Example:
      >>> lax.shape_as_value((2, 3))
      Array([2, 3], dtype=int32)
    """
    return _n.asarray(tuple(shape), dtype="int32") if len(shape) else _n.zeros((0,), "int32")


def scaled_dot(lhs, rhs, *, lhs_scale=None, rhs_scale=None, dimension_numbers=None, preferred_element_type=None):
    """A contraction of operands that are first scaled, each scale for a block of elements.

    Args:
      lhs, rhs: arrays of one dtype.
      lhs_scale, rhs_scale: arrays of the operand's rank, whose sizes divide the operand's; none by default.
      dimension_numbers: as `dot_general` takes them; by default the product of two matrices.
      preferred_element_type: the dtype of sums and of the result; that of the operands by default.
    Returns: an array as `dot_general` gives.
    Raises:
      ValueError: the sizes of a scale do not divide those of its operand.
      TypeError: dtypes differ, or sizes do not go together.
    Differentiable: in operands and scales.
    Example:
      >>> lax.scaled_dot(jnp.ones((1, 2)), jnp.ones((2, 1)), lhs_scale=jnp.array([[2.0, 4.0]]))
      Array([[6.]], dtype=float32)
    """
    lhs, rhs = _scaled(lhs, lhs_scale, "lhs"), _scaled(rhs, rhs_scale, "rhs")
    if dimension_numbers is None:
        dimension_numbers = ((1,), (0,)), ((), ())
    return _l.dot_general(lhs, rhs, dimension_numbers, preferred_element_type=preferred_element_type)


def _scaled(x, scale, name):
    x = _n.asarray(x)
    if scale is None:
        return x
    scale = _n.asarray(scale)
    if scale.ndim != x.ndim or any(size % parts for size, parts in zip(x.shape, scale.shape)):
        raise _user_error(ValueError, f"scaled_dot {name}_scale of shape {scale.shape} does not divide {name} of shape {x.shape}")
    for axis, (size, parts) in enumerate(zip(x.shape, scale.shape)):
        scale = _n.repeat(scale, size // parts, axis=axis)
    return x * scale.astype(x.dtype)


def stage(x, /):
    """The value, where programs may be cut in stages; this engine has no such places.

    Args:
      x: array or number.
    Returns: the array of it.
    Differentiable: yes, linear.
    Example:
      >>> lax.stage(jnp.array([1, 2]))
      Array([1, 2], dtype=int32)
    """
    return _n.asarray(x)


__all__ = [
    "dce_sink", "fft", "index_take",
    "platform_dependent", "round", "scaled_dot", "scatter_apply", "shape_as_value",
    "stage",
]
for _name in __all__:
    globals()[_name].__module__ = "pullback.lax"
