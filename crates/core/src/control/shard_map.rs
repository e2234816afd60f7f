//! A jaxpr run on every device of a mesh, each on its parts of the operands.
//!
//! shard_map : operands -> results        inside, axes are divided by the mesh axes that split them
//! The axes of the mesh are bound inside. Derivatives are those of the jaxpr on each device; a cotangent that several
//! devices share is divided among them, and what they say of a shared operand is summed.

use std::sync::{Arc, OnceLock};

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, Error, Result, Sharding, bail};
use pullback_ir::hlo::DeviceMap;
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, AxisName, Batch, BatchDims, Batching, Builder, Derivative, Effects, Emit, Hlo, JaxprRef, Operand, Params,
    Prim, PrimRef, Sample, Split, Splits, Tangents, Transpose, Val, Vals, Varying, eval_jaxpr,
};
use pullback_loops::HostCall;

use super::jit::batch_in_front;
use crate::prims::{AllReduce, Axis, AxisNames, MeshParam, NameSet, PSUM, PSUM_INVARIANT, PsumInvariant, SpecParam, V};
use crate::transforms::{batch_jaxpr, dce_inner_jaxpr, jvp_jaxpr, transpose_jaxpr};

/// Params of `shard_map`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ShardMap {
    /// The devices.
    pub mesh: MeshParam,
    /// How operands are split.
    pub in_specs: Vec<SpecParam>,
    /// How results are split.
    pub out_specs: Vec<SpecParam>,
    /// What each device runs.
    pub jaxpr: JaxprRef,
    /// Whether the types inside say along which axes values differ.
    pub check_vma: bool,
    /// The axes that are bound inside.
    pub newly_manual_axes: NameSet,
}

impl ShardMap {
    fn with(&self, jaxpr: JaxprRef, in_specs: Vec<SpecParam>, out_specs: Vec<SpecParam>) -> Params {
        Params::new(ShardMap { jaxpr, in_specs, out_specs, ..self.clone() })
    }

    /// Devices that must agree on what goes out by `spec`, though `aval` says that they may differ; all that share a part
    /// where types do not say.
    fn disagreeing(&self, aval: Aval, spec: &SpecParam) -> Vec<AxisName> {
        let shared = self.shared_axes(spec);
        if self.check_vma { shared.into_iter().filter(|name| aval.vma.contains(name)).collect() } else { shared }
    }

    fn factor(&self, names: &[AxisName]) -> usize {
        names.iter().map(|name| self.mesh.0.size_of(name)).product()
    }

    /// Axes of the mesh along which all devices hold the same part.
    fn shared_axes(&self, spec: &SpecParam) -> Vec<AxisName> {
        let names = self.mesh.0.axes.iter().map(|(name, _)| name);
        names.filter(|name| !spec.entries.iter().flatten().any(|other| other == *name)).cloned().collect()
    }

    /// A spec that gives each device its own row.
    fn row_spec(&self) -> SpecParam {
        SpecParam::new(vec![self.mesh.0.axes.iter().map(|(name, _)| name.clone()).collect()])
    }
}

/// Makes the host call that runs a map; given by whoever can run jaxprs.
pub type ShardRunner = fn(&ShardMap, &[Aval], &[Aval]) -> Arc<dyn HostCall>;

static RUNNER: OnceLock<ShardRunner> = OnceLock::new();

/// Says how maps are run. The first one stays.
pub fn set_shard_runner(runner: ShardRunner) {
    let _ = RUNNER.set(runner);
}

struct ShardMapPrim;

/// The primitive `shard_map`.
pub static SHARD_MAP: PrimRef = PrimRef(&ShardMapPrim);

