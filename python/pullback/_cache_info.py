"""Why jitted functions were traced again: `f.cache_info()`, and what is logged of it where a setting asks for that."""

import dataclasses as _dataclasses
import logging as _logging

from pullback import _core
from pullback.tree_util import keystr, tree_flatten_with_path, tree_structure


@_dataclasses.dataclass(frozen=True)
class CacheChange:
    """What a call had that no call before it had.

    `argument` is its name with the path inside it; `what` says which property differs: "shape", "dtype", "weak type",
    "tree", "static value", "setting", "arguments", "surroundings", or "captured tracers".
    """

    argument: str
    what: str
    before: str
    after: str

    def __str__(self):
        if self.what == "captured tracers":
            return "uses tracers of an outer trace, so its own trace is not kept"
        return f"{self.what} of {self.argument}: {self.before} -> {self.after}"


@_dataclasses.dataclass(frozen=True)
class CacheMiss:
    """A call that was traced: on which line, of which arguments, and what had changed since the nearest call before it."""

    file: str
    line: int
    function: str
    arguments: dict
    changes: tuple

    def __str__(self):
        place = f"{self.file}:{self.line}" if self.file else "unknown line"
        if not self.changes:
            shown = ", ".join(f"{name}: {text}" for name, text in self.arguments.items())
            return f"{place}: first call, {shown or 'no arguments'}"
        return f"{place}: " + "; ".join(map(str, self.changes))


@_dataclasses.dataclass(frozen=True)
class CacheInfo:
    """What `f.cache_info()` gives: calls that found their program, calls that were traced, programs kept, and the calls that
    were traced, oldest first (the last 256)."""

    name: str
    hits: int
    misses: int
    size: int
    traces: tuple

    def __repr__(self):
        head = f"CacheInfo({self.name}: hits={self.hits}, misses={self.misses}, size={self.size})"
        first = self.misses - len(self.traces) + 1
        return "\n".join([head, *(f"  {first + i}. {miss}" for i, miss in enumerate(self.traces))])


@_dataclasses.dataclass(frozen=True)
class _Call:
    """A call as far as its signature goes."""

    leaves: dict
    trees: dict
    statics: dict
    settings: int

    def shown(self):
        return {**{name: _text(aval) for name, aval in self.leaves.items()}, **self.statics}


def _text(aval):
    return f"{aval.str_short()}{' (weak)' if aval.weak_type else ''}"


