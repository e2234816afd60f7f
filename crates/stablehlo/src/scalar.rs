//! Scalar forms of the CPU as elementwise operations.
//!
//! A form says what happens to one element, in the loop IR; each of its instructions becomes one operation on whole
//! arrays. Its loops run for all elements together: while any is not done, those that are keep what they have.

use pullback_base::{Aval, DType, Error, Result, Scalar};
use pullback_ir::hlo::{HloCx, HloValue, HloValues};
use pullback_ir::lower::{Elem, value_dtype, values_per_element};
use pullback_loops::{
    Binary, Builder, Carry, Comparison, Extent, For, Inst, LoopId, LoopKind, Op, Unary, ValueId, While,
};
use rustc_hash::FxHashSet;
use smallvec::smallvec;

/// Applies `form` to each element of operands that have the shape of the result.
pub(crate) fn elementwise(
    cx: &mut dyn HloCx,
    form: &dyn Fn(&mut Builder, &[Elem]) -> Elem,
    ins: &[HloValue],
    out: Aval,
) -> Result<HloValue> {
    let mut loops = Builder::new("elementwise");
    let params: Vec<Elem> = ins.iter().map(|x| param(&mut loops, x.aval.dtype)).collect();
    let result = form(&mut loops, &params);
    let program = loops.finish();
    let frame = Frame { shape: &out.data().shape, n_values: program.values.len() };
    let mut block = Block { cx, frame, env: vec![None; frame.n_values], counter: None };
    for (x, param) in ins.iter().zip(params) {
        block.set_operand(*x, param);
    }
    let wanted = match result {
        Elem::One(value) => vec![value],
        Elem::Two(first, second) => vec![first, second],
    };
    block.write_needed(&[&program.body], &wanted)?;
    block.result(result, out.dtype)
}

/// Values of the loop IR for an operand's element.
fn param(loops: &mut Builder, dtype: DType) -> Elem {
    let value = value_dtype(dtype);
    match values_per_element(dtype) {
        1 => Elem::One(loops.fresh(value)),
        _ => Elem::Two(loops.fresh(value), loops.fresh(value)),
    }
}

/// What all blocks of one form share.
#[derive(Clone, Copy)]
struct Frame<'a> {
    shape: &'a [usize],
    n_values: usize,
}

impl<'a> Frame<'a> {
    /// Runs `body` for the operations of a region, with the values that it sees under their ids.
    fn inside<T>(
        self,
        cx: &mut dyn HloCx,
        values: impl Iterator<Item = (ValueId, HloValue)>,
        counter: Option<(LoopId, HloValue)>,
        body: impl FnOnce(&mut Block<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let mut block = Block { cx, frame: self, env: vec![None; self.n_values], counter };
        for (id, value) in values {
            block.set(id, value);
        }
        body(&mut block)
    }
}

struct Block<'c, 'a> {
    cx: &'c mut (dyn HloCx + 'c),
    frame: Frame<'a>,
    env: Vec<Option<HloValue>>,
    /// The loop around, with its counter.
    counter: Option<(LoopId, HloValue)>,
}

impl Block<'_, '_> {
    fn get(&self, value: ValueId) -> HloValue {
        self.env[value.index()].expect("values are defined before they are used")
    }

    fn set(&mut self, value: ValueId, to: HloValue) {
        self.env[value.index()] = Some(to);
    }

    fn aval(&self, dtype: DType) -> Aval {
        Aval::new(self.frame.shape, dtype)
    }

    fn set_operand(&mut self, x: HloValue, param: Elem) {
        match (param, x.aval.dtype) {
            (Elem::One(value), dtype) => {
                let x = self.cx.convert(x, value_dtype(dtype));
                self.set(value, x);
            }
            (Elem::Two(low, high), DType::KeyFry | DType::KeyPhilox2 | DType::KeyPhilox4) => {
                let first = self.cx.convert(x, DType::U32);
                let width = self.full(Scalar::int(x.aval.dtype, 32));
                let second = self.cx.binary("stablehlo.shift_right_logical", x, width);
                let second = self.cx.convert(second, DType::U32);
                self.set(low, first);
                self.set(high, second);
            }
            (Elem::Two(re, im), dtype) => {
                let part = self.aval(dtype.real());
                for (name, value) in [("stablehlo.real", re), ("stablehlo.imag", im)] {
                    let part = self.cx.one(name, "", &[x], part);
                    self.set(value, part);
                }
            }
        }
    }

