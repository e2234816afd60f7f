"""A program followed operation by operation: the values on its way, and the cotangents on the way back.

Calls and checkpoints are walked into, a branch is the one that was taken, and a loop is its steps one after the other; a function
with a rule of the user is one operation, as its inside has no part in the derivative.
"""

import functools

import numpy as np

import pullback
from pullback.core import Literal

# Longer programs are followed with each of their loops as one operation.
MOST_NODES = 20_000
_CALLS = {"jit": "jaxpr", "remat2": "jaxpr", "checkpoint": "jaxpr", "core_call": "call_jaxpr", "closed_call": "call_jaxpr"}
_RULES = {"custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr"}


class Node:
    """One operation: what it is, where the user wrote it, and its operands and results by number."""

    __slots__ = ("primitive", "name", "file", "line", "function", "eqn", "ins", "outs", "context")

    def __init__(self, eqn, ins, outs, context, place):
        self.eqn, self.ins, self.outs, self.context = eqn, ins, outs, context
        self.primitive = eqn.primitive.name
        rule = eqn.params.get("name") if self.primitive in _RULES else None
        self.name = f"{self.primitive}[{rule}]" if rule else self.primitive
        self.file, self.line, self.function = place

    @property
    def place(self):
        return f"{self.file}:{self.line}" if self.file else "(no line known)"


def place_of(eqn):
    """File, line and function of an equation; None for what is not known."""
    text = str(eqn.source_info)
    head, _, function = text.rpartition(" (")
    file, _, line = head.rpartition(":")
    return (file, int(line), function.rstrip(")")) if line.isdigit() else (None, None, None)


def bind(eqn, operands):
    """The results of an equation for operands, as a list."""
    functions, params = eqn.primitive.get_bind_params(eqn.params)
    out = eqn.primitive.bind(*functions, *operands, **params)
    return list(out) if eqn.primitive.multiple_results else [out]


def is_inexact(value):
    dtype = getattr(value, "dtype", None)
    return dtype is not None and _is_inexact_dtype(dtype)


@functools.lru_cache(maxsize=64)
def _is_inexact_dtype(dtype):
    return bool(pullback.numpy.issubdtype(dtype, pullback.numpy.inexact))


class TooLong(Exception):
    """The program has more operations than are followed one by one."""


