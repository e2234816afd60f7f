//! Loop IR of Pullback: programs of structured SSA loops, their verifier, printer, parser and interpreter.