/// The shape that `spec` makes of a whole (`divide`) or of a part.
fn rescaled(p: &ShardMap, aval: Aval, spec: &SpecParam, divide: bool) -> Result<Aval> {
    let mut shape = aval.shape.to_vec();
    if spec.entries.len() > shape.len() {
        bail!(Value, "shard_map spec {spec:?} is longer than the rank of {}", aval.long());
    }
    for (size, names) in shape.iter_mut().zip(&spec.entries) {
        let factor = p.factor(names);
        if divide && *size % factor != 0 {
            bail!(Value, "shard_map spec {spec:?} does not divide the shape {} evenly", tuple_text(&aval.shape));
        }
        *size = if divide { *size / factor } else { *size * factor };
    }
    let typed =
        |aval: Aval, sharding: Option<Sharding>| aval.sharded(None).with_shape(&shape).sharded(sharding).varying(&[]);
    let Some(sharding) = aval.sharding.filter(|_| divide) else {
        // Axes that are bound split whole results; those that are not are in their types already.
        let named = |axis: usize| spec.entries.get(axis).cloned().unwrap_or_default();
        let joined = (0..aval.rank()).map(|axis| [named(axis), aval.entry(axis).to_vec()].concat()).collect();
        return Ok(typed(aval, if divide { None } else { p.mesh.0.sharding(&joined, aval.rank()) }));
    };
    let is_manual = |name: &AxisName| p.newly_manual_axes.0.is_empty() || p.newly_manual_axes.0.contains(name);
    let rest = |names: &Vec<AxisName>| names.iter().filter(|name| !is_manual(name)).cloned().collect();
    Ok(typed(aval, sharding.with_entries(sharding.entries.iter().map(rest).collect())))
}

impl Prim for ShardMapPrim {
    type Params = ShardMap;
    const NAME: &'static str = "shard_map";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &ShardMap, ins: &[Aval]) -> Result<Avals> {
        let parts: Result<Vec<Aval>> =
            ins.iter().zip(&p.in_specs).map(|(&aval, spec)| rescaled(p, aval, spec, true)).collect();
        super::jit::check_call("shard_map", &p.jaxpr, &parts?)?;
        let outs = p.jaxpr.out_avals();
        outs.into_iter().zip(&p.out_specs).map(|(aval, spec)| rescaled(p, aval, spec, false)).collect()
    }

    fn derivative(&self) -> Derivative<ShardMap> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<ShardMap> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<ShardMap> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<ShardMap> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &ShardMap, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        match RUNNER.get() {
            Some(runner) => CpuForm::Host(runner(p, ins, outs)),
            None => CpuForm::Missing("nothing here runs programs on devices".into()),
        }
    }

    fn hlo(&self) -> Hlo<ShardMap> {
        Hlo::Rule(|p, cx, ins, outs| {
            let axes = p.mesh.0.axes.iter().map(|(name, _)| name);
            let manual = axes.filter(|name| p.newly_manual_axes.0.is_empty() || p.newly_manual_axes.0.contains(name));
            let map = DeviceMap {
                mesh: &p.mesh.0,
                manual: manual.cloned().collect(),
                in_specs: p.in_specs.iter().map(|spec| &spec.entries).collect(),
                out_specs: p.out_specs.iter().map(|spec| &spec.entries).collect(),
                jaxpr: &p.jaxpr,
            };
            cx.on_devices(&map, ins, outs)
        })
    }

    // Covered by the tests of devices: there is no sample without a mesh.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn effects(&self, p: &ShardMap) -> Effects {
        p.jaxpr.effects()
    }

    fn varying(&self, _p: &ShardMap) -> Varying {
        Varying::Own
    }

    fn axis_names(&self, p: &ShardMap) -> Option<Vec<AxisName>> {
        let is_bound = |name: &AxisName| p.mesh.0.axes.iter().any(|(own, _)| own == name);
        Some(p.jaxpr.axis_names().iter().filter(|name| !is_bound(name)).cloned().collect())
    }

    fn split(&self, p: &ShardMap, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>> {
        split_map(p, split, ins).map(Some)
    }

    fn drop_unused(&self, p: &ShardMap, used: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)> {
        let pruned = dce_inner_jaxpr(&p.jaxpr, used, &vec![false; p.jaxpr.invars.len()]);
        let in_specs = marked(&p.in_specs, &pruned.used_in);
        Some((p.with(pruned.jaxpr, in_specs, marked(&p.out_specs, used)), pruned.used_in, used.to_vec()))
    }
}

