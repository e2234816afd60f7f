//! Complex numbers from their real and imaginary parts.
//!
//! complex : re[...] im[...] -> [...]        float32 or float64, of one dtype
//! Linear in both together.

use super::*;
use crate::prims::zeros;
use pullback_ir::Splits;

pub(super) struct ComplexPrim;

/// The primitive `complex`.
pub static COMPLEX: PrimRef = prim(&ComplexPrim);

impl<'e> V<'e> {
    /// The complex numbers with this real part.
    pub fn complex(&self, im: &V<'e>) -> V<'e> {
        self.bind(COMPLEX, &Params::NONE, &[im])
    }
}

impl Prim for ComplexPrim {
    type Params = ();
    const NAME: &'static str = "complex";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        if ins.len() != 2 {
            bail!(Type, "complex takes 2 operands, got {}", ins.len());
        }
        check_same_dtypes("complex", ins)?;
        let dtype = ins[0].dtype;
        if dtype != DType::F32 && dtype != DType::F64 {
            bail!(
                Type,
                "complex does not accept dtype {dtype} at position 0. Accepted dtypes at position 0 are subtypes of float32, \
                 float64."
            );
        }
        let weak_type = ins.iter().all(|x| x.weak_type);
        Ok(smallvec![Aval::with_weak_type(&broadcast_shapes("complex", ins)?, dtype.complex(), weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::Rule(|(), e, cts, ins| {
            let Some(ct) = &cts[0] else { return Ok(smallvec![None, None]) };
            let ct = V::new(e, ct);
            let re = ins[0].is_linear().then(|| unbroadcast(&ct.real(), ins[0].aval()).done()).transpose()?;
            let im = ins[1].is_linear().then(|| unbroadcast(&(-&ct).imag(), ins[1].aval()).done()).transpose()?;
            Ok(smallvec![re, im])
        })
    }

    fn splits(&self) -> Splits<()> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn cpu(&self, (): &(), _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Scalar(Box::new(|_, ins| Elem::Two(ins[0].one(), ins[1].one())))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Op("stablehlo.complex")
    }

    fn samples(&self) -> Vec<Sample> {
        [[&[2, 3][..], &[2, 3]], [&[2, 3], &[]], [&[1, 3], &[2, 1]]]
            .iter()
            .map(|shapes| Sample::new(Params::NONE, DType::F32, (-5.0, 5.0), shapes))
            .collect()
    }
}
