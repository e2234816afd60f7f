"""The tables of rules for primitives that Python code defines: `ad`, `batching`, `mlir`, and views on tracing."""

from pullback._later import later as _later

_PARTS = {f"pullback.interpreters.{_name}": (_name,) for _name in ("ad", "batching", "mlir", "partial_eval", "pxla", "xla")}
__getattr__, _NAMES = _later("pullback.interpreters", _PARTS)


def __dir__():
    return sorted({*globals(), *_NAMES})
