"""Source information under JAX's private path."""

from pullback.extend.source_info_util import *  # noqa: F403
