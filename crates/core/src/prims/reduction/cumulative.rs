//! The family of running combinations along an axis, and the prefix tree that differentiates them.

use std::marker::PhantomData;

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Params, Passing, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val,
    Vals,
};
use pullback_loops::Combine;
use smallvec::smallvec;

use crate::prims::movement::batch_axis;
use crate::prims::{ADD, CONCATENATE, Concatenate, DTypes, V, zeros};

/// Params of the family.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Cumulative {
    /// Along which axis.
    pub axis: usize,
    /// From the last element to the first.
    pub reverse: bool,
}

/// Two values joined, with the tangent when the first of each has one.
pub type JoinFn = fn(&dyn Emit, &Pair, &Pair) -> Result<Pair>;

/// A value, with its tangent when one is asked for.
pub type Pair = (Val, Option<Val>);

/// A member of the family.
pub trait CumulativeOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// How elements combine on the CPU; `None` by the prefix tree.
    const COMBINE: Option<Combine>;
    /// How two elements join under differentiation; `None` for a linear member.
    const JOIN: Option<JoinFn>;
    /// Dtypes of the operand.
    const ACCEPTS: DTypes = DTypes::NUMBER;
}

/// The family.
pub struct Cumul<T>(pub PhantomData<T>);

fn this<T: CumulativeOp>() -> PrimRef {
    PrimRef(&Cumul::<T>(PhantomData))
}

