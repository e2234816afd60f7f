//! The host calls by which compiled collectives meet: each exchanges bytes with its group and arranges what it got.
//!
//! Sums go through the members in their order, so that every device and every run has the same bits.

use pullback_base::{DType, Result, Scalar};
use pullback_ir::AxisName;
use pullback_loops::{Combine, HostCall};

use super::axes::Groups;
use super::team::{Brought, coordinate, exchange};

/// Joins the elements of `more` into `all`.
fn join(all: &mut [u8], more: &[u8], combine: Combine, dtype: DType) {
    macro_rules! lanes {
        ($ty:ty, $add:expr, $max:expr, $min:expr) => {{
            const N: usize = std::mem::size_of::<$ty>();
            let number = |bytes: &[u8]| <$ty>::from_le_bytes(bytes.try_into().expect("a chunk has the element's size"));
            let op: fn($ty, $ty) -> $ty = match combine {
                Combine::Max => $max,
                Combine::Min => $min,
                Combine::Add | Combine::Mul | Combine::And | Combine::Or | Combine::Xor => $add,
            };
            for (a, b) in all.chunks_exact_mut(N).zip(more.chunks_exact(N)) {
                let joined = op(number(a), number(b)).to_le_bytes();
                a.copy_from_slice(&joined);
            }
        }};
        (int $ty:ty) => {
            lanes!($ty, |a, b| a.wrapping_add(b), |a, b| a.max(b), |a, b| a.min(b))
        };
        // A NaN wins, on either side.
        (float $ty:ty) => {
            lanes!($ty, |a, b| a + b, |a, b| if a.is_nan() || a > b { a } else { b }, |a, b| if a.is_nan() || a < b {
                a
            } else {
                b
            })
        };
    }
    match dtype {
        DType::F32 | DType::C64 => lanes!(float f32),
        DType::F64 | DType::C128 => lanes!(float f64),
        DType::I8 => lanes!(int i8),
        DType::I16 => lanes!(int i16),
        DType::I32 => lanes!(int i32),
        DType::I64 => lanes!(int i64),
        DType::U8 | DType::Bool => lanes!(int u8),
        DType::U16 => lanes!(int u16),
        DType::U32 => lanes!(int u32),
        DType::U64 => lanes!(int u64),
        narrow => join_narrow(all, more, combine, narrow),
    }
}

/// Joins elements of floats narrower than 32 bits, each result rounded.
fn join_narrow(all: &mut [u8], more: &[u8], combine: Combine, dtype: DType) {
    let n = dtype.size_bytes();
    let number = |bytes: &[u8]| {
        let mut bits = [0; 16];
        bits[..n].copy_from_slice(bytes);
        Scalar::from_bits(dtype, u128::from_le_bytes(bits)).as_f64() as f32
    };
    for (a, b) in all.chunks_exact_mut(n).zip(more.chunks_exact(n)) {
        let mut sum = number(a).to_le_bytes();
        join(&mut sum, &number(b).to_le_bytes(), combine, DType::F32);
        let rounded = Scalar::float(dtype, f32::from_le_bytes(sum).into()).to_bits().to_le_bytes();
        a.copy_from_slice(&rounded[..n]);
    }
}

/// The members' bytes joined in order, starting from `part` of each.
fn joined<'a>(mut parts: impl Iterator<Item = &'a [u8]>, out: &mut [u8], combine: Combine, dtype: DType) {
    if let Some(first) = parts.next() {
        out.copy_from_slice(first);
    }
    for part in parts {
        join(out, part, combine, dtype);
    }
}

/// `psum`, `pmax`, `pmin` over named axes.
pub(super) struct AllReduce {
    pub(super) name: &'static str,
    pub(super) names: Vec<AxisName>,
    pub(super) groups: Groups,
    pub(super) combine: Combine,
    pub(super) dtype: DType,
}

impl HostCall for AllReduce {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        let (all, _) = exchange(&self.names, &self.groups, ins[0])?;
        joined(all.iter().map(|bytes| &bytes[..]), outs[0], self.combine, self.dtype);
        Ok(())
    }
    fn name(&self) -> String {
        self.name.into()
    }
}

