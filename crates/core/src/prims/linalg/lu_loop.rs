//! LU factors for engines without a library: one column after the other, with the greatest element as its pivot.
//!
//! All matrices of a batch go together. A pivot of zero leaves its column as it is, as LAPACK does.

use pullback_base::{Aval, DType, Result, Scalar};
use pullback_ir::hlo::{HloCx, HloValue, HloValues};
use smallvec::smallvec;

/// Sizes of the batch and of its matrices.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    rows: usize,
    columns: usize,
}

/// A whole number that positions are compared with.
fn int(cx: &mut dyn HloCx, number: usize) -> HloValue {
    cx.constant(Scalar::int(DType::I32, number as i128))
}

/// Axes `dims` of a matrix batch, from an array that has those only.
fn spread(cx: &mut dyn HloCx, x: HloValue, dims: &[usize], n: Sizes) -> HloValue {
    cx.broadcast_in_dim(x, dims, &[n.batch, n.rows, n.columns])
}

fn slice_at(cx: &mut dyn HloCx, x: HloValue, starts: &[HloValue], sizes: &[usize]) -> HloValue {
    let ins: Vec<HloValue> = std::iter::once(x).chain(starts.iter().copied()).collect();
    cx.one("stablehlo.dynamic_slice", &format!("sizes = {sizes:?}"), &ins, Aval::new(sizes, x.aval.dtype))
}

fn write_at(cx: &mut dyn HloCx, x: HloValue, part: HloValue, starts: &[HloValue]) -> HloValue {
    let ins: Vec<HloValue> = [x, part].into_iter().chain(starts.iter().copied()).collect();
    cx.one("stablehlo.dynamic_update_slice", "", &ins, x.aval)
}

/// What elements are compared by: the sum of the sizes of their parts.
fn magnitude(cx: &mut dyn HloCx, x: HloValue) -> HloValue {
    if !x.aval.dtype.is_complex() {
        return cx.unary("stablehlo.abs", x);
    }
    let part = Aval::new(&x.aval.shape, x.aval.dtype.real());
    let [re, im] = ["stablehlo.real", "stablehlo.imag"].map(|name| {
        let part = cx.one(name, "", &[x], part);
        cx.unary("stablehlo.abs", part)
    });
    cx.binary("stablehlo.add", re, im)
}

/// The row of each matrix, from `k` on, whose element in the column is the greatest; `k` where none is, for NaNs.
fn pivot_of(cx: &mut dyn HloCx, column: HloValue, k: HloValue, n: Sizes) -> Result<HloValue> {
    let shape = [n.batch, n.rows];
    let size = magnitude(cx, column);
    let rows = cx.iota(&shape, DType::I32, 1);
    let first = cx.repeated_scalar(k, &shape);
    let below = cx.compare("GE", rows, first);
    let none = cx.full(Scalar::float(size.aval.dtype, -1.0), &shape);
    let size = cx.select(below, size, none);
    let greatest = cx.reduce(size, Scalar::float(size.aval.dtype, -1.0), "stablehlo.maximum", &[1])?;
    let greatest = cx.broadcast_in_dim(greatest, &[0], &shape);
    let is_greatest = cx.compare("EQ", size, greatest);
    let beyond = Scalar::int(DType::I32, n.rows as i128);
    let outside = cx.full(beyond, &shape);
    let candidates = cx.select(is_greatest, rows, outside);
    let found = cx.reduce(candidates, beyond, "stablehlo.minimum", &[1])?;
    let (outside, first) = (cx.full(beyond, &[n.batch]), cx.repeated_scalar(k, &[n.batch]));
    let is_none = cx.compare("EQ", found, outside);
    Ok(cx.select(is_none, first, found))
}

