"""Arrays of other libraries without a copy, by the DLPack protocol."""

from pullback._core import user_error as _user_error
from pullback import _core


def from_dlpack(external_array, device=None, copy=None):
    """The array of another library as an array of ours, by the DLPack protocol.

    Args:
      external_array: an object with `__dlpack__` and `__dlpack_device__`, on the CPU.
      device: where the result lies, a device or a sharding; the default device when it is not given. Devices of a plugin that have
        the memory of the host share it too.
      copy: True copies the elements, False forbids it, None copies where the memory cannot be shared: elements that are not
        dense in row-major order, not aligned to 64 bytes, or of a 64-bit type while those are off.
    Returns: an array of the same shape and dtype. Memory that is shared must not be written by its other owner; it is
      never taken over by donation.
    Raises:
      TypeError: the object does not speak the protocol, or its element type is unknown.
      ValueError: it is in memory that is not the host's, or `copy=False` cannot be had.
    Differentiable: no; the result is a constant.
    Example:
      >>> import numpy
      >>> jax.dlpack.from_dlpack(numpy.arange(3))
      Array([0, 1, 2], dtype=int32)
    """
    if not (hasattr(external_array, "__dlpack__") and hasattr(external_array, "__dlpack_device__")):
        raise _user_error(TypeError, "The array passed to from_dlpack must have __dlpack__ and __dlpack_device__ methods.")
    kind, _ = external_array.__dlpack_device__()
    if int(kind) != 1:
        raise _user_error(ValueError, f"Array passed to from_dlpack is on unsupported device type (DLDeviceType: {kind}); only the CPU is supported.")
    array = _core.from_dlpack_capsule(_capsule(external_array), copy)
    if device is None:
        return array
    from pullback import device_put

    return device_put(array, device)


def _capsule(external_array):
    try:
        return external_array.__dlpack__(max_version=(1, 0))
    except TypeError:
        # A library from before versions.
        return external_array.__dlpack__()


def is_supported_dtype(dtype):
    """Whether arrays of the dtype can be exchanged by DLPack.

    Args:
      dtype: anything that names a dtype.
    Returns: a bool.
    Raises:
      TypeError: `dtype` names none.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dlpack.is_supported_dtype("float32"), jax.dlpack.is_supported_dtype("int4")
      (True, False)
    """
    name = _core.as_dtype(dtype).name
    return name in {
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bfloat16",
        "complex64", "complex128", "bool",
    }


__all__ = ["from_dlpack", "is_supported_dtype"]
