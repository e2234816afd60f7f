//! A value put where the program asks for it.
//!
//! sharding_constraint : x[...] -> [...]        the same elements
//! Linear; cotangents are put in the same place.

use crate::prims::splits::leading;
use pullback_base::{Aval, Result};
use pullback_ir::hlo::spec_text;
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose, Val};
use smallvec::smallvec;

use super::sharding::{NameSet, ShardingParam, SpecParam};
use crate::prims::{V, zeros};
use pullback_base::array::place::Layout;

/// Params of `sharding_constraint`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ShardingConstraint {
    /// Where the value should lie.
    pub sharding: ShardingParam,
    /// Always `None`: memory is row-major.
    pub layout: Option<bool>,
    /// The mesh of the context, as text.
    pub context_mesh: std::sync::Arc<str>,
    /// Axes left open.
    pub unconstrained_dims: NameSet,
}

impl ShardingConstraint {
    /// A value at `sharding`.
    pub fn new(sharding: ShardingParam) -> ShardingConstraint {
        ShardingConstraint {
            sharding,
            layout: None,
            context_mesh: "Mesh()".into(),
            unconstrained_dims: NameSet(vec![]),
        }
    }
}

struct ShardingConstraintPrim;

/// The primitive `sharding_constraint`.
pub static SHARDING_CONSTRAINT: PrimRef = PrimRef(&ShardingConstraintPrim);

impl Prim for ShardingConstraintPrim {
    type Params = ShardingConstraint;
    const NAME: &'static str = "sharding_constraint";

    fn abstract_eval(&self, _p: &ShardingConstraint, ins: &[Aval]) -> Result<Avals> {
        Ok(smallvec![ins[0]])
    }

    fn derivative(&self) -> Derivative<ShardingConstraint> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<ShardingConstraint> {
        Transpose::Rule(|p, e, cts, _ins| {
            let put = |ct: &Val| V::new(e, ct).bind(SHARDING_CONSTRAINT, &Params::new(p.clone()), &[]).done();
            Ok(smallvec![cts[0].as_ref().map(put).transpose()?])
        })
    }

    fn splits(&self) -> Splits<ShardingConstraint> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<ShardingConstraint> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            let mut params = p.clone();
            if let Layout::Split(mesh, spec) = &p.sharding.layout
                && dim <= spec.len()
            {
                let mut spec = spec.clone();
                spec.insert(dim, vec![]);
                let old = SpecParam::new(params.sharding.layout_spec()).text;
                let new = SpecParam::new(spec.clone()).text;
                let text = params.sharding.text.replace(&*old, &new).into();
                params.sharding = ShardingParam { layout: Layout::Split(mesh.clone(), spec), text };
            }
            let out = V::new(e, &ins[0]).bind(SHARDING_CONSTRAINT, &Params::new(params), &[]).done()?;
            Ok((smallvec![out], smallvec![Some(dim)]))
        })
    }

    fn cpu(&self, _p: &ShardingConstraint, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Alias
    }

    fn hlo(&self) -> Hlo<ShardingConstraint> {
        Hlo::Rule(|p, cx, ins, outs| {
            let Layout::Split(mesh, spec) = &p.sharding.layout else { return Ok(smallvec![ins[0]]) };
            let name = cx.mesh_name(mesh);
            let attributes = format!("<@{name}, {}>", spec_text(spec, ins[0].aval.rank()));
            Ok(cx.op("sdy.sharding_constraint", &attributes, ins, outs))
        })
    }

    // Covered by the tests of devices: there is no sample without a mesh.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
}
