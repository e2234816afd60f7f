//! Convolutions: windows of the operand packed into a matrix, a block of rows at a time, and multiplied with the kernel.
//!
//! A row of that matrix is one place of the result, a column one element of the window. Blocks depend on sizes only, so
//! results do not depend on the number of threads. Three forms that gradients and layers by channel have go other ways:
//! `spread`, `correlate` and `channelwise`.

mod channelwise;
mod correlate;
mod spread;

use faer::Accum;
#[cfg(feature = "complex")]
use num_complex::{Complex32 as c32, Complex64 as c64};
use pullback_base::array::scratch;
use pullback_base::{DType, Result, bail};
use pullback_loops::Conv;
use pullback_runtime::interrupt::shared_pieces_with;

use crate::matmul::{Matrix, product, product_into};
use crate::typed::{Plain, Shared, operand, result, strides_of};

/// Elements of a packed block that stay in the cache.
const BLOCK: usize = 1 << 17;
/// The fewest rows of a block, where there are as many.
const MIN_ROWS: usize = 64;
/// From this many multiplications on, threads share a convolution.
const SHARED: usize = 1 << 18;

/// A convolution of checked operands.
pub(crate) fn conv(conv: &Conv, lhs: &[u8], rhs: &[u8], out: &mut [u8]) -> Result<()> {
    match conv.dtype {
        DType::F32 => run::<f32>(conv, lhs, rhs, out),
        DType::F64 => run::<f64>(conv, lhs, rhs, out),
        #[cfg(feature = "complex")]
        DType::C64 => run::<c32>(conv, lhs, rhs, out),
        #[cfg(feature = "complex")]
        DType::C128 => run::<c64>(conv, lhs, rhs, out),
        // Integers wrap, so signs make no difference.
        DType::I8 | DType::U8 => run::<u8>(conv, lhs, rhs, out),
        DType::I16 | DType::U16 => run::<u16>(conv, lhs, rhs, out),
        DType::I32 | DType::U32 => run::<u32>(conv, lhs, rhs, out),
        DType::I64 | DType::U64 => run::<u64>(conv, lhs, rhs, out),
        other => bail!(NotImplemented, "there is no convolution kernel for {other}"),
    }
}

/// An element with its matrix product.
trait Element: Plain {
    const ZERO: Self;
    /// # Safety
    /// As of [`product`].
    unsafe fn product(sizes: [usize; 3], a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>);
    /// A product that is added to what is there.
    ///
    /// # Safety
    /// As of [`product`].
    unsafe fn add_product(sizes: [usize; 3], a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>);
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! floats {
    ($($ty:ty: $zero:expr, $one:expr;)*) => {$(
        impl Element for $ty {
            const ZERO: Self = $zero;
            unsafe fn product(sizes: [usize; 3], a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>) {
                // SAFETY: by contract.
                unsafe { product(sizes, a, b, c, $zero, $one) }
            }
            unsafe fn add_product(sizes: [usize; 3], a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>) {
                // SAFETY: by contract.
                unsafe { product_into(Accum::Add, sizes, a, b, c, $zero, $one) }
            }
            fn plus(self, other: Self) -> Self { self + other }
            fn times(self, other: Self) -> Self { self * other }
        }
    )*};
}
floats! {
    f32: 0.0, 1.0;
    f64: 0.0, 1.0;
}
#[cfg(feature = "complex")]
floats! {
    c32: c32 { re: 0.0, im: 0.0 }, c32 { re: 1.0, im: 0.0 };
    c64: c64 { re: 0.0, im: 0.0 }, c64 { re: 1.0, im: 0.0 };
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Element for $ty {
            const ZERO: Self = 0;
            unsafe fn product([m, n, k]: [usize; 3], a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>) {
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    // SAFETY: by contract.
                    unsafe { *c.at(i, j) = 0 };
                }
                // SAFETY: by contract.
                unsafe { Self::add_product([m, n, k], a, b, c) }
            }
            unsafe fn add_product([m, n, k]: [usize; 3], a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>) {
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    // SAFETY: by contract.
                    let term = |l| unsafe { (*a.at(i, l)).wrapping_mul(*b.at(l, j)) };
                    // SAFETY: by contract.
                    let to = unsafe { &mut *c.at(i, j) };
                    *to = (0..k).fold(*to, |sum, l| sum.wrapping_add(term(l)));
                }
            }
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
        }
    )*};
}
integers! { u8 u16 u32 u64 }

