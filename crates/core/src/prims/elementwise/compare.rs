//! The family of comparisons: two operands of one dtype give booleans.

use std::marker::PhantomData;

use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::{CpuForm, Elem, bits_of};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, Sample, Splits, Transpose};
use pullback_loops::{Binary as Op, Builder, Comparison, ValueId};
use smallvec::smallvec;

use super::{DTypes, broadcast_shapes, check_same_dtypes};

/// A member of the family.
pub trait CompareOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// Dtypes of the operands, which are equal.
    const ACCEPTS: DTypes;
    /// What is compared.
    const COMPARISON: Comparison;
    /// Whether floats compare in the total order, in which every two of other bits differ.
    const IS_TOTAL: bool = false;
}

/// The family of comparisons.
pub struct Compare<T>(pub PhantomData<T>);

impl<T: CompareOp> Prim for Compare<T> {
    type Params = ();
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        if ins.len() != 2 {
            bail!(Type, "{} takes 2 operands, got {}", T::NAME, ins.len());
        }
        check_same_dtypes(T::NAME, ins)?;
        // Keys have an identity, but no order.
        let is_key = ins[0].dtype.is_key() && matches!(T::COMPARISON, Comparison::Eq | Comparison::Ne);
        if !is_key {
            T::ACCEPTS.check(T::NAME, 0, ins[0].dtype)?;
        }
        let weak_type = ins.iter().all(|x| x.weak_type);
        Ok(smallvec![Aval::with_weak_type(&broadcast_shapes(T::NAME, ins)?, DType::Bool, weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<()> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let dtype = ins[0].dtype;
        if T::IS_TOTAL && dtype.is_float() {
            return CpuForm::Scalar(Box::new(move |loops, ins| {
                let [x, y] = [ins[0], ins[1]].map(|x| Elem::One(total_order(loops, dtype, x.one())));
                Elem::One(compare(loops, T::COMPARISON, x, y))
            }));
        }
        CpuForm::Scalar(Box::new(|loops, ins| Elem::One(compare(loops, T::COMPARISON, ins[0], ins[1]))))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Rule(|(), cx, ins, outs| {
            let (x, y) = (cx.repeated(ins[0], &outs[0].shape), cx.repeated(ins[1], &outs[0].shape));
            let direction = format!("{:?}", T::COMPARISON).to_uppercase();
            let compared = if T::IS_TOTAL { cx.compare_total(&direction, x, y) } else { cx.compare(&direction, x, y) };
            Ok(smallvec![compared])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![];
        for dtype in [DType::F32, DType::I32, DType::U32, DType::Bool, DType::C64] {
            if T::ACCEPTS.contains(dtype) {
                for shapes in [[&[2, 3][..], &[2, 3]], [&[2, 3], &[]], [&[1, 3], &[2, 1]]] {
                    samples.push(Sample::new(Params::NONE, dtype, (-3.0, 3.0), &shapes));
                }
            }
        }
        samples
    }
}

/// Integers in the total order of floats: the bits, but with those below the sign turned over where that is set.
fn total_order(loops: &mut Builder, dtype: DType, x: ValueId) -> ValueId {
    let bits = bits_of(loops, dtype, x);
    let width = dtype.bits();
    let wide = loops.convert(DType::U64, bits);
    let constant = |loops: &mut Builder, value: i128| loops.constant(Scalar::int(DType::U64, value));
    let up = constant(loops, (64 - width).into());
    // The sign is the highest bit of 64, so that it fills what is below when shifted down.
    let high = loops.binary(Op::ShiftLeft, wide, up);
    let signed = loops.bitcast(DType::I64, high);
    let all = loops.constant(Scalar::int(DType::I64, 63));
    let fill = loops.binary(Op::ShiftRightArithmetic, signed, all);
    let below = loops.constant(Scalar::int(DType::I64, i64::MAX.into()));
    let flips = loops.binary(Op::And, fill, below);
    loops.binary(Op::Xor, signed, flips)
}

/// Compares two elements of one dtype: by their parts when they have two, `false` before `true`.
fn compare(loops: &mut Builder, op: Comparison, x: Elem, y: Elem) -> ValueId {
    match (x, y) {
        (Elem::One(x), Elem::One(y)) if loops.dtype(x) == DType::Bool => {
            let (x, y) = (loops.convert(DType::I32, x), loops.convert(DType::I32, y));
            loops.compare(op, x, y)
        }
        (Elem::One(x), Elem::One(y)) => loops.compare(op, x, y),
        (Elem::Two(a, b), Elem::Two(c, d)) => {
            let join = if op == Comparison::Ne { Op::Or } else { Op::And };
            let (first, second) = (loops.compare(op, a, c), loops.compare(op, b, d));
            loops.binary(join, first, second)
        }
        (Elem::One(_), Elem::Two(..)) | (Elem::Two(..), Elem::One(_)) => panic!("elements of different kinds"),
    }
}
