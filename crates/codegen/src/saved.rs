//! Executables as bytes, for another process on a machine with the same instructions.
//!
//! Saved are the machine code, the places in it where addresses of the host stand, the declarations of buffers, the calls
//! of kernels and the places of temporaries; the program's instructions are not needed to run. Only code of our own
//! emitter is saved, and only of programs whose kernels a text can name. Whoever keeps the bytes must know that they are
//! those that were given: the code is run as it is.

use pullback_base::{Result, bail};
use pullback_loops::*;

use crate::arena::{Arena, known_size};
use crate::executable::{CalledKernel, Executable, constants_of};
use crate::host::HostAddress;
use crate::x86::{Image, Level, runs};

/// Numbers and bytes one after the other.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: usize) {
        self.0.extend((number as u64).to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend(bytes);
    }
}

/// What is left to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let Some((found, rest)) = self.0.split_at_checked(n) else { bail!(Value, "the saved program is cut short") };
        self.0 = rest;
        Ok(found)
    }

    fn number(&mut self) -> Result<usize> {
        let bytes = self.take(8)?.try_into().expect("eight bytes");
        Ok(u64::from_le_bytes(bytes) as usize)
    }

    /// A number of things of which each takes some bytes.
    fn count(&mut self, each: usize) -> Result<usize> {
        let n = self.number()?;
        if n > self.0.len() / each {
            bail!(Value, "the saved program is cut short");
        }
        Ok(n)
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let n = self.count(1)?;
        self.take(n)
    }
}

/// The declarations of a program with nothing but its calls of kernels; `None` where a text cannot name them.
fn with_calls_alone(executable: &Executable) -> Option<Program> {
    let program = executable.program();
    let is_nameable = |kernel: &Kernel| matches!(kernel, Kernel::Gemm(_) | Kernel::Sort(_) | Kernel::Copy(_));
    if !executable.kernels().iter().all(|(kernel, _)| is_nameable(kernel)) {
        return None;
    }
    let call = |(kernel, buffers): &CalledKernel| {
        let args = buffers.iter().map(|&buffer| (buffer, Addr::default())).collect();
        Inst { dst: ValueId(0), op: Op::Call(Box::new(Call { kernel: kernel.clone(), args })) }
    };
    Some(Program { body: executable.kernels().iter().map(call).collect(), ..program.clone() })
}

impl Executable {
    /// The executable as bytes; `None` for what is not saved.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let image = self.image()?;
        let mut to = Writer::default();
        to.number(usize::from(image.level == Level::Avx512));
        to.number(image.frame_bytes);
        to.number(usize::from(self.is_long()));
        to.bytes(with_calls_alone(self)?.to_string().as_bytes());
        let arena = self.arena();
        to.number(arena.known_bytes);
        to.number(arena.offsets.len());
        arena.offsets.iter().for_each(|offset| to.number(offset.map_or(usize::MAX, |offset| offset)));
        to.number(image.relocations.len());
        for (at, address) in &image.relocations {
            to.number(*at);
            to.number(HostAddress::ALL.iter().position(|one| one == address).expect("the list names all"));
        }
        to.bytes(&image.bytes);
        Some(to.0)
    }

    /// The executable of bytes that [`Executable::to_bytes`] gave on a machine like this one.
    ///
    /// # Errors
    /// A `Value` error when the bytes are not of this format, or for other instructions than this machine has.
    pub fn from_bytes(bytes: &[u8]) -> Result<Executable> {
        let mut from = Reader(bytes);
        let level = if from.number()? == 1 { Level::Avx512 } else { Level::Avx2 };
        if !runs(level) {
            bail!(Value, "the saved program is for {level:?}, which this machine does not run");
        }
        let (frame_bytes, is_long) = (from.number()?, from.number()? == 1);
        let Ok(text) = std::str::from_utf8(from.bytes()?) else { bail!(Value, "the saved program's text is none") };
        let mut program = parse(text)?;
        let kernels = calls_of(std::mem::take(&mut program.body))?;
        let arena = arena_of(&mut from, &program)?;
        let relocations = relocations_of(&mut from)?;
        let mut code = from.bytes()?.to_vec();
        for &(at, address) in &relocations {
            let Some(place) = code.get_mut(at..at + 8) else { bail!(Value, "an address lies outside of the code") };
            place.copy_from_slice(&address.value().to_le_bytes());
        }
        let native = Image { level, bytes: code, relocations, frame_bytes }.native(None)?;
        let constants = constants_of(&program)?;
        Ok(Executable::of_parts(program, arena, kernels, constants, native, is_long))
    }
}

fn calls_of(body: Vec<Inst>) -> Result<Vec<CalledKernel>> {
    let call = |inst: Inst| match inst.op {
        Op::Call(call) => Ok((call.kernel, call.args.into_iter().map(|(buffer, _)| buffer).collect())),
        _ => bail!(Value, "the saved program has instructions beside its calls"),
    };
    body.into_iter().map(call).collect()
}

/// Where temporaries are: each of known size inside of the memory of a run.
fn arena_of(from: &mut Reader<'_>, program: &Program) -> Result<Arena> {
    let known_bytes = from.number()?;
    let n = from.count(8)?;
    let offset = |number: usize| (number != usize::MAX).then_some(number);
    let offsets = (0..n).map(|_| from.number().map(offset)).collect::<Result<Vec<_>>>()?;
    let fits = |(decl, offset): (&BufferDecl, &Option<usize>)| {
        let Some(size) = known_size(decl).filter(|_| matches!(decl.role, Role::Temp)) else { return true };
        offset.and_then(|offset| offset.checked_add(size)).is_some_and(|end| end <= known_bytes)
    };
    if n != program.buffers.len() || !program.buffers.iter().zip(&offsets).all(fits) {
        bail!(Value, "the places of temporaries do not fit the saved program");
    }
    Ok(Arena { offsets, known_bytes })
}

fn relocations_of(from: &mut Reader<'_>) -> Result<Vec<(usize, HostAddress)>> {
    let n = from.count(16)?;
    let one = |from: &mut Reader<'_>| {
        let (at, number) = (from.number()?, from.number()?);
        match HostAddress::ALL.get(number) {
            Some(&address) if at <= isize::MAX as usize => Ok((at, address)),
            _ => bail!(Value, "the saved program has an address that is not known"),
        }
    };
    (0..n).map(|_| one(from)).collect()
}
