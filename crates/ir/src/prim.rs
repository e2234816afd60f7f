//! The primitive contract: all that the system knows of an operation, in one place.
//!
//! Authors implement [`Prim`] with typed params; transforms see the erased [`DynPrim`] through [`PrimRef`], and one
//! blanket implementation stands between. A rule that does not exist is a value with a reason (`Missing`), so that
//! holes show in the coverage table. Primitives that another language defines implement [`DynPrim`] directly.

use std::fmt;
use std::hash::{Hash, Hasher};

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Error, Result, Sharding};
use smallvec::SmallVec;

use crate::emit::{Emit, EmitRef};
use crate::hlo::{Hlo, HloCx, HloValue, HloValues, missing_hlo};
use crate::jaxpr::{AxisName, Effects};
use crate::lower::{Control, CpuForm};
use crate::params::{ParamSet, ParamValue, Params};
use crate::passing::{OutSharding, Passing, Splits, typed_results};
use crate::split::Split;
use crate::val::{Val, Vals};

/// Avals of results.
pub type Avals = SmallVec<[Aval; 1]>;
/// Tangents of results; `None` is a symbolic zero.
pub type Tangents = SmallVec<[Option<Val>; 1]>;
/// Batch axes of results; `None` is not batched.
pub type BatchDims = SmallVec<[Option<usize>; 1]>;

/// An operand of a transpose rule.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A known value.
    Known(Val),
    /// The operand in which the equation is linear; its cotangent is asked for.
    Linear(Aval),
}

impl Operand {
    /// The value, if known.
    pub fn known(&self) -> Option<&Val> {
        match self {
            Operand::Known(val) => Some(val),
            Operand::Linear(_) => None,
        }
    }

    /// Shape, dtype and weak type.
    pub fn aval(&self) -> Aval {
        match self {
            Operand::Known(val) => val.aval(),
            Operand::Linear(aval) => *aval,
        }
    }

    /// Whether its cotangent is asked for.
    pub fn is_linear(&self) -> bool {
        matches!(self, Operand::Linear(_))
    }
}

/// The batch that `vmap` maps over.
#[derive(Clone, Debug)]
pub struct Batch {
    /// Number of examples.
    pub size: usize,
    /// Name of the mapped axis, for collectives.
    pub name: Option<AxisName>,
    /// How the mapped axis is split, as a sharding of one axis.
    pub split: Option<Sharding>,
}

/// Forward derivative: results and their tangents, from primals and tangents.
pub type JvpRule<P> = fn(&P, &dyn Emit, &[Val], &[Option<Val>]) -> Result<(Vals, Tangents)>;
/// Transpose: cotangents of the linear operands (`None` elsewhere or for zero), from cotangents of the results.
pub type TransposeRule<P> = fn(&P, &dyn Emit, &[Option<Val>], &[Operand]) -> Result<Tangents>;
/// Batching: results and their batch axes.
pub type BatchRule<P> = fn(&P, &dyn Emit, &Batch, &[Val], &[Option<usize>]) -> Result<(Vals, BatchDims)>;

