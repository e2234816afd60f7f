//! Where the elements of a variable are: memory under strides, or one value for all of them.

use pullback_base::{DType, Result, bail};
use pullback_ir::lower::{self, Affine, Elem, Index, bits_of, memory_dtype, of_bits, value_dtype, values_per_element};
use pullback_loops::{Addr, BufferId, Builder, Extent, ValueId};
use smallvec::SmallVec;

use crate::graph::IndexMap;
use crate::nest::{LONG_ENOUGH, SHORT};

/// One number an axis.
pub(crate) type Strides = SmallVec<[i64; 4]>;

/// Elements in a buffer: the element at an index is at `base + offset + Σ index · stride`, counted in elements.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) buffer: BufferId,
    /// Position of the first element.
    pub(crate) base: Affine,
    /// A computed part of that position.
    pub(crate) offset: Option<ValueId>,
    /// One stride an axis.
    pub(crate) strides: Strides,
    /// Element type in memory; complex elements are two reals there.
    pub(crate) dtype: DType,
    /// How often the temporary had been given back when it was taken for this; 0 for other memory.
    pub(crate) lease: u32,
}

/// The elements of a variable.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// All elements are this one.
    Uniform(Elem),
    /// They are in memory.
    Memory(View),
}

/// Strides of a dense row-major array.
pub(crate) fn row_major(shape: &[usize]) -> Strides {
    let mut strides = Strides::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * (shape[axis] as i64).max(1);
    }
    strides
}

impl View {
    /// A whole buffer, row-major.
    pub(crate) fn whole(buffer: BufferId, shape: &[usize], dtype: DType) -> View {
        View { buffer, base: Affine::default(), offset: None, strides: row_major(shape), dtype, lease: 0 }
    }

    /// The same elements in row-major order under another shape; the view itself is row-major.
    pub(crate) fn reshaped(&self, shape: &[usize]) -> View {
        View { strides: row_major(shape), ..self.clone() }
    }

    /// The same memory as elements of another type and shape. Keys and complex numbers are pairs of their parts, so a
    /// position counts double there; `None` when the position of a part cannot be told as one of pairs.
    pub(crate) fn retyped(&self, shape: &[usize], dtype: DType) -> Option<View> {
        let (from, to) = (values_per_element(self.dtype), values_per_element(dtype));
        let view = self.reshaped(shape);
        match (from, to) {
            _ if from == to => Some(view),
            (2, _) if self.offset.is_none() => {
                Some(View { base: self.base.times(2), dtype: value_dtype(self.dtype), ..view })
            }
            (_, 2) if self.offset.is_none() => {
                let is_even = self.base.base % 2 == 0 && self.base.terms.iter().all(|term| term.1 % 2 == 0);
                let terms = self.base.terms.iter().map(|&(id, stride)| (id, stride / 2)).collect();
                is_even.then(|| View { base: Affine { base: self.base.base / 2, terms }, dtype, ..view })
            }
            _ => None,
        }
    }

    /// What an index map shows of this operand in a result of `rank` axes.
    pub(crate) fn mapped(&self, map: &IndexMap, rank: usize) -> View {
        let mut view = View { strides: Strides::from_elem(0, rank), ..self.clone() };
        view.base.base += map.base.iter().zip(&self.strides).map(|(base, stride)| base * stride).sum::<i64>();
        for &(from, to, stride) in &map.terms {
            view.strides[to] += stride * self.strides[from];
        }
        view
    }

    /// With a short last axis outside of a long one before it, so that lanes of the long one lie together.
    pub(crate) fn with_long_axis_last(mut self, shape: &[usize]) -> View {
        if let [.., long, short] = *shape
            && (2..=SHORT).contains(&short)
            && long >= LONG_ENOUGH
        {
            let rank = shape.len();
            (self.strides[rank - 2], self.strides[rank - 1]) = (1, long as i64);
        }
        self
    }

    /// The view of which an index map that permutes axes shows this one.
    pub(crate) fn unmapped(&self, map: &IndexMap) -> View {
        let mut view = self.clone();
        for &(from, to, _) in &map.terms {
            view.strides[from] = self.strides[to];
        }
        view
    }

