"""Kernels over grids of blocks, interpreted: each step of the grid is a step of a loop, and references are arrays that it carries.

Lowerings for accelerators (Triton, Mosaic) are not here; `pallas_call` without `interpret=True` is an error, as on JAX's CPU.
"""

from pullback._later import later as _later

_PARTS = {
    "pullback.experimental.pallas._specs": (
        "BlockSpec", "Blocked", "Element", "GridSpec", "MemoryRef", "MemorySpace", "HOST", "Squeezed", "squeezed", "no_block_spec", "CompilerParams",
        "CostEstimate",
    ),
    "pullback.experimental.pallas._call": ("pallas_call",),
    "pullback.experimental.pallas._kernel": (
        "program_id", "num_programs", "when", "loop", "run_scoped", "debug_print", "debug_check", "multiple_of", "broadcast_to", "empty", "empty_like",
    ),
    "pullback.experimental.pallas._sizes": ("align_to", "cdiv", "ds", "dslice", "next_power_of_2", "strides_from_shape"),
}
_later_attribute, _NAMES = _later("pullback.experimental.pallas", _PARTS)


def __getattr__(name):
    # Members of the class, so that they are no functions to those who list the module.
    if name == "ANY":
        return _later_attribute("MemorySpace").ANY
    return _later_attribute(name)


def __dir__():
    return sorted({*(name for name in globals() if name.startswith("__")), *_NAMES, "ANY"})
