"""The version of `jaxlib` that Pullback stands in for."""

__version__ = "0.12.0"
__version_info__ = (0, 12, 0)
