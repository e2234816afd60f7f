"""Records the full text of the golden programs' jaxprs, which Rust reads back: ``python tests/py/golden/record_full_jaxprs.py``.

What JAX prints leaves parameters out; the text that holds all of them is ours, and `test_golden_jaxprs.py` keeps it current.
Programs with functions of Python among their parameters have no such text.
"""

import re
from pathlib import Path

from programs import PROGRAMS

PATH = Path(__file__).parents[3] / "crates" / "testkit" / "data" / "programs.txt"


def full_texts(jax):
    """Each program under its name, one after the other."""
    texts = []
    for name, program in PROGRAMS.items():
        text = program(jax)._full_text()
        if not re.search(r" at 0x[0-9a-f]+|<function|<bound", text):
            texts.append(f"== {name}\n{text}\n")
    return "".join(texts)


if __name__ == "__main__":
    import pullback

    PATH.write_text(full_texts(pullback))
    print(f"{PATH.read_text().count('== ')} jaxprs in {PATH.name}")
