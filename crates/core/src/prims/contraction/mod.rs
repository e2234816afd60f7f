//! Sums of products.

mod dot_general;

pub use dot_general::{DOT_GENERAL, DotDimensions, DotGeneral};
