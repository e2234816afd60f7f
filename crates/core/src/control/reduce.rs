//! Reductions by a computation of the user's: over axes, and over windows.
//!
//! reduce : xs[...]... inits[]... -> [... without axes]...        the computation takes results so far, then elements
//! reduce_window : xs[...]... inits[]... -> [places...]...
//! Elements are taken in row-major order, from the initial values on, as XLA does on the CPU; so a computation that is
//! not associative has one meaning. Derivatives and batches with initial values of their own are those of the loop.

use std::sync::Arc;

use pullback_base::{Aval, Result, bail};
use pullback_ir::hlo::{HloCx, HloRegion, HloValue, HloValues, int_array};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Builder, Derivative, Emit, Hlo, JaxprRef, Params, Prim, PrimRef, Sample, Splits,
    Tangents, Transpose, Val, Vals, eval_jaxpr,
};
use smallvec::SmallVec;

use super::scan::{SCAN, Scan};
use crate::prims::{PadAxis, PadPair, ReduceWindow, V, batch_to_front, reduced_shape};
use crate::transforms::{batch_jaxpr, jvp_jaxpr};

/// Params of `reduce`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Reduce {
    /// The name of the computation.
    pub computation: Arc<str>,
    /// From results so far and elements, scalars, to results.
    pub jaxpr: JaxprRef,
    /// Axes that go.
    pub dimensions: Vec<usize>,
}

/// Params of `reduce_window`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReduceWindowBy {
    /// From results so far and elements, scalars, to results.
    pub jaxpr: JaxprRef,
    /// Always empty: constants are in the jaxpr.
    pub consts: Vec<i64>,
    /// Sizes of the window.
    pub window_dimensions: Vec<usize>,
    /// Steps of the window.
    pub window_strides: Vec<usize>,
    /// Elements before and after.
    pub padding: Vec<PadPair>,
    /// Distance of the array's elements.
    pub base_dilation: Vec<usize>,
    /// Distance of the window's elements.
    pub window_dilation: Vec<usize>,
}

impl ReduceWindowBy {
    fn window(&self) -> ReduceWindow {
        let p = self.clone();
        ReduceWindow {
            window_dimensions: p.window_dimensions,
            window_strides: p.window_strides,
            padding: p.padding,
            base_dilation: p.base_dilation,
            window_dilation: p.window_dilation,
        }
    }

    fn with_window(&self, window: ReduceWindow) -> ReduceWindowBy {
        ReduceWindowBy {
            window_dimensions: window.window_dimensions,
            window_strides: window.window_strides,
            padding: window.padding,
            base_dilation: window.base_dilation,
            window_dilation: window.window_dilation,
            ..self.clone()
        }
    }
}

struct ReducePrim;
struct ReduceWindowPrim;

/// The primitive `reduce`.
pub static REDUCE: PrimRef = PrimRef(&ReducePrim);
/// The primitive `reduce_window`.
pub static REDUCE_WINDOW: PrimRef = PrimRef(&ReduceWindowPrim);

/// Arrays and initial values, which are as many, fit the computation.
fn operands<'a>(name: &str, jaxpr: &JaxprRef, ins: &'a [Aval]) -> Result<(&'a [Aval], &'a [Aval])> {
    let (xs, inits) = ins.split_at(ins.len() / 2);
    let wanted = jaxpr.in_avals();
    let is_scalar = |aval: &Aval| aval.rank() == 0;
    if xs.is_empty()
        || xs.len() != inits.len()
        || wanted.len() != ins.len()
        || !wanted.iter().chain(inits).all(is_scalar)
    {
        bail!(Type, "{name} takes as many scalar initial values as operands, and a computation of both; got {ins:?}");
    }
    if xs.iter().any(|x| x.shape != xs[0].shape) {
        bail!(Value, "{name} operands must have one shape, got {xs:?}");
    }
    let fits = |(x, init): (&Aval, &Aval)| x.dtype == init.dtype;
    if !xs.iter().zip(inits).all(fits) || jaxpr.out_avals().len() != xs.len() {
        bail!(
            Type,
            "{name} operands, initial values and results of the computation must have equal dtypes, got {ins:?}"
        );
    }
    Ok((xs, inits))
}

