"""Devices of other platforms than our own: XLA's plugins, where they are found, and what their devices are.

Nothing here runs until a device is asked for: importing the package starts no plugin. A plugin is a shared library that
speaks the PJRT C interface. It comes from `register_plugin`, from the variable `PJRT_NAMES_AND_LIBRARY_PATHS`
(`name:path`, with commas between several), from modules in the namespace package `jax_plugins`, from entry points of that
name, or from the package `libtpu`.
"""

from __future__ import annotations

import os as _os
import sys as _sys
import threading as _threading

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._device import Device, Memory

# What users call platforms, beside their own names.
_ALIASES = {"gpu": ("cuda", "rocm")}
_SHOWN = {"cuda": "gpu", "rocm": "gpu"}


class PluginDevice(Device):
    """A device of a plugin. Also a context in which it is the default device.

    Attributes:
      id: its number among the devices of the platform; `local_hardware_id` is that on this machine.
      platform: "gpu", "tpu", or the plugin's own word.
      device_kind: what kind it is, in the plugin's words.
      process_index: the number of its process.
      client: what runs programs on it.
    What else the plugin says of a device, such as `compute_capability`, is an attribute too.
    """

    def __init__(self, client, facts):
        self.client, self.platform = client, _SHOWN.get(client.platform, client.platform)
        self._number, self.id = facts["number"], facts["id"]
        self.local_hardware_id = facts["local_hardware_id"]
        self.process_index = self.host_id = self.task_id = facts["process_index"]
        self.device_kind = facts["device_kind"]
        self._kinds, self._attributes = facts["memory_kinds"], facts["attributes"]
        self._names = facts["short_name"], facts["long_name"]
        self._contexts = []

    def __getattr__(self, name):
        attributes = self.__dict__.get("_attributes", {})
        if name in attributes:
            return attributes[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def memory_stats(self):
        """Counts of its memory, a dictionary; None where the plugin keeps none."""
        return self.client._plugin.memory_stats(self._number)

    def _memory_kinds(self):
        return self._kinds or ["device"]

    def __repr__(self):
        return self._names[0]

    def __str__(self):
        return self._names[1]

    def __reduce__(self):
        return _device_of, (self.client._name, self.id)


def _device_of(name, id):
    return next(device for device in client_of(name).devices() if device.id == id)


class PluginClient:
    """What runs programs on the devices of a plugin.

    Attributes: `platform` and `platform_version`, in the plugin's words; `runtime_type`.
    """

    runtime_type = "pjrt_c_api"

    def __init__(self, name, path, options):
        # Chatter of the library's at its start; the user may ask for it.
        _os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
        self._name = name
        processes = _sys.modules.get("pullback._src.distributed")
        state = processes and processes.global_state
        options = {**(state.options(name) if state else {}), **options}
        self._plugin = _core.start_plugin(name, path, options, state.client if state else None)
        self.platform, self.platform_version = self._plugin.platform, self._plugin.platform_version
        self._devices = [PluginDevice(self, facts) for facts in self._plugin.devices()]

    def devices(self):
        """All devices."""
        return list(self._devices)

    local_devices = devices

    def device_count(self):
        """How many devices there are."""
        return len(self._devices)

    local_device_count = device_count

    def process_index(self):
        """The number of this process."""
        return self._devices[0].process_index if self._devices else 0

    def live_arrays(self):
        """Arrays are not listed."""
        return []

    def __repr__(self):
        return f"<Client {self._name}>"


class _Registered:
    """A plugin that may be started: where it is, and what its client is given."""

    def __init__(self, path, options, priority):
        self.path, self.options, self.priority = path, options, priority
        self.client = self.error = None


_registered: dict[str, _Registered] = {}
_lock = _threading.RLock()
_has_looked = False


def register_plugin(plugin_name, *, priority=400, library_path=None, options=None, c_api=None):
    """Says where the plugin of a platform is; it is started when its devices are first asked for.

    Args:
      plugin_name: the name under which `jax.devices` and `JAX_PLATFORMS` know it.
      priority: of several plugins the one with the highest is the default.
      library_path: the shared library.
      options: a dictionary of options of its client, or a function that gives one.
      c_api: not supported; the library is named by its path.
    Returns: None.
    Raises:
      ValueError: no path is given.
      RuntimeError: the platform is already started, from another path.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback._src.xla_bridge import register_plugin
      >>> register_plugin("mine", library_path="/nowhere/mine.so")
    """
    if library_path is None:
        extra = "" if c_api is None else " An address of the interface is not enough."
        raise _user_error(ValueError, f"register_plugin needs library_path, the shared library of plugin {plugin_name!r}.{extra}")
    path = _os.fspath(library_path)
    with _lock:
        known = _registered.get(plugin_name)
        if known is not None and known.client is not None:
            # Its devices are in use: it stays as it was started.
            if known.path != path:
                raise _user_error(RuntimeError, f"plugin {plugin_name!r} is already started, from {known.path!r}")
            return
        _registered[plugin_name] = _Registered(path, options, priority)
    _core.expect_plugins()


def _look():
    """Finds what can be registered, once."""
    global _has_looked
    with _lock:
        if _has_looked:
            return
        _has_looked = True
        _look_at_variable()
        _look_at_modules()
        _look_at_libtpu()


def _look_at_variable():
    for entry in filter(None, _os.environ.get("PJRT_NAMES_AND_LIBRARY_PATHS", "").split(",")):
        name, separator, path = entry.partition(":")
        if not (name and separator and path):
            raise _user_error(
                RuntimeError,
                f"invalid value {entry!r} in PJRT_NAMES_AND_LIBRARY_PATHS; it should be 'name:path', with commas between several"
            )
        register_plugin(name, library_path=path)


def _library_in(folder):
    """The library of a plugin's package, by the name that all of them use."""
    try:
        names = sorted(_os.listdir(folder))
    except OSError:
        return None
    found = [name for name in names if name.endswith(".so") and "pjrt" in name or name == "xla_cuda_plugin.so"]
    return _os.path.join(folder, found[0]) if found else None


def _look_at_modules():
    """Modules in the namespace `jax_plugins`: each folder with a library is a plugin, named as the folder ends."""
    for place in _sys.path:
        parent = _os.path.join(place, "jax_plugins")
        for folder in sorted(_os.listdir(parent)) if _os.path.isdir(parent) else ():
            library = _library_in(_os.path.join(parent, folder))
            if library is not None:
                name = "cuda" if "cuda" in folder else "rocm" if "rocm" in folder else folder
                _registered.setdefault(name, _Registered(library, None, 500))


def _look_at_libtpu():
    for place in _sys.path:
        library = _os.path.join(place, "libtpu", "libtpu.so")
        if _os.path.isfile(library):
            _registered.setdefault("tpu", _Registered(_os.environ.get("TPU_LIBRARY_PATH", library), None, 600))


def _needs(name):
    """What to install for a platform, for errors."""
    if name in ("cuda", "gpu"):
        return ". For an NVIDIA GPU install its plugin: pip install jax-cuda13-pjrt (or jax-cuda12-pjrt)."
    return ". For a TPU install its plugin: pip install libtpu." if name == "tpu" else ""


def names():
    """Names of the platforms that may be started, the preferred first."""
    _look()
    return sorted(_registered, key=lambda name: -_registered[name].priority)


def client_of(platform):
    """The client of a platform other than our own, started when first asked for; `RuntimeError` when there is none."""
    _look()
    known = next((name for name in (platform, *_ALIASES.get(platform, ())) if name in _registered), None)
    if known is None:
        known = next((name for name, entry in _registered.items() if entry.client is not None and entry.client.platform == platform), None)
    if known is None:
        present = ", ".join(["cpu", *names()])
        raise _user_error(
            RuntimeError,
            f"Unknown backend: '{platform}' requested, but no platforms that are instances of {platform} are present. Platforms present "
            f"are: {present}{_needs(platform)}"
        )
    entry = _registered[known]
    with _lock:
        if entry.error is not None:
            raise _user_error(RuntimeError, entry.error)
        if entry.client is None:
            options = entry.options() if callable(entry.options) else entry.options or {}
            try:
                entry.client = PluginClient(known, entry.path, options)
            except (RuntimeError, NotImplementedError, MemoryError) as error:
                entry.error = f"Unable to initialize backend '{known}': {error}{_needs(known)} (set JAX_PLATFORMS='' to automatically choose an available backend)"
                raise _user_error(RuntimeError, entry.error) from None
    return entry.client


def started():
    """The clients that were started."""
    return [entry.client for entry in _registered.values() if entry.client is not None]


def device_by_number(number):
    """The device of a plugin that places of arrays know by a number."""
    return next(device for client in started() for device in client._devices if device._number == number)


_default = None


def default_client():
    """The client of the default platform: the first of `jax_platforms`, else that of an accelerator, else the CPU."""
    global _default
    if _default is None:
        with _lock:
            _default = _find_default()
            first = _default.devices()[0] if _default.device_count() else None
            _core.set_process_default_device(first._number if first is not None else 0)
    return _default


def _find_default():
    from pullback import _device
    from pullback._config import config

    wanted = [name.strip() for name in (config.jax_platforms or config.jax_platform_name or "").split(",") if name.strip()]
    if wanted:
        first = wanted[0]
        try:
            return _device.cpu_client() if first == "cpu" else client_of(first)
        except RuntimeError as error:
            if str(error).startswith("Unknown backend"):
                text = f"Unable to initialize backend '{first}': Unknown backend {first}. Available backends are {['cpu', *names()]}{_needs(first) or '.'} (set JAX_PLATFORMS='' to automatically choose an available backend)"
                raise _user_error(RuntimeError, text) from None
            raise
    for name in names():
        # What is only registered, or named by a path, is used when it is asked for by name.
        if _registered[name].priority < 500:
            continue
        try:
            client = client_of(name)
        except RuntimeError as error:
            import warnings

            warnings.warn(f"{error} Falling back to the CPU.", RuntimeWarning, stacklevel=2)
            continue
        if client.device_count():
            return client
    return _device.cpu_client()


def default_device_number():
    """The number of the device of uncommitted work; asked by the core when it first matters."""
    client = default_client()
    return client.devices()[0]._number if client.device_count() else 0


def memories_of(device):
    """The memories that a device reads."""
    return [Memory(device, kind, n) for n, kind in enumerate(device._memory_kinds())]
