"""The examples run and reach what they promise."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def test_digits_data_is_the_uci_test_part():
    data = (ROOT / "examples" / "data" / "digits.bin").read_bytes()
    assert data[:8] == b"DIGITS01"
    assert np.frombuffer(data, "<u4", 4, offset=8).tolist() == [1797, 8, 8, 10]
    table = np.frombuffer(data, np.uint8, offset=24).reshape(1797, 65)
    assert table[:, :64].max() == 16
    # The class counts that the source publishes for its test part.
    assert np.bincount(table[:, 64]).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_digits_program_learns_to_read():
    picture = ROOT / "out" / "digits.png"
    picture.unlink(missing_ok=True)
    program = [sys.executable, str(ROOT / "examples" / "digits.py")]
    done = subprocess.run(program, capture_output=True, text=True, env=os.environ | {"MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stdout + done.stderr
    accuracies = [float(text) for text in re.findall(r"^epoch .* test accuracy ([0-9.]+)$", done.stdout, re.M)]
    assert len(accuracies) == 20 and accuracies[-1] >= 0.95
    assert picture.read_bytes().startswith(b"\x89PNG")
