"""The version of JAX whose interface this package serves, for libraries that ask `jax.version`.

Pullback's own version is `pullback.__version__`.
"""

from pullback._alias import JAX_VERSION as __version__

__version_info__ = tuple(int(part) for part in __version__.split("."))
