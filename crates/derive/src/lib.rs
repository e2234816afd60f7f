//! Derive macros of Pullback: Params.
