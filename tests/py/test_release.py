"""What a release needs: versions, the order of the crates, and a prepared checkout that Cargo and pip can read."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pullback

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "release.py"
URL = "https://example.org/people/pullback"


def run(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=True).stdout


def test_versions_agree():
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    assert pullback.__version__ == version and pullback.__version_info__ == tuple(map(int, version.split(".")))


def test_each_crate_comes_after_those_it_needs():
    order = run("--order").split()
    for number, name in enumerate(order):
        folder = name.removeprefix("pullback-")
        manifest = tomllib.loads((ROOT / "crates" / folder / "Cargo.toml").read_text())
        tables = [manifest, *manifest.get("target", {}).values()]
        wanted = {need for table in tables for need in table.get("dependencies", {}) if need.startswith("pullback")}
        assert wanted <= set(order[:number]), name
    listed = re.search(r"<!-- generated: order -->(.*?)<!-- end -->", (ROOT / "docs" / "releasing.md").read_text(), re.DOTALL)[1]
    assert re.findall(r"`([\w-]+)`", listed) == order


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    root = tmp_path_factory.mktemp("checkout")
    for name in ("Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    shutil.copytree(ROOT / "crates", root / "crates")
    (root / "examples").mkdir()
    for path in (ROOT / "examples").glob("*.rs"):
        shutil.copy(path, root / "examples")
    shutil.copytree(ROOT / "examples" / "serve", root / "examples" / "serve")
    run("--prepare", URL, "--root", root)
    return root


def test_a_prepared_checkout_says_where_it_is_hosted(prepared):
    project = tomllib.loads((prepared / "pyproject.toml").read_text())["project"]
    assert project["urls"] == {"Repository": URL, "Changelog": f"{URL}/blob/v{pullback.__version__}/CHANGELOG.md", "Issues": f"{URL}/issues"}
    page = (prepared / "README.md").read_text()
    assert f"]({URL}/blob/v{pullback.__version__}/docs/gradients.md)" in page
    assert f"]({URL}/raw/v{pullback.__version__}/docs/images/times.svg)" in page


def test_a_prepared_checkout_can_be_published(prepared):
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("there is no cargo")
    import json

    done = subprocess.run([cargo, "metadata", "--offline", "--no-deps", "--format-version", "1"], cwd=prepared, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    packages = {package["name"]: package for package in json.loads(done.stdout)["packages"]}
    order = run("--order").split()
    for name, package in packages.items():
        # An empty list of registries is what `publish = false` means.
        assert (package["publish"] is None) == (name in order), name
        if name not in order:
            continue
        assert package["repository"] == URL and package["description"] and package["license"]
        for needed in package["dependencies"]:
            assert needed["kind"] == "dev" or needed["req"] != "*", f"{name} needs {needed['name']} of no version"
