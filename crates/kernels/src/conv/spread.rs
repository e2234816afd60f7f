//! Convolutions with gaps in the operand, or with few features in the result: transposed ones, and gradients by the input.
//!
//! Every place of the operand is multiplied by all of the kernel at once, and what it gives is added where the places of the
//! result lie. Gaps are not multiplied, and the operand is not copied for each element of the window.

use pullback_base::Result;
use pullback_base::array::scratch;
use pullback_runtime::interrupt::shared_pieces_with;

use super::{Element, Plan, SHARED, grid_index, grid_offset, uniform_stride};
use crate::matmul::Matrix;
use crate::typed::Shared;

/// Elements of the products of a block.
const BLOCK: usize = 1 << 19;

pub(super) fn fits(plan: &Plan) -> bool {
    let [n_in, n_out] = plan.features;
    let has_gaps = plan.axes.iter().any(|axis| axis.lhs_dilation > 1);
    let is_plain = plan.groups == 1 && plan.axes.iter().all(|axis| axis.stride == 1);
    let lie_in_rows = plan.lhs.strides[1] == 1 && plan.out.strides[1] == 1 && n_in > 1;
    let row_stride = uniform_stride(plan.lhs.space(), &plan.lhs.strides[2..]);
    is_plain && lie_in_rows && row_stride.is_some() && (has_gaps || 2 * n_out <= n_in)
}

/// The kernel as a matrix, and how the result is cut along its first axis.
struct Spread<'a, T> {
    plan: &'a Plan,
    lhs: &'a [T],
    weights: Vec<T>,
    /// Rows of the result, along the first axis, in a block.
    block: usize,
}

pub(super) fn run<T: Element>(plan: &Plan, lhs: &[T], rhs: &[T], out: &mut [T]) -> Result<()> {
    let n_products = plan.n_window * plan.features[1];
    let inner: usize = plan.lhs.space()[1..].iter().product();
    let axis = &plan.axes[0];
    let block = (BLOCK / (inner * n_products)).max(1) * axis.lhs_dilation as usize;
    let spread = Spread { plan, lhs, weights: weights_of(plan, rhs)?, block };
    let n_blocks = plan.out.space()[0].div_ceil(block);
    let shared = Shared::new(out);
    let memory = Vec::new;
    let work = |products: &mut Vec<T>, task: usize| {
        spread.block(task / n_blocks, task % n_blocks * block, products, &shared);
    };
    let n_tasks = plan.out.sizes[0] * n_blocks;
    if plan.work() >= SHARED {
        return shared_pieces_with(n_tasks, memory, work);
    }
    let mut memory = memory();
    (0..n_tasks).for_each(|task| work(&mut memory, task));
    Ok(())
}

/// A matrix of in features by windows by out features. Along the last axis windows are turned around, so that they lie as the
/// places of the result do.
fn weights_of<T: Element>(plan: &Plan, rhs: &[T]) -> Result<Vec<T>> {
    let ([n_in, n_out], width) = (plan.features, plan.rhs.space()[plan.axes.len() - 1]);
    let mut weights = scratch(rhs.len(), T::ZERO)?;
    for (number, to) in weights.chunks_exact_mut(n_out).enumerate() {
        let (feature, turned) = (number / plan.n_window, number % plan.n_window);
        let window = turned / width * width + (width - 1 - turned % width);
        let offset = grid_offset(plan.rhs.space(), &plan.rhs.strides[2..], window) + feature * plan.rhs.strides[1];
        to.iter_mut().enumerate().for_each(|(out, to)| *to = rhs[offset + out * plan.rhs.strides[0]]);
    }
    debug_assert_eq!(weights.len(), n_in * plan.n_window * n_out, "a weight for each");
    Ok(weights)
}

