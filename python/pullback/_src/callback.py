"""Functions of the host under JAX's private path."""

from pullback._callbacks import io_callback as io_callback, pure_callback as pure_callback
from pullback._effects import (
    IOEffect as IOEffect,
    OrderedIOEffect as OrderedIOEffect,
    io_effect as _IOEffect,
    ordered_io_effect as _OrderedIOEffect,
)
