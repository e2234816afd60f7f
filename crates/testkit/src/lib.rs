//! Samples, checkers and the golden-file runner for Pullback's tests.
#![forbid(unsafe_code)]
