"""`jaxlib`, which here is empty but for its version: Pullback's core is `pullback._core`, and XLA is not part of it."""

from jaxlib.version import __version__ as __version__


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module 'jaxlib' has no attribute {name!r}")
    raise AttributeError(f"module 'jaxlib' has no attribute {name!r}: here it is Pullback's, which has a core of its own in place of XLA")
