"""Checks under JAX's private path."""

from pullback.experimental.checkify import *  # noqa: F403
from pullback.experimental.checkify import JaxException as JaxException, user_checks as user_checks
