"""Runs lines of Python on an explicit mesh of 8 virtual devices of one system and prints what they give, as JSON.

Usage: python sharding_program.py (pullback | jax), with the lines as a JSON list on the standard input. Of an array are told its
type, the spec of its sharding, the shapes of its shards and its elements; of an error its class and its text.
"""

import importlib
import json
import os
import sys
import warnings

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import numpy as np  # noqa: E402

system = importlib.import_module(sys.argv[1])
jnp = importlib.import_module(sys.argv[1] + ".numpy")
sharding = importlib.import_module(sys.argv[1] + ".sharding")
P, AxisType, NamedSharding = sharding.PartitionSpec, sharding.AxisType, sharding.NamedSharding


def spec_of(array):
    """The spec without trailing entries that say nothing."""
    spec = getattr(array.sharding, "spec", None)
    if spec is None:
        return "one device"
    entries = list(spec.partitions)
    while entries and entries[-1] is None:
        entries.pop()
    return repr(spec.update(partitions=entries))


def told(value):
    """A result as JSON."""
    if isinstance(value, P) or isinstance(value, (bool, int, str)) or value is None:
        return value if isinstance(value, str) else repr(value)
    if isinstance(value, (tuple, list)):
        return [told(item) for item in value]
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    if hasattr(value, "aval") and hasattr(value, "sharding"):
        kind = str(system.typeof(value))
        if "{U" in kind or "key<" in kind:
            return {"type": kind, "spec": spec_of(value)}
        shards = sorted({tuple(shard.data.shape) for shard in value.addressable_shards})
        elements = np.asarray(value).astype(float).ravel().tolist()
        return {"type": kind, "spec": spec_of(value), "shards": repr(shards), "elements": elements}
    return repr(value)


mesh = system.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
mixed = system.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit, AxisType.Auto))
auto = system.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
system.set_mesh(mesh)
whole = np.arange(32.0, dtype=np.float32).reshape(8, 4)
stack = np.arange(128.0, dtype=np.float32).reshape(8, 4, 4)


def put(value, *entries):
    return system.device_put(value, P(*entries))


def under(context, fun):
    with system.set_mesh(context):
        return fun()


NAMES = {
    "under": under,
    "jax": system, "jnp": jnp, "lax": system.lax, "np": np, "P": P, "AxisType": AxisType, "NamedSharding": NamedSharding,
    "Mesh": sharding.Mesh, "AbstractMesh": sharding.AbstractMesh, "mesh": mesh, "mixed": mixed, "auto": auto, "sharding": sharding, "put": put,
    "reshard": sharding.reshard, "auto_axes": sharding.auto_axes, "explicit_axes": sharding.explicit_axes,
    "typeof": system.typeof, "use_abstract_mesh": sharding.use_abstract_mesh, "get_abstract_mesh": sharding.get_abstract_mesh,
    "a": put(whole, "x", "y"), "xn": put(whole, "x"), "nx": put(whole, None, "x"), "ny": put(whole, None, "y"),
    "r": jnp.asarray(whole), "v": put(whole[:, 0], "x"), "i": put(np.arange(8) % 4, "x"), "s": put(stack, "x"),
    "d": system.device_put(whole, NamedSharding(auto, P("x", "y"))), "layout": importlib.import_module(sys.argv[1] + ".experimental.layout"),
    "key": system.random.key(0), "whole": whole, "U": lambda a: jnp.einsum("ij,ij->i", a, a, out_sharding=P("x", unreduced={"y"})),
}


def run(line):
    try:
        return told(eval(line, dict(NAMES)))
    except Exception as error:  # noqa: BLE001
        names = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
        kind = type(error).__name__ if type(error).__name__ == "ShardingTypeError" else names[0]
        return {"error": kind, "text": str(error)}


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(json.dumps([run(line) for line in json.load(sys.stdin)]))
