//! Fourier transforms over the last axes, by `rustfft` and `realfft`.
//!
//! Each axis is one pass over its lines, by threads that share them and hear interrupts. Forward transforms are not scaled, inverse ones are by the number of elements.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use pullback_base::{DType, Result, bail};
use pullback_loops::{Fft, FftKind};
use pullback_runtime::interrupt::shared_pieces;
use realfft::RealFftPlanner;
use rustfft::num_complex::Complex;
use rustfft::{FftDirection, FftNum, FftPlanner};

use crate::stoppable::stoppable;
use crate::typed::{Plain, Shared, operand, result};

/// Elements from which on threads share a pass.
const SHARED: usize = 1 << 14;
/// Elements between two looks at the flag of interrupts.
const PIECE: usize = 1 << 16;
/// Lines that are transformed together where they lie side by side, as they share lines of the cache.
const TILE: usize = 8;
/// Elements of a line from which on its transform alone may take longer than an interrupt may wait.
const LONG: usize = 1 << 19;

/// A transform of checked operands.
pub(crate) fn fft(fft: &Fft, x: &[u8], out: &mut [u8]) -> Result<()> {
    match fft.dtype {
        DType::C64 => run::<f32>(fft, x, out),
        DType::C128 => run::<f64>(fft, x, out),
        other => bail!(NotImplemented, "there is no Fourier transform of {other}"),
    }
}

/// Planners of one type, which remember their plans.
struct Planners<T: FftNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
}

impl<T: FftNum> Planners<T> {
    fn new() -> Planners<T> {
        Planners { complex: FftPlanner::new(), real: RealFftPlanner::new() }
    }
}

trait Real: FftNum + Plain {
    fn with_planners<R>(work: impl FnOnce(&mut Planners<Self>) -> R) -> R;
    fn from_count(n: usize) -> Self;
}

macro_rules! reals {
    ($($ty:ty)*) => {$(
        impl Real for $ty {
            fn with_planners<R>(work: impl FnOnce(&mut Planners<Self>) -> R) -> R {
                thread_local! { static KNOWN: RefCell<Planners<$ty>> = RefCell::new(Planners::new()); }
                KNOWN.with_borrow_mut(work)
            }
            fn from_count(n: usize) -> Self { n as $ty }
        }
    )*};
}
reals! { f32 f64 }

fn run<T: Real>(fft: &Fft, x: &[u8], out: &mut [u8]) -> Result<()>
where
    Complex<T>: Plain,
{
    let Some((&last, outer)) = fft.lengths.split_last() else {
        out.copy_from_slice(x);
        return Ok(());
    };
    let half = last / 2 + 1;
    let lines = fft.batch * outer.iter().product::<usize>();
    let n: usize = fft.lengths.iter().product();
    match fft.kind {
        FftKind::Forward | FftKind::Inverse => {
            let x = operand::<Complex<T>>(x, fft.batch * n)?;
            let out = result::<Complex<T>>(out, fft.batch * n)?;
            let direction = if fft.kind == FftKind::Forward { FftDirection::Forward } else { FftDirection::Inverse };
            complex_lines(last, direction, x, out)?;
            complex_axes(fft.batch, &fft.lengths, outer.len(), direction, out)?;
            if fft.kind == FftKind::Inverse {
                let scale = T::one() / T::from_count(n);
                scaled(out, |value| value.scale(scale))?;
            }
        }
        FftKind::RealForward => {
            let x = operand::<T>(x, lines * last)?;
            let out = result::<Complex<T>>(out, lines * half)?;
            real_forward(x, out, last, half)?;
            let sizes = [outer, &[half]].concat();
            complex_axes(fft.batch, &sizes, outer.len(), FftDirection::Forward, out)?;
        }
        FftKind::RealInverse => {
            let mut x = operand::<Complex<T>>(x, lines * half)?.to_vec();
            let out = result::<T>(out, lines * last)?;
            let sizes = [outer, &[half]].concat();
            complex_axes(fft.batch, &sizes, outer.len(), FftDirection::Inverse, &mut x)?;
            real_inverse(&mut x, out, last, half)?;
            let scale = T::one() / T::from_count(n);
            scaled(out, |value| value * scale)?;
        }
    }
    Ok(())
}

