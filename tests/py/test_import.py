"""What `import pullback` loads: a list, so that it stays light; everything else comes when its name is asked for."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pullback

BARE = [
    "pullback", "pullback._api", "pullback._array_methods", "pullback._config", "pullback._core", "pullback._device",
    "pullback._environment",
    "pullback._jit", "pullback._shape_dtype_struct", "pullback.tree_util",
]
# For an import statement: the modules, beyond those of the bare import and of the standard library and NumPy, that it loads.
LOADED = {
    "import pullback": [],
    "import pullback.numpy": ["pullback._later", "pullback.numpy"],
    "import pullback.lax": ["pullback._later", "pullback.lax"],
    "from pullback import jit, grad, vmap": [],
    "import pullback; pullback.numpy.add": [
        "pullback._later", "pullback.lax", "pullback.numpy", "pullback.numpy._ufuncs", "pullback.numpy._vectorize",
    ],
}


def loaded(statement):
    program = f"""if True:
        import sys
        {statement}
        names = {{name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names}}
        # Parts of the extension are no modules of their own, and those of other packages are theirs to choose.
        print(*sorted(name for name in names if not name.startswith("pullback._core.") and (name.startswith("pullback") or "." not in name)))
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parent.parent)}
    # Without site-packages' start-up files, of which some import what they like.
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    known = subprocess.run([sys.executable, "-c", program.replace(statement, "pass")], env=environment, capture_output=True, text=True, check=True)
    return sorted(set(done.stdout.split()) - set(known.stdout.split()) - set(BARE))


@pytest.mark.parametrize("statement", LOADED)
def test_an_import_loads_what_it_says(statement):
    assert [name for name in loaded(statement) if name != "numpy"] == LOADED[statement]


def test_the_bare_import_does_without_numpy():
    assert "numpy" not in loaded("import pullback")


@pytest.mark.parametrize("package", ["numpy", "lax"])
def test_names_that_come_later_are_those_of_their_modules(package):
    package = importlib.import_module(f"pullback.{package}")
    for name, names in package._PARTS.items():
        module = importlib.import_module(name)
        listed = set(names) - {name.rpartition(".")[2]}
        assert listed <= set(dir(module)), name
        # A module of the package that says what it has is listed in full.
        if name.startswith(package.__name__) and "_" in name.rpartition(".")[2][:1] and hasattr(module, "__all__"):
            assert listed == set(module.__all__), name


def test_asking_makes_an_attribute():
    program = "import pullback.numpy as n; assert 'pad' not in vars(n) and 'pad' in dir(n); n.pad; assert 'pad' in vars(n)"
    environment = {**os.environ, "PYTHONPATH": str(Path(pullback.__file__).parent.parent)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def test_a_name_that_is_nowhere_is_an_error_of_the_package():
    with pytest.raises(AttributeError, match="module 'pullback.numpy' has no attribute 'zeroes'"):
        pullback.numpy.zeroes
    with pytest.raises(AttributeError, match="module 'pullback.lax' has no attribute 'sine'"):
        pullback.lax.sine
