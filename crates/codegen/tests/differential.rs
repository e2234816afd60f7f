//! Random programs: native code must give the bits of the interpreter, any NaN equal to any other.
//!
//! `PULLBACK_FUZZ_PROGRAMS` sets how many programs run, `PULLBACK_FUZZ_SEED` the first seed.

use pullback_base::{DType, Scalar};
use pullback_codegen::{Engine, Executable, Options, compile};
use pullback_loops::*;

/// A generator of bits (Steele, Lea and Flood's SplitMix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

const VALUE_TYPES: [DType; 11] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F32,
    DType::F64,
];
const BUFFER_TYPES: [DType; 13] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F32,
    DType::F64,
    DType::F16,
    DType::BF16,
];
/// Elements of every buffer; addresses stay below.
const LEN: i64 = 4096;

struct Maker {
    b: Builder,
    random: Random,
    inputs: Vec<BufferId>,
    n_outputs: u32,
    /// Open loops.
    open: Vec<LoopId>,
    /// Values that may be used, with a bound on how they came about.
    pool: Vec<ValueId>,
    temps: [BufferId; 2],
    depth: usize,
}

impl Maker {
    fn of(&mut self, dtype: DType) -> ValueId {
        let found: Vec<ValueId> = self.pool.iter().copied().filter(|&v| self.b.dtype(v) == dtype).collect();
        if !found.is_empty() && !self.random.chance(15) {
            return self.random.pick(&found);
        }
        if self.random.chance(50) {
            let value = self.constant(dtype);
            return self.b.constant(value);
        }
        let from = self.random.pick(&self.pool.clone());
        self.b.convert(dtype, from)
    }

    fn constant(&mut self, dtype: DType) -> Scalar {
        Scalar::from_bits(dtype, element(&mut self.random, dtype).into())
    }

    fn addr(&mut self) -> Addr {
        let mut addr = Addr { base: self.random.below(16) as i64, ..Addr::default() };
        for &id in &self.open.clone() {
            if self.random.chance(80) {
                let stride = self.random.pick(&[1, 1, 1, 1, 0, 2, 3, 7]);
                let stride = if self.random.chance(5) { Extent::Size(1) } else { Extent::Const(stride) };
                addr.terms.push((id, stride));
            }
        }
        if self.random.chance(10) {
            let index = self.of(DType::I64);
            let mask = self.b.int(255);
            addr.offset = Some(self.b.binary(Binary::And, index, mask));
        }
        addr
    }

    /// An address that no two iterations share.
    fn own_addr(&mut self) -> Addr {
        let mut addr = Addr { base: self.random.below(8) as i64, ..Addr::default() };
        let mut stride = self.random.pick(&[1, 1, 1, 2, 3]);
        for &id in self.open.iter().rev() {
            addr.terms.push((id, Extent::Const(stride)));
            stride *= if stride < 4 { 41 } else { 5 };
        }
        addr
    }

    fn value(&mut self) {
        let dtype = self.random.pick(&VALUE_TYPES);
        let value = match self.random.below(20) {
            0..=3 => {
                let buffer = self.random.pick(&self.inputs.clone());
                let addr = self.addr();
                self.b.load(buffer, addr)
            }
            4 if !self.open.is_empty() => {
                let id = self.random.pick(&self.open.clone());
                self.b.index(id)
            }
            4..=7 => self.unary(dtype),
            8..=13 => self.binary(dtype),
            14 => {
                let dtype = self.random.pick(&[DType::F32, DType::F64]);
                let [x, y, z] = [(); 3].map(|()| self.of(dtype));
                self.b.fma(x, y, z)
            }
            15 | 16 => {
                let (x, y) = (self.of(dtype), self.of(dtype));
                let op = self.comparison();
                self.b.compare(op, x, y)
            }
            17 => {
                let (c, x, y) = (self.of(DType::Bool), self.of(dtype), self.of(dtype));
                self.b.select(c, x, y)
            }
            18 if self.random.chance(30) => self.lookup(),
            18 => {
                let from = self.random.pick(&self.pool.clone());
                self.b.convert(dtype, from)
            }
            _ => self.bits_or_rounding(),
        };
        self.pool.push(value);
    }

