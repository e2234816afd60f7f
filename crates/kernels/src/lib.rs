//! Precompiled bodies that programs call: matrix products, convolutions, windows, Fourier transforms, factorizations,
//! sorting, copies, functions of the host.
//!
//! [`Table`] runs them for native code and for the interpreter alike. Each gives the same bits for any number of
//! threads: work splits by sizes alone. Families of them are features of the crate ([`check`]).
#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, unused_imports, reason = "what all families share, some do not use")
)]

#[cfg(feature = "conv")]
mod conv;
mod families;
#[cfg(feature = "fft")]
mod fft;
#[cfg(feature = "matmul")]
mod matmul;
#[cfg(feature = "linalg")]
mod matrix;
#[cfg(feature = "sort")]
mod sort;
mod stoppable;
mod typed;
#[cfg(feature = "window")]
mod window;

use pullback_base::{Error, Result};
#[cfg(not(feature = "matmul"))]
use pullback_loops::Gemm;
use pullback_loops::{Body, Kernel, Kernels};

pub use families::check;
#[cfg(feature = "matmul")]
pub use matmul::gemm_at;

/// All kernels of this build.
#[derive(Clone, Copy, Debug)]
pub struct Table;

impl Kernels for Table {
    fn call(&self, kernel: &Kernel, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        // Where no result has an element there is nothing to do, however many rows of none there are.
        if !matches!(kernel, Kernel::Host(..)) && outs.iter().all(|out| out.is_empty()) {
            return Ok(());
        }
        match (kernel, ins, outs) {
            #[cfg(feature = "matmul")]
            (Kernel::Gemm(gemm), [lhs, rhs], [out]) => matmul::gemm(gemm, lhs, rhs, out),
            #[cfg(feature = "sort")]
            (Kernel::Sort(sort), ins, outs) => sort::sort(sort, ins, outs),
            (Kernel::Copy(_), [from], [to]) => {
                to.copy_from_slice(from);
                Ok(())
            }
            (Kernel::Host(function, ..), ins, outs) => function.call(ins, outs),
            (Kernel::Body(described, ..), ins, outs) => body(kernel, described, ins, outs),
            #[cfg(not(feature = "sort"))]
            (Kernel::Sort(_), ins, outs) => Err(not_called(kernel, ins, outs)),
            (Kernel::Gemm(_) | Kernel::Copy(_), ins, outs) => Err(not_called(kernel, ins, outs)),
        }
    }
}

fn body(kernel: &Kernel, body: &Body, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    match (body, ins, outs) {
        #[cfg(feature = "conv")]
        (Body::Conv(conv), [lhs, rhs], [out]) => conv::conv(conv, lhs, rhs, out),
        #[cfg(feature = "window")]
        (Body::Window(window), [x], [out]) => window::window(window, x, out),
        #[cfg(feature = "window")]
        (Body::WindowGather(pick), [values, x], [out]) => window::gather(pick, values, x, out),
        #[cfg(feature = "window")]
        (Body::WindowScatter(pick), [values, x], [out]) => window::scatter(pick, values, x, out),
        #[cfg(feature = "fft")]
        (Body::Fft(fft), [x], [out]) => fft::fft(fft, x, out),
        #[cfg(feature = "linalg")]
        (Body::Matrix(matrix), ins, outs) => matrix::matrix(matrix, ins, outs),
        #[cfg(not(feature = "linalg"))]
        (Body::Matrix(_), ins, outs) => Err(not_called(kernel, ins, outs)),
        #[cfg(feature = "sort")]
        (Body::Greatest(greatest), [x], [values, positions]) => sort::greatest(greatest, x, values, positions),
        (
            Body::Conv(_)
            | Body::Window(_)
            | Body::WindowGather(_)
            | Body::WindowScatter(_)
            | Body::Fft(_)
            | Body::Greatest(_),
            ins,
            outs,
        ) => Err(not_called(kernel, ins, outs)),
    }
}

/// Why a kernel was not called: this build does not have it, or the operands are not as many as it takes.
fn not_called(kernel: &Kernel, ins: &[&[u8]], outs: &[&mut [u8]]) -> Error {
    let wrong = || Error::internal(format!("a kernel got {} operands and {} results", ins.len(), outs.len()));
    check(kernel).err().unwrap_or_else(wrong)
}

/// Where matrix products were left out: no product, but the error that says so.
///
/// # Errors
/// Always, with the feature that brings matrix products.
///
/// # Safety
/// There is nothing to keep: nothing is read or written.
#[cfg(not(feature = "matmul"))]
pub unsafe fn gemm_at(gemm: &Gemm, _lhs: *const u8, _rhs: *const u8, _out: *mut u8) -> Result<()> {
    check(&Kernel::Gemm(gemm.clone()))
}
