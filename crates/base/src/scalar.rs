//! One typed element: a literal of a jaxpr, an element of an array, a constant of a program.
//!
//! Conversion follows the reference: float to integer saturates (NaN to 0), integers wrap, values round to
//! nearest even on narrowing. Subnormals are kept here; flushing is a matter of the engine.

use std::fmt;
use std::hash::{Hash, Hasher};

use half::{bf16, f16};

use crate::aval::Aval;
use crate::dtype::minifloat::MiniFloat;
use crate::dtype::{DType, Kind};

/// A typed element with its weak type. Equality and hash are of the bits, so `-0.0 != 0.0` and `NaN == NaN`.
#[derive(Clone, Copy)]
pub struct Scalar {
    bits: [u64; 2],
    dtype: DType,
    weak_type: bool,
}

/// A number outside any element type, wide enough for all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer or boolean.
    Int(i128),
    /// A real number.
    Real(f64),
    /// A complex number.
    Complex(f64, f64),
}

impl Number {
    /// As a real number; the imaginary part of a complex one is dropped.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Real(value) | Number::Complex(value, _) => value,
        }
    }

    /// As an integer: truncated, saturated at the ends of `i128`, NaN to 0.
    pub fn as_i128(self) -> i128 {
        match self {
            Number::Int(value) => value,
            Number::Real(value) | Number::Complex(value, _) => value as i128,
        }
    }

    fn is_nonzero(self) -> bool {
        match self {
            Number::Int(value) => value != 0,
            Number::Real(value) => value != 0.0,
            Number::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// Whether the number, or a part of it, is what `holds` says of floats.
    fn any_part(self, holds: impl Fn(f64) -> bool) -> bool {
        match self {
            Number::Int(_) => false,
            Number::Real(value) => holds(value),
            Number::Complex(re, im) => holds(re) || holds(im),
        }
    }
}

impl Scalar {
    /// The scalar of `dtype` nearest to `number`.
    pub fn new(dtype: DType, number: Number) -> Scalar {
        Scalar { bits: encode(dtype, number), dtype, weak_type: false }
    }

    /// A boolean.
    pub fn bool(value: bool) -> Scalar {
        Scalar::new(DType::Bool, Number::Int(value.into()))
    }

    /// A strongly typed 32-bit integer.
    pub fn i32(value: i32) -> Scalar {
        Scalar::int(DType::I32, value.into())
    }

    /// A strongly typed 32-bit float.
    pub fn f32(value: f32) -> Scalar {
        Scalar::float(DType::F32, value.into())
    }

    /// The scalar of `dtype` nearest to an integer.
    pub fn int(dtype: DType, value: i128) -> Scalar {
        Scalar::new(dtype, Number::Int(value))
    }

    /// The scalar of `dtype` nearest to a real number.
    pub fn float(dtype: DType, value: f64) -> Scalar {
        Scalar::new(dtype, Number::Real(value))
    }

    /// Zero of `dtype`.
    pub fn zero(dtype: DType) -> Scalar {
        Scalar::int(dtype, 0)
    }

    /// One of `dtype`.
    pub fn one(dtype: DType) -> Scalar {
        Scalar::int(dtype, 1)
    }

    /// The greatest value of `dtype`: `inf` for floats, `true` for booleans.
    pub fn greatest(dtype: DType) -> Scalar {
        match dtype.kind() {
            Kind::Signed => Scalar::int(dtype, (1i128 << (dtype.bits() - 1)) - 1),
            Kind::Unsigned => Scalar::int(dtype, (1i128 << dtype.bits()) - 1),
            Kind::Bool => Scalar::bool(true),
            Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => Scalar::float(dtype, f64::INFINITY),
        }
    }

    /// The least value of `dtype`: `-inf` for floats, `false` for booleans.
    pub fn least(dtype: DType) -> Scalar {
        match dtype.kind() {
            Kind::Signed => Scalar::int(dtype, -(1i128 << (dtype.bits() - 1))),
            Kind::Unsigned | Kind::Bool => Scalar::int(dtype, 0),
            Kind::Float | Kind::Complex | Kind::Float0 | Kind::Key => Scalar::float(dtype, f64::NEG_INFINITY),
        }
    }

    /// The same element with the given weak type.
    pub fn weak(self, weak_type: bool) -> Scalar {
        Scalar { weak_type, ..self }
    }

    /// Element type.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// Whether the type yields in promotion.
    pub fn weak_type(self) -> bool {
        self.weak_type
    }

    /// The aval of this scalar.
    pub fn aval(self) -> Aval {
        Aval::scalar(self.dtype, self.weak_type)
    }

    /// The bits of the element, little end first, in the low [`DType::size_bytes`] bytes.
    pub fn to_bits(self) -> u128 {
        u128::from(self.bits[0]) | u128::from(self.bits[1]) << 64
    }

    /// The element with the given bits.
    pub fn from_bits(dtype: DType, bits: u128) -> Scalar {
        Scalar { bits: [bits as u64, (bits >> 64) as u64], dtype, weak_type: false }
    }

    /// The element as a wide number.
    pub fn number(self) -> Number {
        decode(self.dtype, self.bits)
    }

    /// The element converted to `dtype`, strongly typed. Complex to real drops the imaginary part.
    pub fn convert(self, dtype: DType) -> Scalar {
        if dtype == self.dtype {
            return Scalar { weak_type: false, ..self };
        }
        Scalar::new(dtype, self.number())
    }

    /// As a real number.
    pub fn as_f64(self) -> f64 {
        self.number().as_f64()
    }

    /// As an integer, truncated.
    pub fn as_i64(self) -> i64 {
        self.number().as_i128() as i64
    }

    /// Whether the element differs from zero.
    pub fn is_nonzero(self) -> bool {
        self.number().is_nonzero()
    }

    /// Whether it, or a part of it, is not a number.
    pub fn is_nan(self) -> bool {
        self.number().any_part(f64::is_nan)
    }

    /// Whether it, or a part of it, is infinite.
    pub fn is_infinite(self) -> bool {
        self.number().any_part(f64::is_infinite)
    }
}

fn saturated(number: Number, dtype: DType) -> i128 {
    let bits = dtype.bits();
    let (low, high) = match dtype.kind() {
        Kind::Signed => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        _ => (0, (1i128 << bits) - 1),
    };
    match number {
        Number::Int(value) => value,
        Number::Real(value) | Number::Complex(value, _) => (value as i128).clamp(low, high),
    }
}

fn encode(dtype: DType, number: Number) -> [u64; 2] {
    let real = number.as_f64();
    let low = match dtype {
        DType::Bool => u64::from(number.is_nonzero()),
        DType::I2 => (saturated(number, dtype) as u64) << 62 >> 62,
        DType::I4 => (saturated(number, dtype) as u64) << 60 >> 60,
        DType::U2 => saturated(number, dtype) as u64 & 3,
        DType::U4 => saturated(number, dtype) as u64 & 15,
        DType::I8 | DType::U8 => saturated(number, dtype) as u8 as u64,
        DType::I16 | DType::U16 => saturated(number, dtype) as u16 as u64,
        DType::I32 | DType::U32 => saturated(number, dtype) as u32 as u64,
        DType::I64 | DType::U64 => saturated(number, dtype) as u64,
        DType::F16 => f16::from_f64(real).to_bits().into(),
        DType::BF16 => bf16::from_f64(real).to_bits().into(),
        DType::F32 => (real as f32).to_bits().into(),
        DType::F64 => real.to_bits(),
        DType::C64 => {
            let (re, im) = parts(number);
            u64::from((re as f32).to_bits()) | u64::from((im as f32).to_bits()) << 32
        }
        DType::C128 => {
            let (re, im) = parts(number);
            return [re.to_bits(), im.to_bits()];
        }
        DType::Float0 => 0,
        DType::KeyFry | DType::KeyPhilox2 | DType::KeyPhilox4 => number.as_i128() as u64,
        DType::KeyRbg | DType::KeyUnsafeRbg | DType::KeyFry4 => {
            let words = number.as_i128();
            return [words as u64, (words >> 64) as u64];
        }
        small => MiniFloat::of(small).expect("only small floats are left").encode(real).into(),
    };
    [low, 0]
}

fn parts(number: Number) -> (f64, f64) {
    match number {
        Number::Complex(re, im) => (re, im),
        other => (other.as_f64(), 0.0),
    }
}

fn decode(dtype: DType, [low, high]: [u64; 2]) -> Number {
    match dtype {
        DType::Bool | DType::Float0 => Number::Int((low & 1).into()),
        DType::I2 => Number::Int(((low << 62) as i64 >> 62).into()),
        DType::I4 => Number::Int(((low << 60) as i64 >> 60).into()),
        DType::I8 => Number::Int((low as i8).into()),
        DType::I16 => Number::Int((low as i16).into()),
        DType::I32 => Number::Int((low as i32).into()),
        DType::I64 => Number::Int((low as i64).into()),
        DType::U2 | DType::U4 | DType::U8 => Number::Int((low as u8).into()),
        DType::U16 => Number::Int((low as u16).into()),
        DType::U32 => Number::Int((low as u32).into()),
        DType::U64 | DType::KeyFry | DType::KeyPhilox2 | DType::KeyPhilox4 => Number::Int(low.into()),
        DType::KeyRbg | DType::KeyUnsafeRbg | DType::KeyFry4 => {
            Number::Int((u128::from(low) | u128::from(high) << 64) as i128)
        }
        DType::F16 => Number::Real(f16::from_bits(low as u16).to_f64()),
        DType::BF16 => Number::Real(bf16::from_bits(low as u16).to_f64()),
        DType::F32 => Number::Real(f32::from_bits(low as u32).into()),
        DType::F64 => Number::Real(f64::from_bits(low)),
        DType::C64 => Number::Complex(f32::from_bits(low as u32).into(), f32::from_bits((low >> 32) as u32).into()),
        DType::C128 => Number::Complex(f64::from_bits(low), f64::from_bits(high)),
        small => Number::Real(MiniFloat::of(small).expect("only small floats are left").decode(low as u8)),
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        (self.bits, self.dtype, self.weak_type) == (other.bits, other.dtype, other.weak_type)
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.bits, self.dtype, self.weak_type).hash(state);
    }
}

