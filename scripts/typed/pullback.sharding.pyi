from collections.abc import Sequence
from typing import Any

def make_mesh(axis_sizes: Sequence[int], axis_names: Sequence[str], axis_types: Any = None, *, devices: Sequence[Any] | None = None) -> Mesh: ...
