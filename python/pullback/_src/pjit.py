"""The primitive of `jit` under JAX's private path."""

from pullback.extend.core.primitives import jit_p as jit_p
