//! What a compiled program does, counted from its loops: arithmetic, functions, bytes, memory.
//!
//! Counts are of the program that runs, after fusion: what is neither stored nor loaded costs no bytes, and what is
//! computed where it is used counts each time. A loop of unknown length counts once; of branches the dearest counts.

use pullback_base::{DType, Result};
use pullback_compile::{Options, compile, compile_donating};
use pullback_ir::JaxprRef;
use pullback_loops::{Binary, BufferId, Call, Extent, Inst, Kernel, Op, Program, Role, Unary, ValueId};
use rustc_hash::FxHashMap;

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunCost {
    /// Arithmetic operations on floats; a fused multiply and add is two.
    pub flops: f64,
    /// Functions of floats that take many operations, such as `sin`.
    pub transcendentals: f64,
    /// Bytes read and written, each buffer of a nest once.
    pub bytes: f64,
}

/// Bytes of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Of the arguments.
    pub arguments: usize,
    /// Of the results.
    pub results: usize,
    /// Of temporaries, those that share memory counted once.
    pub temporaries: usize,
    /// Of constants.
    pub constants: usize,
    /// Of results that lie in the memory of donated arguments.
    pub aliases: usize,
}

/// Counts of one run of a jaxpr.
///
/// # Errors
/// `NotImplemented` for what cannot be compiled.
pub fn run_cost(jaxpr: &JaxprRef) -> Result<RunCost> {
    let program = compile(jaxpr, &Options::default())?.program;
    let mut total = RunCost::default();
    for inst in &program.body {
        let cost = cost_of_inst(&program, inst);
        total.flops += cost.flops;
        total.transcendentals += cost.transcendentals;
        total.bytes += cost.bytes;
    }
    Ok(total)
}

/// Memory of one run of a jaxpr that is given the marked arguments; `donated` may be empty.
///
/// # Errors
/// `NotImplemented` for what cannot be compiled.
pub fn memory(jaxpr: &JaxprRef, donated: &[bool]) -> Result<Memory> {
    let lowered = compile_donating(jaxpr, &Options::default(), donated)?;
    let (program, avals) = (lowered.program, jaxpr.in_avals());
    let native = pullback_codegen::compile(&program, &Default::default())?;
    let is_constant = |role: &Role| matches!(role, Role::Const(_));
    let constants = program.buffers.iter().enumerate().filter(|(_, decl)| is_constant(&decl.role));
    Ok(Memory {
        arguments: avals.iter().map(|aval| aval.size_bytes()).sum(),
        results: jaxpr.out_avals().iter().map(|aval| aval.size_bytes()).sum(),
        temporaries: native.temporary_bytes(),
        aliases: lowered.taken.iter().flatten().map(|&input| avals[input].size_bytes()).sum(),
        constants: constants.map(|(i, _)| buffer_bytes(&program, BufferId(i as u32)) as usize).sum(),
    })
}

/// Counts of one run of an instruction.
pub(crate) fn cost_of_inst(program: &Program, inst: &Inst) -> RunCost {
    let cost = cost_of(program, std::slice::from_ref(inst));
    let BlockCost { flops, transcendentals, .. } = cost;
    RunCost { flops, transcendentals, bytes: cost.bytes.values().sum() }
}

/// Counts of a block, with bytes by buffer.
#[derive(Default)]
struct BlockCost {
    flops: f64,
    transcendentals: f64,
    bytes: FxHashMap<BufferId, f64>,
}

impl BlockCost {
    fn add(&mut self, other: BlockCost, times: f64) {
        self.flops += other.flops * times;
        self.transcendentals += other.transcendentals * times;
        #[expect(clippy::iter_over_hash_type, reason = "sums into a table, in any order")]
        for (buffer, bytes) in other.bytes {
            *self.bytes.entry(buffer).or_default() += bytes * times;
        }
    }

    fn touch(&mut self, buffer: BufferId, bytes: f64) {
        *self.bytes.entry(buffer).or_default() += bytes;
    }

    fn total(&self) -> f64 {
        self.flops + self.transcendentals + self.bytes.values().sum::<f64>()
    }
}

fn buffer_bytes(program: &Program, buffer: BufferId) -> f64 {
    let decl = &program.buffers[buffer.index()];
    match decl.len {
        Extent::Const(n) => n as f64 * decl.dtype.size_bytes() as f64,
        Extent::Size(_) => f64::INFINITY,
    }
}

