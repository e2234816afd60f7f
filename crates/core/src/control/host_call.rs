//! Calls of functions of the host that give results.
//!
//! pure_callback : operands -> results     no effect: it may be dropped, or called again
//! io_callback : operands -> results       an effect, perhaps in program order
//!
//! Neither has a derivative; a custom rule gives one. Batching calls the function for each example, or once with the whole
//! batch, as the user chose.

use std::fmt;
use std::sync::Arc;

use crate::prims::splits::whole;
use pullback_base::{Aval, Error, Result, Shape};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Builder, Derivative, Effects, Emit, Hlo, JaxprRef, Opaque, Operand, ParamField,
    ParamValue, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val, Vals,
};

use super::callback::HostFunction;
use super::jit::batch_in_front;
use super::scan::{SCAN, Scan};
use crate::prims::{V, batch_to_front};

/// How `pure_callback` does a batch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum VmapMethod {
    /// Not at all.
    #[default]
    None,
    /// One call for each example, in a loop.
    Sequential,
    /// One call for each example, all written out.
    SequentialUnrolled,
    /// One call; operands without a batch get an axis of size 1 in front.
    ExpandDims,
    /// One call; operands without a batch are repeated.
    BroadcastAll,
    /// One call; operands without a batch stay as they are.
    LegacyVectorized,
}

const METHODS: [(&str, VmapMethod); 6] = [
    ("None", VmapMethod::None),
    ("sequential", VmapMethod::Sequential),
    ("sequential_unrolled", VmapMethod::SequentialUnrolled),
    ("expand_dims", VmapMethod::ExpandDims),
    ("broadcast_all", VmapMethod::BroadcastAll),
    ("legacy_vectorized", VmapMethod::LegacyVectorized),
];

impl VmapMethod {
    /// The method of a name, as users write it.
    pub fn of_name(name: &str) -> Option<VmapMethod> {
        METHODS.iter().find(|(known, _)| *known == name).map(|(_, method)| *method)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        METHODS.iter().find(|(_, method)| *method == self).map_or("None", |(name, _)| name)
    }
}

impl fmt::Display for VmapMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl ParamField for VmapMethod {
    fn to_value(&self) -> ParamValue {
        ParamValue::Opaque(Opaque { text: self.name().into(), value: Arc::new(*self) })
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Opaque(opaque) => opaque.value.downcast_ref::<VmapMethod>().copied(),
            _ => None,
        }
    }
}

/// Params of `pure_callback`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct PureCallback {
    /// What is called.
    pub callback: HostFunction,
    /// Avals of the results.
    pub result_avals: Vec<Aval>,
    /// How a batch is done.
    pub vmap_method: VmapMethod,
}

/// Params of `io_callback`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct IoCallback {
    /// What is called.
    pub callback: HostFunction,
    /// Whether calls keep the program's order.
    pub ordered: bool,
    /// Avals of the results.
    pub result_avals: Vec<Aval>,
}

struct PureCallbackPrim;
struct IoCallbackPrim;

/// The primitive `pure_callback`.
pub static PURE_CALLBACK: PrimRef = PrimRef(&PureCallbackPrim);
/// The primitive `io_callback`.
pub static IO_CALLBACK: PrimRef = PrimRef(&IoCallbackPrim);

impl Prim for PureCallbackPrim {
    type Params = PureCallback;
    const NAME: &'static str = "pure_callback";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &PureCallback, _ins: &[Aval]) -> Result<Avals> {
        Ok(p.result_avals.iter().copied().collect())
    }
    fn derivative(&self) -> Derivative<PureCallback> {
        Derivative::Jvp(no_derivative_of_pure)
    }
    fn transpose(&self) -> Transpose<PureCallback> {
        Transpose::Rule(no_transpose_of_pure)
    }
    fn splits(&self) -> Splits<PureCallback> {
        Splits::Rule(whole)
    }

    fn batching(&self) -> Batching<PureCallback> {
        Batching::Rule(batch_pure)
    }
    fn cpu(&self, p: &PureCallback, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(p.callback.0.clone())
    }
    fn hlo(&self) -> Hlo<PureCallback> {
        Hlo::Rule(|p, cx, ins, outs| cx.host_call(&p.callback.as_host_call(), Effects::NONE, ins, outs))
    }
    // Covered by the tests of callbacks: there is no sample without a function of the host.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
}

