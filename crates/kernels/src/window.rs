//! Combination over windows, and choice of a window's extreme.
//!
//! Combinations go one axis after the other, since a box of elements is combined by lines; so a window of many elements
//! costs the sum of its sides and not their product. Choices look at every element of a window, for all positions along
//! the axes without windows at once.

use faer::{c32, c64};
use pullback_base::array::scratch;
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
    let mut shape = window.shape.clone();
    let places: Vec<usize> = window.axes.iter().zip(&shape).map(|(axis, &size)| axis.n_places(size)).collect();
    let out = result::<T>(out, places.iter().product())?;
    let mut current: Option<Vec<T>> = None;
    for (number, axis) in window.axes.iter().enumerate().rev().filter(|(_, axis)| !axis.is_trivial()) {
        let outer: usize = shape[..number].iter().product();
        let inner: usize = shape[number + 1..].iter().product();
        let line = Line { axis, size: shape[number], places: places[number], inner };
        let mut next = scratch(outer * places[number] * inner, identity)?;
        pass(&line, outer, current.as_deref().unwrap_or(x), &mut next, combine);
        shape[number] = places[number];
        current = Some(next);
    }
    out.copy_from_slice(current.as_deref().unwrap_or(x));
    Ok(())
}

/// One axis of a pass.
struct Line<'a> {
    axis: &'a WindowAxis,
    size: usize,
    places: usize,
    inner: usize,
}

fn pass<T: Plain>(line: &Line<'_>, outer: usize, x: &[T], out: &mut [T], combine: impl Fn(T, T) -> T + Copy + Sync) {
    let (n_in, n_out) = (line.size * line.inner, line.places * line.inner);
    let shared = Shared::new(out);
    let work = |range: std::ops::Range<usize>| {
        for block in range {
            // SAFETY: blocks are disjoint.
            let out = unsafe { shared.part(block * n_out, n_out) };
            combine_block(line, &x[block * n_in..][..n_in], out, combine);
        }
    };
    if outer * n_out * line.axis.size < SHARED { work(0..outer) } else { parallel_for(outer, &work) }
}

