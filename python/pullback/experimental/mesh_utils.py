"""Devices in the shape of a mesh."""

import numpy as _np


def create_device_mesh(mesh_shape, devices=None, *, contiguous_submeshes=False, allow_split_physical_axes=False):
    """Devices as an array of the given shape.

    Raises:
      ValueError: the number of devices is not the product of the shape.
    """
    import pullback

    devices = pullback.devices() if devices is None else list(devices)
    if _np.prod(mesh_shape, dtype=int) != len(devices):
        raise ValueError(f"Number of devices {len(devices)} must equal the product of mesh_shape {tuple(mesh_shape)}")
    return _np.array(devices, dtype=object).reshape(tuple(mesh_shape))


def create_hybrid_device_mesh(mesh_shape, dcn_mesh_shape, devices=None, **_):
    """Devices as an array, the product of the shapes within and between slices: one slice here."""
    shape = [a * b for a, b in zip(mesh_shape, dcn_mesh_shape)]
    return create_device_mesh(shape, devices)
