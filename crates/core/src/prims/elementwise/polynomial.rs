//! A polynomial with given coefficients, the lowest power first.
//!
//! polynomial : x[...] c0[...] c1[...] ... -> [...]        numbers of one dtype; `c0 + (c1 + ...) x`
//! By Horner's rule, whose derivative is taken along: `p = p x + c`, `dp = dp x + p dx + dc`.

use super::*;
use pullback_ir::Splits;

pub(super) struct Polynomial;

/// The primitive `polynomial`.
pub static POLYNOMIAL: PrimRef = prim(&Polynomial);

impl Prim for Polynomial {
    type Params = ();
    const NAME: &'static str = "polynomial";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        if ins.len() < 2 {
            bail!(Type, "polynomial takes an operand and one coefficient or more, got {} operands", ins.len());
        }
        check_same_dtypes("polynomial", ins)?;
        DTypes::NUMBER.check("polynomial", 0, ins[0].dtype)?;
        let weak_type = ins.iter().all(|x| x.weak_type);
        Ok(smallvec![Aval::with_weak_type(&broadcast_shapes("polynomial", ins)?, ins[0].dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Jvp(jvp)
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

    fn cpu(&self, (): &(), _ins: &[Aval], outs: &[Aval]) -> CpuForm {
        let shape = outs[0].shape.to_vec();
        CpuForm::Decompose(Box::new(move |e, ins| {
            let x = V::new(e, &ins[0]).broadcast_to(&shape);
            let (last, lower) = ins[1..].split_last().expect("there is a coefficient");
            let last = V::new(e, last).broadcast_to(&shape);
            let value = lower.iter().rev().fold(last, |p, c| p * &x + V::new(e, c).broadcast_to(&shape));
            Ok(smallvec![value.done()?])
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |dtype, shapes: &[&[usize]]| Sample::new(Params::NONE, dtype, (-2.0, 2.0), shapes);
        vec![
            sample(DType::F32, &[&[3], &[], &[], &[]]),
            sample(DType::F32, &[&[2, 3], &[2, 3], &[2, 3]]),
            sample(DType::I32, &[&[3], &[]]),
            sample(DType::C64, &[&[3], &[], &[]]),
        ]
    }
}

fn jvp((): &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = e.bind(POLYNOMIAL, &Params::NONE, xs)?;
    let shape = outs[0].aval().shape.to_vec();
    let spread = |x: &Val| V::new(e, x).broadcast_to(&shape);
    let (x, dx) = (spread(&xs[0]), ts[0].as_ref().map(spread));
    let last = xs.len() - 1;
    let mut value = spread(&xs[last]);
    let mut dot = ts[last].as_ref().map(|t| spread(t).done()).transpose()?;
    for (c, dc) in xs[1..last].iter().zip(&ts[1..last]).rev() {
        let grown = dot.as_ref().map(|dot| (V::new(e, dot) * &x).done()).transpose()?;
        let moved = dx.as_ref().map(|dx| (&value * dx).done()).transpose()?;
        let own = dc.as_ref().map(|dc| spread(dc).done()).transpose()?;
        dot = add_any(e, add_any(e, grown, moved)?, own)?;
        value = value * &x + spread(c);
    }
    Ok((outs, smallvec![dot]))
}