/// Prints as Python prints the number: `1.0`, `2`, `True`, `inf`, `1e-05`, `(1+2j)`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Number::Int(value) if self.dtype == DType::Bool => f.write_str(if value != 0 { "True" } else { "False" }),
            Number::Int(value) => write!(f, "{value}"),
            Number::Real(value) => f.write_str(&float_text(value, self.dtype)),
            Number::Complex(re, im) => f.write_str(&complex_text(re, im, self.dtype.real())),
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}:{}", self.aval().short())
    }
}

/// The shortest text that reads back as the same number of `dtype`, in Python's manner.
pub fn float_text(value: f64, dtype: DType) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let digits = if dtype == DType::F64 { format!("{value:e}") } else { format!("{:e}", value as f32) };
    let (mantissa, exponent) = digits.split_once('e').expect("Rust prints an exponent");
    let exponent: i32 = exponent.parse().expect("Rust prints a decimal exponent");
    if (-4..16).contains(&exponent) {
        let plain = if dtype == DType::F64 { format!("{value}") } else { format!("{}", value as f32) };
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// As Python prints complex numbers: without a real part that is positive zero.
pub fn complex_text(re: f64, im: f64, part: DType) -> String {
    let text = |x: f64| float_text(x, part).trim_end_matches(".0").to_string();
    if re == 0.0 && re.is_sign_positive() {
        return format!("{}j", text(im));
    }
    let sign = if im.is_sign_negative() && !im.is_nan() { "" } else { "+" };
    format!("({}{sign}{}j)", text(re), text(im))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversion_saturates_floats_and_wraps_integers() {
        let check = |value: Scalar, dtype, text: &str| assert_eq!(value.convert(dtype).to_string(), text);
        check(Scalar::f32(1e20), DType::I32, "2147483647");
        check(Scalar::f32(f32::NAN), DType::I32, "0");
        check(Scalar::f32(-1.0), DType::U8, "0");
        check(Scalar::i32(300), DType::U8, "44");
        check(Scalar::i32(-1), DType::U32, "4294967295");
        check(Scalar::i32(7), DType::I4, "7");
        check(Scalar::i32(-8), DType::I4, "-8");
        check(Scalar::f32(1.0 / 3.0), DType::BF16, "0.33398438");
        check(Scalar::f32(2.5), DType::Bool, "True");
    }

    #[test]
    fn floats_print_as_python_does() {
        let check = |value: f32, text: &str| assert_eq!(Scalar::f32(value).to_string(), text);
        check(1.0, "1.0");
        check(1e-5, "1e-05");
        check(3.402_823_5e38, "3.4028235e+38");
        check(0.1, "0.1");
        check(f32::NEG_INFINITY, "-inf");
    }
}
