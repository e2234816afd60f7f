//! How a primitive tells the CPU compiler what it does: one of a few forms, never machine code.
//!
//! Most forms describe one element of the result as a function of its index, so that the compiler can fuse producers
//! into consumers by asking for elements. A primitive never decides what is fused, stored or vectorized.

use std::sync::Arc;

use pullback_base::{DType, Result, Scalar};
use pullback_loops::{Binary, Body, Builder, Combine, Comparison, HostCall, LoopId, Unary, ValueId};
use smallvec::SmallVec;

pub use crate::elements::{
    bits_dtype, bits_of, is_computable, is_small_integer, loaded, memory_dtype, of_bits, rounded, stored, value_dtype,
    values_per_element,
};
use crate::emit::Emit;
use crate::jaxpr::JaxprRef;
use crate::val::{Val, Vals};

/// One element while lowering: a value of the loop IR, or two for complex elements (real, imaginary) and keys (words).
/// Elements of dtypes that the loop IR does not compute in are values of the nearest it does (`float32` for half-width
/// floats); the compiler rounds the result of each primitive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Elem {
    /// A number.
    One(ValueId),
    /// A complex number or a key.
    Two(ValueId, ValueId),
}

impl Elem {
    /// The value of a real element.
    ///
    /// # Panics
    /// On a complex element: the primitive should have checked its dtypes.
    pub fn one(self) -> ValueId {
        match self {
            Elem::One(value) => value,
            Elem::Two(..) => panic!("a real element was expected"),
        }
    }
}

/// Position along one axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Index {
    /// `base + Σ counter · stride`.
    Affine(Affine),
    /// A computed `int64`, and a part that is known by counters.
    Sum(Affine, ValueId),
}

/// `base + Σ counter · stride`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Affine {
    /// Constant part.
    pub base: i64,
    /// Loop counters and strides, sorted by loop, without zeros.
    pub terms: SmallVec<[(LoopId, i64); 3]>,
}

impl Affine {
    /// The sum of two positions.
    #[must_use]
    pub fn plus(&self, other: &Affine) -> Affine {
        let mut sum = self.clone();
        sum.base += other.base;
        for &(id, stride) in &other.terms {
            match sum.terms.binary_search_by_key(&id, |term| term.0) {
                Ok(at) => sum.terms[at].1 += stride,
                Err(at) => sum.terms.insert(at, (id, stride)),
            }
        }
        sum.terms.retain(|term| term.1 != 0);
        sum
    }

    /// The position times a constant.
    #[must_use]
    pub fn times(&self, factor: i64) -> Affine {
        if factor == 0 {
            return Affine::default();
        }
        let terms = self.terms.iter().map(|&(id, stride)| (id, stride * factor)).collect();
        Affine { base: self.base * factor, terms }
    }
}

impl Index {
    /// A known position.
    pub fn constant(base: i64) -> Index {
        Index::Affine(Affine { base, ..Affine::default() })
    }

    /// The counter of a loop.
    pub fn counter(id: LoopId) -> Index {
        Index::Affine(Affine { base: 0, terms: SmallVec::from_slice(&[(id, 1)]) })
    }

    /// A computed `int64`; a known position if it is a constant.
    pub fn computed(value: ValueId, loops: &Builder) -> Index {
        loops.known_int(value).map_or(Index::Sum(Affine::default(), value), Index::constant)
    }

    /// As an `int64` value.
    pub fn value(&self, loops: &mut Builder) -> ValueId {
        match self {
            Index::Affine(affine) => affine_value(affine, loops),
            Index::Sum(affine, value) if *affine == Affine::default() => *value,
            Index::Sum(affine, value) => {
                let affine = affine_value(affine, loops);
                loops.binary(Binary::Add, *value, affine)
            }
        }
    }

    /// The sum of two positions.
    #[must_use]
    pub fn plus(&self, other: &Index, loops: &mut Builder) -> Index {
        match (self, other) {
            (Index::Affine(a), Index::Affine(b)) => Index::Affine(a.plus(b)),
            (Index::Sum(a, value), Index::Affine(b)) | (Index::Affine(b), Index::Sum(a, value)) => {
                Index::Sum(a.plus(b), *value)
            }
            (Index::Sum(a, x), Index::Sum(b, y)) => Index::Sum(a.plus(b), loops.binary(Binary::Add, *x, *y)),
        }
    }

    /// The position plus a constant.
    #[must_use]
    pub fn plus_const(&self, more: i64, loops: &mut Builder) -> Index {
        if more == 0 { self.clone() } else { self.plus(&Index::constant(more), loops) }
    }

    /// The position times a constant.
    #[must_use]
    pub fn times(&self, factor: i64, loops: &mut Builder) -> Index {
        match self {
            Index::Affine(affine) => Index::Affine(affine.times(factor)),
            Index::Sum(..) if factor == 0 => Index::constant(0),
            Index::Sum(..) if factor == 1 => self.clone(),
            Index::Sum(affine, value) => {
                let by = loops.int(factor);
                Index::Sum(affine.times(factor), loops.binary(Binary::Mul, *value, by))
            }
        }
    }