    fn result(&mut self, result: Elem, dtype: DType) -> Result<HloValue> {
        Ok(match (result, dtype) {
            (Elem::One(value), _) => {
                let value = self.get(value);
                self.cx.convert(value, dtype)
            }
            (Elem::Two(low, high), DType::KeyFry | DType::KeyPhilox2 | DType::KeyPhilox4) => {
                let [low, high] = [low, high].map(|word| self.get(word)).map(|word| self.cx.convert(word, dtype));
                let width = self.full(Scalar::int(dtype, 32));
                let high = self.cx.binary("stablehlo.shift_left", high, width);
                self.cx.binary("stablehlo.or", high, low)
            }
            (Elem::Two(re, im), _) => {
                let (re, im) = (self.get(re), self.get(im));
                let aval = self.aval(dtype);
                self.cx.one("stablehlo.complex", "", &[re, im], aval)
            }
        })
    }

    fn full(&mut self, scalar: Scalar) -> HloValue {
        self.cx.full(scalar, self.frame.shape)
    }

    /// The instructions of blocks, one after the other, on which `wanted` depend.
    fn write_needed(&mut self, blocks: &[&[Inst]], wanted: &[ValueId]) -> Result<()> {
        let insts: Vec<&Inst> = blocks.iter().copied().flatten().collect();
        let mut used: FxHashSet<ValueId> = wanted.iter().copied().collect();
        let mut is_needed = vec![false; insts.len()];
        for (i, inst) in insts.iter().enumerate().rev() {
            if defined(inst).iter().any(|value| used.contains(value)) {
                is_needed[i] = true;
                mark_uses(inst, &mut used);
            }
        }
        for (inst, _) in insts.iter().zip(is_needed).filter(|(_, needed)| *needed) {
            self.write(inst)?;
        }
        Ok(())
    }

    fn write(&mut self, inst: &Inst) -> Result<()> {
        let value = match &inst.op {
            Op::For(for_loop) => return self.for_loop(for_loop),
            Op::While(while_loop) => return self.while_loop(while_loop),
            Op::Const(scalar) => self.full(*scalar),
            Op::Unary(op, x) => {
                let x = self.get(*x);
                self.unary(*op, x)
            }
            Op::Binary(Binary::Scale, ..) => return Err(unsupported("a scaling by a power of two")),
            Op::Binary(op, x, y) => {
                let (x, y) = (self.get(*x), self.get(*y));
                self.cx.binary(binary_name(*op), x, y)
            }
            Op::Fma(x, y, z) => {
                let (x, y, z) = (self.get(*x), self.get(*y), self.get(*z));
                let product = self.cx.binary("stablehlo.multiply", x, y);
                self.cx.binary("stablehlo.add", product, z)
            }
            Op::Compare(op, x, y) => {
                let (x, y) = (self.get(*x), self.get(*y));
                self.cx.compare(direction(*op), x, y)
            }
            Op::Select(condition, x, y) => {
                let (condition, x, y) = (self.get(*condition), self.get(*x), self.get(*y));
                self.cx.select(condition, x, y)
            }
            Op::Convert(dtype, x) => {
                let x = self.get(*x);
                self.convert(x, *dtype)
            }
            Op::Bitcast(dtype, x) => {
                let x = self.get(*x);
                self.cx.bitcast(x, self.frame.shape, *dtype)
            }
            Op::Round(dtype, x) => {
                let x = self.get(*x);
                let narrow = self.cx.convert(x, *dtype);
                self.cx.convert(narrow, DType::F32)
            }
            Op::Index(id) => {
                let counter = self.counter.filter(|counter| counter.0 == *id).map(|counter| counter.1);
                let counter = counter.ok_or_else(|| unsupported("the counter of a loop farther out"))?;
                self.cx.repeated(counter, self.frame.shape)
            }
            Op::Lookup(..) => return Err(unsupported("a table")),
            Op::Size(_) | Op::Load(..) | Op::Store(..) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => {
                return Err(unsupported("an operation on memory"));
            }
        };
        self.set(inst.dst, value);
        Ok(())
    }

