"""The parts of `pullback.export`: symbolic dimensions, programs over them, and their bytes."""
