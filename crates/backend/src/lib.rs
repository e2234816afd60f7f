//! The CPU backend of Pullback and the evaluating emitter.