fn combine_block<T: Plain>(line: &Line<'_>, x: &[T], out: &mut [T], combine: impl Fn(T, T) -> T) {
    for place in 0..line.places {
        let to = &mut out[place * line.inner..][..line.inner];
        for window in 0..line.axis.size {
            let Some(at) = line.axis.position(line.size, place, window) else { continue };
            for (to, &from) in to.iter_mut().zip(&x[at * line.inner..][..line.inner]) {
                *to = combine(*to, from);
            }
        }
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

/// Windows over the axes that have them, repeated along the others.
struct Grid {
    /// Sizes and strides of the windowed axes: of the array, of the windows.
    axes: Vec<WindowAxis>,
    sizes: Vec<usize>,
    places: Vec<usize>,
    strides: [Vec<usize>; 2],
    /// Offsets along the other axes, in the array and in the array of windows.
    others: Vec<[usize; 2]>,
}

impl Grid {
    fn new(pick: &WindowPick) -> Grid {
        let places: Vec<usize> = pick.axes.iter().zip(&pick.shape).map(|(axis, &size)| axis.n_places(size)).collect();
        let strides = [strides_of(&pick.shape), strides_of(&places)];
        let (own, other): (Vec<usize>, Vec<usize>) = (0..places.len()).partition(|&axis| !pick.axes[axis].is_trivial());
        let of = |values: &[usize], axes: &[usize]| axes.iter().map(|&axis| values[axis]).collect::<Vec<usize>>();
        let mut others = vec![[0, 0]];
        for &axis in &other {
            let step = |at: [usize; 2]| {
                let strides = [strides[0][axis], strides[1][axis]];
                (0..pick.shape[axis]).map(move |i| [at[0] + i * strides[0], at[1] + i * strides[1]])
            };
            others = others.into_iter().flat_map(step).collect();
        }
        Grid {
            axes: own.iter().map(|&axis| pick.axes[axis].clone()).collect(),
            sizes: of(&pick.shape, &own),
            places: of(&places, &own),
            strides: [of(&strides[0], &own), of(&strides[1], &own)],
            others,
        }
    }

    /// Calls `visit` for each window with its offset and the offsets of its elements.
    fn for_each(&self, mut visit: impl FnMut(usize, &[usize])) {
        let n: usize = self.places.iter().product();
        let mut place = vec![0; self.places.len()];
        let mut elements = vec![];
        for number in 0..n {
            let (mut rest, mut offset) = (number, 0);
            for axis in (0..place.len()).rev() {
                place[axis] = rest % self.places[axis];
                rest /= self.places[axis];
                offset += place[axis] * self.strides[1][axis];
            }
            self.elements(&place, &mut elements);
            visit(offset, &elements);
        }
    }

    fn elements(&self, place: &[usize], elements: &mut Vec<usize>) {
        elements.clear();
        elements.push(0);
        for (i, axis) in self.axes.iter().enumerate() {
            let positions: Vec<usize> =
                (0..axis.size).filter_map(|window| axis.position(self.sizes[i], place[i], window)).collect();
            let stride = self.strides[0][i];
            let grown = elements.iter().flat_map(|&at| positions.iter().map(move |p| at + p * stride)).collect();
            *elements = grown;
        }
    }
}

/// The offset of the extreme among elements; the first stays as long as it is not beaten, and a NaN beats.
fn extreme<T: Real>(x: &[T], base: usize, elements: &[usize], greatest: bool) -> Option<usize> {
    let (&first, rest) = elements.split_first()?;
    let mut best = first;
    for &element in rest {
        let (old, new) = (x[base + best], x[base + element]);
        let stays = if greatest { old >= new } else { old <= new };
        best = if stays { best } else { element };
    }
    Some(base + best)
}

fn gather_typed<T: Real>(pick: &WindowPick, values: &[u8], x: &[u8], out: &mut [u8]) -> Result<()> {
    let n: usize = pick.shape.iter().product();
    let (values, x) = (operand::<T>(values, n)?, operand::<T>(x, n)?);
    let grid = Grid::new(pick);
    let out = result::<T>(out, grid.places.iter().product::<usize>() * grid.others.len())?;
    let shared = Shared::new(out);
    let work = |range: std::ops::Range<usize>| {
        let others = &grid.others[range];
        grid.for_each(|offset, elements| {
            for &[from, to] in others {
                let value = extreme(x, from, elements, pick.greatest).map_or(T::ZERO, |at| values[at]);
                // SAFETY: each position along the other axes has windows of its own.
                unsafe { shared.part(to + offset, 1)[0] = value };
            }
        });
    };
    share(grid.others.len(), n, &work);
    Ok(())
}

fn scatter_typed<T: Real>(pick: &WindowPick, values: &[u8], x: &[u8], out: &mut [u8]) -> Result<()> {
    let n: usize = pick.shape.iter().product();
    let grid = Grid::new(pick);
    let values = operand::<T>(values, grid.places.iter().product::<usize>() * grid.others.len())?;
    let (x, out) = (operand::<T>(x, n)?, result::<T>(out, n)?);
    out.fill(T::ZERO);
    let shared = Shared::new(out);
    let work = |range: std::ops::Range<usize>| {
        let others = &grid.others[range];
        grid.for_each(|offset, elements| {
            for &[from, to] in others {
                let Some(at) = extreme(x, from, elements, pick.greatest) else { continue };
                // SAFETY: each position along the other axes has elements of its own.
                let sum = unsafe { &mut shared.part(at, 1)[0] };
                *sum = *sum + values[to + offset];
            }
        });
    };
    share(grid.others.len(), n, &work);
    Ok(())
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
