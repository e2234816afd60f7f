"""The distributions of `shim`: beside Pullback they are `jax` and `jaxlib` to pip, to `importlib` and to every process.

Each test installs them, without an index, into an environment that has NumPy and ml_dtypes from this one.
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import pullback

ROOT = Path(pullback.__file__).parents[2]
LIBRARIES = next(iter(sorted((ROOT / ".venv-libraries" / "lib").glob("python3*/site-packages"))), None)
# A package that asks for JAX as optax does.
METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}"
ASKS = "Requires-Dist: jax>=0.5.3\nRequires-Dist: jaxlib>=0.5.3\nRequires-Dist: numpy>=1.18.0\n"


def link(distribution, site):
    """Has the environment `site` hold a distribution of this one, by links."""
    found = importlib.metadata.distribution(distribution)
    here = Path(found.locate_file(""))
    for top in {path.parts[0] for path in found.files if ".." not in path.parts}:
        if not (site / top).exists():
            (site / top).symlink_to(here / top)


def write_wheel(folder, name, more, text):
    info = f"{name}-1.0.dist-info"
    files = {f"{name}.py": text, f"{info}/METADATA": METADATA.format(name=name, version="1.0", more=more)}
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        for path, content in files.items():
            wheel.writestr(path, content)
        wheel.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """The interpreter of a new environment with Pullback, the two wheels, and a package that needs JAX; and its folder."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    site = next((folder / "lib").glob("python3*/site-packages"))
    for distribution in ("pip", "numpy", "ml_dtypes"):
        link(distribution, site)
    info = site / f"pullback-{pullback.__version__}.dist-info"
    info.mkdir()
    more = "Requires-Dist: numpy\nRequires-Dist: ml_dtypes\n"
    (info / "METADATA").write_text(METADATA.format(name="pullback", version=pullback.__version__, more=more))
    (site / "pullback.pth").write_text(f"{Path(pullback.__file__).parents[1]}\n")
    wheels = folder / "wheels"
    subprocess.run([sys.executable, ROOT / "shim" / "wheels.py", wheels], check=True, capture_output=True)
    write_wheel(wheels, "asker", ASKS, "import jax\nfrom jax import numpy as jnp\nvalue = float(jnp.sum(jnp.ones(3)))\n")
    run(python, "-m", "pip", "install", "-q", "--no-index", "--find-links", wheels, "asker")
    return python, site


def run(python, *arguments, check=True, **options):
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    options = {"env": {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "RUST_BACKTRACE": "0"}, **options}
    done = subprocess.run([python, *arguments], capture_output=True, text=True, timeout=120, **options)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def test_pip_is_satisfied(environment):
    python, _ = environment
    assert "No broken requirements found" in run(python, "-m", "pip", "check").stdout
    listed = {entry["name"]: entry["version"] for entry in json.loads(run(python, "-m", "pip", "list", "--format", "json").stdout)}
    assert (listed["jax"], listed["jaxlib"], listed["asker"]) == ("0.12.0", "0.12.0", "1.0")


def test_a_library_written_for_jax_is_satisfied(environment):
    if LIBRARIES is None:
        pytest.skip(".venv-libraries is not there")
    python, site = environment
    for pattern in ("optax*", "absl*"):
        for path in LIBRARIES.glob(pattern):
            (site / path.name).symlink_to(path)
    assert "No broken requirements found" in run(python, "-m", "pip", "check").stdout
    # Nothing is left to install, so that no index is asked.
    assert "Requirement already satisfied" in run(python, "-m", "pip", "install", "--no-index", "optax").stdout
    program = """if True:
        import optax, jax, sys
        x = jax.numpy.ones(2)
        rule = optax.sgd(0.5)
        print(rule.update(x, rule.init(x))[0].tolist(), "pullback" in sys.modules)
    """
    assert run(python, "-c", program).stdout == "[-0.5, -0.5] True\n"


@pytest.mark.parametrize("options", [(), ("-I",)])
def test_jax_is_pullback(environment, options):
    python, site = environment
    program = """if True:
        import importlib.metadata as m, importlib.util as u
        spec = u.find_spec("jax")
        import asker, jax, jaxlib, pullback
        import jax.numpy as jnp, jax.scipy.special
        from jax.experimental import checkify
        print(asker.value, m.version("jax"), m.version("jaxlib"), jaxlib.__version__, jax.__version__, spec.origin, u.find_spec("jax").name)
        print(jnp is pullback.numpy, jax.grad is pullback.grad, jax.Array is pullback.Array)
    """
    shown = run(python, *options, "-c", program).stdout.split()
    assert shown[:5] == ["3.0", *["0.12.0"] * 4] and shown[5] == str(site / "jax" / "__init__.py") and shown[6:] == ["jax"] + ["True"] * 3


def test_a_part_of_jaxlib_that_is_not_there_is_an_error(environment):
    python, _ = environment
    done = run(python, "-c", "import jaxlib; jaxlib.xla_client", check=False)
    assert "AttributeError: module 'jaxlib' has no attribute 'xla_client': here it is Pullback's" in done.stderr
    assert "ModuleNotFoundError: No module named 'jaxlib.xla_client'" in run(python, "-c", "import jaxlib.xla_client", check=False).stderr


def test_metadata_are_those_of_the_version_that_is_stood_for():
    from pullback._alias import DROP_IN, JAX_VERSION

    for name in ("jax", "jaxlib"):
        found = importlib.metadata.PathDistribution(Path(DROP_IN) / f"{name}-{JAX_VERSION}.dist-info")
        assert (found.metadata["Name"], found.version) == (name, JAX_VERSION)
    assert importlib.metadata.PathDistribution(Path(DROP_IN) / f"jax-{JAX_VERSION}.dist-info").requires == [f"jaxlib=={JAX_VERSION}", "pullback"]


def test_every_public_module_has_a_stub(environment):
    _, site = environment
    package = Path(pullback.__file__).parent
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).with_suffix("").parts
        if not any(part.startswith("_") and part != "__init__" for part in parts):
            assert (site / "jax" / path.relative_to(package).with_suffix(".pyi")).exists(), path
    assert (site / "jax" / "py.typed").exists()


def test_a_checker_of_types_sees_jax(environment, tmp_path):
    pytest.importorskip("mypy")
    _, site = environment
    programs = []
    for name in ("program", "answers"):
        text = (ROOT / "tests" / "typing" / f"{name}.py").read_text()
        programs.append(tmp_path / f"{name}_of_jax.py")
        programs[-1].write_text(text.replace("import pullback as jax", "import jax").replace("pullback", "jax"))
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    (stubs / "jax").symlink_to(site / "jax")
    options = ("--strict", "--cache-dir", tmp_path / "cache")
    kept = {**os.environ, "MYPYPATH": f"{stubs}{os.pathsep}{Path(pullback.__file__).parents[1]}"}
    done = subprocess.run([sys.executable, "-m", "mypy", *options, *programs], capture_output=True, text=True, env=kept, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