/// The computation on arrays of one shape, element by element.
fn elementwise(e: &dyn Emit, jaxpr: &JaxprRef, ins: &[Val]) -> Result<Vec<Val>> {
    let shape = ins[0].aval().shape.to_vec();
    let body = flat_body(jaxpr, shape.iter().product())?;
    let flat =
        ins.iter().map(|x| V::new(e, x).reshape(&[shape.iter().product()]).done()).collect::<Result<Vec<Val>>>()?;
    let outs = eval_jaxpr(e, &body, &flat)?;
    outs.iter().map(|out| V::new(e, out).reshape(&shape).done()).collect()
}

/// The computation on vectors of `size`.
fn flat_body(jaxpr: &JaxprRef, size: usize) -> Result<JaxprRef> {
    let batch = Batch { size, name: None, split: None };
    let all = |n: usize| vec![true; n];
    Ok(batch_jaxpr(jaxpr, &batch, &all(jaxpr.invars.len()), &all(jaxpr.outs.len()))?.jaxpr)
}

fn reduce(p: &Reduce, e: &dyn Emit, ins: &[Val]) -> Result<Vals> {
    let (xs, inits) = ins.split_at(ins.len() / 2);
    let shape = xs[0].aval().shape.to_vec();
    let kept: Vec<usize> = (0..shape.len()).filter(|axis| !p.dimensions.contains(axis)).collect();
    let mut reduced = p.dimensions.clone();
    reduced.sort_unstable();
    let order = [&reduced[..], &kept].concat();
    let length = reduced.iter().map(|&axis| shape[axis]).product();
    let kept_shape: Vec<usize> = kept.iter().map(|&axis| shape[axis]).collect();
    let size: usize = kept_shape.iter().product();
    let mut operands = vec![];
    for init in inits {
        operands.push(V::new(e, init).broadcast_in_dim(&[size], &[]).done()?);
    }
    for x in xs {
        operands.push(V::new(e, x).transpose(&order).reshape(&[length, size]).done()?);
    }
    let scan = Scan::new(flat_body(&p.jaxpr, size)?, length, false, 0, inits.len());
    let outs = e.bind(SCAN, &Params::new(scan), &operands)?;
    outs.iter().map(|out| V::new(e, out).reshape(&kept_shape).done()).collect()
}

fn reduce_window(p: &ReduceWindowBy, e: &dyn Emit, ins: &[Val]) -> Result<Vals> {
    let (xs, inits) = ins.split_at(ins.len() / 2);
    let window = p.window();
    let places = window.result_shape("reduce_window", &xs[0].aval().shape)?;
    let config: Vec<PadAxis> =
        p.padding.iter().zip(&p.base_dilation).map(|(pair, &by)| (pair.0, pair.1, by as i64 - 1)).collect();
    let mut padded = vec![];
    for (x, init) in xs.iter().zip(inits) {
        padded.push(V::new(e, x).pad(&V::new(e, init), &config));
    }
    let mut results = vec![];
    for init in inits {
        results.push(V::new(e, init).broadcast_in_dim(&places, &[]).done()?);
    }
    if places.contains(&0) {
        return Ok(results.into());
    }
    let n: usize = p.window_dimensions.iter().product();
    for number in 0..n {
        let (mut rest, mut start) = (number, vec![0; places.len()]);
        for axis in (0..places.len()).rev() {
            start[axis] = rest % p.window_dimensions[axis] * p.window_dilation[axis];
            rest /= p.window_dimensions[axis];
        }
        let limit: Vec<usize> =
            (0..places.len()).map(|axis| start[axis] + (places[axis] - 1) * p.window_strides[axis] + 1).collect();
        let mut args = results;
        for x in &padded {
            args.push(x.slice(&start, &limit, Some(&p.window_strides)).done()?);
        }
        results = elementwise(e, &p.jaxpr, &args)?;
    }
    Ok(results.into())
}