    fn convert(&mut self, x: HloValue, dtype: DType) -> HloValue {
        if dtype != DType::Bool || x.aval.dtype == DType::Bool {
            return self.cx.convert(x, dtype);
        }
        let zero = self.full(Scalar::zero(x.aval.dtype));
        self.cx.compare("NE", x, zero)
    }

    fn unary(&mut self, op: Unary, x: HloValue) -> HloValue {
        let by_constant = |block: &mut Self, name: &str, x: HloValue, number: f64| {
            let number = block.full(Scalar::float(x.aval.dtype, number));
            block.cx.binary(name, x, number)
        };
        match op {
            Unary::Exp2 => {
                let scaled = by_constant(self, "stablehlo.multiply", x, std::f64::consts::LN_2);
                self.cx.unary("stablehlo.exponential", scaled)
            }
            Unary::Log2 => {
                let log = self.cx.unary("stablehlo.log", x);
                by_constant(self, "stablehlo.divide", log, std::f64::consts::LN_2)
            }
            Unary::Trunc => {
                let zero = self.full(Scalar::zero(x.aval.dtype));
                let is_negative = self.cx.compare("LT", x, zero);
                let (up, down) = (self.cx.unary("stablehlo.ceil", x), self.cx.unary("stablehlo.floor", x));
                self.cx.select(is_negative, up, down)
            }
            Unary::IsFinite => {
                let aval = self.aval(DType::Bool);
                self.cx.one("stablehlo.is_finite", "", &[x], aval)
            }
            other => self.cx.unary(unary_name(other), x),
        }
    }

    /// Values from outside that the blocks use, besides the carried ones.
    fn captured(&self, blocks: &[&[Inst]], carries: &[Carry]) -> Vec<ValueId> {
        let (mut used, mut inner) = (FxHashSet::default(), FxHashSet::default());
        for inst in blocks.iter().copied().flatten() {
            mark_uses(inst, &mut used);
            inner.extend(defined(inst));
        }
        used.extend(carries.iter().map(|carry| carry.next));
        inner.extend(carries.iter().map(|carry| carry.phi));
        let mut captured: Vec<ValueId> =
            used.into_iter().filter(|id| !inner.contains(id) && self.env[id.index()].is_some()).collect();
        captured.sort_unstable();
        captured
    }

    fn for_loop(&mut self, f: &For) -> Result<()> {
        let Extent::Const(n) = f.n else { return Err(unsupported("a loop of unknown length")) };
        if f.kind != LoopKind::Seq {
            return Err(unsupported("a loop whose steps have no order"));
        }
        let state = State::new(self, &[&f.body], &f.carries);
        let mut inits: HloValues = smallvec![self.cx.constant(Scalar::int(DType::I64, 0))];
        inits.extend_from_slice(&state.inits);
        let frame = self.frame;
        let outs = self.cx.while_loop(
            usize::try_from(n).ok(),
            &inits,
            &mut |cx, args| {
                let end = cx.constant(Scalar::int(DType::I64, n.into()));
                Ok(smallvec![cx.compare("LT", args[0], end)])
            },
            &mut |cx, args| {
                let one = cx.constant(Scalar::int(DType::I64, 1));
                let mut outs: HloValues = smallvec![cx.binary("stablehlo.add", args[0], one)];
                let counter = Some((f.id, args[0]));
                outs.extend(
                    frame.inside(cx, state.named(&args[1..]), counter, |block| block.all(&[&f.body], &state.nexts))?,
                );
                outs.extend_from_slice(&args[1 + state.nexts.len()..]);
                Ok(outs)
            },
        )?;
        self.set_outs(&f.carries, &outs[1..]);
        Ok(())
    }

