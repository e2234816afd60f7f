"""`mlir` under JAX's private path."""

from pullback.interpreters.mlir import *  # noqa: F403
