"""Wrapped functions under JAX's private path."""

from pullback.extend.linear_util import *  # noqa: F403
