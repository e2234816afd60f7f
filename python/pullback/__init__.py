"""Composable transformations of array programs: JAX's system on a Rust core."""

import sys as _sys

from pullback import _core

def _enter(name, module):
    """Enters the modules inside of one of the extension's under their names, so that `import` finds them."""
    for inner, held in vars(module).items():
        if isinstance(held, type(_sys)):
            _sys.modules[f"{name}.{inner}"] = held
            _enter(f"{name}.{inner}", held)


_enter("pullback._core", _core)

from pullback._core import Array as Array
from pullback._core import typeof as typeof
from pullback._config import (
    config as config,
    allow_f16_reductions as allow_f16_reductions,
    array_garbage_collection_guard as array_garbage_collection_guard,
    auto_pcast as auto_pcast,
    check_tracer_leaks as check_tracer_leaks,
    checking_leaks as checking_leaks,
    debug_infs as debug_infs,
    debug_key_reuse as debug_key_reuse,
    debug_nans as debug_nans,
    default_device as default_device,
    default_matmul_precision as default_matmul_precision,
    default_prng_impl as default_prng_impl,
    disable_jit as disable_jit,
    enable_checks as enable_checks,
    enable_custom_prng as enable_custom_prng,
    enable_x64 as enable_x64,
    explain_cache_misses as explain_cache_misses,
    jax2tf_associative_scan_reductions as jax2tf_associative_scan_reductions,
    legacy_prng_key as legacy_prng_key,
    log_compiles as log_compiles,
    no_execution as no_execution,
    no_tracing as no_tracing,
    numpy_dtype_promotion as numpy_dtype_promotion,
    numpy_rank_promotion as numpy_rank_promotion,
    remove_size_one_mesh_axis_from_type as remove_size_one_mesh_axis_from_type,
    safe_grads as safe_grads,
    softmax_custom_jvp as softmax_custom_jvp,
    thread_guard as thread_guard,
    threefry_partitionable as threefry_partitionable,
    transfer_guard as transfer_guard,
    transfer_guard_device_to_device as transfer_guard_device_to_device,
    transfer_guard_device_to_host as transfer_guard_device_to_host,
    transfer_guard_host_to_device as transfer_guard_host_to_device,
    warn_empty as warn_empty,
    watch_nans as watch_nans,
)
from pullback._device import (
    Shard as Shard,
    copy_to_host_async as copy_to_host_async,
    default_backend as default_backend,
    device_count as device_count,
    device_get as device_get,
    device_put as device_put,
    devices as devices,
    host_count as host_count,
    host_id as host_id,
    host_ids as host_ids,
    live_arrays as live_arrays,
    local_device_count as local_device_count,
    local_devices as local_devices,
    process_count as process_count,
    process_index as process_index,
    process_indices as process_indices,
)
from pullback._jit import (
    CompilerEffortLevel as CompilerEffortLevel,
    Inline as Inline,
    clear_caches as clear_caches,
    jit as jit,
)
from pullback._api import (
    ShapeDtypeStruct as ShapeDtypeStruct,
    block_until_ready as block_until_ready,
    effects_barrier as effects_barrier,
    eval_shape as eval_shape,
    grad as grad,
    hessian as hessian,
    jacfwd as jacfwd,
    jacobian as jacobian,
    jacrev as jacrev,
    jvp as jvp,
    linear_transpose as linear_transpose,
    linearize as linearize,
    make_jaxpr as make_jaxpr,
    named_call as named_call,
    named_scope as named_scope,
    value_and_grad as value_and_grad,
    vjp as vjp,
    vmap as vmap,
)
from pullback import _array_methods as _array_methods

__version__ = "0.1.0"
__version_info__ = (0, 1, 0)

