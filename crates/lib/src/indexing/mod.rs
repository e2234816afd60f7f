//! Indexing as users write it: `x[...]` and `x.at[...]`.
//!
//! [`plan`] turns indices to the terms of gather and scatter; [`getitem`] takes shorter ways where the indices are fixed.

mod getitem;
mod plan;
mod update;

use pullback_ir::Val;

pub use getitem::{GetOptions, get, getitem};
pub use update::{Update, UpdateOptions, apply, is_safe_update, update};

/// One index.
#[derive(Clone, Debug)]
pub enum IndexItem {
    /// A fixed position.
    Int(i64),
    /// A fixed range; `None` is the end of the axis.
    Slice {
        /// First position.
        start: Option<i64>,
        /// Position after the last.
        stop: Option<i64>,
        /// Distance.
        step: Option<i64>,
    },
    /// Positions side by side from one that is computed.
    Window {
        /// First position: an integer.
        start: Val,
        /// Their number.
        size: usize,
    },
    /// A new axis of size 1.
    NewAxis,
    /// All axes that no other index names.
    Ellipsis,
    /// Positions, or a mask.
    Array(Val),
    /// A new axis of size 1 or 0.
    Bool(bool),
}

impl IndexItem {
    /// The whole axis.
    pub const ALL: IndexItem = IndexItem::Slice { start: None, stop: None, step: None };
}
