//! Precompiled bodies that programs call: matrix products, sorting, copies, functions of the host.
//!
//! [`Table`] runs them for native code and for the interpreter alike. Each gives the same bits for any number of
//! threads: work splits by sizes alone.

mod matmul;
mod sort;

use pullback_base::{Result, bail};
use pullback_loops::{Kernel, Kernels};

/// All kernels.
#[derive(Clone, Copy, Debug)]
pub struct Table;

impl Kernels for Table {
    fn call(&self, kernel: &Kernel, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        match (kernel, ins, outs) {
            (Kernel::Gemm(gemm), [lhs, rhs], [out]) => matmul::gemm(gemm, lhs, rhs, out),
            (Kernel::Sort(sort), ins, outs) => sort::sort(sort, ins, outs),
            (Kernel::Copy(_), [from], [to]) => {
                to.copy_from_slice(from);
                Ok(())
            }
            (Kernel::Host(function, ..), ins, outs) => function.call(ins, outs),
            (Kernel::Gemm(_) | Kernel::Copy(_), ins, outs) => {
                bail!(Internal, "a kernel got {} operands and {} results", ins.len(), outs.len())
            }
        }
    }
}
