"""What the modules of distributions share: promotion of arguments, and the documentation of their functions."""

from pullback import _core

_n = _core.numpy

_MEANINGS = {
    "pdf": "The density at `x`",
    "logpdf": "The logarithm of the density at `x`",
    "pmf": "The probability of `k`",
    "logpmf": "The logarithm of the probability of `k`",
    "cdf": "The probability of at most the first argument",
    "logcdf": "The logarithm of the probability of at most the first argument",
    "sf": "The probability of more than the first argument",
    "logsf": "The logarithm of the probability of more than the first argument",
    "ppf": "The value that is not exceeded with probability `q`",
    "isf": "The value that is exceeded with probability `q`",
    "entropy": "The entropy, in nats,",
}

_REST = """ of the {distribution} distribution{formula}.

    Args:
      {arguments}: numbers or arrays that broadcast; `loc` shifts the distribution and `scale` stretches it.
    Returns: an array of the broadcast shape and a floating dtype.
    Raises:
      TypeError, ValueError: for what is no array, and shapes that do not go together.
    Differentiable where the formula is smooth.
    """


def of(distribution, formula=""):
    """A decorator that documents a function of a distribution; the formula is that of its density."""

    def decorate(function):
        arguments = function.__code__.co_varnames[: function.__code__.co_argcount]
        text = f": `{formula}`" if formula and function.__name__ in ("pdf", "pmf", "logpdf", "logpmf") else ""
        rest = _REST.format(distribution=distribution, formula=text, arguments=", ".join(arguments))
        function.__doc__ = _MEANINGS[function.__name__] + rest
        return function

    return decorate


def promote(name, *args):
    """The arguments in their common floating dtype."""
    return _n._promote_inexact(name, *args)


def where(condition, x, y):
    """A choice, whose constants take the dtype of the other side."""
    return _n.where(condition, x, y)
