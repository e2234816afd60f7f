//! Values, one for each window, added up where the extreme of their window lies.
//!
//! select_and_scatter_add : values[places...] x[...] -> x[...]
//! Linear in the values; the transpose takes elements from there.

use std::sync::Arc;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloRegion, HloValue, int_array};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val,
    Vals,
};
use pullback_loops::{Body, WindowPick};
use smallvec::smallvec;

use super::select_and_gather_add::check_select;
use super::{PadPair, ReduceWindow, SELECT_AND_GATHER_ADD, SelectAndGatherAdd, batch_in_front, in_single, pairs_text};
use crate::prims::V;

/// Params of `select_and_scatter_add`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct SelectAndScatterAdd {
    /// `ge` for the greatest element, `le` for the least.
    pub select_prim: Arc<str>,
    /// Sizes of the window.
    pub window_dimensions: Vec<usize>,
    /// Steps of the window.
    pub window_strides: Vec<usize>,
    /// Elements before and after.
    pub padding: Vec<PadPair>,
}

impl SelectAndScatterAdd {
    fn window(&self) -> ReduceWindow {
        ReduceWindow::plain(&self.window_dimensions, &self.window_strides, &self.padding)
    }
}

struct SelectAndScatterAddPrim;

/// The primitive `select_and_scatter_add`.
pub static SELECT_AND_SCATTER_ADD: PrimRef = PrimRef(&SelectAndScatterAddPrim);

impl Prim for SelectAndScatterAddPrim {
    type Params = SelectAndScatterAdd;
    const NAME: &'static str = "select_and_scatter_add";

    fn abstract_eval(&self, p: &SelectAndScatterAdd, ins: &[Aval]) -> Result<Avals> {
        let [values, x] = ins else { bail!(Type, "select_and_scatter_add takes 2 operands, got {}", ins.len()) };
        check_select(Self::NAME, &p.select_prim)?;
        let places = p.window().result_shape(Self::NAME, &x.shape)?;
        if values.shape[..] != places[..] || values.dtype != x.dtype {
            bail!(
                Type,
                "select_and_scatter_add takes one value of the operand's dtype for each window, of shape {}, got {values} for {x}",
                tuple_text(&places)
            );
        }
        Ok(smallvec![values.with_shape(&x.shape)])
    }

    fn derivative(&self) -> Derivative<SelectAndScatterAdd> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<SelectAndScatterAdd> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<SelectAndScatterAdd> {
        Splits::Rule(|_, x| Ok(vec![x.specs[1].clone()]))
    }

    fn batching(&self) -> Batching<SelectAndScatterAdd> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let window = p.window().with_batch_axis(0);
            let params = SelectAndScatterAdd {
                select_prim: p.select_prim.clone(),
                window_dimensions: window.window_dimensions,
                window_strides: window.window_strides,
                padding: window.padding,
            };
            batch_in_front(SELECT_AND_SCATTER_ADD, Params::new(params), e, batch.size, ins, dims)
        })
    }

    fn cpu(&self, p: &SelectAndScatterAdd, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (dtype, shape) = (ins[1].dtype, ins[1].shape.to_vec());
        in_single(SELECT_AND_SCATTER_ADD, &Params::new(p.clone()), dtype).unwrap_or_else(|| {
            let pick = WindowPick { dtype, greatest: &*p.select_prim == "ge", shape, axes: p.window().axes() };
            CpuForm::Body(Box::new(Body::WindowScatter(pick)))
        })
    }

    fn hlo(&self) -> Hlo<SelectAndScatterAdd> {
        Hlo::Rule(|p, cx, ins, outs| {
            let (values, x) = (ins[0], ins[1]);
            let init = cx.constant(Scalar::zero(x.aval.dtype));
            let direction = p.select_prim.to_uppercase();
            let mut select =
                |cx: &mut dyn HloCx, args: &[HloValue]| Ok(smallvec![cx.compare(&direction, args[0], args[1])]);
            let mut add =
                |cx: &mut dyn HloCx, args: &[HloValue]| Ok(smallvec![cx.binary("stablehlo.add", args[0], args[1])]);
            let args = || vec![init.aval; 2];
            let mut regions =
                [HloRegion { args: args(), body: &mut select }, HloRegion { args: args(), body: &mut add }];
            let properties = format!(
                "padding = {}, window_dimensions = {}, window_strides = {}",
                pairs_text(&p.padding),
                int_array(&p.window_dimensions),
                int_array(&p.window_strides)
            );
            cx.generic("stablehlo.select_and_scatter", &properties, &[x, values, init], &mut regions, outs)
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |select: &str, strides: &[usize], values: &[usize]| {
            let params = SelectAndScatterAdd {
                select_prim: select.into(),
                window_dimensions: vec![2, 3],
                window_strides: strides.to_vec(),
                padding: vec![PadPair(0, 0), PadPair(1, 1)],
            };
            Sample::new(Params::new(params), DType::F32, (-5.0, 5.0), &[values, &[3, 6]])
        };
        vec![sample("ge", &[1, 2], &[2, 3]), sample("le", &[1, 1], &[2, 6])]
    }
}

fn jvp(p: &SelectAndScatterAdd, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (x, params) = (V::new(e, &xs[1]), Params::new(p.clone()));
    let scatter = |values: &Val| V::new(e, values).bind(SELECT_AND_SCATTER_ADD, &params, &[&x]).done();
    Ok((smallvec![scatter(&xs[0])?], smallvec![ts[0].as_ref().map(scatter).transpose()?]))
}

fn transpose(p: &SelectAndScatterAdd, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let (Some(ct), Some(x)) = (&cts[0], ins[1].known()) else { return Ok(smallvec![None, None]) };
    let params = Params::new(SelectAndGatherAdd::new(&p.select_prim, &p.window()));
    Ok(smallvec![Some(V::new(e, ct).bind(SELECT_AND_GATHER_ADD, &params, &[&V::new(e, x)]).done()?), None])
}