    fn lookup(&mut self) -> ValueId {
        let entries = [(); TABLE_LEN].map(|()| element(&mut self.random, DType::F32) as u32);
        let index = self.of(DType::I32);
        self.b.lookup(&Table::new(entries), index)
    }

    /// A number scaled by as much as is allowed, NaN where the scale is.
    fn scaled(&mut self, dtype: DType) -> ValueId {
        let (x, n) = (self.of(dtype), self.of(dtype));
        let most = if dtype == DType::F32 { 252.0 } else { 2044.0 };
        let [low, high] = [-most, most].map(|limit| self.b.constant(Scalar::float(dtype, limit)));
        let n = self.b.binary(Binary::Max, n, low);
        let n = self.b.binary(Binary::Min, n, high);
        let n = self.b.unary(Unary::RoundEven, n);
        let nothing = self.b.binary(Binary::Sub, n, n);
        let x = self.b.binary(Binary::Add, x, nothing);
        self.b.binary(Binary::Scale, x, n)
    }

    fn comparison(&mut self) -> Comparison {
        use Comparison::*;
        self.random.pick(&[Eq, Ne, Lt, Le, Gt, Ge])
    }

    fn bits_or_rounding(&mut self) -> ValueId {
        let x = self.of(DType::F32);
        match self.random.below(3) {
            0 => {
                let dtype = self.random.pick(&[DType::F16, DType::BF16]);
                self.b.round(dtype, x)
            }
            1 => {
                // The bits of NaN are nobody's promise.
                let (is_number, zero) = (self.b.compare(Comparison::Eq, x, x), self.b.constant(Scalar::f32(0.0)));
                let x = self.b.select(is_number, x, zero);
                self.b.bitcast(DType::U32, x)
            }
            _ => {
                let bits = self.of(DType::U64);
                self.b.bitcast(DType::F64, bits)
            }
        }
    }

    fn unary(&mut self, dtype: DType) -> ValueId {
        use Unary::*;
        let ops: &[Unary] = if dtype.is_float() {
            if self.random.chance(25) {
                &[
                    Exp, Expm1, Log, Log1p, Sin, Cos, Tanh, Logistic, Erf, Rsqrt, Cbrt, Exp2, Log2, Atan, Asinh, Erfc,
                    ErfInv, Tan,
                ]
            } else {
                &[Neg, Abs, Sqrt, Floor, Ceil, Trunc, RoundEven, RoundAway, Sign, IsFinite]
            }
        } else if dtype == DType::Bool {
            &[Not]
        } else {
            &[Neg, Abs, Not, Sign, PopCount, LeadingZeros]
        };
        let (op, x) = (self.random.pick(ops), self.of(dtype));
        self.b.unary(op, x)
    }

    fn binary(&mut self, dtype: DType) -> ValueId {
        use Binary::*;
        let ops: &[Binary] = if dtype.is_float() {
            &[Add, Add, Sub, Mul, Mul, Div, Min, Max, Rem]
        } else if dtype == DType::Bool {
            &[And, Or, Xor, Min, Max, Mul]
        } else {
            &[Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, ShiftLeft, ShiftRightLogical, ShiftRightArithmetic]
        };
        let op = self.random.pick(ops);
        if dtype.is_float() && self.random.chance(3) {
            let (x, y) = (self.of(dtype), self.of(dtype));
            let op = self.random.pick(&[Pow, Atan2]);
            return self.b.binary(op, x, y);
        }
        if dtype.is_float() && self.random.chance(5) {
            return self.scaled(dtype);
        }
        let x = self.of(dtype);
        let is_shift = matches!(op, ShiftLeft | ShiftRightLogical | ShiftRightArithmetic);
        let y = if is_shift && self.random.chance(60) {
            let amount = self.random.below(70) as i128;
            self.b.constant(Scalar::int(dtype, amount))
        } else {
            self.of(dtype)
        };
        self.b.binary(op, x, y)
    }

    /// Stores a value of late, so that little of what is computed goes unseen.
    fn store(&mut self) {
        let late = self.pool.len().saturating_sub(4);
        let value = if self.random.chance(85) {
            self.pool[late + self.random.below(self.pool.len() - late)]
        } else {
            let dtype = self.random.pick(&VALUE_TYPES);
            self.of(dtype)
        };
        self.store_value(value);
    }

