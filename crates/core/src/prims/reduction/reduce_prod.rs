//! The product over axes.
//!
//! reduce_prod : x[...] -> [... without axes]        x a number; the dtype stays
//! The tangent is that of a tree of products, so that zeros do no harm.

use pullback_base::{Aval, DType, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Tangents, Transpose, Val, Vals,
};
use pullback_loops::Combine;
use smallvec::smallvec;

use super::{batch_reduction, reduced_shape};
use crate::prims::{DTypes, MUL, V};

/// Params of `reduce_prod`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReduceProd {
    /// Axes that go.
    pub axes: Vec<usize>,
}

struct ReduceProdPrim;

/// The primitive `reduce_prod`.
pub const REDUCE_PROD: PrimRef = PrimRef(&ReduceProdPrim);

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

    fn batching(&self) -> Batching<ReduceProd> {
        Batching::Rule(|p, e, _batch, ins, dims| batch_reduction(REDUCE_PROD, params, &p.axes, e, ins, dims))
    }

    fn cpu(&self, p: &ReduceProd, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Reduce { combine: Combine::Mul, axes: p.axes.clone() }
    }

    fn hlo(&self) -> Hlo<ReduceProd> {
        Hlo::Missing("stablehlo.reduce takes an initial value; the emitter does not make operands yet")
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

/// Multiplies the first half with the second until one is left, value and tangent alike.
fn jvp(p: &ReduceProd, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let shape = &xs[0].aval().data().shape;
    let n: usize = p.axes.iter().map(|&axis| shape[axis]).product();
    let (Some(t), false) = (&ts[0], n == 0) else {
        return Ok((smallvec![V::new(e, &xs[0]).reduce_prod(&p.axes).done()?], smallvec![None]));
    };
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !p.axes.contains(axis)).collect();
    let front: Vec<usize> = std::iter::once(n).chain(kept.iter().map(|&axis| shape[axis])).collect();
    let order: Vec<usize> = p.axes.iter().copied().chain(kept).collect();
    let flat = |v: V<'_>| v.transpose(&order).reshape(&front).done();
    let (mut x, mut t) = (flat(V::new(e, &xs[0]))?, flat(V::new(e, t))?);
    let mut n = n;
    while n > 1 {
        let half = n.div_ceil(2);
        let part = |v: &Val, start, limit| V::new(e, v).slice_axis(0, start, limit, 1).done();
        let (x1, t1) = (part(&x, 0, half)?, part(&t, 0, half)?);
        let (x2, t2) = (part(&x, half, n)?, part(&t, half, n)?);
        let (x2, t2) = if n % 2 == 0 { (x2, t2) } else { (with_one(e, &x2, 1.0)?, with_one(e, &t2, 0.0)?) };
        let (mut xs, mut ts) = MUL.jvp(MUL, &Params::NONE, e, &[x1, x2], &[Some(t1), Some(t2)])?;
        x = xs.swap_remove(0);
        t = ts.swap_remove(0).expect("both tangents are there");
        n = half;
    }
    let single = |v: &Val| V::new(e, v).squeeze(&[0]).done();
    Ok((smallvec![single(&x)?], smallvec![Some(single(&t)?)]))
}

/// One more element along the first axis.
fn with_one(e: &dyn Emit, x: &Val, value: f64) -> Result<Val> {
    let x = V::new(e, x);
    let mut config = vec![(0, 0, 0); x.aval().rank()];
    config[0] = (0, 1, 0);
    x.pad(&x.number(value), &config).done()
}
