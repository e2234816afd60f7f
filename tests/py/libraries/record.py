"""Writes golden/: what the programs of this folder print with real JAX.

Run it where JAX 0.12 and the libraries of requirements.txt are installed: `python tests/py/libraries/record.py [program...]`.
"""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = [
    "optimizers", "chex_uses", "haiku_train", "linen_train", "nnx_train", "equinox_train", "orbax_checkpoints",
    "solvers", "differential_equations", "jaxopt_solves", "numpyro_models", "distrax_flows", "blackjax_chains", "e3nn_rotations",
    "brax_worlds",
]  # fmt: skip


def pinned():
    """Names and versions of requirements.txt."""
    lines = (HERE / "requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))


def record(program):
    done = subprocess.run([sys.executable, str(HERE / f"{program}.py")], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def main():
    found = {name: importlib.metadata.version(name) for name in pinned()}
    if found != pinned():
        sys.exit(f"requirements.txt pins other versions than are installed: {found}")
    for program in sys.argv[1:] or PROGRAMS:
        golden = {"jax": importlib.metadata.version("jax"), "results": record(program)}
        (HERE / "golden" / f"{program}.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