# Modules that are imported when first asked for.
_MODULES = frozenset({
    "ad_checkpoint", "api_util", "core", "custom_batching", "custom_derivatives", "custom_transpose", "debug", "distributed",
    "dlpack", "dtypes", "errors", "example_libraries", "experimental", "export", "extend", "ffi", "flatten_util", "image",
    "interpreters", "lax", "masked", "memory", "monitoring", "nn", "numpy", "ops", "profiler", "random", "ref", "scipy", "sharding", "stages",
    "test_util", "tree", "tree_util", "typing", "util", "version",
})

# Names that live in modules imported when first asked for.
_NAMES = {
    "checkpoint": ("custom_derivatives", "checkpoint"),
    "remat": ("custom_derivatives", "remat"),
    "checkpoint_policies": ("ad_checkpoint", "checkpoint_policies"),
    "closure_convert": ("custom_derivatives", "closure_convert"),
    "custom_gradient": ("custom_derivatives", "custom_gradient"),
    "custom_jvp": ("custom_derivatives", "custom_jvp"),
    "custom_vjp": ("custom_derivatives", "custom_vjp"),
    "pure_callback": ("_callbacks", "pure_callback"),
    "float0": ("dtypes", "float0"),
    "Device": ("_device", "Device"),
    "make_mesh": ("sharding", "make_mesh"),
    "set_mesh": ("sharding", "set_mesh"),
    "get_mesh": ("sharding", "get_mesh"),
    "get_abstract_mesh": ("sharding", "get_abstract_mesh"),
    "use_abstract_mesh": ("sharding", "use_abstract_mesh"),
    "reshard": ("sharding", "reshard"),
    "make_array_from_callback": ("sharding", "make_array_from_callback"),
    "make_array_from_process_local_data": ("sharding", "make_array_from_process_local_data"),
    "make_array_from_single_device_arrays": ("sharding", "make_array_from_single_device_arrays"),
    "pmap": ("_maps", "pmap"),
    "shard_map": ("_maps", "shard_map"),
    "smap": ("_maps", "smap"),
    "NamedSharding": ("sharding", "NamedSharding"),
    "P": ("sharding", "PartitionSpec"),
    "ad": ("_gradients", "ad"),
    "ds": ("_slices", "dslice"),
    "make_user_context": ("_user_context", "make_user_context"),
    "install_as_jax": ("_alias", "install_as_jax"),
    "help": ("_help", "help"),
    "inspect": ("_inspect", "inspect"),
    "max_threads": ("_threads", "max_threads"),
    "memory_limit": ("_memory", "memory_limit"),
    "print_environment_info": ("_inspect", "print_environment_info"),
    "fwd_and_bwd": ("_api", "fwd_and_bwd"),
    "Ref": ("ref", "Ref"),
    "new_ref": ("ref", "new_ref"),
    "empty_ref": ("ref", "empty_ref"),
    "free_ref": ("ref", "free_ref"),
    "freeze": ("ref", "freeze"),
    "ensure_compile_time_eval": ("core", "ensure_compile_time_eval"),
    "checked": ("_checked", "checked"),
    "explain_grad": ("_explain", "explain_grad"),
}

# Names that JAX has removed, with what it says of them.
_REMOVED = {
    name: f"jax.{name} is deprecated; use jax.device_put instead. See pullback.help(\"migrating_pmap\") for a drop-in replacement."
    for name in ("device_put_replicated", "device_put_sharded")
}


def __getattr__(name):
    import importlib

    if name in _NAMES:
        module, attribute = _NAMES[name]
        value = getattr(importlib.import_module(f"pullback.{module}"), attribute)
        globals()[name] = value
        return value
    if name in _MODULES:
        try:
            return importlib.import_module(f"pullback.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"pullback.{name}":
                raise
    if name in _REMOVED:
        raise AttributeError(_REMOVED[name])
    # The alias module is `jax` to its users.
    raise AttributeError(f"module 'jax' has no attribute {name!r}" if "jax" in _sys.modules else f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    # These are there, but no part of what the reference shows.
    return sorted({*globals(), *_MODULES, *_NAMES} - {"custom_transpose", "inspect", "install_as_jax", "max_threads", "memory_limit", "util"})
