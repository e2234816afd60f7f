"""`partial_eval` under JAX's private path."""

from pullback.interpreters.partial_eval import *  # noqa: F403
