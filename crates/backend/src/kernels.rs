//! What each kernel of a compiled program takes: time, bytes, arithmetic, and how near that is to what the machine can.
//!
//! A kernel is an outermost loop or call. Each is run by itself on memory of its own, filled with small numbers, so
//! neither arguments nor effects are needed; what only runs with real data (loops of unknown length, functions of the
//! host) has counts but no time. Deliberately no profiler: it never looks at a program that is running.

use std::fmt;
use std::sync::OnceLock;
use std::time::Instant;

use pullback_base::array::Buffer;
use pullback_base::{DType, Result, Scalar};
use pullback_codegen::{Executable, Options, compile};
use pullback_loops::{
    Addr, Builder, Carry, Extent, Inst, Kernel, LoopId, LoopKind, Op, Program, Role, ValueId, expand, for_each_inst,
};

use crate::cost::cost_of_inst;

/// The most that a machine does, measured.
#[derive(Clone, Copy, Debug)]
pub struct Roof {
    /// Bytes a second, read and written, of arrays beyond the caches.
    pub bytes_per_second: f64,
    /// Bytes a second of arrays that stay in the caches of the cores.
    pub cached_bytes_per_second: f64,
    /// `float32` operations a second; a fused multiply and add is two.
    pub flops_per_second: f64,
}

impl Roof {
    /// The roof of this machine on as many threads as programs use; measured once in a process.
    ///
    /// # Errors
    /// When the programs that measure it cannot be compiled.
    pub fn of_this_machine() -> Result<Roof> {
        static ROOF: OnceLock<Roof> = OnceLock::new();
        if let Some(&roof) = ROOF.get() {
            return Ok(roof);
        }
        let roof = Roof {
            bytes_per_second: bytes_per_second()?,
            cached_bytes_per_second: cached_bytes_per_second()?,
            flops_per_second: flops_per_second()?,
        };
        Ok(*ROOF.get_or_init(|| roof))
    }

    /// The least seconds for so many bytes and operations.
    fn seconds(&self, bytes: f64, flops: f64) -> f64 {
        let speed = if bytes <= CACHED_BYTES { self.cached_bytes_per_second } else { self.bytes_per_second };
        (bytes / speed).max(flops / self.flops_per_second)
    }
}

/// What stays in the caches between two runs, on all machines of today.
const CACHED_BYTES: f64 = (1 << 19) as f64;

/// One kernel.
#[derive(Clone, Debug)]
pub struct KernelCost {
    /// What it is.
    pub name: String,
    /// Seconds of one run, where it can run by itself.
    pub seconds: Option<f64>,
    /// Bytes read and written, each buffer once.
    pub bytes: f64,
    /// Operations on floats, those inside of functions counted one by one.
    pub flops: f64,
    /// The part of the machine's roof that it reaches, from 0 to 1.
    pub of_roof: Option<f64>,
}

impl fmt::Display for KernelCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelCost { name, seconds, bytes, flops, of_roof } = self;
        let time = seconds.map_or("-".to_owned(), |s| format!("{:.1}", s * 1e6));
        let part = of_roof.map_or("-".to_owned(), |part| format!("{:.0}%", part * 100.0));
        write!(f, "{time:>10} µs {bytes:>12.0} bytes {flops:>12.0} flops {part:>5} of roof  {name}")
    }
}

/// The kernels of a program, in their order.
///
/// # Errors
/// When one of them cannot be compiled by itself.
pub fn kernel_costs(program: &Program) -> Result<Vec<KernelCost>> {
    let roof = Roof::of_this_machine()?;
    let program = expand(program);
    let numbers = (0..program.body.len()).filter(|&number| is_kernel(&program.body[number]));
    numbers.map(|number| kernel_cost(&program, number, &roof)).collect()
}

/// What each kernel of a program is, in their order.
pub(crate) fn kernel_names(program: &Program) -> Vec<String> {
    program.body.iter().filter(|inst| is_kernel(inst)).map(name_of).collect()
}

fn is_kernel(inst: &Inst) -> bool {
    matches!(inst.op, Op::For(_) | Op::While(_) | Op::Switch(_) | Op::Call(_))
}

fn kernel_cost(program: &Program, number: usize, roof: &Roof) -> Result<KernelCost> {
    let inst = &program.body[number];
    let cost = cost_of_inst(program, inst);
    let seconds = if runs_alone(inst) { Some(least_seconds(&alone(program, number))?) } else { None };
    let of_roof = seconds.map(|seconds| roof.seconds(cost.bytes, cost.flops) / seconds);
    Ok(KernelCost { name: name_of(inst), seconds, bytes: cost.bytes, flops: cost.flops, of_roof })
}