    fn store_value(&mut self, value: ValueId) {
        let dtype = match self.b.dtype(value) {
            DType::F32 => self.random.pick(&[DType::F32, DType::F32, DType::F32, DType::F16, DType::BF16]),
            other => other,
        };
        let out = self.b.buffer(dtype, Extent::Const(LEN), Role::Output(self.n_outputs));
        self.n_outputs += 1;
        let addr = self.own_addr();
        self.b.store(out, addr, value);
    }

    /// The length of a loop, and whether it may have loops inside: long ones may not.
    fn n(&mut self) -> (Extent, bool) {
        match self.random.below(10) {
            0..=3 if self.depth < 2 => (self.short(), true),
            4..=6 => (Extent::Size(self.random.below(2) as u32), false),
            _ => (Extent::Const(self.random.below(41) as i64), false),
        }
    }

    fn short(&mut self) -> Extent {
        Extent::Const(self.random.below(5) as i64)
    }

    /// A body of values and stores, and the loops inside.
    fn body(&mut self, is_ordered: bool) {
        for _ in 0..1 + self.random.below(10) {
            self.value();
        }
        if self.depth < 3 {
            for _ in 0..self.random.below(3) {
                self.structure(is_ordered);
            }
        }
        for _ in 0..1 + self.random.below(2) {
            self.store();
        }
    }

    /// Runs `body` one level deeper; what it makes is not seen after.
    fn deeper<T>(&mut self, open: Option<LoopId>, nests: bool, body: impl FnOnce(&mut Maker) -> T) -> T {
        let (n, depth) = (self.pool.len(), self.depth);
        self.open.extend(open);
        self.depth = if nests { depth + 1 } else { 3 };
        let result = body(self);
        self.depth = depth;
        self.pool.truncate(n);
        if open.is_some() {
            self.open.pop();
        }
        result
    }

    fn structure(&mut self, is_ordered: bool) {
        match self.random.below(10) {
            0..=2 => self.reduction(),
            3 | 4 => self.mapping(LoopKind::Lanes),
            5 => self.mapping(LoopKind::Parallel),
            6 => self.sequence(is_ordered),
            7 => self.while_loop(),
            8 => self.switch(is_ordered),
            _ => self.through_temps(is_ordered),
        }
    }

    fn mapping(&mut self, kind: LoopKind) {
        let (n, nests) = self.n();
        let id = self.b.fresh_loop();
        self.b.open();
        self.deeper(Some(id), nests, |me| me.body(false));
        let body = self.b.close();
        self.b.push(Op::For(Box::new(For { id, n, kind, carries: vec![], body })));
    }

    fn carry(&mut self, combine: Option<Combine>, dtype: DType) -> Carry {
        let init = self.of(dtype);
        let [phi, out] = [(); 2].map(|()| self.b.fresh(dtype));
        Carry { phi, init, next: phi, out, combine }
    }

    fn reduction(&mut self) {
        let ((n, nests), id) = (self.n(), self.b.fresh_loop());
        let mut carries = vec![];
        for _ in 0..1 + self.random.below(2) {
            let dtype = self.random.pick(&VALUE_TYPES);
            use Combine::*;
            let ops: &[Combine] = if dtype.is_float() {
                &[Add, Mul, Min, Max]
            } else if dtype == DType::Bool {
                &[And, Or, Xor]
            } else {
                &[Add, Mul, Min, Max, And, Or, Xor]
            };
            let combine = self.random.pick(ops);
            carries.push(self.carry(Some(combine), dtype));
        }
        self.b.open();
        self.deeper(Some(id), nests, |me| {
            me.body(false);
            for carry in &mut carries {
                let dtype = me.b.dtype(carry.phi);
                let value = if me.random.chance(60) { me.plain(dtype) } else { me.of(dtype) };
                carry.next = match carry.combine.expect("a reduction") {
                    Combine::Add if dtype.is_float() && me.random.chance(40) => {
                        let other = me.of(dtype);
                        me.b.fma(value, other, carry.phi)
                    }
                    combine if me.random.chance(50) => me.b.binary(combine.binary(), carry.phi, value),
                    combine => me.b.binary(combine.binary(), value, carry.phi),
                };
            }
        });
        let body = self.b.close();
        let outs: Vec<ValueId> = carries.iter().map(|carry| carry.out).collect();
        self.b.push(Op::For(Box::new(For { id, n, kind: LoopKind::Lanes, carries, body })));
        outs.iter().for_each(|&out| self.store_value(out));
        self.pool.extend(outs);
    }

