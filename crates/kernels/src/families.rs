//! Which families of kernels this build has.
//!
//! Each is a feature of the crate, so that a program that runs saved functions is no larger than what they call. A kernel
//! whose family was left out is refused when a function is compiled or loaded, and when it is called.

use pullback_base::{DType, Error, Result};
use pullback_loops::{Body, Kernel};

/// A family: its feature, what it does, and whether it is here.
type Family = (&'static str, &'static str, bool);

const MATMUL: Family = ("matmul", "matrix products", cfg!(feature = "matmul"));
const COMPLEX: Family = ("complex", "matrix products of complex numbers", cfg!(feature = "complex"));
const CONV: Family = ("conv", "convolutions", cfg!(feature = "conv"));
const FFT: Family = ("fft", "Fourier transforms", cfg!(feature = "fft"));
const LINALG: Family = ("linalg", "factorizations of matrices", cfg!(feature = "linalg"));
const SORT: Family = ("sort", "sorting", cfg!(feature = "sort"));
const WINDOW: Family = ("window", "combinations over windows", cfg!(feature = "window"));

/// Whether this build has what the kernel needs.
///
/// # Errors
/// `NotImplemented` with the feature that is missing.
pub fn check(kernel: &Kernel) -> Result<()> {
    match families(kernel).into_iter().flatten().find(|(.., is_here)| !is_here) {
        None => Ok(()),
        Some((feature, what, _)) => Err(Error::not_implemented(format!(
            "this build was made without {what}, which the function needs: build with the feature `{feature}`, of `pullback` \
             or `pullback-native`"
        ))),
    }
}

/// What a kernel needs.
fn families(kernel: &Kernel) -> [Option<Family>; 2] {
    match kernel {
        Kernel::Gemm(gemm) => [Some(MATMUL), if_complex(gemm.dtype)],
        Kernel::Sort(_) => [Some(SORT), None],
        Kernel::Copy(_) | Kernel::Host(..) => [None, None],
        Kernel::Body(body, ..) => match &**body {
            Body::Conv(conv) => [Some(CONV), if_complex(conv.dtype)],
            Body::Window(_) | Body::WindowGather(_) | Body::WindowScatter(_) => [Some(WINDOW), None],
            Body::Fft(_) => [Some(FFT), None],
            Body::Matrix(_) => [Some(LINALG), None],
            Body::Greatest(_) => [Some(SORT), None],
        },
    }
}

fn if_complex(dtype: DType) -> Option<Family> {
    dtype.is_complex().then_some(COMPLEX)
}
