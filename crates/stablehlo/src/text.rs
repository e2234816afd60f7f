//! How types, numbers and names are spelled.

use std::fmt::Write;

use pullback_base::dtype::Kind;
use pullback_base::scalar::Number;
use pullback_base::{Array, Aval, DType, Result, Scalar};
use pullback_ir::hlo::{HloName, HloValue, element_type};

/// Constants of more elements are written as their bytes.
const MAX_LISTED: usize = 64;

/// `tensor<2x3xf32>`.
pub(crate) fn push_type(out: &mut String, aval: Aval) {
    out.push_str("tensor<");
    for size in &aval.shape {
        push_number(out, *size as u64);
        out.push('x');
    }
    out.push_str(element_type(aval.dtype));
    out.push('>');
}

/// Types separated by commas.
pub(crate) fn push_types(out: &mut String, avals: impl Iterator<Item = Aval>) {
    for (i, aval) in avals.enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        push_type(out, aval);
    }
}

/// `tensor<f32>` for one result, `(tensor<f32>, tensor<i32>)` for another number.
pub(crate) fn push_result_types(out: &mut String, outs: &[Aval]) {
    if let [one] = outs {
        return push_type(out, *one);
    }
    out.push('(');
    push_types(out, outs.iter().copied());
    out.push(')');
}

/// A whole number in digits.
pub(crate) fn push_number(out: &mut String, number: u64) {
    write!(out, "{number}").expect("a string takes all text");
}

/// A value's name.
pub(crate) fn push_name(out: &mut String, name: HloName) {
    match name {
        HloName::Argument(n) => write!(out, "%arg{n}"),
        HloName::Carried(n) => write!(out, "%iterArg_{n}"),
        HloName::Constant(n) => write!(out, "%c_{n}"),
        HloName::Result(n) => write!(out, "%{n}"),
        HloName::Part(n, part) => write!(out, "%{n}#{part}"),
    }
    .expect("a string takes all text");
}

/// Names separated by commas.
pub(crate) fn push_names(out: &mut String, values: &[HloValue]) {
    for (i, value) in values.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
        push_name(out, value.name);
    }
}

/// One element as it stands in `dense<...>`.
pub(crate) fn push_element(out: &mut String, scalar: Scalar) {
    match (scalar.number(), scalar.dtype().kind()) {
        (Number::Int(n), Kind::Bool | Kind::Float0) => out.push_str(if n != 0 { "true" } else { "false" }),
        (Number::Int(n), _) => write!(out, "{n}").expect("a string takes all text"),
        (Number::Real(x), _) => push_float(out, scalar.dtype(), x),
        (Number::Complex(re, im), _) => {
            out.push('(');
            push_float(out, scalar.dtype().real(), re);
            out.push_str(", ");
            push_float(out, scalar.dtype().real(), im);
            out.push(')');
        }
    }
}

/// Seven digits where they are exact, as MLIR prints; else as many as needed. Bits where decimals cannot say it.
fn push_float(out: &mut String, dtype: DType, x: f64) {
    let is_wide = matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    if !x.is_finite() || !is_wide {
        let digits = (dtype.bits() as usize).div_ceil(4);
        let bits = Scalar::float(dtype, x).to_bits();
        return write!(out, "0x{bits:0digits$X}").expect("a string takes all text");
    }
    let mut digits = format!("{x:.6e}");
    if !digits.parse::<f64>().is_ok_and(|read| Scalar::float(dtype, read) == Scalar::float(dtype, x)) {
        digits = if dtype == DType::F64 { format!("{x:e}") } else { format!("{:e}", x as f32) };
    }
    let (mantissa, exponent) = digits.split_once('e').expect("Rust prints an exponent");
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |size| ('-', size));
    write!(out, "{mantissa}{point}e{sign}{exponent:0>2}").expect("a string takes all text");
}

/// `dense<...>` of an array: one element, a nested list, or the bytes.
pub(crate) fn push_dense(out: &mut String, array: &Array) -> Result<()> {
    let aval = array.aval();
    out.push_str("dense<");
    if aval.size() > MAX_LISTED && is_bytes(aval.dtype) {
        let bytes = array.to_bytes()?;
        push_bytes(out, &bytes, aval.dtype.size_bytes());
    } else if aval.size() > 0 {
        let elements = array.elements()?;
        if aval.size() > 1 && elements.iter().all(|element| element.to_bits() == elements[0].to_bits()) {
            push_element(out, elements[0]);
        } else {
            push_list(out, &aval.shape, &mut elements.into_iter());
        }
    }
    out.push('>');
    Ok(())
}