impl Prim for IoCallbackPrim {
    type Params = IoCallback;
    const NAME: &'static str = "io_callback";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &IoCallback, _ins: &[Aval]) -> Result<Avals> {
        Ok(p.result_avals.iter().copied().collect())
    }
    fn derivative(&self) -> Derivative<IoCallback> {
        Derivative::Jvp(no_derivative_of_io)
    }
    fn transpose(&self) -> Transpose<IoCallback> {
        Transpose::Rule(no_transpose_of_io)
    }
    fn splits(&self) -> Splits<IoCallback> {
        Splits::Rule(whole)
    }

    fn batching(&self) -> Batching<IoCallback> {
        Batching::Rule(batch_io)
    }
    fn cpu(&self, p: &IoCallback, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::Host(p.callback.0.clone())
    }
    fn hlo(&self) -> Hlo<IoCallback> {
        Hlo::Rule(|p, cx, ins, outs| {
            let effects = if p.ordered { Effects::ORDERED } else { Effects::UNORDERED };
            cx.host_call(&p.callback.as_host_call(), effects, ins, outs)
        })
    }
    // Covered by the tests of callbacks: there is no sample without a function of the host.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
    fn effects(&self, p: &IoCallback) -> Effects {
        if p.ordered { Effects::ORDERED } else { Effects::UNORDERED }
    }
}

fn no_derivative_of_pure(
    _p: &PureCallback,
    _e: &dyn Emit,
    _xs: &[Val],
    _ts: &[Option<Val>],
) -> Result<(Vals, Tangents)> {
    Err(Error::value_error(
        "Pure callbacks do not support JVP. Please use `jax.custom_jvp` to use callbacks while taking gradients.",
    ))
}

fn no_derivative_of_io(_p: &IoCallback, _e: &dyn Emit, _xs: &[Val], _ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    Err(Error::value_error(
        "IO callbacks do not support JVP. Please use `jax.custom_jvp` to use callbacks while taking gradients.",
    ))
}

fn no_transpose_of_pure(_p: &PureCallback, _e: &dyn Emit, _cts: &[Option<Val>], _ins: &[Operand]) -> Result<Tangents> {
    Err(Error::value_error(
        "Pure callbacks do not support transpose. Please use `jax.custom_vjp` to use callbacks while taking gradients.",
    ))
}

fn no_transpose_of_io(_p: &IoCallback, _e: &dyn Emit, _cts: &[Option<Val>], _ins: &[Operand]) -> Result<Tangents> {
    Err(Error::value_error("IO callbacks do not support transpose."))
}

fn batch_pure(
    p: &PureCallback,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let params = Params::new(p.clone());
    match p.vmap_method {
        VmapMethod::None => Err(Error::not_implemented(
            "vmap is only supported for the pure_callback primitive when vmap_method is one of 'sequential', \
             'sequential_unrolled', 'expand_dims', 'broadcast_all', or 'legacy_vectorized'. Got vmap_method=None.",
        )),
        VmapMethod::SequentialUnrolled if batch.size > 0 => one_by_one(PURE_CALLBACK, &params, e, batch, ins, dims),
        VmapMethod::Sequential | VmapMethod::SequentialUnrolled => {
            in_a_loop(PURE_CALLBACK, &params, &p.result_avals, e, batch, ins, dims)
        }
        VmapMethod::ExpandDims | VmapMethod::BroadcastAll | VmapMethod::LegacyVectorized => {
            at_once(p, e, batch, ins, dims)
        }
    }
}

