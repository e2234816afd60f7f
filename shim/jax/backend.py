"""The build backend in `../wheels.py`; a backend has to lie in the folder of its project."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from wheels import build_sdist as build_sdist, build_wheel as build_wheel