/// One array as batch (or out features), features, space.
struct Layout {
    sizes: Vec<usize>,
    strides: Vec<usize>,
}

impl Layout {
    fn new(shape: &[usize], spec: &[usize]) -> Layout {
        let strides = strides_of(shape);
        let mut layout = Layout {
            sizes: spec.iter().map(|&axis| shape[axis]).collect(),
            strides: spec.iter().map(|&axis| strides[axis]).collect(),
        };
        if spec.len() == 2 {
            // Without space there is one place.
            layout.sizes.push(1);
            layout.strides.push(1);
        }
        layout
    }

    fn space(&self) -> &[usize] {
        &self.sizes[2..]
    }

    fn n_places(&self) -> usize {
        self.space().iter().product()
    }
}

/// How one axis of space is walked.
#[derive(Clone, Copy)]
struct Axis {
    size: i64,
    stride: i64,
    low: i64,
    lhs_dilation: i64,
    rhs_dilation: i64,
}

impl Axis {
    /// The position in the operand for a place of the result and of the window.
    fn position(&self, place: usize, window: usize) -> Option<usize> {
        let at = place as i64 * self.stride - self.low + window as i64 * self.rhs_dilation;
        let is_inside = at >= 0 && at % self.lhs_dilation == 0 && at / self.lhs_dilation < self.size;
        is_inside.then(|| (at / self.lhs_dilation) as usize)
    }

