//! How a program's calls reach precompiled bodies: the operands of each kernel, and the table that runs them.
//!
//! The bodies live in another crate; this one only knows how many bytes each operand spans.

use pullback_base::{DType, Result};

use crate::program::{Gemm, Kernel, Sort};

/// Runs kernels on the bytes of their operands, from the first element of each on.
pub trait Kernels: Sync {
    /// Runs `kernel`; `ins` and `outs` are as [`Kernel::n_ins`] divides its arguments.
    fn call(&self, kernel: &Kernel, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()>;
}

impl Kernel {
    /// How many of the arguments are read; the rest are filled.
    pub fn n_ins(&self) -> usize {
        match self {
            Kernel::Gemm(_) => 2,
            Kernel::Sort(sort) => sort.dtypes.len(),
            Kernel::Copy(_) => 1,
            Kernel::Host(_, n_ins, _) | Kernel::Body(_, n_ins, _) => *n_ins,
        }
    }

    /// The elements that each argument spans, in the dtype of the buffer it lies in.
    /// A gemm or sort of complex spans two reals an element.
    pub fn spans(&self) -> Vec<usize> {
        match self {
            Kernel::Gemm(gemm) => gemm.spans().to_vec(),
            Kernel::Sort(sort) => sort.spans(),
            Kernel::Copy(n) => vec![*n; 2],
            Kernel::Host(_, _, lens) | Kernel::Body(_, _, lens) => lens.clone(),
        }
    }
}

/// Reals in one element of a kernel's dtype.
pub fn parts(dtype: DType) -> usize {
    if dtype.is_complex() { 2 } else { 1 }
}

impl Gemm {
    fn spans(&self) -> [usize; 3] {
        let [outer, inner, rows, columns, depth] = self.sizes;
        let span = |sizes: [usize; 4], strides: [isize; 4]| {
            if sizes.contains(&0) {
                return 0;
            }
            let last: usize = sizes.iter().zip(strides).map(|(n, stride)| (n - 1) * stride.unsigned_abs()).sum();
            (last + 1) * parts(self.dtype)
        };
        [
            span([outer, inner, rows, depth], self.lhs_strides),
            span([outer, inner, depth, columns], self.rhs_strides),
            span([outer, inner, rows, columns], self.out_strides),
        ]
    }
}

impl Sort {
    fn spans(&self) -> Vec<usize> {
        let n: usize = self.sizes.iter().product();
        self.dtypes.iter().chain(&self.dtypes).map(|&dtype| n * parts(dtype)).collect()
    }
}
