"""Which inputs have a differentiable path to the results, from the program alone."""

from pullback._explain._tape import _CALLS, is_inexact, place_of
from pullback.core import Literal

# Operations that are constant around almost every point, or are told to be.
FLAT = {"floor", "ceil", "round", "sign", "stop_gradient", "nextafter", "is_finite", "population_count", "clz"}
# Operations whose first operand only chooses.
CHOICES = {"select_n", "cond"}


class Paths:
    """What depends differentiably on one input, and where dependence that is not differentiable ends."""

    def __init__(self):
        self.cuts = []
        self.around = (None, None, None)

    def follow(self, jaxpr, marked):
        """Which results depend on the inputs marked. `marked` holds, for each input, "path", "cut" or None."""
        env = {var: mark for var, mark in zip(jaxpr.invars, marked) if mark}
        for eqn in jaxpr.eqns:
            marks = [None if isinstance(atom, Literal) else env.get(atom) for atom in eqn.invars]
            if not any(marks):
                continue
            place, before = place_of(eqn), self.around
            self.around = place if place[0] else before
            for var, mark in zip(eqn.outvars, self._step(eqn, marks)):
                if mark:
                    env[var] = mark
            self.around = before
        return [None if isinstance(atom, Literal) else env.get(atom) for atom in jaxpr.outvars]

    def _step(self, eqn, marks):
        name, params = eqn.primitive.name, eqn.params
        if name in _CALLS:
            return self.follow(params[_CALLS[name]], marks)
        if name == "cond":
            branches = [self.follow(branch, marks[1:]) for branch in params["branches"]]
            if marks[0] == "path":
                self._cut(eqn)
            outs = [_best(column) for column in zip(*branches)]
            return [out or ("cut" if marks[0] else None) for out in outs]
        if name == "scan":
            return self._scan(eqn, marks)
        if name == "while":
            return self._while(eqn, marks)
        return self._plain(eqn, marks)

    def _scan(self, eqn, marks):
        n_consts, n_carry = (len(group) for group in eqn.params["ft_in"][:2])
        carry = marks[n_consts : n_consts + n_carry]
        while True:
            outs = self.follow(eqn.params["jaxpr"], [*marks[:n_consts], *carry, *marks[n_consts + n_carry :]])
            wider = [_best(pair) for pair in zip(carry, outs)]
            if wider == carry:
                return [*carry, *outs[n_carry:]]
            carry = wider

    def _while(self, eqn, marks):
        n_cond, n_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        body, carry = marks[n_cond : n_cond + n_body], marks[n_cond + n_body :]
        while True:
            wider = [_best(pair) for pair in zip(carry, self.follow(eqn.params["body_jaxpr"], [*body, *carry]))]
            if wider == carry:
                return carry
            carry = wider

    def _plain(self, eqn, marks):
        data = marks[1:] if eqn.primitive.name in CHOICES else marks
        if "path" in marks and "path" not in data:
            self._cut(eqn)
        is_flat = eqn.primitive.name in FLAT
        outs = []
        for var in eqn.outvars:
            if "path" in data and not is_flat and is_inexact(var.aval):
                outs.append("path")
            else:
                if "path" in data:
                    self._cut(eqn)
                outs.append("cut")
        return outs

    def _cut(self, eqn):
        place = (eqn.primitive.name, *self.around)
        if place not in self.cuts:
            self.cuts.append(place)


def _best(marks):
    return "path" if "path" in marks else "cut" if "cut" in marks else None


def paths_of(closed, index):
    """The paths of one input of a jaxpr, and whether one reaches a result."""
    paths = Paths()
    marked = [None] * len(closed.jaxpr.invars)
    marked[index] = "path"
    return paths, "path" in paths.follow(closed.jaxpr, marked)