fn marked<T: Clone>(all: &[T], marks: &[bool]) -> Vec<T> {
    all.iter().zip(marks).filter(|(_, marked)| **marked).map(|(item, _)| item.clone()).collect()
}

fn unmarked<T: Clone>(all: &[T], marks: &[bool]) -> Vec<T> {
    all.iter().zip(marks).filter(|(_, marked)| !**marked).map(|(item, _)| item.clone()).collect()
}

fn jvp(p: &ShardMap, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let nonzero: Vec<bool> = ts.iter().map(Option::is_some).collect();
    let derived = jvp_jaxpr(&p.jaxpr, &nonzero, &vec![false; p.jaxpr.outs.len()])?;
    let in_specs = [&p.in_specs[..], &marked(&p.in_specs, &nonzero)].concat();
    let out_specs = [&p.out_specs[..], &marked(&p.out_specs, &derived.nonzero_out)].concat();
    let ins: Vec<Val> = xs.iter().cloned().chain(ts.iter().flatten().cloned()).collect();
    let mut outs = e.bind(SHARD_MAP, &p.with(derived.jaxpr, in_specs, out_specs), &ins)?;
    let mut tangents = outs.drain(p.jaxpr.outs.len()..).collect::<Vec<_>>().into_iter();
    let tangents = derived.nonzero_out.iter().map(|&nonzero| if nonzero { tangents.next() } else { None }).collect();
    Ok((outs, tangents))
}

fn batch(p: &ShardMap, e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let (ins, batched) = batch_in_front(e, ins, dims, batch.size)?;
    let derived = batch_jaxpr(&p.jaxpr, batch, &batched, &vec![false; p.jaxpr.outs.len()])?;
    let behind = |specs: &[SpecParam], batched: &[bool]| -> Vec<SpecParam> {
        let one = |(spec, &batched): (&SpecParam, &bool)| if batched { spec.behind_axis(vec![]) } else { spec.clone() };
        specs.iter().zip(batched).map(one).collect()
    };
    let (in_specs, out_specs) = (behind(&p.in_specs, &batched), behind(&p.out_specs, &derived.batched_out));
    let outs = e.bind(SHARD_MAP, &p.with(derived.jaxpr, in_specs, out_specs), &ins)?;
    Ok((outs, derived.batched_out.iter().map(|&batched| batched.then_some(0)).collect()))
}

/// Divides `x` by the number of devices that share it.
fn share<'e>(p: &ShardMap, x: V<'e>, spec: &SpecParam) -> V<'e> {
    // Where types say that all agree, sums along those axes are not repeated on the way back.
    let n = if p.check_vma { 1 } else { p.factor(&p.shared_axes(spec)) };
    if n == 1 { x } else { x / n as f64 }
}

/// Sums `x` over the devices that share it.
fn gathered<'e>(p: &ShardMap, x: V<'e>, spec: &SpecParam) -> V<'e> {
    let axes = p.disagreeing(x.aval(), spec);
    if axes.is_empty() {
        return x;
    }
    if p.check_vma {
        return x.bind(PSUM_INVARIANT, &Params::new(PsumInvariant { axes: AxisNames(axes) }), &[]);
    }
    x.bind(PSUM, &Params::new(AllReduce::new(axes.into_iter().map(Axis::Named).collect())), &[])
}