/// How a primitive is differentiated forward.
pub enum Derivative<P> {
    /// By a rule.
    Jvp(JvpRule<P>),
    /// It is linear in all operands together: tangents go through the primitive itself. The function makes the
    /// zeros for operands without tangent.
    Linear(fn(&dyn Emit, Aval) -> Result<Val>),
    /// Results carry no derivative (integers, booleans, steps).
    Zero,
    /// Not written, and why.
    Missing(&'static str),
}

/// How a primitive that is linear in some operands is transposed.
pub enum Transpose<P> {
    /// By a rule.
    Rule(TransposeRule<P>),
    /// It is never linear in an operand.
    NotLinear,
    /// Not written, and why.
    Missing(&'static str),
}

/// How a primitive is batched.
pub enum Batching<P> {
    /// Elementwise over operands of one shape: move all batch axes to one place and apply.
    Pointwise,
    /// By a rule.
    Rule(BatchRule<P>),
    /// Not written, and why.
    Missing(&'static str),
}

/// One sample operand for the test battery.
#[derive(Clone, Debug)]
pub struct SampleIn {
    /// Its aval.
    pub aval: Aval,
    /// Random elements come from this interval.
    pub domain: (f64, f64),
}

/// One sample application for the test battery.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Params.
    pub params: Params,
    /// Operands.
    pub ins: Vec<SampleIn>,
}

impl Sample {
    /// Operands of given shapes with one dtype and elements in `domain`.
    pub fn new(params: Params, dtype: DType, domain: (f64, f64), shapes: &[&[usize]]) -> Sample {
        Sample { params, ins: shapes.iter().map(|shape| SampleIn { aval: Aval::new(shape, dtype), domain }).collect() }
    }
}

/// Rules that the user wrote. They may re-enter tracing, so they get a shared emitter to make current.
pub trait CustomRule: Send + Sync {
    /// Results and tangents, from primals and tangents.
    fn jvp(&self, e: &EmitRef, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vals, Tangents)>;
    /// Cotangents of the linear operands, from those of the results; `None` when the primitive's own rule holds.
    fn transpose(&self, _e: &EmitRef, _cts: &[Option<Val>], _ins: &[Operand]) -> Option<Result<Tangents>> {
        None
    }
    /// Whether `transpose` is wanted even where all cotangents are zero: a user's rule may give what is no derivative, such
    /// as a statistic to keep.
    fn runs_on_zeros(&self) -> bool {
        false
    }
    /// Results and their batch axes; `None` when the primitive's own rule holds.
    fn batch(
        &self,
        _e: &EmitRef,
        _batch: &Batch,
        _ins: &[Val],
        _dims: &[Option<usize>],
    ) -> Option<Result<(Vals, BatchDims)>> {
        None
    }
    /// How it prints.
    fn name(&self) -> String;
}

/// A primitive with typed params. All methods are values or rules; none has a hidden default that hides a hole.
pub trait Prim: Send + Sync + 'static {
    /// Static parameters.
    type Params: ParamSet;
    /// The name in jaxprs, JAX's own.
    const NAME: &'static str;
    /// Whether an equation has a list of results rather than one.
    const MULTIPLE_RESULTS: bool = false;

    /// Shapes and dtypes of the results; checks the operands.
    fn abstract_eval(&self, params: &Self::Params, ins: &[Aval]) -> Result<Avals>;
    /// Forward derivative.
    fn derivative(&self) -> Derivative<Self::Params>;
    /// Transpose in its linear operands.
    fn transpose(&self) -> Transpose<Self::Params>;
    /// Batching.
    fn batching(&self) -> Batching<Self::Params>;
    /// How splits over a mesh pass from operands to results.
    fn splits(&self) -> Splits<Self::Params>;
    /// What the CPU does.
    fn cpu(&self, params: &Self::Params, ins: &[Aval], outs: &[Aval]) -> CpuForm;
    /// What StableHLO says; [`crate::hlo`] tells how to state it.
    fn hlo(&self) -> Hlo<Self::Params>;
    /// Applications for the test battery; empty when another test covers the primitive, with a comment that says which.
    fn samples(&self) -> Vec<Sample>;

