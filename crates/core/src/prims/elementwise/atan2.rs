//! The angle of the point (y, x), in radians.
//!
//! atan2 : y[...] x[...] -> [...]        floating or complex, of one dtype
//! d atan2(y, x) = (x dy - y dx) / (x^2 + y^2)

use super::*;
use pullback_loops::Binary as Op;

pub(super) struct Atan2;

impl BinaryOp for Atan2 {
    const NAME: &'static str = "atan2";
    const ACCEPTS: DTypes = DTypes::INEXACT;
    const HLO: Hlo<()> = Hlo::Op("stablehlo.atan2");
    const RULE: BinaryRule = BinaryRule::Partial {
        x: Some(|t, y, x, _z| t * (x / (y.square() + x.square()))),
        y: Some(|t, y, x, _z| t * (-y / (y.square() + x.square()))),
    };
    const DOMAIN: (f64, f64) = (0.5, 5.0);

    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
        loops.binary(Op::Atan2, x, y)
    }

    fn complex(loops: &mut Builder, y: [ValueId; 2], x: [ValueId; 2]) -> Option<Elem> {
        // -i log((x + iy) / sqrt(x² + y²))
        Some(complex_formula2(loops, y, x, |y, x| {
            let dtype = x.re.dtype();
            let (y, x) = (y.to(DType::F64), x.to(DType::F64));
            let turned = x + Complex::new(-y.im, y.re);
            let log = (turned / (x * x + y * y).sqrt()).log();
            Complex::new(log.im, 0.0 - log.re).to(dtype)
        }))
    }
}
