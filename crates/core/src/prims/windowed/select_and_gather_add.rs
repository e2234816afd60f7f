//! The elements of one array where the extreme of each window of another lies.
//!
//! select_and_gather_add : values[...] x[...] -> [places...]        zero for a window outside of x
//! Linear in the values; the transpose adds up where they came from.

use std::sync::Arc;

use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloRegion, HloValue};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val,
    Vals,
};
use pullback_loops::{Body, WindowPick};
use smallvec::smallvec;

use super::{PadPair, ReduceWindow, SELECT_AND_SCATTER_ADD, SelectAndScatterAdd, batch_in_front, in_single};
use crate::prims::{PadAxis, V};

/// Params of `select_and_gather_add`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct SelectAndGatherAdd {
    /// `ge` for the greatest element, `le` for the least.
    pub select_prim: Arc<str>,
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

impl SelectAndGatherAdd {
    pub(super) fn new(select: &str, p: &ReduceWindow) -> SelectAndGatherAdd {
        let p = p.clone();
        SelectAndGatherAdd {
            select_prim: select.into(),
            window_dimensions: p.window_dimensions,
            window_strides: p.window_strides,
            padding: p.padding,
            base_dilation: p.base_dilation,
            window_dilation: p.window_dilation,
        }
    }

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
}

struct SelectAndGatherAddPrim;

/// The primitive `select_and_gather_add`.
pub static SELECT_AND_GATHER_ADD: PrimRef = PrimRef(&SelectAndGatherAddPrim);

pub(super) fn check_select(name: &str, select: &str) -> Result<()> {
    if !matches!(select, "ge" | "le") {
        bail!(Value, "{name} selects by ge or le, got {select}");
    }
    Ok(())
}

impl Prim for SelectAndGatherAddPrim {
    type Params = SelectAndGatherAdd;
    const NAME: &'static str = "select_and_gather_add";

    fn abstract_eval(&self, p: &SelectAndGatherAdd, ins: &[Aval]) -> Result<Avals> {
        let [values, x] = ins else { bail!(Type, "select_and_gather_add takes 2 operands, got {}", ins.len()) };
        check_select(Self::NAME, &p.select_prim)?;
        if values.shape != x.shape || values.dtype != x.dtype {
            bail!(Type, "select_and_gather_add takes operands of one shape and dtype, got {values} and {x}");
        }
        Ok(smallvec![values.with_shape(&p.window().result_shape(Self::NAME, &x.shape)?)])
    }

    fn derivative(&self) -> Derivative<SelectAndGatherAdd> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<SelectAndGatherAdd> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<SelectAndGatherAdd> {
        Splits::Rule(|_, x| x.divisible("reduce_window"))
    }

    fn batching(&self) -> Batching<SelectAndGatherAdd> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let params = SelectAndGatherAdd::new(&p.select_prim, &p.window().with_batch_axis(0));
            batch_in_front(SELECT_AND_GATHER_ADD, Params::new(params), e, batch.size, ins, dims)
        })
    }

    fn cpu(&self, p: &SelectAndGatherAdd, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (dtype, shape) = (ins[1].dtype, ins[1].shape.to_vec());
        in_single(SELECT_AND_GATHER_ADD, &Params::new(p.clone()), dtype).unwrap_or_else(|| {
            let pick = WindowPick { dtype, greatest: &*p.select_prim == "ge", shape, axes: p.window().axes() };
            CpuForm::Body(Box::new(Body::WindowGather(pick)))
        })
    }

    fn hlo(&self) -> Hlo<SelectAndGatherAdd> {
        Hlo::Rule(|p, cx, ins, outs| {
            let (values, x, dtype) = (ins[0], ins[1], ins[1].aval.dtype);
            let worst = if &*p.select_prim == "ge" { Scalar::least(dtype) } else { Scalar::greatest(dtype) };
            let inits = [cx.constant(worst), cx.constant(Scalar::zero(dtype))];
            let direction = p.select_prim.to_uppercase();
            let mut body = |cx: &mut dyn HloCx, args: &[HloValue]| {
                let stays = cx.compare(&direction, args[0], args[2]);
                Ok(smallvec![cx.select(stays, args[0], args[2]), cx.select(stays, args[1], args[3])])
            };
            let region = HloRegion { args: vec![inits[0].aval; 4], body: &mut body };
            let operands = [x, values, inits[0], inits[1]];
            let properties = p.window().properties();
            let both =
                cx.generic("stablehlo.reduce_window", &properties, &operands, &mut [region], &[outs[0], outs[0]])?;
            Ok(smallvec![both[1]])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |select: &str, window: ReduceWindow, shape: &[usize]| {
            Sample::new(Params::new(SelectAndGatherAdd::new(select, &window)), DType::F32, (-5.0, 5.0), &[shape, shape])
        };
        let plain = ReduceWindow::plain(&[2, 3], &[1, 2], &[PadPair(0, 0), PadPair(1, 1)]);
        vec![sample("ge", plain.clone(), &[3, 6]), sample("le", plain, &[3, 6])]
    }
}

fn jvp(p: &SelectAndGatherAdd, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (x, params) = (V::new(e, &xs[1]), Params::new(p.clone()));
    let gather = |values: &Val| V::new(e, values).bind(SELECT_AND_GATHER_ADD, &params, &[&x]).done();
    Ok((smallvec![gather(&xs[0])?], smallvec![ts[0].as_ref().map(gather).transpose()?]))
}

fn transpose(p: &SelectAndGatherAdd, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let (Some(ct), Some(x)) = (&cts[0], ins[1].known()) else { return Ok(smallvec![None, None]) };
    if p.window_dilation.iter().any(|&dilation| dilation != 1) {
        bail!(NotImplemented, "VJP not implemented for select_and_gather (MaxPool) with window dilation.");
    }
    // What lies between the elements is never chosen.
    let apart: Vec<PadAxis> = p.base_dilation.iter().map(|&dilation| (0, 0, dilation as i64 - 1)).collect();
    let x = V::new(e, x);
    let dtype = x.aval().dtype;
    let worst = if &*p.select_prim == "ge" { Scalar::least(dtype) } else { Scalar::greatest(dtype) };
    let spread = x.pad(&V::new(e, &Val::Literal(worst)), &apart);
    let params = SelectAndScatterAdd {
        select_prim: p.select_prim.clone(),
        window_dimensions: p.window_dimensions.clone(),
        window_strides: p.window_strides.clone(),
        padding: p.padding.clone(),
    };
    let ct = V::new(e, ct).bind(SELECT_AND_SCATTER_ADD, &Params::new(params), &[&spread]);
    let zeros = vec![0; p.base_dilation.len()];
    let ends = &spread.aval().shape;
    Ok(smallvec![Some(ct.slice(&zeros, ends, Some(&p.base_dilation)).done()?), None])
}
