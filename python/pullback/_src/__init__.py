"""Names that libraries read from JAX's private modules: the same objects as the public ones, and inert hooks."""

from pullback._later import later as _later

_MODULES = (
    "ad_util", "api_util", "callback", "checkify", "compiler", "core", "debugging", "dispatch", "distributed", "dtypes", "earray", "effects", "flatten_util",
    "interpreters", "linear_util", "literals", "pjit", "source_info_util", "state", "traceback_util", "tree_util", "xla_bridge",
)  # fmt: skip
__getattr__, _NAMES = _later("pullback._src", {f"pullback._src.{_name}": (_name,) for _name in _MODULES})
