//! Elements in memory and as values of the loop IR: the one place that knows dtypes which the loop IR does not.
//!
//! The loop IR computes in `bool`, integers of 8 to 64 bits, `float32` and `float64`. Every other dtype is computed in
//! the nearest of these ([`value_dtype`]) and rounded back after each primitive ([`rounded`]): integers below eight bits
//! wrap, floats below 32 bits round to nearest even. Complex numbers and keys are pairs. Half-width floats are widened
//! and narrowed by the loop IR's own loads and stores; smaller types are bytes there, which [`loaded`] and [`stored`]
//! read and write.

use pullback_base::dtype::minifloat::{MiniFloat, Special};
use pullback_base::{Aval, DType, Scalar};
use pullback_loops::{Binary, Builder, Comparison, ValueId};

/// The loop IR's type of one value of an element of `dtype`.
pub fn value_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        DType::KeyFry | DType::KeyPhilox2 | DType::KeyPhilox4 => DType::U32,
        // Four words are two pairs, the first word in the low half.
        DType::KeyRbg | DType::KeyUnsafeRbg | DType::KeyFry4 => DType::U64,
        DType::I2 | DType::I4 => DType::I8,
        DType::U2 | DType::U4 => DType::U8,
        small if MiniFloat::of(small).is_some() => DType::F32,
        other => other,
    }
}

/// The element type of the buffer that holds elements of `dtype`; pairs take two of them.
pub fn memory_dtype(dtype: DType) -> DType {
    match dtype {
        half @ (DType::F16 | DType::BF16) => half,
        small if MiniFloat::of(small).is_some() => DType::U8,
        other => value_dtype(other),
    }
}

/// Number of loop IR values in one element of `dtype`.
pub fn values_per_element(dtype: DType) -> usize {
    if dtype.is_complex() || dtype.is_key() { 2 } else { 1 }
}

/// Whether programs can hold elements of the type: all but `float0`, which says nothing.
pub fn is_computable(aval: Aval) -> bool {
    aval.dtype != DType::Float0
}

/// Whether it is an integer type of fewer than eight bits.
pub fn is_small_integer(dtype: DType) -> bool {
    dtype.is_integer() && dtype.bits() < 8
}

/// The value of what was read from memory of `dtype`.
pub fn loaded(loops: &mut Builder, dtype: DType, value: ValueId) -> ValueId {
    match MiniFloat::of(dtype) {
        Some(format) => {
            let code = loops.convert(DType::I32, value);
            decoded(loops, format, code)
        }
        None if is_small_integer(dtype) => rounded(loops, dtype, value),
        None => value,
    }
}

/// What is to be written to memory of `dtype` for a value.
pub fn stored(loops: &mut Builder, dtype: DType, value: ValueId) -> ValueId {
    match MiniFloat::of(dtype) {
        Some(format) => {
            let code = encoded(loops, format, value);
            loops.convert(DType::U8, code)
        }
        // The bits above those of the integer are zero in memory.
        None if is_small_integer(dtype) => integer(loops, Binary::And, value, (1 << dtype.bits()) - 1),
        None => value,
    }
}

/// The value as it would come back from memory of `dtype`.
pub fn rounded(loops: &mut Builder, dtype: DType, value: ValueId) -> ValueId {
    if matches!(dtype, DType::F16 | DType::BF16) {
        return loops.round(dtype, value);
    }
    if is_small_integer(dtype) {
        let spare = Scalar::int(value_dtype(dtype), 8 - i128::from(dtype.bits()));
        let spare = loops.constant(spare);
        let high = loops.binary(Binary::ShiftLeft, value, spare);
        let fill = if matches!(dtype, DType::I2 | DType::I4) {
            Binary::ShiftRightArithmetic
        } else {
            Binary::ShiftRightLogical
        };
        return loops.binary(fill, high, spare);
    }
    match MiniFloat::of(dtype) {
        Some(format) => {
            let code = encoded(loops, format, value);
            decoded(loops, format, code)
        }
        None => value,
    }
}

