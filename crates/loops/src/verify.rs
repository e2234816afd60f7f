//! The checker of programs, run after every pass in tests.
//!
//! - (V1) Every value is defined once, and before each use in the same or an enclosing block; a carry's phi is seen in
//!   its loop only, its `next` is seen at the end of the body, its `out` after the loop.
//! - (V2) Operands and results have the types that the operation asks for; values are `bool`, integers of 8 to 64
//!   bits, `float32` or `float64`.
//! - (V3) A loop opens once; [`Op::Index`] and address terms name loops that are open there. Sizes exist.
//! - (V4) Buffers exist; inputs and constants are never stored to; elements that are loaded or stored have a value
//!   type or are half-width floats. No buffer is complex. A constant has as many elements as its buffer.
//! - (V5) A reducing `Lanes` loop names a combiner for each carry, the only use of the phi is the combination that
//!   makes `next`, and the combination is that operation. Other loops name none. `Parallel` loops carry nothing.
//! - (V6) Computed address offsets and switch indices are `int64`; conditions are `bool`.
//! - (V7) Only temporaries of equal declaration swap, and not inside a `Parallel` or `Lanes` loop.
//! - (V8) A kernel's arguments are as many as it takes, of its dtype (complex as its real type); results are not
//!   read by the same call and not stored to twice; strides of a gemm are not negative.
//! - (V9) After expansion no operation is symbolic ([`verify_expanded`]).
//! - (V10) What is loaded, stored or given to a kernel lies inside its buffer in every iteration, where the position has no
//!   computed part and all numbers are known. Computed parts are the promise of who made the program.

use pullback_base::DType;
use pullback_base::dtype::Kind;

use crate::program::*;

/// Checks a program; the error lists everything that is wrong with it.
///
/// # Errors
/// When a check (V1) to (V8) fails.
pub fn verify(program: &Program) -> Result<(), Vec<String>> {
    check(program, false)
}

/// Checks a program that is ready to run: as [`verify`], and nothing is symbolic (V9).
///
/// # Errors
/// When a check fails.
pub fn verify_expanded(program: &Program) -> Result<(), Vec<String>> {
    check(program, true)
}

fn check(program: &Program, expanded: bool) -> Result<(), Vec<String>> {
    let mut verifier = Verifier {
        program,
        expanded,
        defined: vec![false; program.values.len()],
        seen: vec![false; program.values.len()],
        open: vec![],
        lengths: vec![],
        entered: vec![false; program.n_loops as usize],
        unordered: 0,
        errors: vec![],
    };
    verifier.buffers();
    verifier.block(&program.body);
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'a> {
    program: &'a Program,
    expanded: bool,
    /// Values that some instruction so far defines.
    defined: Vec<bool>,
    /// Values that the current block may read.
    seen: Vec<bool>,
    open: Vec<LoopId>,
    /// The same with their numbers of iterations.
    lengths: Vec<(LoopId, Extent)>,
    entered: Vec<bool>,
    /// How many enclosing loops fix no order.
    unordered: usize,
    errors: Vec<String>,
}

fn is_value_type(dtype: DType) -> bool {
    use DType::*;
    matches!(dtype, Bool | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64 | F32 | F64)
}

