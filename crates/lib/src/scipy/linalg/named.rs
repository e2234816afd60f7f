//! Matrices that have names: of vectors, and of sizes.

use std::f64::consts::PI;

use pullback_base::array::check_room;
use pullback_base::aval::tuple_text;
use pullback_base::{Array, Aval, DType, Result, Scalar, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::with_one_batch;
use crate::convert::{convert, default_float, default_int, int_vector, literal, weak_int};
use crate::formula::{abs, of};
use crate::indexing::{IndexItem, Update, UpdateOptions, getitem, update};
use crate::lax;
use crate::lax::linalg::{column, of_last, row};
use crate::numpy::linalg::inexact_one;
use crate::numpy::padding::PadMode;
use crate::numpy::{self, atleast};
use crate::promotion::{promote_dtypes, result_type_of};

/// Matrices along a diagonal, zeros elsewhere.
///
/// Args:
///   arrs: arrays of at most two axes; vectors are rows. Dtypes are promoted.
/// Returns: a matrix with as many rows and columns as all together; `[1, 0]` without arguments.
/// Raises:
///   ValueError: an array has more than two axes.
///   TypeError: an argument is no array or number.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.linalg.block_diag(jnp.ones((1, 2), int), jnp.array([[5], [6]])))
///   [[1 1 0]
///    [0 0 5]
///    [0 0 6]]
#[public("scipy.linalg.block_diag(*arrs)")]
pub fn block_diag(arrs: &[Val]) -> Result<Val> {
    let none = [lax::full(&[1, 0], &literal(default_float(), 0.0))?];
    let arrs = if arrs.is_empty() { &none[..] } else { arrs };
    let arrs = arrs.iter().map(|x| atleast(x, 2)).collect::<Result<Vec<_>>>()?;
    if let Some((at, bad)) = arrs.iter().enumerate().find(|(_, x)| x.aval().rank() > 2) {
        bail!(
            Value,
            "Arguments to jax.scipy.linalg.block_diag must have at most 2 dimensions, got {} at argument {at}.",
            bad.aval()
        );
    }
    let dtype = result_type_of(&arrs)?.dtype;
    let columns: Vec<i64> = arrs.iter().map(|x| x.aval().shape[1] as i64).collect();
    let all: i64 = columns.iter().sum();
    let mut before = 0;
    let mut rows = vec![];
    for (x, &width) in arrs.iter().zip(&columns) {
        let widths = [(0, 0), (before, all - before - width)];
        rows.push(numpy::pad(&numpy::astype(x, dtype)?, &widths, PadMode::Constant, &weak_int(0))?);
        before += width;
    }
    numpy::concatenate(&rows, Some(0), None)
}

/// The elements of vectors at places of a matrix: at `row + column` or as `place` says.
fn spread(values: &Val, rows: usize, columns: usize, place: impl Fn(usize, usize) -> usize) -> Result<Val> {
    check_room(rows.saturating_mul(columns), size_of::<i64>())?;
    let places: Vec<i64> = (0..rows * columns).map(|at| place(at / columns, at % columns) as i64).collect();
    let places = lax::reshape(&int_vector(&places), &[rows, columns], None)?;
    getitem(values, &[IndexItem::Ellipsis, IndexItem::Array(places)])
}

/// Two vectors of one dtype and batch, and their lengths.
fn both(c: &Val, r: &Val) -> Result<(Val, Val, usize, usize)> {
    let dtype = result_type_of(&[c.clone(), r.clone()])?.dtype;
    let alike = with_one_batch(&[c.clone(), r.clone()], 1)?;
    let length = |x: &Val| x.aval().shape[x.aval().rank() - 1];
    Ok((numpy::astype(&alike[0], dtype)?, numpy::astype(&alike[1], dtype)?, length(c), length(r)))
}

/// The matrix of first column `c` and first row `r` whose diagonals are constant.
///
/// Args:
///   c: the first column `[..., m]`.
///   r: the first row `[..., n]`, whose first element is not used; by default the conjugate of `c`.
/// Returns: `[..., m, n]` of the promoted dtype.
/// Raises:
///   TypeError: an argument is no array or number, as lists are.
///   ValueError: leading axes do not broadcast.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.linalg.toeplitz(jnp.array([1, 2, 3]), jnp.array([1, 5])))
///   [[1 5]
///    [2 1]
///    [3 2]]
#[public("scipy.linalg.toeplitz(c, r=None)")]
pub fn toeplitz(c: &Val, r: Option<&Val>) -> Result<Val> {
    let c = atleast(c, 1)?;
    let r = match r {
        Some(r) => atleast(r, 1)?,
        None if c.aval().dtype.is_complex() => numpy::conjugate(&c)?,
        None => c.clone(),
    };
    let (c, r, m, n) = both(&c, &r)?;
    let turned = numpy::flip(&c, &crate::axes::Axes::One(-1))?;
    let values = numpy::concatenate(&[turned, of_last(&r, Some(1), None)?], Some(-1), None)?;
    spread(&values, m, n, |i, j| m - 1 - i + j)
}

/// The matrix of first column `c` and last row `r` whose antidiagonals are constant.
///
/// Args:
///   c: the first column `[..., m]`.
///   r: the last row `[..., n]`, whose first element is not used; zeros like `c` by default.
/// Returns: `[..., m, n]` of the promoted dtype.
/// Raises:
///   TypeError: an argument is no array, as lists are.
///   ValueError: an argument is a number, or leading axes do not broadcast.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.linalg.hankel(jnp.array([1, 2, 3])))
///   [[1 2 3]
///    [2 3 0]
///    [3 0 0]]
#[public("scipy.linalg.hankel(c, r=None)")]
pub fn hankel(c: &Val, r: Option<&Val>) -> Result<Val> {
    if c.aval().rank() == 0 || r.is_some_and(|r| r.aval().rank() == 0) {
        bail!(Value, "hankel takes a first column [..., m] and a last row [..., n], got a number");
    }
    let r = match r {
        Some(r) => r.clone(),
        None => numpy::zeros_like(c, None, None)?,
    };
    let (c, r, m, n) = both(c, &r)?;
    let values = numpy::concatenate(&[c, of_last(&r, Some(1), None)?], Some(-1), None)?;
    spread(&values, m, n, |i, j| i + j)
}

/// The matrix whose columns are `c`, each one turned one place further.
///
/// Args:
///   c: the first column `[..., n]`.
/// Returns: `[..., n, n]` of the dtype of `c`.
/// Raises:
///   TypeError: `c` is no array or number, as lists are.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.linalg.circulant(jnp.array([1, 2, 3])))
///   [[1 3 2]
///    [2 1 3]
///    [3 2 1]]
#[public("scipy.linalg.circulant(c)")]
pub fn circulant(c: &Val) -> Result<Val> {
    let c = atleast(c, 1)?;
    let n = c.aval().shape[c.aval().rank() - 1];
    spread(&c, n, n, |i, j| (n + i - j) % n)
}

/// `-a[1:] / a[0]`.
fn monic(a: &Val) -> Result<Val> {
    ((-of(&of_last(a, Some(1), None)?)) / of_last(a, None, Some(1))).done()
}

/// The companion matrix of a polynomial: its eigenvalues are the roots.
///
/// Args:
///   a: coefficients `[..., n]`, the highest power first; the first must not be zero. Integers become floating.
/// Returns: `[..., n - 1, n - 1]`, with `-a[1:] / a[0]` in the first row and ones below the diagonal.
/// Raises:
///   ValueError: fewer than two coefficients.
///   TypeError: `a` is no array or number, as lists are.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.companion(jnp.array([2, -6, 4])))
///   [[ 3. -2.]
///    [ 1.  0.]]
#[public("scipy.linalg.companion(a)")]
pub fn companion(a: &Val) -> Result<Val> {
    let a = atleast(a, 1)?;
    let shape = a.aval().shape.clone();
    let (length, batch) = shape.split_last().expect("at least one axis");
    if *length < 2 {
        bail!(Value, "The length of `a` along the last axis must be at least 2.");
    }
    let first = monic(&inexact_one(&a)?)?;
    let n = length - 1;
    let below = numpy::eye(n as i64 - 1, Some(n as i64), 0, Some(first.aval().dtype))?;
    let below = crate::broadcast::broadcast_to(&below, &[batch, &[n - 1, n]].concat())?;
    numpy::concatenate(&[row(&first)?, below], Some(-2), None)
}

/// The matrix whose product with a vector of `n` elements is the convolution with `a`.
///
/// Args:
///   a: the kernel `[..., m]`.
///   n: the length of the vectors, a positive int.
///   mode: which part of the convolution: "full", of `m + n - 1` elements, "same", the middle `max(m, n)`, or
///     "valid",
///     those of full overlap.
/// Returns: `[..., k, n]` of the dtype of `a`, with the number of elements of the mode as `k`.
/// Raises:
///   ValueError: `a` is empty or a scalar, `n` is not positive, or another mode.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.linalg.convolution_matrix(jnp.array([1, 2]), 2))
///   [[1 0]
///    [2 1]
///    [0 2]]
#[public("scipy.linalg.convolution_matrix(a, n, mode='full')")]
pub fn convolution_matrix(a: &Val, n: i64, mode: &str) -> Result<Val> {
    let shape = a.aval().shape.clone();
    let Some((&m, batch)) = shape.split_last() else {
        bail!(Value, "convolution_matrix: a must be at least 1-dimensional, got a scalar.");
    };
    if n <= 0 {
        bail!(Value, "n must be a positive integer.");
    }
    if m == 0 {
        bail!(Value, "len(a) must be at least 1.");
    }
    if !["full", "valid", "same"].contains(&mode) {
        bail!(Value, "'mode' argument must be one of ('full', 'valid', 'same')");
    }
    let zeros = lax::full(&[batch, &[n as usize - 1]].concat(), &literal(a.aval().dtype, 0.0))?;
    let first = numpy::concatenate(&[a.clone(), zeros.clone()], Some(-1), None)?;
    let top = numpy::concatenate(&[of_last(a, None, Some(1))?, zeros], Some(-1), None)?;
    let full = toeplitz(&first, Some(&top))?;
    let (m, n) = (m.max(n as usize), m.min(n as usize));
    let (start, size) = match mode {
        "full" => return Ok(full),
        "same" => ((n - 1) / 2, m),
        _ => (n - 1, m - n + 1),
    };
    let (start, stop) = (start as i64, (start + size) as i64);
    getitem(
        &full,
        &[IndexItem::Ellipsis, IndexItem::Slice { start: Some(start), stop: Some(stop), step: None }, IndexItem::ALL],
    )
}

/// The matrix of the discrete Fourier transform: `exp(-2πi j k / n)`.
///
/// Args:
///   n: its size, an int.
///   scale: None, "sqrtn" to divide by the root of `n`, so that it is unitary, or "n" to divide by `n`.
///   dtype: the dtype, a complex one; by default that of 64 bits, or of 128 with x64.
/// Returns: `[n, n]`.
/// Raises:
///   ValueError: another scale, or a dtype that is not complex.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> print(jax.scipy.linalg.dft(2).real)
///   [[ 1.  1.]
///    [ 1. -1.]]
#[public("scipy.linalg.dft(n, scale=None, *, dtype=None)")]
pub fn dft(n: usize, scale: Option<&str>, dtype: Option<DType>) -> Result<Val> {
    if let Some(dtype) = dtype.filter(|dtype| !dtype.is_complex()) {
        bail!(Value, "dtype must be a complex floating-point type; got {dtype}.");
    }
    check_size(n)?;
    let factor = match scale {
        None => 1.0,
        Some("sqrtn") => (n as f64).sqrt(),
        Some("n") => n as f64,
        Some(other) => bail!(Value, "scale must be None, 'sqrtn', or 'n'; '{other}' is not valid."),
    };
    if let Some(dtype) = dtype.filter(|dtype| !dtype.is_complex()) {
        bail!(Value, "dtype must be a complex floating-point type; got {dtype}.");
    }
    let turns = |i: usize, j: usize| -2.0 * PI * (i * j % n) as f64 / n as f64;
    let parts = [made([n, n], |i, j| turns(i, j).cos() / factor)?, made([n, n], |i, j| turns(i, j).sin() / factor)?];
    let waves = lax::complex(&parts[0], &parts[1])?;
    dtype.map_or(Ok(waves.clone()), |dtype| numpy::astype(&waves, dtype))
}

/// The Fiedler matrix: absolute differences of all pairs of elements.
///
/// Args:
///   a: `[..., n]`.
/// Returns: `[..., n, n]`; real for complex `a`.
/// Raises:
///   TypeError: `a` is no array or number, as lists are.
/// Differentiable: yes, except where elements are equal, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.fiedler(jnp.array([1, 4, 6])))
///   [[0 3 5]
///    [3 0 2]
///    [5 2 0]]
#[public("scipy.linalg.fiedler(a)")]
pub fn fiedler(a: &Val) -> Result<Val> {
    let a = atleast(a, 1)?;
    abs(of(&column(&a)?) - row(&a)).done()
}

/// A companion matrix with five diagonals of a polynomial: its eigenvalues are the roots.
///
/// M. Fiedler, "A note on companion matrices", 2003.
///
/// Args:
///   a: coefficients `[..., n]`, the highest power first; the first must not be zero. Integers become floating.
/// Returns: `[..., n - 1, n - 1]`.
/// Raises:
///   TypeError: `a` is no array or number, as lists are.
/// Differentiable: yes, in both modes.
/// Example:
///   >>> print(jax.scipy.linalg.fiedler_companion(jnp.array([1.0, -6.0, 11.0, -6.0])))
///   [[  6. -11.   1.]
///    [  1.   0.   0.]
///    [  0.   6.   0.]]
#[public("scipy.linalg.fiedler_companion(a)")]
pub fn fiedler_companion(a: &Val) -> Result<Val> {
    let a = inexact_one(&atleast(a, 1)?)?;
    let shape = a.aval().shape.clone();
    let (length, batch) = shape.split_last().expect("at least one axis");
    let zeros = |n: usize| lax::full(&[batch, &[n, n]].concat(), &literal(a.aval().dtype, 0.0));
    if *length <= 1 {
        return zeros(0);
    }
    let (n, c) = (*length as i64 - 1, monic(&a)?);
    let item = |at: i64| getitem(&c, &[IndexItem::Ellipsis, IndexItem::Int(at)]);
    let set = |out: &Val, i: i64, j: i64, value: &Val| {
        let place = [IndexItem::Ellipsis, IndexItem::Int(i), IndexItem::Int(j)];
        update(&Update::Set, out, &place, value, &UpdateOptions::default())
    };
    let mut out = zeros(n as usize)?;
    if n == 1 {
        return set(&out, 0, 0, &item(0)?);
    }
    for i in 0..n - 2 {
        let (row, column) = if i % 2 == 0 { (i, i + 2) } else { (i + 2, i) };
        out = set(&out, row, column, &weak_int(1))?;
    }
    out = set(&set(&out, 0, 0, &item(0)?)?, 1, 0, &weak_int(1))?;
    for i in 0..n - 1 {
        let (row, column) = if i % 2 == 0 { (i, i + 1) } else { (i + 1, i) };
        out = set(&out, row, column, &item(i + 1)?)?;
    }
    Ok(out)
}

/// Refuses a size whose matrix no memory holds.
fn check_size(n: usize) -> Result<()> {
    if i32::try_from(n).is_err() {
        bail!(Overflow, "Python int {n} too large to convert to int32: no matrix is that large");
    }
    Ok(())
}

/// A matrix of the default floating dtype from its elements.
///
/// # Errors
/// When no memory holds it.
fn made(shape: [usize; 2], element: impl Fn(usize, usize) -> f64) -> Result<Val> {
    let dtype = default_float();
    Aval::new(&shape, dtype).check_extent()?;
    let elements = (0..shape[0] * shape[1]).map(|at| Scalar::float(dtype, element(at / shape[1], at % shape[1])));
    Ok(Val::Array(Array::try_from_scalars(&shape, dtype, elements)?))
}

/// The Hadamard matrix of a power of two: orthogonal rows of 1 and -1, by Sylvester's construction.
///
/// Args:
///   n: its size, an int.
///   dtype: the dtype; int32, or int64 with x64, by default.
/// Returns: `[n, n]`.
/// Raises:
///   ValueError: `n` is no power of two.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> print(jax.scipy.linalg.hadamard(2))
///   [[ 1  1]
///    [ 1 -1]]
#[public("scipy.linalg.hadamard(n, dtype=None)")]
pub fn hadamard(n: i64, dtype: Option<DType>) -> Result<Val> {
    if n < 1 || n & (n - 1) != 0 {
        bail!(Value, "n must be a positive integer and a power of 2.");
    }
    let n = n as usize;
    let signs = made([n, n], |i, j| if (i & j).count_ones() % 2 == 0 { 1.0 } else { -1.0 })?;
    numpy::astype(&signs, dtype.unwrap_or_else(default_int))
}

/// The Helmert matrix: orthonormal rows, of which the first, all equal, is left out unless `full`.
///
/// Args:
///   n: its number of columns, a positive int.
///   full: whether to keep the first row.
/// Returns: floating `[n - 1, n]`, or `[n, n]`.
/// Raises:
///   ValueError: `n` is not positive.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> print(jax.scipy.linalg.helmert(2).shape)
///   (1, 2)
#[public("scipy.linalg.helmert(n, full=False)")]
pub fn helmert(n: i64, full: bool) -> Result<Val> {
    if n <= 0 {
        bail!(Value, "n must be a positive integer; got {n}.");
    }
    let skipped = usize::from(!full);
    let n = n as usize;
    check_size(n)?;
    made([n - skipped, n], |i, j| {
        let i = i + skipped;
        let norm = if i == 0 { (n as f64).sqrt() } else { ((i * (i + 1)) as f64).sqrt() };
        let element = if i == 0 || j < i {
            1.0
        } else if j == i {
            -(i as f64)
        } else {
            0.0
        };
        element / norm
    })
}

/// The Hilbert matrix `1 / (i + j + 1)`.
///
/// Args:
///   n: its size, an int.
/// Returns: floating `[n, n]`.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> print(jax.scipy.linalg.hilbert(2)[0])
///   [1.  0.5]
#[public("scipy.linalg.hilbert(n)")]
pub fn hilbert(n: i64) -> Result<Val> {
    let n = n.max(0) as usize;
    made([n, n], |i, j| 1.0 / (i + j + 1) as f64)
}

/// A binomial coefficient, exact where 128 bits hold it.
fn binomial(n: usize, k: usize) -> Result<u128, f64> {
    if k > n {
        return Ok(0);
    }
    let k = k.min(n - k);
    let exact = (0..k).try_fold(1u128, |found, i| Some(found.checked_mul((n - i) as u128)? / (i + 1) as u128));
    exact.ok_or_else(|| (0..k).fold(1.0, |found, i| found * (n - i) as f64 / (i + 1) as f64))
}

fn rounded(number: Result<u128, f64>) -> f64 {
    number.map_or_else(|inexact| inexact, |exact| exact as f64)
}

/// A product, rounded once where 128 bits hold it.
fn product(factors: &[Result<u128, f64>]) -> f64 {
    let exact = factors.iter().try_fold(1u128, |found, factor| found.checked_mul(factor.ok()?));
    exact.map_or_else(|| factors.iter().map(|&factor| rounded(factor)).product(), |exact| exact as f64)
}

fn signed(place: usize, number: f64) -> f64 {
    if place.is_multiple_of(2) { number } else { -number }
}

/// The inverse of the Hilbert matrix, from binomial coefficients, rounded once.
///
/// Args:
///   n: its size, an int.
/// Returns: floating `[n, n]` of whole numbers.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> print(jax.scipy.linalg.invhilbert(2))
///   [[ 4. -6.]
///    [-6. 12.]]
#[public("scipy.linalg.invhilbert(n)")]
pub fn invhilbert(n: usize) -> Result<Val> {
    made([n, n], |i, j| {
        let inner = binomial(i + j, i);
        let (left, right) = (binomial(n + i, n - j - 1), binomial(n + j, n - i - 1));
        signed(i + j, product(&[Ok((i + j + 1) as u128), left, right, inner, inner]))
    })
}

/// Pascal's matrix of some kind, from the elements of its lower triangle and of its product with its transpose.
fn triangle_or_product(
    n: usize,
    kind: Option<&str>,
    lower: impl Fn(usize, usize) -> f64,
    symmetric: impl Fn(usize, usize) -> f64,
) -> Result<Val> {
    match kind {
        None | Some("symmetric") => made([n, n], symmetric),
        Some("lower") => made([n, n], lower),
        Some("upper") => made([n, n], |i, j| lower(j, i)),
        Some(kind) => bail!(Value, "Expected kind to be on of 'symmetric', 'lower', 'upper'; got kind='{kind}'"),
    }
}

/// Pascal's matrix of binomial coefficients.
///
/// Args:
///   n: its size, an int.
///   kind: "lower" for `comb(i, j)`, "upper" for its transpose, "symmetric", the default, for the product of the two.
/// Returns: floating `[n, n]`.
/// Raises:
///   ValueError: another kind.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> print(jax.scipy.linalg.pascal(3))
///   [[1. 1. 1.]
///    [1. 2. 3.]
///    [1. 3. 6.]]
#[public("scipy.linalg.pascal(n, kind=None)")]
pub fn pascal(n: usize, kind: Option<&str>) -> Result<Val> {
    let lower = |i: usize, j: usize| rounded(binomial(i, j));
    let found = triangle_or_product(n, kind, lower, |i, j| rounded(binomial(i + j, i)))?;
    // Single precision also with x64, as in the reference.
    crate::convert::to_dtype(&found, pullback_base::DType::F32)
}

/// The inverse of `pascal`, from binomial coefficients, rounded once.
///
/// Args:
///   n: its size, an int.
///   kind: "lower", "upper" or "symmetric", the default: of which matrix.
/// Returns: floating `[n, n]` of whole numbers.
/// Raises:
///   ValueError: another kind.
/// Differentiable: no; it takes no arrays.
/// Example:
///   >>> print(jax.scipy.linalg.invpascal(2))
///   [[ 2. -1.]
///    [-1.  1.]]
#[public("scipy.linalg.invpascal(n, kind=None)")]
pub fn invpascal(n: usize, kind: Option<&str>) -> Result<Val> {
    let entry = |i: usize, j: usize| signed(i + j, rounded(binomial(i, j)));
    triangle_or_product(n, kind, entry, |i, j| (i.max(j)..n).map(|k| entry(k, i) * entry(k, j)).sum())
}

/// The Leslie matrix of a population: fecundities in the first row, survivals below the diagonal.
///
/// P. H. Leslie, "On the use of matrices in certain population mathematics", 1945.
///
/// Args:
///   f: fecundities `[..., n]`.
///   s: survivals `[..., n - 1]`.
/// Returns: `[..., n, n]` of the promoted dtype.
/// Raises:
///   ValueError: the lengths do not fit.
///   TypeError: an argument is no array or number, as lists are.
/// Differentiable: yes, linear.
/// Example:
///   >>> print(jax.scipy.linalg.leslie(jnp.array([0, 2, 1]), jnp.array([5, 3])))
///   [[0 2 1]
///    [5 0 0]
///    [0 3 0]]
#[public("scipy.linalg.leslie(f, s)")]
pub fn leslie(f: &Val, s: &Val) -> Result<Val> {
    let (f, s) = (atleast(f, 1)?, atleast(s, 1)?);
    let length = |x: &Val| x.aval().shape[x.aval().rank() - 1];
    let n = length(&f);
    if n != length(&s) + 1 {
        bail!(
            Value,
            "Incorrect lengths for f and s. The length of s along the last axis must be one less than the length of f; got f \
             shape {} and s shape {}.",
            tuple_text(&f.aval().shape),
            tuple_text(&s.aval().shape)
        );
    }
    let ins = promote_dtypes(&[f, s])?;
    let dtype = ins[0].aval().dtype;
    let (f, s) = (convert(&ins[0], dtype, false)?, convert(&ins[1], dtype, false)?);
    let diagonal = (of(&column(&s)?) * numpy::eye(n as i64 - 1, None, 0, Some(dtype))).done()?;
    let mut widths = vec![(0, 0); diagonal.aval().rank()];
    widths[diagonal.aval().rank() - 1] = (0, 1);
    let below = numpy::pad(&diagonal, &widths, PadMode::Constant, &weak_int(0))?;
    numpy::concatenate(&[row(&f)?, below], Some(-2), None)
}
