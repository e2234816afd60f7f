"""`explain_grad`: what is wrong with a gradient, which operation of the user's made it, and what to do."""

import inspect

import numpy as np

import pullback
from pullback._explain._find import find_bad, find_zero
from pullback._explain._report import Leaf, Report, Trouble
from pullback._explain._structure import paths_of
from pullback._explain._tape import _CALLS, Backward, Tape, TooLong, place_of
from pullback._explain._words import flat_cure
from pullback.tree_util import keystr, tree_flatten, tree_flatten_with_path, tree_unflatten

_UNUSED = "no operation uses it: it is unused, or was replaced by numbers of NumPy or of Python on the way"
_REDUCTIONS = {"reduce_max", "reduce_min", "reduce_sum", "reduce_prod", "argmax", "argmin", "reduce_and", "reduce_or"}


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
        question = _Question(fun, argnums, has_aux, args, kwargs, gradient)
        troubles, notes = question.answer()
        name = getattr(fun, "__name__", type(fun).__name__)
        return Report(name, value[0] if has_aux else value, gradient, question.leaves, troubles, notes)

    return explained


def _names(fun, argnums, args):
    """How the user calls each differentiated argument."""
    try:
        given = list(inspect.signature(fun).bind(*args).arguments)
    except (TypeError, ValueError):
        given = []
    return [given[at] if at < len(given) else f"argument {at}" for at in argnums]


class _Question:
    """One call: its arguments as flat leaves, its gradient, and what is found of them."""

    def __init__(self, fun, argnums, has_aux, args, kwargs, gradient):
        is_single = isinstance(argnums, int)
        nums = [at % len(args) for at in ((argnums,) if is_single else tuple(argnums))]
        chosen = [args[at] for at in nums]
        leaves, self.tree = tree_flatten(chosen)
        self.points = [pullback.numpy.asarray(leaf) for leaf in leaves]
        names = _names(fun, nums, args)
        paths, _ = tree_flatten_with_path(chosen)
        self.names = [names[path[0].idx] + keystr(path[1:]) for path, _ in paths]
        self.gradients = [np.asarray(leaf) for leaf in tree_flatten(gradient)[0]]
        self.leaves = [_leaf(name, grad) for name, grad in zip(self.names, self.gradients)]

        def flat(*points):
            all_args = list(args)
            for at, value in zip(nums, tree_unflatten(self.tree, points)):
                all_args[at] = value
            out = fun(*all_args, **kwargs)
            return out[0] if has_aux else out

        self.flat = flat

    def answer(self):
        """Troubles and notes. Whatever the program is, there is a report: what could not be followed is a note."""
        try:
            return self._answer()
        except Exception as error:
            return [], [f"the program could not be followed: {type(error).__name__}: {(str(error).splitlines() or [''])[0]}"]

    def _answer(self):
        bad = [at for at, grad in enumerate(self.gradients) if not np.isfinite(grad).all()]
        zero = [at for at, grad in enumerate(self.gradients) if grad.size and not grad.any()]
        closed = pullback._core.record_call(self.flat, tuple(self.points))
        troubles = _empties(closed.jaxpr)
        structural, numeric = self._structural(closed, zero)
        troubles += structural
        if not bad and not numeric:
            return troubles, []
        found, notes = self._follow(closed, bad, numeric)
        return troubles + found, notes

    def _structural(self, closed, zero):
        """Zeros that the program alone explains; and the leaves that it does not."""
        troubles, numeric = [], []
        for at in zero:
            paths, reaches = paths_of(closed, at)
            if reaches:
                numeric.append(at)
            elif paths.cuts:
                troubles += [self._cut(at, *cut) for cut in paths.cuts]
            else:
                troubles.append(self._structural_trouble(at, "none", None, None, None, _UNUSED, "use it, or compute with jax.numpy"))
        return troubles, numeric

    def _cut(self, at, primitive, file, line, function):
        cause = f"{primitive} has no derivative but 0, and no other path leads to the result"
        return self._structural_trouble(at, primitive, file, line, function, cause, flat_cure(primitive))

    def _structural_trouble(self, at, primitive, file, line, function, cause, cure):
        steps = ((f"{primitive}", f"line {line}" if line else "", True, "no path"),)
        return Trouble("zero (structural)", self.names[at], (), primitive, file, line, function, cause, cure, (primitive,), steps=steps)

    def _follow(self, closed, bad, zero):
        notes = []
        try:
            tape, ins, outs = _run(closed, self.points, self.names, True)
        except TooLong:
            notes.append("the program is long: each of its loops was followed as one operation")
            try:
                tape, ins, outs = _run(closed, self.points, self.names, False)
            except TooLong:
                return [], ["the program has too many operations to be followed"]
        wanted = [ins[at] for at in bad + zero]
        try:
            back = Backward(tape, wanted, outs[:1], [pullback.numpy.ones_like(tape.values[outs[0]])])
        except Exception as error:
            return [], [*notes, f"the way back could not be followed: {str(error).splitlines()[0]}"]
        troubles = []
        for at in bad:
            found = find_bad(back, ins[at], self.names[at])
            if not found:
                notes.append(f"{self.names[at]}: the operations one by one give a finite gradient, the program as a whole does not")
            troubles += found
        for at in zero:
            troubles += find_zero(back, ins[at], self.names[at])
        return troubles, notes


def _run(closed, points, names, unrolls):
    tape = Tape(unrolls)
    ins = [tape.new(point) for point in points]
    tape.names = dict(zip(ins, names))
    return tape, ins, tape.run(closed.jaxpr, closed.consts, ins)


def _leaf(name, gradient):
    finite, nan = np.isfinite(gradient), np.isnan(gradient)
    zero = gradient == 0
    counts = [int((finite & ~zero).sum()), int(zero.sum()), int(nan.sum()), int((~finite & ~nan).sum())]
    shape = ",".join(map(str, gradient.shape))
    return Leaf(name, f"{gradient.dtype}[{shape}]", *counts)


def _empties(jaxpr):
    """Reductions that see no element."""
    found = []
    for eqn in jaxpr.eqns:
        for param in eqn.params.values():
            for inner in param if isinstance(param, (tuple, list)) else (param,):
                if hasattr(inner, "eqns") and eqn.primitive.name in {*_CALLS, "cond", "scan", "while"}:
                    found += _empties(inner)
        shape = getattr(eqn.invars[0].aval, "shape", ()) if eqn.invars else ()
        out = eqn.outvars[0].aval.shape if eqn.outvars and hasattr(eqn.outvars[0].aval, "shape") else ()
        if eqn.primitive.name in _REDUCTIONS and 0 in shape and 0 not in out:
            file, line, function = place_of(eqn)
            cause = f"{eqn.primitive.name} saw no element: its operand has the shape {tuple(shape)}"
            cure = "give the reduction an initial=, a where= of the mean or pullback.masked.mean, or leave the empty part out"
            found.append(Trouble("empty", "(the program)", (), eqn.primitive.name, file, line, function, cause, cure, (eqn.primitive.name,)))
    return found
