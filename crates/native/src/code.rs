//! Machine code with what a run of it needs.

use std::any::Any;
use std::sync::Mutex;

use pullback_base::array::Buffer;
use pullback_base::{Error, Result, bail};
use pullback_loops::{BufferDecl, Extent, Role};
use pullback_runtime::FlushSubnormals;
use smallvec::SmallVec;

use crate::host::{self, BoundKernel, Main, Run};
use crate::layout::Layout;
use crate::level::Level;
use crate::memory::CodeMemory;

/// Functions of machine code, of which the first is the program.
pub struct Machine {
    main: Main,
    keeper: Keeper,
    /// Bytes of memory that a run gives to the code beside the temporaries, for values that fit into no register.
    frame_bytes: usize,
    /// Bytes of the code.
    n_bytes: usize,
}

/// Who keeps the memory of code until it is dropped.
enum Keeper {
    Own(CodeMemory, Level),
    Other(#[expect(dead_code, reason = "kept to be freed")] Box<dyn Any + Send + Sync>),
}

impl Machine {
    /// Code that starts with the function of the program.
    ///
    /// # Safety
    /// The code must be a [`Main`] that keeps the promises of [`crate::host`], and this machine must run it.
    pub unsafe fn own(memory: CodeMemory, level: Level, frame_bytes: usize) -> Machine {
        // SAFETY: by contract.
        let main = unsafe { std::mem::transmute::<*const u8, Main>(memory.start()) };
        let n_bytes = memory.n_bytes();
        Machine { main, keeper: Keeper::Own(memory, level), frame_bytes, n_bytes }
    }

    /// So many bytes of code whose memory is kept by another, who frees it when dropped. It is not saved to files.
    pub fn other(main: Main, n_bytes: usize, keeper: Box<dyn Any + Send + Sync>) -> Machine {
        Machine { main, keeper: Keeper::Other(keeper), frame_bytes: 0, n_bytes }
    }

    /// The code and its instructions, where it can be written to a file.
    pub(crate) fn memory(&self) -> Option<(&CodeMemory, Level, usize)> {
        match &self.keeper {
            Keeper::Own(memory, level) => Some((memory, *level, self.frame_bytes)),
            Keeper::Other(_) => None,
        }
    }
}

/// A program as machine code. It may run on several threads at once.
pub struct Code {
    pub(crate) name: String,
    pub(crate) n_sizes: usize,
    pub(crate) buffers: Vec<BufferDecl>,
    pub(crate) layout: Layout,
    pub(crate) kernels: Vec<BoundKernel>,
    pub(crate) machine: Machine,
    pub(crate) is_long: bool,
    /// Memory of the constants.
    constants: Vec<Option<Buffer>>,
}

impl Code {
    /// Code for a program with these buffers and size parameters.
    ///
    /// # Safety
    /// The code must have been made for these buffers, places and kernels.
    ///
    /// # Errors
    /// When the elements of a constant are gone.
    pub unsafe fn new(
        name: String,
        n_sizes: usize,
        buffers: Vec<BufferDecl>,
        layout: Layout,
        kernels: Vec<BoundKernel>,
        machine: Machine,
        is_long: bool,
    ) -> Result<Code> {
        let constant = |decl: &BufferDecl| match &decl.role {
            Role::Const(array) => array.buffer().map(Some),
            Role::Input(_) | Role::Output(_) | Role::Temp => Ok(None),
        };
        let constants = buffers.iter().map(constant).collect::<Result<_>>()?;
        Ok(Code { name, n_sizes, buffers, layout, kernels, machine, is_long, constants })
    }

    /// The name of the program, for people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its buffers.
    pub fn buffers(&self) -> &[BufferDecl] {
        &self.buffers
    }

    /// Bytes of its machine code and constants.
    pub fn size_bytes(&self) -> usize {
        let constants = self.constants.iter().flatten().map(Buffer::size_bytes).sum::<usize>();
        constants + self.machine.n_bytes + self.buffers.len() * size_of::<BufferDecl>()
    }

    /// Whether a run may take long, so that who holds a lock should let go of it.
    pub fn is_long(&self) -> bool {
        self.is_long
    }

    /// Runs the program. Pointers are to the first byte of each input and output, in the order of their numbers.
    ///
    /// # Safety
    /// Each pointer must be valid for the bytes of its buffer, outputs for writing and apart from everything else.
    ///
    /// # Errors
    /// When a kernel fails, memory cannot be had, or the user interrupts.
    pub unsafe fn run(&self, sizes: &[i64], inputs: &[*const u8], outputs: &[*mut u8]) -> Result<()> {
        self.check_counts(sizes, inputs.len(), outputs.len())?;
        let _flush = FlushSubnormals::new();
        let run = Run { kernels: &self.kernels, error: Mutex::new(None) };
        let (offsets, size_bytes) = self.layout.lay_out(&self.buffers, sizes);
        let mut memory = (size_bytes > 0).then(|| Buffer::allocate(size_bytes)).transpose()?;
        let start = memory.as_mut().map_or(std::ptr::null_mut(), |memory| memory.as_mut_ptr());
        let mut table: SmallVec<[u64; 32]> = SmallVec::new();
        table.push(std::ptr::from_ref(&run) as u64);
        table.extend(sizes[..self.n_sizes].iter().map(|&size| size as u64));
        for (number, decl) in self.buffers.iter().enumerate() {
            table.push(match decl.role {
                Role::Input(number) => inputs[number as usize] as u64,
                Role::Output(number) => outputs[number as usize] as u64,
                Role::Temp => start as u64 + offsets[number].expect("every temporary has a place") as u64,
                Role::Const(_) => self.constants[number].as_ref().expect("a constant has memory").as_ptr() as u64,
            });
        }
        let frame_bytes = self.machine.frame_bytes;
        let mut frame = (frame_bytes > 0).then(|| Buffer::allocate(frame_bytes)).transpose()?;
        table.push(frame.as_mut().map_or(0, |frame| frame.as_mut_ptr() as u64));
        // SAFETY: the table is as the code was made for; pointers are valid by contract.
        let status = unsafe { (self.machine.main)(table.as_mut_ptr()) };
        match status {
            host::DONE => Ok(()),
            host::INTERRUPTED => Err(pullback_runtime::interrupt::interrupted()),
            _ => {
                let error = run.error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
                Err(error.unwrap_or_else(|| Error::internal("a shared loop panicked")))
            }
        }
    }

    fn check_counts(&self, sizes: &[i64], n_inputs: usize, n_outputs: usize) -> Result<()> {
        let fits = |decl: &BufferDecl| {
            let has_size = match decl.len {
                Extent::Size(number) => (number as usize) < sizes.len(),
                Extent::Const(_) => true,
            };
            has_size
                && match decl.role {
                    Role::Input(number) => (number as usize) < n_inputs,
                    Role::Output(number) => (number as usize) < n_outputs,
                    Role::Temp | Role::Const(_) => true,
                }
        };
        if sizes.len() < self.n_sizes || !self.buffers.iter().all(fits) {
            let (name, n_sizes) = (&self.name, sizes.len());
            bail!(Internal, "{name} got {n_inputs} inputs, {n_outputs} outputs, {n_sizes} sizes: too few");
        }
        Ok(())
    }
}
