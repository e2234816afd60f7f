//! Convolutions with few places and large windows, whose batch lies side by side: gradients by the kernel.
//!
//! A place of the result is one product of matrices: of the operand, moved to that place, by the "kernel", which is the
//! cotangent. Its depth is every element of the window; slices of it are summed by themselves and added up in order, so that
//! threads share a product whose result is small.

use pullback_base::Result;
use pullback_base::array::scratch;
use pullback_runtime::interrupt::{shared_pieces, shared_pieces_with};

use super::{Element, Plan, SHARED, grid_index, grid_offset, uniform_stride};
use crate::matmul::Matrix;
use crate::typed::Shared;

/// Elements of a packed block that stay in the cache.
const BLOCK: usize = 1 << 16;
/// The depth of a slice, and the most slices and elements of all their sums.
const SLICE: usize = 1 << 12;
const MOST_SLICES: usize = 16;
const MOST_SUMS: usize = 1 << 22;
/// The smallest batch that is worth a product.
const LEAST_BATCH: usize = 8;

pub(super) fn fits(plan: &Plan) -> bool {
    let is_gradient = plan.groups == 1 && plan.n_window >= plan.out.n_places();
    is_gradient && plan.lhs.strides[0] == 1 && plan.lhs.sizes[0] >= LEAST_BATCH && row_stride(plan).is_some()
}

/// The distance of neighbours in the depth of the right operand, if it is one.
fn row_stride(plan: &Plan) -> Option<usize> {
    let stride = uniform_stride(plan.rhs.space(), &plan.rhs.strides[2..])?;
    (plan.rhs.sizes[1] <= 1 || plan.rhs.strides[1] == stride * plan.n_window).then_some(stride)
}

pub(super) fn run<T: Element>(plan: &Plan, lhs: &[T], rhs: &[T], out: &mut [T]) -> Result<()> {
    let [batch, n_out, places] = [plan.lhs.sizes[0], plan.rhs.sizes[0], plan.out.n_places()];
    let depth = plan.depth();
    let one = batch * n_out;
    let n_slices = depth.div_ceil(SLICE).min(MOST_SLICES).min(MOST_SUMS / (places * one)).max(1);
    let slice = depth.div_ceil(n_slices);
    let n_slices = depth.div_ceil(slice);
    let mut sums = scratch(n_slices * places * one, T::ZERO)?;
    let shared = Shared::new(&mut sums);
    let block = (BLOCK / batch).max(256).min(slice);
    let work = |packed: &mut Vec<T>, task: usize| {
        let (number, place) = (task / places, task % places);
        // SAFETY: each task has sums of its own.
        let to = unsafe { shared.part(task * one, one) };
        let end = depth.min((number + 1) * slice);
        for start in (number * slice..end).step_by(block) {
            let n = block.min(end - start);
            pack(plan, lhs, place, start, &mut packed[..n * batch]);
            add_block(plan, packed, rhs, start, n, to);
        }
    };
    let memory = || vec![T::ZERO; block * batch];
    if plan.work() >= SHARED {
        shared_pieces_with(n_slices * places, memory, work)?;
    } else {
        let mut memory = memory();
        (0..n_slices * places).for_each(|task| work(&mut memory, task));
    }
    let out = Shared::new(out);
    shared_pieces(places, &|place| {
        let offset = grid_offset(plan.out.space(), &plan.out.strides[2..], place);
        for i in 0..one {
            let sum = (0..n_slices).map(|slice| sums[(slice * places + place) * one + i]).reduce(Element::plus);
            let at = offset + i / n_out * plan.out.strides[0] + i % n_out * plan.out.strides[1];
            // SAFETY: places have disjoint elements.
            unsafe { out.part(at, 1)[0] = sum.expect("there is a slice") };
        }
    })
}

/// Adds the product of a packed block by the rows of the right operand from `start` on.
fn add_block<T: Element>(plan: &Plan, packed: &mut [T], rhs: &[T], start: usize, n: usize, to: &mut [T]) {
    let [batch, n_out] = [plan.lhs.sizes[0], plan.rhs.sizes[0]];
    let row_stride = row_stride(plan).expect("the plan fits");
    let rows = &rhs[start * row_stride..];
    debug_assert!((n - 1) * row_stride + (n_out - 1) * plan.rhs.strides[0] < rows.len(), "rows lie inside");
    let a = Matrix { start: packed.as_mut_ptr(), strides: [1, batch as isize] };
    let strides = [row_stride as isize, plan.rhs.strides[0] as isize];
    let b = Matrix { start: rows.as_ptr().cast_mut(), strides };
    let c = Matrix { start: to.as_mut_ptr(), strides: [n_out as isize, 1] };
    // SAFETY: all elements exist, and `to` is borrowed exclusively.
    unsafe { T::add_product([batch, n_out, n], a, b, c) };
}

/// The operand at one place, for elements of the window from `start` on.
fn pack<T: Element>(plan: &Plan, lhs: &[T], place: usize, start: usize, mut packed: &mut [T]) {
    let (batch, last) = (plan.lhs.sizes[0], plan.axes.len() - 1);
    let (mut place_index, mut window) = (vec![0; last + 1], vec![0; last + 1]);
    grid_index(plan.out.space(), place, &mut place_index);
    let width = plan.rhs.space()[last];
    let mut row = start;
    while !packed.is_empty() {
        grid_index(plan.rhs.space(), row % plan.n_window, &mut window);
        let from = window[last];
        let to = width.min(from + packed.len() / batch);
        let (line, rest) = packed.split_at_mut((to - from) * batch);
        let at = |i: usize| Some(plan.axes[i].position(place_index[i], window[i])? * plan.lhs.strides[2 + i]);
        match (0..last).map(at).sum::<Option<usize>>() {
            Some(outer) => {
                let start = row / plan.n_window * plan.lhs.strides[1] + outer;
                copy_line(plan, &lhs[start..], place_index[last], from, line);
            }
            None => line.fill(T::ZERO),
        }
        row += to - from;
        packed = rest;
    }
}

/// The operand at elements of the window along the last axis, from one on.
fn copy_line<T: Element>(plan: &Plan, lhs: &[T], place: usize, from: usize, line: &mut [T]) {
    let (axis, batch) = (&plan.axes[plan.axes.len() - 1], plan.lhs.sizes[0]);
    let stride = plan.lhs.strides[plan.lhs.strides.len() - 1];
    if stride == batch && axis.lhs_dilation == 1 && axis.rhs_dilation == 1 {
        let first = place as i64 * axis.stride - axis.low + from as i64;
        let inside = |element: i64| element.clamp(0, (line.len() / batch) as i64) as usize * batch;
        let (begin, end) = (inside(-first), inside(axis.size - first));
        if begin < end {
            let source = (first + (begin / batch) as i64) as usize * batch;
            line[begin..end].copy_from_slice(&lhs[source..][..end - begin]);
        }
        line[..begin.min(end)].fill(T::ZERO);
        line[end..].fill(T::ZERO);
        return;
    }
    for (window, to) in (from..).zip(line.chunks_exact_mut(batch)) {
        match axis.position(place, window) {
            Some(at) => to.copy_from_slice(&lhs[at * stride..][..batch]),
            None => to.fill(T::ZERO),
        }
    }
}
