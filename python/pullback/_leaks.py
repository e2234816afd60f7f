"""Who holds a leaked tracer."""

import gc as _gc
import types as _types


def _name_of(holder, target):
    """How `holder` refers to `target`; None for what is of no use to a reader."""
    if isinstance(holder, _types.FrameType):
        names = [name for name, value in holder.f_locals.items() if value is target]
        return f"the local variable {names[0]!r} of {holder.f_code.co_qualname}" if names else None
    if isinstance(holder, dict):
        keys = [key for key, value in holder.items() if value is target]
        return f"<dict of {len(holder)}>[{keys[0]!r}]" if keys else None
    if isinstance(holder, (list, tuple)):
        positions = [i for i, value in enumerate(holder) if value is target]
        return f"<{type(holder).__name__} of {len(holder)}>[{positions[0]}]" if positions else None
    if isinstance(holder, _types.CellType):
        return "a variable of a closure"
    return f"<{type(holder).__name__}>"


def _holders(tracer):
    found = []
    for holder in _gc.get_referrers(tracer):
        name = None if holder is found else _name_of(holder, tracer)
        if name is not None:
            found.append(f"<{type(tracer).__name__} {id(tracer)}> is referred to by {name}")
    return found
