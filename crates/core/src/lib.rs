//! Primitives, transforms and control flow of Pullback.