    /// The view at a position of the first axis, without that axis.
    pub(crate) fn at(&self, position: &Affine) -> View {
        let base = self.base.plus(&position.times(self.strides[0]));
        View { base, strides: self.strides[1..].into(), ..self.clone() }
    }

    /// Whether an array of `shape` lies there row-major.
    pub(crate) fn is_row_major(&self, shape: &[usize]) -> bool {
        let dense = row_major(shape);
        let agrees = |axis: usize| shape[axis] == 1 || self.strides[axis] == dense[axis];
        shape.contains(&0) || (0..shape.len()).all(agrees)
    }

    /// The address of the first value of the element at an index.
    pub(crate) fn addr(&self, loops: &mut Builder, index: &[Index]) -> Addr {
        debug_assert_eq!(index.len(), self.strides.len());
        let (mut affine, mut offset) = (self.base.clone(), self.offset);
        for (index, &stride) in index.iter().zip(&self.strides).filter(|(_, stride)| **stride != 0) {
            match index.times(stride, loops) {
                Index::Affine(term) => affine = affine.plus(&term),
                Index::Sum(term, value) => {
                    affine = affine.plus(&term);
                    offset = Some(sum(loops, offset, value));
                }
            }
        }
        let parts = values_per_element(self.dtype) as i64;
        let affine = affine.times(parts);
        let offset = offset.map(|value| if parts == 1 { value } else { double(loops, value) });
        let terms = affine.terms.iter().map(|&(id, stride)| (id, Extent::Const(stride))).collect();
        Addr { base: affine.base, terms, offset }
    }

    /// Reads the element at an index as one of `dtype`.
    pub(crate) fn load(&self, loops: &mut Builder, index: &[Index], dtype: DType) -> Result<Elem> {
        let addr = self.addr(loops, index);
        let first = loops.load(self.buffer, addr.clone());
        if values_per_element(self.dtype) == 1 {
            let value = lower::loaded(loops, self.dtype, first);
            return bitcast(loops, value, self.dtype, dtype);
        }
        if self.dtype != dtype {
            bail!(NotImplemented, "reinterpreting {} as {dtype} is not implemented", self.dtype);
        }
        Ok(Elem::Two(first, loops.load(self.buffer, next(addr))))
    }

    /// Writes the element at an index.
    pub(crate) fn store(&self, loops: &mut Builder, index: &[Index], elem: Elem) {
        let addr = self.addr(loops, index);
        match elem {
            Elem::One(value) => {
                let value = lower::stored(loops, self.dtype, value);
                loops.store(self.buffer, addr, value);
            }
            Elem::Two(first, second) => {
                loops.store(self.buffer, addr.clone(), first);
                loops.store(self.buffer, next(addr), second);
            }
        }
    }
}

fn next(addr: Addr) -> Addr {
    Addr { base: addr.base + 1, ..addr }
}

fn sum(loops: &mut Builder, offset: Option<ValueId>, term: ValueId) -> ValueId {
    offset.map_or(term, |offset| loops.binary(pullback_loops::Binary::Add, offset, term))
}

fn double(loops: &mut Builder, value: ValueId) -> ValueId {
    let two = loops.int(2);
    loops.binary(pullback_loops::Binary::Mul, value, two)
}

/// An element of one type as another of the same width, by bits.
pub(crate) fn bitcast(loops: &mut Builder, value: ValueId, from: DType, to: DType) -> Result<Elem> {
    if from == to {
        return Ok(Elem::One(value));
    }
    if values_per_element(to) != 1 {
        bail!(NotImplemented, "reinterpreting {from} as {to} is not implemented");
    }
    let is_plain = |dtype: DType| memory_dtype(dtype) == dtype && value_dtype(dtype) == dtype;
    if is_plain(from) && is_plain(to) {
        return Ok(Elem::One(loops.bitcast(to, value)));
    }
    let bits = bits_of(loops, from, value);
    Ok(Elem::One(of_bits(loops, to, bits)))
}

/// The element as it would come back from memory of `dtype`.
pub(crate) fn rounded(loops: &mut Builder, elem: Elem, dtype: DType) -> Elem {
    match elem {
        Elem::One(value) => Elem::One(lower::rounded(loops, dtype, value)),
        Elem::Two(..) => elem,
    }
}
