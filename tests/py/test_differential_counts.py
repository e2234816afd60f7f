"""`golden/differential_counts.txt`, from which `docs/coverage.md` is made, says how many tests compare with JAX.

`UPDATE_EXPECT=1` writes it anew.
"""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RECORD = HERE / "golden" / "differential_counts.txt"


def test_counts_are_current(jax_oracle):
    program = [sys.executable, str(HERE / "differential_counts.py")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    if os.environ.get("UPDATE_EXPECT"):
        RECORD.write_text(done.stdout)
    advice = "run this test with UPDATE_EXPECT=1, then `cargo run -p pullback-testkit --bin coverage`"
    assert RECORD.read_text() == done.stdout, advice
