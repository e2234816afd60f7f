"""Random keys that are used twice: `jax.debug_key_reuse(True)` looks for them where functions are called and compiled."""
