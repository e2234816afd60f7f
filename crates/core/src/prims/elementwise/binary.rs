//! The family of two-operand primitives: shapes, dtypes, batching and the sums that undo repetition; a member states
//! its name, dtypes, form and rule.

use std::marker::PhantomData;

use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::{CpuForm, Elem};
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val,
    Vals, not_linear,
};
use pullback_loops::{Builder, ValueId};
use smallvec::smallvec;

use super::{DTypes, broadcast_shapes, check_same_dtypes, unbroadcast};
use crate::prims::value::{V, add_any};

/// How a two-operand member is differentiated and transposed.
pub enum BinaryRule {
    /// Tangents by operand, from `(tangent, x, y, z)`; `None` where the derivative is zero.
    Partial {
        /// In the first operand.
        x: Option<PartialFn>,
        /// In the second operand.
        y: Option<PartialFn>,
    },
    /// As `Partial`, and linear in one operand at a time (`z = x·y`) or only in the first: cotangent of the linear
    /// operand from `(cotangent, other operand)`.
    Bilinear {
        /// Tangent in the first operand.
        x: PartialFn,
        /// Tangent in the second operand.
        y: PartialFn,
        /// Transpose in the first operand, with the second known.
        x_ct: for<'e> fn(&V<'e>, &V<'e>) -> V<'e>,
        /// Transpose in the second operand, with the first known; `None` when it is not linear there.
        y_ct: Option<for<'e> fn(&V<'e>, &V<'e>) -> V<'e>>,
    },
    /// Linear in both together: the tangents' factors are 1 and `y_sign`.
    Additive {
        /// Whether the second operand is subtracted.
        negates_y: bool,
    },
    /// No derivative.
    Zero,
    /// Not written, and why.
    Missing(&'static str),
}

/// Tangent of the result from `(tangent of the operand, x, y, z)`.
pub type PartialFn = for<'e> fn(&V<'e>, &V<'e>, &V<'e>, &V<'e>) -> V<'e>;

/// A member of the two-operand family.
pub trait BinaryOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// Dtypes of the operands, which are equal.
    const ACCEPTS: DTypes;
    /// Operation of StableHLO.
    const HLO: Hlo<()>;
    /// Derivative.
    const RULE: BinaryRule;
    /// Interval of sample elements.
    const DOMAIN: (f64, f64);

    /// Dtype of the result for one of the operands.
    fn result(dtype: DType) -> DType {
        dtype
    }
    /// One element, of real operands.
    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId;
    /// One element, of real operands of `dtype`, where their own bits count and not only their values.
    fn typed(loops: &mut Builder, _dtype: DType, x: ValueId, y: ValueId) -> ValueId {
        Self::real(loops, x, y)
    }
    /// One element, of complex operands (real and imaginary part); `None` when not written.
    fn complex(_loops: &mut Builder, _x: [ValueId; 2], _y: [ValueId; 2]) -> Option<Elem> {
        None
    }
}

/// The two-operand family.
pub struct Binary<T>(pub PhantomData<T>);