fn batch_io(
    p: &IoCallback,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    if p.ordered {
        return Err(Error::value_error("Cannot `vmap` ordered IO callback."));
    }
    in_a_loop(IO_CALLBACK, &Params::new(p.clone()), &p.result_avals, e, batch, ins, dims)
}

/// A scan over the examples.
fn in_a_loop(
    prim: PrimRef,
    params: &Params,
    outs: &[Aval],
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let (ins, batched) = batch_in_front(e, ins, dims, batch.size)?;
    let pick = |which: bool| (0..ins.len()).filter(|&i| batched[i] == which).collect::<Vec<_>>();
    let (consts, mapped) = (pick(false), pick(true));
    let builder = Builder::new();
    let mut args: Vec<Option<Val>> = vec![None; ins.len()];
    for &i in &consts {
        args[i] = Some(builder.input(ins[i].aval()));
    }
    for &i in &mapped {
        let aval = ins[i].aval();
        args[i] = Some(builder.input(aval.with_shape(&aval.shape[1..])));
    }
    let args: Vec<Val> = args.into_iter().flatten().collect();
    let results = builder.record(prim, params, &args, outs);
    let body = JaxprRef::new(builder.finish(&results, None).0);
    let operands: Vec<Val> = consts.iter().chain(&mapped).map(|&i| ins[i].clone()).collect();
    let scan = Scan::new(body, batch.size, false, consts.len(), 0);
    let outs = e.bind(SCAN, &Params::new(scan), &operands)?;
    let dims = outs.iter().map(|_| Some(0)).collect();
    Ok((outs, dims))
}

fn one_by_one(
    prim: PrimRef,
    params: &Params,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let mut rows: Vec<Vec<V<'_>>> = vec![];
    for example in 0..batch.size {
        let mut one = vec![];
        for (val, dim) in ins.iter().zip(dims) {
            one.push(dim.map_or(Ok(val.clone()), |dim| V::new(e, val).index_in_dim(example, dim).done())?);
        }
        let outs = e.bind(prim, params, &one)?;
        rows.push(outs.iter().map(|out| V::new(e, out).expand_dims(&[0])).collect());
    }
    let n_outs = rows.first().map_or(0, Vec::len);
    let stack = |i: usize| {
        let others: Vec<&V<'_>> = rows[1..].iter().map(|row| &row[i]).collect();
        rows[0][i].concatenate(&others, 0).done()
    };
    let stacked = (0..n_outs).map(stack).collect::<Result<Vals>>()?;
    let dims = stacked.iter().map(|_| Some(0)).collect();
    Ok((stacked, dims))
}

/// One call with the whole batch.
fn at_once(
    p: &PureCallback,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let operand = |(val, dim): (&Val, &Option<usize>)| match (dim, p.vmap_method) {
        (None, VmapMethod::ExpandDims) => V::new(e, val).expand_dims(&[0]).done(),
        (None, VmapMethod::LegacyVectorized) => Ok(val.clone()),
        _ => batch_to_front(e, val, *dim, batch.size),
    };
    let ins = ins.iter().zip(dims).map(operand).collect::<Result<Vec<Val>>>()?;
    let batched = |aval: &Aval| {
        let mut shape = Shape::from_elem(batch.size, 1);
        shape.extend_from_slice(&aval.shape);
        aval.with_shape(&shape)
    };
    let result_avals: Vec<Aval> = p.result_avals.iter().map(batched).collect();
    let in_avals = ins.iter().map(|val| val.aval().weak(false)).collect();
    let callback = p.callback.0.retyped(in_avals, result_avals.clone());
    let params = PureCallback { callback, result_avals, vmap_method: p.vmap_method };
    let outs = e.bind(PURE_CALLBACK, &Params::new(params), &ins)?;
    let dims = outs.iter().map(|_| Some(0)).collect();
    Ok((outs, dims))
}
