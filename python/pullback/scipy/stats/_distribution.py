"""What the modules of distributions share: promotion of arguments, and the documentation of their functions."""

from pullback import _core

_n = _core.numpy

_MEANINGS = {
    "pdf": "The density at `{at}` of the {name} distribution: `{density}`.",
    "logpdf": "The logarithm of the density at `{at}` of the {name} distribution: of `{density}`.",
    "pmf": "The probability of `{at}` in the {name} distribution: `{density}`.",
    "logpmf": "The logarithm of the probability of `{at}` in the {name} distribution: of `{density}`.",
    "cdf": "The probability of at most `{at}` in the {name} distribution.",
    "logcdf": "The logarithm of the probability of at most `{at}` in the {name} distribution.",
    "sf": "The probability of more than `{at}` in the {name} distribution.",
    "logsf": "The logarithm of the probability of more than `{at}` in the {name} distribution.",
    "ppf": "The value that is not exceeded with probability `{at}` in the {name} distribution, the inverse of `cdf`.",
    "isf": "The value that is exceeded with probability `{at}` in the {name} distribution, the inverse of `sf`.",
    "entropy": "The entropy, in nats, of the {name} distribution.",
}
_COMMON = {"loc": "by how much the distribution is shifted", "scale": "how much it is stretched: a positive factor"}

_TEXT = """{meaning}

Args:
{arguments}
Returns: {shape}, of a floating dtype.
Raises:
  TypeError: an argument is no array or number, or shapes do not broadcast.{misfit}
Differentiable: yes, with respect to {wrt}, in both modes.
Example:
  >>> round(float(jax.scipy.stats.{module}.{function}({at})), 4)
  {gives}
"""


class Distribution:
    """A decorator for the functions of a distribution that documents them.

    `density` is the formula for `loc` 0 and `scale` 1; `arguments` says what each other argument is. A function is decorated
    with a point, the value there, and the names of the arguments in which it has a derivative, all by default.
    """

    def __init__(self, name, density, arguments, shape="an array of the broadcast shape", misfit=""):
        self.name, self.density, self.arguments, self.shape = name, density, arguments, shape
        self.misfit = misfit and f"\n  ValueError: {misfit}."

    def __call__(self, at, gives, wrt=None):
        def decorate(function):
            names = function.__code__.co_varnames[: function.__code__.co_argcount]
            meaning = _MEANINGS[function.__name__].format(at=names[0], name=self.name, density=self.density)
            is_inverse = function.__name__ in ("ppf", "isf")
            told = {**_COMMON, **self.arguments, **({names[0]: "probabilities, from 0 to 1"} if is_inverse else {})}
            function.__doc__ = _TEXT.format(
                meaning=meaning, arguments="\n".join(f"  {name}: {told[name]}." for name in names), shape=self.shape,
                misfit=self.misfit, wrt=_listed(wrt.split(", ") if wrt else names), function=function.__name__,
                module=function.__module__.rpartition(".")[2], at=at, gives=gives,
            )
            return function

        return decorate


def _listed(names):
    """`x`, `y` and `z`."""
    *first, last = (f"`{name}`" for name in names)
    return f"{', '.join(first)} and {last}" if first else last


def promote(name, *args):
    """The arguments in their common floating dtype."""
    return _n._promote_inexact(name, *args)


def where(condition, x, y):
    """A choice, whose constants take the dtype of the other side."""
    return _n.where(condition, x, y)
