"""References under JAX's private path."""