    /// An ordinary number that differs from iteration to iteration, as a type.
    fn plain(&mut self, dtype: DType) -> ValueId {
        let buffer = if dtype == DType::F64 { self.inputs[1] } else { self.inputs[0] };
        let mut addr = Addr { base: self.random.below(16) as i64, ..Addr::default() };
        let strides = [1, 1, 1, 2, 3];
        addr.terms = self.open.iter().map(|&id| (id, Extent::Const(self.random.pick(&strides)))).collect();
        let value = self.b.load(buffer, addr);
        self.b.convert(dtype, value)
    }

    fn sequence(&mut self, is_ordered: bool) {
        let ((n, nests), id) = (self.n(), self.b.fresh_loop());
        let mut carries: Vec<Carry> = (0..self.random.below(4))
            .map(|_| {
                let dtype = self.random.pick(&VALUE_TYPES);
                self.carry(None, dtype)
            })
            .collect();
        self.b.open();
        self.deeper(Some(id), nests, |me| {
            me.pool.extend(carries.iter().map(|carry| carry.phi));
            me.body(is_ordered);
            if is_ordered && me.random.chance(50) {
                me.b.push(Op::Swap(me.temps[0], me.temps[1]));
            }
            for carry in &mut carries {
                let dtype = me.b.dtype(carry.phi);
                carry.next = me.of(dtype);
            }
        });
        let body = self.b.close();
        let outs: Vec<ValueId> = carries.iter().map(|carry| carry.out).collect();
        self.b.push(Op::For(Box::new(For { id, n, kind: LoopKind::Seq, carries, body })));
        outs.iter().for_each(|&out| self.store_value(out));
        self.pool.extend(outs);
    }

    fn while_loop(&mut self) {
        let zero = self.b.int(0);
        let end = self.random.below(6) as i64;
        let dtype = self.random.pick(&VALUE_TYPES);
        let mut carry = self.carry(None, dtype);
        let [phi, out] = [(); 2].map(|()| self.b.fresh(DType::I64));
        self.b.open();
        let end = self.b.int(end);
        let condition = self.b.compare(Comparison::Lt, phi, end);
        let header = self.b.close();
        self.b.open();
        let next = self.deeper(None, true, |me| {
            me.pool.push(carry.phi);
            for _ in 0..4 {
                me.value();
            }
            carry.next = me.of(dtype);
            let one = me.b.int(1);
            me.b.binary(Binary::Add, phi, one)
        });
        let body = self.b.close();
        let counter = Carry { phi, init: zero, next, out, combine: None };
        let result = carry.out;
        self.b.push(Op::While(Box::new(While { carries: vec![counter, carry], header, condition, body })));
        self.store_value(result);
        self.pool.push(result);
    }

    fn switch(&mut self, is_ordered: bool) {
        let index = self.of(DType::I64);
        let branches = (0..1 + self.random.below(3))
            .map(|_| {
                self.b.open();
                self.deeper(None, true, |me| me.body(is_ordered));
                self.b.close()
            })
            .collect();
        self.b.push(Op::Switch(Box::new(Switch { index, branches })));
    }

    /// Writes a temporary and reads it, where the order of iterations is fixed.
    fn through_temps(&mut self, is_ordered: bool) {
        if !is_ordered {
            return;
        }
        let [first, second] = self.temps;
        let value = self.of(DType::F32);
        let addr = Addr { base: self.random.below(4) as i64, ..Addr::default() };
        self.b.store(first, addr.clone(), value);
        self.b.store(second, addr.clone(), value);
        let loaded = self.b.load(second, addr);
        self.pool.push(loaded);
    }
}

