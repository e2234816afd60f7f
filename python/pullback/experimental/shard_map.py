"""`shard_map` with its arguments of old."""

import warnings as _warnings


def _shard_map(f, mesh, in_specs, out_specs, check_rep=True):
    from pullback._maps import shard_map

    return shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep)


_shard_map.__name__ = _shard_map.__qualname__ = "shard_map"


def __getattr__(name):
    if name == "shard_map":
        text = "jax.experimental.shard_map is deprecated in v0.8.0. Used jax.shard_map instead."
        _warnings.warn(text, DeprecationWarning, stacklevel=2)
        return _shard_map
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