/// Whether bytes in memory are the bytes of the text, on every version: booleans and elements below a byte are not.
fn is_bytes(dtype: DType) -> bool {
    dtype.bits() >= 8
}

fn push_bytes(out: &mut String, bytes: &[u8], width: usize) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let first = &bytes[..width];
    let shown = if bytes.chunks_exact(width).all(|element| element == first) { first } else { bytes };
    out.push_str("\"0x");
    out.reserve(2 * shown.len() + 1);
    for byte in shown {
        out.push(DIGITS[usize::from(byte >> 4)].into());
        out.push(DIGITS[usize::from(byte & 15)].into());
    }
    out.push('"');
}

fn push_list(out: &mut String, shape: &[usize], elements: &mut impl Iterator<Item = Scalar>) {
    let Some((&size, inner)) = shape.split_first() else {
        return push_element(out, elements.next().expect("as many elements as the shape says"));
    };
    out.push('[');
    for i in 0..size {
        out.push_str(if i == 0 { "" } else { ", " });
        push_list(out, inner, elements);
    }
    out.push(']');
}

/// Text between quotes, with what MLIR asks to escape.
pub(crate) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\0A"),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A name of functions and modules: letters, digits, `_`, `.`; others become `_`, those at the end nothing.
pub(crate) fn symbol(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let plain = plain.trim_end_matches('_');
    match plain.chars().next() {
        None => "function".into(),
        Some(first) if first.is_ascii_digit() || first == '.' => format!("_{plain}"),
        Some(_) => plain.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(scalar: Scalar) -> String {
        let mut out = String::new();
        push_element(&mut out, scalar);
        out
    }

    #[test]
    fn elements_are_spelled_exactly() {
        let check = |scalar, text: &str| assert_eq!(element(scalar), text);
        check(Scalar::f32(2.0), "2.000000e+00");
        check(Scalar::f32(0.1), "1.000000e-01");
        check(Scalar::f32(std::f32::consts::LN_2), "6.931472e-01");
        check(Scalar::f32(16_777_217.0), "1.6777216e+07");
        check(Scalar::float(DType::F64, 0.1 + 0.2), "3.0000000000000004e-01");
        check(Scalar::float(DType::F64, 5e-324), "4.940656e-324");
        check(Scalar::f32(f32::NEG_INFINITY), "0xFF800000");
        check(Scalar::float(DType::BF16, f64::INFINITY), "0x7F80");
        check(Scalar::float(DType::F8E4M3FN, 1.0), "0x38");
        check(Scalar::bool(true), "true");
        check(Scalar::int(DType::U64, u64::MAX.into()), "18446744073709551615");
        check(Scalar::new(DType::C64, Number::Complex(1.0, -0.0)), "(1.000000e+00, -0.000000e+00)");
    }

    #[test]
    fn arrays_are_lists_or_bytes() {
        let check = |array: Array, text: &str| {
            let mut out = String::new();
            push_dense(&mut out, &array).unwrap();
            assert_eq!(out, text);
        };
        let ints =
            |shape: &[usize], n: i128| Array::from_scalars(shape, DType::I8, (0..n).map(|i| Scalar::int(DType::I8, i)));
        check(ints(&[2, 2], 4), "dense<[[0, 1], [2, 3]]>");
        check(ints(&[0, 2], 0), "dense<>");
        check(Array::full(Aval::new(&[3], DType::I32), Scalar::i32(7)).unwrap(), "dense<7>");
        check(Array::full(Aval::new(&[300], DType::I32), Scalar::i32(7)).unwrap(), "dense<\"0x07000000\">");
        let bytes: String = (0..100).map(|i| format!("{i:02X}")).collect();
        check(ints(&[100], 100), &format!("dense<\"0x{bytes}\">"));
    }

    #[test]
    fn symbols_are_plain() {
        let check = |name, expect: &str| assert_eq!(symbol(name), expect);
        check("jit_<lambda>", "jit__lambda");
        check("f", "f");
        check("<lambda>", "_lambda");
        check("3d", "_3d");
        check("scatter-add", "scatter_add");
        check("", "function");
    }
}
