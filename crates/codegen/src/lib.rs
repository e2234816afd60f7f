//! Loop programs of Pullback to machine code.