/// The unsigned type that holds the bits of an element.
pub fn bits_dtype(dtype: DType) -> DType {
    match dtype.size_bytes() {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// The bits of a real element, in an unsigned integer of its width (eight bits at least, the spare ones zero).
pub fn bits_of(loops: &mut Builder, dtype: DType, value: ValueId) -> ValueId {
    match dtype {
        DType::BF16 => {
            let bits = loops.bitcast(DType::U32, value);
            let high = integer(loops, Binary::ShiftRightLogical, bits, 16);
            loops.convert(DType::U16, high)
        }
        DType::F16 => {
            let code = encoded(loops, HALF, value);
            loops.convert(DType::U16, code)
        }
        _ if is_small_integer(dtype) => {
            let bits = loops.bitcast(DType::U8, value);
            integer(loops, Binary::And, bits, (1 << dtype.bits()) - 1)
        }
        _ => {
            let value = stored(loops, dtype, value);
            loops.bitcast(bits_dtype(dtype), value)
        }
    }
}

/// The real element with the given bits.
pub fn of_bits(loops: &mut Builder, dtype: DType, bits: ValueId) -> ValueId {
    match dtype {
        DType::BF16 => {
            let wide = loops.convert(DType::U32, bits);
            let high = integer(loops, Binary::ShiftLeft, wide, 16);
            loops.bitcast(DType::F32, high)
        }
        DType::F16 => {
            let code = loops.convert(DType::I32, bits);
            decoded(loops, HALF, code)
        }
        _ if is_small_integer(dtype) => {
            let value = loops.bitcast(value_dtype(dtype), bits);
            rounded(loops, dtype, value)
        }
        _ => {
            let value = loops.bitcast(memory_dtype(dtype), bits);
            loaded(loops, dtype, value)
        }
    }
}

/// IEEE half precision, whose bits the formulas below tell as they do those of smaller formats.
const HALF: MiniFloat = MiniFloat { exponent_bits: 5, mantissa_bits: 10, bias: 15, special: Special::Ieee };

const QUIET_NAN: i128 = 0x7fc0_0000;
const INFINITY: i128 = 0x7f80_0000;

fn int(loops: &mut Builder, value: i128) -> ValueId {
    loops.constant(Scalar::int(DType::I32, value))
}

fn float(loops: &mut Builder, value: f64) -> ValueId {
    loops.constant(Scalar::float(DType::F32, value))
}

fn integer(loops: &mut Builder, op: Binary, x: ValueId, constant: i128) -> ValueId {
    let constant = Scalar::int(loops.dtype(x), constant);
    let constant = loops.constant(constant);
    loops.binary(op, x, constant)
}

fn compare(loops: &mut Builder, op: Comparison, x: ValueId, constant: i128) -> ValueId {
    let constant = int(loops, constant);
    loops.compare(op, x, constant)
}

/// The constant where the condition holds, else the value.
fn when(loops: &mut Builder, condition: ValueId, constant: i128, otherwise: ValueId) -> ValueId {
    let constant = int(loops, constant);
    loops.select(condition, constant, otherwise)
}

/// The parts of a format that both directions need.
struct Layout {
    sign: i128,
    /// From the sign of a code to that of `float32`.
    sign_shift: i128,
    /// From the last place of a code to that of `float32`.
    shift: i128,
    /// Added to the exponent of a code, in place.
    rebias: i128,
    /// The code from which on there are no numbers.
    infinity: i128,
}

impl Layout {
    fn of(format: MiniFloat) -> Layout {
        let (e, m) = (i128::from(format.exponent_bits), i128::from(format.mantissa_bits));
        Layout {
            sign: 1 << (e + m),
            sign_shift: 31 - e - m,
            shift: 23 - m,
            rebias: (127 - i128::from(format.bias)) << 23,
            infinity: ((1 << e) - 1) << m,
        }
    }
}

/// The `float32` of a code, which stands in an `int32`.
fn decoded(loops: &mut Builder, format: MiniFloat, code: ValueId) -> ValueId {
    if format.special == Special::PowersOfTwo {
        let bits = integer(loops, Binary::ShiftLeft, code, 23);
        let is_nan = compare(loops, Comparison::Eq, code, 255);
        let bits = when(loops, is_nan, QUIET_NAN, bits);
        // The least power, 2^-127, has no exponent in `float32`.
        let is_least = compare(loops, Comparison::Eq, code, 0);
        let bits = when(loops, is_least, 0x0040_0000, bits);
        return loops.bitcast(DType::F32, bits);
    }
    let layout = Layout::of(format);
    let magnitude = integer(loops, Binary::And, code, layout.sign - 1);
    let sign = integer(loops, Binary::And, code, layout.sign);
    let sign = integer(loops, Binary::ShiftLeft, sign, layout.sign_shift);
    let moved = integer(loops, Binary::ShiftLeft, magnitude, layout.shift);
    let normal = integer(loops, Binary::Add, moved, layout.rebias);
    // Subnormal codes by conversion: as bits they could be subnormal here too, and flushed.
    let small = loops.convert(DType::F32, magnitude);
    let unit = float(loops, 2f64.powi(1 - format.bias - format.mantissa_bits as i32));
    let small = loops.binary(Binary::Mul, small, unit);
    let small = loops.bitcast(DType::I32, small);
    let is_small = compare(loops, Comparison::Lt, magnitude, 1 << format.mantissa_bits);
    let bits = loops.select(is_small, small, normal);
    let bits = match format.special {
        Special::Ieee => {
            let special = integer(loops, Binary::Or, moved, INFINITY);
            let is_special = compare(loops, Comparison::Ge, magnitude, layout.infinity);
            loops.select(is_special, special, bits)
        }
        Special::AllOnesNan => {
            let is_nan = compare(loops, Comparison::Eq, magnitude, layout.sign - 1);
            when(loops, is_nan, QUIET_NAN, bits)
        }
        Special::NegativeZeroNan => {
            let is_nan = compare(loops, Comparison::Eq, code, layout.sign);
            when(loops, is_nan, QUIET_NAN, bits)
        }
        Special::None | Special::PowersOfTwo => bits,
    };
    let bits = loops.binary(Binary::Or, bits, sign);
    loops.bitcast(DType::F32, bits)
}

/// `x` without its `n` low bits, to nearest even, after `less` was taken off.
fn dropped(loops: &mut Builder, x: ValueId, n: i128, less: i128) -> ValueId {
    let last = integer(loops, Binary::ShiftRightLogical, x, n);
    let last = integer(loops, Binary::And, last, 1);
    let sum = integer(loops, Binary::Add, x, (1 << (n - 1)) - 1 - less);
    let sum = loops.binary(Binary::Add, sum, last);
    integer(loops, Binary::ShiftRightArithmetic, sum, n)
}

/// The code nearest to a `float32`, in an `int32`.
fn encoded(loops: &mut Builder, format: MiniFloat, value: ValueId) -> ValueId {
    let bits = loops.bitcast(DType::I32, value);
    let magnitude = integer(loops, Binary::And, bits, 0x7fff_ffff);
    let is_nan = compare(loops, Comparison::Gt, magnitude, INFINITY);
    if format.special == Special::PowersOfTwo {
        return encoded_power_of_two(loops, bits, is_nan);
    }
    let layout = Layout::of(format);
    let normal = dropped(loops, magnitude, layout.shift, layout.rebias);
    // In a sum with this number the last place of subnormal codes is the last bit.
    let anchor = 2f64.powi(24 - format.bias - format.mantissa_bits as i32);
    let size = loops.bitcast(DType::F32, magnitude);
    let anchor_value = float(loops, anchor);
    let sum = loops.binary(Binary::Add, size, anchor_value);
    let sum = loops.bitcast(DType::I32, sum);
    let small = integer(loops, Binary::Sub, sum, i128::from((anchor as f32).to_bits()));
    let is_small = compare(loops, Comparison::Lt, magnitude, layout.rebias + (1 << 23));
    let code = loops.select(is_small, small, normal);
    let sign = integer(loops, Binary::ShiftRightLogical, bits, layout.sign_shift);
    let sign = integer(loops, Binary::And, sign, layout.sign);
    finished(loops, format, &layout, (code, sign, is_nan), magnitude)
}

/// What is beyond the range of a format, and NaN.
fn finished(
    loops: &mut Builder,
    format: MiniFloat,
    layout: &Layout,
    (code, sign, is_nan): (ValueId, ValueId, ValueId),
    magnitude: ValueId,
) -> ValueId {
    let at_most = |loops: &mut Builder, most: i128| {
        let most = int(loops, most);
        loops.binary(Binary::Min, code, most)
    };
    match format.special {
        Special::Ieee => {
            let code = at_most(loops, layout.infinity);
            // The high bits of the payload, and the quiet bit.
            let payload = integer(loops, Binary::ShiftRightLogical, magnitude, layout.shift);
            let payload = integer(loops, Binary::And, payload, layout.sign - 1);
            let quiet = layout.infinity | 1 << (format.mantissa_bits - 1);
            let nan = integer(loops, Binary::Or, payload, quiet);
            let code = loops.select(is_nan, nan, code);
            loops.binary(Binary::Or, code, sign)
        }
        Special::AllOnesNan => {
            let code = at_most(loops, layout.sign - 1);
            loops.binary(Binary::Or, code, sign)
        }
        Special::NegativeZeroNan => {
            let signed = loops.binary(Binary::Or, code, sign);
            let is_zero = compare(loops, Comparison::Eq, code, 0);
            let signed = when(loops, is_zero, 0, signed);
            let is_over = compare(loops, Comparison::Ge, code, layout.sign);
            when(loops, is_over, layout.sign, signed)
        }
        Special::None => {
            let code = at_most(loops, layout.sign - 1);
            let signed = loops.binary(Binary::Or, code, sign);
            when(loops, is_nan, layout.sign, signed)
        }
        Special::PowersOfTwo => unreachable!("encoded apart"),
    }
}

/// The exponent of a positive number, half way to the next power rounded up; else NaN.
fn encoded_power_of_two(loops: &mut Builder, bits: ValueId, is_nan: ValueId) -> ValueId {
    // Below the least normal number the same holds for what stands for 2^-127.
    let half = integer(loops, Binary::Add, bits, 1 << 22);
    let code = integer(loops, Binary::ShiftRightArithmetic, half, 23);
    let is_subnormal = compare(loops, Comparison::Lt, bits, 1 << 23);
    let code = when(loops, is_subnormal, 0, code);
    let most = int(loops, 255);
    let code = loops.binary(Binary::Min, code, most);
    let is_positive = compare(loops, Comparison::Gt, bits, 0);
    let code = {
        let nan = int(loops, 255);
        loops.select(is_positive, code, nan)
    };
    when(loops, is_nan, 255, code)
}

#[cfg(test)]
mod tests {
    use pullback_loops::{Addr, Extent, Role, interpret};

    use super::*;

    struct NoKernels;

    impl pullback_loops::Kernels for NoKernels {
        fn call(&self, _: &pullback_loops::Kernel, _: &[&[u8]], _: &mut [&mut [u8]]) -> pullback_base::Result<()> {
            unreachable!("no kernel is called")
        }
    }

    fn run(from: DType, to: DType, bytes: &[u8], body: impl Fn(&mut Builder, ValueId) -> ValueId) -> Vec<u8> {
        let mut loops = Builder::new("test");
        let n = bytes.len() / from.size_bytes();
        let input = loops.buffer(from, Extent::Const(n as i64), Role::Input(0));
        let output = loops.buffer(to, Extent::Const(n as i64), Role::Output(0));
        loops.for_loop(Extent::Const(n as i64), pullback_loops::LoopKind::Seq, &[], |loops, id, _| {
            let at = Addr { terms: [(id, Extent::Const(1))].into_iter().collect(), ..Addr::default() };
            let value = loops.load(input, at.clone());
            let value = body(loops, value);
            loops.store(output, at, value);
            vec![]
        });
        let mut out = vec![0; n * to.size_bytes()];
        interpret(&loops.finish(), &[], &[bytes], &mut [&mut out], &NoKernels).expect("it runs");
        out
    }

    fn small_floats() -> impl Iterator<Item = DType> {
        DType::ALL.into_iter().filter(|&dtype| MiniFloat::of(dtype).is_some())
    }

    #[test]
    fn every_code_has_its_value() {
        for dtype in small_floats() {
            let codes: Vec<u8> = if dtype == DType::F4E2M1FN { (0..16).collect() } else { (0..=255).collect() };
            let out = run(DType::U8, DType::F32, &codes, |loops, value| loaded(loops, dtype, value));
            for (&code, bytes) in codes.iter().zip(out.chunks_exact(4)) {
                let got = f32::from_le_bytes(bytes.try_into().expect("four bytes"));
                let want = Scalar::from_bits(dtype, code.into()).as_f64() as f32;
                assert!(got == want || got.is_nan() && want.is_nan(), "{dtype} {code}: {got} {want}");
            }
        }
    }

    #[test]
    fn every_number_has_its_code() {
        let mut numbers: Vec<f32> = (0..=255).map(|i| (i as f32 - 128.0) / 37.0).collect();
        numbers.extend((-60..60).flat_map(|e| [1.0f32, 1.5, -1.25, 1.125, 1.0625, -1.96875].map(|x| x * 2f32.powi(e))));
        numbers.extend([0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 3e38]);
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        for dtype in small_floats() {
            let out = run(DType::F32, DType::U8, &bytes, |loops, value| stored(loops, dtype, value));
            for (x, &code) in numbers.iter().zip(&out) {
                let want = Scalar::float(dtype, f64::from(*x)).to_bits() as u8;
                let value = |code: u8| Scalar::from_bits(dtype, code.into()).as_f64();
                let both_nan = value(code).is_nan() && value(want).is_nan();
                assert!(code == want || both_nan, "{dtype}({x}) is {code}, not {want}");
            }
        }
    }

    #[test]
    fn bits_go_there_and_back() {
        for dtype in [DType::F16, DType::BF16] {
            let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
            let there = run(DType::U16, dtype, &bytes, |loops, bits| of_bits(loops, dtype, bits));
            let back = run(dtype, DType::U16, &there, |loops, value| bits_of(loops, dtype, value));
            for (bits, got) in (0..=u16::MAX).zip(back.chunks_exact(2)) {
                let got = u16::from_le_bytes(got.try_into().expect("two bytes"));
                let value = |bits: u16| Scalar::from_bits(dtype, bits.into()).as_f64();
                let is_subnormal = dtype == DType::BF16 && bits & 0x7f80 == 0;
                assert!(got == bits || value(bits).is_nan() && value(got).is_nan() || is_subnormal, "{dtype} {bits:x}");
            }
        }
    }
}
