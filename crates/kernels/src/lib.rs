//! Precompiled bodies that programs call: matrix products, convolutions, windows, Fourier transforms, factorizations,
//! sorting, copies, functions of the host.
//!
//! [`Table`] runs them for native code and for the interpreter alike. Each gives the same bits for any number of
//! threads: work splits by sizes alone.

mod conv;
mod fft;
mod matmul;
mod matrix;
mod sort;
mod stoppable;
mod typed;
mod window;

use pullback_base::{Result, bail};
use pullback_loops::{Body, Kernel, Kernels};

pub use matmul::gemm_at;

/// All kernels.
#[derive(Clone, Copy, Debug)]
pub struct Table;

impl Kernels for Table {
    fn call(&self, kernel: &Kernel, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
        // Where no result has an element there is nothing to do, however many rows of none there are.
        if !matches!(kernel, Kernel::Host(..)) && outs.iter().all(|out| out.is_empty()) {
            return Ok(());
        }
        match (kernel, ins, outs) {
            (Kernel::Gemm(gemm), [lhs, rhs], [out]) => matmul::gemm(gemm, lhs, rhs, out),
            (Kernel::Sort(sort), ins, outs) => sort::sort(sort, ins, outs),
            (Kernel::Copy(_), [from], [to]) => {
                to.copy_from_slice(from);
                Ok(())
            }
            (Kernel::Host(function, ..), ins, outs) => function.call(ins, outs),
            (Kernel::Body(described, ..), ins, outs) => body(described, ins, outs),
            (Kernel::Gemm(_) | Kernel::Copy(_), ins, outs) => {
                bail!(Internal, "a kernel got {} operands and {} results", ins.len(), outs.len())
            }
        }
    }
}

fn body(body: &Body, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    match (body, ins, outs) {
        (Body::Conv(conv), [lhs, rhs], [out]) => conv::conv(conv, lhs, rhs, out),
        (Body::Window(window), [x], [out]) => window::window(window, x, out),
        (Body::WindowGather(pick), [values, x], [out]) => window::gather(pick, values, x, out),
        (Body::WindowScatter(pick), [values, x], [out]) => window::scatter(pick, values, x, out),
        (Body::Fft(fft), [x], [out]) => fft::fft(fft, x, out),
        (Body::Matrix(matrix), ins, outs) => matrix::matrix(matrix, ins, outs),
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
        ) => bail!(Internal, "{} got {} operands and {} results", body.name(), ins.len(), outs.len()),
    }
}
