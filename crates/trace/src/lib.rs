//! What a user call enters: the current-trace stack, tracers and the jit cache.