    /// Places of `from..to` that meet elements: the first, their distance and number; and the distance of the elements.
    fn run(&self, from: usize, to: usize, window: usize) -> Option<(usize, usize, usize, usize)> {
        let offset = self.low - window as i64 * self.rhs_dilation;
        let start = ((offset.max(0) + self.stride - 1) / self.stride) as usize;
        let mut candidates = (start.max(from)..to).take(self.lhs_dilation as usize);
        let first = candidates.find(|&place| self.position(place, window).is_some())?;
        let period = self.lhs_dilation / gcd(self.stride, self.lhs_dilation);
        let last = (self.size - 1) * self.lhs_dilation + offset;
        let end = (last.div_euclid(self.stride) + 1).min(to as i64);
        let count = (end - first as i64 + period - 1) / period;
        let step = self.stride * period / self.lhs_dilation;
        Some((first, period as usize, count as usize, step as usize))
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

struct Plan {
    lhs: Layout,
    rhs: Layout,
    out: Layout,
    axes: Vec<Axis>,
    groups: usize,
    /// In and out features of a group.
    features: [usize; 2],
    /// Elements of a window in one feature.
    n_window: usize,
    /// Whether a row of the packed matrix is contiguous, else a column.
    by_rows: bool,
    /// Images whose rows lie apart in the result, and the rows of one.
    images: usize,
    rows: usize,
    /// The distance of rows in the result, if it is one.
    row_stride: Option<usize>,
    block: usize,
    batch_groups: usize,
}

impl Plan {
    fn new(conv: &Conv) -> Plan {
        let [lhs, rhs, out] = [0, 1, 2].map(|i| Layout::new(&conv.shapes[i], &conv.specs[i]));
        let groups = conv.feature_groups * conv.batch_groups;
        let features = [rhs.sizes[1], rhs.sizes[0] / groups];
        let n_window = rhs.n_places();
        let number = |values: &[usize], i: usize| values.get(i).copied().unwrap_or(1) as i64;
        let axis = |i: usize| Axis {
            size: lhs.space()[i] as i64,
            stride: number(&conv.window_strides, i),
            low: conv.padding.get(i).map_or(0, |padding| padding.0),
            lhs_dilation: number(&conv.lhs_dilation, i),
            rhs_dilation: number(&conv.rhs_dilation, i),
        };
        let axes = (0..lhs.space().len()).map(axis).collect();
        let depth = n_window * features[0];
        let place_stride = uniform_stride(out.space(), &out.strides[2..]);
        let (places, batch) = (out.n_places(), out.sizes[0]);
        let row_stride = place_stride.filter(|_| places > 1).or(Some(out.strides[0]).filter(|_| places <= 1));
        let is_one = row_stride.is_some_and(|stride| batch <= 1 || out.strides[0] == stride * places);
        let (images, rows) = if is_one || row_stride.is_none() { (1, batch * places) } else { (batch, places) };
        let block = (BLOCK / depth.max(1)).max(MIN_ROWS).min(rows.max(1));
        let by_rows = lhs.strides[1] == 1 && features[0] > 1;
        let batch_groups = conv.batch_groups;
        Plan { lhs, rhs, out, axes, groups, features, n_window, by_rows, images, rows, row_stride, block, batch_groups }
    }

    fn depth(&self) -> usize {
        self.n_window * self.features[0]
    }

    /// Multiplications of the whole.
    fn work(&self) -> usize {
        self.rows * self.images * self.depth() * self.rhs.sizes[0]
    }

    /// Where the examples or features of a group begin in the operand.
    fn group_offset(&self, group: usize) -> usize {
        let n = if self.batch_groups > 1 { self.out.sizes[0] } else { self.features[0] };
        group * n * self.lhs.strides[usize::from(self.batch_groups == 1)]
    }

    /// The offset in the result of a row.
    fn row_offset(&self, image: usize, row: usize) -> usize {
        let places = self.out.n_places();
        let (example, mut place) = (image * self.rows / places + row / places, row % places);
        let mut offset = example * self.out.strides[0];
        for (size, stride) in self.out.space().iter().zip(&self.out.strides[2..]).rev() {
            offset += place % size * stride;
            place /= size;
        }
        offset
    }
}

/// The one distance between neighbours of a grid, if it is one.
fn uniform_stride(sizes: &[usize], strides: &[usize]) -> Option<usize> {
    let mut walked = sizes.iter().zip(strides).rev().filter(|(size, _)| **size > 1);
    let Some((&size, &first)) = walked.next() else { return Some(1) };
    let mut next = first * size;
    for (&size, &stride) in walked {
        if stride != next {
            return None;
        }
        next = stride * size;
    }
    Some(first)
}

fn run<T: Element>(conv: &Conv, lhs: &[u8], rhs: &[u8], out: &mut [u8]) -> Result<()> {
    let len = |i: usize| conv.shapes[i].iter().product::<usize>();
    let lhs = operand::<T>(lhs, len(0))?;
    let rhs = operand::<T>(rhs, len(1))?;
    let out = result::<T>(out, len(2))?;
    let plan = Plan::new(conv);
    if out.is_empty() {
        return Ok(());
    }
    if lhs.is_empty() || plan.depth() == 0 {
        out.fill(T::ZERO);
        return Ok(());
    }
    if channelwise::fits(&plan) {
        return channelwise::run(&plan, lhs, rhs, out);
    }
    if spread::fits(&plan) {
        return spread::run(&plan, lhs, rhs, out);
    }
    if correlate::fits(&plan) {
        return correlate::run(&plan, lhs, rhs, out);
    }
    let weights = packed_weights(&plan, rhs)?;
    let n_blocks = plan.rows.div_ceil(plan.block);
    let n_tasks = plan.groups * plan.images * n_blocks;
    let shared = Shared::new(out);
    let memory = || (vec![T::ZERO; plan.block * plan.depth()], vec![]);
    let work = |(packed, scratch): &mut (Vec<T>, Vec<T>), task: usize| {
        let (group, rest) = (task / (plan.images * n_blocks), task % (plan.images * n_blocks));
        let (image, start) = (rest / n_blocks, rest % n_blocks * plan.block);
        let n = plan.block.min(plan.rows - start);
        pack(&plan, lhs, group, image, start, n, packed);
        multiply(&plan, &weights, group, image, start, n, packed, scratch, &shared);
    };
    if plan.work() >= SHARED {
        return shared_pieces_with(n_tasks, memory, work);
    }
    let mut memory = memory();
    (0..n_tasks).for_each(|task| work(&mut memory, task));
    Ok(())
}

/// The kernel as one `[depth, out features]` matrix for each group.
fn packed_weights<T: Element>(plan: &Plan, rhs: &[T]) -> Result<Vec<T>> {
    let [n_in, n_out] = plan.features;
    let mut packed = scratch(rhs.len(), T::ZERO)?;
    packed.clear();
    for group in 0..plan.groups {
        for window in 0..plan.n_window {
            let offset = grid_offset(plan.rhs.space(), &plan.rhs.strides[2..], window);
            for feature in 0..n_in {
                let start = offset + feature * plan.rhs.strides[1] + group * n_out * plan.rhs.strides[0];
                packed.extend((0..n_out).map(|out| rhs[start + out * plan.rhs.strides[0]]));
            }
        }
    }
    Ok(packed)
}

fn grid_offset(sizes: &[usize], strides: &[usize], mut number: usize) -> usize {
    let mut offset = 0;
    for (size, stride) in sizes.iter().zip(strides).rev() {
        offset += number % size * stride;
        number /= size;
    }
    offset
}

fn grid_index(sizes: &[usize], mut number: usize, index: &mut [usize]) {
    for (at, size) in index.iter_mut().zip(sizes).rev() {
        *at = number % size;
        number /= size;
    }
}

/// Windows of `n` rows from `start` on.
fn pack<T: Element>(plan: &Plan, lhs: &[T], group: usize, image: usize, start: usize, n: usize, packed: &mut [T]) {
    if plan.by_rows {
        return pack_rows(plan, lhs, group, image, start, &mut packed[..n * plan.depth()]);
    }
    let depth = plan.depth();
    packed[..n * depth].fill(T::ZERO);
    let places = plan.out.n_places();
    let last = plan.axes.len() - 1;
    let width = plan.out.space()[last];
    let (mut window_index, mut place_index) = (vec![0; last + 1], vec![0; last + 1]);
    let group_offset = plan.group_offset(group);
    for window in 0..plan.n_window {
        grid_index(plan.rhs.space(), window, &mut window_index);
        let mut row = start;
        while row < start + n {
            // One line of the result: rows along the last axis.
            let whole = image * plan.rows + row;
            let (example, place) = (whole / places, whole % places);
            grid_index(plan.out.space(), place, &mut place_index);
            let from = place_index[last];
            let to = width.min(from + start + n - row);
            let line = row - start;
            row += to - from;
            let outer: Option<usize> = (0..last)
                .map(|i| Some(plan.axes[i].position(place_index[i], window_index[i])? * plan.lhs.strides[2 + i]))
                .sum();
            let (Some(outer), Some(run)) = (outer, plan.axes[last].run(from, to, window_index[last])) else { continue };
            let (first, period, count, step) = run;
            let element = plan.axes[last].position(first, window_index[last]).expect("the first of a run is inside");
            let stride = plan.lhs.strides[2 + last];
            let offset = example * plan.lhs.strides[0] + group_offset + outer + element * stride;
            let rows = Rows { first: line + first - from, period, count };
            copy_run(plan, lhs, packed, n, window, rows, offset, step * stride);
        }
    }
}

/// Windows as rows whose elements lie side by side, one row after the other.
fn pack_rows<T: Element>(plan: &Plan, lhs: &[T], group: usize, image: usize, start: usize, packed: &mut [T]) {
    let (places, last) = (plan.out.n_places(), plan.axes.len() - 1);
    let width = plan.rhs.space()[last];
    let line = width * plan.features[0];
    let mut place_index = vec![0; last + 1];
    let mut lines = vec![];
    let mut known = None;
    for (row, to) in (image * plan.rows + start..).zip(packed.chunks_exact_mut(plan.depth())) {
        grid_index(plan.out.space(), row % places, &mut place_index);
        // The lines of a window are the same for all places along the last axis.
        let which = row / plan.out.space()[last];
        if known != Some(which) {
            lines_of(plan, &place_index, plan.group_offset(group) + row / places * plan.lhs.strides[0], &mut lines);
            known = Some(which);
        }
        for (to, &from) in to.chunks_exact_mut(line).zip(&lines) {
            match from {
                Some(from) => copy_line(plan, &lhs[from..], place_index[last], to),
                None => to.fill(T::ZERO),
            }
        }
    }
}

/// Where the lines of a window begin, for the indices of a place along all axes but the last.
fn lines_of(plan: &Plan, place: &[usize], start: usize, lines: &mut Vec<Option<usize>>) {
    let last = plan.axes.len() - 1;
    let mut window = vec![0; last];
    lines.clear();
    for number in 0..plan.n_window / plan.rhs.space()[last] {
        grid_index(&plan.rhs.space()[..last], number, &mut window);
        let at = |i: usize| Some(plan.axes[i].position(place[i], window[i])? * plan.lhs.strides[2 + i]);
        lines.push((0..last).map(at).sum::<Option<usize>>().map(|offset| start + offset));
    }
}

/// The elements of a window along the last axis.
fn copy_line<T: Element>(plan: &Plan, from: &[T], place: usize, to: &mut [T]) {
    let (axis, n_in) = (&plan.axes[plan.axes.len() - 1], plan.features[0]);
    let stride = plan.lhs.strides[plan.lhs.strides.len() - 1];
    if stride == n_in && axis.lhs_dilation == 1 && axis.rhs_dilation == 1 {
        let first = place as i64 * axis.stride - axis.low;
        let inside = |window: i64| window.clamp(0, (to.len() / n_in) as i64) as usize * n_in;
        let (begin, end) = (inside(-first), inside(axis.size - first));
        if begin < end {
            let source = (first + (begin / n_in) as i64) as usize * n_in;
            to[begin..end].copy_from_slice(&from[source..][..end - begin]);
        }
        to[..begin.min(end)].fill(T::ZERO);
        to[end..].fill(T::ZERO);
        return;
    }
    for (window, to) in to.chunks_exact_mut(n_in).enumerate() {
        match axis.position(place, window) {
            Some(at) => to.copy_from_slice(&from[at * stride..][..n_in]),
            None => to.fill(T::ZERO),
        }
    }
}

/// Rows of the packed matrix that one run fills.
#[derive(Clone, Copy)]
struct Rows {
    first: usize,
    period: usize,
    count: usize,
}

#[allow(clippy::too_many_arguments, reason = "one run is all of these")]
fn copy_run<T: Element>(
    plan: &Plan,
    lhs: &[T],
    packed: &mut [T],
    n: usize,
    window: usize,
    rows: Rows,
    offset: usize,
    step: usize,
) {
    let n_in = plan.features[0];
    for feature in 0..n_in {
        let from = offset + feature * plan.lhs.strides[1];
        let to = (window * n_in + feature) * n + rows.first;
        if step == 1 && rows.period == 1 {
            packed[to..to + rows.count].copy_from_slice(&lhs[from..from + rows.count]);
        } else {
            for i in 0..rows.count {
                packed[to + i * rows.period] = lhs[from + i * step];
            }
        }
    }
}

#[allow(clippy::too_many_arguments, reason = "one block is all of these")]
fn multiply<T: Element>(
    plan: &Plan,
    weights: &[T],
    group: usize,
    image: usize,
    start: usize,
    n: usize,
    packed: &mut [T],
    scratch: &mut Vec<T>,
    out: &Shared<T>,
) {
    let (depth, n_out) = (plan.depth(), plan.features[1]);
    let strides = if plan.by_rows { [depth as isize, 1] } else { [1, n as isize] };
    let a = Matrix { start: packed.as_mut_ptr(), strides };
    let kernel = &weights[group * depth * n_out..][..depth * n_out];
    let b = Matrix { start: kernel.as_ptr().cast_mut(), strides: [n_out as isize, 1] };
    let feature_stride = plan.out.strides[1];
    let first_feature = group * n_out * feature_stride;
    if let Some(row_stride) = plan.row_stride {
        let first = plan.row_offset(image, start) + first_feature;
        // SAFETY: the offsets are those of elements of the result, and no other task has these rows and features.
        unsafe {
            let c = Matrix { start: out.start().add(first), strides: [row_stride as isize, feature_stride as isize] };
            T::product([n, n_out, depth], a, b, c);
        }
        return;
    }
    scratch.clear();
    scratch.resize(n * n_out, T::ZERO);
    let c = Matrix { start: scratch.as_mut_ptr(), strides: [n_out as isize, 1] };
    // SAFETY: all three matrices have these sizes.
    unsafe { T::product([n, n_out, depth], a, b, c) };
    for (row, values) in scratch.chunks_exact(n_out).enumerate() {
        let first = plan.row_offset(image, start + row) + first_feature;
        for (feature, &value) in values.iter().enumerate() {
            // SAFETY: an element of the result that no other task writes.
            unsafe { *out.start().add(first + feature * feature_stride) = value };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, for one axis of space.
    fn naive(conv: &Conv, lhs: &[f32], rhs: &[f32]) -> Vec<f32> {
        let [l, r, o] = [0, 1, 2].map(|i| Layout::new(&conv.shapes[i], &conv.specs[i]));
        let mut out = vec![0.0; conv.shapes[2].iter().product()];
        let groups = conv.feature_groups * conv.batch_groups;
        let per_group = r.sizes[0] / groups;
        for (b, f, p) in (0..o.sizes[0]).flat_map(|b| {
            (0..o.sizes[1]).flat_map(move |f| (0..conv.shapes[2][conv.specs[2][2]]).map(move |p| (b, f, p)))
        }) {
            let group = f / per_group;
            let mut sum = 0.0;
            for (c, w) in (0..r.sizes[1]).flat_map(|c| (0..r.sizes[2]).map(move |w| (c, w))) {
                let at = (p * conv.window_strides[0] + w * conv.rhs_dilation[0]) as i64 - conv.padding[0].0;
                let dilation = conv.lhs_dilation[0] as i64;
                if at < 0 || at % dilation != 0 || at / dilation >= l.sizes[2] as i64 {
                    continue;
                }
                let example = if conv.batch_groups > 1 { group * o.sizes[0] + b } else { b };
                let feature = if conv.batch_groups > 1 { c } else { group * r.sizes[1] + c };
                let x = lhs[example * l.strides[0] + feature * l.strides[1] + (at / dilation) as usize * l.strides[2]];
                sum += x * rhs[f * r.strides[0] + c * r.strides[1] + w * r.strides[2]];
            }
            out[b * o.strides[0] + f * o.strides[1] + p * o.strides[2]] = sum;
        }
        out
    }

    fn value(i: usize) -> f32 {
        ((i * 7919 + 13) % 11) as f32 - 5.0
    }

    /// The result for small integers, of which sums are exact in any order.
    fn result_of(conv: &Conv) -> Vec<f32> {
        let bytes = |n: usize, first: usize| (0..n).flat_map(|i| value(i + first).to_le_bytes()).collect::<Vec<u8>>();
        let [lhs, rhs, out] = [0, 1, 2].map(|i| conv.shapes[i].iter().product::<usize>());
        let mut out = vec![0; 4 * out];
        super::conv(conv, &bytes(lhs, 0), &bytes(rhs, 3), &mut out).expect("it runs");
        out.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().expect("four"))).collect()
    }

    fn check(conv: &Conv) {
        let lhs: Vec<f32> = (0..conv.shapes[0].iter().product()).map(value).collect();
        let rhs: Vec<f32> = (0..conv.shapes[1].iter().product()).map(|i| value(i + 3)).collect();
        assert_eq!(result_of(conv), naive(conv, &lhs, &rhs), "{conv:?}");
    }

    /// Shapes whose axes, as a specification names them, have these sizes.
    fn shapes_of<const N: usize>(specs: [[usize; N]; 3], sizes: [[usize; N]; 3]) -> [Vec<usize>; 3] {
        [0, 1, 2].map(|i| {
            let mut shape = vec![0; N];
            (0..N).for_each(|axis| shape[specs[i][axis]] = sizes[i][axis]);
            shape
        })
    }

    /// Stride, padding, dilation of the operand, of the kernel.
    const WALKS: [(usize, i64, i64, usize, usize); 7] = [
        (1, 0, 0, 1, 1),
        (2, 1, 2, 1, 1),
        (1, 3, 1, 3, 2),
        (3, 7, 5, 2, 1),
        (2, -1, -1, 1, 2),
        (3, 2, 0, 2, 3),
        (1, 2, 2, 2, 1),
    ];

    fn check_axis(
        sizes: [usize; 3],
        [feature_groups, batch_groups]: [usize; 2],
        window: usize,
        specs: [[usize; 3]; 3],
    ) {
        let ([batch, n_in, n_out], size) = (sizes, 9);
        for (stride, low, high, lhs_dilation, rhs_dilation) in WALKS {
            let span = (size - 1) * lhs_dilation as i64 + 1 + low + high;
            let room = span - ((window as i64 - 1) * rhs_dilation as i64 + 1);
            let places = if room < 0 { 0 } else { room as usize / stride + 1 };
            let sizes = [
                [batch, n_in, size as usize],
                [n_out, n_in / feature_groups, window],
                [batch / batch_groups, n_out, places],
            ];
            check(&Conv {
                dtype: DType::F32,
                shapes: shapes_of(specs, sizes),
                specs: specs.map(|spec| spec.to_vec()),
                window_strides: vec![stride],
                padding: vec![(low, high)],
                lhs_dilation: vec![lhs_dilation],
                rhs_dilation: vec![rhs_dilation],
                feature_groups,
                batch_groups,
            });
        }
    }

    #[test]
    fn all_parameters_of_one_axis() {
        let (first, last) = ([0, 1, 2], [0, 2, 1]);
        for groups in [[1, 1], [2, 1], [1, 2]] {
            for specs in [[first; 3], [last; 3], [last, [2, 1, 0], [1, 0, 2]]] {
                check_axis([4, 4, 6], groups, 3, specs);
            }
        }
        // Few features in the result; a kernel for each channel; a batch side by side and a long window.
        check_axis([3, 8, 2], [1, 1], 3, [last, [2, 1, 0], last]);
        check_axis([3, 6, 6], [6, 1], 3, [last, [2, 1, 0], last]);
        check_axis([9, 3, 5], [1, 1], 7, [[2, 0, 1], [2, 0, 1], [1, 2, 0]]);
    }

    /// Every way to go gives what the general one gives for the same arrays with their axes in another order.
    fn check_plane(
        sizes: [usize; 3],
        feature_groups: usize,
        window: [usize; 2],
        specs: [[usize; 4]; 3],
        threads: usize,
    ) {
        let ([batch, n_in, n_out], space) = (sizes, [7, 10]);
        for (down, across) in WALKS.into_iter().zip(WALKS.into_iter().cycle().skip(1)) {
            let walks = [down, across];
            let places = [0, 1].map(|i| {
                let (stride, low, high, lhs_dilation, rhs_dilation) = walks[i];
                let span = (space[i] as i64 - 1) * lhs_dilation as i64 + 1 + low + high;
                let room = span - ((window[i] as i64 - 1) * rhs_dilation as i64 + 1);
                if room < 0 { 0 } else { room as usize / stride + 1 }
            });
            let sizes = [
                [batch, n_in, space[0], space[1]],
                [n_out, n_in / feature_groups, window[0], window[1]],
                [batch, n_out, places[0], places[1]],
            ];
            let conv = Conv {
                dtype: DType::F32,
                shapes: shapes_of(specs, sizes),
                specs: specs.map(|spec| spec.to_vec()),
                window_strides: walks.map(|walk| walk.0).to_vec(),
                padding: walks.map(|walk| (walk.1, walk.2)).to_vec(),
                lhs_dilation: walks.map(|walk| walk.3).to_vec(),
                rhs_dilation: walks.map(|walk| walk.4).to_vec(),
                feature_groups,
                batch_groups: 1,
            };
            pullback_runtime::set_threads(threads);
            let got = result_of(&conv);
            pullback_runtime::set_threads(0);
            assert_eq!(got, plane(&conv), "{conv:?}");
        }
    }

    /// The definition, for two axes of space.
    fn plane(conv: &Conv) -> Vec<f32> {
        let [l, r, o] = [0, 1, 2].map(|i| Layout::new(&conv.shapes[i], &conv.specs[i]));
        let per_group = r.sizes[0] / conv.feature_groups;
        let mut out = vec![0.0; conv.shapes[2].iter().product()];
        let grid = |sizes: &[usize]| {
            let sizes = sizes.to_vec();
            (0..sizes.iter().product()).map(move |number| {
                let mut index = vec![0; sizes.len()];
                grid_index(&sizes, number, &mut index);
                index
            })
        };
        let offset = |strides: &[usize], index: &[usize]| -> usize {
            strides.iter().zip(index).map(|(stride, at)| stride * at).sum()
        };
        for to in grid(&o.sizes) {
            let mut sum = 0.0;
            for from in grid(&r.sizes[1..]) {
                let position = |i: usize| {
                    let at = (to[2 + i] * conv.window_strides[i] + from[1 + i] * conv.rhs_dilation[i]) as i64;
                    let (at, dilation) = (at - conv.padding[i].0, conv.lhs_dilation[i] as i64);
                    let is_inside = at >= 0 && at % dilation == 0 && at / dilation < l.sizes[2 + i] as i64;
                    is_inside.then_some((at / dilation) as usize)
                };
                let (Some(y), Some(x)) = (position(0), position(1)) else { continue };
                let feature = to[1] / per_group * r.sizes[1] + from[0];
                let lhs = offset(&l.strides, &[to[0], feature, y, x]);
                let rhs = offset(&r.strides, &[to[1], from[0], from[1], from[2]]);
                sum += value(lhs) * value(rhs + 3);
            }
            out[offset(&o.strides, &to)] = sum;
        }
        out
    }

    #[test]
    fn all_ways_of_two_axes() {
        let (first, last, kernel) = ([0, 1, 2, 3], [0, 3, 1, 2], [3, 2, 0, 1]);
        for threads in [1, 2, 7] {
            check_plane([2, 4, 6], 1, [3, 2], [first; 3], threads);
            check_plane([2, 4, 6], 1, [3, 2], [last, kernel, last], threads);
            check_plane([2, 9, 2], 1, [3, 2], [last, kernel, last], threads);
            check_plane([2, 6, 6], 6, [3, 2], [last, kernel, last], threads);
            check_plane([2, 6, 9], 3, [2, 3], [last, kernel, last], threads);
            check_plane([9, 3, 5], 1, [6, 7], [[3, 0, 1, 2], [3, 0, 1, 2], [2, 3, 0, 1]], threads);
        }
    }

    /// The bits of a convolution of two axes, with channels last, on so many threads.
    fn bits_on(
        threads: usize,
        sizes: [usize; 3],
        feature_groups: usize,
        specs: [[usize; 4]; 3],
        dilation: usize,
    ) -> Vec<u8> {
        let ([batch, n_in, n_out], is_gradient) = (sizes, specs[0][0] == 3);
        let (space, window) = (40, if is_gradient { 38 } else { 3 });
        let places = (space - 1) * dilation + 1 - (window - 1);
        let sizes = [
            [batch, n_in, space, space],
            [n_out, n_in / feature_groups, window, window],
            [batch, n_out, places, places],
        ];
        let conv = Conv {
            dtype: DType::F32,
            shapes: shapes_of(specs, sizes),
            specs: specs.map(|spec| spec.to_vec()),
            window_strides: vec![1; 2],
            padding: vec![(0, 0); 2],
            lhs_dilation: vec![dilation; 2],
            rhs_dilation: vec![1; 2],
            feature_groups,
            batch_groups: 1,
        };
        let value = |i: usize| ((i * 7919) % 1009) as f32 / 504.0 - 1.0;
        let bytes = |n: usize| (0..n).flat_map(|i| value(i).to_le_bytes()).collect::<Vec<u8>>();
        let [lhs, rhs, out] = [0, 1, 2].map(|i| conv.shapes[i].iter().product::<usize>());
        let mut out = vec![0; 4 * out];
        pullback_runtime::set_threads(threads);
        super::conv(&conv, &bytes(lhs), &bytes(rhs), &mut out).expect("it runs");
        pullback_runtime::set_threads(0);
        out
    }

    #[test]
    fn threads_change_no_bit() {
        let (last, kernel) = ([0, 3, 1, 2], [3, 2, 0, 1]);
        let plain = [last, kernel, last];
        let gradient = [[3, 0, 1, 2], [3, 0, 1, 2], [2, 3, 0, 1]];
        for (sizes, groups, specs, dilation) in [
            ([2, 8, 16], 1, plain, 1),
            ([2, 32, 3], 1, plain, 1),
            ([2, 8, 16], 1, plain, 2),
            ([2, 32, 32], 32, plain, 1),
            ([16, 9, 8], 1, gradient, 1),
        ] {
            let whole = bits_on(1, sizes, groups, specs, dilation);
            for threads in [2, 7] {
                assert!(bits_on(threads, sizes, groups, specs, dilation) == whole, "{sizes:?} on {threads} threads");
            }
        }
    }
}
