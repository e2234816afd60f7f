//! Convolutions: windows of the operand packed into a matrix, a block of rows at a time, and multiplied with the kernel.
//!
//! A row of that matrix is one place of the result, a column one element of the window. Blocks depend on sizes only, so
//! results do not depend on the number of threads.

use faer::{c32, c64};
use pullback_base::array::scratch;
use pullback_base::{DType, Result, bail};
use pullback_loops::Conv;
use pullback_runtime::interrupt::shared_pieces_with;

use crate::matmul::{Matrix, product};
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
        DType::C64 => run::<c32>(conv, lhs, rhs, out),
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
}

macro_rules! floats {
    ($($ty:ty: $zero:expr, $one:expr;)*) => {$(
        impl Element for $ty {
            const ZERO: Self = $zero;
            unsafe fn product(sizes: [usize; 3], a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>) {
                // SAFETY: by contract.
                unsafe { product(sizes, a, b, c, $zero, $one) }
            }
        }
    )*};
}
floats! {
    f32: 0.0, 1.0;
    f64: 0.0, 1.0;
    c32: c32 { re: 0.0, im: 0.0 }, c32 { re: 1.0, im: 0.0 };
    c64: c64 { re: 0.0, im: 0.0 }, c64 { re: 1.0, im: 0.0 };
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl Element for $ty {
            const ZERO: Self = 0;
            unsafe fn product([m, n, k]: [usize; 3], a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>) {
                for i in 0..m {
                    for j in 0..n {
                        // SAFETY: by contract.
                        let term = |l| unsafe { (*a.at(i, l)).wrapping_mul(*b.at(l, j)) };
                        let sum = (0..k).fold(0, |sum: $ty, l| sum.wrapping_add(term(l)));
                        // SAFETY: by contract.
                        unsafe { *c.at(i, j) = sum };
                    }
                }
            }
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
    if plan.rows * plan.images * plan.depth() * plan.rhs.sizes[0] >= SHARED {
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
    let depth = plan.depth();
    packed[..n * depth].fill(T::ZERO);
    let places = plan.out.n_places();
    let last = plan.axes.len() - 1;
    let width = plan.out.space()[last];
    let (mut window_index, mut place_index) = (vec![0; last + 1], vec![0; last + 1]);
    let batch_offset = if plan.batch_groups > 1 { group * plan.out.sizes[0] } else { 0 };
    let feature_offset = if plan.batch_groups > 1 { 0 } else { group * plan.features[0] * plan.lhs.strides[1] };
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
            let offset = (batch_offset + example) * plan.lhs.strides[0] + feature_offset + outer + element * stride;
            let rows = Rows { first: line + first - from, period, count };
            copy_run(plan, lhs, packed, n, window, rows, offset, step * stride);
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
    if plan.by_rows {
        for i in 0..rows.count {
            let to = (rows.first + i * rows.period) * plan.depth() + window * n_in;
            packed[to..to + n_in].copy_from_slice(&lhs[offset + i * step..][..n_in]);
        }
        return;
    }
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

    #[test]
    fn all_parameters_of_one_axis() {
        let value = |i: usize| ((i * 7919 + 13) % 11) as f32 - 5.0;
        for (stride, low, high, lhs_dilation, rhs_dilation) in
            [(1, 0, 0, 1, 1), (2, 1, 2, 1, 1), (1, 3, 1, 3, 2), (3, 7, 5, 2, 1), (2, -1, -1, 1, 2), (3, 2, 0, 2, 3)]
        {
            for (feature_groups, batch_groups) in [(1, 1), (2, 1), (1, 2)] {
                for specs in [[[0, 1, 2]; 3], [[0, 2, 1]; 3], [[0, 2, 1], [2, 1, 0], [1, 0, 2]]] {
                    let (batch, n_in, n_out, size, window) = (4, 4, 6, 9, 3);
                    let span = (size - 1) * lhs_dilation as i64 + 1 + low + high;
                    let places = (span - ((window - 1) * rhs_dilation as i64 + 1)) / stride as i64 + 1;
                    let sizes = [
                        [batch, n_in, size as usize],
                        [n_out, n_in / feature_groups, window as usize],
                        [batch / batch_groups, n_out, places as usize],
                    ];
                    let shapes = [0, 1, 2].map(|i| {
                        let mut shape = vec![0; 3];
                        (0..3).for_each(|axis| shape[specs[i][axis]] = sizes[i][axis]);
                        shape
                    });
                    let conv = Conv {
                        dtype: DType::F32,
                        shapes,
                        specs: specs.map(|spec| spec.to_vec()),
                        window_strides: vec![stride],
                        padding: vec![(low, high)],
                        lhs_dilation: vec![lhs_dilation],
                        rhs_dilation: vec![rhs_dilation],
                        feature_groups,
                        batch_groups,
                    };
                    let lhs: Vec<f32> = (0..conv.shapes[0].iter().product()).map(value).collect();
                    let rhs: Vec<f32> = (0..conv.shapes[1].iter().product()).map(|i| value(i + 3)).collect();
                    let bytes = |xs: &[f32]| xs.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
                    let mut out = vec![0; conv.shapes[2].iter().product::<usize>() * 4];
                    super::conv(&conv, &bytes(&lhs), &bytes(&rhs), &mut out).expect("it runs");
                    let got: Vec<f32> =
                        out.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().expect("four"))).collect();
                    assert_eq!(got, naive(&conv, &lhs, &rhs), "{conv:?}");
                }
            }
        }
    }
}
