"""Records `jaxprs.json` with real JAX: ``python tests/py/golden/record.py``."""

import json
from pathlib import Path

import jax

from programs import PROGRAMS

assert jax.__version__.startswith("0.12"), jax.__version__
texts = {name: str(program(jax)) for name, program in PROGRAMS.items()}
path = Path(__file__).with_name("jaxprs.json")
path.write_text(json.dumps({"jax": jax.__version__, "jaxprs": texts}, indent=1) + "\n")
print(f"{len(texts)} jaxprs in {path.name}")
