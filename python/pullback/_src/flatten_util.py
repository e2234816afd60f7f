"""Trees as vectors under JAX's private path."""

from pullback.flatten_util import ravel_pytree as ravel_pytree