/// One column: exchange of rows, division by the pivot, and what that leaves of the columns after it.
fn step(cx: &mut dyn HloCx, carry: &[HloValue], n: Sizes) -> Result<HloValues> {
    let [k, lu, pivots, order] = *carry else { unreachable!("the loop carries four values") };
    let (batch, rows, columns) = (n.batch, n.rows, n.columns);
    let zero = int(cx, 0);
    let column = slice_at(cx, lu, &[zero, zero, k], &[batch, rows, 1]);
    let column = cx.reshape(column, &[batch, rows]);
    let pivot = pivot_of(cx, column, k, n)?;
    let row_numbers = cx.iota(&[batch, rows], DType::I32, 1);
    let (first, chosen) = (cx.repeated_scalar(k, &[batch, rows]), cx.broadcast_in_dim(pivot, &[0], &[batch, rows]));
    let (is_first, is_chosen) = (cx.compare("EQ", row_numbers, first), cx.compare("EQ", row_numbers, chosen));
    let is_below = cx.compare("GT", row_numbers, first);

    // The two rows, and with them their numbers.
    let nothing = Scalar::zero(lu.aval.dtype);
    let (first_all, chosen_all) = (spread(cx, is_first, &[0, 1], n), spread(cx, is_chosen, &[0, 1], n));
    let zeros = cx.full(nothing, &[batch, rows, columns]);
    let only = cx.select(chosen_all, lu, zeros);
    let pivot_row = cx.reduce(only, nothing, "stablehlo.add", &[1])?;
    let upper = slice_at(cx, lu, &[zero, k, zero], &[batch, 1, columns]);
    let upper = cx.reshape(upper, &[batch, columns]);
    let (pivot_rows, upper_rows) = (spread(cx, pivot_row, &[0, 2], n), spread(cx, upper, &[0, 2], n));
    let lower = cx.select(chosen_all, upper_rows, lu);
    let lu = cx.select(first_all, pivot_rows, lower);
    let no_number = Scalar::int(DType::I32, 0);
    let no_numbers = cx.full(no_number, &[batch, rows]);
    let only = cx.select(is_chosen, order, no_numbers);
    let chosen_number = cx.reduce(only, no_number, "stablehlo.add", &[1])?;
    let chosen_number = cx.broadcast_in_dim(chosen_number, &[0], &[batch, rows]);
    let first_number = slice_at(cx, order, &[zero, k], &[batch, 1]);
    let first_number = cx.reshape(first_number, &[batch]);
    let first_number = cx.broadcast_in_dim(first_number, &[0], &[batch, rows]);
    let order_below = cx.select(is_chosen, first_number, order);
    let order = cx.select(is_first, chosen_number, order_below);
    let pivot = cx.reshape(pivot, &[batch, 1]);
    let pivots = write_at(cx, pivots, pivot, &[zero, k]);

    // The column divided by the pivot, and the rest of the matrix less their product.
    let column = slice_at(cx, lu, &[zero, zero, k], &[batch, rows, 1]);
    let column = cx.reshape(column, &[batch, rows]);
    let divisor = slice_at(cx, lu, &[zero, k, k], &[batch, 1, 1]);
    let divisor = cx.reshape(divisor, &[batch]);
    let divisor = cx.broadcast_in_dim(divisor, &[0], &[batch, rows]);
    let nothings = cx.full(nothing, &[batch, rows]);
    let is_zero = cx.compare("EQ", divisor, nothings);
    let divided = cx.binary("stablehlo.divide", column, divisor);
    let divided = cx.select(is_zero, column, divided);
    let column = cx.select(is_below, divided, column);
    let part = cx.reshape(column, &[batch, rows, 1]);
    let lu = write_at(cx, lu, part, &[zero, zero, k]);
    let (left, right) = (spread(cx, divided, &[0, 1], n), spread(cx, pivot_row, &[0, 2], n));
    let product = cx.binary("stablehlo.multiply", left, right);
    let rest = cx.binary("stablehlo.subtract", lu, product);
    let column_numbers = cx.iota(&[batch, rows, columns], DType::I32, 2);
    let first = cx.repeated_scalar(k, &[batch, rows, columns]);
    let is_right = cx.compare("GT", column_numbers, first);
    let is_below = spread(cx, is_below, &[0, 1], n);
    let is_rest = cx.binary("stablehlo.and", is_below, is_right);
    let lu = cx.select(is_rest, rest, lu);
    let one = int(cx, 1);
    Ok(smallvec![cx.binary("stablehlo.add", k, one), lu, pivots, order])
}

/// The factors, pivots and order of rows of a batch of matrices.
pub(super) fn factors(cx: &mut dyn HloCx, a: HloValue, outs: &[Aval]) -> Result<HloValues> {
    let [ref batch @ .., rows, columns] = a.aval.shape[..] else { unreachable!("lu has matrices") };
    let n = Sizes { batch: batch.iter().product(), rows, columns };
    let least = rows.min(columns);
    let start = int(cx, 0);
    let lu = cx.reshape(a, &[n.batch, rows, columns]);
    let pivots = cx.full(Scalar::int(DType::I32, 0), &[n.batch, least]);
    let order = cx.iota(&[n.batch, rows], DType::I32, 1);
    let mut condition = |cx: &mut dyn HloCx, carry: &[HloValue]| {
        let end = int(cx, least);
        Ok(smallvec![cx.compare("LT", carry[0], end)])
    };
    let mut body = |cx: &mut dyn HloCx, carry: &[HloValue]| step(cx, carry, n);
    let found = if a.aval.size() == 0 {
        smallvec![start, lu, pivots, order]
    } else {
        cx.while_loop(Some(least), &[start, lu, pivots, order], &mut condition, &mut body)?
    };
    Ok(found[1..].iter().zip(outs).map(|(&x, out)| cx.reshape(x, &out.shape)).collect())
}
