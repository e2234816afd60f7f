//! The conjugate of each element; a real operand becomes complex.
//!
//! conj : x[...] -> [...]        x complex, float32 or float64; the result complex
//! Linear over the reals; its own transpose, followed by the real part for a real operand.

use super::*;
use crate::prims::zeros;
use pullback_base::Scalar;
use pullback_ir::Splits;
use pullback_ir::lower::LoopUnary as Op;

/// Params of `conj`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Conj {
    /// Dtype of the operand.
    pub input_dtype: DType,
}

struct ConjPrim;

/// The primitive `conj`.
pub static CONJ: PrimRef = prim(&ConjPrim);

impl<'e> V<'e> {
    /// The conjugate, complex.
    pub fn conj(&self) -> V<'e> {
        self.bind(CONJ, &Params::new(Conj { input_dtype: self.aval().dtype }), &[])
    }
}

impl Prim for ConjPrim {
    type Params = Conj;
    const NAME: &'static str = "conj";

    fn abstract_eval(&self, _: &Conj, ins: &[Aval]) -> Result<Avals> {
        let x = unary::one("conj", ins)?;
        if !x.dtype.is_complex() && x.dtype != DType::F32 && x.dtype != DType::F64 {
            bail!(
                Type,
                "conj does not accept dtype {}. Accepted dtypes are subtypes of float32, complexfloating, float64.",
                x.dtype
            );
        }
        Ok(smallvec![Aval::with_weak_type(&x.shape, x.dtype.complex(), x.weak_type)])
    }

    fn derivative(&self) -> Derivative<Conj> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Conj> {
        Transpose::Rule(|p, e, cts, _ins| {
            let Some(ct) = &cts[0] else { return Ok(smallvec![None]) };
            let ct = V::new(e, ct);
            let back = if p.input_dtype.is_complex() { ct.conj() } else { ct.real() };
            Ok(smallvec![Some(back.done()?)])
        })
    }

    fn splits(&self) -> Splits<Conj> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<Conj> {
        Batching::Pointwise
    }

    fn cpu(&self, _: &Conj, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Scalar(Box::new(|loops, ins| match ins[0] {
            Elem::Two(re, im) => Elem::Two(re, loops.unary(Op::Neg, im)),
            Elem::One(re) => {
                let zero = Scalar::zero(loops.dtype(re));
                Elem::Two(re, loops.constant(zero))
            }
        }))
    }

    fn hlo(&self) -> Hlo<Conj> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        [DType::C64, DType::F32]
            .map(|dtype| Sample::new(Params::new(Conj { input_dtype: dtype }), dtype, (-5.0, 5.0), &[&[2, 3]]))
            .to_vec()
    }
}
