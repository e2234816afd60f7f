//! Each element converted to another dtype by value.
//!
//! convert_element_type : x[...] -> [...]        floats to integers saturate, integers wrap, `bool` is "not zero",
//!                                              complex to any real dtype drops the imaginary part
//! Linear between inexact dtypes; the transpose converts back. To and from others there is no derivative.

use super::*;
use pullback_base::Scalar;
use pullback_ir::Splits;
use pullback_ir::lower::{is_small_integer, value_dtype};

/// Params of `convert_element_type`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ConvertElementType {
    /// Dtype of the result.
    pub new_dtype: DType,
    /// Whether the result yields in promotion.
    pub weak_type: bool,
    /// Always `None` until arrays have shardings.
    #[param(hidden)]
    pub sharding: Option<bool>,
}

struct Convert;

/// The primitive `convert_element_type`.
pub static CONVERT_ELEMENT_TYPE: PrimRef = prim(&Convert);

impl<'e> V<'e> {
    /// As another dtype, strongly typed; nothing when it is the same.
    pub fn convert(&self, dtype: DType) -> V<'e> {
        self.convert_weakly(dtype, false)
    }

    /// As another dtype and weak type; nothing when both are the same.
    pub fn convert_weakly(&self, new_dtype: DType, weak_type: bool) -> V<'e> {
        let aval = self.aval();
        if aval.dtype == new_dtype && aval.weak_type == weak_type {
            return self.clone();
        }
        let params = ConvertElementType { new_dtype, weak_type, sharding: None };
        self.bind(CONVERT_ELEMENT_TYPE, &Params::new(params), &[])
    }
}

impl Prim for Convert {
    type Params = ConvertElementType;
    const NAME: &'static str = "convert_element_type";

    fn abstract_eval(&self, p: &ConvertElementType, ins: &[Aval]) -> Result<Avals> {
        let x = unary::one("convert_element_type", ins)?;
        if (x.dtype.is_key() || p.new_dtype.is_key()) && x.dtype != p.new_dtype {
            bail!(Type, "Cannot convert between dtype {} and dtype {}.", x.dtype, p.new_dtype);
        }
        Ok(smallvec![Aval::with_weak_type(&x.shape, p.new_dtype, p.weak_type)])
    }

    fn derivative(&self) -> Derivative<ConvertElementType> {
        Derivative::Jvp(|p, e, xs, ts| {
            let out = e.bind(CONVERT_ELEMENT_TYPE, &Params::new(p.clone()), xs)?;
            let t = ts[0].as_ref().filter(|_| p.new_dtype.is_inexact());
            let dot = t.map(|t| V::new(e, t).convert_weakly(p.new_dtype, p.weak_type).done());
            Ok((out, smallvec![dot.transpose()?]))
        })
    }

    fn transpose(&self) -> Transpose<ConvertElementType> {
        Transpose::Rule(|_, e, cts, ins| {
            let x = ins[0].aval();
            let ct = cts[0].as_ref().map(|ct| V::new(e, ct).convert_weakly(x.dtype, x.weak_type).done());
            Ok(smallvec![ct.transpose()?])
        })
    }

    fn splits(&self) -> Splits<ConvertElementType> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<ConvertElementType> {
        Batching::Pointwise
    }

    fn cpu(&self, p: &ConvertElementType, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let (to, part) = (p.new_dtype, value_dtype(p.new_dtype));
        CpuForm::Scalar(Box::new(move |loops, ins| match (ins[0], to) {
            (Elem::Two(first, second), key) if key.is_key() => Elem::Two(first, second),
            (Elem::Two(re, im), _) if to.is_complex() => Elem::Two(loops.convert(part, re), loops.convert(part, im)),
            (Elem::Two(re, _), _) => Elem::One(converted(loops, re, to)),
            (Elem::One(x), _) if to.is_complex() => {
                Elem::Two(loops.convert(part, x), loops.constant(Scalar::zero(part)))
            }
            (Elem::One(x), _) => Elem::One(converted(loops, x, to)),
        }))
    }

    fn hlo(&self) -> Hlo<ConvertElementType> {
        Hlo::Rule(|p, cx, ins, _| {
            let x = ins[0];
            if p.new_dtype == DType::Bool && x.aval.dtype != DType::Bool {
                let zero = cx.full(Scalar::zero(x.aval.dtype), &x.aval.shape);
                return Ok(smallvec![cx.compare("NE", x, zero)]);
            }
            let is_part = x.aval.dtype.is_complex() && !p.new_dtype.is_complex();
            let x =
                if is_part { cx.one("stablehlo.real", "", &[x], x.aval.with_dtype(x.aval.dtype.real())) } else { x };
            Ok(smallvec![cx.convert(x, p.new_dtype)])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |from, new_dtype, domain| {
            let params = ConvertElementType { new_dtype, weak_type: false, sharding: None };
            Sample::new(Params::new(params), from, domain, &[&[2, 3]])
        };
        use DType::{BF16, Bool, C64, F8E4M3FN, F16, F32, I4, I8, I32, U4, U8, U32};
        let pairs = [
            (F32, BF16),
            (F32, F16),
            (F32, I32),
            (F32, U8),
            (F32, Bool),
            (F32, C64),
            (F32, F32),
            (I32, F32),
            (I32, I8),
            (I32, U32),
            (I32, Bool),
            (U8, F32),
            (Bool, F32),
            (Bool, I32),
            (BF16, F32),
            (F16, I32),
            (F32, F8E4M3FN),
            (F8E4M3FN, F16),
            (F32, I4),
            (I32, U4),
            (I4, F32),
            (C64, F32),
            (C64, Bool),
        ];
        pairs.map(|(from, to)| sample(from, to, if from == U8 { (0.0, 9.0) } else { (-5.0, 5.0) })).to_vec()
    }
}

/// Of floats to integers below eight bits the value is moved into their range first, as other integers saturate.
fn converted(loops: &mut Builder, x: ValueId, to: DType) -> ValueId {
    if !is_small_integer(to) || !loops.dtype(x).is_float() {
        return loops.convert(value_dtype(to), x);
    }
    let end = |loops: &mut Builder, end: Scalar| {
        let end = end.convert(loops.dtype(x));
        loops.constant(end)
    };
    let (least, greatest) = (end(loops, Scalar::least(to)), end(loops, Scalar::greatest(to)));
    let raised = loops.binary(pullback_loops::Binary::Max, x, least);
    let bounded = loops.binary(pullback_loops::Binary::Min, raised, greatest);
    loops.convert(value_dtype(to), bounded)
}