fn runs_alone(inst: &Inst) -> bool {
    let mut alone = true;
    for_each_inst(std::slice::from_ref(inst), &mut |inst| {
        let is_host = matches!(&inst.op, Op::Call(call) if matches!(call.kernel, Kernel::Host(..)));
        alone &= !is_host && !matches!(inst.op, Op::While(_));
    });
    alone
}

/// The program with one kernel alone, all of whose memory is given: totals of other loops are ones.
fn alone(program: &Program, number: usize) -> Program {
    let mut alone = Program { body: vec![], ..program.clone() };
    let mut n_given = 0;
    for decl in &mut alone.buffers {
        if !matches!(decl.role, Role::Const(_)) {
            decl.role = Role::Output(n_given);
            n_given += 1;
        }
    }
    for (at, inst) in program.body.iter().enumerate() {
        match &inst.op {
            _ if at == number => alone.body.push(inst.clone()),
            Op::For(inner) => define(&mut alone, &inner.carries),
            Op::While(inner) => define(&mut alone, &inner.carries),
            Op::Switch(_) | Op::Call(_) | Op::Swap(..) | Op::Store(..) => {}
            _ => alone.body.push(inst.clone()),
        }
    }
    alone
}

fn define(alone: &mut Program, carries: &[Carry]) {
    for carry in carries {
        let one = Scalar::one(alone.values[carry.out.index()]);
        alone.body.push(Inst { dst: carry.out, op: Op::Const(one) });
    }
}

fn name_of(inst: &Inst) -> String {
    match &inst.op {
        Op::For(inner) => {
            let mut n = 0;
            for_each_inst(&inner.body, &mut |inst| n += usize::from(inst.op.has_value()));
            format!("{} loop of {} iterations, {n} operations", kind_of(inner.kind), length_of(inner.n))
        }
        Op::While(_) => "while loop".to_owned(),
        Op::Switch(inner) => format!("choice of {} branches", inner.branches.len()),
        Op::Call(call) => format!("call {}", call.kernel),
        _ => unreachable!("only loops, choices and calls are kernels"),
    }
}

fn kind_of(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::Seq => "ordered",
        LoopKind::Lanes => "vector",
        LoopKind::Parallel => "parallel",
    }
}

fn length_of(extent: Extent) -> String {
    match extent {
        Extent::Const(n) => n.to_string(),
        Extent::Size(number) => format!("size {number}"),
    }
}

/// Ones of floats and zeros of everything else: positions in memory stay inside.
fn fill(bytes: &mut [u8], dtype: DType) {
    if dtype.is_float() {
        let one = Scalar::one(dtype).to_bits().to_le_bytes();
        bytes.chunks_exact_mut(dtype.size_bytes()).for_each(|to| to.copy_from_slice(&one[..dtype.size_bytes()]));
    } else {
        bytes.fill(0);
    }
}

/// The best of a few runs of a program whose buffers are all outputs or constants.
fn least_seconds(program: &Program) -> Result<f64> {
    const ROUNDS: usize = 5;
    let native = compile(program, &Options::default())?;
    let mut memory = vec![];
    for decl in program.buffers.iter().filter(|decl| !matches!(decl.role, Role::Const(_))) {
        let Extent::Const(n) = decl.len else { pullback_base::bail!(Internal, "a jaxpr's program has known sizes") };
        let mut buffer = Buffer::allocate(n as usize * decl.dtype.size_bytes())?;
        fill(buffer.bytes_mut(), decl.dtype);
        memory.push(buffer);
    }
    let mut outs: Vec<&mut [u8]> = memory.iter_mut().map(|buffer| buffer.bytes_mut()).collect();
    best_of(ROUNDS, &native, &mut outs)
}

fn best_of(rounds: usize, native: &Executable, outs: &mut [&mut [u8]]) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        native.run_on(&[], &[], outs)?;
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

fn at(terms: &[(LoopId, i64)]) -> Addr {
    Addr { terms: terms.iter().map(|&(id, stride)| (id, Extent::Const(stride))).collect(), ..Addr::default() }
}

