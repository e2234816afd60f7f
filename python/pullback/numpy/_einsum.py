"""`einsum`, and `einsum_path`: the order in which it contracts operands."""

from math import prod as _prod

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["einsum", "einsum_path"]


def einsum(
    subscripts, /, *operands, out=None, optimize="auto", precision=None, preferred_element_type=None,
    _dot_general=_core.lax.dot_general, out_sharding=None
):
    """Sums of products of arrays, written with a letter for each axis.

    Axes of one letter are aligned; letters that the result lacks are summed over. Several operands are contracted
    in pairs, in an order that needs few multiplications.

    Args:
      subscripts: the letters of the operands, separated by commas, and after `->` those of the result; without it
        the letters that occur once, in alphabetical order. `...` stands for axes that broadcast. Or the first
        operand, followed by a list of integers for its axes, and so on.
      operands: the arrays.
      out: for compatibility; must be None.
      optimize: how to look for the order, or the order itself, as `einsum_path` gives it.
      precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
      preferred_element_type: the dtype in which to add, and that of the result.
      _dot_general: what contracts the pairs, with the arguments of `jax.lax.dot_general`.
      out_sharding: the sharding of the result.
    Returns: an array with an axis for each letter of the result, of the promoted dtype.
    Raises:
      TypeError: an operand is neither an array nor a number.
      ValueError: subscripts that do not fit the operands, or sizes of one letter that differ.
      NotImplementedError: `out` is given, or an order in which three operands meet.
    Differentiable: yes, in both modes, with respect to all operands; it is linear in each.
    Example:
      >>> print(jnp.einsum("ij,j->i", jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
      [21 43]
    """
    if _dot_general is _core.lax.dot_general:
        _dot_general = None
    elif not callable(_dot_general):
        raise _user_error(TypeError, f"{type(_dot_general).__name__!r} object is not callable: _dot_general must contract two arrays")
    _check_order(optimize)
    return _n.einsum(
        subscripts, *operands, out=out, optimize=optimize, precision=precision, preferred_element_type=preferred_element_type,
        _dot_general=_dot_general, out_sharding=out_sharding
    )


def _check_order(order):
    """Refuses an order, given as `einsum_path` gives it, in which several operands meet at once."""
    if isinstance(order, (str, bool, int)) or order is None:
        return
    if any(not isinstance(step, str) and len(step) > 2 for step in order):
        raise _user_error(
            NotImplementedError,
            "jax.numpy.einsum does not support simultaneous contraction of 3 or more operands. Typically this means you've "
            "passed an unsupported path to the einsum optimize parameter."
        )


class PathInfo:
    """What a path of contractions costs: the numbers of multiplications with it and without, and the largest intermediate."""

    def __init__(self, equation, path, naive_cost, opt_cost, largest_intermediate):
        self.eq, self.path = equation, path
        self.naive_cost, self.opt_cost, self.largest_intermediate = naive_cost, opt_cost, largest_intermediate

    @property
    def speedup(self):
        """The number of multiplications of one sum over all indices over that of the path."""
        return self.naive_cost / max(self.opt_cost, 1)

    def __repr__(self):
        return (
            f"  Complete contraction:  {self.eq}\n      Naive FLOP count:  {self.naive_cost:.3e}\n  Optimized FLOP count:  "
            f"{self.opt_cost:.3e}\n   Theoretical speedup:  {self.speedup:.3e}\n  Largest intermediate:  "
            f"{self.largest_intermediate:.3e} elements"
        )


def einsum_path(subscripts, /, *operands, optimize="auto"):
    """The pairs of operands that `einsum` would contract, one after the other, and what that costs.

    Args:
      subscripts: as for `einsum`.
      operands: the arrays, of which only the shapes matter.
      optimize: a path is taken as it is; otherwise one is looked for: by `opt_einsum` where it is installed, else
        the pair that removes most elements comes first.
    Returns: a list of tuples of positions of operands, each result going to the end; and an object that prints the
      costs.
    Raises:
      ValueError: subscripts that do not fit the operands.
      NotImplementedError: without `opt_einsum`, subscripts with `...`.
    Differentiable: no; the result is no array.
    Example:
      >>> path, info = jnp.einsum_path("ij,jk->ik", jnp.ones((2, 3)), jnp.ones((3, 2)))
      >>> path
      [(0, 1)]
    """
    if isinstance(optimize, bool):
        optimize = "optimal"
    try:
        import opt_einsum
    except ImportError:
        return _own_path(subscripts, operands, optimize)
    return opt_einsum.contract_path(subscripts, *operands, optimize=optimize)


def _own_path(subscripts, operands, optimize):
    left, right = _explicit(subscripts)
    terms = [set(term) for term in left]
    sizes = {}
    for term, operand in zip(left, operands):
        sizes.update(zip(term, _n.shape(operand)))
    size = lambda labels: _prod(sizes[label] for label in labels)  # noqa: E731
    naive = size(set().union(*terms)) * max(len(terms), 1)
    path, cost, largest = [], 0, 0
    given = list(optimize) if isinstance(optimize, (list, tuple)) else None
    while len(terms) > 1 or (given and not path):
        chosen = tuple(given.pop(0)) if given else _cheapest(terms, set(right), size)
        rest = [term for i, term in enumerate(terms) if i not in chosen]
        union = set().union(*(terms[i] for i in chosen))
        kept = union & (set(right).union(*rest))
        cost, largest = cost + size(union) * max(len(chosen), 1), max(largest, size(kept))
        path.append(chosen)
        terms = [*rest, kept]
    equation = ",".join(left) + "->" + right
    return path, PathInfo(equation, path, naive, cost, largest)


def _explicit(subscripts):
    if not isinstance(subscripts, str) or "." in subscripts:
        raise _user_error(NotImplementedError, "jnp.einsum_path without opt_einsum takes subscripts as a text without ellipses")
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    if not arrow:
        letters = left.replace(",", "")
        right = "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    return left.split(","), right


def _cheapest(terms, output, size):
    """The pair whose contraction removes most elements."""

    def gain(pair):
        i, j = pair
        rest = set(output).union(*(term for k, term in enumerate(terms) if k not in pair))
        union = terms[i] | terms[j]
        return size(union & rest) - size(terms[i]) - size(terms[j]), size(union)

    return min(((i, j) for j in range(len(terms)) for i in range(j)), key=gain)


einsum.__module__ = einsum_path.__module__ = "pullback.numpy"