    /// The position moved into `low..=high`.
    #[must_use]
    pub fn clamped(&self, low: i64, high: i64, loops: &mut Builder) -> Index {
        if let Index::Affine(affine) = self
            && affine.terms.is_empty()
        {
            return Index::constant(affine.base.clamp(low, high.max(low)));
        }
        let (value, low, high) = (self.value(loops), loops.int(low), loops.int(high.max(low)));
        let raised = loops.binary(Binary::Max, value, low);
        Index::Sum(Affine::default(), loops.binary(Binary::Min, raised, high))
    }
}

fn affine_value(affine: &Affine, loops: &mut Builder) -> ValueId {
    let mut sum = None;
    for &(id, stride) in &affine.terms {
        let mut term = loops.index(id);
        if stride != 1 {
            let stride = loops.int(stride);
            term = loops.binary(Binary::Mul, term, stride);
        }
        sum = Some(sum.map_or(term, |sum| loops.binary(Binary::Add, sum, term)));
    }
    match sum {
        None => loops.int(affine.base),
        Some(sum) if affine.base == 0 => sum,
        Some(sum) => {
            let base = loops.int(affine.base);
            loops.binary(Binary::Add, sum, base)
        }
    }
}

/// What a form sees while one element of its result is made.
pub trait ElementCx {
    /// Makes values of the loop IR.
    fn loops(&mut self) -> &mut Builder;
    /// An element of an operand. Every index must be inside the operand's shape.
    fn operand(&mut self, number: usize, index: &[Index]) -> Result<Elem>;
}

/// One element of the result from the operands' elements at the same index.
pub type ScalarFn = Box<dyn Fn(&mut Builder, &[Elem]) -> Elem>;
/// One element of the result from its index.
pub type ElementFn = Box<dyn Fn(&mut dyn ElementCx, &[Index]) -> Result<Elem>>;
/// Where an element of the updates (by its index) goes in the operand, and whether it does (`None`: always).
pub type TargetFn = Box<dyn Fn(&mut dyn ElementCx, &[Index]) -> Result<(Vec<Index>, Option<ValueId>)>>;
/// The application in terms of other primitives.
pub type DecomposeFn = Box<dyn Fn(&dyn Emit, &[Val]) -> Result<Vals>>;

/// A box of the result that is filled from a box of an operand.
#[derive(Clone, Debug)]
pub struct Piece {
    /// First index in the result, for each axis.
    pub start: Vec<i64>,
    /// Step between filled indices of the result.
    pub step: Vec<i64>,
    /// Sizes of the box.
    pub sizes: Vec<usize>,
    /// Number of the operand; a scalar operand fills the box.
    pub operand: usize,
    /// First index in the operand (empty for a scalar operand), stepped by one.
    pub operand_start: Vec<i64>,
}

/// Which index a search along an axis keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Extreme {
    Max,
    Min,
}

/// Dimensions of a contraction, as in `dot_general`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Contraction {
    /// Contracted axes of both operands.
    pub contract: [Vec<usize>; 2],
    /// Batch axes of both operands.
    pub batch: [Vec<usize>; 2],
}

/// A primitive that holds jaxprs.
#[derive(Clone, Debug)]
pub enum Control {
    /// Runs the jaxpr once on the operands.
    Call(JaxprRef),
    /// Operands: consts, carry, xs; results: carry, ys.
    Scan {
        /// From consts, carry and one slice of each xs to carry and one slice of each ys.
        body: JaxprRef,
        /// Number of consts.
        n_consts: usize,
        /// Number of carried values.
        n_carry: usize,
        /// Number of iterations.
        length: usize,
        /// Whether it runs from the last slice to the first.
        reverse: bool,
    },
    /// Operands: consts of the condition, consts of the body, carry; results: carry.
    While {
        /// From its consts and the carry to a boolean.
        cond: JaxprRef,
        /// Number of its consts.
        n_cond_consts: usize,
        /// From its consts and the carry to the carry.
        body: JaxprRef,
        /// Number of its consts.
        n_body_consts: usize,
    },
    /// Operands: an `int32` index, which is clamped to the branches, then the operands of the chosen branch.
    Switch(Vec<JaxprRef>),
}

