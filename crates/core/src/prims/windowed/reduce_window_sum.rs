//! Sums over windows.
//!
//! reduce_window_sum : x[...] -> [places...]        x a number
//! Linear; the transpose sums windows of the cotangent, laid out by the strides.

use pullback_base::{Aval, DType, Result, Scalar};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Avals, Batching, Derivative, Emit, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose, Val};
use pullback_loops::{Body, Combine, Window};
use smallvec::smallvec;

use super::{PadPair, ReduceWindow, in_single, one_operand, reduce_window_hlo};
use crate::prims::{DTypes, PadAxis, V, zeros};

struct ReduceWindowSum;

/// The primitive `reduce_window_sum`.
pub static REDUCE_WINDOW_SUM: PrimRef = PrimRef(&ReduceWindowSum);

impl Prim for ReduceWindowSum {
    type Params = ReduceWindow;
    const NAME: &'static str = "reduce_window_sum";

    fn abstract_eval(&self, p: &ReduceWindow, ins: &[Aval]) -> Result<Avals> {
        let x = one_operand(Self::NAME, ins)?;
        DTypes::NUMBER.check("reduce_window_sum", 0, x.dtype)?;
        Ok(smallvec![x.with_shape(&p.result_shape(Self::NAME, &x.shape)?)])
    }

    fn derivative(&self) -> Derivative<ReduceWindow> {
        Derivative::Linear(zeros)
    }

    fn transpose(&self) -> Transpose<ReduceWindow> {
        Transpose::Rule(|p, e, cts, ins| {
            let x_ct = cts[0].as_ref().map(|ct| x_ct(p, e, ct, &ins[0].aval().shape)).transpose()?;
            Ok(smallvec![x_ct])
        })
    }

    fn splits(&self) -> Splits<ReduceWindow> {
        Splits::Rule(|_, x| x.divisible("reduce_window"))
    }

    fn batching(&self) -> Batching<ReduceWindow> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let dim = dims[0].expect("the only operand is batched");
            let outs = e.bind(REDUCE_WINDOW_SUM, &Params::new(p.with_batch_axis(dim)), ins)?;
            Ok((outs, smallvec![Some(dim)]))
        })
    }

    fn cpu(&self, p: &ReduceWindow, ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (dtype, shape) = (ins[0].dtype, ins[0].shape.to_vec());
        in_single(REDUCE_WINDOW_SUM, &Params::new(p.clone()), dtype).unwrap_or_else(|| {
            CpuForm::Body(Box::new(Body::Window(Window { dtype, combine: Combine::Add, shape, axes: p.axes() })))
        })
    }

    fn hlo(&self) -> Hlo<ReduceWindow> {
        Hlo::Rule(|p, cx, ins, outs| {
            let zero = Scalar::zero(ins[0].aval.dtype);
            reduce_window_hlo(p, cx, ins[0], (zero, "stablehlo.add"), outs)
        })
    }

    fn samples(&self) -> Vec<Sample> {
        samples(&[DType::F32, DType::I32, DType::C64])
    }
}

/// Applications that all reductions over windows have.
pub(super) fn samples(dtypes: &[DType]) -> Vec<Sample> {
    let window = |sizes: &[usize], strides: &[usize], padding: &[PadPair]| ReduceWindow::plain(sizes, strides, padding);
    let dilated =
        ReduceWindow { base_dilation: vec![2], window_dilation: vec![2], ..window(&[2], &[1], &[PadPair(1, 2)]) };
    let mut samples = vec![];
    for &dtype in dtypes {
        let mut sample = |p: ReduceWindow, shape: &[usize]| {
            samples.push(Sample::new(Params::new(p), dtype, (-5.0, 5.0), &[shape]));
        };
        sample(window(&[3], &[1], &[PadPair(0, 0)]), &[7]);
        sample(window(&[2, 3], &[2, 1], &[PadPair(1, 0), PadPair(1, 1)]), &[4, 5]);
        sample(window(&[1, 2], &[1, 2], &[PadPair(0, 0), PadPair(0, 0)]), &[3, 6]);
        sample(dilated.clone(), &[4]);
        sample(window(&[2], &[1], &[PadPair(0, 0)]), &[1]);
    }
    samples
}

fn x_ct(p: &ReduceWindow, e: &dyn Emit, ct: &Val, shape: &[usize]) -> Result<Val> {
    let ct = V::new(e, ct);
    if ct.aval().size() == 0 {
        return zeros(e, ct.aval().with_shape(shape));
    }
    let pairs = p.ct_padding(shape, &ct.aval().shape);
    let config: Vec<PadAxis> =
        pairs.iter().zip(&p.window_strides).map(|(pair, &stride)| (pair.0, pair.1, stride as i64 - 1)).collect();
    let params = ReduceWindow {
        window_strides: p.base_dilation.clone(),
        padding: vec![PadPair(0, 0); shape.len()],
        base_dilation: vec![1; shape.len()],
        ..p.clone()
    };
    ct.pad(&ct.number(0.0), &config).bind(REDUCE_WINDOW_SUM, &Params::new(params), &[]).done()
}
