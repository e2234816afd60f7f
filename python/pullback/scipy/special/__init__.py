"""Special functions with SciPy's names."""

from pullback import _core
from pullback.scipy.special import _bessel, _gamma, _hypergeometric, _legendre

_modules = (_bessel, _gamma, _hypergeometric, _legendre)
_functions = {name: function for name, function in vars(_core.scipy.special).items() if not name.startswith("_")}
_composed = {name: getattr(module, name) for module in _modules for name in module.__all__}
globals().update(_functions | _composed)

__all__ = sorted({*_functions, *_composed})
for _name in _composed:
    if callable(globals()[_name]):
        globals()[_name].__module__ = "pullback.scipy.special"

_NAMES = ("lpmn", "lpmn_values")


def __getattr__(name):
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    import warnings

    warnings.warn(f"jax.scipy.special.{name} is deprecated; no replacement is planned.", DeprecationWarning, stacklevel=2)
    return getattr(_legendre, f"_{name}")


for _name in _NAMES:
    _function = getattr(_legendre, f"_{_name}")
    _function.__module__, _function.__name__, _function.__qualname__ = "pullback.scipy.special", _name, _name
