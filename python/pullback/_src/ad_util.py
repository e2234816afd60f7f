"""Symbolic zeros under JAX's private path."""

from pullback import _core as _core
from pullback.interpreters.ad import Zero as Zero, add_jaxvals as add_jaxvals, instantiate_zeros as instantiate_zeros

# `stop_gradient` binds no primitive here; the object exists so that tables can be keyed by it.
stop_gradient_p = _core.Primitive("stop_gradient")
