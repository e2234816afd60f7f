"""Array functions close to the primitives, and control flow."""

from pullback._control import associative_scan, cond, fori_loop, map, scan, switch, while_loop

__all__ = ["associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"]
