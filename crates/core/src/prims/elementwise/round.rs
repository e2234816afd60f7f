//! Each element rounded to an integer, still as a float.
//!
//! round : x[...] -> x[...]        x floating
//! No derivative.

use super::*;
use pullback_ir::lower::unary_op;
use pullback_ir::{ParamField, ParamValue, Splits};
use pullback_loops::Unary as Op;

/// Where halves go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RoundingMethod {
    /// Away from zero; prints as 0.
    AwayFromZero,
    /// To the even neighbour; prints as 1.
    ToNearestEven,
}

impl ParamField for RoundingMethod {
    fn to_value(&self) -> ParamValue {
        ParamValue::Int(match self {
            RoundingMethod::AwayFromZero => 0,
            RoundingMethod::ToNearestEven => 1,
        })
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Int(0) => Some(RoundingMethod::AwayFromZero),
            ParamValue::Int(1) => Some(RoundingMethod::ToNearestEven),
            _ => None,
        }
    }
}

/// Params of `round`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct Round {
    /// Where halves go.
    pub rounding_method: RoundingMethod,
}

struct RoundPrim;

/// The primitive `round`.
pub static ROUND: PrimRef = prim(&RoundPrim);

impl<'e> V<'e> {
    /// Rounded to integers.
    pub fn round(&self, rounding_method: RoundingMethod) -> V<'e> {
        self.bind(ROUND, &Params::new(Round { rounding_method }), &[])
    }
}

impl Prim for RoundPrim {
    type Params = Round;
    const NAME: &'static str = "round";

    fn abstract_eval(&self, _: &Round, ins: &[Aval]) -> Result<Avals> {
        let x = unary::one("round", ins)?;
        DTypes::FLOAT.check_only("round", x.dtype)?;
        Ok(smallvec![x])
    }

    fn derivative(&self) -> Derivative<Round> {
        Derivative::Zero
    }

    fn transpose(&self) -> Transpose<Round> {
        Transpose::NotLinear
    }

    fn splits(&self) -> Splits<Round> {
        Splits::Pointwise
    }

    fn batching(&self) -> Batching<Round> {
        Batching::Pointwise
    }

    fn cpu(&self, p: &Round, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        unary_op(match p.rounding_method {
            RoundingMethod::AwayFromZero => Op::RoundAway,
            RoundingMethod::ToNearestEven => Op::RoundEven,
        })
    }

    fn hlo(&self) -> Hlo<Round> {
        Hlo::Rule(|p, cx, ins, _| {
            let name = match p.rounding_method {
                RoundingMethod::AwayFromZero => "stablehlo.round_nearest_afz",
                RoundingMethod::ToNearestEven => "stablehlo.round_nearest_even",
            };
            Ok(smallvec![cx.unary(name, ins[0])])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        [RoundingMethod::AwayFromZero, RoundingMethod::ToNearestEven]
            .map(|rounding_method| {
                Sample::new(Params::new(Round { rounding_method }), DType::F32, (-5.0, 5.0), &[&[2, 3]])
            })
            .to_vec()
    }
}