impl Verifier<'_> {
    fn require(&mut self, holds: bool, law: &str, text: impl FnOnce() -> String) {
        if !holds {
            self.errors.push(format!("({law}) {}", text()));
        }
    }

    fn dtype(&self, value: ValueId) -> Option<DType> {
        self.program.values.get(value.index()).copied()
    }

    fn buffers(&mut self) {
        for (number, decl) in self.program.buffers.iter().enumerate() {
            self.require(!decl.dtype.is_complex(), "V4", || format!("b{number} is complex"));
            self.extent(decl.len);
            if let (Role::Const(array), Extent::Const(len)) = (&decl.role, decl.len) {
                let n = array.aval().size_bytes() / decl.dtype.size_bytes();
                self.require(n as i64 == len, "V4", || format!("b{number} has {n} constant elements, declared {len}"));
            }
        }
    }

    fn extent(&mut self, extent: Extent) {
        if let Extent::Size(number) = extent {
            self.require(number < self.program.n_sizes, "V3", || format!("there is no size s{number}"));
        }
    }

    fn define(&mut self, value: ValueId, scope: &mut Vec<ValueId>) {
        let Some(dtype) = self.dtype(value) else {
            return self.require(false, "V1", || format!("v{} is not in the table of values", value.0));
        };
        self.require(is_value_type(dtype), "V2", || format!("v{} has type {dtype}", value.0));
        self.require(!self.defined[value.index()], "V1", || format!("v{} is defined twice", value.0));
        self.defined[value.index()] = true;
        self.seen[value.index()] = true;
        scope.push(value);
    }

    fn close(&mut self, scope: Vec<ValueId>) {
        scope.into_iter().for_each(|value| self.seen[value.index()] = false);
    }

    fn reads(&mut self, value: ValueId) {
        let seen = self.seen.get(value.index()).copied().unwrap_or(false);
        self.require(seen, "V1", || format!("v{} is read where it is not defined", value.0));
    }

    fn block(&mut self, block: &[Inst]) {
        let mut scope = vec![];
        self.insts(block, &mut scope);
        self.close(scope);
    }

    fn insts(&mut self, block: &[Inst], scope: &mut Vec<ValueId>) {
        for inst in block {
            inst.op.for_each_operand(|value| self.reads(value));
            self.inst(inst, scope);
            if inst.op.has_value() {
                self.define(inst.dst, scope);
            }
        }
    }

    fn inst(&mut self, inst: &Inst, scope: &mut Vec<ValueId>) {
        let symbolic = self.expanded && inst.op.is_symbolic();
        self.require(!symbolic, "V9", || format!("v{} is symbolic", inst.dst.0));
        for addr in inst.op.addrs() {
            self.addr(addr);
        }
        match &inst.op {
            Op::Load(buffer, addr) | Op::Store(buffer, addr, _) => self.is_inside(*buffer, addr, 1),
            Op::Call(call) => {
                for ((buffer, addr), span) in call.args.iter().zip(call.kernel.spans()) {
                    self.is_inside(*buffer, addr, span);
                }
            }
            _ => {}
        }
        match &inst.op {
            Op::For(inner) => self.for_loop(inner, scope),
            Op::While(inner) => self.while_loop(inner, scope),
            Op::Switch(inner) => {
                self.is_type(inner.index, DType::I64);
                inner.branches.iter().for_each(|branch| self.block(branch));
            }
            Op::Call(call) => self.call(call),
            Op::Swap(x, y) => self.swap(*x, *y),
            Op::Store(buffer, _, value) => self.store(*buffer, *value),
            op => {
                let (want, got) = (self.result(op), self.dtype(inst.dst));
                self.require(want.is_some() && want == got, "V2", || {
                    format!("v{} of type {got:?} should have type {want:?}", inst.dst.0)
                });
            }
        }
    }

    fn is_type(&mut self, value: ValueId, want: DType) {
        let got = self.dtype(value);
        self.require(got == Some(want), "V6", || format!("v{} has type {got:?}, not {want}", value.0));
    }

    fn addr(&mut self, addr: &Addr) {
        for &(id, stride) in &addr.terms {
            self.require(self.open.contains(&id), "V3", || format!("loop i{} is not open", id.0));
            self.extent(stride);
        }
        if let Some(offset) = addr.offset {
            self.is_type(offset, DType::I64);
        }
    }

    /// Whether the `span` elements from a position on are the buffer's, in every iteration of the loops around.
    fn is_inside(&mut self, buffer: BufferId, addr: &Addr, span: usize) {
        let Some(&BufferDecl { len: Extent::Const(len), .. }) = self.program.buffers.get(buffer.index()) else {
            return;
        };
        let is_never_reached = self.lengths.iter().any(|&(_, n)| n == Extent::Const(0));
        if addr.offset.is_some() || span == 0 || is_never_reached {
            return;
        }
        let (mut low, mut high) = (i128::from(addr.base), i128::from(addr.base));
        for &(id, stride) in &addr.terms {
            let length = self.lengths.iter().find(|open| open.0 == id).map(|open| open.1);
            let (Extent::Const(stride), Some(Extent::Const(n))) = (stride, length) else { return };
            let reach = i128::from(stride) * i128::from(n - 1);
            (low, high) = (low + reach.min(0), high + reach.max(0));
        }
        let is_inside = low >= 0 && high + span as i128 <= i128::from(len);
        self.require(is_inside, "V10", || {
            format!("elements {low} to {} of b{} are used, which has {len}", high + span as i128 - 1, buffer.0)
        });
    }

    /// The type that a pure operation or load gives; `None` when its operands do not fit.
    fn result(&mut self, op: &Op) -> Option<DType> {
        match *op {
            Op::Const(scalar) => Some(scalar.dtype()),
            Op::Index(id) => self.open.contains(&id).then_some(DType::I64),
            Op::Size(number) => (number < self.program.n_sizes).then_some(DType::I64),
            Op::Unary(op, x) => unary_result(op, self.dtype(x)?),
            Op::Binary(op, x, y) => self.same(x, y).filter(|&dtype| binary_fits(op, dtype)),
            Op::Fma(x, y, z) => self.same(x, y).filter(|dtype| dtype.is_float() && self.dtype(z) == Some(*dtype)),
            Op::Compare(_, x, y) => self.same(x, y).map(|_| DType::Bool),
            Op::Select(condition, x, y) => self.same(x, y).filter(|_| self.dtype(condition) == Some(DType::Bool)),
            Op::Convert(to, x) => self.dtype(x).map(|_| to),
            Op::Bitcast(to, x) => {
                let from = self.dtype(x)?;
                (from.bits() == to.bits()).then_some(to)
            }
            Op::Round(to, x) => {
                let half = matches!(to, DType::F16 | DType::BF16);
                (half && self.dtype(x)? == DType::F32).then_some(DType::F32)
            }
            Op::Lookup(_, x) => (self.dtype(x)? == DType::I32).then_some(DType::F32),
            Op::Load(buffer, _) => self.element(buffer),
            Op::Store(..) | Op::For(_) | Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => None,
        }
    }

    fn same(&self, x: ValueId, y: ValueId) -> Option<DType> {
        self.dtype(x).filter(|&dtype| self.dtype(y) == Some(dtype))
    }

    /// The type of a buffer's elements as values.
    fn element(&mut self, buffer: BufferId) -> Option<DType> {
        match self.program.buffers.get(buffer.index())?.dtype {
            DType::F16 | DType::BF16 => Some(DType::F32),
            dtype => is_value_type(dtype).then_some(dtype),
        }
    }

    fn store(&mut self, buffer: BufferId, value: ValueId) {
        let (want, got) = (self.element(buffer), self.dtype(value));
        self.require(want.is_some() && want == got, "V2", || {
            format!("v{} of type {got:?} is stored to b{} of {want:?}", value.0, buffer.0)
        });
        self.writes(buffer);
    }

    fn writes(&mut self, buffer: BufferId) {
        let Some(decl) = self.program.buffers.get(buffer.index()) else {
            return self.require(false, "V4", || format!("there is no buffer b{}", buffer.0));
        };
        let writable = matches!(decl.role, Role::Output(_) | Role::Temp);
        self.require(writable, "V4", || format!("b{} is read only", buffer.0));
    }

    fn for_loop(&mut self, inner: &For, scope: &mut Vec<ValueId>) {
        self.extent(inner.n);
        let known = inner.id.0 < self.program.n_loops && !self.entered[inner.id.index()];
        self.require(known, "V3", || format!("loop i{} opens twice or is unknown", inner.id.0));
        if known {
            self.entered[inner.id.index()] = true;
        }
        self.kind(inner);
        let unordered = usize::from(inner.kind != LoopKind::Seq);
        self.open.push(inner.id);
        self.lengths.push((inner.id, inner.n));
        self.unordered += unordered;
        self.carrying_block(&inner.carries, &[&inner.body], None);
        self.unordered -= unordered;
        self.open.pop();
        self.lengths.pop();
        inner.carries.iter().for_each(|carry| self.define(carry.out, scope));
    }

    fn while_loop(&mut self, inner: &While, scope: &mut Vec<ValueId>) {
        let plain = inner.carries.iter().all(|carry| carry.combine.is_none());
        self.require(plain, "V5", || "a while loop combines nothing".into());
        self.carrying_block(&inner.carries, &[&inner.header, &inner.body], Some(inner.condition));
        inner.carries.iter().for_each(|carry| self.define(carry.out, scope));
    }

    fn carrying_block(&mut self, carries: &[Carry], blocks: &[&[Inst]], condition: Option<ValueId>) {
        let mut scope = vec![];
        for carry in carries {
            self.define(carry.phi, &mut scope);
            let types = [carry.phi, carry.init, carry.next, carry.out].map(|value| self.dtype(value));
            let equal = types.iter().all(|&dtype| dtype == types[0]);
            self.require(equal, "V2", || format!("the carry v{} changes type: {types:?}", carry.phi.0));
        }
        for (number, block) in blocks.iter().enumerate() {
            self.insts(block, &mut scope);
            if let (0, Some(condition)) = (number, condition) {
                self.reads(condition);
                self.is_type(condition, DType::Bool);
            }
        }
        carries.iter().for_each(|carry| self.reads(carry.next));
        self.close(scope);
    }

    fn kind(&mut self, inner: &For) {
        match inner.kind {
            LoopKind::Seq => {
                let plain = inner.carries.iter().all(|carry| carry.combine.is_none());
                self.require(plain, "V5", || format!("the ordered loop i{} names a combiner", inner.id.0));
            }
            LoopKind::Parallel => {
                self.require(inner.carries.is_empty(), "V5", || format!("the parallel loop i{} carries", inner.id.0));
            }
            LoopKind::Lanes => inner.carries.iter().for_each(|carry| self.combines(inner, carry)),
        }
    }

    fn combines(&mut self, inner: &For, carry: &Carry) {
        let made = inner.body.iter().any(|inst| match (&inst.op, carry.combine) {
            (Op::Binary(op, x, y), Some(combine)) => {
                inst.dst == carry.next && *op == combine.binary() && (*x == carry.phi) != (*y == carry.phi)
            }
            // A product may be fused into a sum.
            (Op::Fma(_, _, z), Some(Combine::Add)) => inst.dst == carry.next && *z == carry.phi,
            _ => false,
        });
        let text = || format!("v{} is not the combination of v{} and something", carry.next.0, carry.phi.0);
        self.require(made, "V5", text);
        let mut uses = 0;
        crate::visit::for_each_inst(&inner.body, &mut |inst| {
            inst.op.for_each_operand(|value| uses += usize::from(value == carry.phi));
        });
        self.require(uses == 1, "V5", || format!("v{} is read {uses} times, not once", carry.phi.0));
    }

    fn swap(&mut self, x: BufferId, y: BufferId) {
        let (Some(a), Some(b)) = (self.program.buffers.get(x.index()), self.program.buffers.get(y.index())) else {
            return self.require(false, "V7", || format!("b{} or b{} does not exist", x.0, y.0));
        };
        let temps = matches!((&a.role, &b.role), (Role::Temp, Role::Temp));
        let equal = temps && a.dtype == b.dtype && a.len == b.len;
        self.require(equal, "V7", || format!("b{} and b{} cannot swap", x.0, y.0));
        self.require(self.unordered == 0, "V7", || "a swap is inside a loop without order".into());
    }

    fn call(&mut self, call: &Call) {
        let (n_args, n_ins) = (call.kernel.spans().len(), call.kernel.n_ins());
        self.require(call.args.len() == n_args, "V8", || {
            format!("a kernel of {n_args} arguments gets {}", call.args.len())
        });
        let outs: Vec<BufferId> = call.args.iter().skip(n_ins).map(|&(buffer, _)| buffer).collect();
        outs.iter().for_each(|&buffer| self.writes(buffer));
        for (number, buffer) in outs.iter().enumerate() {
            let mut others = call.args.iter().take(n_ins + number);
            let apart = others.all(|(other, _)| other != buffer);
            self.require(apart, "V8", || format!("b{} is filled and also read or filled by one call", buffer.0));
        }
        self.kernel(call);
    }

    fn kernel(&mut self, call: &Call) {
        let types: Vec<_> =
            call.args.iter().map(|(buffer, _)| self.program.buffers.get(buffer.index()).map(|b| b.dtype)).collect();
        let fits = match &call.kernel {
            Kernel::Gemm(gemm) => {
                let mut strides = gemm.lhs_strides.iter().chain(&gemm.rhs_strides).chain(&gemm.out_strides);
                let real = gemm.dtype.real();
                strides.all(|&stride| stride >= 0)
                    && matches!(real, DType::F32 | DType::F64)
                    && types.iter().all(|&dtype| dtype == Some(real))
            }
            Kernel::Sort(sort) => {
                let twice = sort.dtypes.iter().chain(&sort.dtypes);
                // Types that programs do not compute in are bytes there.
                let fits = |(&sorted, held): (&DType, &Option<DType>)| {
                    let as_byte = sorted.size_bytes() == 1 && sorted != DType::Bool;
                    held.is_some_and(|held| held == sorted.real() || as_byte && held.size_bytes() == 1)
                };
                sort.n_keys <= sort.dtypes.len() && twice.clone().count() == types.len() && twice.zip(&types).all(fits)
            }
            Kernel::Copy(_) => types.first() == types.last(),
            Kernel::Host(..) | Kernel::Body(..) => true,
        };
        self.require(fits, "V8", || format!("a kernel does not take operands of {types:?}"));
    }
}

