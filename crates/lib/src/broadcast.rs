//! Broadcasting of shapes: sizes repeat from 1, shorter shapes are extended in front.

use std::cell::Cell;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, Error, Result, Shape, bail};
use pullback_core::prims;
use pullback_ir::{OutSharding, Val};

use crate::config::{forbids_rank_promotion, warns_of_rank_promotion};
use crate::declare::last_part;
use crate::primitive::Bind;
use crate::promotion::Operands;

/// The shape to which all given shapes broadcast.
///
/// # Errors
/// A `Value` error that lists the shapes.
pub fn broadcast_shapes(shapes: &[&[usize]]) -> Result<Shape> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut result = Shape::from_elem(1, rank);
    for shape in shapes {
        for (size, &other) in result[rank - shape.len()..].iter_mut().zip(*shape) {
            match (*size, other) {
                (a, b) if a == b || b == 1 => {}
                (1, b) => *size = b,
                _ => return Err(incompatible(shapes)),
            }
        }
    }
    Ok(result)
}

fn incompatible(shapes: &[&[usize]]) -> Error {
    let texts: Vec<String> = shapes.iter().map(|shape| tuple_text(shape)).collect();
    Error::value_error(format!("Incompatible shapes for broadcasting: shapes=[{}]", texts.join(", ")))
}

/// Operands of one rank; scalars stay as they are when all others agree.
///
/// # Errors
/// A `Value` error when shapes do not broadcast, or ranks differ and the settings forbid it.
pub fn promote_ranks(name: &str, xs: Operands) -> Result<Operands> {
    let first = xs[0].aval().rank();
    if xs.iter().all(|x| x.aval().rank() == first) {
        return Ok(xs);
    }
    let mut ranks = xs.iter().map(|x| x.aval().rank()).filter(|&rank| rank > 0);
    let some = ranks.next().unwrap_or(0);
    if ranks.all(|rank| rank == some) {
        return Ok(xs);
    }
    check_rank_promotion(name, &xs)?;
    let avals: Vec<Aval> = xs.iter().map(Val::aval).collect();
    let shapes: Vec<&[usize]> = avals.iter().map(|aval| &aval.data().shape[..]).collect();
    let rank = broadcast_shapes(&shapes)?.len();
    xs.iter().map(|x| to_rank(x, rank)).collect()
}

thread_local! {
    /// The names of the public function that the user called, if any: the rule about ranks is about its operands.
    static CALLED: Cell<Option<&'static [&'static str]>> = const { Cell::new(None) };
}

/// The time in which a public function is at work.
#[must_use]
pub struct Called {
    before: Option<&'static [&'static str]>,
}

impl Drop for Called {
    fn drop(&mut self) {
        CALLED.set(self.before);
    }
}

/// Until the result is dropped, the function of these names is at work for the user, or none.
pub fn enter_called(names: Option<&'static [&'static str]>) -> Called {
    Called { before: CALLED.replace(names) }
}

/// Whether operands are the user's own, as the function called is this one or none.
fn is_of_user(name: &str) -> bool {
    CALLED.get().is_none_or(|names| names.iter().any(|full| last_part(full) == last_part(name)))
}

/// Refuses, or warns of, operands of different ranks where the user wants that.
///
/// # Errors
/// `Value` where they are refused.
pub(crate) fn check_rank_promotion(name: &str, xs: &[Val]) -> Result<()> {
    // Scalars go with anything.
    let ranks = || xs.iter().map(|x| x.aval().rank()).filter(|rank| *rank > 0);
    let is_silent = !forbids_rank_promotion() && !warns_of_rank_promotion() || !is_of_user(name);
    if is_silent || ranks().all(|rank| Some(rank) == ranks().next()) {
        return Ok(());
    }
    let shapes: Vec<String> = xs.iter().map(|x| tuple_text(&x.aval().shape)).collect();
    if !forbids_rank_promotion() {
        return pullback_trace::warn(&format!(
            "Following NumPy automatic rank promotion for {name} on shapes {}. Set the jax_numpy_rank_promotion config option \
             to 'allow' to disable this warning; for more information, see \
             pullback.help(\"rank_promotion\").",
            shapes.join(" ")
        ));
    }
    bail!(
        Value,
        "Operands could not be broadcast together for {name} on shapes {} and with the config option \
         jax_numpy_rank_promotion='raise'. For more information, see \
         pullback.help(\"rank_promotion\").",
        shapes.join(" ")
    )
}

