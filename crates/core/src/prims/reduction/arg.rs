//! The family of indices of extreme elements.

use std::marker::PhantomData;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloRegion, HloValue, HloValues, int_array};
use pullback_ir::lower::{CpuForm, Extreme};
use pullback_ir::{Avals, Batching, Derivative, Hlo, Params, Prim, PrimRef, Sample, Splits, Transpose};
use smallvec::smallvec;

use super::batch_reduction;
use crate::prims::DTypes;
use crate::prims::movement::without;

/// Params of `argmax` and `argmin`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ArgReduce {
    /// The one axis that goes.
    pub axes: Vec<usize>,
    /// Dtype of the result.
    pub index_dtype: DType,
}

/// A member of the family.
pub trait ArgOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// Which extreme.
    const EXTREME: Extreme;
}

/// The family.
pub struct Arg<T>(pub PhantomData<T>);

impl<T: ArgOp> Prim for Arg<T> {
    type Params = ArgReduce;
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, p: &ArgReduce, ins: &[Aval]) -> Result<Avals> {
        let x = ins[0];
        DTypes::ORDERED.check_only(T::NAME, x.dtype)?;
        let [axis] = p.axes[..] else { bail!(Value, "{} takes one axis, got {}", T::NAME, tuple_text(&p.axes)) };
        if axis >= x.rank() {
            bail!(Value, "Invalid axis {axis} for operand shape {}", tuple_text(&x.shape));
        }
        if !p.index_dtype.is_integer() {
            bail!(Type, "index_dtype must be an integer type, but got {}", p.index_dtype);
        }
        if x.shape[axis] == 0 {
            bail!(
                Value,
                "argmin and argmax require non-empty reduced dimension. operand.shape={} axis={axis}",
                tuple_text(&x.shape)
            );
        }
        Ok(smallvec![Aval::new(&without(&x.shape, &[axis]), p.index_dtype)])
    }

    fn derivative(&self) -> Derivative<ArgReduce> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<ArgReduce> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<ArgReduce> {
        Splits::Rule(|p, x| Ok(x.without(&p.axes)))
    }

    fn batching(&self) -> Batching<ArgReduce> {
        Batching::Rule(|p, e, _batch, ins, dims| {
            let params = |axes| Params::new(ArgReduce { axes, index_dtype: p.index_dtype });
            batch_reduction(PrimRef(&Arg::<T>(PhantomData)), params, &p.axes, e, ins, dims)
        })
    }

    fn cpu(&self, p: &ArgReduce, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        CpuForm::ArgReduce { extreme: T::EXTREME, axis: p.axes[0] }
    }

    fn hlo(&self) -> Hlo<ArgReduce> {
        Hlo::Rule(|p, cx, ins, outs| {
            let (x, axis) = (ins[0], p.axes[0]);
            let (init, is_better) = match T::EXTREME {
                Extreme::Max => (Scalar::least(x.aval.dtype), "GT"),
                Extreme::Min => (Scalar::greatest(x.aval.dtype), "LT"),
            };
            let positions = cx.iota(&x.aval.shape, p.index_dtype, axis);
            let inits = [cx.constant(init), cx.constant(Scalar::zero(p.index_dtype))];
            let scalars = inits.map(|init| init.aval);
            let mut body = |cx: &mut dyn HloCx, args: &[HloValue]| Ok(better(cx, is_better, args));
            let region = HloRegion { args: [scalars, scalars].concat(), body: &mut body };
            let results = [Aval::new(&outs[0].shape, x.aval.dtype), outs[0]];
            let operands = [x, positions, inits[0], inits[1]];
            let both = cx.generic(
                "stablehlo.reduce",
                &format!("dimensions = {}", int_array(&[axis])),
                &operands,
                &mut [region],
                &results,
            )?;
            Ok(smallvec![both[1]])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |dtype, shape: &[usize], axis, index_dtype| {
            Sample::new(Params::new(ArgReduce { axes: vec![axis], index_dtype }), dtype, (-5.0, 5.0), &[shape])
        };
        vec![
            sample(DType::F32, &[3, 4], 1, DType::I32),
            sample(DType::F32, &[3, 4], 0, DType::I32),
            sample(DType::F32, &[40], 0, DType::I32),
            sample(DType::I32, &[3, 4], 1, DType::U8),
            sample(DType::Bool, &[3, 4], 1, DType::I32),
        ]
    }
}

/// Of two elements with their positions the better; NaN is better than any number, of equals the first is.
fn better(cx: &mut dyn HloCx, direction: &str, args: &[HloValue]) -> HloValues {
    let &[x, i, y, j] = args else { unreachable!("two pairs") };
    let wins = cx.compare(direction, x, y);
    let equals = cx.compare("EQ", x, y);
    let is_first = cx.compare("LT", i, j);
    let (mut wins, mut ties) = (wins, equals);
    if x.aval.dtype.is_float() {
        let (x_nan, y_nan) = (cx.compare("NE", x, x), cx.compare("NE", y, y));
        let (y_number, both) = (cx.unary("stablehlo.not", y_nan), cx.binary("stablehlo.and", x_nan, y_nan));
        let only_x = cx.binary("stablehlo.and", x_nan, y_number);
        wins = cx.binary("stablehlo.or", wins, only_x);
        ties = cx.binary("stablehlo.or", ties, both);
    }
    let first_of_equals = cx.binary("stablehlo.and", ties, is_first);
    let is_x = cx.binary("stablehlo.or", wins, first_of_equals);
    smallvec![cx.select(is_x, x, y), cx.select(is_x, i, j)]
}