impl<T: CumulativeOp> Prim for Cumul<T> {
    type Params = Cumulative;
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, p: &Cumulative, ins: &[Aval]) -> Result<Avals> {
        T::ACCEPTS.check_only(T::NAME, ins[0].dtype)?;
        if p.axis >= ins[0].rank() {
            bail!(Value, "axis {} is out of bounds for array of shape {}", p.axis, tuple_text(&ins[0].shape));
        }
        Ok(smallvec![ins[0]])
    }

    fn derivative(&self) -> Derivative<Cumulative> {
        if T::JOIN.is_none() { Derivative::Linear(zeros) } else { Derivative::Jvp(jvp::<T>) }
    }

    fn transpose(&self) -> Transpose<Cumulative> {
        if T::JOIN.is_some() {
            return Transpose::NotLinear;
        }
        Transpose::Rule(|p, e, cts, _ins| {
            let params = Params::new(Cumulative { axis: p.axis, reverse: !p.reverse });
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).bind(this::<T>(), &params, &[]).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn splits(&self) -> Splits<Cumulative> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Cumulative> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            let params = Params::new(Cumulative { axis: batch_axis(p.axis, dim), reverse: p.reverse });
            Ok((e.bind(this::<T>(), &params, ins)?, smallvec![Some(dim)]))
        })
    }

    fn cpu(&self, p: &Cumulative, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let Cumulative { axis, reverse } = *p;
        match (T::COMBINE, T::JOIN) {
            (Some(combine), _) => CpuForm::Cumulative { combine, axis, reverse },
            (None, Some(join)) => CpuForm::Decompose(Box::new(move |e, ins| {
                Ok(smallvec![prefixes(e, (ins[0].clone(), None), axis, reverse, join)?.0])
            })),
            (None, None) => CpuForm::Missing(format!("{} says no way to combine", T::NAME)),
        }
    }

    fn hlo(&self) -> Hlo<Cumulative> {
        Hlo::Composition(|p, e, ins| {
            let join = T::JOIN.unwrap_or(|e, x, y| join_by(e, ADD, x, y));
            Ok(smallvec![prefixes(e, (ins[0].clone(), None), p.axis, p.reverse, join)?.0])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |dtype, shape: &[usize], axis, reverse| {
            Sample::new(Params::new(Cumulative { axis, reverse }), dtype, (-1.5, 1.5), &[shape])
        };
        let mut samples = vec![
            sample(DType::F32, &[3, 4], 1, false),
            sample(DType::F32, &[3, 4], 0, true),
            sample(DType::F32, &[7], 0, false),
            sample(DType::F32, &[1], 0, true),
            sample(DType::F32, &[0], 0, false),
        ];
        if T::ACCEPTS.contains(DType::I32) {
            samples.push(sample(DType::I32, &[3, 4], 1, false));
        }
        samples.push(sample(DType::C64, &[5], 0, true));
        samples
    }
}

/// The axis along which runs may not be split.
fn pass(p: &Cumulative, x: &Passing<'_>) -> Result<Vec<Spec>> {
    if x.is_strict && !x.specs[0][p.axis].is_empty() {
        return x.refuse(|| {
            format!(
                "Input should be unsharded over the axis being reduced. Got input type={} and axis={}",
                x.shown(0),
                p.axis
            )
        });
    }
    Ok(vec![x.specs[0].clone()])
}

fn jvp<T: CumulativeOp>(p: &Cumulative, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (Some(t), Some(join)) = (&ts[0], T::JOIN) else {
        return Ok((e.bind(this::<T>(), &Params::new(p.clone()), xs)?, smallvec![None]));
    };
    let (out, tangent) = prefixes(e, (xs[0].clone(), Some(t.clone())), p.axis, p.reverse, join)?;
    Ok((smallvec![out], smallvec![tangent]))
}

/// The same operation on the value and on its tangent.
fn both(e: &dyn Emit, (x, t): &Pair, op: impl Fn(V<'_>) -> Result<Val>) -> Result<Pair> {
    Ok((op(V::new(e, x))?, t.as_ref().map(|t| op(V::new(e, t))).transpose()?))
}

/// All running combinations from the first element (or the last, in reverse).
fn prefixes(e: &dyn Emit, x: Pair, axis: usize, reverse: bool, join: JoinFn) -> Result<Pair> {
    if !reverse {
        return tree(e, x, axis, join);
    }
    let turned = both(e, &x, |v| v.rev(&[axis]).done())?;
    both(e, &tree(e, turned, axis, join)?, |v| v.rev(&[axis]).done())
}

/// Neighbours are joined, the half as many results are prefixed, and from those every other prefix follows.
fn tree(e: &dyn Emit, x: Pair, axis: usize, join: JoinFn) -> Result<Pair> {
    let n = x.0.aval().shape[axis];
    if n < 2 {
        return Ok(x);
    }
    let part = |x: &Pair, start, limit, stride| both(e, x, |v| v.slice_axis(axis, start, limit, stride).done());
    let joined = join(e, &part(&x, 0, n - 1, 2)?, &part(&x, 1, n, 2)?)?;
    let odd = tree(e, joined, axis, join)?;
    let n_odd = n / 2;
    let before = if n.is_multiple_of(2) { part(&odd, 0, n_odd - 1, 1)? } else { odd.clone() };
    let even = join(e, &before, &part(&x, 2.min(n), n, 2)?)?;
    let even = concatenated(e, &part(&x, 0, 1, 1)?, &even, axis)?;
    interleaved(e, &even, &odd, axis)
}

fn concatenated(e: &dyn Emit, (x, t): &Pair, (y, u): &Pair, axis: usize) -> Result<Pair> {
    let params = Params::new(Concatenate { dimension: axis });
    let join = |a: &Val, b: &Val| Ok(e.bind(CONCATENATE, &params, &[a.clone(), b.clone()])?.swap_remove(0));
    Ok((join(x, y)?, t.as_ref().zip(u.as_ref()).map(|(t, u)| join(t, u)).transpose()?))
}

/// `even[0] odd[0] even[1] …`: both spread with zeros and added.
fn interleaved(e: &dyn Emit, even: &Pair, odd: &Pair, axis: usize) -> Result<Pair> {
    let is_longer = even.0.aval().shape[axis] > odd.0.aval().shape[axis];
    let spread = |x: &Pair, low, high| {
        both(e, x, |v| {
            let mut config = vec![(0, 0, 0); v.aval().rank()];
            config[axis] = (low, high, 1);
            v.pad(&v.number(0.0), &config).done()
        })
    };
    let (even, odd) = (spread(even, 0, i64::from(!is_longer))?, spread(odd, 1, i64::from(is_longer))?);
    let sum = |a: &Val, b: &Val| (V::new(e, a) + V::new(e, b)).done();
    Ok((sum(&even.0, &odd.0)?, even.1.as_ref().zip(odd.1.as_ref()).map(|(a, b)| sum(a, b)).transpose()?))
}

/// Joins by a two-operand primitive.
pub(super) fn join_by(e: &dyn Emit, prim: PrimRef, (x, t): &Pair, (y, u): &Pair) -> Result<Pair> {
    let operands = [x.clone(), y.clone()];
    if t.is_none() {
        return Ok((e.bind(prim, &Params::NONE, &operands)?.swap_remove(0), None));
    }
    let (mut outs, mut tangents) = prim.jvp(prim, &Params::NONE, e, &operands, &[t.clone(), u.clone()])?;
    Ok((outs.swap_remove(0), tangents.swap_remove(0)))
}