/// The bits of a random element, special ones among them.
fn element(random: &mut Random, dtype: DType) -> u64 {
    let bits = random.bits();
    let size = dtype.size_bytes() * 8;
    let mask = u64::MAX >> (64 - size);
    if dtype == DType::Bool {
        return bits & 1;
    }
    if dtype.is_float() {
        let special = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-40,
            -1e-40,
            1e-310,
            3e38,
            2.5,
            -3.5,
            65504.0,
            65520.0,
            6e-8,
        ];
        let value = match random.below(10) {
            0 => random.pick(&special),
            1 => return bits & mask,
            2 => (bits as i64 >> 40) as f64,
            _ => (bits >> 11) as f64 / (1u64 << 50) as f64 - 4.0,
        };
        return Scalar::float(dtype, value).to_bits() as u64;
    }
    match random.below(6) {
        0 => random.pick(&[0, 1, mask, mask >> 1, (mask >> 1) + 1, 2, mask - 1]),
        1 => bits & mask,
        _ => (bits as i64 >> 60) as u64 & mask,
    }
}

fn random_program(seed: u64) -> (Program, Vec<Vec<u8>>) {
    let mut random = Random(seed);
    let mut b = Builder::new(&format!("seed{seed}"));
    b.size_param();
    b.size_param();
    let mut inputs = vec![];
    let mut data = vec![];
    for number in 0..4 {
        // The first two hold ordinary numbers: sums of special ones hide the order of additions.
        let dtype = match number {
            0 => DType::F32,
            1 => DType::F64,
            _ => random.pick(&BUFFER_TYPES),
        };
        let element = |random: &mut Random, dtype| match number {
            0 | 1 => Scalar::float(dtype, (random.bits() >> 11) as f64 / (1u64 << 50) as f64 - 4.0).to_bits() as u64,
            _ => element(random, dtype),
        };
        inputs.push(b.buffer(dtype, Extent::Const(LEN), Role::Input(number)));
        data.push(
            (0..LEN).flat_map(|_| element(&mut random, dtype).to_le_bytes()[..dtype.size_bytes()].to_vec()).collect(),
        );
    }
    let temps = [(); 2].map(|()| b.buffer(DType::F32, Extent::Const(8), Role::Temp));
    let mut maker = Maker { b, random, inputs, n_outputs: 0, open: vec![], pool: vec![], temps, depth: 0 };
    for _ in 0..3 {
        let dtype = maker.random.pick(&VALUE_TYPES);
        let value = maker.constant(dtype);
        let value = maker.b.constant(value);
        maker.pool.push(value);
    }
    // Temporaries are written before they are read.
    let zero = maker.b.constant(Scalar::f32(0.0));
    for base in 0..8 {
        for temp in temps {
            maker.b.store(temp, Addr { base, ..Addr::default() }, zero);
        }
    }
    maker.body(true);
    maker.structure(true);
    maker.structure(true);
    maker.store();
    (maker.b.finish(), data)
}

fn run(executable: &Executable, sizes: &[i64], inputs: &[Vec<u8>], outs: &[DType]) -> Vec<Vec<u8>> {
    let mut outputs: Vec<Vec<u64>> = outs.iter().map(|_| vec![0; LEN as usize]).collect();
    let ins: Vec<*const u8> = inputs.iter().map(|bytes| bytes.as_ptr()).collect();
    let out_pointers: Vec<*mut u8> = outputs.iter_mut().map(|words| words.as_mut_ptr().cast()).collect();
    // SAFETY: every buffer has `LEN` elements of at most eight bytes.
    unsafe { executable.run(sizes, &ins, &out_pointers) }.expect("it runs");
    let bytes = outputs.iter().zip(outs).map(|(words, dtype)| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes[..LEN as usize * dtype.size_bytes()].to_vec()
    });
    bytes.collect()
}

fn is_nan(dtype: DType, bytes: &[u8]) -> bool {
    let mut bits = [0; 16];
    bits[..bytes.len()].copy_from_slice(bytes);
    dtype.is_float() && Scalar::from_bits(dtype, u128::from_le_bytes(bits)).as_f64().is_nan()
}

fn check(seed: u64) {
    let (program, inputs) = random_program(seed);
    // Half of the programs share even the shortest loops.
    let shared_work = seed.is_multiple_of(2).then_some(1);
    compare(&program, &inputs, shared_work, &[[(seed % 41) as i64, 17], [16, 0]]);
}