    /// The state holds, before the carried values, which elements go on.
    fn while_loop(&mut self, w: &While) -> Result<()> {
        let state = State::new(self, &[&w.header, &w.body], &w.carries);
        let frame = self.frame;
        let goes_on = |cx: &mut dyn HloCx, values: &[HloValue]| {
            Ok(frame.inside(cx, state.named(values), None, |block| block.all(&[&w.header], &[w.condition]))?[0])
        };
        let mut inits: HloValues = smallvec![goes_on(self.cx, &state.inits)?];
        inits.extend_from_slice(&state.inits);
        let outs = self.cx.while_loop(
            None,
            &inits,
            &mut |cx, args| {
                let axes: Vec<usize> = (0..args[0].aval.rank()).collect();
                Ok(smallvec![if axes.is_empty() {
                    args[0]
                } else {
                    cx.reduce(args[0], Scalar::bool(false), "stablehlo.or", &axes)?
                }])
            },
            &mut |cx, args| {
                let nexts = frame.inside(cx, state.named(&args[1..]), None, |block| {
                    block.all(&[&w.header, &w.body], &state.nexts)
                })?;
                let mut values: HloValues =
                    nexts.iter().zip(&args[1..]).map(|(&new, &old)| cx.select(args[0], new, old)).collect();
                values.extend_from_slice(&args[1 + nexts.len()..]);
                let goes_on = goes_on(cx, &values)?;
                let mut outs: HloValues = smallvec![cx.binary("stablehlo.and", args[0], goes_on)];
                outs.extend(values);
                Ok(outs)
            },
        )?;
        self.set_outs(&w.carries, &outs[1..]);
        Ok(())
    }

    fn set_outs(&mut self, carries: &[Carry], outs: &[HloValue]) {
        for (carry, out) in carries.iter().zip(outs) {
            self.set(carry.out, *out);
        }
    }

    /// Writes what is needed for some values, and gives them.
    fn all(&mut self, blocks: &[&[Inst]], wanted: &[ValueId]) -> Result<HloValues> {
        self.write_needed(blocks, wanted)?;
        Ok(wanted.iter().map(|&value| self.get(value)).collect())
    }
}

/// The values that a loop carries: its own, then those from outside that it uses, which stay as they are.
struct State {
    ids: Vec<ValueId>,
    inits: HloValues,
    nexts: Vec<ValueId>,
}

impl State {
    fn new(block: &Block<'_, '_>, blocks: &[&[Inst]], carries: &[Carry]) -> State {
        let captured = block.captured(blocks, carries);
        let ids = carries.iter().map(|carry| carry.phi).chain(captured.iter().copied()).collect();
        let inits = carries.iter().map(|carry| carry.init).chain(captured).map(|id| block.get(id)).collect();
        State { ids, inits, nexts: carries.iter().map(|carry| carry.next).collect() }
    }

    fn named(&self, values: &[HloValue]) -> impl Iterator<Item = (ValueId, HloValue)> {
        self.ids.iter().copied().zip(values.to_vec())
    }
}

fn unsupported(what: &str) -> Error {
    Error::not_implemented(format!("StableHLO of a scalar form with {what} is not implemented"))
}

/// Values that an instruction defines for those after it.
fn defined(inst: &Inst) -> Vec<ValueId> {
    match &inst.op {
        Op::For(f) => f.carries.iter().map(|carry| carry.out).collect(),
        Op::While(w) => w.carries.iter().map(|carry| carry.out).collect(),
        _ if inst.op.has_value() => vec![inst.dst],
        _ => vec![],
    }
}

/// Adds what an instruction uses, its blocks included.
fn mark_uses(inst: &Inst, used: &mut FxHashSet<ValueId>) {
    inst.op.for_each_operand(|value| {
        used.insert(value);
    });
    inst.op.for_each_yield(|value| {
        used.insert(value);
    });
    inst.op.blocks().into_iter().flatten().for_each(|inst| mark_uses(inst, used));
}

