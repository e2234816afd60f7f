"""From a bad gradient back to the operation that made it."""

import numpy as np

from pullback._explain import _words
from pullback._explain._report import Trouble

_MOST_ELEMENTS = 16
_COUNTS = {"reduce_sum", "convert_element_type", "broadcast_in_dim", "reshape", "squeeze"}


def _bad(array):
    return ~np.isfinite(np.asarray(array))


def _positions(mask):
    return tuple(tuple(int(i) for i in at) for at in np.argwhere(mask)[:_MOST_ELEMENTS])


class _Walk:
    """Parts of cotangents from a leaf toward the result, as long as they are of one kind; each maker with the way to it."""

    def __init__(self, back, kind):
        self.back, self.kind, self.seen, self.makers = back, kind, set(), []
        self.known = back.known.setdefault(kind, {})

    def is_of_kind(self, array):
        """Looked at once for all leaves; the arrays live as long as the cotangents do."""
        if id(array) not in self.known:
            self.known[id(array)] = self.kind(array)
        return self.known[id(array)]

    def up(self, value, way):
        """Looks at whatever gave a part of the cotangent of `value`."""
        if value in self.seen:
            return
        self.seen.add(value)
        found = False
        for index, part in self.back.parts.get(value, ()):
            if index is None or not self.is_of_kind(part):
                continue
            found = True
            self._node(value, index, part, [*way, index])
        if not found and way:
            self.makers.append((way[-1], way, value, self.back.cotangents[value]))

    def _node(self, value, index, part, way):
        outs = self.back.tape.nodes[index].outs
        above = [out for out in outs if out in self.back.cotangents and self.is_of_kind(self.back.cotangents[out])]
        if not above or self._made_here(index, part, above):
            self.makers.append((index, way, value, part))
            return
        for out in above:
            self.up(out, way)

    def _made_here(self, index, part, above):
        """Elementwise, the element that is bad here may have been fine above."""
        shapes = {np.shape(self.back.tape.values[i]) for i in self.back.tape.nodes[index].ins} | {np.shape(part)}
        if len(shapes) > 1 or self.kind is _is_zero or np.shape(self.back.cotangents[above[0]]) != np.shape(part):
            return False
        elementwise = self.back.tape.nodes[index].primitive not in ("rev", "transpose", "sort", "gather", "cumsum")
        return elementwise and not (_bad(part) & _bad(self.back.cotangents[above[0]])).any()


def _is_bad(array):
    return not np.isfinite(np.asarray(array)).all()


def _is_zero(array):
    return not np.asarray(array).any()


def find_bad(back, leaf, name):
    """What made the NaN or the infinities in the cotangent of a leaf."""
    total = back.cotangents.get(leaf)
    if total is None or not _is_bad(total):
        return []
    walk = _Walk(back, _is_bad)
    walk.up(leaf, [])
    troubles, known = [], set()
    for index, way, value, part in walk.makers or [(None, [], leaf, total)]:
        trouble = _trouble(back, name, total, index, way, value, part)
        # Steps of a loop have one line and one trouble: the first that is found is told.
        key = (trouble.primitive, trouble.file, trouble.line)
        if key not in known:
            known.add(key)
            troubles.append(trouble)
    return troubles


def _trouble(back, name, total, index, way, value, part):
    kind = "nan" if np.isnan(np.asarray(total)).any() else "inf"
    elements = _positions(_bad(total))
    if index is None:
        cause = "cotangents of several uses add up to no finite number"
        return Trouble(kind, name, elements, "add_any", None, None, None, cause, "look at the sizes of the terms", ())
    tape = back.tape
    node = tape.nodes[index]
    origin, at_input = _origin(tape, node)
    if at_input is not None:
        return _given(back, name, kind, elements, node, origin, way, at_input)
    maker = origin or node
    dropper, case = (None, 0) if _is_alive(back, node, part) else _dropper(back, node)
    is_norm, is_count = _is_norm(tape, maker), _is_count(tape, maker)
    cause = _cause(back, maker, node, dropper, is_norm, is_count)
    cure = _words.double_where(maker, dropper, case) if dropper else _words.guard(maker, is_norm, is_count)
    hidden = f"by {_words.DROPPING.get(dropper.primitive, dropper.primitive)} at {dropper.place}, which dropped the value" if dropper else None
    return Trouble(
        kind, name, elements, maker.primitive, maker.file, maker.line, maker.function, cause, cure,
        _chain(tape, [index, *reversed(way[:-1])]), _values(back, maker, part), hidden, maker.context,
        _steps(back, node, dropper, way),
    )


