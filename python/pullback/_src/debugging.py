"""Prints and calls that only look, under JAX's private path."""

from pullback._effects import (
    DebugEffect as DebugEffect,
    OrderedDebugEffect as OrderedDebugEffect,
    debug_effect as debug_effect,
    ordered_debug_effect as ordered_debug_effect,
)
from pullback.debug import breakpoint as breakpoint, print as debug_print
from pullback.debug import callback as debug_callback, callback as callback
