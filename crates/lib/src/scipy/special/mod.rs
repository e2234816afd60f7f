//! `jax.scipy.special`: special functions.

pub mod bessel;
pub mod exponential;
pub mod exponential_integrals;
pub mod faddeeva;
pub mod gamma;
pub mod loggamma;
pub mod normal;
pub mod oscillating;
mod quadrature;
pub mod zeta;

pub use bessel::*;
pub use exponential::*;
pub use exponential_integrals::*;
pub use faddeeva::*;
pub use gamma::*;
pub use loggamma::*;
pub use normal::*;
pub use oscillating::*;
pub use zeta::*;

use pullback_base::{DType, Error, Result, bail};
use pullback_ir::Val;

pub(crate) use quadrature::Quadrature;

use crate::broadcast::broadcast_arrays;
use crate::convert::convert;
use crate::declare::{Argument, Arguments, Constant, Type};
use crate::promotion::{Operands, promote_inexact};

/// The value in a floating or complex dtype.
fn floating(x: &Val) -> Result<Val> {
    Ok(promote_inexact(std::slice::from_ref(x))?.swap_remove(0))
}

/// The values in their floating or complex dtype.
fn promoted(xs: &[&Val]) -> Result<Operands> {
    promote_inexact(&xs.iter().map(|&x| x.clone()).collect::<Vec<_>>())
}

/// Refuses complex numbers.
fn check_real(name: &str, xs: &[&Val]) -> Result<()> {
    if xs.iter().any(|x| x.aval().dtype.is_complex()) {
        bail!(Value, "{name} does not support complex-valued inputs.");
    }
    Ok(())
}

/// The values in their floating or complex dtype and in one shape.
fn alike(xs: &[&Val]) -> Result<Operands> {
    broadcast_arrays(&promoted(xs)?)
}

const EULER_GAMMA: f64 = 0.577_215_664_901_532_9;

/// Numbers of less than 32 bits in 32 bits.
fn in_single(x: &Val) -> Result<Val> {
    let aval = x.aval();
    if aval.dtype.bits() < 32 { convert(x, DType::F32, false) } else { Ok(x.clone()) }
}

/// How many terms a series takes.
#[derive(Clone, Copy, Debug)]
pub struct Terms(pub i64);

impl Argument for Terms {
    const TYPE: Type = Type { python: "int", rust: "i64" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Terms> {
        let refused = |_| Error::type_error("series_order must be a Python integer.");
        if args.is_array(at) { Err(refused(())) } else { args.int(at).map(Terms).map_err(|_| refused(())) }
    }
    fn absent(default: Constant) -> Terms {
        Terms(i64::absent(default))
    }
}