/// Bytes that a scaled copy of an array beyond the caches moves.
fn bytes_per_second() -> Result<f64> {
    const BLOCKS: i64 = 1 << 10;
    const BLOCK: i64 = 1 << 14;
    let mut b = Builder::new("roof of memory");
    let [x, y] = [0, 1].map(|number| b.buffer(DType::F32, Extent::Const(BLOCKS * BLOCK), Role::Output(number)));
    let half = b.constant(Scalar::f32(0.5));
    b.for_loop(Extent::Const(BLOCKS), LoopKind::Parallel, &[], |b, block, _| {
        b.for_loop(Extent::Const(BLOCK), LoopKind::Lanes, &[], |b, id, _| {
            let value = b.load(x, at(&[(block, BLOCK), (id, 1)]));
            let value = b.binary(pullback_loops::Binary::Mul, value, half);
            b.store(y, at(&[(block, BLOCK), (id, 1)]), value);
            vec![]
        });
        vec![]
    });
    Ok((2 * BLOCKS * BLOCK * 4) as f64 / least_seconds(&b.finish())?)
}

/// Bytes that a scaled copy moves again and again between memory in the nearest cache, on every thread.
fn cached_bytes_per_second() -> Result<f64> {
    const TASKS: i64 = 64;
    const PASSES: i64 = 256;
    const BLOCK: i64 = 1 << 11;
    let mut b = Builder::new("roof of the caches");
    let [x, y] = [0, 1].map(|number| b.buffer(DType::F32, Extent::Const(TASKS * BLOCK), Role::Output(number)));
    let half = b.constant(Scalar::f32(0.5));
    b.for_loop(Extent::Const(TASKS), LoopKind::Parallel, &[], |b, task, _| {
        b.for_loop(Extent::Const(PASSES), LoopKind::Seq, &[], |b, _, _| {
            b.for_loop(Extent::Const(BLOCK), LoopKind::Lanes, &[], |b, id, _| {
                let value = b.load(x, at(&[(task, BLOCK), (id, 1)]));
                let value = b.binary(pullback_loops::Binary::Mul, value, half);
                b.store(y, at(&[(task, BLOCK), (id, 1)]), value);
                vec![]
            });
            vec![]
        });
        vec![]
    });
    Ok((2 * TASKS * PASSES * BLOCK * 4) as f64 / least_seconds(&b.finish())?)
}

/// Operations of chains of fused multiplications and additions in registers.
fn flops_per_second() -> Result<f64> {
    const CHAINS: usize = 10;
    const STEPS: i64 = 1 << 14;
    const TASKS: i64 = 64;
    const LANES: i64 = 16;
    let mut b = Builder::new("roof of arithmetic");
    let x = b.buffer(DType::F32, Extent::Const(TASKS * LANES), Role::Output(0));
    let half = b.constant(Scalar::f32(0.5));
    b.for_loop(Extent::Const(TASKS), LoopKind::Parallel, &[], |b, task, _| {
        b.for_loop(Extent::Const(LANES), LoopKind::Lanes, &[], |b, id, _| {
            let addr = at(&[(task, LANES), (id, 1)]);
            let start = b.load(x, addr.clone());
            let inits: Vec<_> = (0..CHAINS).map(|_| (start, None)).collect();
            let chains = b.for_loop(Extent::Const(STEPS), LoopKind::Seq, &inits, |b, _, phis| {
                phis.iter().map(|&phi| b.fma(phi, half, half)).collect()
            });
            let sum = |b: &mut Builder, x: ValueId, y: ValueId| b.binary(pullback_loops::Binary::Add, x, y);
            let total = chains[1..].iter().fold(chains[0], |total, &chain| sum(b, total, chain));
            b.store(x, addr, total);
            vec![]
        });
        vec![]
    });
    Ok((2 * TASKS * LANES * STEPS * CHAINS as i64) as f64 / least_seconds(&b.finish())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_times_counts_and_a_part_of_the_roof() {
        let text = "{ lambda ; a:f32[100000] b:f32[64,64]. let c:f32[100000] = sin a; d:f32[64,64] = dot_general[dimension_numbers=(([1], [0]), ([], [])) precision=None preferred_element_type=float32 out_sharding=None] b b in (c, d) }";
        let jaxpr = pullback_ir::parse_jaxpr(text, &pullback_core::find_primitive).expect("it parses");
        let jaxpr = pullback_ir::JaxprRef::new(jaxpr);
        let program = pullback_compile::compile(&jaxpr, &Default::default()).expect("it compiles").program;
        let costs = kernel_costs(&program).expect("they run");
        let flops: Vec<f64> = costs.iter().map(|cost| cost.flops).collect();
        assert!(flops.contains(&(2.0 * 64.0 * 64.0 * 64.0)), "{flops:?}");
        for cost in &costs {
            assert!(cost.seconds.is_some_and(|seconds| seconds > 0.0), "{cost}");
            assert!(cost.of_roof.is_some_and(|part| part > 0.0), "{cost}");
            assert!(cost.bytes > 0.0 && cost.flops > 0.0, "{cost}");
        }
    }
}