/// The value with axes of size 1 in front up to `rank`.
///
/// # Errors
/// What the primitive raises.
pub fn to_rank(x: &Val, rank: usize) -> Result<Val> {
    let aval = x.aval();
    if aval.rank() >= rank {
        return Ok(x.clone());
    }
    let added = rank - aval.rank();
    let shape: Vec<usize> = std::iter::repeat_n(1, added).chain(aval.shape.iter().copied()).collect();
    broadcast_in_dim(x, &shape, &(added..rank).collect::<Vec<_>>())
}

/// The value repeated to `shape`.
///
/// # Errors
/// A `Value` error when the shape does not broadcast to the other.
pub fn broadcast_to(x: &Val, shape: &[usize]) -> Result<Val> {
    let aval = x.aval();
    if aval.shape[..] == *shape {
        return Ok(x.clone());
    }
    if aval.rank() > shape.len() {
        bail!(
            Value,
            "Cannot broadcast to shape with fewer dimensions: arr_shape={} shape={}",
            tuple_text(&aval.shape),
            tuple_text(shape)
        );
    }
    let added = shape.len() - aval.rank();
    let fits = aval.shape.iter().zip(&shape[added..]).all(|(&from, &to)| from == to || from == 1);
    if !fits {
        bail!(
            Value,
            "Incompatible types for broadcasting: input type={} and requested type={}",
            aval.weak(false).long(),
            aval.weak(false).with_shape(shape).long()
        );
    }
    broadcast_in_dim(x, shape, &(added..shape.len()).collect::<Vec<_>>())
}

/// The array repeated to the shape of a type, and split as it says.
///
/// # Errors
/// As [`broadcast_to`].
pub fn broadcast_as(x: &Val, aval: Aval) -> Result<Val> {
    let own = x.aval();
    if own.shape == aval.shape || own.rank() > aval.rank() {
        return pullback_trace::split(&broadcast_to(x, &aval.shape)?, OutSharding::like(aval));
    }
    let broadcast_dimensions = (aval.rank() - own.rank()..aval.rank()).collect();
    let sharding = Some(OutSharding::like(aval));
    let params = prims::BroadcastInDim { shape: aval.shape.to_vec(), broadcast_dimensions, sharding };
    prims::BROADCAST_IN_DIM.bind_with(params, std::slice::from_ref(x))
}

/// The primitive, unless it would change nothing.
///
/// # Errors
/// What the primitive raises.
pub fn broadcast_in_dim(x: &Val, shape: &[usize], dims: &[usize]) -> Result<Val> {
    let aval = x.aval();
    if aval.shape[..] == *shape && dims.iter().copied().eq(0..shape.len()) {
        return Ok(x.clone());
    }
    let params = prims::BroadcastInDim { shape: shape.to_vec(), broadcast_dimensions: dims.to_vec(), sharding: None };
    prims::BROADCAST_IN_DIM.bind_with(params, std::slice::from_ref(x))
}

/// All values repeated to their common shape.
///
/// # Errors
/// As [`broadcast_shapes`].
pub fn broadcast_arrays(xs: &[Val]) -> Result<Operands> {
    let avals: Vec<Aval> = xs.iter().map(Val::aval).collect();
    let shapes: Vec<&[usize]> = avals.iter().map(|aval| &aval.data().shape[..]).collect();
    let shape = broadcast_shapes(&shapes)?;
    xs.iter().map(|x| broadcast_to(x, &shape)).collect()
}
