"""Builds the distributions `jax` and `jaxlib` that hold Pullback under these names; as a build backend it needs nothing.

Python files and metadata are those of `python/pullback/_drop_in`. The stubs are written here: each module of `jax` is, to
an editor, the module of the same name of `pullback`.
"""

import base64
import hashlib
import os
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python" / "pullback"
VERSION = "0.12.0"
TAG = "py3-none-any"
# The time of every file in a wheel, so that two builds give the same bytes.
TIME = (2020, 1, 1, 0, 0, 0)


def public_modules():
    """The public modules of the package, as parts of their names below it, and whether each is a package."""
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = parts[:-1] if is_package else parts
        if not any(part.startswith("_") for part in name):
            yield name, is_package


def stubs():
    """The stub files of `jax`, by path, each with the source that checkers look for; what is imported is never that source."""
    found = {"jax/py.typed": ""}
    for name, is_package in public_modules():
        path = "/".join(["jax", *name, *(["__init__"] if is_package else [])])
        module = ".".join(["pullback", *name])
        text = f"from {module} import *\n"
        found[f"{path}.pyi"] = text if name else f"{text}__version__: str\n__version_info__: tuple[int, int, int]\n"
        if name:
            found[f"{path}.py"] = f'"""`{module}` by the name it has in JAX."""\n\n{text}'
    return found


def files(name):
    """What the wheel `name` holds, by path: texts."""
    drop_in = PACKAGE / "_drop_in"
    info = f"{name}-{VERSION}.dist-info"
    found = {str(path.relative_to(drop_in)): path.read_text() for path in sorted((drop_in / name).glob("*.py"))}
    if name == "jax":
        found |= stubs()
    found[f"{info}/METADATA"] = (drop_in / info / "METADATA").read_text()
    found[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: pullback shim\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    found[f"{info}/top_level.txt"] = f"{name}\n"
    return found


def record(info, texts):
    """The table of a wheel's files with their digests."""
    lines = []
    for path, text in texts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(text.encode())}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"


def write(name, folder):
    """Writes the wheel of `jax` or `jaxlib` into a folder; returns its file name."""
    texts = files(name)
    info = f"{name}-{VERSION}.dist-info"
    texts[f"{info}/RECORD"] = record(info, texts)
    file = f"{name}-{VERSION}-{TAG}.whl"
    Path(folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(folder) / file, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, text in texts.items():
            wheel.writestr(zipfile.ZipInfo(path, TIME), text, zipfile.ZIP_DEFLATED)
    return file


# What a frontend such as pip calls, in the folder of the project it builds.
def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write(Path(os.getcwd()).name, wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the wheels of jax and jaxlib are built from the repository and run everywhere; they have no sdist")


if __name__ == "__main__":
    import sys

    for project in ("jax", "jaxlib"):
        print(os.path.join(sys.argv[1], write(project, sys.argv[1])))