def _given(back, name, kind, elements, node, reader, way, operand):
    """A number that was not finite from the start, and the operation that reads it first."""
    value = np.asarray(back.tape.values[operand])
    given = back.tape.names.get(operand, "a constant or another argument of the program")
    what = "NaN" if np.isnan(value).any() else "an infinity"
    cause = f"{given} holds {what} at {', '.join(str(list(at)) for at in _positions(_bad(value))[:4])}, which {reader.primitive} reads"
    dropper, _ = _dropper(back, node)
    hidden = cure = None
    if dropper is not None:
        hidden = f"in part by {_words.DROPPING[dropper.primitive]} at {dropper.place}"
        cure = "fill that array where it is dropped later, or take the gradient under pullback.safe_grads()"
    return Trouble(
        kind, name, elements, reader.primitive, reader.file, reader.line, reader.function, cause,
        cure or "look at where that array comes from", _chain(back.tape, list(reversed(way))), _values(back, reader, value), hidden,
        reader.context, _steps(back, node, dropper, way),
    )


def _origin(tape, node):
    """The first operation before this one whose results are not finite though its operands are; or the input that is not."""
    seen = set()
    while True:
        bad = [i for i in node.ins if _float(tape.values[i]) and _is_bad(tape.values[i])]
        if not bad:
            return (node, None) if seen else (None, None)
        before = [i for i in bad if i in tape.producer]
        if not before:
            return node, bad[0]
        index = tape.producer[before[0]]
        if index in seen:
            return node, None
        seen.add(index)
        node = tape.nodes[index]


def _float(value):
    return np.issubdtype(np.asarray(value).dtype, np.inexact)


def _is_alive(back, node, part):
    """Whether the bad elements reach the result: their cotangents are not zero above."""
    bad = _bad(part)
    for out in node.outs:
        above = back.cotangents.get(out)
        if above is not None and np.shape(above) == bad.shape and not (np.asarray(above)[bad] == 0).all():
            return True
    return False


def _dropper(back, node):
    """The first choice between an operation and the result that drops elements, and which operand of it they are."""
    frontier, seen = list(node.outs), set()
    while frontier:
        value = frontier.pop(0)
        for index, given in back.parts.get(value, ()):
            if index is None or index in seen:
                continue
            seen.add(index)
            other = back.tape.nodes[index]
            if other.primitive in _words.DROPPING and (np.asarray(given) == 0).any():
                return other, other.ins.index(value)
            frontier.extend(other.outs)
    return None, 0


def _producer(tape, value):
    index = tape.producer.get(value)
    return None if index is None else tape.nodes[index]


def _is_norm(tape, node):
    if node.primitive != "sqrt":
        return False
    before = _producer(tape, node.ins[0])
    while before is not None and before.primitive in {*_COUNTS, "div", "select_n"}:
        if before.primitive == "reduce_sum":
            square = _producer(tape, before.ins[0])
            return square is not None and square.primitive in ("mul", "square", "integer_pow")
        before = _producer(tape, before.ins[-1 if before.primitive == "select_n" else 0])
    return False


def _is_count(tape, node):
    """Whether a divisor counts something."""
    if node.primitive != "div":
        return False
    before, names = _producer(tape, node.ins[1]), []
    while before is not None and before.primitive in _COUNTS:
        names.append(before.primitive)
        before = _producer(tape, before.ins[0])
    # What does not depend on the leaves was computed before: the user's words say it.
    expression = _words.expression_of(node.primitive, node.file, node.line)
    return "reduce_sum" in names or expression is not None and "sum(" in expression.operand


