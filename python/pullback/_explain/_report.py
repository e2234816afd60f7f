"""The report of `explain_grad`: data, text, and HTML."""

import dataclasses
import html


@dataclasses.dataclass(frozen=True)
class Leaf:
    """One differentiated array: how many of its gradient's elements are finite and not zero, zero, NaN and infinite."""

    name: str
    type: str
    finite: int
    zero: int
    nan: int
    infinite: int

    def __str__(self):
        counts = [f"{getattr(self, kind)} {kind}" for kind in ("finite", "zero", "nan", "infinite") if getattr(self, kind)]
        return f"{self.name}: {self.type}: {', '.join(counts) or 'no elements'}"


@dataclasses.dataclass(frozen=True)
class Trouble:
    """One thing that is wrong with a gradient, the operation that made it, and what to do.

    `kind` is "nan", "inf", "zero (structural)", "zero (numeric)" or "empty"; `elements` are positions in the leaf; `chain` names the
    operations from the one that made it back to the leaf; `values` are the operands there.
    """

    kind: str
    leaf: str
    elements: tuple
    primitive: str
    file: str | None
    line: int | None
    function: str | None
    cause: str
    cure: str
    chain: tuple = ()
    values: dict = dataclasses.field(default_factory=dict)
    dropped_by: str | None = None
    context: tuple = ()
    steps: tuple = dataclasses.field(default=(), repr=False)

    @property
    def place(self):
        return f"{self.file}:{self.line}, in {self.function}" if self.file else "no line of yours"

    def __str__(self):
        lines = [f"{self.kind} in the gradient of {self.leaf}{_elements(self.elements)}"]
        lines.append(f"  made by  {self.primitive} at {self.place}")
        lines += [f"  in       {where}" for where in self.context]
        lines += [f"  {name:<8} {value}" for name, value in self.values.items()]
        lines.append(f"  because  {self.cause}")
        if self.dropped_by:
            lines.append(f"  hidden   {self.dropped_by}")
        if len(self.chain) > 1:
            lines.append(f"  path     {' → '.join(self.chain)}")
        lines.append(f"  cure     {self.cure}")
        return "\n".join(lines)


def _elements(elements):
    if not elements or elements == ((),):
        return ""
    shown = ", ".join(str(list(at)) for at in elements[:4])
    return f" at {shown}{' …' if len(elements) > 4 else ''}"


class Report:
    """What `explain_grad` found. `str` is for reading, `troubles`, `leaves`, `value`, `gradient` and `notes` are data."""

    def __init__(self, name, value, gradient, leaves, troubles, notes):
        self.name, self.value, self.gradient = name, value, gradient
        self.leaves, self.troubles, self.notes = tuple(leaves), tuple(troubles), tuple(notes)

    def __bool__(self):
        return bool(self.troubles)

    def __str__(self):
        found = f"{len(self.troubles)} trouble{'s' if len(self.troubles) != 1 else ''}" if self.troubles else "no trouble"
        parts = [f"gradient of {self.name}: {found}", *(f"  {leaf}" for leaf in self.leaves)]
        for number, (trouble, *others) in enumerate(self._by_cause(), start=1):
            parts += ["", f"[{number}] {trouble}"]
            if others:
                parts.append(f"  also     in the gradients of {', '.join(other.leaf for other in others)}")
        parts += ["", *(f"note: {note}" for note in self.notes)] if self.notes else []
        return "\n".join(parts)

    __repr__ = __str__

    def _by_cause(self):
        """Troubles that one operation made, together."""
        groups = {}
        for trouble in self.troubles:
            key = (trouble.primitive, trouble.file, trouble.line, trouble.cause, trouble.kind if trouble.file else trouble.leaf)
            groups.setdefault(key, []).append(trouble)
        return groups.values()

    def to_svg(self, index=0):
        """The way back of one trouble as a drawing, from the result to the leaf, the operation that made it in red."""
        from pullback._explain._picture import draw

        return draw(self, index)

    def _repr_html_(self):
        rows = "".join(f"<tr><td>{html.escape(part)}</td></tr>" for part in map(str, self.leaves))
        parts = [f"<b>gradient of {html.escape(self.name)}</b><table>{rows}</table>"]
        for index, trouble in enumerate(self.troubles):
            parts.append(f"<pre>{html.escape(str(trouble))}</pre>{self.to_svg(index)}")
        parts += [f"<p>note: {html.escape(note)}</p>" for note in self.notes]
        return "".join(parts)
