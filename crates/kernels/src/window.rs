//! Combination over windows, and choice of a window's extreme.
//!
//! Combinations go one axis after the other, since a box of elements is combined by lines; so a window of many elements
//! costs the sum of its sides and not their product. What one place of an axis gives goes to the next axis while it is in the
//! cache. Choices look at every element of a window, for elements that lie side by side at once.

use num_complex::{Complex32 as c32, Complex64 as c64};
use pullback_base::{DType, Result, bail};
use pullback_loops::{Combine, Window, WindowAxis, WindowPick};
use pullback_runtime::parallel_for;

use crate::typed::{Plain, Shared, operand, result, strides_of};

/// Elements from which on threads share a pass.
const SHARED: usize = 1 << 15;

impl Places for WindowAxis {
    fn n_places(&self, size: usize) -> usize {
        let base = if size == 0 { 0 } else { (size as i64 - 1) * self.base_dilation as i64 + 1 };
        let span = if self.size == 0 { 0 } else { (self.size as i64 - 1) * self.window_dilation as i64 + 1 };
        let room = base + self.padding.0 + self.padding.1 - span;
        if room < 0 { 0 } else { (room / self.stride as i64) as usize + 1 }
    }

    fn position(&self, size: usize, place: usize, window: usize) -> Option<usize> {
        let at = (place * self.stride + window * self.window_dilation) as i64 - self.padding.0;
        let dilation = self.base_dilation as i64;
        let is_inside = at >= 0 && at % dilation == 0 && at / dilation < size as i64;
        is_inside.then(|| (at / dilation) as usize)
    }

    fn is_trivial(&self) -> bool {
        self.size == 1 && self.stride == 1 && self.padding == (0, 0) && self.base_dilation == 1
    }
}

/// Where the windows of one axis are.
trait Places {
    /// Number of windows on `size` elements.
    fn n_places(&self, size: usize) -> usize;
    /// The element at a position of a window, if it is one.
    fn position(&self, size: usize, place: usize, window: usize) -> Option<usize>;
    /// Whether each window is one element.
    fn is_trivial(&self) -> bool;
}

/// Combination over windows of checked operands.
pub(crate) fn window(window: &Window, x: &[u8], out: &mut [u8]) -> Result<()> {
    macro_rules! dispatch {
        ($ty:ty, $($combine:ident => $identity:expr, $op:expr;)*) => {
            match window.combine {
                $(Combine::$combine => reduce::<$ty>(window, x, out, $identity, $op),)*
                #[allow(unreachable_patterns, reason = "not every type has every combination")]
                other => bail!(Internal, "windows of {} do not combine by {other:?}", window.dtype),
            }
        };
    }
    macro_rules! integer {
        ($ty:ty) => {
            dispatch!($ty,
                Add => 0, |a, b| a.wrapping_add(b);
                Mul => 1, |a, b| a.wrapping_mul(b);
                Min => <$ty>::MAX, |a, b| a.min(b);
                Max => <$ty>::MIN, |a, b| a.max(b);
                And => !0, |a, b| a & b;
                Or => 0, |a, b| a | b;
                Xor => 0, |a, b| a ^ b;
            )
        };
    }
    macro_rules! float {
        ($ty:ty) => {
            dispatch!($ty,
                Add => 0.0, |a, b| a + b;
                Mul => 1.0, |a, b| a * b;
                Min => <$ty>::INFINITY, |a, b| if a.is_nan() || a < b { a } else { b };
                Max => <$ty>::NEG_INFINITY, |a, b| if a.is_nan() || a > b { a } else { b };
            )
        };
    }
    match window.dtype {
        DType::Bool => dispatch!(u8,
            Min => 1, |a, b| a & b;
            And => 1, |a, b| a & b;
            Mul => 1, |a, b| a & b;
            Max => 0, |a, b| a | b;
            Or => 0, |a, b| a | b;
            Add => 0, |a, b| a | b;
            Xor => 0, |a, b| a ^ b;
        ),
        DType::I8 => integer!(i8),
        DType::I16 => integer!(i16),
        DType::I32 => integer!(i32),
        DType::I64 => integer!(i64),
        DType::U8 => integer!(u8),
        DType::U16 => integer!(u16),
        DType::U32 => integer!(u32),
        DType::U64 => integer!(u64),
        DType::F32 => float!(f32),
        DType::F64 => float!(f64),
        DType::C64 => {
            dispatch!(c32, Add => c32::new(0.0, 0.0), |a, b| a + b; Mul => c32::new(1.0, 0.0), |a, b| a * b;)
        }
        DType::C128 => {
            dispatch!(c64, Add => c64::new(0.0, 0.0), |a, b| a + b; Mul => c64::new(1.0, 0.0), |a, b| a * b;)
        }
        other => bail!(NotImplemented, "there is no window kernel for {other}"),
    }
}

