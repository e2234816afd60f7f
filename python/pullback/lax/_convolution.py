"""Convolutions: arguments to the primitive's, and the functions that are special cases.

Padding names become numbers and letters become axes here; the primitive does the rest.
"""

import operator

import numpy as np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.lax._records import ConvDimensionNumbers

_n = _core.numpy


def _primitive(name):
    return _core.find_primitive(name)


def padtype_to_pads(in_shape, window_shape, window_strides, padding):
    """Numbers of elements before and after, for each axis, that a name of padding means.

    Args:
      in_shape: sizes of the padded axes.
      window_shape: sizes of the window.
      window_strides: its steps.
      padding: 'VALID' is none, 'SAME' as many as give one window for each stride, the odd one at the end;
        'SAME_LOWER' has it at the start.
    Returns: a list of pairs of integers.
    Raises:
      RuntimeError: the name is none of these.
      ValueError: there is not one size, window and stride for each axis.
    Differentiable: no, sizes are integers.
    Example:
      >>> lax.padtype_to_pads((5,), (3,), (2,), "SAME")
      [(1, 1)]
    """
    kind = padding.upper() if isinstance(padding, str) else getattr(padding, "name", str(padding))
    if kind not in ("VALID", "SAME", "SAME_LOWER"):
        raise _user_error(RuntimeError, f"Unrecognized padding type: expected 'VALID', 'SAME', or 'SAME_LOWER', got {padding}.")
    if kind == "VALID":
        return [(0, 0)] * len(in_shape)
    pads = []
    for size, window, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = max((-(-size // stride) - 1) * stride + window - size, 0)
        low = total - total // 2 if kind == "SAME_LOWER" else total // 2
        pads.append((int(low), int(total - low)))
    return pads


def conv_general_permutations(dimension_numbers):
    """Positions of batch (out features), features and space that three strings of letters name.

    Args:
      dimension_numbers: letters of the axes of operand, kernel and result, such as `("NHWC", "HWIO", "NHWC")`.
    Returns: three tuples: batch, features, space of the operand; out features, in features, space of the kernel; batch,
      features, space of the result; space in the order of the kernel.
    Raises:
      TypeError: a letter occurs twice, N and C (O and I) are not there, or letters of space differ.
    Differentiable: no, positions are integers.
    Example:
      >>> lax.conv_general_permutations(("NHWC", "HWIO", "NHWC"))
      ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    """
    pairs = ("N", "C"), ("O", "I"), ("N", "C")
    for position, (spec, pair) in enumerate(zip(dimension_numbers, pairs)):
        if len(set(spec)) != len(spec):
            raise _user_error(TypeError, f"convolution dimension_numbers[{position}] cannot have duplicate characters, got {spec}.")
        if any(spec.count(letter) != 1 for letter in pair):
            raise _user_error(
                TypeError,
                f"convolution dimension_numbers[{position}] must contain the characters '{pair[0]}' and '{pair[1]}' exactly once, "
                f"got {spec}."
            )
    lhs, rhs, out = ([letter for letter in spec if letter not in pair] for spec, pair in zip(dimension_numbers, pairs))
    if not set(lhs) == set(rhs) == set(out):
        raise _user_error(
            TypeError,
            "convolution dimension_numbers elements must each have the same set of spatial characters, got "
            f"{dimension_numbers}."
        )
    return tuple(
        (spec.index(pair[0]), spec.index(pair[1]), *(spec.index(letter) for letter in rhs))
        for spec, pair in zip(dimension_numbers, pairs)
    )


def conv_dimension_numbers(lhs_shape, rhs_shape, dimension_numbers):
    """Which axes of operand, kernel and result of a convolution are what.

    Args:
      lhs_shape: the shape of the operand.
      rhs_shape: the shape of the kernel.
      dimension_numbers: None for batch, features, space; three strings such as `("NHWC", "HWIO", "NHWC")`; or a
        `ConvDimensionNumbers`, which is given back.
    Returns: a `ConvDimensionNumbers`, of three tuples of positions.
    Raises:
      TypeError: ranks differ, or the strings are not three, have another length or do not name axes as they should.
    Differentiable: no, positions are integers.
    Example:
      >>> lax.conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ("NHWC", "HWIO", "NHWC")).rhs_spec
      (3, 2, 0, 1)
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    if len(lhs_shape) != len(rhs_shape):
        raise _user_error(TypeError, f"convolution requires lhs and rhs ndim to be equal, got {len(lhs_shape)} and {len(rhs_shape)}.")
    rank = len(lhs_shape)
    if dimension_numbers is None:
        return ConvDimensionNumbers(*(tuple(range(rank)),) * 3)
    if not isinstance(dimension_numbers, (list, tuple)):
        raise _user_error(TypeError, f"convolution dimension_numbers must be tuple/list or None, got {type(dimension_numbers)}.")
    if len(dimension_numbers) != 3:
        raise _user_error(TypeError, f"convolution dimension_numbers list/tuple must be length 3, got {len(dimension_numbers)}.")
    if not all(isinstance(spec, str) for spec in dimension_numbers):
        raise _user_error(TypeError, f"convolution dimension_numbers elements must be strings, got {tuple(map(type, dimension_numbers))}.")
    for position, spec in enumerate(dimension_numbers):
        if len(spec) != rank:
            raise _user_error(TypeError, f"convolution dimension_numbers[{position}] must have len equal to the ndim of lhs and rhs, got {len(spec)} for lhs and rhs shapes {lhs_shape} and {rhs_shape}.")
    return ConvDimensionNumbers(*conv_general_permutations(dimension_numbers))


def _dilated(size, by):
    return 0 if size == 0 else (size - 1) * by + 1


def _take(shape, axes):
    return tuple(shape[axis] for axis in axes)


def conv_general_dilated(
    lhs, rhs, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None, feature_group_count=1,
    batch_group_count=1, precision=None, preferred_element_type=None, out_sharding=None,
):
    """Convolution of any number of spatial axes: sums of products over windows of `lhs`, without turning the kernel.

    Args:
      lhs: [N, C, space...] in the order of `dimension_numbers`.
      rhs: the kernel, [O, C / feature_group_count, window...], of the same dtype.
      window_strides: steps of the window, one for each spatial axis.
      padding: 'SAME', 'SAME_LOWER', 'VALID', or pairs of numbers before and after, negative to crop.
      lhs_dilation, rhs_dilation: distances of the elements of the operand and of the kernel; 1 by default.
      dimension_numbers: three strings, such as `("NHWC", "HWIO", "NHWC")`; batch, features, space by default.
      feature_group_count: groups of features that do not mix.
      batch_group_count: groups of the batch, each with features of its own.
      precision: None, a word such as 'highest', a `Precision` or a pair of them; for accelerators.
      preferred_element_type: dtype of the result and of sums; that of the operands by default.
      out_sharding: how the result is split over devices: a `NamedSharding`, or a spec on the mesh of the context.
    Returns: [N / batch_group_count, O, places...] in the order of `dimension_numbers`.
    Raises:
      TypeError: ranks or dtypes of the operands differ, or `dimension_numbers` or the number of pads do not fit.
      ValueError: strides, groups or sizes do not fit. RuntimeError: the padding has an unknown name.
    Differentiable: in both operands, bilinear.
    Example:
      >>> lax.conv_general_dilated(jnp.arange(4.0).reshape(1, 1, 4), jnp.ones((1, 1, 2)), (1,), "VALID").ravel()
      Array([1., 3., 5.], dtype=float32)
    """
    lhs, rhs = _n.asarray(lhs), _n.asarray(rhs)
    dims = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    n = lhs.ndim - 2
    if lhs.ndim != rhs.ndim:
        raise _user_error(TypeError, f"convolution requires lhs and rhs ndim to be equal, got {lhs.ndim} and {rhs.ndim}.")
    strides = tuple(map(operator.index, window_strides))
    if len(strides) != n:
        raise _user_error(
            ValueError,
            f"conv_general_dilated window and window_strides must have the same number of dimensions, but got {n} and {len(strides)}"
        )
    lhs_dilation = (1,) * n if lhs_dilation is None else tuple(map(operator.index, lhs_dilation))
    rhs_dilation = (1,) * n if rhs_dilation is None else tuple(map(operator.index, rhs_dilation))
    if isinstance(padding, str):
        window = [_dilated(size, by) for size, by in zip(_take(rhs.shape, dims.rhs_spec)[2:], rhs_dilation)]
        padding = padtype_to_pads(_take(lhs.shape, dims.lhs_spec)[2:], window, strides, padding)
    try:
        padding = tuple((operator.index(low), operator.index(high)) for low, high in padding)
    except (ValueError, TypeError):
        raise _user_error(
            ValueError,
            f"padding argument to conv_general_dilated should be a string or a sequence of (low, high) pairs, got {padding}"
        ) from None
    if len(padding) != n:
        raise _user_error(TypeError, f"Wrong number of explicit pads for convolution: expected {n}, got {len(padding)}.")
    preferred = None if preferred_element_type is None else _n.result_type(preferred_element_type)
    convolved = lambda: _primitive("conv_general_dilated").bind(  # noqa: E731
        lhs, rhs, window_strides=strides, padding=padding, lhs_dilation=lhs_dilation, rhs_dilation=rhs_dilation,
        dimension_numbers=tuple(map(tuple, dims)), feature_group_count=operator.index(feature_group_count),
        batch_group_count=operator.index(batch_group_count), precision=_core.precision_param(precision),
        preferred_element_type=preferred, out_sharding=None,
    )
    return convolved() if out_sharding is None else _core.split_call("conv_general_dilated", out_sharding, convolved)


def conv(lhs, rhs, window_strides, padding, precision=None, preferred_element_type=None):
    """Convolution of batch, features, space; see `conv_general_dilated`.

    Args:
      lhs: [N, C, space...].
      rhs: the kernel, [O, C, window...], of the same dtype.
      window_strides: steps of the window, one for each spatial axis.
      padding: 'SAME', 'SAME_LOWER', 'VALID', or pairs of numbers before and after.
      precision: None, a word such as 'highest', a `Precision` or a pair of them; for accelerators.
      preferred_element_type: dtype of the result and of sums; that of the operands by default.
    Returns: [N, O, places...].
    Raises:
      TypeError: ranks or dtypes differ. ValueError: strides or sizes do not fit. RuntimeError: an unknown name of
        padding.
    Differentiable: in both operands, bilinear.
    Example:
      >>> lax.conv(jnp.arange(4.0).reshape(1, 1, 4), jnp.ones((1, 1, 2)), (2,), "VALID")
      Array([[[1., 5.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, precision=precision, preferred_element_type=preferred_element_type
    )


def conv_with_general_padding(
    lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=None, preferred_element_type=None
):
    """Convolution of batch, features, space with dilations; see `conv_general_dilated`.

    Args:
      lhs: [N, C, space...].
      rhs: the kernel, [O, C, window...], of the same dtype.
      window_strides: steps of the window, one for each spatial axis.
      padding: 'SAME', 'SAME_LOWER', 'VALID', or pairs of numbers before and after.
      lhs_dilation, rhs_dilation: distances of the elements of the operand and of the kernel; None for 1.
      precision: None, a word such as 'highest', a `Precision` or a pair of them; for accelerators.
      preferred_element_type: dtype of the result and of sums; that of the operands by default.
    Returns: [N, O, places...].
    Raises:
      TypeError: ranks or dtypes differ. ValueError: strides or sizes do not fit. RuntimeError: an unknown name of
        padding.
    Differentiable: in both operands, bilinear.
    Example:
      >>> lax.conv_with_general_padding(jnp.arange(4.0).reshape(1, 1, 4), jnp.ones((1, 1, 2)), (1,), [(1, 0)], None, (2,))
      Array([[[1., 2., 4.]]], dtype=float32)
    """
    return conv_general_dilated(
        lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, precision=precision,
        preferred_element_type=preferred_element_type,
    )


def _transpose_padding(window, stride, padding):
    if padding == "SAME":
        total = window + stride - 2
        low = window - 1 if stride > window - 1 else -(-total // 2)
    elif padding == "VALID":
        total = window + stride - 2 + max(window - stride, 0)
        low = window - 1
    else:
        raise _user_error(ValueError, "Padding mode must be `SAME` or `VALID`.")
    return low, total - low


def conv_transpose(
    lhs, rhs, strides, padding, rhs_dilation=None, dimension_numbers=None, transpose_kernel=False, precision=None,
    preferred_element_type=None, use_consistent_padding=False,
):
    """Convolution with a fractional stride, such as the derivative of a convolution in its operand.

    Args:
      lhs: the operand, with batch, space, features in the order of `dimension_numbers`; its elements lie `strides`
        apart.
      rhs: the kernel, of the same dtype.
      strides: by how much the operand grows, one for each spatial axis.
      padding: 'SAME' for sizes times the strides, 'VALID' for all that the kernel reaches, or pairs of numbers before
        and after.
      rhs_dilation: distances of the elements of the kernel; 1 by default.
      dimension_numbers: three strings; for up to three spatial axes such as `("NHWC", "HWIO", "NHWC")` by default.
      transpose_kernel: whether the kernel is turned and its features exchanged, so that this is the transpose of a
        convolution with it.
      precision: None, a word such as 'highest', a `Precision` or a pair of them; for accelerators.
      preferred_element_type: dtype of the result and of sums; that of the operands by default.
      use_consistent_padding: whether pairs are those of the convolution whose transpose this is.
    Returns: an array of batch, space, out features in the order of `dimension_numbers`.
    Raises:
      ValueError: ranks differ, the name of the padding is unknown, or there are more than three spatial axes without
        numbers.
      TypeError: dtypes differ.
    Differentiable: in both operands, bilinear.
    Example:
      >>> lax.conv_transpose(jnp.ones((1, 2, 1)), jnp.array([1.0, 2.0]).reshape(2, 1, 1), (2,), "VALID").ravel()
      Array([2., 1., 2., 1.], dtype=float32)
    """
    if len(lhs.shape) != len(rhs.shape) or len(lhs.shape) < 2:
        raise _user_error(ValueError, "conv_transpose: lhs and rhs must have the same number of dimensions, at least 2.")
    n = len(lhs.shape) - 2
    if dimension_numbers is None:
        letters = {0: "", 1: "H", 2: "HW", 3: "HWD"}.get(n)
        if letters is None:
            raise _user_error(ValueError, "No 4+ dimensional dimension_number defaults.")
        dimension_numbers = (f"N{letters}C", f"{letters}IO", f"N{letters}C")
    dims = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    window = _take(rhs.shape, dims.rhs_spec)[2:]
    rhs_dilation = (1,) * n if rhs_dilation is None else tuple(rhs_dilation)
    dilated = [_dilated(size, by) for size, by in zip(window, rhs_dilation)]
    if isinstance(padding, str):
        pads = [_transpose_padding(size, stride, padding) for size, stride in zip(dilated, strides)]
    elif use_consistent_padding:
        pads = [(size - 1 - low, size - 1 - high) for size, (low, high) in zip(dilated, padding)]
    else:
        pads = padding
    if transpose_kernel:
        rhs = _n.swapaxes(_n.flip(rhs, dims.rhs_spec[2:]), dims.rhs_spec[0], dims.rhs_spec[1])
    return conv_general_dilated(
        lhs, rhs, (1,) * n, pads, strides, rhs_dilation, dims, precision=precision, preferred_element_type=preferred_element_type
    )


def conv_general_dilated_patches(
    lhs, filter_shape, window_strides, padding, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None, precision=None,
    preferred_element_type=None,
):
    """The windows of an array themselves, as features: those of one feature together, in row-major order.

    Args:
      lhs: [N, C, space...] in the order of `dimension_numbers`, of any dtype.
      filter_shape: sizes of the window.
      window_strides: its steps, one for each spatial axis.
      padding: 'SAME', 'SAME_LOWER', 'VALID', or pairs of numbers before and after.
      lhs_dilation, rhs_dilation: distances of the elements of the operand and of the window; 1 by default.
      dimension_numbers: three strings; batch, features, space by default.
      precision: None, a word such as 'highest', a `Precision` or a pair of them; for accelerators.
      preferred_element_type: dtype of the result; that of `lhs` by default.
    Returns: [N, C * window size, places...] in the order of `dimension_numbers`.
    Raises:
      TypeError: `dimension_numbers` or the number of pads do not fit. ValueError: strides do not fit.
      RuntimeError: the padding has an unknown name.
    Differentiable: yes, linear.
    Example:
      >>> lax.conv_general_dilated_patches(jnp.arange(4.0).reshape(1, 1, 4), (2,), (1,), "VALID")
      Array([[[0., 1., 2.],
              [1., 2., 3.]]], dtype=float32)
    """
    lhs = _n.asarray(lhs)
    if lhs.dtype == bool:
        # Numbers 0 and 1, since booleans have no products.
        numbers = conv_general_dilated_patches(
            lhs.astype("int8"), filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers
        )
        return numbers.astype(bool if preferred_element_type is None else preferred_element_type)
    filter_shape = tuple(filter_shape)
    dims = conv_dimension_numbers(lhs.shape, (1, 1) + filter_shape, dimension_numbers)
    size = int(np.prod(filter_shape))
    n_features = lhs.shape[dims.lhs_spec[1]]
    kernel = _n.eye(size, dtype=lhs.dtype).reshape((size, 1) + filter_shape)
    kernel = _n.moveaxis(_n.tile(kernel, (n_features,) + (1,) * (kernel.ndim - 1)), range(kernel.ndim), dims.rhs_spec)
    return conv_general_dilated(
        lhs, kernel, window_strides, padding, lhs_dilation, rhs_dilation, dims, n_features, precision=precision,
        preferred_element_type=preferred_element_type,
    )


def conv_general_dilated_local(
    lhs, rhs, window_strides, padding, filter_shape, lhs_dilation=None, rhs_dilation=None, dimension_numbers=None, precision=None
):
    """Convolution with a kernel of its own at each place.

    Args:
      lhs: [N, C, space...] in the order of `dimension_numbers`.
      rhs: the kernels, [O, C * window size, places...], of the same dtype.
      window_strides: steps of the window, one for each spatial axis.
      padding: 'SAME', 'SAME_LOWER', 'VALID', or pairs of numbers before and after.
      filter_shape: sizes of the window.
      lhs_dilation, rhs_dilation: distances of the elements of the operand and of the window; 1 by default.
      dimension_numbers: three strings; batch, features, space by default.
      precision: None, a word such as 'highest', a `Precision` or a pair of them; for accelerators.
    Returns: [N, O, places...] in the order of `dimension_numbers`.
    Raises:
      TypeError: dtypes or sizes do not go together, or `dimension_numbers` do not fit. ValueError: strides do not fit.
      RuntimeError: the padding has an unknown name.
    Differentiable: in both operands, bilinear.
    Example:
      >>> kernels = jnp.array([[[1.0, 0.0], [0.0, 1.0]]])
      >>> lax.conv_general_dilated_local(jnp.arange(3.0).reshape(1, 1, 3), kernels, (1,), "VALID", (2,))
      Array([[[0., 2.]]], dtype=float32)
    """
    lhs, rhs = _n.asarray(lhs), _n.asarray(rhs)
    dims = conv_dimension_numbers(lhs.shape, rhs.shape, dimension_numbers)
    patches = conv_general_dilated_patches(
        lhs, filter_shape, window_strides, padding, lhs_dilation, rhs_dilation, dims, precision
    )
    axes = (((dims.out_spec[1],), (dims.rhs_spec[1],)), (dims.out_spec[2:], dims.rhs_spec[2:]))
    out = _core.lax.dot_general(patches, rhs, axes, precision)
    n = lhs.ndim - 2
    return _n.moveaxis(out, range(lhs.ndim), (*dims.out_spec[2:], dims.out_spec[0], dims.out_spec[1])) if n else out


def conv_shape_tuple(lhs_shape, rhs_shape, strides, pads, batch_group_count=1):
    """The shape of a convolution of batch, features, space.

    Args:
      lhs_shape: the shape of the operand, [N, C, space...].
      rhs_shape: the shape of the kernel, [O, C, window...], its dilation counted.
      strides: steps of the window.
      pads: 'SAME', 'SAME_LOWER', 'VALID', or pairs of numbers before and after.
      batch_group_count: groups of the batch.
    Returns: a tuple of integers, `(N / batch_group_count, O, places...)`.
    Raises:
      TypeError: there is not one pair for each spatial axis. RuntimeError: the padding has an unknown name.
    Differentiable: no, sizes are integers.
    Example:
      >>> lax.conv_shape_tuple((1, 3, 8, 8), (4, 3, 3, 3), (2, 2), "SAME")
      (1, 4, 4, 4)
    """
    if isinstance(pads, str):
        pads = padtype_to_pads(lhs_shape[2:], rhs_shape[2:], strides, pads)
    if len(pads) != len(lhs_shape) - 2:
        raise _user_error(TypeError, f"Wrong number of explicit pads for convolution: expected {len(lhs_shape) - 2}, got {len(pads)}.")
    places = tuple(
        max((size + low + high - window) // stride + 1, 0)
        for size, window, stride, (low, high) in zip(lhs_shape[2:], rhs_shape[2:], strides, pads)
    )
    return (lhs_shape[0] // batch_group_count, rhs_shape[0], *places)


def conv_general_shape_tuple(lhs_shape, rhs_shape, window_strides, padding, dimension_numbers):
    """The shape of a convolution whose axes are named by letters.

    Args:
      lhs_shape: the shape of the operand.
      rhs_shape: the shape of the kernel, its dilation counted.
      window_strides: steps of the window.
      padding: 'SAME', 'SAME_LOWER', 'VALID', or pairs of numbers before and after.
      dimension_numbers: three strings such as `("NHWC", "HWIO", "NHWC")`.
    Returns: a tuple of integers, in the order of the third string.
    Raises:
      TypeError: the strings do not name axes as they should, or pads do not fit. RuntimeError: an unknown name of
        padding.
    Differentiable: no, sizes are integers.
    Example:
      >>> lax.conv_general_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2, 2), "SAME", ("NHWC", "HWIO", "NHWC"))
      (1, 4, 4, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    shape = conv_shape_tuple(_take(lhs_shape, lhs), _take(rhs_shape, rhs), window_strides, padding)
    return _take(shape, np.argsort(out))


def conv_transpose_shape_tuple(lhs_shape, rhs_shape, window_strides, padding, dimension_numbers):
    """The shape of a transposed convolution whose axes are named by letters.

    Args:
      lhs_shape: the shape of the operand.
      rhs_shape: the shape of the kernel, its dilation counted.
      window_strides: by how much the operand grows.
      padding: 'SAME', 'VALID', or pairs of numbers before and after.
      dimension_numbers: three strings such as `("NHWC", "HWIO", "NHWC")`.
    Returns: a tuple of integers, in the order of the third string.
    Raises:
      TypeError: the strings do not name axes as they should. ValueError: the padding has an unknown name.
    Differentiable: no, sizes are integers.
    Example:
      >>> lax.conv_transpose_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2, 2), "SAME", ("NHWC", "HWIO", "NHWC"))
      (1, 16, 16, 4)
    """
    lhs, rhs, out = conv_general_permutations(dimension_numbers)
    x, w = _take(lhs_shape, lhs), _take(rhs_shape, rhs)
    if isinstance(padding, str):
        padding = [_transpose_padding(size, stride, padding) for size, stride in zip(w[2:], window_strides)]
    places = tuple(
        _dilated(size, stride) + low + high - window + 1
        for size, window, stride, (low, high) in zip(x[2:], w[2:], window_strides, padding)
    )
    return _take((x[0], w[0], *places), np.argsort(out))


__all__ = [
    "conv", "conv_dimension_numbers", "conv_general_dilated", "conv_general_dilated_local", "conv_general_dilated_patches",
    "conv_general_permutations", "conv_general_shape_tuple", "conv_shape_tuple", "conv_transpose", "conv_transpose_shape_tuple",
    "conv_with_general_padding", "padtype_to_pads",
]
for _name in __all__:
    globals()[_name].__module__ = "pullback.lax"
