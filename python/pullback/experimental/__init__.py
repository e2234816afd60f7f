"""What may still change: callbacks with effects, checks, layouts, meshes."""

_MODULES = frozenset({"checkify", "layout", "mesh_utils", "multihost_utils", "compute_on", "shard_map", "pjit", "sparse", "hijax"})


def __getattr__(name):
    import importlib

    if name == "io_callback":
        from pullback._callbacks import io_callback

        return io_callback
    if name == "EArray":
        from pullback._src.earray import EArray

        return EArray
    if name in _MODULES:
        try:
            return importlib.import_module(f"pullback.experimental.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"pullback.experimental.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