fn direction(op: Comparison) -> &'static str {
    match op {
        Comparison::Eq => "EQ",
        Comparison::Ne => "NE",
        Comparison::Lt => "LT",
        Comparison::Le => "LE",
        Comparison::Gt => "GT",
        Comparison::Ge => "GE",
    }
}

/// Names of operations that are one operation; the others are spelled out before.
fn unary_name(op: Unary) -> &'static str {
    match op {
        Unary::Neg => "stablehlo.negate",
        Unary::Abs => "stablehlo.abs",
        Unary::Not => "stablehlo.not",
        Unary::Sqrt => "stablehlo.sqrt",
        Unary::Floor => "stablehlo.floor",
        Unary::Ceil => "stablehlo.ceil",
        Unary::RoundEven => "stablehlo.round_nearest_even",
        Unary::RoundAway => "stablehlo.round_nearest_afz",
        Unary::Sign => "stablehlo.sign",
        Unary::PopCount => "stablehlo.popcnt",
        Unary::LeadingZeros => "stablehlo.count_leading_zeros",
        Unary::Exp => "stablehlo.exponential",
        Unary::Expm1 => "stablehlo.exponential_minus_one",
        Unary::Log => "stablehlo.log",
        Unary::Log1p => "stablehlo.log_plus_one",
        Unary::Sin => "stablehlo.sine",
        Unary::Cos => "stablehlo.cosine",
        Unary::Tan => "stablehlo.tan",
        Unary::Tanh => "stablehlo.tanh",
        Unary::Logistic => "stablehlo.logistic",
        Unary::Rsqrt => "stablehlo.rsqrt",
        Unary::Cbrt => "stablehlo.cbrt",
        Unary::Asin => "chlo.asin",
        Unary::Acos => "chlo.acos",
        Unary::Atan => "chlo.atan",
        Unary::Sinh => "chlo.sinh",
        Unary::Cosh => "chlo.cosh",
        Unary::Asinh => "chlo.asinh",
        Unary::Acosh => "chlo.acosh",
        Unary::Atanh => "chlo.atanh",
        Unary::Erf => "chlo.erf",
        Unary::Erfc => "chlo.erfc",
        Unary::ErfInv => "chlo.erf_inv",
        Unary::Lgamma => "chlo.lgamma",
        Unary::Digamma => "chlo.digamma",
        Unary::Trunc | Unary::IsFinite | Unary::Exp2 | Unary::Log2 => unreachable!("spelled out before"),
    }
}

