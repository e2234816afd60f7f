"""What may still change: callbacks with effects, checks, layouts, meshes."""

_MODULES = frozenset({
    "array_serialization", "buffer_callback", "checkify", "colocated_python", "compute_on", "hijax", "jet", "key_reuse", "layout", "mesh_utils",
    "multihost_utils", "ode", "pallas", "pjit", "random", "roofline", "scheduling_groups", "serialize_executable", "shard_map", "sparse", "topologies",
    "xla_metadata",
})


# Names that live in modules imported when first asked for.
_NAMES = {"io_callback": ("_callbacks", "io_callback"), "EArray": ("_src.earray", "EArray")}


def __getattr__(name):
    import importlib

    if name in _NAMES:
        module, attribute = _NAMES[name]
        return getattr(importlib.import_module(f"pullback.{module}"), attribute)
    if name in _MODULES:
        try:
            return importlib.import_module(f"pullback.experimental.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"pullback.experimental.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
