"""`import jax` resolving to Pullback's modules, for unmodified programs and libraries."""

import importlib
import importlib.abc
import importlib.machinery
import os
import sys

from pullback._core import user_error as _user_error

JAX_VERSION = "0.12.0"
# Packages by the names `jax` and `jaxlib` with their metadata, and what a process reads first that has this folder in
# PYTHONPATH. The distributions in `shim` are made of it.
DROP_IN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_drop_in")


class _Loader(importlib.abc.Loader):
    def __init__(self, module):
        self.module = module

    def create_module(self, spec):
        # The import system sets these on whatever is returned; the module is Pullback's own and keeps what it has.
        self.kept = {name: getattr(self.module, name, None) for name in ("__spec__", "__loader__", "__package__", "__name__")}
        return self.module

    def exec_module(self, module):
        for name, value in self.kept.items():
            setattr(module, name, value)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `jax` and `jax.x.y` as `pullback` and `pullback.x.y`: the same module objects. `jaxlib` is a name and a version."""

    def find_spec(self, fullname, path=None, target=None):
        top = fullname.partition(".")[0]
        if top == "jaxlib":
            return importlib.machinery.PathFinder.find_spec(fullname, [DROP_IN] if fullname == top else path, target)
        if top != "jax":
            return None
        if fullname == "jax":
            return _top().__spec__
        own = "pullback" + fullname[3:]
        try:
            module = importlib.import_module(own)
        except ModuleNotFoundError as missing:
            if missing.name is None or not own.startswith(missing.name):
                raise
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=hasattr(module, "__path__"))

    def find_distributions(self, *context):
        """What `importlib.metadata` knows of `jax` and `jaxlib`, before whatever is installed under these names."""
        from importlib.metadata import DistributionFinder, MetadataPathFinder

        asked = context[0] if context else DistributionFinder.Context()
        return MetadataPathFinder.find_distributions(DistributionFinder.Context(name=asked.name, path=[DROP_IN]))


_top_module = None


def _top():
    """The `jax` module: `pullback` itself but for the version that libraries ask for."""
    global _top_module
    if _top_module is None:
        import types

        import pullback

        class JaxModule(types.ModuleType):
            __version__ = JAX_VERSION
            __version_info__ = tuple(int(part) for part in JAX_VERSION.split("."))

            def __getattr__(self, name):
                return getattr(pullback, name)

            def __setattr__(self, name, value):
                if name.startswith("__"):
                    super().__setattr__(name, value)
                else:
                    setattr(pullback, name, value)

            def __delattr__(self, name):
                delattr(pullback, name)

            def __dir__(self):
                return dir(pullback)

        _top_module = JaxModule("jax", pullback.__doc__)
        _top_module.__path__ = list(pullback.__path__)
        _top_module.__file__ = pullback.__file__
        _top_module.__package__ = "jax"
        _top_module.__loader__ = _Loader(_top_module)
        _top_module.__spec__ = importlib.machinery.ModuleSpec("jax", _top_module.__loader__, origin=pullback.__file__, is_package=True)
        _top_module.__spec__.has_location = True
        _top_module.__spec__.submodule_search_locations[:] = _top_module.__path__
    return _top_module


def _find_first():
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def replace(name):
    """Puts Pullback in the place of the module `name`, which the folder `_drop_in` or the distribution in `shim` holds."""
    _find_first()
    sys.modules[name] = _top()


def _reach_children():
    """Has the Python processes that this one starts find Pullback, whatever lies in their site-packages."""
    if DROP_IN not in sys.path:
        sys.path.insert(1, DROP_IN)
    listed = os.environ.get("PYTHONPATH", "")
    if DROP_IN not in listed.split(os.pathsep):
        os.environ["PYTHONPATH"] = f"{DROP_IN}{os.pathsep}{listed}" if listed else DROP_IN


def install_as_jax(*, children=True):
    """Makes `import jax` in this process give Pullback, for unmodified programs and libraries.

    `importlib.metadata` and `find_spec` see `jax` and `jaxlib` 0.12.0 too.

    Args:
      children: whether the Python processes that this one starts find Pullback too, so that no work sent to another
        process silently runs on a real JAX. It puts a folder of Pullback into `sys.path` and the variable `PYTHONPATH`.
        Processes that do not look at `PYTHONPATH` (``python -I``), or that get other variables, need the distributions
        in `shim`.
    Returns: None.
    Raises:
      RuntimeError: real JAX is imported already.
    Differentiable: no; it takes no arrays.
    Example:
      >>> import subprocess, sys
      >>> program = "import pullback; pullback.install_as_jax(); import jax; print(jax.numpy is pullback.numpy)"
      >>> subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip()
      'True'
    """
    loaded = sys.modules.get("jax")
    if loaded is not None and loaded is not _top_module:
        raise _user_error(RuntimeError, "jax is already imported in this process; call pullback.install_as_jax() before `import jax`")
    _find_first()
    if children:
        _reach_children()