fn cost_of(program: &Program, insts: &[Inst]) -> BlockCost {
    let mut cost = BlockCost::default();
    let is_float = |value: ValueId| program.values[value.index()].is_float();
    for inst in insts {
        match &inst.op {
            Op::Unary(op, x) if is_float(*x) => match is_function(*op) {
                true => cost.transcendentals += 1.0,
                false => cost.flops += 1.0,
            },
            Op::Binary(Binary::Pow | Binary::Atan2, ..) => cost.transcendentals += 1.0,
            Op::Binary(_, x, _) | Op::Compare(_, x, _) | Op::Select(_, x, _) if is_float(*x) => cost.flops += 1.0,
            Op::Fma(..) => cost.flops += 2.0,
            Op::Load(buffer, _) | Op::Store(buffer, _, _) => {
                cost.touch(*buffer, program.buffers[buffer.index()].dtype.size_bytes() as f64);
            }
            Op::For(f) => {
                let mut inner = BlockCost::default();
                let times = if let Extent::Const(n) = f.n { n as f64 } else { 1.0 };
                inner.add(cost_of(program, &f.body), times);
                if is_nest(&f.body) {
                    // What the iterations of one nest share comes from a cache.
                    #[expect(clippy::iter_over_hash_type, reason = "each entry for itself")]
                    for (buffer, bytes) in &mut inner.bytes {
                        *bytes = bytes.min(buffer_bytes(program, *buffer));
                    }
                }
                cost.add(inner, 1.0);
            }
            Op::While(_) => {
                for block in inst.op.blocks() {
                    cost.add(cost_of(program, block), 1.0);
                }
            }
            Op::Switch(_) => {
                let branches = inst.op.blocks().into_iter().map(|block| cost_of(program, block));
                let dearest = branches.max_by(|a, b| a.total().total_cmp(&b.total()));
                cost.add(dearest.unwrap_or_default(), 1.0);
            }
            Op::Call(call) => add_call(program, call, &mut cost),
            Op::Unary(..)
            | Op::Binary(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Const(_)
            | Op::Index(_)
            | Op::Size(_)
            | Op::Convert(..)
            | Op::Bitcast(..)
            | Op::Round(..)
            | Op::Lookup(..)
            | Op::Swap(..) => {}
        }
    }
    cost
}

/// Whether a loop with this body is part of one nest, rather than a program that runs step by step.
fn is_nest(body: &[Inst]) -> bool {
    let is_step = |inst: &&Inst| matches!(inst.op, Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..));
    let n_loops = body.iter().filter(|inst| matches!(inst.op, Op::For(_))).count();
    n_loops <= 1 && !body.iter().any(|inst| is_step(&inst))
}

fn add_call(program: &Program, call: &Call, cost: &mut BlockCost) {
    match &call.kernel {
        Kernel::Gemm(gemm) => {
            let products = gemm.sizes.iter().product::<usize>() as f64;
            let is_complex = matches!(gemm.dtype, DType::C64 | DType::C128);
            cost.flops += products * if is_complex { 8.0 } else { 2.0 };
        }
        // Of dense bodies, as of functions of the host, only the bytes are known.
        Kernel::Sort(_) | Kernel::Copy(_) | Kernel::Host(..) | Kernel::Body(..) => {}
    }
    for (buffer, _) in &call.args {
        let whole = buffer_bytes(program, *buffer);
        let size = program.buffers[buffer.index()].dtype.size_bytes() as f64;
        let bytes = if let Kernel::Copy(n) = &call.kernel { *n as f64 * size } else { whole };
        cost.touch(*buffer, bytes);
    }
}

fn is_function(op: Unary) -> bool {
    match op {
        Unary::Neg
        | Unary::Abs
        | Unary::Not
        | Unary::Floor
        | Unary::Ceil
        | Unary::Trunc
        | Unary::RoundEven
        | Unary::RoundAway
        | Unary::Sign
        | Unary::IsFinite
        | Unary::PopCount
        | Unary::LeadingZeros => false,
        Unary::Sqrt
        | Unary::Exp
        | Unary::Exp2
        | Unary::Expm1
        | Unary::Log
        | Unary::Log2
        | Unary::Log1p
        | Unary::Sin
        | Unary::Cos
        | Unary::Tan
        | Unary::Asin
        | Unary::Acos
        | Unary::Atan
        | Unary::Sinh
        | Unary::Cosh
        | Unary::Asinh
        | Unary::Acosh
        | Unary::Atanh
        | Unary::Tanh
        | Unary::Logistic
        | Unary::Erf
        | Unary::Erfc
        | Unary::ErfInv
        | Unary::Rsqrt
        | Unary::Cbrt
        | Unary::Lgamma
        | Unary::Digamma => true,
    }
}
