//! The same elements in the same row-major order under another shape.
//!
//! reshape : x[...] -> [new_sizes]
//! Linear; the transpose reshapes back.

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Transpose};
use smallvec::smallvec;

use crate::prims::{V, zeros};

/// Params of `reshape`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Reshape {
    /// Shape of the result.
    pub new_sizes: Vec<usize>,
    /// Always `None`: an order of axes other than row-major is a transpose first.
    pub dimensions: Option<bool>,
    /// Always `None` until arrays have shardings.
    pub sharding: Option<bool>,
}

struct ReshapePrim;

/// The primitive `reshape`.
pub static RESHAPE: PrimRef = PrimRef(&ReshapePrim);

impl<'e> V<'e> {
    /// Under another shape of the same size; nothing when it is the same.
    pub fn reshape(&self, shape: &[usize]) -> V<'e> {
        if self.aval().shape[..] == *shape {
            return self.clone();
        }
        let params = Reshape { new_sizes: shape.to_vec(), dimensions: None, sharding: None };
        self.bind(RESHAPE, &Params::new(params), &[])
    }
}

impl Prim for ReshapePrim {
    type Params = Reshape;
    const NAME: &'static str = "reshape";

    fn abstract_eval(&self, p: &Reshape, ins: &[Aval]) -> Result<Avals> {
        let (from, to) = (ins[0].size(), p.new_sizes.iter().product::<usize>());
        if from != to {
            bail!(
                Type,
                "cannot reshape array of shape {} (size {from}) into shape {} (size {to})",
                tuple_text(&ins[0].shape),
                tuple_text(&p.new_sizes)
            );
        }
        Ok(smallvec![ins[0].with_shape(&p.new_sizes)])
    }

    fn derivative(&self) -> Derivative<Reshape> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Reshape> {
        Transpose::Rule(|_, e, cts, ins| {
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).reshape(&ins[0].aval().shape).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn batching(&self) -> Batching<Reshape> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let x = V::new(e, &ins[0]).move_axis(dims[0].expect("the only operand is batched"), 0);
            let shape: Vec<usize> = std::iter::once(batch.size).chain(p.new_sizes.iter().copied()).collect();
            Ok((smallvec![x.reshape(&shape).done()?], smallvec![Some(0)]))
        })
    }

    fn cpu(&self, _: &Reshape, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Alias
    }

    fn hlo(&self) -> Hlo<Reshape> {
        Hlo::Attributes("stablehlo.reshape", |_, _| String::new())
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |operand: &[usize], shape: &[usize]| {
            let params = Reshape { new_sizes: shape.to_vec(), dimensions: None, sharding: None };
            Sample::new(Params::new(params), DType::F32, (-5.0, 5.0), &[operand])
        };
        vec![sample(&[2, 6], &[3, 4]), sample(&[6], &[1, 6]), sample(&[1, 1], &[]), sample(&[0, 3], &[3, 0])]
    }
}
