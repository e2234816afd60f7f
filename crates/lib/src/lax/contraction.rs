//! Contractions.

use pullback_base::{DType, Result};
use pullback_core::prims::{DOT_GENERAL, DotDimensions, DotGeneral};
use pullback_ir::{Params, Val};

/// The sum of products over contracted axes, of the precision in force.
///
/// # Errors
/// What the primitive raises.
pub fn dot_general(x: &Val, y: &Val, dims: DotDimensions, dtype: Option<DType>) -> Result<Val> {
    let params = DotGeneral {
        dimension_numbers: dims,
        precision: crate::precision::in_force(),
        preferred_element_type: dtype,
        out_sharding: None,
    };
    pullback_trace::bind_one(DOT_GENERAL, &Params::new(params), &[x.clone(), y.clone()])
}