fn unary_result(op: Unary, dtype: DType) -> Option<DType> {
    let kind = dtype.kind();
    let fits = match op {
        Unary::Neg | Unary::Abs | Unary::Sign => kind != Kind::Bool,
        Unary::Not => kind != Kind::Float,
        Unary::PopCount | Unary::LeadingZeros => dtype.is_integer(),
        _ => kind == Kind::Float,
    };
    fits.then_some(if op == Unary::IsFinite { DType::Bool } else { dtype })
}

fn binary_fits(op: Binary, dtype: DType) -> bool {
    match op {
        Binary::Add | Binary::Sub | Binary::Div | Binary::Rem => dtype != DType::Bool,
        Binary::Mul | Binary::Min | Binary::Max => true,
        Binary::And | Binary::Or | Binary::Xor => !dtype.is_float(),
        Binary::ShiftLeft | Binary::ShiftRightLogical | Binary::ShiftRightArithmetic => dtype.is_integer(),
        Binary::Scale | Binary::Pow | Binary::Atan2 => dtype.is_float(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    fn vector_program(make: impl FnOnce(&mut Builder, BufferId, BufferId)) -> Program {
        let mut b = Builder::new("test");
        let x = b.buffer(DType::F32, Extent::Const(8), Role::Input(0));
        let y = b.buffer(DType::F32, Extent::Const(8), Role::Output(0));
        make(&mut b, x, y);
        b.finish()
    }

    fn check(program: &Program, law: Option<&str>) {
        match (verify(program), law) {
            (Ok(()), None) => {}
            (Err(errors), Some(law)) => assert!(errors.iter().any(|error| error.contains(law)), "{errors:?}"),
            (got, want) => panic!("{got:?}, not {want:?}"),
        }
    }

    fn at(id: LoopId) -> Addr {
        Addr { terms: [(id, Extent::Const(1))].into_iter().collect(), ..Addr::default() }
    }

    #[test]
    fn each_law_is_found_broken() {
        check(
            &vector_program(|b, x, y| {
                b.for_loop(Extent::Const(8), LoopKind::Lanes, &[], |b, i, _| {
                    let v = b.load(x, at(i));
                    b.store(y, at(i), v);
                    vec![]
                });
            }),
            None,
        );
        let undefined = |b: &mut Builder, _, y| {
            let v = b.fresh(DType::F32);
            b.store(y, Addr::default(), v);
        };
        check(&vector_program(undefined), Some("V1"));
        let mistyped = |b: &mut Builder, _, y| {
            let one = b.int(1);
            b.store(y, Addr::default(), one);
        };
        check(&vector_program(mistyped), Some("V2"));
        let closed = |b: &mut Builder, x, y| {
            let id = b.fresh_loop();
            let v = b.load(x, at(id));
            b.store(y, Addr::default(), v);
        };
        check(&vector_program(closed), Some("V3"));
        let read_only = |b: &mut Builder, x, _| {
            let v = b.load(x, Addr::default());
            b.store(x, Addr::default(), v);
        };
        check(&vector_program(read_only), Some("V4"));
        let no_combination = |b: &mut Builder, x, y| {
            let zero = b.constant(pullback_base::Scalar::f32(0.0));
            let sum = b.for_loop(Extent::Const(8), LoopKind::Lanes, &[(zero, Some(Combine::Add))], |b, i, c| {
                let v = b.load(x, at(i));
                vec![b.binary(Binary::Mul, c[0], v)]
            });
            b.store(y, Addr::default(), sum[0]);
        };
        check(&vector_program(no_combination), Some("V5"));
        let offset = |b: &mut Builder, x: BufferId, y| {
            let v = b.load(x, Addr::default());
            b.store(y, Addr { offset: Some(v), ..Addr::default() }, v);
        };
        check(&vector_program(offset), Some("V6"));
        check(&vector_program(|b, x, y| b.push(Op::Swap(x, y))), Some("V7"));
        let in_place = |b: &mut Builder, _, y: BufferId| {
            let args = vec![(y, Addr::default()), (y, Addr::default())];
            b.push(Op::Call(Box::new(Call { kernel: Kernel::Copy(8), args })));
        };
        check(&vector_program(in_place), Some("V8"));
        let beyond = |b: &mut Builder, x: BufferId, y| {
            b.for_loop(Extent::Const(9), LoopKind::Seq, &[], |b, i, _| {
                let v = b.load(x, at(i));
                b.store(y, Addr::default(), v);
                vec![]
            });
        };
        check(&vector_program(beyond), Some("V10"));
        let before = |b: &mut Builder, x: BufferId, y| {
            let v = b.load(x, Addr { base: -1, ..Addr::default() });
            b.store(y, Addr::default(), v);
        };
        check(&vector_program(before), Some("V10"));
        let symbolic = vector_program(|b, x, y| {
            let v = b.load(x, Addr::default());
            let e = b.unary(Unary::Exp, v);
            b.store(y, Addr::default(), e);
        });
        check(&symbolic, None);
        assert!(verify_expanded(&symbolic).expect_err("symbolic")[0].contains("V9"));
    }
}
