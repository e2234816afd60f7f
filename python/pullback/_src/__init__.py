"""Names that libraries read from JAX's private modules: the same objects as the public ones, and inert hooks."""