/// What a primitive does on the CPU.
pub enum CpuForm {
    /// Elementwise over operands of the result's shape, or scalars.
    Scalar(ScalarFn),
    /// By index; each result element is asked for where it is used. Cheap: the compiler may compute it several times.
    Element(ElementFn),
    /// The elements of the first operand in the same row-major order, under another shape or type of the same width.
    Alias,
    /// Boxes of the result, in order; later ones overwrite. Together they cover the result.
    Pieces(Vec<Piece>),
    /// Combination over axes.
    Reduce {
        /// How.
        combine: Combine,
        /// Which axes of the operand.
        axes: Vec<usize>,
    },
    /// Index of the extreme element along an axis; the first of equals; a NaN counts as extreme.
    ArgReduce {
        /// Which extreme.
        extreme: Extreme,
        /// Along which axis.
        axis: usize,
    },
    /// Running combination along an axis.
    Cumulative {
        /// How.
        combine: Combine,
        /// Along which axis.
        axis: usize,
        /// From the last element to the first.
        reverse: bool,
    },
    /// Sum of products over contracted axes; result axes: batch, free of the left, free of the right.
    Contract(Contraction),
    /// A copy of operand 0, then in order every element of the updates (the operand `updates`) stored at, or combined
    /// with, its target.
    Scatter {
        /// Number of the operand that holds the updates.
        updates: usize,
        /// How it joins what is there; `None` replaces.
        combine: Option<Combine>,
        /// Where it goes.
        target: TargetFn,
    },
    /// Sorted along an axis, all operands moved by the first `n_keys`.
    Sort {
        /// Along which axis.
        axis: usize,
        /// How many operands are keys.
        n_keys: usize,
    },
    /// In terms of other primitives.
    Decompose(DecomposeFn),
    /// Runs jaxprs.
    Control(Control),
    /// A function of the host.
    Host(Arc<dyn HostCall>),
    /// A dense array body on row-major operands.
    Body(Box<Body>),
    /// Not written, and why.
    Missing(String),
}

/// Builds a [`CpuForm::Scalar`] of one operand from its real and complex case.
pub fn unary_form(real: impl Fn(&mut Builder, ValueId) -> ValueId + 'static) -> CpuForm {
    CpuForm::Scalar(Box::new(move |loops, ins| Elem::One(real(loops, ins[0].one()))))
}

/// A constant element of its dtype, in the values that the loop IR computes with.
pub fn constant(loops: &mut Builder, scalar: Scalar) -> Elem {
    let dtype = scalar.dtype();
    match dtype {
        DType::C64 | DType::C128 => {
            let pullback_base::scalar::Number::Complex(re, im) = scalar.number() else { unreachable!("complex") };
            let (re, im) = (Scalar::float(dtype.real(), re), Scalar::float(dtype.real(), im));
            Elem::Two(loops.constant(re), loops.constant(im))
        }
        DType::KeyFry | DType::KeyPhilox2 | DType::KeyPhilox4 => {
            let bits = scalar.to_bits() as u64;
            let word = |bits: u64| Scalar::int(DType::U32, i128::from(bits as u32));
            Elem::Two(loops.constant(word(bits)), loops.constant(word(bits >> 32)))
        }
        DType::KeyRbg | DType::KeyUnsafeRbg | DType::KeyFry4 => {
            let bits = scalar.to_bits();
            let pair = |bits: u128| Scalar::int(DType::U64, i128::from(bits as u64));
            Elem::Two(loops.constant(pair(bits)), loops.constant(pair(bits >> 64)))
        }
        _ => Elem::One(loops.constant(scalar.convert(value_dtype(dtype)))),
    }
}

/// Operations of the loop IR that rules of scalar forms name.
pub use pullback_loops::{Binary as LoopBinary, Comparison as LoopComparison, Unary as LoopUnary};

/// `comparison ? x : y` helpers shared by scalar forms of several families.
pub fn select_by(loops: &mut Builder, op: Comparison, a: ValueId, b: ValueId, on_true: Elem, on_false: Elem) -> Elem {
    let condition = loops.compare(op, a, b);
    select(loops, condition, on_true, on_false)
}

/// Selects between elements of one kind.
pub fn select(loops: &mut Builder, condition: ValueId, on_true: Elem, on_false: Elem) -> Elem {
    match (on_true, on_false) {
        (Elem::One(a), Elem::One(b)) => Elem::One(loops.select(condition, a, b)),
        (Elem::Two(a, b), Elem::Two(c, d)) => Elem::Two(loops.select(condition, a, c), loops.select(condition, b, d)),
        (Elem::One(_), Elem::Two(..)) | (Elem::Two(..), Elem::One(_)) => panic!("elements of different kinds"),
    }
}

/// A one-operand scalar form that is one operation of the loop IR.
pub fn unary_op(op: Unary) -> CpuForm {
    unary_form(move |loops, x| loops.unary(op, x))
}

/// The complex number that comes first in the order by real, then by imaginary part; the second unless the first is
/// strictly before it.
pub fn lexicographic(loops: &mut Builder, before: Comparison, [a, b]: [ValueId; 2], [c, d]: [ValueId; 2]) -> Elem {
    let (is_before, is_equal) = (loops.compare(before, a, c), loops.compare(Comparison::Eq, a, c));
    let breaks_tie = loops.compare(before, b, d);
    let breaks_tie = loops.binary(Binary::And, is_equal, breaks_tie);
    let is_first = loops.binary(Binary::Or, is_before, breaks_tie);
    Elem::Two(loops.select(is_first, a, c), loops.select(is_first, b, d))
}
