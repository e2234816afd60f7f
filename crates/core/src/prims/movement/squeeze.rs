//! Without some axes of size 1.
//!
//! squeeze : x[...] -> [... without dimensions]
//! Linear; the transpose puts the axes back.

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use super::without;
use crate::prims::{V, zeros};

/// Params of `squeeze`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Squeeze {
    /// The axes that go; each has size 1.
    pub dimensions: Vec<usize>,
}

struct SqueezePrim;

/// The primitive `squeeze`.
pub static SQUEEZE: PrimRef = PrimRef(&SqueezePrim);

impl<'e> V<'e> {
    /// Without axes of size 1; nothing when there are none to go.
    pub fn squeeze(&self, dimensions: &[usize]) -> V<'e> {
        if dimensions.is_empty() {
            return self.clone();
        }
        self.bind(SQUEEZE, &Params::new(Squeeze { dimensions: dimensions.to_vec() }), &[])
    }

    /// With a new axis of size 1 at each of the given positions of the result.
    pub fn expand_dims(&self, dimensions: &[usize]) -> V<'e> {
        if dimensions.is_empty() {
            return self.clone();
        }
        let (mut sizes, rank) = (self.aval().data().shape.iter().copied(), self.aval().rank() + dimensions.len());
        let kept: Vec<usize> = (0..rank).filter(|axis| !dimensions.contains(axis)).collect();
        let size = |axis| if dimensions.contains(&axis) { 1 } else { sizes.next().unwrap_or(1) };
        let shape: Vec<usize> = (0..rank).map(size).collect();
        self.broadcast_in_dim(&shape, &kept)
    }
}

impl Prim for SqueezePrim {
    type Params = Squeeze;
    const NAME: &'static str = "squeeze";

    fn abstract_eval(&self, p: &Squeeze, ins: &[Aval]) -> Result<Avals> {
        let x = ins[0];
        if let Some(axis) = p.dimensions.iter().find(|&&axis| axis >= x.rank()) {
            bail!(Value, "axis {axis} is out of bounds for array of dimension {}", x.rank());
        }
        if p.dimensions.iter().any(|&axis| x.shape[axis] != 1) {
            bail!(
                Value,
                "cannot select an axis to squeeze out which has size not equal to one, got shape={} and dimensions={}",
                tuple_text(&x.shape),
                tuple_text(&p.dimensions)
            );
        }
        Ok(smallvec![x.with_shape(&without(&x.shape, &p.dimensions))])
    }

    fn derivative(&self) -> Derivative<Squeeze> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Squeeze> {
        Transpose::Rule(|p, e, cts, _ins| {
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).expand_dims(&p.dimensions).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn splits(&self) -> Splits<Squeeze> {
        Splits::Rule(|p, x| Ok(x.without(&p.dimensions)))
    }

    fn batching(&self) -> Batching<Squeeze> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let x = V::new(e, &ins[0]).move_axis(dims[0].expect("the only operand is batched"), 0);
            let dimensions: Vec<usize> = p.dimensions.iter().map(|axis| axis + 1).collect();
            Ok((smallvec![x.squeeze(&dimensions).done()?], smallvec![Some(0)]))
        })
    }

    fn cpu(&self, _: &Squeeze, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Alias
    }

    fn hlo(&self) -> Hlo<Squeeze> {
        Hlo::Attributes("stablehlo.reshape", |_, _| String::new())
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |operand: &[usize], dimensions: &[usize]| {
            let params = Squeeze { dimensions: dimensions.to_vec() };
            Sample::new(Params::new(params), DType::F32, (-5.0, 5.0), &[operand])
        };
        vec![sample(&[2, 1, 3], &[1]), sample(&[1, 3, 1], &[0, 2]), sample(&[1], &[0]), sample(&[1, 0], &[0])]
    }
}
