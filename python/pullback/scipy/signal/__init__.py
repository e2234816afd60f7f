"""Signals: convolution, trends, and spectra of short segments, with SciPy's names."""

from pullback import _core
from pullback.scipy.signal import _spectra

_functions = {name: function for name, function in vars(_core.scipy.signal).items() if not name.startswith("_")}
_composed = {name: getattr(_spectra, name) for name in _spectra.__all__}
globals().update(_functions | _composed)

__all__ = sorted({*_functions, *_composed})
for _name in _composed:
    globals()[_name].__module__ = "pullback.scipy.signal"
