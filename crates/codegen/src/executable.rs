//! A program that is ready to run.

use std::sync::Mutex;

use pullback_base::array::Buffer;
use pullback_base::{DType, Error, Result, bail};
use pullback_loops::*;
use pullback_runtime::FlushSubnormals;
use smallvec::SmallVec;

use crate::analysis::work_of;
use crate::arena::Arena;
use crate::host::{self, BoundKernel, Run};
use crate::native::{self, Native};
use crate::x86;

/// What runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Engine {
    /// Machine code by Cranelift.
    Cranelift,
    /// Machine code by our own emitter, with 256-bit lanes; by Cranelift what it does not take.
    Avx2,
    /// Machine code by our own emitter, with 512-bit lanes; by Cranelift what it does not take.
    Avx512,
    /// The interpreter of the loop IR.
    Interpret,
}

impl Engine {
    /// Every engine that makes code for this machine, the best first.
    pub fn of_this_machine() -> Vec<Engine> {
        let own = match x86::best_level() {
            Some(x86::Level::Avx512) => vec![Engine::Avx512, Engine::Avx2],
            Some(x86::Level::Avx2) => vec![Engine::Avx2],
            None => vec![],
        };
        own.into_iter().chain([Engine::Cranelift]).collect()
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
    /// Operations from which on threads share a parallel loop, in place of the usual number.
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
    arena: Arena,
    kernels: Vec<BoundKernel>,
    /// The same as the code calls them, where executables may be saved.
    called: Vec<CalledKernel>,
    /// Memory of the constants, and where each starts.
    constants: Vec<Option<Buffer>>,
    /// `None` runs on the interpreter.
    native: Option<Native>,
    is_long: bool,
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
    let (native, kernels) = match options.engine()? {
        Engine::Interpret => (None, vec![]),
        engine => {
            let own = match engine {
                Engine::Avx2 => x86::compile(&program, options, x86::Level::Avx2)?,
                Engine::Avx512 => x86::compile(&program, options, x86::Level::Avx512)?,
                Engine::Cranelift | Engine::Interpret => None,
            };
            let (native, kernels) = own.map_or_else(|| native::compile(&program, options), Ok)?;
            (Some(native), kernels)
        }
    };
    let called = kernels.clone();
    let kernels = bind_kernels(&program, kernels);
    let constants = constants_of(&program)?;
    let is_long = is_long(&program.body);
    let arena = Arena::new(&program);
    let mut program = program;
    if native.is_some() {
        // Runs need what the program says of its buffers alone; the instructions of many would fill the memory.
        (program.body, program.values) = (vec![], vec![]);
    }
    Ok(Executable { arena, kernels, called, constants, native, program, is_long })
}

/// The memory of a program's constants.
pub(crate) fn constants_of(program: &Program) -> Result<Vec<Option<Buffer>>> {
    let constant = |decl: &BufferDecl| match &decl.role {
        Role::Const(array) => array.buffer().map(Some),
        Role::Input(_) | Role::Output(_) | Role::Temp => Ok(None),
    };
    program.buffers.iter().map(constant).collect()
}

/// Kernels with the bytes of their arguments. Their dtypes say the width of elements; a host function's are those of
/// its buffers.
pub(crate) fn bind_kernels(program: &Program, kernels: Vec<CalledKernel>) -> Vec<BoundKernel> {
    let bind = |(kernel, buffers): CalledKernel| {
        let dtypes: Vec<DType> = buffers.iter().map(|buffer| program.buffers[buffer.index()].dtype).collect();
        BoundKernel::new(kernel, &dtypes)
    };
    kernels.into_iter().map(bind).collect()
}

/// A kernel with the buffers it is called on.
pub(crate) type CalledKernel = (Kernel, Vec<BufferId>);

impl Executable {
    /// An executable that was saved.
    pub(crate) fn of_parts(
        program: Program,
        arena: Arena,
        called: Vec<CalledKernel>,
        constants: Vec<Option<Buffer>>,
        native: Native,
        is_long: bool,
    ) -> Executable {
        let kernels = bind_kernels(&program, called.clone());
        Executable { program, arena, kernels, called, constants, native: Some(native), is_long }
    }