/// Fills `out`, seen as `outer` rows, with one row of each part in turn.
fn interleave(parts: &[Brought], outer: usize, out: &mut [u8]) {
    let width = parts.first().map_or(0, |part| part.len() / outer.max(1));
    if width == 0 {
        return;
    }
    for (number, chunk) in out.chunks_exact_mut(width).enumerate() {
        let (row, part) = (number / parts.len(), number % parts.len());
        chunk.copy_from_slice(&parts[part][row * width..][..width]);
    }
}

/// Piece number `own` of `n` of each of the `outer` rows.
fn piece(bytes: &[u8], outer: usize, n: usize, own: usize) -> Vec<u8> {
    let width = bytes.len() / (outer * n).max(1);
    (0..outer).flat_map(|row| bytes[(row * n + own) * width..][..width].iter().copied()).collect()
}

/// `all_gather`.
pub(super) struct AllGather {
    pub(super) names: Vec<AxisName>,
    pub(super) groups: Groups,
    /// Elements in front of the axis that joins the parts.
    pub(super) outer: usize,
}

impl HostCall for AllGather {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        let (all, _) = exchange(&self.names, &self.groups, ins[0])?;
        interleave(&all, self.outer, outs[0]);
        Ok(())
    }
    fn name(&self) -> String {
        "all_gather".into()
    }
}

/// `reduce_scatter`.
pub(super) struct ReduceScatter {
    pub(super) names: Vec<AxisName>,
    pub(super) groups: Groups,
    /// Elements in front of the axis that is divided.
    pub(super) outer: usize,
    pub(super) dtype: DType,
}

impl HostCall for ReduceScatter {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        let (all, own) = exchange(&self.names, &self.groups, ins[0])?;
        let pieces: Vec<Vec<u8>> = all.iter().map(|bytes| piece(bytes, self.outer, all.len(), own)).collect();
        joined(pieces.iter().map(|bytes| &bytes[..]), outs[0], Combine::Add, self.dtype);
        Ok(())
    }
    fn name(&self) -> String {
        "reduce_scatter".into()
    }
}

/// `all_to_all`.
pub(super) struct AllToAll {
    pub(super) names: Vec<AxisName>,
    pub(super) groups: Groups,
    /// Elements in front of the axis that is divided.
    pub(super) split_outer: usize,
    /// Elements of a part in front of the axis that joins them.
    pub(super) concat_outer: usize,
}

impl HostCall for AllToAll {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        let (all, own) = exchange(&self.names, &self.groups, ins[0])?;
        let pieces: Vec<Brought> =
            all.iter().map(|bytes| piece(bytes, self.split_outer, all.len(), own).into()).collect();
        interleave(&pieces, self.concat_outer, outs[0]);
        Ok(())
    }
    fn name(&self) -> String {
        "all_to_all".into()
    }
}

/// `ppermute`.
pub(super) struct Permute {
    pub(super) names: Vec<AxisName>,
    pub(super) perm: Vec<(usize, usize)>,
}

impl HostCall for Permute {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        let (all, own) = exchange(&self.names, &None, ins[0])?;
        let source = self.perm.iter().find(|(_, target)| *target == own).and_then(|(source, _)| all.get(*source));
        match source {
            Some(bytes) => outs[0].copy_from_slice(bytes),
            None => outs[0].fill(0),
        }
        Ok(())
    }
    fn name(&self) -> String {
        "ppermute".into()
    }
}

/// `pbroadcast`.
pub(super) struct Broadcast {
    pub(super) names: Vec<AxisName>,
    pub(super) source: usize,
}

impl HostCall for Broadcast {
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        let (all, _) = exchange(&self.names, &None, ins[0])?;
        let Some(bytes) = all.get(self.source) else {
            pullback_base::bail!(
                Value,
                "pbroadcast source {} is out of bounds for an axis of size {}.",
                self.source,
                all.len()
            );
        };
        outs[0].copy_from_slice(bytes);
        Ok(())
    }
    fn name(&self) -> String {
        "pbroadcast".into()
    }
}

/// `axis_index`.
pub(super) struct Position {
    pub(super) name: AxisName,
}

impl HostCall for Position {
    fn call(&self, _ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        outs[0].copy_from_slice(&(coordinate(&self.name)? as i32).to_le_bytes());
        Ok(())
    }
    fn name(&self) -> String {
        "axis_index".into()
    }
}
