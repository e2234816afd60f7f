"""Composable transformations of array programs: JAX's system on a Rust core."""

from pullback import _core
from pullback._core import Array as Array

__version__ = "0.1.0"

_LAZY = frozenset({
    "numpy", "lax", "nn", "random", "errors", "tree", "tree_util", "core", "debug", "dtypes", "scipy", "image", "ops",
    "flatten_util", "custom_derivatives", "stages", "sharding", "typing", "extend", "experimental", "api_util",
    "interpreters", "test_util", "util", "profiler", "distributed", "monitoring", "export", "custom_batching",
    "ad_checkpoint", "dlpack", "example_libraries", "ffi",
})


def __getattr__(name):
    if name in _LAZY:
        import importlib

        try:
            return importlib.import_module(f"pullback.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"pullback.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
