"""`explain_grad`: what is wrong with a gradient, which operation of the user's made it, and what to do."""

import inspect
import os as _os
import re as _re
import sys as _sys

import pullback
from pullback.tree_util import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten


def explain_grad(fun, argnums=0, has_aux=False):
    """A function that tells what is wrong with the gradient of `fun`: where NaN, infinity and zero come from, and the cure.

    The report has `troubles`, each with `kind`, `leaf`, `elements`, `primitive`, `file`, `line`, `function`, `cause`, `cure`, `chain`
    and `values`; `leaves`, which count each gradient's elements; `value`, `gradient`, `notes`, and `to_svg()`. The program is followed
    operation by operation, through calls, branches and loops; what cannot be followed is in `notes`.

    Args:
      fun: a function whose result is one real number.
      argnums: which positional arguments are differentiated: a number or several.
      has_aux: whether `fun` gives a pair, of which the second part is not differentiated.
    Returns: a function with the arguments of `fun` that gives the report.
    Raises:
      TypeError: as `jax.grad` does, when called: for a result that is not one real number, or an argument that is not floating.
    Differentiable: no; it is to be called on arrays.
    Example:
      >>> report = jax.explain_grad(lambda x: jnp.where(x > 0, jnp.log(x), 0.0))(0.0)
      >>> report.troubles[0].kind, report.troubles[0].primitive
      ('nan', 'log')
    """

    def explained(*args, **kwargs):
        try:
            value, gradient = pullback.value_and_grad(fun, argnums, has_aux)(*args, **kwargs)
        except Exception:
            # The error is that of `grad`, which names itself.
            pullback.grad(fun, argnums, has_aux)(*args, **kwargs)
            raise
        nums = [at % len(args) for at in ((argnums,) if isinstance(argnums, int) else tuple(argnums))]
        chosen = [args[at] for at in nums]
        leaves, tree = tree_flatten(chosen)
        points = [pullback.numpy.asarray(leaf) for leaf in leaves]

        def flat(*points):
            all_args = list(args)
            for at, value in zip(nums, tree_unflatten(tree, points)):
                all_args[at] = value
            out = fun(*all_args, **kwargs)
            return out[0] if has_aux else out

        closed, notes = None, []
        try:
            closed = pullback._core.record_call(flat, tuple(points))
        except Exception as error:
            notes = [f"the program could not be followed: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"]
        name = getattr(fun, "__name__", type(fun).__name__)
        leaf_names = _leaf_names(_names(fun, nums, args), chosen)
        found = pullback._core.explain(name, closed, points, tree_flatten(gradient)[0], leaf_names, notes)
        return Report(name, value[0] if has_aux else value, gradient, found)

    return explained


def _names(fun, argnums, args):
    """How the user calls each differentiated argument."""
    code = getattr(fun, "__code__", None)
    if code is not None and not hasattr(fun, "__wrapped__") and max(argnums) < code.co_argcount and not inspect.ismethod(fun):
        return [code.co_varnames[at] for at in argnums]
    try:
        given = list(inspect.signature(fun).bind(*args).arguments)
    except (TypeError, ValueError):
        given = []
    return [given[at] if at < len(given) else f"argument {at}" for at in argnums]


def _leaf_names(names, chosen):
    return [names[path[0].idx] + keystr(path[1:]) for path, _ in tree_flatten_with_path(chosen)[0]]


class Report:
    """What `explain_grad` found. `str` is for reading, `troubles`, `leaves`, `value`, `gradient` and `notes` are data."""

    def __init__(self, name, value, gradient, found):
        self.name, self.value, self.gradient, self._found = name, value, gradient, found
        self.leaves, self.troubles, self.notes = found.leaves, found.troubles, found.notes

    def __bool__(self):
        return bool(self.troubles)

    def __str__(self):
        return str(self._found)

    def __repr__(self):
        """As `str`; in colours where a terminal shows it, unless the environment has `NO_COLOR`."""
        is_shown = _sys.stdout is not None and _sys.stdout.isatty() and "NO_COLOR" not in _os.environ
        return _coloured(str(self)) if is_shown else str(self)

    def to_svg(self, index=0):
        """The way back of one trouble as a drawing, from the result to the leaf, the operation that made it in red."""
        return self._found.to_svg(index)

    def _repr_html_(self):
        return self._found.to_html()


# Colours of a terminal for the lines of a report, by how they begin.
_COLOURS = {"made by": 31, "because": 33, "hidden": 35, "path": 2, "cure": 32}


def _coloured(text):
    line = _re.compile(rf"^(  (?:{'|'.join(_COLOURS)}) .*|\[\d+\].*)$", _re.MULTILINE)

    def painted(match):
        code = next((code for start, code in _COLOURS.items() if match[0].startswith(f"  {start} ")), 1)
        return f"\x1b[{code}m{match[0]}\x1b[0m"

    return line.sub(painted, text)
