//! Shapes of elementwise operands: how they repeat, and the sum that undoes it.

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, Error, Result, Shape, bail};

use crate::prims::V;

/// The cotangent of an operand that was repeated to the shape of `ct`: the sum over what was repeated.
pub fn unbroadcast<'e>(ct: &V<'e>, operand: Aval) -> V<'e> {
    let shape = ct.aval().data().shape.clone();
    if shape == operand.shape {
        return ct.clone();
    }
    if operand.rank() == 0 {
        let axes: Vec<usize> = (0..shape.len()).collect();
        return ct.reduce_sum(&axes);
    }
    let repeated: Vec<usize> = (0..shape.len()).filter(|&axis| operand.shape[axis] != shape[axis]).collect();
    ct.reduce_sum(&repeated).reshape(&operand.shape)
}

/// The shape of an elementwise result: axes of size 1 and scalars repeat.
///
/// # Errors
/// A `Type` error with all shapes when they do not go together.
pub fn broadcast_shapes(name: &str, ins: &[Aval]) -> Result<Shape> {
    let rank = ins.iter().map(|x| x.rank()).max().unwrap_or(0);
    let incompatible = || {
        let shapes: Vec<String> = ins.iter().map(|x| tuple_text(&x.shape)).collect();
        Error::type_error(format!("{name} got incompatible shapes for broadcasting: {}.", shapes.join(", ")))
    };
    let mut shape = Shape::from_elem(1, rank);
    for x in ins.iter().filter(|x| x.rank() > 0) {
        if x.rank() != rank {
            return Err(incompatible());
        }
        for (size, &other) in shape.iter_mut().zip(&x.shape) {
            match (*size, other) {
                (a, b) if a == b || b == 1 => {}
                (1, b) => *size = b,
                _ => return Err(incompatible()),
            }
        }
    }
    Ok(shape)
}

/// Checks that all operands have one dtype.
///
/// # Errors
/// A `Type` error with all dtypes.
pub fn check_same_dtypes(name: &str, ins: &[Aval]) -> Result<()> {
    if ins.iter().all(|x| x.dtype == ins[0].dtype) {
        return Ok(());
    }
    let names: Vec<&str> = ins.iter().map(|x| x.dtype.name()).collect();
    bail!(
        Type,
        "lax.{name} requires arguments to have the same dtypes, got {}. (Tip: jnp.{name} is a similar function that does \
         automatic type promotion on inputs).",
        names.join(", ")
    )
}
