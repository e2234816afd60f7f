//! The remainder of each quotient, with the sign of the dividend.
//!
//! rem : x[...] y[...] -> [...]        real numbers of one dtype
//! d rem(x, y) = dx - trunc(x/y) dy

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct Rem;

impl BinaryOp for Rem {
    const NAME: &'static str = "rem";
    const ACCEPTS: DTypes = DTypes::REAL;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.remainder");
    const RULE: BinaryRule = BinaryRule::Partial {
        x: Some(|x_dot, _x, _y, _z| x_dot.clone()),
        y: Some(|y_dot, x, y, _z| -y_dot * ((x / y).sign() * (x / y).abs().floor())),
    };
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::Rem, x, y)
    }
}
