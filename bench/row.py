"""What a line of the benchmark is, and the two sides it is measured on."""

import types
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Side:
    """One of the two frameworks."""

    name: str
    jax: types.ModuleType
    jnp: types.ModuleType


@dataclass(frozen=True)
class Row:
    """One line of the table; ``make`` gives for a side the function to time, or to ask for its number."""

    title: str
    target: str
    unit: str
    make: Callable[[Side], Callable]
    kind: str  # "timed": call and time it; "value": also compare what it returns; "asked": it returns the number
    limit: float
    of_ratio: bool = True