impl<T: Element> Spread<'_, T> {
    /// Rows of one example's result from `first` on.
    fn block(&self, example: usize, first: usize, products: &mut Vec<T>, out: &Shared<T>) {
        let plan = self.plan;
        let end = plan.out.space()[0].min(first + self.block);
        self.clear(example, first..end, out);
        let rows = self.rows(first..end);
        if rows.is_empty() {
            return;
        }
        self.multiply(example, rows.clone(), products);
        let (n_axes, last) = (plan.axes.len(), plan.axes.len() - 1);
        // Lines of the operand along the last axis; with one axis the rows themselves are the line.
        let sizes: Vec<usize> = match last {
            0 => vec![],
            _ => [&[rows.len()], &plan.lhs.space()[1..last]].concat(),
        };
        let n_lines: usize = sizes.iter().product();
        let line_len = products.len() / n_lines;
        let mut at = vec![0; n_axes];
        for (number, line) in products.chunks_exact(line_len).enumerate() {
            grid_index(&sizes, number, &mut at[..last]);
            at[0] += rows.start;
            self.add_line(example, &at, first..end, line, out);
        }
    }

    /// Rows of the operand that reach these rows of the result.
    fn rows(&self, out: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let axis = &self.plan.axes[0];
        let reach = (self.plan.rhs.space()[0] as i64 - 1) * axis.rhs_dilation;
        let low = (out.start as i64 - axis.low).div_euclid(axis.lhs_dilation);
        let high = (out.end as i64 - 1 - axis.low + reach).div_euclid(axis.lhs_dilation) + 1;
        low.clamp(0, axis.size) as usize..high.clamp(0, axis.size) as usize
    }

    fn clear(&self, example: usize, rows: std::ops::Range<usize>, out: &Shared<T>) {
        let (plan, n_out) = (self.plan, self.plan.features[1]);
        let inner = plan.out.n_places() / plan.out.space()[0];
        for place in rows.start * inner..rows.end * inner {
            let offset = example * plan.out.strides[0] + grid_offset(plan.out.space(), &plan.out.strides[2..], place);
            // SAFETY: features of a place in rows that no other task has.
            unsafe { out.part(offset, n_out) }.fill(T::ZERO);
        }
    }

    /// What each place of rows of the operand gives to its window.
    fn multiply(&self, example: usize, rows: std::ops::Range<usize>, products: &mut Vec<T>) {
        let (plan, n_in) = (self.plan, self.plan.features[0]);
        let n_products = plan.n_window * plan.features[1];
        let inner: usize = plan.lhs.space()[1..].iter().product();
        let n = rows.len() * inner;
        products.clear();
        products.resize(n * n_products, T::ZERO);
        let row_stride = uniform_stride(plan.lhs.space(), &plan.lhs.strides[2..]).expect("the plan fits");
        let from = &self.lhs[example * plan.lhs.strides[0] + rows.start * inner * row_stride..];
        debug_assert!((n - 1) * row_stride + n_in <= from.len(), "rows lie inside");
        let a = Matrix { start: from.as_ptr().cast_mut(), strides: [row_stride as isize, 1] };
        let b = Matrix { start: self.weights.as_ptr().cast_mut(), strides: [n_products as isize, 1] };
        let c = Matrix { start: products.as_mut_ptr(), strides: [n_products as isize, 1] };
        // SAFETY: all elements exist, and `products` is borrowed exclusively.
        unsafe { T::product([n, n_products, n_in], a, b, c) };
    }

    /// Adds what a line of the operand gives, at its indices along all axes but the last.
    fn add_line(&self, example: usize, at: &[usize], rows: std::ops::Range<usize>, line: &[T], out: &Shared<T>) {
        let (plan, n_out, last) = (self.plan, self.plan.features[1], self.plan.axes.len() - 1);
        let width = plan.rhs.space()[last];
        let mut window = vec![0; last];
        for number in 0..plan.n_window / width {
            grid_index(&plan.rhs.space()[..last], number, &mut window);
            let place = |i: usize| {
                let axis = &plan.axes[i];
                let place = at[i] as i64 * axis.lhs_dilation + axis.low - window[i] as i64 * axis.rhs_dilation;
                let inside = if i == 0 { rows.clone() } else { 0..plan.out.space()[i] };
                let place = usize::try_from(place).ok().filter(|place| inside.contains(place))?;
                Some(place * plan.out.strides[2 + i])
            };
            let Some(outer) = (0..last).map(place).sum::<Option<usize>>() else { continue };
            let start = example * plan.out.strides[0] + outer;
            let inside = if last == 0 { rows.clone() } else { 0..plan.out.space()[last] };
            let first = number * width * n_out;
            for (position, products) in line.chunks_exact(plan.n_window * n_out).enumerate() {
                let position = if last == 0 { at[0] + position } else { position };
                self.add_window(position, &products[first..][..width * n_out], start, inside.clone(), out);
            }
        }
    }

    /// Adds what one place of the operand gives along the last axis.
    fn add_window(
        &self,
        position: usize,
        products: &[T],
        start: usize,
        inside: std::ops::Range<usize>,
        out: &Shared<T>,
    ) {
        let (plan, n_out, last) = (self.plan, self.plan.features[1], self.plan.axes.len() - 1);
        let (axis, stride) = (&plan.axes[last], plan.out.strides[2 + last]);
        let n = products.len() / n_out;
        let begin = position as i64 * axis.lhs_dilation + axis.low - (n as i64 - 1) * axis.rhs_dilation;
        let add = |to: usize, from: &[T]| {
            // SAFETY: features of places in rows that no other task has.
            let to = unsafe { out.part(start + to, from.len()) };
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = to.plus(from));
        };
        if axis.rhs_dilation == 1 && stride == n_out {
            let clip = |place: usize| (place as i64 - begin).clamp(0, n as i64) as usize;
            let (from, to) = (clip(inside.start), clip(inside.end));
            if from < to {
                add((begin + from as i64) as usize * stride, &products[from * n_out..to * n_out]);
            }
            return;
        }
        for (number, products) in products.chunks_exact(n_out).enumerate() {
            let place = usize::try_from(begin + number as i64 * axis.rhs_dilation).ok();
            if let Some(place) = place.filter(|place| inside.contains(place)) {
                add(place * stride, products);
            }
        }
    }
}