    /// What it does besides computing.
    fn effects(&self, _params: &Self::Params) -> Effects {
        Effects::NONE
    }
    /// Splits an application whose operands are partly unknown; `None` to treat it as wholly unknown.
    fn split(&self, _params: &Self::Params, _split: &dyn Split, _ins: &[Val]) -> Result<Option<Vals>> {
        Ok(None)
    }
    /// Drops unused results: new params, which operands stay, which results stay. `None` to leave it as it is.
    fn drop_unused(&self, _params: &Self::Params, _used: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)> {
        None
    }
    /// Evaluates outside of programs when the CPU form cannot: for primitives about other traces.
    fn eval(&self, _params: &Self::Params, _ins: &[Val]) -> Option<Result<Vals>> {
        None
    }
    /// The user's own rules; they take the place of the primitive's.
    fn custom_rule(&self, _params: &Self::Params) -> Option<std::sync::Arc<dyn CustomRule>> {
        None
    }
    /// Names of the printed params that JAX's form shows for this application only sometimes: those to leave out.
    fn unprinted(&self, _params: &Self::Params) -> Vec<&'static str> {
        vec![]
    }
    /// How this application asks its result to be split.
    fn asked<'a>(&self, _params: &'a Self::Params) -> Option<&'a OutSharding> {
        None
    }
    /// Along which axes of devices results may differ.
    fn varying(&self, _params: &Self::Params) -> Varying {
        Varying::AsOperands
    }
    /// Names of mapped axes that it uses; `None` for those of its inner jaxprs.
    fn axis_names(&self, _params: &Self::Params) -> Option<Vec<AxisName>> {
        None
    }
    /// Whether variables of its inner jaxpr print under the names of the operands and results outside.
    fn shares_names(&self) -> bool {
        false
    }
}

/// Along which axes of devices the results of a primitive may differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Varying {
    /// Along those of all operands; where jaxprs are inside, as these say of each result.
    AsOperands,
    /// Along those of all operands, also where jaxprs are inside.
    Everywhere,
    /// Along those of all operands but these.
    Without(Vec<AxisName>),
    /// As its abstract evaluation says.
    Own,
}

/// All axes of devices along which some of the values may differ.
pub fn varying_axes(avals: &[Aval]) -> Vec<AxisName> {
    let mut all: Vec<AxisName> = avals.iter().flat_map(|aval| aval.vma.iter().cloned()).collect();
    all.sort();
    all.dedup();
    all
}

/// Which rules a primitive has; a cell without one holds the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Forward derivative.
    pub derivative: Result<&'static str, &'static str>,
    /// Transpose.
    pub transpose: Result<&'static str, &'static str>,
    /// Batching.
    pub batching: Result<&'static str, &'static str>,
    /// How splits over a mesh pass.
    pub splits: Result<&'static str, &'static str>,
    /// StableHLO.
    pub hlo: Result<&'static str, &'static str>,
}