def _positional_names(fun, n):
    import inspect

    try:
        kinds = [p for p in inspect.signature(fun).parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    except (TypeError, ValueError):
        kinds = []
    return [kinds[i].name if i < len(kinds) else f"args[{i - len(kinds)}]" for i in range(n)]


def _call_of(fun, static_argnums, miss):
    args, kwargs = miss["arguments"]
    statics = dict(miss["statics"])
    n = len(args) + sum(isinstance(key, int) for key in statics)
    names = _positional_names(fun, n)
    given = dict(zip((names[i] for i in range(n) if i not in static_argnums), args)) | dict(kwargs)
    leaves = {}
    for name, arg in given.items():
        for path, aval in tree_flatten_with_path(arg)[0]:
            leaves[name + keystr(path)] = aval
    trees = {name: tree_structure(arg) for name, arg in given.items()}
    statics = {names[key] if isinstance(key, int) else key: text for key, text in statics.items()}
    return _Call(leaves, trees, statics, miss["settings"])


def _leaf_changes(name, a, b):
    if a.shape != b.shape:
        yield CacheChange(name, "shape", str(a.shape), str(b.shape))
    if a.dtype != b.dtype:
        yield CacheChange(name, "dtype", a.dtype.name, b.dtype.name)
    if a.weak_type != b.weak_type:
        yield CacheChange(name, "weak type", str(a.weak_type), str(b.weak_type))


def _changes(before, after):
    """What differs between two calls."""
    found = []
    if (given := list(before.trees | before.statics)) != (now := list(after.trees | after.statics)):
        found.append(CacheChange("the call", "arguments", f"({', '.join(given)})", f"({', '.join(now)})"))
    for name in before.trees.keys() & after.trees.keys():
        if before.trees[name] != after.trees[name]:
            found.append(CacheChange(name, "tree", _tree_text(before.trees[name]), _tree_text(after.trees[name])))
    for name, aval in after.leaves.items():
        if name in before.leaves:
            found += _leaf_changes(name, before.leaves[name], aval)
    for name in before.statics.keys() & after.statics.keys():
        if before.statics[name] != after.statics[name]:
            found.append(CacheChange(name, "static value", before.statics[name], after.statics[name]))
    if before.settings >> 32 != after.settings >> 32:
        found.append(CacheChange("the call", "surroundings", "other named axes or user contexts", "those of this call"))
    for bit, name in enumerate(_core.setting_names()):
        was, now = (bool(call.settings >> bit & 1) for call in (before, after))
        if was != now:
            found.append(CacheChange(name, "setting", str(was), str(now)))
    return tuple(found)


def _tree_text(tree):
    return str(tree).removeprefix("PyTreeDef(").removesuffix(")")


def _info(fun, static_argnums, hits, size, recorded):
    n_misses, kept = recorded
    calls, traces = [], []
    for miss in kept:
        call = _call_of(fun, static_argnums, miss)
        if miss["captures"]:
            changes = (CacheChange("", "captured tracers", "", ""),)
        else:
            # The nearest call, of those the latest.
            changes = min((_changes(before, call) for before in reversed(calls)), key=len, default=())
            if calls and not changes:
                # Equal to the eye: a static value that compares unequal to itself, or was forgotten.
                changes = (CacheChange("the call", "identity", "an equal call", "kept apart"),)
            calls.append(call)
        file, line, function = miss["place"] or ("", 0, "")
        traces.append(CacheMiss(file, line, function, call.shown(), changes))
    name = getattr(fun, "__name__", None) or type(fun).__name__
    return CacheInfo(name, hits, n_misses, size, tuple(traces))


_logger = _logging.getLogger(__name__)


def _type_text(aval, other):
    weak = f"{{weak_type={aval.weak_type}}}" if aval.weak_type != other.weak_type else ""
    return f"{aval.str_short(True)}{weak}"


def _type_lines(before, after):
    """What differs between the types of two calls."""
    for name, aval in after.leaves.items():
        old = before.leaves.get(name)
        if old is None or (old.shape, old.dtype, old.weak_type) == (aval.shape, aval.dtype, aval.weak_type):
            continue
        hint = ", see jax.help(\"weak_types\")" if old.weak_type != aval.weak_type else ""
        yield f"  * at {name}, now {_type_text(aval, old)} and before {_type_text(old, aval)}{hint}"


def _option(name):
    """The option of `jax.config` that a setting of the core is."""
    known = {"X64": "jax_enable_x64"}
    snake = "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")
    return known.get(name, f"jax_{snake}")


def _explained(before, after):
    """What differs between two calls, in sections."""
    changes = _changes(before, after)
    of = lambda *kinds: [change for change in changes if change.what in kinds]
    if settings := of("setting", "surroundings"):
        yield "  Tracing context doesn't match, e.g. due to config or context manager."
        for change in settings:
            yield f"  * {_option(change.argument) if change.what == 'setting' else change.argument} differs: now {change.after} and before {change.before}"
    if trees := of("tree", "arguments"):
        yield "  different input pytree:"
        for change in trees:
            yield f"  * at {change.argument}, now {change.after} and before {change.before}"
    elif types := list(_type_lines(before, after)):
        yield "  different input types:"
        yield from types
    if statics := of("static value"):
        yield "  different static arguments:"
        for change in statics:
            yield f"  * at {change.argument}, now {change.after} and before {change.before}"
    if not changes:
        yield "  cache miss explanation unavailable: an equal call is kept apart"


def _explain_last(fun, static_argnums, recorded):
    """Logs the last miss of a function: what differs from the nearest call before it."""
    kept = recorded[1]
    miss, calls = kept[-1], [_call_of(fun, static_argnums, miss) for miss in kept]
    code = getattr(fun, "__code__", None)
    defined = f" defined at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
    name = getattr(fun, "__name__", None) or type(fun).__name__
    file, line, function = miss["place"] or ("", 0, "")
    lines = [f"TRACING CACHE MISS at {file}:{line} ({function}):"]
    if miss["captures"]:
        lines += [f"  for {name}{defined}", "  it uses tracers of an outer trace, so its own trace is not kept"]
    elif len(calls) > 1:
        nearest = min(reversed(calls[:-1]), key=lambda before: len(_changes(before, calls[-1])))
        lines += [f"  for {name}{defined}", "  all previously seen cache keys differ. For the closest previous key:"]
        lines += _explained(nearest, calls[-1])
    else:
        lines += ["  never seen function:", f"    {name} id={id(fun)}{defined}"]
    _logger.warning("%s", "\n".join(lines))


def _log_compile(name, avals):
    """Logs that a function is compiled for arguments of some types."""
    _logger.warning("Compiling jit(%s) with global shapes and types (%s).", name, ", ".join(avals) + "," * (len(avals) == 1))