/// Runs a program every way, and its text back and forth.
fn compare(program: &Program, inputs: &[Vec<u8>], shared_work: Option<i64>, all_sizes: &[[i64; 2]]) {
    let name = &program.name;
    assert_eq!(verify(program), Ok(()), "{name}");
    let text = program.to_string();
    let back = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(back.to_string(), text, "{name}");
    for engine in engines() {
        let difference = difference(engine, program, program, inputs, shared_work, all_sizes);
        assert_eq!(difference, None, "{name}");
    }
}

/// The first place where code for `program` gives other bits than the interpreter gives for `oracle`, any NaN equal to
/// any other.
fn difference(
    engine: Engine,
    program: &Program,
    oracle: &Program,
    inputs: &[Vec<u8>],
    shared_work: Option<i64>,
    all_sizes: &[[i64; 2]],
) -> Option<String> {
    let outs: Vec<DType> =
        program.buffers.iter().filter(|decl| matches!(decl.role, Role::Output(_))).map(|decl| decl.dtype).collect();
    let options = |engine| Options { engine: Some(engine), shared_work, ..Options::default() };
    let native = compile(program, &options(engine)).unwrap_or_else(|error| panic!("{}: {error}", program.name));
    let oracle = compile(oracle, &options(Engine::Interpret)).expect("the interpreter takes everything");
    for sizes in all_sizes {
        let (got, want) = (run(&native, sizes, inputs, &outs), run(&oracle, sizes, inputs, &outs));
        for (number, ((got, want), &dtype)) in got.iter().zip(&want).zip(&outs).enumerate() {
            let size = dtype.size_bytes();
            for (at, (got, want)) in got.chunks(size).zip(want.chunks(size)).enumerate() {
                if got != want && !(is_nan(dtype, got) && is_nan(dtype, want)) {
                    let place = format!("{engine:?}, sizes {sizes:?}: output {number} {dtype}[{at}]");
                    return Some(format!("{place} is {got:x?}, not {want:x?}"));
                }
            }
        }
    }
    None
}

/// The ways to machine code that this machine runs, or the one that `PULLBACK_FUZZ_ENGINE` names.
fn engines() -> Vec<Engine> {
    let all = Engine::of_this_machine();
    let Ok(name) = std::env::var("PULLBACK_FUZZ_ENGINE") else { return all };
    all.into_iter().filter(|engine| format!("{engine:?}").eq_ignore_ascii_case(&name)).collect()
}

#[test]
fn native_code_gives_the_bits_of_the_interpreter() {
    let setting = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let first = setting("PULLBACK_FUZZ_SEED", 1u64);
    let n = setting("PULLBACK_FUZZ_PROGRAMS", 400u64);
    // More threads than this machine may have, so that loops split.
    pullback_runtime::set_threads(3);
    for seed in first..first + n {
        check(seed);
    }
}

/// Makes the first operation that has a twin into it: a sum into a difference, less into less or equal.
fn plant_fault(block: &mut [Inst]) -> bool {
    for inst in block {
        let planted = match &mut inst.op {
            Op::Binary(op @ Binary::Add, ..) => std::mem::replace(op, Binary::Sub) == Binary::Add,
            Op::Binary(op @ Binary::Min, ..) => std::mem::replace(op, Binary::Max) == Binary::Min,
            Op::Compare(op @ Comparison::Lt, ..) => std::mem::replace(op, Comparison::Le) == Comparison::Lt,
            Op::Fma(x, _, z) => {
                std::mem::swap(x, z);
                true
            }
            op => op.blocks_mut().into_iter().any(|block| plant_fault(block)),
        };
        if planted {
            return true;
        }
    }
    false
}

/// What the comparison is worth: code with one wrong operation must not pass for right.
#[test]
fn a_planted_wrong_operation_is_caught() {
    for engine in engines() {
        let (mut planted, mut caught) = (0, 0);
        for seed in 1..60 {
            let (program, inputs) = random_program(seed);
            let mut wrong = program.clone();
            // Counters of loops must stay as they are, or they may not end.
            let has_while = program.to_string().contains("while");
            if !has_while && plant_fault(&mut wrong.body) && verify(&wrong).is_ok() {
                planted += 1;
                caught += usize::from(difference(engine, &wrong, &program, &inputs, None, &[[17, 9]]).is_some());
            }
        }
        assert!(planted > 20 && caught * 4 > planted, "{engine:?}: {caught} of {planted} caught");
    }
}

