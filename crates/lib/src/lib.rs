//! User-level array functions of Pullback: lax, numpy, nn, random.
#![forbid(unsafe_code)]
