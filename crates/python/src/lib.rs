//! The Python extension module of Pullback.
