"""Arguments of transformed functions under JAX's private path."""

from pullback.api_util import *  # noqa: F403
