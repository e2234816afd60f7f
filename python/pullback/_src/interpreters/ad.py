"""`ad` under JAX's private path."""

from pullback.interpreters.ad import *  # noqa: F403
