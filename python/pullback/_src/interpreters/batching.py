"""`batching` under JAX's private path."""

from pullback.interpreters.batching import *  # noqa: F403
