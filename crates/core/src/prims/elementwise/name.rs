//! A value with a name, by which a policy of `checkpoint` knows it.
//!
//! name : x[...] -> x[...]
//! Tangents pass without the name.

use super::*;
use pullback_ir::Splits;
use std::sync::Arc;

/// Params of `name`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Name {
    /// The name.
    pub name: Arc<str>,
}

struct NamePrim;

/// The primitive `name`.
pub static NAME: PrimRef = prim(&NamePrim);

impl Prim for NamePrim {
    type Params = Name;
    const NAME: &'static str = "name";

    fn abstract_eval(&self, _p: &Name, ins: &[Aval]) -> Result<Avals> {
        Ok(smallvec![unary::one("name", ins)?])
    }

    fn derivative(&self) -> Derivative<Name> {
        Derivative::Jvp(|p, e, xs, ts| Ok((e.bind(NAME, &Params::new(p.clone()), xs)?, ts.iter().cloned().collect())))
    }

    fn transpose(&self) -> Transpose<Name> {
        Transpose::Rule(|_, _, cts, _| Ok(cts.iter().cloned().collect()))
    }

    fn splits(&self) -> Splits<Name> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<Name> {
        Batching::Pointwise
    }

    fn cpu(&self, _p: &Name, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Decompose(Box::new(|_, ins| Ok(ins.iter().cloned().collect())))
    }

    fn hlo(&self) -> Hlo<Name> {
        Hlo::Rule(|_, _, ins, _| Ok(ins.into()))
    }

    fn samples(&self) -> Vec<Sample> {
        vec![Sample::new(Params::new(Name { name: "a".into() }), DType::F32, (-5.0, 5.0), &[&[2, 3]])]
    }
}