fn binary_name(op: Binary) -> &'static str {
    match op {
        Binary::Add => "stablehlo.add",
        Binary::Sub => "stablehlo.subtract",
        Binary::Mul => "stablehlo.multiply",
        Binary::Div => "stablehlo.divide",
        Binary::Rem => "stablehlo.remainder",
        Binary::Min => "stablehlo.minimum",
        Binary::Max => "stablehlo.maximum",
        Binary::And => "stablehlo.and",
        Binary::Or => "stablehlo.or",
        Binary::Xor => "stablehlo.xor",
        Binary::ShiftLeft => "stablehlo.shift_left",
        Binary::ShiftRightLogical => "stablehlo.shift_right_logical",
        Binary::ShiftRightArithmetic => "stablehlo.shift_right_arithmetic",
        Binary::Pow => "stablehlo.power",
        Binary::Atan2 => "stablehlo.atan2",
        Binary::Scale => unreachable!("refused before"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::function::Function;
    use crate::module::Module;

    fn check(form: &dyn Fn(&mut Builder, &[Elem]) -> Elem, expect: Expect) {
        let mut module = Module::default();
        let mut function = Function::new(&mut module, 0, "jit(f)".into());
        let x = Aval::new(&[3], DType::F32);
        let args = function.arguments(&[x]);
        let out = elementwise(&mut function, form, &args, x).expect("a form");
        function.finish("return", &[out]);
        expect.assert_eq(&function.into_parts().0);
    }

    #[test]
    fn counted_loops_carry_what_they_use() {
        let form = |loops: &mut Builder, ins: &[Elem]| {
            let x = ins[0].one();
            let one = loops.constant(Scalar::f32(1.0));
            let outs = loops.for_loop(Extent::Const(4), LoopKind::Seq, &[(one, None)], |loops, id, carried| {
                let step = loops.index(id);
                let step = loops.convert(DType::F32, step);
                let product = loops.binary(Binary::Mul, carried[0], x);
                vec![loops.binary(Binary::Add, product, step)]
            });
            Elem::One(outs[0])
        };
        check(
            &form,
            expect![[r#"
              %c_0 = stablehlo.constant dense<1.000000e+00> : tensor<3xf32>
              %c_1 = stablehlo.constant dense<0> : tensor<i64>
              %2:3 = stablehlo.while(%iterArg_1 = %c_1, %iterArg_2 = %c_0, %iterArg_3 = %arg0) : tensor<i64>, tensor<3xf32>, tensor<3xf32>
              cond {
                %c_3 = stablehlo.constant dense<4> : tensor<i64>
                %4 = stablehlo.compare LT, %iterArg_1, %c_3, SIGNED : (tensor<i64>, tensor<i64>) -> tensor<i1>
                stablehlo.return %4 : tensor<i1>
              } do {
                %c_5 = stablehlo.constant dense<1> : tensor<i64>
                %6 = stablehlo.add %iterArg_1, %c_5 : tensor<i64>
                %7 = stablehlo.broadcast_in_dim %iterArg_1, dims = [] : (tensor<i64>) -> tensor<3xi64>
                %8 = stablehlo.convert %7 : (tensor<3xi64>) -> tensor<3xf32>
                %9 = stablehlo.multiply %iterArg_2, %iterArg_3 : tensor<3xf32>
                %10 = stablehlo.add %9, %8 : tensor<3xf32>
                stablehlo.return %6, %10, %iterArg_3 : tensor<i64>, tensor<3xf32>, tensor<3xf32>
              }
              return %2#1 : tensor<3xf32>
        "#]],
        );
    }

    #[test]
    fn elements_that_are_done_keep_what_they_have() {
        let form = |loops: &mut Builder, ins: &[Elem]| {
            let x = ins[0].one();
            let limit = loops.constant(Scalar::f32(100.0));
            let outs = loops.while_loop(
                &[x],
                |loops, carried| loops.compare(Comparison::Lt, carried[0], limit),
                |loops, carried| vec![loops.binary(Binary::Mul, carried[0], x)],
            );
            Elem::One(outs[0])
        };
        check(
            &form,
            expect![[r#"
              %c_0 = stablehlo.constant dense<1.000000e+02> : tensor<3xf32>
              %1 = stablehlo.compare LT, %arg0, %c_0, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
              %2:4 = stablehlo.while(%iterArg_1 = %1, %iterArg_2 = %arg0, %iterArg_3 = %arg0, %iterArg_4 = %c_0) : tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
              cond {
                %c_3 = stablehlo.constant dense<false> : tensor<i1>
                %4 = stablehlo.reduce(%iterArg_1 init: %c_3) applies stablehlo.or across dimensions = [0] : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
                stablehlo.return %4 : tensor<i1>
              } do {
                %5 = stablehlo.multiply %iterArg_2, %iterArg_3 : tensor<3xf32>
                %6 = stablehlo.select %iterArg_1, %5, %iterArg_2 : tensor<3xi1>, tensor<3xf32>
                %7 = stablehlo.compare LT, %6, %iterArg_4, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
                %8 = stablehlo.and %iterArg_1, %7 : tensor<3xi1>
                stablehlo.return %8, %6, %iterArg_3, %iterArg_4 : tensor<3xi1>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
              }
              return %2#1 : tensor<3xf32>
        "#]],
        );
    }
}
