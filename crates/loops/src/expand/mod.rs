//! Symbolic mathematics to basic operations, one family a file.
//!
//! The formulas are free of branches, so they run in lanes. `float32` is within 2 ulp for `exp`, `log`, `sin`, `cos`,
//! `tanh`, `logistic`, `erf`, `pow` and within 4 for the rest, but for `erf_inv` next to ±1 (see `single`); `float64` is within
//! 4, but for what `gamma` says. `docs/accuracy.md` holds what was measured. Subnormal arguments count as zero, as the mode
//! of running has it. What the formulas share with the program is computed once in a block; what nobody
//! reads is dropped.

mod coefficients;
mod erf;
mod exp;
mod gamma;
mod hyperbolic;
mod inverse_trig;
mod log;
mod math;
mod pow;
mod single;
mod trig;

use crate::builder::Builder;
use crate::dead::remove_dead;
use crate::program::*;
use math::Math;

/// The program with symbolic operations replaced by basic ones.
pub fn expand(program: &Program) -> Program {
    let mut symbolic = false;
    crate::visit::for_each_inst(&program.body, &mut |inst| symbolic |= inst.op.is_symbolic());
    if !symbolic {
        return program.clone();
    }
    let renames = (0..program.values.len() as u32).map(ValueId).collect();
    let mut expander = Expander { b: Builder::over(program), renames, quadrants: None };
    expander.insts(&program.body);
    let mut expanded = expander.b.finish();
    remove_dead(&mut expanded);
    expanded
}

struct Expander {
    b: Builder,
    /// What each value of the old program is now.
    renames: Vec<ValueId>,
    quadrants: Option<BufferId>,
}

impl Expander {
    fn block(&mut self, block: &[Inst]) -> Vec<Inst> {
        self.b.open();
        self.insts(block);
        self.b.close()
    }

    fn insts(&mut self, block: &[Inst]) {
        for inst in block {
            let op = self.renamed(&inst.op);
            match op {
                Op::Unary(op, x) if op.is_symbolic() => {
                    let value = self.math(x).unary(op, x);
                    self.renames[inst.dst.index()] = value;
                }
                Op::Binary(op @ (Binary::Pow | Binary::Atan2), x, y) => {
                    let mut math = self.math(x);
                    let value = if op == Binary::Pow { math.pow(x, y) } else { math.atan2(x, y) };
                    self.renames[inst.dst.index()] = value;
                }
                op => self.b.push_inst(Inst { dst: inst.dst, op }),
            }
        }
    }

    fn math(&mut self, x: ValueId) -> Math<'_> {
        let dtype = self.b.dtype(x);
        Math { b: &mut self.b, dtype, quadrants: &mut self.quadrants }
    }

    fn renamed(&mut self, op: &Op) -> Op {
        let mut op = op.clone();
        let renames = &self.renames;
        op.map_operands(|value| renames[value.index()]);
        match &mut op {
            Op::For(inner) => inner.body = self.block(&inner.body),
            Op::While(inner) => {
                // The body may read what the header computes.
                self.b.open();
                self.insts(&inner.header);
                let header_len = self.b.open_len();
                self.insts(&inner.body);
                let mut header = self.b.close();
                inner.body = header.split_off(header_len);
                inner.header = header;
            }
            Op::Switch(inner) => inner.branches = inner.branches.iter().map(|branch| self.block(branch)).collect(),
            _ => {}
        }
        let renames = &self.renames;
        op.map_yields(|value| renames[value.index()]);
        op
    }
}

impl Math<'_> {
    fn unary(&mut self, op: Unary, x: ValueId) -> ValueId {
        match op {
            Unary::Exp => self.exp(x),
            Unary::Exp2 => self.exp2(x),
            Unary::Expm1 => self.expm1(x),
            Unary::Log => self.log(x),
            Unary::Log2 => self.log2(x),
            Unary::Log1p => self.log1p(x),
            Unary::Sin => self.sin(x),
            Unary::Cos => self.cos(x),
            Unary::Tan => self.tan(x),
            Unary::Asin => self.asin(x),
            Unary::Acos => self.acos(x),
            Unary::Atan => self.atan(x),
            Unary::Sinh => self.sinh(x),
            Unary::Cosh => self.cosh(x),
            Unary::Asinh => self.asinh(x),
            Unary::Acosh => self.acosh(x),
            Unary::Atanh => self.atanh(x),
            Unary::Tanh => self.tanh(x),
            Unary::Logistic => self.logistic(x),
            Unary::Erf => self.erf(x),
            Unary::Erfc => self.erfc(x),
            Unary::ErfInv => self.erf_inv(x),
            Unary::Rsqrt => self.rsqrt(x),
            Unary::Cbrt => self.cbrt(x),
            Unary::Lgamma => self.lgamma(x),
            Unary::Digamma => self.digamma(x),
            Unary::Neg
            | Unary::Abs
            | Unary::Not
            | Unary::Sqrt
            | Unary::Floor
            | Unary::Ceil
            | Unary::Trunc
            | Unary::RoundEven
            | Unary::RoundAway
            | Unary::Sign
            | Unary::IsFinite
            | Unary::PopCount
            | Unary::LeadingZeros => unreachable!("{op:?} is not symbolic"),
        }
    }
}