impl<T: BinaryOp> Prim for Binary<T> {
    type Params = ();
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        if ins.len() != 2 {
            bail!(Type, "{} takes 2 operands, got {}", T::NAME, ins.len());
        }
        check_same_dtypes(T::NAME, ins)?;
        T::ACCEPTS.check(T::NAME, 0, ins[0].dtype)?;
        let dtype = T::result(ins[0].dtype);
        if ins[0] == ins[1] && dtype == ins[0].dtype {
            return Ok(smallvec![ins[0]]);
        }
        let shape = broadcast_shapes(T::NAME, ins)?;
        let weak_type = ins.iter().all(|x| x.weak_type) && dtype != DType::Bool;
        Ok(smallvec![Aval::with_weak_type(&shape, dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        match T::RULE {
            BinaryRule::Partial { .. } | BinaryRule::Bilinear { .. } | BinaryRule::Additive { .. } => {
                Derivative::Jvp(binary_jvp::<T>)
            }
            BinaryRule::Zero => Derivative::Zero,
            BinaryRule::Missing(reason) => Derivative::Missing(reason),
        }
    }

    fn transpose(&self) -> Transpose<()> {
        match T::RULE {
            BinaryRule::Bilinear { .. } | BinaryRule::Additive { .. } => Transpose::Rule(binary_transpose::<T>),
            BinaryRule::Partial { .. } | BinaryRule::Zero => Transpose::NotLinear,
            BinaryRule::Missing(reason) => Transpose::Missing(reason),
        }
    }

    fn splits(&self) -> Splits<()> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        if !ins[0].dtype.is_complex() {
            let dtype = ins[0].dtype;
            return CpuForm::Scalar(Box::new(move |loops, ins| {
                Elem::One(T::typed(loops, dtype, ins[0].one(), ins[1].one()))
            }));
        }
        if !has_complex_binary::<T>() {
            return CpuForm::Missing(format!("{} of complex numbers", T::NAME));
        }
        CpuForm::Scalar(Box::new(|loops, ins| {
            let (Elem::Two(a, b), Elem::Two(c, d)) = (ins[0], ins[1]) else { panic!("complex elements were expected") };
            T::complex(loops, [a, b], [c, d]).expect("asked before")
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        T::HLO
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![];
        for dtype in [DType::F32, DType::I32, DType::Bool, DType::C64] {
            if !T::ACCEPTS.contains(dtype) || dtype == DType::C64 && !has_complex_binary::<T>() {
                continue;
            }
            for shapes in [[&[2, 3][..], &[2, 3]], [&[2, 3], &[]], [&[1, 3], &[2, 1]]] {
                samples.push(Sample::new(Params::NONE, dtype, T::DOMAIN, &shapes));
            }
        }
        samples
    }
}

fn has_complex_binary<T: BinaryOp>() -> bool {
    let mut scratch = Builder::new("probe");
    let parts = [scratch.fresh(DType::F32), scratch.fresh(DType::F32)];
    T::complex(&mut scratch, parts, parts).is_some()
}

fn binary_jvp<'e, T: BinaryOp>((): &(), e: &'e dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (x, y) = (V::new(e, &xs[0]), V::new(e, &xs[1]));
    let z = x.bind(PrimRef(&Binary::<T>(PhantomData)), &Params::NONE, &[&y]);
    // Operands that do not go together end here: the rules below rely on the result's shape.
    let out = z.clone().done()?;
    let (x_dot, y_dot) = (ts[0].as_ref().map(|t| V::new(e, t)), ts[1].as_ref().map(|t| V::new(e, t)));
    let (dx, dy) = match T::RULE {
        BinaryRule::Partial { x: in_x, y: in_y } => {
            let part = |rule: Option<PartialFn>, t: Option<V<'e>>| Some(rule?(&t?, &x, &y, &z));
            (part(in_x, x_dot), part(in_y, y_dot))
        }
        BinaryRule::Bilinear { x: in_x, y: in_y, .. } => {
            (x_dot.map(|t| in_x(&t, &x, &y, &z)), y_dot.map(|t| in_y(&t, &x, &y, &z)))
        }
        BinaryRule::Additive { .. } if x_dot.is_some() && y_dot.is_some() => {
            let both = x_dot.zip(y_dot).map(|(x, y)| x.bind(PrimRef(&Binary::<T>(PhantomData)), &Params::NONE, &[&y]));
            (both, None)
        }
        BinaryRule::Additive { negates_y } => (x_dot, y_dot.map(|t| if negates_y { -t } else { t })),
        BinaryRule::Zero | BinaryRule::Missing(_) => unreachable!("chosen by the rule"),
    };
    let shape = &z.aval().shape;
    let full = |t: V<'_>| t.broadcast_to(shape).done();
    let tangent = add_any(e, dx.map(full).transpose()?, dy.map(full).transpose()?)?;
    Ok((smallvec![out], smallvec![tangent]))
}

fn binary_transpose<T: BinaryOp>((): &(), e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(ct) = &cts[0] else { return Ok(smallvec![None, None]) };
    let ct = V::new(e, ct);
    let known = |i: usize| ins[i].known().map(|val| V::new(e, val));
    let not_linear = || not_linear(T::NAME, " in both operands together, or in a divisor");
    let (x_ct, y_ct) = match T::RULE {
        BinaryRule::Additive { negates_y } => {
            let y_ct = if negates_y { -&ct } else { ct.clone() };
            (ins[0].is_linear().then(|| ct.clone()), ins[1].is_linear().then_some(y_ct))
        }
        BinaryRule::Bilinear { x_ct, y_ct, .. } => match (known(0), known(1)) {
            (None, Some(y)) => (Some(x_ct(&ct, &y)), None),
            (Some(x), None) => (None, Some(y_ct.ok_or_else(not_linear)?(&ct, &x))),
            _ => return Err(not_linear()),
        },
        BinaryRule::Partial { .. } | BinaryRule::Zero | BinaryRule::Missing(_) => unreachable!("chosen by the rule"),
    };
    let back = |ct: Option<V<'_>>, i: usize| ct.map(|ct| unbroadcast(&ct, ins[i].aval()).done()).transpose();
    Ok(smallvec![back(x_ct, 0)?, back(y_ct, 1)?])
}