/// Applies an operation to vectors of the given types, in a loop that has a tail.
fn check_op(name: &str, dtypes: &[DType], op: impl Fn(&mut Builder, &[ValueId]) -> ValueId) {
    let mut random = Random(dtypes.len() as u64 + name.len() as u64);
    let mut b = Builder::new(name);
    let len = Extent::Const(LEN);
    let ins: Vec<BufferId> =
        dtypes.iter().enumerate().map(|(number, &dtype)| b.buffer(dtype, len, Role::Input(number as u32))).collect();
    let data: Vec<Vec<u8>> = dtypes
        .iter()
        .map(|&dtype| {
            (0..LEN).flat_map(|_| element(&mut random, dtype).to_le_bytes()[..dtype.size_bytes()].to_vec()).collect()
        })
        .collect();
    b.for_loop(Extent::Const(LEN - 3), LoopKind::Lanes, &[], |b, i, _| {
        let at = Addr { terms: [(i, Extent::Const(1))].into_iter().collect(), ..Addr::default() };
        let values: Vec<ValueId> = ins.iter().map(|&buffer| b.load(buffer, at.clone())).collect();
        let result = op(b, &values);
        let out = b.buffer(b.dtype(result), len, Role::Output(0));
        b.store(out, at, result);
        vec![]
    });
    compare(&b.finish(), &data, None, &[[0, 0]]);
}

#[test]
fn every_operation_in_lanes() {
    use Binary::*;
    let unary = [
        Unary::Neg,
        Unary::Abs,
        Unary::Not,
        Unary::Sqrt,
        Unary::Floor,
        Unary::Ceil,
        Unary::Trunc,
        Unary::RoundEven,
        Unary::RoundAway,
        Unary::Sign,
        Unary::IsFinite,
        Unary::PopCount,
        Unary::LeadingZeros,
    ];
    let binary = [Add, Sub, Mul, Div, Rem, Min, Max, And, Or, Xor, ShiftLeft, ShiftRightLogical, ShiftRightArithmetic];
    let comparisons = [Comparison::Eq, Comparison::Ne, Comparison::Lt, Comparison::Le, Comparison::Gt, Comparison::Ge];
    for dtype in VALUE_TYPES {
        for op in unary {
            let is_float_op = matches!(op, Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc)
                || matches!(op, Unary::RoundEven | Unary::RoundAway | Unary::IsFinite);
            let fits = match op {
                Unary::Not => !dtype.is_float(),
                Unary::PopCount | Unary::LeadingZeros => dtype.is_integer(),
                _ if is_float_op => dtype.is_float(),
                _ => dtype != DType::Bool,
            };
            if fits {
                check_op(&format!("{} {dtype}", op.name()), &[dtype], |b, v| b.unary(op, v[0]));
            }
        }
        for op in binary {
            let fits = match op {
                Min | Max | Mul => true,
                And | Or | Xor => !dtype.is_float(),
                ShiftLeft | ShiftRightLogical | ShiftRightArithmetic => dtype.is_integer(),
                _ => dtype != DType::Bool,
            };
            if fits {
                check_op(&format!("{} {dtype}", op.name()), &[dtype; 2], |b, v| b.binary(op, v[0], v[1]));
            }
            if fits && matches!(op, ShiftLeft | ShiftRightLogical | ShiftRightArithmetic) {
                for amount in [0, 1, 5, 7, 8, 15, 16, 31, 32, 63, 64, 100] {
                    check_op(&format!("{} {dtype} by {amount}", op.name()), &[dtype], |b, v| {
                        let amount = b.constant(Scalar::int(dtype, amount));
                        b.binary(op, v[0], amount)
                    });
                }
            }
        }
        for op in comparisons {
            check_op(&format!("{} {dtype}", op.name()), &[dtype; 2], |b, v| b.compare(op, v[0], v[1]));
        }
        for other in VALUE_TYPES {
            check_op(&format!("{dtype} to {other}"), &[dtype], |b, v| b.convert(other, v[0]));
            check_op(&format!("select of {other} by {dtype}"), &[dtype, dtype, other, other], |b, v| {
                let condition = b.compare(Comparison::Ne, v[0], v[1]);
                b.select(condition, v[2], v[3])
            });
        }
    }
    for dtype in [DType::F32, DType::F64] {
        check_op(&format!("fma {dtype}"), &[dtype; 3], |b, v| b.fma(v[0], v[1], v[2]));
    }
}

