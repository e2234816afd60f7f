"""Asks JAX all lines of the tables anew and writes what it answers to `golden/answers`: `python tests/py/record_answers.py [TABLE ...]`.

A table has the name of its test module. Lines that are no longer in it are forgotten.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from answers import KEPT

HERE = Path(__file__).parent


def tables():
    """Names of the modules that keep answers."""
    files = sorted(HERE.glob("test_*.py"))
    return [file.stem.removeprefix("test_") for file in files if "Asked(" in file.read_text()]


def record(table, parts):
    """Runs the tests of a table while JAX is asked. What it answers is right whether or not they pass."""
    environment = {**os.environ, "PULLBACK_RECORD_ANSWERS": str(parts)}
    command = [sys.executable, "-m", "pytest", str(HERE / f"test_{table}.py"), "-q", "-n", "auto", "--dist", "worksteal", "-p", "no:cacheprovider"]
    if subprocess.run(command, env=environment, check=False).returncode:
        print(f"{table}: tests fail beside JAX itself")


def merge(parts):
    by_table = {}
    for part in parts.iterdir():
        by_table.setdefault(part.stem, {}).update(json.loads(line) for line in part.read_text().splitlines())
    KEPT.mkdir(exist_ok=True)
    for table, kept in by_table.items():
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in sorted(kept.items()))
        (KEPT / f"{table}.jsonl").write_text(text)
        print(f"{table}: {len(kept)} answers")


if __name__ == "__main__":
    for name in sys.argv[1:] or tables():
        with tempfile.TemporaryDirectory() as folder:
            record(name, Path(folder))
            merge(Path(folder))