/// A primitive as transforms see it. See [`Prim`] for the meaning of each method.
#[allow(missing_docs)]
pub trait DynPrim: Send + Sync {
    fn name(&self) -> &str;
    fn multiple_results(&self) -> bool;
    fn abstract_eval(&self, params: &Params, ins: &[Aval]) -> Result<Avals>;
    fn jvp(&self, this: PrimRef, p: &Params, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)>;
    fn transpose(&self, params: &Params, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents>;
    /// `Ok(None)` means pointwise.
    fn batch(
        &self,
        params: &Params,
        e: &dyn Emit,
        batch: &Batch,
        ins: &[Val],
        dims: &[Option<usize>],
    ) -> Result<Option<(Vals, BatchDims)>>;
    fn cpu(&self, params: &Params, ins: &[Aval], outs: &[Aval]) -> CpuForm;
    /// Makes the operations of one application; gives the results.
    fn hlo(
        &self,
        this: PrimRef,
        params: &Params,
        cx: &mut dyn HloCx,
        ins: &[HloValue],
        outs: &[Aval],
    ) -> Result<HloValues>;
    /// How splits of operands pass to results, as [`Splits`] says; nothing where jaxprs inside say it.
    fn pass(&self, params: &Params, passing: &Passing<'_>) -> Option<Result<Vec<Spec>>>;
    /// How this application asks its result to be split.
    fn asked<'a>(&self, params: &'a Params) -> Option<&'a OutSharding>;
    fn effects(&self, params: &Params) -> Effects;
    fn split(&self, params: &Params, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>>;
    fn drop_unused(&self, params: &Params, used: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)>;
    fn eval(&self, params: &Params, ins: &[Val]) -> Option<Result<Vals>>;
    fn custom_rule(&self, params: &Params) -> Option<std::sync::Arc<dyn CustomRule>>;
    fn unprinted(&self, params: &Params) -> Vec<&'static str>;
    fn axis_names(&self, params: &Params) -> Vec<AxisName> {
        params.jaxprs().iter().flat_map(|jaxpr| jaxpr.axis_names().to_vec()).collect()
    }
    fn shares_names(&self) -> bool;
    fn params_from_fields(&self, fields: &[(String, ParamValue)]) -> Result<Params>;
    fn samples(&self) -> Vec<Sample>;
    fn coverage(&self) -> Coverage;
}

fn typed<T: Prim>(params: &Params) -> &T::Params {
    params.get::<T::Params>().unwrap_or_else(|| panic!("{} was given params {params:?}", T::NAME))
}

/// The error of transposing an application that is not linear; `how` says in which operands, after a space.
pub fn not_linear(name: &str, how: &str) -> Error {
    Error::not_implemented(format!(
        "Transpose rule (for reverse-mode differentiation) for '{name}' not implemented: it is not linear{how}"
    ))
}

fn missing<T: Prim, R>(rule: &str, reason: &str) -> Result<R> {
    Err(Error::not_implemented(format!("{rule} of primitive '{}' is not implemented: {reason}", T::NAME)))
}

impl<T: Prim> DynPrim for T {
    fn name(&self) -> &str {
        T::NAME
    }
    fn multiple_results(&self) -> bool {
        T::MULTIPLE_RESULTS
    }
    fn abstract_eval(&self, params: &Params, ins: &[Aval]) -> Result<Avals> {
        let typed = typed::<T>(params);
        let asked = Prim::asked(self, typed);
        if asked.is_none() && ins.iter().all(|aval| aval.is_plain()) {
            return Prim::abstract_eval(self, typed, ins);
        }
        let splits = Prim::splits(self);
        if matches!(splits, Splits::Inside) {
            return varying_eval(self, params, ins);
        }
        let whole: SmallVec<[Aval; 4]> = ins.iter().map(|aval| aval.sharded(None)).collect();
        let outs = varying_eval(self, params, &whole)?;
        let typed = match asked {
            Some(asked) => outs.into_iter().map(|out| asked_type(asked, out)).collect::<Result<_>>()?,
            None => typed_results(T::NAME, &splits, typed, ins, outs.into_vec())?,
        };
        Ok(typed.into())
    }
    fn jvp(&self, this: PrimRef, p: &Params, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
        match self.derivative() {
            Derivative::Jvp(rule) => rule(typed::<T>(p), e, xs, ts),
            Derivative::Linear(zeros) => linear_jvp(this, p, zeros, e, xs, ts),
            Derivative::Zero => {
                let outs = e.bind(this, p, xs)?;
                let zeros = outs.iter().map(|_| None).collect();
                Ok((outs, zeros))
            }
            Derivative::Missing(reason) => missing::<T, _>("the derivative", reason),
        }
    }
    fn transpose(&self, params: &Params, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
        match Prim::transpose(self) {
            Transpose::Rule(rule) => rule(typed::<T>(params), e, cts, ins),
            Transpose::NotLinear => Err(not_linear(T::NAME, "")),
            Transpose::Missing(reason) => missing::<T, _>("the transpose", reason),
        }
    }
    fn batch(
        &self,
        params: &Params,
        e: &dyn Emit,
        batch: &Batch,
        ins: &[Val],
        dims: &[Option<usize>],
    ) -> Result<Option<(Vals, BatchDims)>> {
        match self.batching() {
            Batching::Pointwise => Ok(None),
            Batching::Rule(rule) => rule(typed::<T>(params), e, batch, ins, dims).map(Some),
            Batching::Missing(reason) => missing::<T, _>("batching", reason),
        }
    }
    fn cpu(&self, params: &Params, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        Prim::cpu(self, typed::<T>(params), ins, outs)
    }
    fn hlo(
        &self,
        this: PrimRef,
        params: &Params,
        cx: &mut dyn HloCx,
        ins: &[HloValue],
        outs: &[Aval],
    ) -> Result<HloValues> {
        let in_avals = || ins.iter().map(|x| x.aval).collect::<Vec<Aval>>();
        match Prim::hlo(self) {
            Hlo::RealOp(_) if ins[0].aval.dtype.is_complex() => as_cpu(this, params, cx, ins, outs),
            Hlo::Op(name) | Hlo::RealOp(name) => {
                let ins: HloValues = ins.iter().map(|&x| cx.repeated(x, &outs[0].shape)).collect();
                Ok(cx.op(name, "", &ins, outs))
            }
            Hlo::Attributes(name, text) => Ok(cx.op(name, &text(typed::<T>(params), &in_avals()), ins, outs)),
            Hlo::AsCpu => as_cpu(this, params, cx, ins, outs),
            Hlo::Composition(rule) => {
                let params = typed::<T>(params);
                composed(&|e, ins| rule(params, e, ins), this, &Params::new(params.clone()), cx, ins)
            }
            Hlo::Rule(rule) => rule(typed::<T>(params), cx, ins, outs),
            Hlo::Missing(reason) => cx.on_host(this, params, ins, outs)?.ok_or_else(|| missing_hlo(T::NAME, reason)),
        }
    }
    fn pass(&self, params: &Params, passing: &Passing<'_>) -> Option<Result<Vec<Spec>>> {
        match Prim::splits(self) {
            Splits::Pointwise => Some(passing.pointwise()),
            Splits::Rule(rule) => Some(rule(typed::<T>(params), passing)),
            Splits::Missing(_) => Some(Ok(passing.whole())),
            Splits::Inside => None,
        }
    }
    fn asked<'a>(&self, params: &'a Params) -> Option<&'a OutSharding> {
        Prim::asked(self, typed::<T>(params))
    }
    fn effects(&self, params: &Params) -> Effects {
        Prim::effects(self, typed::<T>(params))
    }
    fn split(&self, params: &Params, split: &dyn Split, ins: &[Val]) -> Result<Option<Vals>> {
        Prim::split(self, typed::<T>(params), split, ins)
    }
    fn drop_unused(&self, params: &Params, used: &[bool]) -> Option<(Params, Vec<bool>, Vec<bool>)> {
        Prim::drop_unused(self, typed::<T>(params), used)
    }
    fn eval(&self, params: &Params, ins: &[Val]) -> Option<Result<Vals>> {
        Prim::eval(self, typed::<T>(params), ins)
    }
    fn custom_rule(&self, params: &Params) -> Option<std::sync::Arc<dyn CustomRule>> {
        Prim::custom_rule(self, typed::<T>(params))
    }
    fn unprinted(&self, params: &Params) -> Vec<&'static str> {
        Prim::unprinted(self, typed::<T>(params))
    }
    fn axis_names(&self, params: &Params) -> Vec<AxisName> {
        let inner = || params.jaxprs().iter().flat_map(|jaxpr| jaxpr.axis_names().to_vec()).collect();
        Prim::axis_names(self, typed::<T>(params)).unwrap_or_else(inner)
    }
    fn shares_names(&self) -> bool {
        Prim::shares_names(self)
    }
    fn params_from_fields(&self, fields: &[(String, ParamValue)]) -> Result<Params> {
        Ok(Params::new(T::Params::from_fields(fields)?))
    }
    fn samples(&self) -> Vec<Sample> {
        Prim::samples(self)
    }
    fn coverage(&self) -> Coverage {
        let derivative = match self.derivative() {
            Derivative::Jvp(_) => Ok("rule"),
            Derivative::Linear(_) => Ok("linear"),
            Derivative::Zero => Ok("zero"),
            Derivative::Missing(reason) => Err(reason),
        };
        let transpose = match Prim::transpose(self) {
            Transpose::Rule(_) => Ok("rule"),
            Transpose::NotLinear => Ok("not linear"),
            Transpose::Missing(reason) => Err(reason),
        };
        let batching = match self.batching() {
            Batching::Pointwise => Ok("pointwise"),
            Batching::Rule(_) => Ok("rule"),
            Batching::Missing(reason) => Err(reason),
        };
        let splits = match Prim::splits(self) {
            Splits::Pointwise => Ok("pointwise"),
            Splits::Rule(_) => Ok("rule"),
            Splits::Inside => Ok("inside"),
            Splits::Missing(reason) => Err(reason),
        };
        let hlo = match Prim::hlo(self) {
            Hlo::Op(_) | Hlo::RealOp(_) | Hlo::Attributes(..) => Ok("op"),
            Hlo::AsCpu | Hlo::Composition(_) => Ok("composition"),
            Hlo::Rule(_) => Ok("rule"),
            Hlo::Missing(reason) => Err(reason),
        };
        Coverage { derivative, transpose, batching, splits, hlo }
    }
}