#[test]
fn half_width_floats_of_all_sizes() {
    for half in [DType::F16, DType::BF16] {
        check_op(&format!("round to {half}"), &[DType::F32], |b, v| b.round(half, v[0]));
        check_op(&format!("widen {half}"), &[half], |_, v| v[0]);
        // Around the least normal number and below, and around the greatest.
        for scale in [2f64.powi(-14), 2f64.powi(-20), 2f64.powi(-26), 16380.0] {
            check_op(&format!("round {scale} to {half}"), &[DType::F32], |b, v| {
                let scale = b.constant(Scalar::float(DType::F32, scale));
                let x = b.binary(Binary::Mul, v[0], scale);
                b.round(half, x)
            });
        }
    }
}

/// Two temporaries change places each turn; loops inside read one and write the other.
#[test]
fn swapped_temporaries() {
    let mut b = Builder::new("swap");
    let len = Extent::Const(LEN);
    let x = b.buffer(DType::F32, len, Role::Input(0));
    let y = b.buffer(DType::F32, len, Role::Output(0));
    let [from, to] = [(); 2].map(|()| b.buffer(DType::F32, len, Role::Temp));
    let at = |id, base| Addr { base, terms: [(id, Extent::Const(1))].into_iter().collect(), ..Addr::default() };
    let copy = |b: &mut Builder, from, to| {
        b.for_loop(len, LoopKind::Lanes, &[], |b, i, _| {
            let value = b.load(from, at(i, 0));
            b.store(to, at(i, 0), value);
            vec![]
        });
    };
    copy(&mut b, x, from);
    copy(&mut b, x, to);
    b.for_loop(Extent::Const(7), LoopKind::Seq, &[], |b, _, _| {
        b.for_loop(Extent::Const(LEN - 1), LoopKind::Lanes, &[], |b, i, _| {
            let (left, right) = (b.load(from, at(i, 0)), b.load(from, at(i, 1)));
            let sum = b.binary(Binary::Add, left, right);
            b.store(to, at(i, 0), sum);
            vec![]
        });
        b.push(Op::Swap(from, to));
        vec![]
    });
    copy(&mut b, from, y);
    let data = (0..LEN).flat_map(|i| (i as f32).sqrt().to_le_bytes()).collect();
    compare(&b.finish(), &[data], Some(1), &[[0, 0]]);
}

/// More values alive than registers, and more than our own emitter takes.
#[test]
fn many_values_alive_at_once() {
    for n in [20, 300, 3000] {
        let mut b = Builder::new(&format!("{n} alive"));
        let x = b.buffer(DType::F32, Extent::Const(LEN), Role::Input(0));
        let y = b.buffer(DType::F32, Extent::Const(LEN), Role::Output(0));
        let at = |base| Addr { base, ..Addr::default() };
        let values: Vec<ValueId> = (0..n).map(|i| b.load(x, at(i))).collect();
        for (i, pair) in values.windows(2).rev().enumerate() {
            let sum = b.binary(Binary::Add, pair[0], pair[1]);
            b.store(y, at(i as i64), sum);
        }
        let data = (0..LEN).flat_map(|i| (i as f32).sqrt().to_le_bytes()).collect();
        compare(&b.finish(), &[data], None, &[[0, 0]]);
    }
}

/// The call leaves nothing in registers, so that a choice finds both operands and the mask in memory.
#[test]
fn a_choice_between_numbers_in_memory() {
    let text = r#"program "choice" sizes 2 {
  b0: float32[4096] input 0
  b1: float32[4096] output 0
  b2: float32[4096] output 1
  v0: int16 = const 5
  v1: int16 = const -6
  v2: bool = gt v0 v1
  v3: float32 = const 0.5
  for i0 < s0 seq {
    v4: float32 = load b0[2 + i0*1]
    v5: float32 = rem v4 v3
    v6: float32 = select v2 v3 v4
    store b1[i0*1] v5
    store b2[i0*1] v6
  }
}
"#;
    let program = parse(text).expect("it parses");
    let input = (0..LEN).flat_map(|i| (i as f32 * 0.37).to_le_bytes()).collect();
    compare(&program, &[input], None, &[[28, 17]]);
}
