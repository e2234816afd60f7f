"""Runs lines of Python on 8 virtual devices of one system and prints what they give, as JSON.

Usage: python device_program.py (pullback | jax), with the lines as a JSON list on the standard input.
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


def plain(value):
    """A result as JSON: arrays as dtype, shape and elements; all else by its text."""
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        elements = np.asarray(value)
        return {"dtype": str(elements.dtype), "shape": list(elements.shape), "elements": elements.astype(float).ravel().tolist()}
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    return repr(value)


def builtin(error):
    names = (c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    return {"error": next(names)}


P, Mesh, NamedSharding = sharding.PartitionSpec, sharding.Mesh, sharding.NamedSharding
d = system.devices()
mesh = Mesh(np.array(d).reshape(4, 2), ("x", "y"))
NAMES = {
    "jax": system, "jnp": jnp, "lax": system.lax, "np": np, "d": d, "P": P, "Mesh": Mesh, "NamedSharding": NamedSharding,
    "SingleDeviceSharding": sharding.SingleDeviceSharding, "mesh": mesh, "ns": NamedSharding(mesh, P("x", "y")),
    "one": system.device_put(1.0, d[1]), "two": system.device_put(2, d[2]), "u": jnp.ones(3), "v": jnp.arange(8.0),
    "m": jnp.arange(32.0).reshape(8, 4), "sharding": sharding,
    "z": system.device_put(jnp.arange(32.0).reshape(8, 4), NamedSharding(mesh, P("x", "y"))),
    "S": lambda f, i, o, **options: system.shard_map(f, mesh=mesh, in_specs=i, out_specs=o, **options),
}


def run(line):
    try:
        return plain(eval(line, dict(NAMES)))
    except Exception as error:  # noqa: BLE001
        return builtin(error)


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(json.dumps([run(line) for line in json.load(sys.stdin)]))
