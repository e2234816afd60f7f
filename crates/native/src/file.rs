//! Compiled functions as bytes.
//!
//! A file holds the machine code without addresses, what it calls, its constants, and which instructions it uses. It is for
//! machines of one kind and for one version of this crate; others refuse it. What was cut short or changed by accident is
//! refused, too. A file is a program: who runs one from elsewhere trusts who made it.

use pullback_base::{Array, Aval, DType, Error, ErrorKind, Result};
use pullback_loops::{BufferDecl, Extent, Kernel, Role};
use pullback_runtime::{Restart, sealed};
use serde::{Deserialize, Serialize};

use crate::host::BoundKernel;
use crate::layout::Layout;
use crate::level::Level;
use crate::memory::{CodeMemory, Relocation};
use crate::{Code, Compiled, Machine, Output};

const MAGIC: &[u8; 8] = b"PULLEXE1";
/// What must be the same where a file is written and where it is read.
const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Serialize, Deserialize)]
struct Head {
    version: String,
    system: (String, String),
    level: Option<Level>,
    in_avals: Vec<SavedAval>,
    out_avals: Vec<SavedAval>,
    outputs: Vec<SavedOutput>,
    taken: Vec<Option<usize>>,
    code: Option<SavedCode>,
}

type SavedAval = (DType, Vec<usize>, bool);

/// Bytes behind the head.
type Range = (usize, usize);

#[derive(Serialize, Deserialize)]
enum SavedOutput {
    Program(usize),
    Input(usize),
    Const(SavedAval, Range),
}

#[derive(Serialize, Deserialize)]
enum SavedRole {
    Input(u32),
    Output(u32),
    Temp,
    Const(SavedAval, Range),
}

#[derive(Serialize, Deserialize)]
struct SavedCode {
    name: String,
    buffers: Vec<(DType, i64, SavedRole)>,
    layout: Layout,
    kernels: Vec<(Kernel, Vec<usize>)>,
    bytes: Range,
    relocations: Vec<Relocation>,
    frame_bytes: usize,
    is_long: bool,
}

/// The blob behind the head, while it is written.
#[derive(Default)]
struct Blob(Vec<u8>);

impl Blob {
    fn add(&mut self, bytes: &[u8]) -> Range {
        let start = self.0.len();
        self.0.extend(bytes);
        (start, bytes.len())
    }

    fn array(&mut self, array: &Array) -> Result<(SavedAval, Range)> {
        Ok((saved_aval(array.aval()), self.add(&array.to_bytes()?)))
    }
}

fn saved_aval(aval: Aval) -> SavedAval {
    (aval.dtype, aval.shape.to_vec(), aval.weak_type)
}

fn aval_of((dtype, shape, weak_type): &SavedAval) -> Aval {
    Aval::with_weak_type(shape, *dtype, *weak_type)
}

fn system() -> (String, String) {
    (std::env::consts::ARCH.into(), std::env::consts::OS.into())
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Value, format!("this is no compiled function that can be loaded here: {why}"))
}

impl Compiled {
    /// The function as bytes, which [`Compiled::load`] takes on machines of this kind.
    ///
    /// # Errors
    /// `NotImplemented` for a function that calls back into the host, and for code of another generator than that for
    /// x86-64 with AVX2 or AVX-512.
    pub fn save(&self) -> Result<Vec<u8>> {
        let mut blob = Blob::default();
        let outputs = self.outputs.iter().map(|output| {
            Ok(match output {
                Output::Program(number) => SavedOutput::Program(*number),
                Output::Input(number) => SavedOutput::Input(*number),
                Output::Const(array) => {
                    let (aval, range) = blob.array(array)?;
                    SavedOutput::Const(aval, range)
                }
                Output::Literal(scalar) => {
                    let (aval, range) = blob.array(&Array::scalar(*scalar))?;
                    SavedOutput::Const(aval, range)
                }
            })
        });
        let outputs = outputs.collect::<Result<Vec<_>>>()?;
        let code = self.code.as_ref().map(|code| saved_code(code, &mut blob)).transpose()?;
        let avals = |avals: &[Aval]| avals.iter().map(|&aval| saved_aval(aval)).collect();
        let head = Head {
            version: VERSION.into(),
            system: system(),
            level: code.as_ref().map(|(_, level)| *level),
            in_avals: avals(&self.in_avals),
            out_avals: avals(&self.out_avals),
            outputs,
            taken: self.filled.iter().map(|(_, from)| *from).collect(),
            code: code.map(|(code, _)| code),
        };
        let head = postcard::to_allocvec(&head).map_err(|_| {
            Error::not_implemented(
                "a compiled function that calls back into the host cannot be saved: what it calls is in this process",
            )
        })?;
        Ok(sealed::seal(MAGIC, &[&(head.len() as u64).to_le_bytes(), &head, &blob.0]))
    }