fn reduce<T: Plain>(
    window: &Window,
    x: &[u8],
    out: &mut [u8],
    identity: T,
    combine: impl Fn(T, T) -> T + Copy + Sync,
) -> Result<()> {
    let x = operand::<T>(x, window.shape.iter().product())?;
    let places: Vec<usize> = window.axes.iter().zip(&window.shape).map(|(axis, &n)| axis.n_places(n)).collect();
    let out = result::<T>(out, places.iter().product())?;
    let lines = Line::of(window, &places);
    let Some(first) = lines.first() else {
        out.copy_from_slice(x);
        return Ok(());
    };
    if out.is_empty() {
        return Ok(());
    }
    let n_places = first.blocks * first.places;
    let (n_in, n_out) = (first.size * first.inner, out.len() / n_places);
    let shared = Shared::new(out);
    let work = |range: std::ops::Range<usize>| {
        let elements = |line: &Line<'_>| line.blocks * line.size * line.inner;
        let mut memory: Vec<Vec<T>> = lines[1..].iter().map(|line| vec![identity; elements(line)]).collect();
        for number in range {
            let (block, place) = (number / first.places, number % first.places);
            // SAFETY: blocks are disjoint.
            let to = unsafe { shared.part(number * n_out, n_out) };
            combine_place(&lines, place, &x[block * n_in..][..n_in], to, &mut memory, identity, combine);
        }
    };
    if n_places * n_out * first.axis.size < SHARED {
        work(0..n_places)
    } else {
        parallel_for(n_places, &work)
    }
    Ok(())
}

/// One axis of windows: how often it is repeated inside of the axis before, its elements and places, and how many elements lie
/// inside of one.
struct Line<'a> {
    axis: &'a WindowAxis,
    blocks: usize,
    size: usize,
    places: usize,
    inner: usize,
    /// For each place the first element of its window and how many there are, and how far they are apart.
    runs: Vec<(usize, usize)>,
    step: usize,
}

impl Line<'_> {
    /// The axes whose windows are more than an element, outermost first. Inside of an axis all are as they were.
    fn of<'a>(window: &'a Window, places: &[usize]) -> Vec<Line<'a>> {
        let (mut lines, mut blocks) = (vec![], 1);
        for (number, axis) in window.axes.iter().enumerate() {
            let size = window.shape[number];
            if axis.is_trivial() {
                blocks *= size;
                continue;
            }
            let inner = window.shape[number + 1..].iter().product();
            let runs = (0..places[number]).map(|place| run(axis, size, place)).collect();
            let step = axis.window_dilation / gcd(axis.window_dilation, axis.base_dilation);
            lines.push(Line { axis, blocks, size, places: places[number], inner, runs, step });
            blocks = 1;
        }
        lines
    }
}