/// The type that a result has that is split as asked.
fn asked_type(asked: &OutSharding, out: Aval) -> Result<Aval> {
    let Some(sharding) = asked.sharding else { return Ok(out) };
    for (axis, names) in sharding.entries.iter().enumerate() {
        let (size, factor) = (out.shape.get(axis).copied().unwrap_or(1), sharding.factor(names));
        if size % factor != 0 {
            return Err(Error::value_error(format!(
                "Sharding spec ({}) implies that array axis {axis} is partitioned {factor} times, but does not evenly divide the \
                 dimension size {size}. Got shape: {} and sharding {}",
                names.iter().map(|name| format!("'{name}',")).collect::<String>(),
                tuple_text(&out.shape),
                asked.text
            )));
        }
    }
    let mut entries = sharding.entries.clone();
    entries.resize(out.rank(), vec![]);
    Ok(out.sharded(sharding.with_entries(entries)))
}

/// Abstract evaluation with the axes of devices along which results may differ.
fn varying_eval<T: Prim>(this: &T, params: &Params, ins: &[Aval]) -> Result<Avals> {
    let typed = typed::<T>(params);
    if ins.iter().all(|aval| aval.vma.is_empty()) {
        return this.abstract_eval(typed, ins);
    }
    let all = varying_axes(ins);
    let axes = match this.varying(typed) {
        // Jaxprs inside say it of their results.
        Varying::AsOperands if !params.jaxprs().is_empty() => return this.abstract_eval(typed, ins),
        Varying::Own => return this.abstract_eval(typed, ins),
        Varying::AsOperands | Varying::Everywhere => all,
        Varying::Without(names) => all.into_iter().filter(|name| !names.contains(name)).collect(),
    };
    let plain: SmallVec<[Aval; 4]> = ins.iter().map(|aval| aval.varying(&[])).collect();
    Ok(this.abstract_eval(typed, &plain)?.into_iter().map(|aval| aval.varying(&axes)).collect())
}

