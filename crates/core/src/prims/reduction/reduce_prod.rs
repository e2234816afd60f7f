//! The product over axes.
//!
//! reduce_prod : x[...] -> [... without axes]        x a number; the dtype stays
//! The tangent is that of a tree of products, so that zeros do no harm.

use pullback_base::{Aval, DType, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val, Vals,
};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::{batch_reduction, reduce, reduced_shape};
use crate::prims::{DTypes, MUL, V};

/// Params of `reduce_prod`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReduceProd {
    /// Axes that go.
    pub axes: Vec<usize>,
}

struct ReduceProdPrim;

/// The primitive `reduce_prod`.
pub static REDUCE_PROD: PrimRef = PrimRef(&ReduceProdPrim);

fn params(axes: Vec<usize>) -> Params {
    Params::new(ReduceProd { axes })
}

impl<'e> V<'e> {
    /// The product over axes; nothing when there are none.
    pub fn reduce_prod(&self, axes: &[usize]) -> V<'e> {
        if axes.is_empty() { self.clone() } else { self.bind(REDUCE_PROD, &params(axes.to_vec()), &[]) }
    }
}

impl Prim for ReduceProdPrim {
    type Params = ReduceProd;
    const NAME: &'static str = "reduce_prod";

    fn abstract_eval(&self, p: &ReduceProd, ins: &[Aval]) -> Result<Avals> {
        DTypes::NUMBER.check_only("reduce_prod", ins[0].dtype)?;
        Ok(smallvec![ins[0].with_shape(&reduced_shape("reduce_prod", ins[0], &p.axes)?)])
    }

    fn derivative(&self) -> Derivative<ReduceProd> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<ReduceProd> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<ReduceProd> {
        Splits::Rule(|p, x| Ok(x.without(&p.axes)))
    }

    fn batching(&self) -> Batching<ReduceProd> {
        Batching::Rule(|p, e, _batch, ins, dims| batch_reduction(REDUCE_PROD, params, &p.axes, e, ins, dims))
    }

    fn cpu(&self, p: &ReduceProd, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Reduce { combine: Combine::Mul, axes: p.axes.clone() }
    }

    fn hlo(&self) -> Hlo<ReduceProd> {
        Hlo::Rule(|p, cx, ins, _| reduce(cx, ins[0], Combine::Mul, &p.axes))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample =
            |dtype, shape: &[usize], axes: &[usize]| Sample::new(params(axes.to_vec()), dtype, (-1.5, 1.5), &[shape]);
        vec![
            sample(DType::F32, &[3, 4], &[1]),
            sample(DType::F32, &[3, 5], &[1]),
            sample(DType::F32, &[3, 2, 3], &[0, 2]),
            sample(DType::F32, &[0, 4], &[0]),
            sample(DType::F32, &[1], &[0]),
            sample(DType::I32, &[3, 4], &[0, 1]),
            sample(DType::C64, &[3, 4], &[1]),
        ]
    }
}

fn jvp(p: &ReduceProd, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let is_empty = p.axes.iter().any(|&axis| xs[0].aval().shape[axis] == 0);
    if ts[0].is_none() || is_empty {
        return Ok((smallvec![V::new(e, &xs[0]).reduce_prod(&p.axes).done()?], smallvec![None]));
    }
    let (out, tangent) = tree(p, e, &xs[0], ts[0].as_ref())?;
    Ok((smallvec![out], smallvec![tangent]))
}

/// Multiplies the first half with the second until one is left, value and tangent alike.
fn tree(p: &ReduceProd, e: &dyn Emit, x: &Val, t: Option<&Val>) -> Result<(Val, Option<Val>)> {
    let shape = &x.aval().data().shape;
    let mut n: usize = p.axes.iter().map(|&axis| shape[axis]).product();
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !p.axes.contains(axis)).collect();
    let kept_shape: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
    if n == 0 {
        return Ok((V::new(e, x).number(1.0).broadcast_in_dim(&kept_shape, &[]).done()?, None));
    }
    let front = [&[n][..], &kept_shape].concat();
    let order = [&p.axes[..], &kept].concat();
    let flat = |v: &Val| V::new(e, v).transpose(&order).reshape(&front).done();
    let (mut x, mut t) = (flat(x)?, t.map(flat).transpose()?);
    while n > 1 {
        let half = n.div_ceil(2);
        let (first, second) = (halved(e, &x, half, n, 1.0)?, t.map(|t| halved(e, &t, half, n, 0.0)).transpose()?);
        (x, t) = product(e, first, second)?;
        n = half;
    }
    let single = |v: &Val| V::new(e, v).squeeze(&[0]).done();
    Ok((single(&x)?, t.as_ref().map(single).transpose()?))
}

/// Both halves of the first axis, the second filled up to the length of the first.
fn halved(e: &dyn Emit, x: &Val, half: usize, n: usize, fill: f64) -> Result<[Val; 2]> {
    let part = |start, limit| V::new(e, x).slice_axis(0, start, limit, 1).done();
    let (first, second) = (part(0, half)?, part(half, n)?);
    let second = if n.is_multiple_of(2) { second } else { with_one(e, &second, fill)? };
    Ok([first, second])
}

fn product(e: &dyn Emit, xs: [Val; 2], ts: Option<[Val; 2]>) -> Result<(Val, Option<Val>)> {
    let Some(ts) = ts else { return Ok((e.bind(MUL, &Params::NONE, &xs)?.swap_remove(0), None)) };
    let (mut outs, mut tangents) = MUL.jvp(MUL, &Params::NONE, e, &xs, &ts.map(Some))?;
    Ok((outs.swap_remove(0), tangents.swap_remove(0)))
}

/// One more element along the first axis.
fn with_one(e: &dyn Emit, x: &Val, value: f64) -> Result<Val> {
    let x = V::new(e, x);
    let mut config = vec![(0, 0, 0); x.aval().rank()];
    config[0] = (0, 1, 0);
    x.pad(&x.number(value), &config).done()
}
