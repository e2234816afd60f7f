//! Thread pool and execution settings of Pullback.