/// Tangents of a linear primitive: the primitive of the tangents, with zeros made only where others are not.
fn linear_jvp(
    this: PrimRef,
    p: &Params,
    zeros: fn(&dyn Emit, Aval) -> Result<Val>,
    e: &dyn Emit,
    xs: &[Val],
    ts: &[Option<Val>],
) -> Result<(Vals, Tangents)> {
    let outs = e.bind(this, p, xs)?;
    if ts.iter().all(Option::is_none) {
        let zeros = outs.iter().map(|_| None).collect();
        return Ok((outs, zeros));
    }
    let dot = |(x, t): (&Val, &Option<Val>)| t.clone().map_or_else(|| zeros(e, x.aval().tangent()), Ok);
    let dots: Result<Vec<Val>> = xs.iter().zip(ts).map(dot).collect();
    let out_dots = e.bind(this, p, &dots?)?;
    Ok((outs, out_dots.into_iter().map(Some).collect()))
}

/// The decomposition of the CPU form in a function of its own, its scalar form elementwise, or the jaxpr that it calls.
/// The operations of a primitive whose StableHLO form is [`Hlo::AsCpu`].
///
/// # Errors
/// When its CPU form is none of those that can be said there.
pub fn as_cpu(
    this: PrimRef,
    params: &Params,
    cx: &mut dyn HloCx,
    ins: &[HloValue],
    outs: &[Aval],
) -> Result<HloValues> {
    let in_avals: Vec<Aval> = ins.iter().map(|x| x.aval).collect();
    match this.cpu(params, &in_avals, outs) {
        CpuForm::Decompose(rule) => composed(&*rule, this, params, cx, ins),
        CpuForm::Scalar(form) => cx.outline(this.name(), params, ins, &mut |cx, ins| {
            let ins: HloValues = ins.iter().map(|&x| cx.repeated(x, &outs[0].shape)).collect();
            Ok(SmallVec::from_elem(cx.elementwise(&*form, &ins, outs[0])?, 1))
        }),
        CpuForm::Alias if ins[0].aval.dtype == outs[0].dtype => {
            Ok(SmallVec::from_elem(cx.reshape(ins[0], &outs[0].shape), 1))
        }
        CpuForm::Control(Control::Call(jaxpr)) => cx.call(this.name(), &jaxpr, ins),
        CpuForm::Missing(reason) => Err(missing_hlo(this.name(), &reason)),
        CpuForm::Element(_)
        | CpuForm::Alias
        | CpuForm::Pieces(_)
        | CpuForm::Reduce { .. }
        | CpuForm::ArgReduce { .. }
        | CpuForm::Cumulative { .. }
        | CpuForm::Contract(_)
        | CpuForm::Scatter { .. }
        | CpuForm::Sort { .. }
        | CpuForm::Body(_)
        | CpuForm::Control(_)
        | CpuForm::Host(_) => {
            Err(missing_hlo(this.name(), "its CPU form is no decomposition, no scalar form and no call"))
        }
    }
}