    /// The kernels that the code calls, by number, with the buffers they are called on.
    pub(crate) fn kernels(&self) -> &[CalledKernel] {
        &self.called
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The machine code, if it can be saved.
    pub(crate) fn image(&self) -> Option<x86::Image> {
        self.native.as_ref()?.image()
    }

    /// Runs the program. Pointers are to the first byte of each input and output, in the order of their numbers.
    ///
    /// # Safety
    /// Each pointer must be valid for the bytes of its buffer, outputs for writing and apart from everything else.
    ///
    /// # Errors
    /// When a kernel fails, or the user interrupts.
    pub unsafe fn run(&self, sizes: &[i64], inputs: &[*const u8], outputs: &[*mut u8]) -> Result<()> {
        self.check_counts(sizes, inputs.len(), outputs.len())?;
        let _flush = FlushSubnormals::new();
        match &self.native {
            // SAFETY: by contract.
            Some(native) => unsafe { self.run_native(native, sizes, inputs, outputs) },
            // SAFETY: by contract.
            None => unsafe { self.run_interpreted(sizes, inputs, outputs) },
        }
    }

    /// Whether a run may take long, so that who holds a lock should let go of it.
    pub fn is_long(&self) -> bool {
        self.is_long
    }

    /// The bytes of its machine code and constants; the program's own are few beside them.
    pub fn size_bytes(&self) -> usize {
        let constants = self.constants.iter().flatten().map(Buffer::size_bytes).sum::<usize>();
        let own = self.program.buffers.len() * size_of::<BufferDecl>() + size_of::<Executable>();
        constants + own + self.native.as_ref().map_or(0, |native| native.size_bytes)
    }

    /// The program as it runs: expanded. Once there is machine code, without its instructions.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Bytes of temporaries in one run, for a program without size parameters.
    pub fn temporary_bytes(&self) -> usize {
        self.arena.lay_out(&self.program, &[]).1
    }

    /// The disassembly, if [`Options::disassemble`] asked for it.
    pub fn machine_code(&self) -> String {
        self.native.as_ref().and_then(|native| native.disassembly.clone()).unwrap_or_default()
    }

    fn check_counts(&self, sizes: &[i64], n_inputs: usize, n_outputs: usize) -> Result<()> {
        let fits = |role: &Role| match role {
            Role::Input(number) => (*number as usize) < n_inputs,
            Role::Output(number) => (*number as usize) < n_outputs,
            Role::Temp | Role::Const(_) => true,
        };
        if sizes.len() < self.program.n_sizes as usize || !self.program.buffers.iter().all(|decl| fits(&decl.role)) {
            bail!(
                Internal,
                "{} got {n_inputs} inputs, {n_outputs} outputs, {} sizes: too few",
                self.program.name,
                sizes.len()
            );
        }
        Ok(())
    }

    /// # Safety
    /// As [`Executable::run`].
    unsafe fn run_native(
        &self,
        native: &Native,
        sizes: &[i64],
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) -> Result<()> {
        let run = Run { kernels: &self.kernels, error: Mutex::new(None) };
        let (offsets, size_bytes) = self.arena.lay_out(&self.program, sizes);
        let mut memory = (size_bytes > 0).then(|| Buffer::allocate(size_bytes)).transpose()?;
        let start = memory.as_mut().map_or(std::ptr::null_mut(), |memory| memory.as_mut_ptr());
        let mut table: SmallVec<[u64; 32]> = SmallVec::new();
        table.push(std::ptr::from_ref(&run) as u64);
        table.extend(sizes[..self.program.n_sizes as usize].iter().map(|&size| size as u64));
        for (number, decl) in self.program.buffers.iter().enumerate() {
            table.push(match decl.role {
                Role::Input(number) => inputs[number as usize] as u64,
                Role::Output(number) => outputs[number as usize] as u64,
                Role::Temp => start as u64 + offsets[number].expect("every temporary has a place") as u64,
                Role::Const(_) => self.constants[number].as_ref().expect("a constant has memory").as_ptr() as u64,
            });
        }
        let mut frame = (native.frame_bytes > 0).then(|| Buffer::allocate(native.frame_bytes)).transpose()?;
        table.push(frame.as_mut().map_or(0, |frame| frame.as_mut_ptr() as u64));
        // SAFETY: the table is as the code was compiled for; pointers are valid by contract.
        let status = unsafe { (native.main)(table.as_mut_ptr()) };
        match status {
            host::DONE => Ok(()),
            host::INTERRUPTED => Err(pullback_runtime::interrupt::interrupted()),
            _ => {
                let error = run.error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
                Err(error.unwrap_or_else(|| Error::internal("a shared loop panicked")))
            }
        }
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
