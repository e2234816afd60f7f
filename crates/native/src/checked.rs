//! Running a program on slices, with lengths checked, for callers without `unsafe`.

use pullback_base::{Result, bail};
use pullback_loops::{BufferDecl, Extent, Role};
use smallvec::SmallVec;

use crate::Code;

/// Whether there is a size for each parameter, and slices are as long as their buffers.
///
/// # Errors
/// `Internal` where one is not.
pub fn check_lengths(
    name: &str,
    buffers: &[BufferDecl],
    sizes: &[i64],
    inputs: &[&[u8]],
    outputs: &[&mut [u8]],
) -> Result<()> {
    for decl in buffers {
        let n = match decl.len {
            Extent::Const(n) => n,
            Extent::Size(number) => sizes.get(number as usize).copied().unwrap_or(i64::MAX),
        };
        let have = match decl.role {
            Role::Input(number) => inputs.get(number as usize).map(|bytes| bytes.len()),
            Role::Output(number) => outputs.get(number as usize).map(|bytes| bytes.len()),
            Role::Temp | Role::Const(_) => continue,
        };
        let size_bytes = usize::try_from(n).ok().and_then(|n| n.checked_mul(decl.dtype.size_bytes()));
        if size_bytes.is_none() || have < size_bytes {
            bail!(Internal, "{name} got {have:?} bytes for {decl:?}");
        }
    }
    Ok(())
}

impl Code {
    /// Runs the program on the bytes of its inputs and outputs, in the order of their numbers.
    ///
    /// # Errors
    /// As [`Code::run`], and `Internal` when a slice is shorter than its buffer.
    pub fn run_on(&self, sizes: &[i64], inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> Result<()> {
        check_lengths(self.name(), self.buffers(), sizes, inputs, outputs)?;
        let inputs: SmallVec<[*const u8; 8]> = inputs.iter().map(|bytes| bytes.as_ptr()).collect();
        let outputs: SmallVec<[*mut u8; 8]> = outputs.iter_mut().map(|bytes| bytes.as_mut_ptr()).collect();
        // SAFETY: every slice is as long as its buffer, which was checked above, and outputs are borrowed for writing
        // alone. A program that stays inside its buffers for these sizes is what the verifier and its maker promise.
        unsafe { self.run(sizes, &inputs, &outputs) }
    }
}
