"""`import jax` resolving to Pullback's modules, for unmodified programs and libraries."""

import importlib
import importlib.abc
import importlib.machinery
import sys

from pullback._core import user_error as _user_error

JAX_VERSION = "0.12.0"


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
    """Finds `jax` and `jax.x.y` as `pullback` and `pullback.x.y`: the same module objects."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "jax" and not fullname.startswith("jax."):
            return None
        if fullname == "jax":
            module = _top()
        else:
            own = "pullback" + fullname[3:]
            try:
                module = importlib.import_module(own)
            except ModuleNotFoundError as missing:
                if missing.name is None or not own.startswith(missing.name):
                    raise
                return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(module), is_package=hasattr(module, "__path__"))


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
    return _top_module


def install_as_jax():
    """Makes `import jax` in this process give Pullback, for unmodified programs and libraries.

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
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
