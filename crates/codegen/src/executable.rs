//! A program that is ready to run.

use pullback_base::{DType, Result, bail};
use pullback_loops::*;
use pullback_native::{BoundKernel, Code, Level, Machine, best_level, check_lengths};
use pullback_runtime::FlushSubnormals;

use crate::analysis::{NEVER_SHARED, work_of};
use crate::arena::layout;
use crate::x86;

/// Whether this build has Cranelift.
const HAS_CRANELIFT: bool = cfg!(all(feature = "cranelift", not(target_family = "wasm")));

/// What runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// Machine code by Cranelift, where the feature of that name brings it.
    Cranelift,
    /// Machine code by our own emitter, with 256-bit lanes; by Cranelift, if it is there, what it does not take.
    Avx2,
    /// As above, with 512-bit lanes.
    Avx512,
    /// The interpreter of the loop IR.
    Interpret,
}

impl Engine {
    /// Every engine that makes code for this machine, the best first; the interpreter where none does.
    pub fn of_this_machine() -> Vec<Engine> {
        let own = match best_level() {
            Some(Level::Avx512) => vec![Engine::Avx512, Engine::Avx2],
            Some(Level::Avx2) => vec![Engine::Avx2],
            None => vec![],
        };
        let portable = HAS_CRANELIFT.then_some(Engine::Cranelift);
        let last = portable.or_else(|| own.is_empty().then_some(Engine::Interpret));
        own.into_iter().chain(last).collect()
    }
}

/// Choices for [`compile`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What runs the program; by default what `PULLBACK_ENGINE` says (`avx512`, `avx2`, `cranelift` or `interpret`),
    /// else the best that this machine has.
    pub engine: Option<Engine>,
    /// Whether to keep the disassembly for [`Executable::machine_code`].
    pub disassemble: bool,
    /// Operations from which on threads share a parallel loop, in place of the usual number; at the greatest number none do.
    pub shared_work: Option<i64>,
}

impl Options {
    fn engine(&self) -> Result<Engine> {
        if let Some(engine) = self.engine {
            return Ok(engine);
        }
        match std::env::var("PULLBACK_ENGINE").as_deref() {
            Err(_) | Ok("") => Ok(Engine::of_this_machine()[0]),
            Ok("cranelift") => Ok(Engine::Cranelift),
            Ok("avx2") => Ok(Engine::Avx2),
            Ok("avx512") => Ok(Engine::Avx512),
            Ok("interpret") => Ok(Engine::Interpret),
            Ok(other) => {
                bail!(Value, "PULLBACK_ENGINE is {other:?}; it should be `avx512`, `avx2`, `cranelift` or `interpret`")
            }
        }
    }
}

/// A compiled program. It may run on several threads at once.
pub struct Executable {
    program: Program,
    /// `None` runs on the interpreter.
    code: Option<Code>,
    disassembly: Option<String>,
    is_long: bool,
}

/// Machine code, the kernels that it calls by number, and its disassembly if it was asked for.
pub(crate) struct Made {
    pub(crate) machine: Machine,
    pub(crate) kernels: Vec<CalledKernel>,
    pub(crate) disassembly: Option<String>,
}

/// Operations from which a run is worth the handover of a front end's lock, a few microseconds' worth.
const LONG_WORK: i64 = 1 << 16;

/// Elements from which a kernel counts as long; most do more than one operation for each.
const LONG_KERNEL: usize = 1 << 13;

/// Whether a run may take long: by its operations as far as they are known, or because it calls the host, which may need
/// a lock that the caller holds.
fn is_long(block: &[Inst]) -> bool {
    let waits = |inst: &Inst| match &inst.op {
        Op::While(_) => true,
        Op::Call(call) => match &call.kernel {
            Kernel::Host(..) => true,
            kernel => kernel.spans().iter().sum::<usize>() >= LONG_KERNEL,
        },
        op => op.blocks().into_iter().any(is_long),
    };
    work_of(block) >= LONG_WORK || block.iter().any(waits)
}

/// Compiles a program. Symbolic operations are expanded here.
///
/// # Errors
/// When the program is wrong (checked in debug builds), or the machine is one that code generation does not know.
pub fn compile(program: &Program, options: &Options) -> Result<Executable> {
    let program = expand(program);
    if cfg!(debug_assertions)
        && let Err(errors) = verify_expanded(&program)
    {
        bail!(Internal, "{} is not a valid program: {}", program.name, errors.join("; "));
    }
    check_kernels(&program)?;
    let made = match options.engine()? {
        Engine::Interpret => None,
        Engine::Avx2 => own_code(&program, options, Level::Avx2)?,
        Engine::Avx512 => own_code(&program, options, Level::Avx512)?,
        Engine::Cranelift => Some(portable_code(&program, options)?),
    };
    let is_long = is_long(&program.body);
    let Some(Made { machine, kernels, disassembly }) = made else {
        return Ok(Executable { program, code: None, disassembly: None, is_long });
    };
    let (kernels, layout) = (bind_kernels(&program, kernels), layout(&program));
    let (name, n_sizes, buffers) = (program.name.clone(), program.n_sizes as usize, program.buffers.clone());
    // SAFETY: all of it is of this program.
    let code = unsafe { Code::new(name, n_sizes, buffers, layout, kernels, machine, is_long)? };
    Ok(Executable { program, code: Some(code), disassembly, is_long })
}

