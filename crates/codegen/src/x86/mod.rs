//! An emitter of our own for x86-64: loop programs straight to machine code, with 512-bit lanes where the machine has
//! AVX-512 and 256-bit ones where it has AVX2.
//!
//! [`lower`] turns blocks into instructions over virtual registers, [`allocate`] finds machine registers,
//! [`assemble`] puts the pieces together, [`encode`] knows the bytes, [`ops`] is the table of vector instructions. The
//! loop IR fixes the order of every reduction and where products are fused, so nothing is left to choose that changes
//! bits.

mod allocate;
mod assemble;
mod encode;
mod inst;
mod lower;
mod memory;
mod ops;
mod text;

use pullback_base::{Error, Result};
use pullback_loops::Program;

use crate::analysis::Shared;
use crate::executable::{CalledKernel, Options};
use crate::host::{self, Main, Relocation};
use crate::native::Native;
use assemble::{Assembler, Frame};
pub(crate) use memory::CodeMemory;

/// The instructions that code may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// 256-bit lanes, with fused multiplication, half-width conversions and the bit instructions of the same years.
    Avx2,
    /// 512-bit lanes with masks, for all widths of lanes.
    Avx512,
}

/// The best that this machine runs; `None` where this emitter has nothing for it.
pub(crate) fn best_level() -> Option<Level> {
    [Level::Avx512, Level::Avx2].into_iter().find(|&level| runs(level))
}

#[cfg(all(target_arch = "x86_64", unix))]
pub(crate) fn runs(level: Level) -> bool {
    let has_avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt");
    let has_avx512 = || {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
    };
    has_avx2 && (level == Level::Avx2 || has_avx512())
}

/// The calling convention is that of Unix.
#[cfg(not(all(target_arch = "x86_64", unix)))]
pub(crate) fn runs(_: Level) -> bool {
    false
}

/// Compiles an expanded program; also gives the kernels that its code calls by number. `None` for a program that this
/// emitter leaves to the portable one: it takes all types and operations, but not shared loops with very many values
/// alive at once.
pub(crate) fn compile(
    program: &Program,
    options: &Options,
    level: Level,
) -> Result<Option<(Native, Vec<CalledKernel>)>> {
    if !runs(level) {
        return Err(Error::not_implemented(format!("this machine does not run {level:?} code")));
    }
    let has_avx512 = level == Level::Avx512;
    let mut shared = Shared::new(program, options.shared_work);
    let mut tables = lower::Tables::new(program);
    let mut assembler = Assembler::new(has_avx512);
    assembler.encoder.listing = options.disassemble.then(Vec::new);
    let given = Frame::Given(host::frame_entry(program));
    let main = lower::main_function(&mut shared, &mut tables, has_avx512);
    let Some(frame_bytes) = assembler.function(main, Some(given)) else { return Ok(None) };
    // Bodies of outlined loops outline nothing, so the list is complete.
    for number in 0..shared.outlined.len() {
        let label = assembler.piece(number);
        assembler.start(label);
        let piece = lower::outlined_function(&mut shared, &mut tables, number, has_avx512);
        if assembler.function(piece, None).is_none() {
            return Ok(None);
        }
    }
    let (bytes, relocations, listing) = assembler.finish();
    let image = Image { level, bytes, relocations, frame_bytes };
    Ok(Some((image.native(listing)?, shared.kernels)))
}

/// Code as it lies in memory, with what another process needs to run it.
pub(crate) struct Image {
    pub(crate) level: Level,
    pub(crate) bytes: Vec<u8>,
    pub(crate) relocations: Vec<Relocation>,
    pub(crate) frame_bytes: usize,
}

impl Image {
    /// The code, ready to run. It starts with the function of the program.
    pub(crate) fn native(self, listing: Option<String>) -> Result<Native> {
        let memory = CodeMemory::new(&self.bytes)?;
        // SAFETY: the code starts with the function of the program, which has the signature of `Main`.
        let main = unsafe { std::mem::transmute::<*const u8, Main>(memory.start()) };
        let Image { level, bytes, relocations, frame_bytes } = self;
        let origin = Origin { level, n_bytes: bytes.len(), relocations };
        Ok(Native::own(memory, main, listing, frame_bytes, origin))
    }
}

/// Where code in memory came from: how much of the memory it is, and where addresses of the host stand in it.
pub(crate) struct Origin {
    pub(crate) level: Level,
    pub(crate) n_bytes: usize,
    pub(crate) relocations: Vec<Relocation>,
}

#[cfg(test)]
mod tests;
