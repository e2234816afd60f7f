//! Each element's position along an axis.
//!
//! iota : -> [shape]        integers or floats
//! No operands, so no derivative.

use crate::prims::splits::whole;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::lower::{CpuForm, Elem, value_dtype};
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, OutSharding, Params, Prim, PrimRef, Sample, Splits, Transpose,
};
use smallvec::smallvec;

use crate::prims::{DTypes, V};

/// Params of `iota`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Iota {
    /// Dtype of the result.
    pub dtype: DType,
    /// Shape of the result.
    pub shape: Vec<usize>,
    /// The axis whose positions count.
    pub dimension: usize,
    /// How the result is asked to be split.
    pub sharding: Option<OutSharding>,
}

struct IotaPrim;

/// The primitive `iota`.
pub static IOTA: PrimRef = PrimRef(&IotaPrim);

/// Positions along an axis.
///
/// # Errors
/// What the emitter raises.
pub fn iota<'e>(e: &'e dyn Emit, dtype: DType, shape: &[usize], dimension: usize) -> Result<V<'e>> {
    let params = Iota { dtype, shape: shape.to_vec(), dimension, sharding: None };
    Ok(V::new(e, &e.bind(IOTA, &Params::new(params), &[])?[0]))
}

impl Prim for IotaPrim {
    type Params = Iota;
    const NAME: &'static str = "iota";

    fn abstract_eval(&self, p: &Iota, _ins: &[Aval]) -> Result<Avals> {
        DTypes::NUMBER.check_only("iota", p.dtype)?;
        if p.dimension >= p.shape.len() {
            bail!(
                Value,
                "iota dimension must be between 0 and len(shape), got dimension={} for shape={}",
                p.dimension,
                tuple_text(&p.shape)
            );
        }
        Ok(smallvec![Aval::new(&p.shape, p.dtype)])
    }

    fn derivative(&self) -> Derivative<Iota> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<Iota> {
        Transpose::NotLinear
    }

    fn asked<'a>(&self, p: &'a Iota) -> Option<&'a OutSharding> {
        p.sharding.as_ref()
    }

    fn splits(&self) -> Splits<Iota> {
        Splits::Rule(whole)
    }

    fn batching(&self) -> Batching<Iota> {
        // Without operands nothing is batched; the rule is there for emitters that ask all the same.
        Batching::Rule(|p, e, _batch, ins, _dims| Ok((e.bind(IOTA, &Params::new(p.clone()), ins)?, smallvec![None])))
    }

    fn cpu(&self, p: &Iota, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (dtype, dimension) = (p.dtype, p.dimension);
        CpuForm::Element(Box::new(move |cx, index| {
            let loops = cx.loops();
            let position = index[dimension].value(loops);
            let re = loops.convert(value_dtype(dtype), position);
            if !dtype.is_complex() {
                return Ok(Elem::One(re));
            }
            let zero = loops.constant(Scalar::zero(value_dtype(dtype)));
            Ok(Elem::Two(re, zero))
        }))
    }

    fn hlo(&self) -> Hlo<Iota> {
        Hlo::Attributes("stablehlo.iota", |p, _| format!("dim = {}", p.dimension))
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |dtype, shape: &[usize], dimension| {
            let params = Iota { dtype, shape: shape.to_vec(), dimension, sharding: None };
            Sample { params: Params::new(params), ins: vec![] }
        };
        vec![
            sample(DType::I32, &[5], 0),
            sample(DType::F32, &[2, 3], 1),
            sample(DType::U8, &[2, 300], 1),
            sample(DType::C64, &[3], 0),
            sample(DType::I32, &[0], 0),
        ]
    }
}
