"""Rematerialization."""

from pullback.custom_derivatives import checkpoint as checkpoint, remat as remat


def checkpoint_name(x, name):
    """The value itself; names for policies are not kept yet."""
    return x
