"""The primitives, as `name_p`."""

from pullback import _core

# Names that differ between the table and the equations.
_OTHER_NAMES = {
    "add_jaxvals": "add_any",
    "remat": "remat2",
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


def _absent(name, multiple_results=False):
    """A primitive that exists as an object, so that tables can be keyed by it, and occurs in no jaxpr here."""
    primitive = _core.Primitive(name)
    if multiple_results:
        primitive.multiple_results = True
    return primitive


after_all_p = _absent("after_all")
approx_top_k_p = _absent("approx_top_k", True)
call_p = _absent("call", True)
closed_call_p = _absent("closed_call", True)
create_token_p = _absent("create_token")
device_put_p = _absent("device_put", True)
empty2_p = _absent("empty2")
get_p = _absent("get")
ragged_all_to_all_p = _absent("ragged_all_to_all")
rng_uniform_p = _absent("rng_uniform")
select_and_scatter_p = _absent("select_and_scatter")
swap_p = _absent("swap")
threefry2x32_p = _absent("threefry2x32", True)


def __getattr__(name):
    if name.endswith("_p"):
        found = _find(name)
        if found is not None:
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
