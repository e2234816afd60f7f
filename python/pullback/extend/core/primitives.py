"""The primitives, as `name_p`."""

from pullback import _core

# Names that differ between the table and the equations.
_OTHER_NAMES = {
    "add_jaxvals": "add_any",
    "remat": "checkpoint",
    "linear_solve": "custom_linear_solve",
}


def _find(name):
    base = _OTHER_NAMES.get(name[:-2], name[:-2])
    for spelling in (base, base.replace("_", "-")):
        try:
            return _core.find_primitive(spelling)
        except ValueError:
            continue
    return None


# Primitives that exist as objects, so that tables can be keyed by them, and occur in no jaxpr here.
call_p = _core.Primitive("call")
call_p.multiple_results = True
closed_call_p = _core.Primitive("closed_call")
closed_call_p.multiple_results = True


def __getattr__(name):
    if name.endswith("_p"):
        found = _find(name)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