class Tape:
    """The operations of one run, and the values between them."""

    most_nodes = MOST_NODES

    def __init__(self, unrolls=True):
        self.nodes, self.values, self.producer, self.unrolls = [], [], {}, unrolls
        self.names = {}
        # Where the innermost call with a known line stands: for the operations of functions that are not the user's.
        self.around = (None, None, None)

    def new(self, value):
        self.values.append(value)
        return len(self.values) - 1

    def run(self, jaxpr, consts, args, context=()):
        """Follows a jaxpr from the numbers of its arguments to those of its results."""
        env = dict(zip(jaxpr.constvars, map(self.new, consts)))
        env.update(zip(jaxpr.invars, args))
        read = lambda atom: self.new(atom.val) if isinstance(atom, Literal) else env[atom]
        for eqn in jaxpr.eqns:
            outs = self.step(eqn, [read(atom) for atom in eqn.invars], context)
            env.update(zip(eqn.outvars, outs))
        return [read(atom) for atom in jaxpr.outvars]

    def inner(self, jaxpr, args, context):
        return self.run(jaxpr, jaxpr.consts if hasattr(jaxpr, "consts") else (), args, context)

    def place_of(self, eqn):
        place = place_of(eqn)
        return place if place[0] else self.around

    def step(self, eqn, ins, context):
        before, self.around = self.around, self.place_of(eqn)
        try:
            return self._step(eqn, ins, context)
        finally:
            self.around = before

    def _step(self, eqn, ins, context):
        name = eqn.primitive.name
        if name in _CALLS:
            return self.inner(eqn.params[_CALLS[name]], ins, context)
        if name == "cond":
            branches = eqn.params["branches"]
            chosen = min(max(int(self.values[ins[0]]), 0), len(branches) - 1)
            return self.inner(branches[chosen], ins[1:], (*context, f"branch {chosen} of cond at {_short(eqn)}"))
        if name == "scan" and self.unrolls:
            return self.scan(eqn, ins, context)
        if name == "while" and self.unrolls:
            return self.repeat(eqn, ins, context)
        return self.operation(eqn, ins, context)

    def operation(self, eqn, ins, context):
        if len(self.nodes) >= self.most_nodes:
            raise TooLong
        outs = [self.new(value) for value in bind(eqn, [self.values[i] for i in ins])]
        self.producer.update((out, len(self.nodes)) for out in outs)
        self.nodes.append(Node(eqn, ins, outs, context, self.around))
        return outs

    def scan(self, eqn, ins, context):
        params = eqn.params
        n_consts, n_carry = (len(group) for group in params["ft_in"][:2])
        consts, carry, xs = ins[:n_consts], ins[n_consts : n_consts + n_carry], ins[n_consts + n_carry :]
        steps = range(params["length"])
        rows = []
        for i in reversed(steps) if params["reverse"] else steps:
            here = (*context, f"iteration {i} of scan at {_short(eqn)}")
            slices = [self.sliced(eqn, x, i, here) for x in xs]
            outs = self.inner(params["jaxpr"], [*consts, *carry, *slices], here)
            carry, ys = outs[:n_carry], outs[n_carry:]
            rows.append(ys)
        if params["reverse"]:
            rows.reverse()
        if not rows:
            return carry + self.operation(eqn, ins, context)[n_carry:]
        return carry + [self.stacked(eqn, list(column), context) for column in zip(*rows)]

    def repeat(self, eqn, ins, context):
        params = eqn.params
        n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
        cond, body, carry = ins[:n_cond], ins[n_cond : n_cond + n_body], ins[n_cond + n_body :]
        for i in range(self.most_nodes):
            here = (*context, f"iteration {i} of while at {_short(eqn)}")
            (going,) = self.inner(params["cond_jaxpr"], [*cond, *carry], here)
            if not bool(self.values[going]):
                return carry
            carry = self.inner(params["body_jaxpr"], [*body, *carry], here)
        raise TooLong

    def sliced(self, eqn, x, i, context):
        return self.synthetic(eqn, "slice of scan", [x], lambda x: x[i], context)

    def stacked(self, eqn, column, context):
        return self.synthetic(eqn, "stack of scan", column, lambda *rows: pullback.numpy.stack(rows), context)

    def synthetic(self, eqn, name, ins, function, context):
        """What a loop does with its arrays between steps, as an operation of its own."""
        if len(self.nodes) >= self.most_nodes:
            raise TooLong
        out = self.new(function(*[self.values[i] for i in ins]))
        node = Node(eqn, ins, [out], context, self.around)
        node.primitive = node.name = name
        node.eqn = function
        self.producer[out] = len(self.nodes)
        self.nodes.append(node)
        return out


def _short(eqn):
    return f"line {place_of(eqn)[1]}"


def apply(node, operands):
    """The results of a node for other operands."""
    if not hasattr(node.eqn, "primitive"):
        return [node.eqn(*operands)]
    return bind(node.eqn, operands)


class Backward:
    """Cotangents of all values, and which operation gave which part of them."""

    def __init__(self, tape, wanted, outs, seeds):
        self.tape = tape
        self.active = self._reachable(wanted)
        self.cotangents, self.parts, self.known = {}, {}, {}
        for out, seed in zip(outs, seeds):
            self._add(out, seed, None)
        for index in range(len(tape.nodes) - 1, -1, -1):
            self._step(index)

    def _reachable(self, wanted):
        active = set(wanted)
        for node in self.tape.nodes:
            if node.primitive != "stop_gradient" and active.intersection(node.ins):
                active.update(out for out in node.outs if is_inexact(self.tape.values[out]))
        return active

    def _add(self, value, cotangent, index):
        before = self.cotangents.get(value)
        self.cotangents[value] = cotangent if before is None else before + cotangent
        self.parts.setdefault(value, []).append((index, cotangent))

    def _step(self, index):
        node, values = self.tape.nodes[index], self.tape.values
        given = [self.cotangents.get(out) for out in node.outs]
        places = [at for at, i in enumerate(node.ins) if i in self.active and is_inexact(values[i])]
        if not places or all(ct is None for ct in given):
            return
        operands = [values[i] for i in node.ins]

        def of(*chosen):
            for at, value in zip(places, chosen):
                operands[at] = value
            return apply(node, operands)

        outs, pull_back = pullback.vjp(of, *[operands[at] for at in places])
        seeds = [_seed(out, ct) for out, ct in zip(outs, given)]
        for at, cotangent in zip(places, pull_back(seeds)):
            self._add(node.ins[at], cotangent, index)


def _seed(out, cotangent):
    if not is_inexact(out):
        return np.zeros(out.shape, pullback.float0)
    zero = pullback.numpy.zeros_like(out)
    return zero if cotangent is None else cotangent.astype(out.dtype).reshape(out.shape)
