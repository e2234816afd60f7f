//! Functions of the bits of elements: packing, and the parts of floating numbers.

use pullback_base::{Array, DType, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::parts::{flat, moved, over, shaped};
use super::where_;
use crate::convert::{int_literal, literal, weak_int};
use crate::custom::CustomJvp;
use crate::indexing::{IndexItem, getitem};
use crate::lax;
use crate::promotion::promote_inexact;

/// Of a floating dtype: the unsigned integers of its width, and the number of bits of its mantissa.
#[derive(Clone, Copy)]
struct Layout {
    word: DType,
    mantissa: u32,
}

impl Layout {
    fn of(name: &str, dtype: DType) -> Result<Layout> {
        let (word, mantissa) = match dtype {
            DType::F16 => (DType::U16, 10),
            DType::BF16 => (DType::U16, 7),
            DType::F32 => (DType::U32, 23),
            DType::F64 => (DType::U64, 52),
            other => bail!(NotImplemented, "jax.numpy.{name} of {other} is not implemented"),
        };
        Ok(Layout { word, mantissa })
    }

    fn width(self) -> u32 {
        self.word.bits()
    }

    /// The greatest exponent, which infinities and NaN have.
    fn ones(self) -> i128 {
        (1 << (self.width() - 1 - self.mantissa)) - 1
    }

    fn number(self, value: i128) -> Val {
        int_literal(self.word, value)
    }

    /// The exponent, counted from that of the smallest numbers.
    fn exponent(self, bits: &Val) -> Result<Val> {
        let shifted = super::right_shift(bits, &self.number(self.mantissa.into()))?;
        super::bitwise_and(&shifted, &self.number(self.ones()))
    }
}

fn real(name: &str, x: &Val) -> Result<Val> {
    let x = promote_inexact(std::slice::from_ref(x))?.swap_remove(0);
    if x.aval().dtype.is_complex() {
        bail!(Type, "{name} does not support complex-valued inputs");
    }
    Ok(x)
}

/// The mantissa, of magnitude from 0.5 up to 1, and the exponent of 2 of each element: `x = mantissa *
/// 2**exponent`.
/// 0, infinities and NaN are their own mantissa with exponent 0; subnormal numbers count as 0.
///
/// Args:
///   x: a real array or number; integers and booleans become floating.
/// Returns: a pair of arrays of the shape of `x`: mantissas of the floating dtype, and int32 exponents.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
///   NotImplementedError: a floating dtype of less than 16 bits.
/// Differentiable: the mantissa, with derivative `2**-exponent`.
/// Example:
///   >>> mantissa, exponent = jnp.frexp(jnp.array([6.0, 0.0]))
///   >>> print(mantissa, exponent)
///   [0.75 0.  ] [3 0]
#[public("numpy.frexp(x, /)")]
pub fn frexp(x: &Val) -> Result<(Val, Val)> {
    static MANTISSA: CustomJvp = CustomJvp::new("_mantissa", mantissa, "_mantissa_jvp", mantissa_tangent);
    let x = real("frexp", x)?;
    let dtype = x.aval().dtype;
    let layout = Layout::of("frexp", dtype)?;
    let bits = lax::bitcast_convert_type(&x, layout.word)?;
    let (ones, zero) = (layout.ones(), layout.number(0));
    let biased = layout.exponent(&bits)?;
    let all = (1i128 << layout.width()) - 1;
    let kept = super::bitwise_and(&bits, &layout.number(all ^ (ones << layout.mantissa)))?;
    let halved = super::bitwise_or(&kept, &layout.number((ones / 2 - 1) << layout.mantissa))?;
    // Subnormal numbers count as 0, as everywhere on this device.
    let is_plain =
        super::bitwise_and(&super::not_equal(&biased, &zero)?, &super::not_equal(&biased, &layout.number(ones))?)?;
    let exponent = super::subtract(&super::astype(&biased, DType::I32)?, &weak_int((ones / 2 - 1) as i64))?;
    let rest = where_(&super::equal(&biased, &zero)?, &super::multiply(&x, &weak_int(0))?, &x)?;
    let exponent = where_(&is_plain, &exponent, &weak_int(0))?;
    let value = where_(&is_plain, &lax::bitcast_convert_type(&halved, dtype)?, &rest)?;
    Ok((MANTISSA.call(&[x, value, exponent.clone()])?, exponent))
}

fn mantissa(args: &[Val]) -> Result<Val> {
    Ok(args[1].clone())
}

/// The exponent is constant almost everywhere, so the mantissa grows as `2**-exponent` times the element.
fn mantissa_tangent(_: &Val, args: &[Val], tangents: &[Option<Val>]) -> Result<Option<Val>> {
    let Some(t) = &tangents[0] else { return Ok(None) };
    let exponent = super::astype(&args[2], args[0].aval().dtype)?;
    super::multiply(t, &super::exp2(&super::negative(&exponent)?)?).map(Some)
}

/// The distance of each element to the next floating number away from zero, with the element's sign; of
/// float16 the next one above, without it.
///
/// Args:
///   x: a real array or number; integers and booleans become floating.
/// Returns: an array of the shape of `x` and its floating dtype; NaN for infinities and NaN.
/// Raises:
///   TypeError: `x` is complex, or neither an array nor a number.
///   NotImplementedError: a floating dtype of less than 16 bits.
/// Differentiable: no; results are made of bits and have derivative 0.
/// Example:
///   >>> float(jnp.spacing(jnp.float32(1.0)) * 2**23)
///   1.0
#[public("numpy.spacing(x, /)")]
pub fn spacing(x: &Val) -> Result<Val> {
    let x = real("spacing", x)?;
    let dtype = x.aval().dtype;
    if dtype == DType::F16 {
        // NumPy's convention for these: the distance upwards.
        let above = lax::nextafter(&x, &lax::full_like(&x, f64::INFINITY)?)?;
        return lax::stop_gradient(&super::subtract(&above, &x)?);
    }
    let layout = Layout::of("spacing", dtype)?;
    let bits = lax::bitcast_convert_type(&x, layout.word)?;
    let (zero, one, mantissa) = (layout.number(0), layout.number(1), layout.number(layout.mantissa.into()));
    let biased = layout.exponent(&bits)?;
    let sign = super::bitwise_and(&bits, &layout.number(1 << (layout.width() - 1)))?;
    let is_normal = super::greater(&biased, &mantissa)?;
    let normal = where_(&is_normal, &super::subtract(&biased, &mantissa)?, &zero)?;
    let normal = super::left_shift(&normal, &mantissa)?;
    let shift = where_(&super::greater(&biased, &zero)?, &super::subtract(&biased, &one)?, &zero)?;
    let subnormal = super::left_shift(&one, &where_(&is_normal, &zero, &shift)?)?;
    let found = super::bitwise_or(&sign, &where_(&is_normal, &normal, &subnormal)?)?;
    let found = lax::bitcast_convert_type(&found, dtype)?;
    where_(&super::equal(&biased, &layout.number(layout.ones()))?, &literal(dtype, f64::NAN), &found)
}

/// The place of each bit of a byte.
fn bit_order(bitorder: &str) -> Result<Val> {
    let mut shifts: Vec<i64> = (0..8).collect();
    match bitorder {
        "little" => {}
        "big" => shifts.reverse(),
        _ => bail!(Value, "'order' must be either 'little' or 'big'"),
    }
    let shifts = shifts.into_iter().map(|shift| Scalar::int(DType::U8, shift.into()));
    Ok(Val::Array(Array::from_scalars(&[8], DType::U8, shifts)))
}

/// The array with the axis last, or flat; and that axis.
fn axis_last(x: &Val, axis: Option<i64>) -> Result<(Val, i64)> {
    match axis {
        None => Ok((flat(x)?, 0)),
        Some(axis) => Ok((moved(x, axis, -1)?, axis)),
    }
}

/// Zeros behind the last axis.
fn padded(x: &Val, missing: usize) -> Result<Val> {
    let mut widths = vec![(0, 0); x.aval().rank()];
    *widths.last_mut().expect("an axis") = (0, missing as i64);
    super::pad(x, &widths, super::PadMode::Constant, &weak_int(0))
}

/// Eight elements at a time as the bits of a byte; elements that differ from 0 count as 1.
///
/// Args:
///   a: integers or booleans.
///   axis: the axis along which to pack; None (the default) packs the flat array.
///   bitorder: 'big' (the default) if the first element is the highest bit, else 'little'.
/// Returns: uint8; the axis is an eighth as long, rounded up, missing bits being 0.
/// Raises:
///   TypeError: elements that are neither integers nor booleans.
///   ValueError: another `bitorder`.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.packbits(jnp.array([1, 0, 1])))
///   [160]
#[public("numpy.packbits(a, axis=None, bitorder='big')")]
pub fn packbits(a: &Val, axis: Option<i64>, bitorder: &str) -> Result<Val> {
    let dtype = a.aval().dtype;
    if !dtype.is_integer() && dtype != DType::Bool {
        bail!(Type, "Expected an input array of integer or boolean data type");
    }
    let shifts = bit_order(bitorder)?;
    let bits = super::astype(&super::not_equal(a, &weak_int(0))?, DType::U8)?;
    let (mut bits, axis) = axis_last(&bits, axis)?;
    let mut shape = bits.aval().shape.to_vec();
    let size = shape.pop().expect("an axis");
    let missing = size.div_ceil(8) * 8 - size;
    if missing > 0 {
        bits = padded(&bits, missing)?;
    }
    shape.extend([size.div_ceil(8), 8]);
    let bits = super::left_shift(&shaped(&bits, &shape)?, &shifts)?;
    let packed = super::astype(&super::sum(&bits, &over(-1, false))?, DType::U8)?;
    moved(&packed, -1, axis)
}

/// The bits of bytes as elements 0 and 1.
///
/// Args:
///   a: uint8 elements.
///   axis: the axis along which bits go; None (the default) unpacks the flat array.
///   count: how many bits to give: fewer are cut off, missing ones are 0; a negative number is cut off the end.
///   bitorder: 'big' (the default) if the highest bit comes first, else 'little'.
/// Returns: uint8; the axis is eight times as long, or `count`.
/// Raises:
///   TypeError: elements that are no bytes.
///   ValueError: another `bitorder`.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.unpackbits(jnp.array([160], jnp.uint8), count=3))
///   [1 0 1]
#[public("numpy.unpackbits(a, axis=None, count=None, bitorder='big')")]
pub fn unpackbits(a: &Val, axis: Option<i64>, count: Option<i64>, bitorder: &str) -> Result<Val> {
    if a.aval().dtype != DType::U8 {
        bail!(Type, "Expected an input array of unsigned byte data type");
    }
    let shifts = bit_order(bitorder)?;
    let (bytes, axis) = axis_last(a, axis)?;
    let mut shape = bytes.aval().shape.to_vec();
    let bytes = getitem(&bytes, &[IndexItem::Ellipsis, IndexItem::NewAxis])?;
    let bits = super::bitwise_and(&super::right_shift(&bytes, &shifts)?, &int_literal(DType::U8, 1))?;
    let size = shape.pop().expect("an axis") * 8;
    shape.push(size);
    let mut bits = shaped(&bits, &shape)?;
    if let Some(count) = count {
        if count > size as i64 {
            bits = padded(&bits, count as usize - size)?;
        }
        bits = getitem(&bits, &[IndexItem::Ellipsis, super::parts::range(None, count)])?;
    }
    moved(&bits, -1, axis)
}
