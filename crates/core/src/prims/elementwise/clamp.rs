//! Each element moved into an interval, whose ends are scalars or arrays of the operand's shape.
//!
//! clamp : min[...] or [], x[...], max[...] or [] -> [...]        of one dtype
//! Every operand's tangent counts where that operand is the result.

use super::*;
use crate::prims::batch_to_front;
use pullback_ir::SampleIn;
use pullback_ir::Splits;
use pullback_ir::lower::{LoopBinary as Op, LoopComparison as Comparison, select_by};

pub(super) struct Clamp;

/// The primitive `clamp`.
pub static CLAMP: PrimRef = prim(&Clamp);

impl<'e> V<'e> {
    /// Moved into the interval from `self` to `max`: `low.clamp(&x, &high)`.
    pub fn clamp(&self, x: &V<'e>, max: &V<'e>) -> V<'e> {
        self.bind(CLAMP, &Params::NONE, &[x, max])
    }
}

fn check_end(name: &str, end: Aval, x: Aval) -> Result<()> {
    if end.rank() == 0 || end.shape == x.shape {
        return Ok(());
    }
    bail!(
        Type,
        "clamp requires {name}.shape == operand.shape or {name}.shape == (), got {name}.shape={}, operand.shape={}.",
        tuple_text(&end.shape),
        tuple_text(&x.shape)
    )
}

impl Prim for Clamp {
    type Params = ();
    const NAME: &'static str = "clamp";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        let [min, x, max] = ins else { bail!(Type, "clamp takes 3 operands, got {}", ins.len()) };
        check_same_dtypes("clamp", ins)?;
        DTypes::ANY.check("clamp", 0, x.dtype)?;
        check_end("min", *min, *x)?;
        check_end("max", *max, *x)?;
        Ok(smallvec![x.weak(ins.iter().all(|x| x.weak_type))])
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
        Batching::Rule(|(), e, batch, ins, dims| {
            let x = batch_to_front(e, &ins[1], dims[1], batch.size)?;
            let end = |i: usize| -> Result<Val> {
                if ins[i].aval().rank() == 0 {
                    return Ok(ins[i].clone());
                }
                let end = V::new(e, &batch_to_front(e, &ins[i], dims[i], batch.size)?);
                // One end for each example repeats over its axes.
                if end.aval().shape == x.aval().shape {
                    end.done()
                } else {
                    end.broadcast_in_dim(&x.aval().shape, &[0]).done()
                }
            };
            let (min, max) = (end(0)?, end(2)?);
            Ok((e.bind(CLAMP, &Params::NONE, &[min, x, max])?, smallvec![Some(0)]))
        })
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        if ins[0].dtype.is_complex() {
            // By the real parts alone, as in the reference; an end that is NaN above, or an operand, gives the upper end.
            return CpuForm::Scalar(Box::new(|loops, ins| {
                let real = |elem: Elem| match elem {
                    Elem::Two(re, _) => re,
                    Elem::One(_) => panic!("a complex element was expected"),
                };
                let raised = select_by(loops, Comparison::Ge, real(ins[0]), real(ins[1]), ins[0], ins[1]);
                select_by(loops, Comparison::Le, real(raised), real(ins[2]), raised, ins[2])
            }));
        }
        let (max, min) = if ins[0].dtype == DType::Bool { (Op::Or, Op::And) } else { (Op::Max, Op::Min) };
        CpuForm::Scalar(Box::new(move |loops, ins| {
            let raised = loops.binary(max, ins[1].one(), ins[0].one());
            Elem::One(loops.binary(min, raised, ins[2].one()))
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Attributes("stablehlo.clamp", |(), _| String::new())
    }

    fn samples(&self) -> Vec<Sample> {
        // Complex numbers have no sample: their derivative compares, and raises as in the reference.
        // The ends do not cross: where they do, the derivative is not that of what is computed.
        let sample = |dtype, shapes: [&[usize]; 3]| {
            let domains = [(-5.0, -1.0), (-5.0, 5.0), (1.0, 5.0)];
            let input = |(shape, domain)| SampleIn { aval: Aval::new(shape, dtype), domain };
            Sample { params: Params::NONE, ins: shapes.into_iter().zip(domains).map(input).collect() }
        };
        vec![
            sample(DType::F32, [&[2, 3], &[2, 3], &[2, 3]]),
            sample(DType::F32, [&[], &[2, 3], &[]]),
            sample(DType::I32, [&[], &[2, 3], &[2, 3]]),
        ]
    }
}

fn jvp((): &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let [min, x, max] = [0, 1, 2].map(|i| V::new(e, &xs[i]));
    // Operands that do not go together are refused here, before their shapes are used.
    let out = V::new(e, &min.clamp(&x, &max).done()?);
    let shape = out.aval().data().shape.clone();
    let mut parts = vec![];
    for (i, t) in ts.iter().enumerate() {
        let Some(t) = t else { continue };
        let is_chosen = match i {
            0 => min.gt(&x).and(&min.lt(&max)),
            1 => x.gt(&min).and(&x.lt(&max)),
            _ => max.lt(&x),
        };
        let part = V::new(e, t).broadcast_to(&shape);
        let part = is_chosen.broadcast_to(&shape).select(&part.full(0.0), &part);
        parts.push(part.done()?);
    }
    let mut tangent = None;
    for part in parts {
        tangent = add_any(e, tangent, Some(part))?;
    }
    Ok((smallvec![out.done()?], smallvec![tangent]))
}
