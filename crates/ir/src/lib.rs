//! The jaxpr of Pullback and the contract that every primitive and every emitter follows.
