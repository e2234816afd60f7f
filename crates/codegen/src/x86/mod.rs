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
mod ops;
mod text;

use pullback_base::{Error, Result};
use pullback_loops::Program;
use pullback_native::{self as host, CodeMemory, Level, Machine};

use crate::analysis::Shared;
use crate::executable::{Made, Options};
use assemble::{Assembler, Frame};

/// Compiles an expanded program. `None` for a program that this
/// emitter leaves to the portable one: it takes all types and operations, but not shared loops with very many values
/// alive at once. Where none are shared it takes every program.
pub(crate) fn compile(program: &Program, options: &Options, level: Level) -> Result<Option<Made>> {
    if !level.runs_here() {
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
    let (bytes, relocations, disassembly) = assembler.finish();
    let memory = CodeMemory::new(&bytes, relocations)?;
    // SAFETY: the code starts with the function of the program, and keeps the promises of the host.
    let machine = unsafe { Machine::own(memory, level, frame_bytes) };
    Ok(Some(Made { machine, kernels: shared.kernels, disassembly }))
}

#[cfg(test)]
mod tests;
