"""Special functions with SciPy's names."""

from pullback.scipy.special import _exponential, _gamma, _normal, _series

_modules = (_exponential, _gamma, _normal, _series)
globals().update({name: getattr(module, name) for module in _modules for name in module.__all__})

__all__ = sorted(name for module in _modules for name in module.__all__)
for _name in __all__:
    if callable(globals()[_name]):
        globals()[_name].__module__ = "pullback.scipy.special"
