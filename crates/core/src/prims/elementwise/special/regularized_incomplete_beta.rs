//! The regularized incomplete beta function.
//!
//! regularized_incomplete_beta : a[...] b[...] x[...] -> x[...]        floating, of one dtype; a, b > 0, x in [0, 1]
//! d I = x^(a-1) (1-x)^(b-1) / B(a, b) dx; the derivatives in a and b are not defined, as in the reference.

use super::incomplete_beta::incomplete_beta;
use super::*;
use pullback_ir::SampleIn;
use pullback_ir::Splits;

struct IncompleteBeta;

/// The primitive `regularized_incomplete_beta`.
pub static REGULARIZED_INCOMPLETE_BETA: PrimRef = prim(&IncompleteBeta);

impl Prim for IncompleteBeta {
    type Params = ();
    const NAME: &'static str = "regularized_incomplete_beta";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        let [_, _, x] = ins else { bail!(Type, "regularized_incomplete_beta takes 3 operands, got {}", ins.len()) };
        check_same_dtypes("regularized_incomplete_beta", ins)?;
        DTypes::FLOAT.check("regularized_incomplete_beta", 0, x.dtype)?;
        let shape = broadcast_shapes("regularized_incomplete_beta", ins)?;
        Ok(smallvec![Aval::with_weak_type(&shape, x.dtype, ins.iter().all(|x| x.weak_type))])
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

    fn cpu(&self, (): &(), _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Scalar(Box::new(|loops, ins| {
            let dtype = loops.dtype(ins[0].one());
            let formula = Formula::new(loops);
            let [a, b, x] = [0, 1, 2].map(|i| formula.term(ins[i].one()).to(DType::F64));
            Elem::One(incomplete_beta(a, b, x).to(dtype).id())
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::AsCpu
    }

    fn samples(&self) -> Vec<Sample> {
        // Only x has a derivative, so the battery's differences move x alone where dtypes let them.
        let input = |domain| SampleIn { aval: Aval::new(&[5], DType::F16), domain };
        vec![Sample { params: Params::NONE, ins: vec![input((0.5, 5.0)), input((0.5, 5.0)), input((0.1, 0.9))] }]
    }
}

fn jvp((): &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    if ts[0].is_some() || ts[1].is_some() {
        bail!(Value, "Gradient of betainc with respect to a and b not supported.");
    }
    let [a, b, x] = [0, 1, 2].map(|i| V::new(e, &xs[i]));
    let out = a.bind(REGULARIZED_INCOMPLETE_BETA, &Params::NONE, &[&b, &x]).done()?;
    let log_beta = a.lgamma() + b.lgamma() - (&a + &b).lgamma();
    let log = (&b - b.number(1.0)) * (-&x).log1p() + (&a - a.number(1.0)) * x.log() - log_beta;
    let slope = log.exp();
    let tangent = ts[2].as_ref().map(|t| (V::new(e, t) * slope).done()).transpose()?;
    Ok((smallvec![out], smallvec![tangent]))
}
