//! The same elements in the same row-major order under another shape.
//!
//! reshape : x[...] -> [new_sizes]
//! Linear; the transpose reshapes back.

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batching, Derivative, Hlo, OutSharding, Params, Passing, Prim, PrimRef, Sample, Splits, Transpose,
};
use smallvec::smallvec;

use crate::prims::{V, cotangent_type, zeros};

/// Params of `reshape`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Reshape {
    /// Shape of the result.
    pub new_sizes: Vec<usize>,
    /// Always `None`: an order of axes other than row-major is a transpose first.
    pub dimensions: Option<bool>,
    /// How the result is asked to be split.
    pub sharding: Option<OutSharding>,
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

impl<'e> V<'e> {
    /// Under the shape of a type, and split as it says.
    pub fn reshape_as(&self, aval: Aval) -> V<'e> {
        let own = self.aval();
        if own.shape == aval.shape || own.sharding.is_none() && aval.sharding.is_none() {
            return self.reshape(&aval.shape);
        }
        let sharding = Some(OutSharding::like(aval));
        let params = Reshape { new_sizes: aval.shape.to_vec(), dimensions: None, sharding };
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
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).reshape_as(cotangent_type(ins[0].aval())).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn asked<'a>(&self, p: &'a Reshape) -> Option<&'a OutSharding> {
        p.sharding.as_ref()
    }

    fn splits(&self) -> Splits<Reshape> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<Reshape> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let x = V::new(e, &ins[0]).move_axis(dims[0].expect("the only operand is batched"), 0);
            let shape: Vec<usize> = std::iter::once(batch.size).chain(p.new_sizes.iter().copied()).collect();
            let split = x.aval();
            let sharding =
                p.sharding.as_ref().map(|asked| asked.with_axis(0, split.entry(0), p.new_sizes.len(), split));
            if sharding.is_none() {
                return Ok((smallvec![x.reshape(&shape).done()?], smallvec![Some(0)]));
            }
            let params = Reshape { new_sizes: shape, dimensions: None, sharding };
            Ok((smallvec![x.bind(RESHAPE, &Params::new(params), &[]).done()?], smallvec![Some(0)]))
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

/// Axes of size 1 come and go; an axis that is divided gives its split to the parts it divides into, from the first on;
/// axes that are joined are split by all their names, where no whole axis comes before a split one.
fn pass(p: &Reshape, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let refused = || {
        let (shown, sizes) = (x.shown(0), tuple_text(&p.new_sizes));
        format!(
            "This reshape is not supported. Please specify the sharding of the output via the `out_sharding` argument of \
             jax.lax.reshape. Got operand type: {shown}, new sizes: {sizes}"
        )
    };
    match regrouped(&x.ins[0].shape, &x.specs[0], &p.new_sizes, &|names| x.factor(names)) {
        Some(spec) => Ok(vec![spec]),
        None => x.refuse(refused),
    }
}

/// The split after a reshape; nothing where it is not clear.
fn regrouped(from: &[usize], spec: &Spec, to: &[usize], factor: &dyn Fn(&[AxisName]) -> usize) -> Option<Spec> {
    let mut found: Spec = vec![vec![]; to.len()];
    if spec.iter().all(Vec::is_empty) || from.contains(&0) {
        return Some(found).filter(|_| spec.iter().all(Vec::is_empty));
    }
    let olds: Vec<usize> = (0..from.len()).filter(|&axis| from[axis] != 1).collect();
    let news: Vec<usize> = (0..to.len()).filter(|&axis| to[axis] != 1).collect();
    let (mut i, mut j) = (0, 0);
    while i < olds.len() {
        let (first, second) = (i, j);
        let (mut left, mut right) = (from[olds[i]], to[*news.get(j)?]);
        (i, j) = (i + 1, j + 1);
        while left != right {
            if left < right {
                left *= from[*olds.get(i)?];
                i += 1;
            } else {
                right *= to[*news.get(j)?];
                j += 1;
            }
        }
        match (&olds[first..i], &news[second..j]) {
            ([old], [new]) => found[*new].clone_from(&spec[*old]),
            ([old], parts) => divided(&spec[*old], parts, to, factor, &mut found)?,
            (olds, [new]) => found[*new] = merged(olds, spec)?,
            (olds, _) => olds.iter().all(|&old| spec[old].is_empty()).then_some(())?,
        }
    }
    Some(found)
}

/// The names of one axis over the parts it is divided into: each part is filled before the next one begins.
fn divided(
    names: &[AxisName],
    parts: &[usize],
    to: &[usize],
    factor: &dyn Fn(&[AxisName]) -> usize,
    found: &mut Spec,
) -> Option<()> {
    let mut rest = names;
    for &part in parts {
        let fits = (0..=rest.len()).rev().find(|&n| to[part].is_multiple_of(factor(&rest[..n]).max(1)))?;
        found[part] = rest[..fits].to_vec();
        rest = &rest[fits..];
        if !rest.is_empty() && factor(&found[part]) != to[part] {
            return None;
        }
    }
    rest.is_empty().then_some(())
}

fn merged(olds: &[usize], spec: &Spec) -> Option<Vec<AxisName>> {
    let n_split = olds.iter().take_while(|&&old| !spec[old].is_empty()).count();
    let is_clear = olds[n_split..].iter().all(|&old| spec[old].is_empty());
    is_clear.then(|| olds[..n_split].iter().flat_map(|&old| spec[old].clone()).collect())
}