/// The first element of the window at a place, and how many it has.
fn run(axis: &WindowAxis, size: usize, place: usize) -> (usize, usize) {
    let dilation = axis.window_dilation as i64;
    let before = (axis.padding.0 - (place * axis.stride) as i64).max(0);
    let start = ((before + dilation - 1) / dilation) as usize;
    let found = (start..axis.size).take(axis.base_dilation);
    let Some((window, first)) =
        found.into_iter().find_map(|window| Some((window, axis.position(size, place, window)?)))
    else {
        return (0, 0);
    };
    let divisor = gcd(axis.window_dilation, axis.base_dilation);
    let (period, step) = (axis.base_dilation / divisor, axis.window_dilation / divisor);
    (first, ((axis.size - 1 - window) / period).min((size - 1 - first) / step) + 1)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Combines the windows of one place of the first axis, then of every place of the next ones in what that gave.
fn combine_place<T: Plain>(
    lines: &[Line<'_>],
    place: usize,
    x: &[T],
    to: &mut [T],
    memory: &mut [Vec<T>],
    identity: T,
    combine: impl Fn(T, T) -> T + Copy,
) {
    let (line, rest) = lines.split_first().expect("a place has an axis");
    let Some(next) = rest.first() else { return combine_lines(line, place, x, to, identity, combine) };
    let (whole, memory) = memory.split_first_mut().expect("memory for each axis");
    combine_lines(line, place, x, whole, identity, combine);
    let (n_in, n_out) = (next.size * next.inner, to.len() / (next.blocks * next.places));
    for (number, to) in to.chunks_exact_mut(n_out).enumerate() {
        let (block, place) = (number / next.places, number % next.places);
        combine_place(rest, place, &whole[block * n_in..][..n_in], to, memory, identity, combine);
    }
}

/// What lies inside of one axis, combined over the window of one place.
fn combine_lines<T: Plain>(
    line: &Line<'_>,
    place: usize,
    x: &[T],
    to: &mut [T],
    identity: T,
    combine: impl Fn(T, T) -> T + Copy,
) {
    let (first, count) = line.runs[place];
    let mut positions = (0..count).map(|number| first + number * line.step);
    let from = |at: usize| &x[at * line.inner..][..line.inner];
    match (positions.next(), positions.next()) {
        (None, _) => to.fill(identity),
        (Some(at), None) => to.iter_mut().zip(from(at)).for_each(|(to, &a)| *to = combine(identity, a)),
        (Some(at), Some(next)) => {
            let pairs = from(at).iter().zip(from(next));
            to.iter_mut().zip(pairs).for_each(|(to, (&a, &b))| *to = combine(combine(identity, a), b));
        }
    }
    for at in positions {
        to.iter_mut().zip(from(at)).for_each(|(to, &a)| *to = combine(*to, a));
    }
}

/// Values where the extremes of windows lie; zero for a window without elements.
pub(crate) fn gather(pick: &WindowPick, values: &[u8], x: &[u8], out: &mut [u8]) -> Result<()> {
    match pick.dtype {
        DType::F32 => gather_typed::<f32>(pick, values, x, out),
        DType::F64 => gather_typed::<f64>(pick, values, x, out),
        other => bail!(NotImplemented, "there is no kernel that picks from windows of {other}"),
    }
}

/// Values added where the extremes of windows lie.
pub(crate) fn scatter(pick: &WindowPick, values: &[u8], x: &[u8], out: &mut [u8]) -> Result<()> {
    match pick.dtype {
        DType::F32 => scatter_typed::<f32>(pick, values, x, out),
        DType::F64 => scatter_typed::<f64>(pick, values, x, out),
        other => bail!(NotImplemented, "there is no kernel that picks from windows of {other}"),
    }
}

trait Real: Plain + PartialOrd + std::ops::Add<Output = Self> {
    const ZERO: Self;
}
impl Real for f32 {
    const ZERO: f32 = 0.0;
}
impl Real for f64 {
    const ZERO: f64 = 0.0;
}

/// Windows over the axes from the first to the last that has them; those outside of these repeat them, and what lies
/// inside lies side by side.
struct Grid {
    axes: Vec<WindowAxis>,
    sizes: Vec<usize>,
    places: Vec<usize>,
    /// Strides of the windowed axes in the array.
    strides: Vec<usize>,
    outer: usize,
    inner: usize,
}

/// Elements side by side whose extremes are looked for together.
const SIDE: usize = 32;

impl Grid {
    fn new(pick: &WindowPick) -> Grid {
        let own: Vec<usize> = (0..pick.axes.len()).filter(|&axis| !pick.axes[axis].is_trivial()).collect();
        let span = own.first().map_or(0..0, |&first| first..own[own.len() - 1] + 1);
        let (axes, sizes) = (pick.axes[span.clone()].to_vec(), pick.shape[span.clone()].to_vec());
        let inner = pick.shape[span.end..].iter().product();
        Grid {
            places: axes.iter().zip(&sizes).map(|(axis, &size)| axis.n_places(size)).collect(),
            strides: strides_of(&sizes).iter().map(|stride| stride * inner).collect(),
            outer: pick.shape[..span.start].iter().product(),
            inner,
            axes,
            sizes,
        }
    }

    /// Elements of the array, and places, in one of the repetitions.
    fn n_elements(&self) -> usize {
        self.sizes.iter().product::<usize>() * self.inner
    }

    fn n_windows(&self) -> usize {
        self.places.iter().product()
    }

    /// Calls `visit` for each window with its number and the offsets of its elements.
    fn for_each(&self, mut visit: impl FnMut(usize, &[usize])) {
        let mut elements = vec![];
        for number in 0..self.n_windows() {
            self.elements(number, &mut elements);
            visit(number, &elements);
        }
    }

    fn elements(&self, mut window: usize, elements: &mut Vec<usize>) {
        elements.clear();
        elements.push(0);
        let mut grown = vec![];
        // From the last axis on, whose elements come first: offsets of outer axes are put around them.
        for axis in (0..self.axes.len()).rev() {
            let (place, described) = (window % self.places[axis], &self.axes[axis]);
            window /= self.places[axis];
            for at in (0..described.size).filter_map(|step| described.position(self.sizes[axis], place, step)) {
                grown.extend(elements.iter().map(|element| element + at * self.strides[axis]));
            }
            std::mem::swap(elements, &mut grown);
            grown.clear();
        }
    }
}

/// Which of the elements is the extreme, for a few windows side by side; the first stays as long as it is not beaten, and a
/// NaN beats.
#[inline(always)]
fn extremes<T: Real>(x: &[T], elements: &[usize], from: usize, best: &mut [T], which: &mut [u32], greatest: bool) {
    let n = best.len();
    let Some((&first, rest)) = elements.split_first() else { return which.fill(u32::MAX) };
    best.copy_from_slice(&x[first + from..][..n]);
    which.fill(0);
    for (number, &element) in (1..).zip(rest) {
        let row = &x[element + from..][..n];
        for ((best, which), &new) in best.iter_mut().zip(which.iter_mut()).zip(row) {
            let stays = if greatest { *best >= new } else { *best <= new };
            *which = if stays { *which } else { number };
            *best = if stays { *best } else { new };
        }
    }
}

fn gather_typed<T: Real>(pick: &WindowPick, values: &[u8], x: &[u8], out: &mut [u8]) -> Result<()> {
    let n: usize = pick.shape.iter().product();
    let (values, x) = (operand::<T>(values, n)?, operand::<T>(x, n)?);
    let grid = Grid::new(pick);
    let (n_in, n_out) = (grid.n_elements(), grid.n_windows() * grid.inner);
    let shared = Shared::new(result::<T>(out, n_out * grid.outer)?);
    let work = |block: usize| {
        let (x, values) = (&x[block * n_in..][..n_in], &values[block * n_in..][..n_in]);
        // SAFETY: blocks are disjoint.
        let out = unsafe { shared.part(block * n_out, n_out) };
        let (mut best, mut which) = ([T::ZERO; SIDE], [0; SIDE]);
        grid.for_each(|number, elements| {
            for (from, to) in (0..).step_by(SIDE).zip(out[number * grid.inner..][..grid.inner].chunks_mut(SIDE)) {
                let (best, which) = (&mut best[..to.len()], &mut which[..to.len()]);
                extremes(x, elements, from, best, which, pick.greatest);
                for (i, (to, &which)) in to.iter_mut().zip(which.iter()).enumerate() {
                    *to = elements.get(which as usize).map_or(T::ZERO, |element| values[element + from + i]);
                }
            }
        });
    };
    share(grid.outer, n, &|range| range.for_each(work));
    Ok(())
}

fn scatter_typed<T: Real>(pick: &WindowPick, values: &[u8], x: &[u8], out: &mut [u8]) -> Result<()> {
    let n: usize = pick.shape.iter().product();
    let grid = Grid::new(pick);
    let (n_in, n_out) = (grid.n_elements(), grid.n_windows() * grid.inner);
    let values = operand::<T>(values, n_out * grid.outer)?;
    let (x, out) = (operand::<T>(x, n)?, result::<T>(out, n)?);
    let shared = Shared::new(out);
    let work = |block: usize| {
        let (x, values) = (&x[block * n_in..][..n_in], &values[block * n_out..][..n_out]);
        // SAFETY: blocks are disjoint.
        let out = unsafe { shared.part(block * n_in, n_in) };
        out.fill(T::ZERO);
        grid.for_each(|number, elements| {
            scatter_window(&grid, x, elements, &values[number * grid.inner..][..grid.inner], out, pick.greatest);
        });
    };
    share(grid.outer, n, &|range| range.for_each(work));
    Ok(())
}

/// Adds the values of windows side by side where their extremes are. What is not an extreme gets zero, which changes nothing:
/// sums that begin at zero are never the negative one.
fn scatter_window<T: Real>(grid: &Grid, x: &[T], elements: &[usize], values: &[T], out: &mut [T], greatest: bool) {
    let (mut best, mut which) = ([T::ZERO; SIDE], [0; SIDE]);
    for (from, values) in (0..grid.inner).step_by(SIDE).zip(values.chunks(SIDE)) {
        let (best, which) = (&mut best[..values.len()], &mut which[..values.len()]);
        extremes(x, elements, from, best, which, greatest);
        for (number, &element) in (0..).zip(elements) {
            let sums = &mut out[element + from..][..values.len()];
            for ((sum, &which), &value) in sums.iter_mut().zip(which.iter()).zip(values) {
                *sum = *sum + if which == number { value } else { T::ZERO };
            }
        }
    }
}

fn share(n_chunks: usize, n_elements: usize, work: &(dyn Fn(std::ops::Range<usize>) + Sync)) {
    if n_elements < SHARED { work(0..n_chunks) } else { parallel_for(n_chunks, work) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(size: usize, stride: usize, padding: (i64, i64)) -> WindowAxis {
        WindowAxis { size, stride, padding, base_dilation: 1, window_dilation: 1 }
    }

    fn bytes(xs: &[f32]) -> Vec<u8> {
        xs.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    fn floats(bytes: &[u8]) -> Vec<f32> {
        bytes.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().expect("four"))).collect()
    }

    fn check(combine: Combine, axes: Vec<WindowAxis>, shape: &[usize], x: &[f32], expect: &[f32]) {
        let described = Window { dtype: DType::F32, combine, shape: shape.to_vec(), axes };
        let mut out = vec![0; expect.len() * 4];
        window(&described, &bytes(x), &mut out).expect("it runs");
        assert_eq!(floats(&out), expect);
    }

    #[test]
    fn windows_of_one_and_two_axes() {
        let x = [1.0, -2.0, 3.0, 4.0, 0.5, 6.0];
        check(Combine::Add, vec![axis(2, 1, (0, 0))], &[6], &x, &[-1.0, 1.0, 7.0, 4.5, 6.5]);
        check(Combine::Max, vec![axis(3, 2, (1, 1))], &[6], &x, &[1.0, 4.0, 6.0]);
        check(Combine::Min, vec![axis(2, 1, (0, 0)), axis(2, 1, (0, 0))], &[2, 3], &x, &[-2.0, -2.0]);
        let dilated = WindowAxis { base_dilation: 2, window_dilation: 3, ..axis(2, 1, (0, 1)) };
        check(Combine::Add, vec![dilated], &[3], &x[..3], &[1.0, 3.0, -2.0]);
    }

    #[test]
    fn runs_are_the_positions_of_windows() {
        for (size, stride, padding, base_dilation, window_dilation) in (0..4 * 3 * 5 * 4 * 4)
            .map(|i| (1 + i % 4, 1 + i / 4 % 3, (i / 12 % 5) as i64 - 2, 1 + i / 60 % 4, 1 + i / 240))
        {
            let axis = WindowAxis { size, stride, padding: (padding, 3), base_dilation, window_dilation };
            let step = window_dilation / gcd(window_dilation, base_dilation);
            for place in 0..axis.n_places(5) {
                let want: Vec<usize> = (0..size).filter_map(|window| axis.position(5, place, window)).collect();
                let (first, count) = run(&axis, 5, place);
                assert_eq!((0..count).map(|i| first + i * step).collect::<Vec<_>>(), want, "{axis:?} at {place}");
            }
        }
    }

    #[test]
    fn the_first_of_equals_is_picked() {
        let pick = WindowPick { dtype: DType::F32, greatest: true, shape: vec![4], axes: vec![axis(2, 2, (0, 0))] };
        let (x, values) = (bytes(&[3.0, 3.0, 1.0, 2.0]), bytes(&[1.0, 2.0, 3.0, 4.0]));
        let mut out = vec![0; 8];
        gather(&pick, &values, &x, &mut out).expect("it runs");
        assert_eq!(floats(&out), [1.0, 4.0]);
        let mut out = vec![0; 16];
        scatter(&pick, &bytes(&[10.0, 20.0]), &x, &mut out).expect("it runs");
        assert_eq!(floats(&out), [10.0, 0.0, 0.0, 20.0]);
    }
}