/// Other primitives in a function of their own.
fn composed(
    rule: &dyn Fn(&dyn Emit, &[Val]) -> Result<Vals>,
    this: PrimRef,
    params: &Params,
    cx: &mut dyn HloCx,
    ins: &[HloValue],
) -> Result<HloValues> {
    cx.outline(this.name(), params, ins, &mut |cx, ins| cx.compose(rule, ins))
}

/// A primitive: a pointer, compared as such. Primitives live as long as the process.
#[derive(Clone, Copy)]
pub struct PrimRef(pub &'static dyn DynPrim);

impl std::ops::Deref for PrimRef {
    type Target = dyn DynPrim;
    fn deref(&self) -> &(dyn DynPrim + 'static) {
        self.0
    }
}

impl PrimRef {
    /// Whether this is the primitive of the given name. Primitives of zero size share addresses, so names decide.
    pub fn is(self, name: &str) -> bool {
        self.0.name() == name
    }
}

impl PartialEq for PrimRef {
    fn eq(&self, other: &PrimRef) -> bool {
        // Primitives written in Rust are types without fields, whose addresses mean nothing; those of another language
        // are objects, and two objects may bear one name.
        let is_type = std::mem::size_of_val(self.0) == 0;
        let is_same = std::ptr::eq(std::ptr::from_ref(self.0).cast::<()>(), std::ptr::from_ref(other.0).cast::<()>());
        self.name() == other.name() && (is_type || is_same)
    }
}

impl Eq for PrimRef {}

impl Hash for PrimRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for PrimRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name())
    }
}
