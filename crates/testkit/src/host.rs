//! Host arithmetic on arrays, slow and plain, against which engines are measured.

use pullback_base::scalar::Number;
use pullback_base::{Array, Scalar};

fn elements(array: &Array) -> Vec<Scalar> {
    array.elements().expect("the array is alive")
}

/// The slice at position `i` of an axis, without that axis.
pub fn take(array: &Array, axis: usize, i: usize) -> Array {
    let shape = array.shape();
    let inner: usize = shape[axis + 1..].iter().product();
    let outer: usize = shape[..axis].iter().product();
    let all = elements(array);
    let row = |o: usize| (0..inner).map(move |j| (o * shape[axis] + i) * inner + j);
    let picked = (0..outer).flat_map(row).map(|at| all[at]);
    let rest: Vec<usize> = (0..shape.len()).filter(|&other| other != axis).map(|other| shape[other]).collect();
    Array::from_scalars(&rest, array.dtype(), picked)
}

/// `x + factor·direction`, element by element; arrays that are not inexact stay.
pub fn moved(x: &Array, direction: &Array, factor: f64) -> Array {
    if !x.dtype().is_inexact() {
        return x.clone();
    }
    let sum = |(a, b): (Scalar, Scalar)| {
        let ((ar, ai), (br, bi)) = (parts(a), parts(b));
        Scalar::new(x.dtype(), number(x, ar + factor * br, ai + factor * bi))
    };
    Array::from_scalars(x.shape(), x.dtype(), elements(x).into_iter().zip(elements(direction)).map(sum))
}

fn number(like: &Array, re: f64, im: f64) -> Number {
    if like.dtype().is_complex() { Number::Complex(re, im) } else { Number::Real(re) }
}

/// Real and imaginary part.
pub fn parts(scalar: Scalar) -> (f64, f64) {
    match scalar.number() {
        Number::Complex(re, im) => (re, im),
        other => (other.as_f64(), 0.0),
    }
}

/// The real part of `Σ x·y`, the pairing under which transposes are adjoint.
pub fn pairing(x: &Array, y: &Array) -> f64 {
    let product = |(a, b): (Scalar, Scalar)| {
        let ((ar, ai), (br, bi)) = (parts(a), parts(b));
        ar * br - ai * bi
    };
    elements(x).into_iter().zip(elements(y)).map(product).sum()
}

/// The central difference `(high - low) / (2 step)`.
pub fn difference(high: &Array, low: &Array, step: f64) -> Vec<(f64, f64)> {
    let slope = |(a, b): (Scalar, Scalar)| {
        let ((ar, ai), (br, bi)) = (parts(a), parts(b));
        ((ar - br) / (2.0 * step), (ai - bi) / (2.0 * step))
    };
    elements(high).into_iter().zip(elements(low)).map(slope).collect()
}

/// Whether two numbers agree: to a tolerance relative to the greater or one, infinities and NaN exactly.
pub fn is_close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * 1f64.max(a.abs()).max(b.abs())
}

/// The first element in which two arrays differ, in words; `None` when they agree.
pub fn mismatch(got: &Array, want: &Array, tolerance: f64) -> Option<String> {
    if got.aval() != want.aval() {
        return Some(format!("got {}, want {}", got.aval(), want.aval()));
    }
    let pairs = elements(got).into_iter().zip(elements(want)).enumerate();
    for (i, (a, b)) in pairs {
        let is_equal = if got.dtype().is_inexact() {
            let ((ar, ai), (br, bi)) = (parts(a), parts(b));
            is_close(ar, br, tolerance) && is_close(ai, bi, tolerance)
        } else {
            a.to_bits() == b.to_bits()
        };
        if !is_equal {
            return Some(format!("element {i}: got {a}, want {b}"));
        }
    }
    None
}
