"""Read at the start of each Python process that a program under `python -m pullback` starts: there, too, `import jax` is Pullback.

Nothing of Pullback is imported before `jax` is. Whatever other `sitecustomize` this one hides is read afterwards.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The folder that holds the package `pullback`.
ROOT = os.path.dirname(os.path.dirname(HERE))


class Later:
    """Finds `jax` and `jaxlib`, by handing over to Pullback's own finder when either is first asked for."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] not in ("jax", "jaxlib"):
            return None
        sys.meta_path.remove(self)
        install = import_pullback()
        install()
        return sys.meta_path[0].find_spec(fullname, path, target)


def import_pullback():
    """`install_as_jax`; also where the package lies in none of this process's folders, from where the parent had it."""
    try:
        from pullback import install_as_jax
    except ModuleNotFoundError as missing:
        if missing.name != "pullback":
            raise
        import importlib.util

        folder = os.path.join(ROOT, "pullback")
        file = os.path.join(folder, "__init__.py")
        spec = importlib.util.spec_from_file_location("pullback", file, submodule_search_locations=[folder])
        sys.modules["pullback"] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        from pullback import install_as_jax
    return install_as_jax


def read_hidden():
    """Runs the `sitecustomize` that Python would have read without this folder."""
    import importlib.machinery

    others = [entry for entry in sys.path if os.path.abspath(entry) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        import importlib.util

        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, Later())
read_hidden()
