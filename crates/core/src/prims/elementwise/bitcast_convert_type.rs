//! The bits of each element read as another dtype.
//!
//! bitcast_convert_type : x[...] -> [...]        of one width; a narrower dtype adds a last axis, a wider one takes it
//! No derivative.

use super::*;
use crate::prims::batch_to_front;
use crate::prims::splits::leading;
use pullback_ir::Splits;
use pullback_ir::lower::{ElementCx, Index, bits_dtype, bits_of, of_bits};

/// Params of `bitcast_convert_type`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct BitcastConvertType {
    /// Dtype of the result.
    pub new_dtype: DType,
}

struct Bitcast;

/// The primitive `bitcast_convert_type`.
pub static BITCAST_CONVERT_TYPE: PrimRef = prim(&Bitcast);

impl<'e> V<'e> {
    /// The bits as another dtype.
    pub fn bitcast(&self, new_dtype: DType) -> V<'e> {
        self.bind(BITCAST_CONVERT_TYPE, &Params::new(BitcastConvertType { new_dtype }), &[])
    }
}

fn result_shape(x: Aval, to: DType) -> Result<Vec<usize>> {
    let width = |dtype: DType| if dtype == DType::Bool { 8 } else { dtype.bits() as usize };
    let (old, new) = (width(x.dtype), width(to));
    let mut shape = x.shape.to_vec();
    if old > new {
        shape.push(old / new);
    } else if old < new {
        let last = shape.pop().unwrap_or(0);
        if last * old != new {
            bail!(
                Value,
                "Attempting to convert array of shape {} from {} of size {old} bits to {to} of size {new}, bits but {last} * \
                 {old} != {new}",
                tuple_text(&x.shape),
                x.dtype
            );
        }
    }
    Ok(shape)
}

impl Prim for Bitcast {
    type Params = BitcastConvertType;
    const NAME: &'static str = "bitcast_convert_type";

    fn abstract_eval(&self, p: &BitcastConvertType, ins: &[Aval]) -> Result<Avals> {
        let x = unary::one("bitcast_convert_type", ins)?;
        let shape = result_shape(x, p.new_dtype)?;
        let is_number = |dtype: DType| dtype.is_integer() || dtype.is_float();
        if x.dtype != p.new_dtype && !(is_number(x.dtype) && is_number(p.new_dtype)) {
            bail!(
                Type,
                "lax.bitcast_convert_type does not support bool or complex values unless the operand and destination types \
                 match. Got operand dtype={}, new_dtype={}. Consider using the arr.view() method instead.",
                x.dtype,
                p.new_dtype
            );
        }
        Ok(smallvec![Aval::new(&shape, p.new_dtype)])
    }

    fn derivative(&self) -> Derivative<BitcastConvertType> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<BitcastConvertType> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<BitcastConvertType> {
        Splits::Rule(leading)
    }

    fn batching(&self) -> Batching<BitcastConvertType> {
        Batching::Rule(|p, e, batch, ins, dims| {
            let x = batch_to_front(e, &ins[0], dims[0], batch.size)?;
            Ok((smallvec![V::new(e, &x).bitcast(p.new_dtype).done()?], smallvec![Some(0)]))
        })
    }

    fn cpu(&self, _: &BitcastConvertType, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        let (from, to) = (ins[0].dtype, outs[0].dtype);
        if from.bits() == to.bits() {
            // Below a byte the spare bits say which dtype it is.
            return if from == to || from.bits() >= 8 {
                CpuForm::Alias
            } else {
                CpuForm::Scalar(Box::new(move |loops, ins| {
                    let bits = bits_of(loops, from, ins[0].one());
                    Elem::One(of_bits(loops, to, bits))
                }))
            };
        }
        if from.bits() > to.bits() {
            CpuForm::Element(Box::new(move |cx, index| narrower(cx, index, from, to)))
        } else {
            CpuForm::Element(Box::new(move |cx, index| wider(cx, index, from, to)))
        }
    }

    fn hlo(&self) -> Hlo<BitcastConvertType> {
        Hlo::Attributes("stablehlo.bitcast_convert", |_, _| String::new())
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |from, new_dtype, shape: &[usize]| {
            Sample::new(Params::new(BitcastConvertType { new_dtype }), from, (0.0, 5.0), &[shape])
        };
        vec![
            sample(DType::F32, DType::U32, &[2, 3]),
            sample(DType::I32, DType::F32, &[3]),
            sample(DType::F32, DType::U8, &[2, 3]),
            sample(DType::U8, DType::I32, &[3, 4]),
            sample(DType::F32, DType::F32, &[3]),
            sample(DType::BF16, DType::U16, &[2, 3]),
            sample(DType::F16, DType::I16, &[2, 3]),
            sample(DType::U16, DType::F16, &[5]),
            sample(DType::U16, DType::BF16, &[5]),
            sample(DType::U32, DType::BF16, &[2, 3]),
            sample(DType::F16, DType::U32, &[3, 2]),
            sample(DType::F8E5M2, DType::U8, &[3]),
            sample(DType::U8, DType::I4, &[3]),
            sample(DType::U4, DType::I4, &[3]),
            sample(DType::U4, DType::U8, &[3, 2]),
        ]
    }
}

/// One of the parts of a wider element, counted from its low end by the last index.
fn narrower(cx: &mut dyn ElementCx, index: &[Index], from: DType, to: DType) -> Result<Elem> {
    let (part, source) = index.split_last().expect("the result has the axis of parts");
    let whole = cx.operand(0, source)?.one();
    let loops = cx.loops();
    let wide = bits_of(loops, from, whole);
    let part = part.times(i64::from(to.bits()), loops).value(loops);
    let amount = loops.convert(bits_dtype(from), part);
    let shifted = loops.binary(pullback_loops::Binary::ShiftRightLogical, wide, amount);
    let low = loops.convert(bits_dtype(to), shifted);
    Ok(Elem::One(of_bits(loops, to, low)))
}

/// An element put together from its parts, the low one first.
fn wider(cx: &mut dyn ElementCx, index: &[Index], from: DType, to: DType) -> Result<Elem> {
    let mut whole = None;
    for part in 0..to.bits() / from.bits() {
        let source: Vec<Index> = index.iter().cloned().chain([Index::constant(part.into())]).collect();
        let low = cx.operand(0, &source)?.one();
        let loops = cx.loops();
        let low = bits_of(loops, from, low);
        let wide = loops.convert(bits_dtype(to), low);
        let placed = Formula::new(loops).term(wide).shifted_up(i128::from(part * from.bits())).id();
        whole = Some(whole.map_or(placed, |whole| loops.binary(pullback_loops::Binary::Or, whole, placed)));
    }
    let whole = whole.expect("a wider element has parts");
    Ok(Elem::One(of_bits(cx.loops(), to, whole)))
}
