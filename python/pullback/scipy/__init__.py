"""Functions with SciPy's names, as modules that are imported when first asked for."""

import importlib as _importlib

_MODULES = frozenset({
    "cluster", "fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "spatial", "special", "stats",
})


def __getattr__(name):
    if name in _MODULES:
        try:
            return _importlib.import_module(f"pullback.scipy.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"pullback.scipy.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_MODULES})