/// What a primitive stands for, as a jaxpr.
fn decomposed(ins: &[Val], make: impl Fn(&dyn Emit, &[Val]) -> Result<Vals>) -> Result<JaxprRef> {
    let builder = Builder::new();
    let args: Vec<Val> = ins.iter().map(|x| builder.input(x.aval())).collect();
    let outs = make(&builder, &args)?;
    Ok(JaxprRef::new(builder.finish(&outs, None).0))
}

fn jvp_of(jaxpr: &JaxprRef, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let nonzero: Vec<bool> = ts.iter().map(Option::is_some).collect();
    let jvp = jvp_jaxpr(jaxpr, &nonzero, &vec![false; jaxpr.outs.len()])?;
    let args: Vec<Val> = xs.iter().cloned().chain(ts.iter().flatten().cloned()).collect();
    let mut outs: Vals = eval_jaxpr(e, &jvp.jaxpr, &args)?.into();
    let tangents: Vec<Val> = outs.drain(jaxpr.outs.len()..).collect();
    let mut tangents = tangents.into_iter();
    let tangents = jvp.nonzero_out.iter().map(|&nonzero| if nonzero { tangents.next() } else { None }).collect();
    Ok((outs, tangents))
}

fn batch_of(
    jaxpr: &JaxprRef,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let batched: Vec<bool> = dims.iter().map(Option::is_some).collect();
    let made = batch_jaxpr(jaxpr, batch, &batched, &vec![true; jaxpr.outs.len()])?;
    let front = |(x, &dim): (&Val, &Option<usize>)| match dim {
        Some(_) => batch_to_front(e, x, dim, batch.size),
        None => Ok(x.clone()),
    };
    let ins = ins.iter().zip(dims).map(front).collect::<Result<Vec<Val>>>()?;
    let outs: Vals = eval_jaxpr(e, &made.jaxpr, &ins)?.into();
    let dims = SmallVec::from_elem(Some(0), outs.len());
    Ok((outs, dims))
}

/// Arrays with their batch axis in front, when no initial value is batched.
fn with_batch_in_front(e: &dyn Emit, batch: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<Option<Vec<Val>>> {
    let n = ins.len() / 2;
    if dims[n..].iter().any(Option::is_some) {
        return Ok(None);
    }
    let xs = ins[..n].iter().zip(dims).map(|(x, &dim)| batch_to_front(e, x, dim, batch.size));
    let xs = xs.collect::<Result<Vec<Val>>>()?;
    Ok(Some([&xs[..], &ins[n..]].concat()))
}

impl Prim for ReducePrim {
    type Params = Reduce;
    const NAME: &'static str = "reduce";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &Reduce, ins: &[Aval]) -> Result<Avals> {
        let (xs, _) = operands("reduce", &p.jaxpr, ins)?;
        let shape = reduced_shape("reduce", xs[0], &p.dimensions)?;
        Ok(xs.iter().map(|x| Aval::new(&shape, x.dtype)).collect())
    }

    fn derivative(&self) -> Derivative<Reduce> {
        Derivative::Jvp(|p, e, xs, ts| jvp_of(&decomposed(xs, |e, ins| reduce(p, e, ins))?, e, xs, ts))
    }

    fn transpose(&self) -> Transpose<Reduce> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<Reduce> {
        Splits::Rule(|p, x| Ok(x.without(&p.dimensions)))
    }

    fn batching(&self) -> Batching<Reduce> {
        Batching::Rule(|p, e, batch, ins, dims| match with_batch_in_front(e, batch, ins, dims)? {
            Some(ins) => {
                let dimensions = p.dimensions.iter().map(|axis| axis + 1).collect();
                let outs = e.bind(REDUCE, &Params::new(Reduce { dimensions, ..p.clone() }), &ins)?;
                let dims = SmallVec::from_elem(Some(0), outs.len());
                Ok((outs, dims))
            }
            None => {
                let unbatched = unbatched_jaxpr(ins, dims, |e, ins| reduce(p, e, ins))?;
                batch_of(&unbatched, e, batch, ins, dims)
            }
        })
    }

    fn cpu(&self, p: &Reduce, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let p = p.clone();
        CpuForm::Decompose(Box::new(move |e, ins| reduce(&p, e, ins)))
    }

    fn hlo(&self) -> Hlo<Reduce> {
        Hlo::Rule(|p, cx, ins, outs| {
            let properties = format!("dimensions = {}", int_array(&p.dimensions));
            by_jaxpr("stablehlo.reduce", &properties, &p.jaxpr, cx, ins, outs)
        })
    }

    // Covered by the tests in Python: there is no sample without a traced function.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
}

