"""Signals: convolution, trends, and spectra of short segments, with SciPy's names."""

from pullback.scipy.signal import _convolution, _spectra, _trends

_modules = (_convolution, _spectra, _trends)
globals().update({name: getattr(module, name) for module in _modules for name in module.__all__})

__all__ = sorted(name for module in _modules for name in module.__all__)
for _name in __all__:
    globals()[_name].__module__ = "pullback.scipy.signal"