/// Whether this build has every kernel that the program calls.
fn check_kernels(program: &Program) -> Result<()> {
    let mut found = Ok(());
    for_each_inst(&program.body, &mut |inst| {
        if let (Op::Call(call), Ok(())) = (&inst.op, &found) {
            found = pullback_kernels::check(&call.kernel);
        }
    });
    found
}

/// Code by our own emitter; what it leaves is Cranelift's, if this build has it, else is done by one thread.
fn own_code(program: &Program, options: &Options, level: Level) -> Result<Option<Made>> {
    match x86::compile(program, options, level)? {
        Some(made) => Ok(Some(made)),
        None if HAS_CRANELIFT => portable_code(program, options).map(Some),
        None => x86::compile(program, &Options { shared_work: Some(NEVER_SHARED), ..*options }, level),
    }
}

#[cfg(all(feature = "cranelift", not(target_family = "wasm")))]
fn portable_code(program: &Program, options: &Options) -> Result<Made> {
    crate::cranelift::compile(program, options)
}

#[cfg(not(all(feature = "cranelift", not(target_family = "wasm"))))]
fn portable_code(_: &Program, _: &Options) -> Result<Made> {
    bail!(
        NotImplemented,
        "this build has no Cranelift: build with the feature `cranelift`, of `pullback` or `pullback-codegen`"
    )
}

/// Kernels with the bytes of their arguments. Their dtypes say the width of elements; a host function's are those of
/// its buffers.
fn bind_kernels(program: &Program, kernels: Vec<CalledKernel>) -> Vec<BoundKernel> {
    let bind = |(kernel, buffers): CalledKernel| {
        let dtypes: Vec<DType> = buffers.iter().map(|buffer| program.buffers[buffer.index()].dtype).collect();
        BoundKernel::new(kernel, &dtypes)
    };
    kernels.into_iter().map(bind).collect()
}

/// A kernel with the buffers it is called on.
pub(crate) type CalledKernel = (Kernel, Vec<BufferId>);

impl Executable {
    /// Runs the program on the bytes of its inputs and outputs, in the order of their numbers.
    ///
    /// # Errors
    /// `Internal` when a slice is shorter than its buffer; when a kernel fails, memory cannot be had, or the user interrupts.
    pub fn run_on(&self, sizes: &[i64], inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<()> {
        if let Some(code) = &self.code {
            return code.run_on(sizes, inputs, outputs);
        }
        check_lengths(&self.program.name, &self.program.buffers, sizes, inputs, outputs)?;
        let inputs: Vec<*const u8> = inputs.iter().map(|bytes| bytes.as_ptr()).collect();
        let outputs: Vec<*mut u8> = outputs.iter_mut().map(|bytes| bytes.as_mut_ptr()).collect();
        // SAFETY: every slice is as long as its buffer, and outputs are borrowed for writing alone.
        unsafe { self.run(sizes, &inputs, &outputs) }
    }

    /// Runs the program. Pointers are to the first byte of each input and output, in the order of their numbers.
    ///
    /// # Safety
    /// Each pointer must be valid for the bytes of its buffer, outputs for writing and apart from everything else.
    ///
    /// # Errors
    /// As [`Executable::run_on`].
    pub unsafe fn run(&self, sizes: &[i64], inputs: &[*const u8], outputs: &[*mut u8]) -> Result<()> {
        if let Some(code) = &self.code {
            // SAFETY: by contract.
            return unsafe { code.run(sizes, inputs, outputs) };
        }
        let _flush = FlushSubnormals::new();
        // SAFETY: by contract.
        unsafe { self.run_interpreted(sizes, inputs, outputs) }
    }

    /// Whether a run may take long, so that who holds a lock should let go of it.
    pub fn is_long(&self) -> bool {
        self.is_long
    }

    /// The program as it runs: expanded.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether it is machine code.
    pub fn is_native(&self) -> bool {
        self.code.is_some()
    }

    /// Its machine code alone; nothing where it is interpreted.
    pub fn into_code(self) -> Option<Code> {
        self.code
    }

    /// Bytes of temporaries in one run, for a program without size parameters.
    pub fn temporary_bytes(&self) -> usize {
        layout(&self.program).known_bytes
    }

    /// The disassembly, if [`Options::disassemble`] asked for it.
    pub fn machine_code(&self) -> String {
        self.disassembly.clone().unwrap_or_default()
    }

    /// # Safety
    /// As [`Executable::run`].
    unsafe fn run_interpreted(&self, sizes: &[i64], inputs: &[*const u8], outputs: &[*mut u8]) -> Result<()> {
        let mut ins: Vec<&[u8]> = vec![&[]; inputs.len()];
        let mut outs: Vec<&mut [u8]> = outputs.iter().map(|_| &mut [][..]).collect();
        for decl in &self.program.buffers {
            let n = match decl.len {
                Extent::Const(n) => n,
                Extent::Size(number) => sizes[number as usize],
            };
            let size_bytes = n.max(0) as usize * decl.dtype.size_bytes();
            match decl.role {
                // SAFETY: by contract. Empty buffers may have any pointer.
                Role::Input(number) if size_bytes > 0 => unsafe {
                    ins[number as usize] = std::slice::from_raw_parts(inputs[number as usize], size_bytes);
                },
                // SAFETY: by contract.
                Role::Output(number) if size_bytes > 0 => unsafe {
                    outs[number as usize] = std::slice::from_raw_parts_mut(outputs[number as usize], size_bytes);
                },
                Role::Input(_) | Role::Output(_) | Role::Temp | Role::Const(_) => {}
            }
        }
        interpret(&self.program, sizes, &ins, &mut outs, &pullback_kernels::Table)
    }
}