    /// The function of bytes that [`Compiled::save`] gave.
    ///
    /// # Errors
    /// `Value` for bytes that are not such a function, were cut short or changed, or are of another version; and for code
    /// that this machine does not run. `NotImplemented` where it calls kernels of a family that this build leaves out, with the
    /// feature that brings it.
    pub fn load(bytes: &[u8]) -> Result<Compiled> {
        let body =
            sealed::open(MAGIC, bytes).ok_or_else(|| refused("it was cut short or changed, or is something else"))?;
        let head_bytes = body.first_chunk::<8>().map_or(0, |n| u64::from_le_bytes(*n));
        let (head, blob) = usize::try_from(head_bytes)
            .ok()
            .and_then(|n| body.get(8..)?.split_at_checked(n))
            .ok_or_else(|| refused("its head is incomplete"))?;
        // The version stands first: what follows may be of another make.
        let (version, _) = postcard::take_from_bytes::<String>(head).map_err(refused)?;
        if version != VERSION {
            return Err(refused(format!("version {version} wrote it, and this is {VERSION}")));
        }
        let head: Head = postcard::from_bytes(head).map_err(refused)?;
        if head.system != system() {
            let ((arch, os), (own_arch, own_os)) = (&head.system, system());
            return Err(refused(format!("it is for {arch} and {os}, and this is {own_arch} and {own_os}")));
        }
        if let Some(level) = head.level.filter(|level| !level.runs_here()) {
            return Err(refused(format!("it needs {level:?}, which this machine has not")));
        }
        head.loaded(blob)
    }
}

fn saved_code(code: &Code, blob: &mut Blob) -> Result<(SavedCode, Level)> {
    let Some((memory, level, frame_bytes)) = code.machine.memory() else {
        let text = "only code for x86-64 with AVX2 or AVX-512 can be saved, and none that another generator made";
        return Err(Error::not_implemented(text));
    };
    let buffer = |decl: &BufferDecl| {
        let Extent::Const(len) = decl.len else {
            return Err(Error::not_implemented("a program for any size cannot be saved"));
        };
        let role = match &decl.role {
            Role::Input(number) => SavedRole::Input(*number),
            Role::Output(number) => SavedRole::Output(*number),
            Role::Temp => SavedRole::Temp,
            Role::Const(array) => {
                let (aval, range) = blob.array(array)?;
                SavedRole::Const(aval, range)
            }
        };
        Ok((decl.dtype, len, role))
    };
    let buffers = code.buffers.iter().map(buffer).collect::<Result<_>>()?;
    let (bytes, relocations) = memory.unlinked();
    let saved = SavedCode {
        name: code.name.clone(),
        buffers,
        layout: code.layout.clone(),
        kernels: code.kernels.iter().map(|bound| (bound.kernel.clone(), bound.spans.clone())).collect(),
        bytes: blob.add(&bytes),
        relocations: relocations.to_vec(),
        frame_bytes,
        is_long: code.is_long,
    };
    Ok((saved, level))
}

fn part(blob: &[u8], (start, length): Range) -> Result<&[u8]> {
    let end = start.checked_add(length);
    end.and_then(|end| blob.get(start..end)).ok_or_else(|| refused("a part of it is missing"))
}

fn array(blob: &[u8], aval: &SavedAval, range: Range) -> Result<Array> {
    let (aval, bytes) = (aval_of(aval), part(blob, range)?);
    aval.check_extent()?;
    if bytes.len() != aval.size_bytes() {
        return Err(refused("a constant has not as many bytes as its type says"));
    }
    Array::from_bytes(aval, bytes)
}

impl Head {
    fn loaded(self, blob: &[u8]) -> Result<Compiled> {
        let code = match (self.code, self.level) {
            (Some(code), Some(level)) => Some(code.loaded(level, blob)?),
            _ => None,
        };
        let output = |output: &SavedOutput| {
            Ok(match output {
                SavedOutput::Program(number) => Output::Program(*number),
                SavedOutput::Input(number) => Output::Input(*number),
                SavedOutput::Const(aval, range) => Output::Const(array(blob, aval, *range)?),
            })
        };
        let outputs: Vec<Output> = self.outputs.iter().map(output).collect::<Result<_>>()?;
        let [in_avals, out_avals] = [&self.in_avals, &self.out_avals].map(|avals| avals.iter().map(aval_of).collect());
        let in_range = |output: &Output| match output {
            Output::Program(number) => *number < self.taken.len(),
            Output::Input(number) => *number < self.in_avals.len(),
            Output::Const(_) | Output::Literal(_) => true,
        };
        let is_whole = outputs.iter().all(in_range) && self.taken.iter().flatten().all(|&at| at < self.in_avals.len());
        if !is_whole {
            return Err(refused("a result is out of range"));
        }
        Ok(Compiled::new([in_avals, out_avals], code, outputs, self.taken, Restart::Yes))
    }
}

impl SavedCode {
    fn loaded(self, level: Level, blob: &[u8]) -> Result<Code> {
        let buffer = |(dtype, len, role): &(DType, i64, SavedRole)| {
            let role = match role {
                SavedRole::Input(number) => Role::Input(*number),
                SavedRole::Output(number) => Role::Output(*number),
                SavedRole::Temp => Role::Temp,
                SavedRole::Const(aval, range) => Role::Const(array(blob, aval, *range)?),
            };
            Ok(BufferDecl { dtype: *dtype, len: Extent::Const(*len), role })
        };
        let buffers: Vec<BufferDecl> = self.buffers.iter().map(buffer).collect::<Result<_>>()?;
        self.kernels.iter().try_for_each(|(kernel, _)| pullback_kernels::check(kernel))?;
        let kernels = self.kernels.into_iter().map(|(kernel, spans)| BoundKernel { kernel, spans }).collect();
        let memory = CodeMemory::new(part(blob, self.bytes)?, self.relocations)?;
        // SAFETY: the bytes are those that were written, by this version for this kind of machine: a program of the code
        // generator, whose buffers, places and kernels these are.
        unsafe {
            let machine = Machine::own(memory, level, self.frame_bytes);
            Code::new(self.name, 0, buffers, self.layout, kernels, machine, self.is_long)
        }
    }
}