/// Runs `work` on ranges of lines.
fn share(n_lines: usize, length: usize, work: &(dyn Fn(Range<usize>) -> Result<()> + Sync)) -> Result<()> {
    if n_lines * length < SHARED {
        return work(0..n_lines);
    }
    let size = (PIECE / length).max(1);
    let failed = Mutex::new(None);
    shared_pieces(n_lines.div_ceil(size), &|piece| {
        if let Err(error) = work(piece * size..n_lines.min((piece + 1) * size)) {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    })?;
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Every element as `scale` gives it.
fn scaled<T: Plain>(data: &mut [T], scale: impl Fn(T) -> T + Sync) -> Result<()> {
    let (n, shared) = (data.len(), Shared::new(data));
    share(n, 1, &|range| {
        // SAFETY: ranges are disjoint.
        let part = unsafe { shared.part(range.start, range.len()) };
        part.iter_mut().for_each(|value| *value = scale(*value));
        Ok(())
    })
}

/// Transforms of lines of `n` elements, from one array to another.
fn complex_lines<T: Real>(n: usize, direction: FftDirection, x: &[Complex<T>], out: &mut [Complex<T>]) -> Result<()>
where
    Complex<T>: Plain,
{
    if n <= 1 || n >= LONG || x.is_empty() {
        out.copy_from_slice(x);
        return complex_axis(x.len() / n.max(1), n, 1, direction, out);
    }
    let plan = T::with_planners(|planners| planners.complex.plan_fft(n, direction));
    let shared = Shared::new(out);
    share(x.len() / n, n, &|range| {
        let mut scratch = vec![Complex::new(T::zero(), T::zero()); plan.get_immutable_scratch_len()];
        let (start, len) = (range.start * n, range.len() * n);
        // SAFETY: ranges are disjoint.
        let to = unsafe { shared.part(start, len) };
        plan.process_immutable_with_scratch(&x[start..start + len], to, &mut scratch);
        Ok(())
    })
}

/// Transforms along the first `n_axes` of the axes of sizes `sizes`, which come after the batch.
fn complex_axes<T: Real>(
    batch: usize,
    sizes: &[usize],
    n_axes: usize,
    direction: FftDirection,
    data: &mut [Complex<T>],
) -> Result<()> {
    for axis in (0..n_axes).rev() {
        let outer = batch * sizes[..axis].iter().product::<usize>();
        let inner: usize = sizes[axis + 1..].iter().product();
        complex_axis(outer, sizes[axis], inner, direction, data)?;
    }
    Ok(())
}

fn complex_axis<T: Real>(
    outer: usize,
    n: usize,
    inner: usize,
    direction: FftDirection,
    data: &mut [Complex<T>],
) -> Result<()> {
    if n <= 1 || outer * inner == 0 {
        return Ok(());
    }
    let plan = T::with_planners(|planners| planners.complex.plan_fft(n, direction));
    let shared = Shared::new(data);
    let width = if n < LONG { TILE.min(inner) } else { 1 };
    let n_tiles = inner.div_ceil(width);
    let work = |range: Range<usize>| {
        let zero = Complex::new(T::zero(), T::zero());
        let mut scratch = vec![zero; plan.get_inplace_scratch_len()];
        let mut lines = vec![zero; if inner == 1 && n < LONG { 0 } else { n * width }];
        for number in range {
            let (block, at) = (number / n_tiles, number % n_tiles * width);
            if inner == 1 && n < LONG {
                // SAFETY: lines are disjoint.
                plan.process_with_scratch(unsafe { shared.part(block * n, n) }, &mut scratch);
                continue;
            }
            let n_lines = width.min(inner - at);
            let element = |i: usize| (block * n + i) * inner + at;
            for i in 0..n {
                // SAFETY: tiles are disjoint.
                let row = unsafe { shared.part(element(i), n_lines) };
                row.iter().enumerate().for_each(|(line, &from)| lines[line * n + i] = from);
            }
            if n < LONG {
                plan.process_with_scratch(&mut lines[..n_lines * n], &mut scratch);
            } else {
                lines = long_line(&plan, lines)?;
            }
            for i in 0..n {
                // SAFETY: tiles are disjoint.
                let row = unsafe { shared.part(element(i), n_lines) };
                row.iter_mut().enumerate().for_each(|(line, to)| *to = lines[line * n + i]);
            }
        }
        Ok(())
    };
    share(outer * n_tiles, n * width, &work)
}

/// The transform of a line, which an interrupt leaves behind.
fn long_line<T: Real>(plan: &Arc<dyn rustfft::Fft<T>>, mut line: Vec<Complex<T>>) -> Result<Vec<Complex<T>>> {
    let plan = plan.clone();
    stoppable(true, move || {
        plan.process(&mut line);
        line
    })
}

fn real_forward<T: Real>(x: &[T], out: &mut [Complex<T>], n: usize, half: usize) -> Result<()> {
    if n == 0 {
        return Ok(());
    }
    let plan = T::with_planners(|planners| planners.real.plan_fft_forward(n));
    let shared = Shared::new(out);
    share(x.len() / n, n, &|range| {
        let (mut line, mut scratch) = (plan.make_input_vec(), plan.make_scratch_vec());
        for number in range {
            line.copy_from_slice(&x[number * n..][..n]);
            // SAFETY: lines are disjoint.
            let to = unsafe { shared.part(number * half, half) };
            if n < LONG {
                plan.process_with_scratch(&mut line, to, &mut scratch).expect("lengths are the plan's");
                continue;
            }
            let (plan, mut line) = (plan.clone(), line.clone());
            let transform = move || {
                let mut out = plan.make_output_vec();
                plan.process(&mut line, &mut out).expect("lengths are the plan's");
                out
            };
            to.copy_from_slice(&stoppable(true, transform)?);
        }
        Ok(())
    })
}

fn real_inverse<T: Real>(x: &mut [Complex<T>], out: &mut [T], n: usize, half: usize) -> Result<()> {
    if n == 0 || x.is_empty() {
        return Ok(());
    }
    let plan = T::with_planners(|planners| planners.real.plan_fft_inverse(n));
    let n_lines = x.len() / half;
    let (from, to) = (Shared::new(x), Shared::new(out));
    share(n_lines, n, &|range| {
        let mut scratch = plan.make_scratch_vec();
        for number in range {
            // SAFETY: lines are disjoint.
            let (line, to) = unsafe { (from.part(number * half, half), to.part(number * n, n)) };
            // Of a symmetric spectrum these are real; what else is there does not count.
            line[0].im = T::zero();
            if n.is_multiple_of(2) {
                line[half - 1].im = T::zero();
            }
            if n < LONG {
                plan.process_with_scratch(line, to, &mut scratch).expect("lengths are the plan's, the ends are real");
                continue;
            }
            let (plan, mut line) = (plan.clone(), line.to_vec());
            let transform = move || {
                let mut out = plan.make_output_vec();
                plan.process(&mut line, &mut out).expect("lengths are the plan's, the ends are real");
                out
            };
            to.copy_from_slice(&stoppable(true, transform)?);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(xs: &[f32]) -> Vec<u8> {
        xs.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    fn check(kind: FftKind, lengths: &[usize], x: &[f32], expect: &[f32]) {
        let described = Fft { kind, dtype: DType::C64, batch: 1, lengths: lengths.to_vec() };
        let mut out = vec![0; expect.len() * 4];
        fft(&described, &bytes(x), &mut out).expect("it runs");
        let got = out.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().expect("four")));
        for (got, expect) in got.zip(expect) {
            assert!((got - expect).abs() < 1e-5, "{kind:?} {lengths:?}: {got} for {expect}");
        }
    }

    #[test]
    fn small_transforms() {
        check(FftKind::Forward, &[2], &[1.0, 0.0, 2.0, 1.0], &[3.0, 1.0, -1.0, -1.0]);
        check(FftKind::Inverse, &[2], &[3.0, 1.0, -1.0, -1.0], &[1.0, 0.0, 2.0, 1.0]);
        check(FftKind::RealForward, &[4], &[1.0, 2.0, 3.0, 4.0], &[10.0, 0.0, -2.0, 2.0, -2.0, 0.0]);
        check(FftKind::RealInverse, &[4], &[10.0, 0.0, -2.0, 2.0, -2.0, 0.0], &[1.0, 2.0, 3.0, 4.0]);
        check(FftKind::RealForward, &[2, 2], &[1.0, 2.0, 3.0, 4.0], &[10.0, 0.0, -2.0, 0.0, -4.0, 0.0, 0.0, 0.0]);
        check(FftKind::RealInverse, &[2, 2], &[10.0, 0.0, -2.0, 0.0, -4.0, 0.0, 0.0, 0.0], &[1.0, 2.0, 3.0, 4.0]);
    }
}
