"""`jax`, which here is Pullback: the module that stands under this name is made by `pullback.install_as_jax`."""

from pullback._alias import replace as _replace

_replace(__name__)
