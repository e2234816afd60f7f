//! A value split in another way, as its type says.
//!
//! reshard : x[...] -> [...]        the same elements
//! Linear; cotangents are split as the operand was.

use pullback_base::{Aval, Result};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, OutSharding, Params, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use crate::prims::splits::leading;
use crate::prims::{V, zeros};

/// Params of `reshard`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Reshard {
    /// How the result is split.
    #[param(hidden)]
    pub dst_sharding: OutSharding,
}

struct ReshardPrim;

/// The primitive `reshard`.
pub static RESHARD: PrimRef = PrimRef(&ReshardPrim);

impl<'e> V<'e> {
    /// Split as a type says; nothing when it is.
    pub fn split_like(&self, aval: Aval) -> V<'e> {
        if self.aval().sharding == aval.sharding {
            return self.clone();
        }
        self.bind(RESHARD, &Params::new(Reshard { dst_sharding: OutSharding::like(aval) }), &[])
    }
}

impl Prim for ReshardPrim {
    type Params = Reshard;
    const NAME: &'static str = "reshard";

    fn abstract_eval(&self, _p: &Reshard, ins: &[Aval]) -> Result<Avals> {
        Ok(smallvec![ins[0]])
    }

    fn derivative(&self) -> Derivative<Reshard> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<Reshard> {
        Transpose::Rule(|_, e, cts, ins| {
            let x = ins[0].aval();
            let wanted = x.sharded(x.sharding.and_then(pullback_base::Sharding::cotangent));
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).split_like(wanted).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn asked<'a>(&self, p: &'a Reshard) -> Option<&'a OutSharding> {
        Some(&p.dst_sharding)
    }

    fn splits(&self) -> Splits<Reshard> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<Reshard> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let (dim, x) = (dims[0].expect("the only operand is batched"), ins[0].aval());
            let dst_sharding = p.dst_sharding.with_axis(dim, x.entry(dim), x.rank() - 1, x);
            let out = V::new(e, &ins[0]).bind(RESHARD, &Params::new(Reshard { dst_sharding }), &[]).done()?;
            Ok((smallvec![out], smallvec![Some(dim)]))
        })
    }

    fn cpu(&self, _p: &Reshard, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Alias
    }

    fn hlo(&self) -> Hlo<Reshard> {
        Hlo::Rule(|_p, _cx, ins, _outs| Ok(smallvec![ins[0]]))
    }

    // Covered by the tests of sharding in types: there is no sample without a mesh.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
}