/// The decomposition for one example of batched operands.
fn unbatched_jaxpr(
    ins: &[Val],
    dims: &[Option<usize>],
    make: impl Fn(&dyn Emit, &[Val]) -> Result<Vals>,
) -> Result<JaxprRef> {
    let builder = Builder::new();
    let input = |(x, dim): (&Val, &Option<usize>)| {
        let mut shape = x.aval().shape.to_vec();
        if let Some(dim) = dim {
            shape.remove(*dim);
        }
        builder.input(x.aval().with_shape(&shape))
    };
    let args: Vec<Val> = ins.iter().zip(dims).map(input).collect();
    let outs = make(&builder, &args)?;
    Ok(JaxprRef::new(builder.finish(&outs, None).0))
}

impl Prim for ReduceWindowPrim {
    type Params = ReduceWindowBy;
    const NAME: &'static str = "reduce_window";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &ReduceWindowBy, ins: &[Aval]) -> Result<Avals> {
        let (xs, _) = operands("reduce_window", &p.jaxpr, ins)?;
        let shape = p.window().result_shape("reduce_window", &xs[0].shape)?;
        Ok(xs.iter().map(|x| Aval::new(&shape, x.dtype)).collect())
    }

    fn derivative(&self) -> Derivative<ReduceWindowBy> {
        Derivative::Jvp(|p, e, xs, ts| jvp_of(&decomposed(xs, |e, ins| reduce_window(p, e, ins))?, e, xs, ts))
    }

    fn transpose(&self) -> Transpose<ReduceWindowBy> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<ReduceWindowBy> {
        Splits::Rule(|_, x| x.divisible("reduce_window"))
    }

    fn batching(&self) -> Batching<ReduceWindowBy> {
        Batching::Rule(|p, e, batch, ins, dims| match with_batch_in_front(e, batch, ins, dims)? {
            Some(ins) => {
                let params = Params::new(p.with_window(p.window().with_batch_axis(0)));
                let outs = e.bind(REDUCE_WINDOW, &params, &ins)?;
                let dims = SmallVec::from_elem(Some(0), outs.len());
                Ok((outs, dims))
            }
            None => {
                let unbatched = unbatched_jaxpr(ins, dims, |e, ins| reduce_window(p, e, ins))?;
                batch_of(&unbatched, e, batch, ins, dims)
            }
        })
    }

    fn cpu(&self, p: &ReduceWindowBy, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let p = p.clone();
        CpuForm::Decompose(Box::new(move |e, ins| reduce_window(&p, e, ins)))
    }

    fn hlo(&self) -> Hlo<ReduceWindowBy> {
        Hlo::Rule(|p, cx, ins, outs| {
            by_jaxpr("stablehlo.reduce_window", &p.window().properties(), &p.jaxpr, cx, ins, outs)
        })
    }

    // Covered by the tests in Python: there is no sample without a traced function.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }
}

/// An operation whose region is the computation.
fn by_jaxpr(
    name: &str,
    properties: &str,
    jaxpr: &JaxprRef,
    cx: &mut dyn HloCx,
    ins: &[HloValue],
    outs: &[Aval],
) -> Result<HloValues> {
    let mut body = |cx: &mut dyn HloCx, args: &[HloValue]| cx.inline(jaxpr, args);
    let region = HloRegion { args: jaxpr.in_avals(), body: &mut body };
    cx.generic(name, properties, ins, &mut [region], outs)
}
