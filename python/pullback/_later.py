"""Packages that import their parts when a name of theirs is first asked for, so that importing the package stays cheap."""

import importlib
import sys


def later(package, parts):
    """The `__getattr__` of a package, and where each of its names lives.

    Args:
      package: its full name.
      parts: for the full name of each module the names that the package has from it. A name that is the last part of the
        module's own name, alone, is the module.

    A name becomes an ordinary attribute of the package once it was asked for.
    """
    homes = {name: module for module, names in parts.items() for name in names}

    def __getattr__(name):
        holder = sys.modules[package]
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=holder)
        module = importlib.import_module(home)
        value = module if home == f"{package}.{name}" else getattr(module, name)
        setattr(holder, name, value)
        return value

    return __getattr__, homes


def modules_later(package, path):
    """The `__getattr__` and `__dir__` of a package whose public modules are imported when first asked for.

    Args:
      package: its full name.
      path: the folders that hold its modules.
    """

    def public():
        import pkgutil

        return {module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_")}

    def __getattr__(name):
        if name.startswith("_") or name not in public():
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        return importlib.import_module(f"{package}.{name}")

    def __dir__():
        return sorted({*vars(sys.modules[package]), *public()})

    return __getattr__, __dir__
