"""Small libraries that show how programs can be built: `optimizers` and `stax`."""

from pullback._later import later as _later

_PARTS = {f"pullback.example_libraries.{_name}": (_name,) for _name in ("optimizers", "stax")}
__getattr__, _NAMES = _later("pullback.example_libraries", _PARTS)