def _cause(back, maker, node, dropper, is_norm, is_count):
    cause = "the root of a sum of squares that is 0 has no slope: infinity times 0 is not a number" if is_norm else _words.why(maker)
    if is_count:
        cause = "a sum is divided by a count that is 0"
    if node is not maker:
        cause = f"{_words.why(maker)}; {node.primitive} at line {node.line} then multiplies a cotangent with it"
    return f"{cause}; the cotangent there is 0, and 0 times infinity is not a number" if dropper else cause


def _values(back, node, part):
    """Operands, result and cotangent of an operation at its first bad elements."""
    tape, bad = back.tape, _bad(part)
    at = tuple(np.argwhere(bad)[0]) if bad.any() else ()
    shown = {}
    for number, i in enumerate(node.ins):
        shown[f"operand {number}" if len(node.ins) > 1 else "operand"] = _at(tape.values[i], bad.shape, at)
    for out in node.outs[:1]:
        shown["result"] = _at(tape.values[out], bad.shape, at)
        if out in back.cotangents:
            shown["cotangent"] = _at(back.cotangents[out], bad.shape, at)
    return shown


def _at(value, shape, at):
    value = np.asarray(value)
    if value.shape == shape and at:
        return f"{value[at]} at {[int(i) for i in at]}"
    return " ".join(str(value).split()) if value.size <= 6 else f"{value.dtype}{list(value.shape)} from {value.min()} to {value.max()}"


def _chain(tape, indices):
    return tuple(f"{tape.nodes[i].name} (line {tape.nodes[i].line})" if tape.nodes[i].line else tape.nodes[i].name for i in indices)


def _label(cotangent):
    array = np.asarray(cotangent)
    if array.size == 0:
        return "empty"
    kinds = [name for name, has in (("NaN", np.isnan(array).any()), ("inf", np.isinf(array).any()), ("0", (array == 0).any())) if has]
    return f"{list(array.shape)} {'with ' + ', '.join(kinds) if kinds else 'finite'}"


def _steps(back, node, dropper, way):
    """Boxes of the picture: name, place and shape, whether it is the trouble, the cotangent that leaves it."""
    tape = back.tape
    boxes = []
    if dropper is not None:
        boxes.append(_box(back, dropper, False))
    for index in way[::-1]:
        boxes.append(_box(back, tape.nodes[index], tape.nodes[index] is node))
    return tuple(boxes)


def _box(back, node, is_trouble):
    shape = list(np.shape(back.tape.values[node.outs[0]])) if node.outs else []
    leaving = next((back.cotangents[i] for i in node.ins if i in back.cotangents), None)
    label = "" if leaving is None else _label(leaving)
    place = f"line {node.line}, {shape}" if node.line else str(shape)
    return node.name, place, is_trouble, label


def find_zero(back, leaf, name):
    """What made the cotangent of a leaf zero though there is a path."""
    parts = [part for index, part in back.parts.get(leaf, ()) if index is not None]
    if any(not _is_zero(part) for part in parts):
        cause = "the contributions of its uses cancel"
        return [Trouble("zero (numeric)", name, (), "add_any", None, None, None, cause, "look at the uses: their sum does not depend on it", ())]
    walk = _Walk(back, _is_zero)
    walk.up(leaf, [])
    if not walk.makers:
        cause = "the branch or the case that was taken does not use it"
        return [Trouble("zero (numeric)", name, (), "cond", None, None, None, cause, "another point may take another branch", ())]
    troubles, known = [], set()
    for index, way, _, part in walk.makers:
        node = back.tape.nodes[index]
        if (node.primitive, node.line) in known:
            continue
        known.add((node.primitive, node.line))
        cause, cure = _words.saturation(node)
        if any(np.size(back.tape.values[i]) == 0 for i in node.ins):
            cause, cure = f"{node.primitive} saw no element, so nothing flows back", "look at the shapes: a part of the program is empty"
        troubles.append(Trouble(
            "zero (numeric)", name, (), node.primitive, node.file, node.line, node.function, cause, cure,
            _chain(back.tape, [index, *reversed(way[:-1])]), _values(back, node, part), None, node.context, _steps(back, node, None, way),
        ))
    return troubles