fn transpose(p: &ShardMap, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let linear: Vec<bool> = ins.iter().map(Operand::is_linear).collect();
    let nonzero: Vec<bool> = cts.iter().map(Option::is_some).collect();
    let inner = transpose_jaxpr(&p.jaxpr, &linear, &nonzero, false)?;
    let known_specs = unmarked(&p.in_specs, &linear);
    let ct_specs = marked(&p.out_specs, &nonzero);
    let out_specs = marked(&marked(&p.in_specs, &linear), &inner.nonzero);

    let b = Builder::new();
    let mut args = vec![];
    for (number, aval) in inner.jaxpr.in_avals().into_iter().enumerate() {
        let arg = b.input(aval);
        args.push(match number.checked_sub(known_specs.len()) {
            None => arg,
            Some(at) => share(p, V::new(&b, &arg), &ct_specs[at]).done()?,
        });
    }
    let mut outs = vec![];
    for (out, spec) in eval_jaxpr(&b, &inner.jaxpr, &args)?.iter().zip(&out_specs) {
        outs.push(gathered(p, V::new(&b, out), spec).done()?);
    }
    let jaxpr = JaxprRef::new(b.finish(&outs, None).0);
    let params = p.with(jaxpr, [known_specs, ct_specs].concat(), out_specs);
    let args: Vec<Val> = ins.iter().filter_map(|x| x.known().cloned()).chain(cts.iter().flatten().cloned()).collect();
    let mut found = e.bind(SHARD_MAP, &params, &args)?.into_iter();
    let mut nonzero = inner.nonzero.iter();
    let mut next = || if *nonzero.next().expect("one mark for each linear operand") { found.next() } else { None };
    Ok(linear.iter().map(|&linear| if linear { next() } else { None }).collect())
}

/// Residuals leave the known part with a row for each device, and come into the unknown part so.
fn split_map(p: &ShardMap, split: &dyn Split, ins: &[Val]) -> Result<Vals> {
    let unknown_in: Vec<bool> = ins.iter().map(|val| split.is_unknown(val)).collect();
    let parts = split.split_jaxpr(&p.jaxpr, &unknown_in)?;
    let rows = vec![p.row_spec(); parts.n_residuals];
    let n_known = parts.known.outs.len() - parts.n_residuals;
    let known = with_rows(&parts.known, 0, n_known)?;
    let unknown = with_rows(&parts.unknown, parts.n_residuals, usize::MAX)?;

    let known_specs = [unmarked(&p.out_specs, &parts.unknown_out), rows.clone()].concat();
    let known_params = p.with(known, unmarked(&p.in_specs, &unknown_in), known_specs);
    let mut known_outs = split.known().bind(SHARD_MAP, &known_params, &unmarked(ins, &unknown_in))?.into_vec();
    let residuals = known_outs.split_off(n_known);

    let in_specs = [rows, marked(&p.in_specs, &unknown_in)].concat();
    let unknown_params = p.with(unknown, in_specs, marked(&p.out_specs, &parts.unknown_out));
    let unknown_ins = [residuals, marked(ins, &unknown_in)].concat();
    let mut unknown_outs = split.unknown().bind(SHARD_MAP, &unknown_params, &unknown_ins)?.into_iter();
    let mut known_outs = known_outs.into_iter();
    let merge = |unknown: &bool| if *unknown { unknown_outs.next() } else { known_outs.next() };
    let merged: Option<Vals> = parts.unknown_out.iter().map(merge).collect();
    merged.ok_or_else(|| Error::internal("a split map gave too few results"))
}

/// The jaxpr with a first axis of size 1 on its first `n_ins` inputs and on its results from `first_out` on.
fn with_rows(jaxpr: &JaxprRef, n_ins: usize, first_out: usize) -> Result<JaxprRef> {
    let b = Builder::new();
    let mut args = vec![];
    for (number, aval) in jaxpr.in_avals().into_iter().enumerate() {
        if number >= n_ins {
            args.push(b.input(aval));
            continue;
        }
        let shape: Vec<usize> = std::iter::once(1).chain(aval.shape.iter().copied()).collect();
        args.push(V::new(&b, &b.input(aval.with_shape(&shape))).squeeze(&[0]).done()?);
    }
    let mut outs = eval_jaxpr(&b, jaxpr, &args)?;
    for out in outs.iter_mut().skip(first_out) {
        *out = V::new(&b, out).repeat_in_front(1).done()?;
    }
    Ok(JaxprRef::new(b.finish(&outs, None).0))
}
