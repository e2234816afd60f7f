"""The plugin of XLA's CPU that tests run on: the wheel lammps-jax-pjrt-cpu, or the library that
`PULLBACK_TEST_PLUGIN` names."""

import importlib.util
import os
import pathlib

import pytest

NAME = "xla_cpu"


def library():
    """The plugin's library; None where there is none."""
    if path := os.environ.get("PULLBACK_TEST_PLUGIN"):
        return path
    found = importlib.util.find_spec("lammps_jax_pjrt_cpu")
    path = found and pathlib.Path(found.origin).parent / "pjrt_c_api_cpu_plugin.so"
    return str(path) if path and path.is_file() else None


def devices():
    """The eight devices of the plugin; skips the module without it."""
    path = library()
    if path is None:
        pytest.skip("no PJRT plugin: pip install --no-deps lammps-jax-pjrt-cpu==0.11.2", allow_module_level=True)
    import pullback as jax
    from pullback._src.xla_bridge import register_plugin

    register_plugin(NAME, library_path=path, options={"cpu_device_count": 8})
    return jax.devices(NAME)
