"""Devices in the shape of a mesh."""

import numpy as _np

from pullback._core import user_error as _user_error


def create_device_mesh(mesh_shape, devices=None, *, contiguous_submeshes=False, allow_split_physical_axes=False):
    """Devices as an array of the given shape, for a `Mesh`.

    Args:
      mesh_shape: sizes of the axes.
      devices: the devices; by default all.
      contiguous_submeshes, allow_split_physical_axes: accepted for compatibility; without effect.
    Returns: a NumPy array of devices.
    Raises:
      ValueError: the number of devices is not the product of the shape.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.experimental.mesh_utils.create_device_mesh((1,), jax.devices()[:1]).shape
      (1,)
    """
    import pullback

    devices = pullback.devices() if devices is None else list(devices)
    if _np.prod(mesh_shape, dtype=int) != len(devices):
        raise _user_error(ValueError, f"Number of devices {len(devices)} must equal the product of mesh_shape {tuple(mesh_shape)}")
    return _np.array(devices, dtype=object).reshape(tuple(mesh_shape))


def create_hybrid_device_mesh(mesh_shape, dcn_mesh_shape, devices=None, **_):
    """Devices as an array, the product of the shapes within and between slices: one slice here.

    Args:
      mesh_shape: sizes of the axes within a slice.
      dcn_mesh_shape: sizes of the axes between slices.
      devices: the devices; by default all.
      _: other options, accepted for compatibility; without effect.
    Returns: a NumPy array of devices.
    Raises:
      ValueError: the number of devices is not the product of the shapes.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.experimental.mesh_utils.create_hybrid_device_mesh((1,), (1,), jax.devices()[:1]).shape
      (1,)
    """
    shape = [a * b for a, b in zip(mesh_shape, dcn_mesh_shape)]
    return create_device_mesh(shape, devices)
