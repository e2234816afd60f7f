"""Functions of the bits of elements: packing, and the parts of floating numbers."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback.custom_derivatives import custom_jvp as _custom_jvp

_n = _core.numpy

__all__ = ["frexp", "packbits", "spacing", "unpackbits"]

# Of each floating dtype: the unsigned integers of its width and the number of bits of its mantissa.
_LAYOUTS = {"float16": (_np.uint16, 10), "bfloat16": (_np.uint16, 7), "float32": (_np.uint32, 23), "float64": (_np.uint64, 52)}


def _layout(x, name):
    try:
        word, mantissa = _LAYOUTS[x.dtype.name]
    except KeyError:
        raise _user_error(NotImplementedError, f"jax.numpy.{name} of {x.dtype} is not implemented") from None
    return lax.bitcast_convert_type(x, word), mantissa, _np.dtype(word).itemsize * 8


def _real(name, x):
    (x,) = _n._promote_inexact(name, x)
    if x.dtype.kind == "c":
        raise _user_error(TypeError, f"{name} does not support complex-valued inputs")
    return x


def frexp(x, /):
    """The mantissa, of magnitude from 0.5 up to 1, and the exponent of 2 of each element: `x = mantissa *
    2**exponent`.
    0, infinities and NaN are their own mantissa with exponent 0; subnormal numbers count as 0.

    Args:
      x: a real array or number; integers and booleans become floating.
    Returns: a pair of arrays of the shape of `x`: mantissas of the floating dtype, and int32 exponents.
    Raises:
      TypeError: `x` is complex, or neither an array nor a number.
      NotImplementedError: a floating dtype of less than 16 bits.
    Differentiable: the mantissa, with derivative `2**-exponent`.
    Example:
      >>> mantissa, exponent = jnp.frexp(jnp.array([6.0, 0.0]))
      >>> print(mantissa, exponent)
      [0.75 0.  ] [3 0]
    """
    x = _real("frexp", x)
    bits, mantissa, width = _layout(x, "frexp")
    word = bits.dtype.type
    ones = (1 << (width - 1 - mantissa)) - 1
    biased = (bits >> word(mantissa)) & word(ones)
    halved = (bits & word(((1 << width) - 1) ^ (ones << mantissa))) | word((ones // 2 - 1) << mantissa)
    # Subnormal numbers count as 0, as everywhere on this device.
    is_plain = (biased != word(0)) & (biased != word(ones))
    exponent = biased.astype(_np.int32) - (ones // 2 - 1)
    is_zero = biased == word(0)
    rest = _n.where(is_zero, x * 0, x)
    exponent = _n.where(is_plain, exponent, 0)
    return _mantissa(x, _n.where(is_plain, lax.bitcast_convert_type(halved, x.dtype), rest), exponent), exponent


@_custom_jvp
def _mantissa(x, mantissa, exponent):
    return mantissa


@_mantissa.defjvp
def _mantissa_jvp(primals, tangents):
    """The exponent is constant almost everywhere, so the mantissa grows as `2**-exponent` times the element."""
    x, mantissa, exponent = primals
    slope = _n.exp2(-exponent.astype(x.dtype))
    return _mantissa(*primals), tangents[0] * slope


def spacing(x, /):
    """The distance of each element to the next floating number away from zero, with the element's sign; of
    float16 the next one above, without it.

    Args:
      x: a real array or number; integers and booleans become floating.
    Returns: an array of the shape of `x` and its floating dtype; NaN for infinities and NaN.
    Raises:
      TypeError: `x` is complex, or neither an array nor a number.
      NotImplementedError: a floating dtype of less than 16 bits.
    Differentiable: no; results are made of bits and have derivative 0.
    Example:
      >>> float(jnp.spacing(jnp.float32(1.0)) * 2**23)
      1.0
    """
    x = _real("spacing", x)
    if x.dtype == _np.float16:
        # NumPy's convention for these: the distance upwards.
        return lax.stop_gradient(lax.nextafter(x, _n.full_like(x, _np.inf)) - x)
    bits, mantissa, width = _layout(x, "spacing")
    word = bits.dtype.type
    ones = (1 << (width - 1 - mantissa)) - 1
    biased = (bits >> word(mantissa)) & word(ones)
    sign = bits & word(1 << (width - 1))
    is_normal = biased > word(mantissa)
    normal = _n.where(is_normal, biased - word(mantissa), word(0)) << word(mantissa)
    shift = _n.where(biased > word(0), biased - word(1), word(0))
    subnormal = word(1) << _n.where(is_normal, word(0), shift)
    found = lax.bitcast_convert_type(sign | _n.where(is_normal, normal, subnormal), x.dtype)
    return _n.where(biased == word(ones), _np.array(_np.nan, x.dtype), found)


def _bit_order(bitorder):
    if bitorder not in ("little", "big"):
        raise _user_error(ValueError, "'order' must be either 'little' or 'big'")
    bits = _np.arange(8, dtype=_np.uint8)
    return bits[::-1] if bitorder == "big" else bits


def packbits(a, axis=None, bitorder="big"):
    """Eight elements at a time as the bits of a byte; elements that differ from 0 count as 1.

    Args:
      a: integers or booleans.
      axis: the axis along which to pack; None (the default) packs the flat array.
      bitorder: 'big' (the default) if the first element is the highest bit, else 'little'.
    Returns: uint8; the axis is an eighth as long, rounded up, missing bits being 0.
    Raises:
      TypeError: elements that are neither integers nor booleans.
      ValueError: another `bitorder`.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.packbits(jnp.array([1, 0, 1])))
      [160]
    """
    (a,) = _n._promote("packbits", a)
    if a.dtype.kind not in "iub":
        raise _user_error(TypeError, "Expected an input array of integer or boolean data type")
    shifts = _bit_order(bitorder)
    bits = (a != 0).astype(_np.uint8)
    if axis is None:
        bits, axis = _n.ravel(bits), 0
    bits = _n.moveaxis(bits, axis, -1)
    missing = -bits.shape[-1] % 8
    if missing:
        bits = _n.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
    bits = bits.reshape(*bits.shape[:-1], bits.shape[-1] // 8, 8)
    packed = (bits << shifts).sum(-1).astype(_np.uint8)
    return _n.moveaxis(packed, -1, axis)


def unpackbits(a, axis=None, count=None, bitorder="big"):
    """The bits of bytes as elements 0 and 1.

    Args:
      a: uint8 elements.
      axis: the axis along which bits go; None (the default) unpacks the flat array.
      count: how many bits to give: fewer are cut off, missing ones are 0; a negative number is cut off the end.
      bitorder: 'big' (the default) if the highest bit comes first, else 'little'.
    Returns: uint8; the axis is eight times as long, or `count`.
    Raises:
      TypeError: elements that are no bytes.
      ValueError: another `bitorder`.
    Differentiable: no; the result is an integer.
    Example:
      >>> print(jnp.unpackbits(jnp.array([160], jnp.uint8), count=3))
      [1 0 1]
    """
    (a,) = _n._promote("unpackbits", a)
    if a.dtype != _np.uint8:
        raise _user_error(TypeError, "Expected an input array of unsigned byte data type")
    shifts = _bit_order(bitorder)
    if axis is None:
        a, axis = _n.ravel(a), 0
    a = _n.moveaxis(a, axis, -1)
    bits = (a[..., None] >> shifts) & _np.uint8(1)
    bits = bits.reshape(*a.shape[:-1], a.shape[-1] * 8)
    if count is not None:
        missing = count - bits.shape[-1]
        if missing > 0:
            bits = _n.pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, missing)])
        bits = bits[..., :count]
    return _n.moveaxis(bits, -1, axis)


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
