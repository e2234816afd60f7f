"""Tracing by hand under JAX's private path."""
