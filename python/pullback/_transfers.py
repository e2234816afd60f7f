"""Guards of transfers: what is logged and refused of values that go to a device, or from one to another."""

import logging as _logging

from pullback import _core
from pullback.errors import JaxRuntimeError

_logger = _logging.getLogger("pullback")


def _guard(text, refuse):
    """Refuses what the text says, or logs it."""
    if refuse:
        raise JaxRuntimeError(f"INVALID_ARGUMENT: Disallowed {text}")
    _logger.warning("%s", text)


def _of_device(number):
    """The sharding of one device, by the number of the device."""
    from pullback._device import _device_by_id
    from pullback.sharding import SingleDeviceSharding

    return SingleDeviceSharding(_device_by_id(number))


def _to_device(aval, number, refuse):
    """Guards a value of the host that an operation takes."""
    _guard(f"host-to-device transfer: aval={aval}, dst_sharding={_of_device(number)}", refuse)


def _asked(log, refuse, text):
    """Guards what `text` says, where one of two settings asks for it."""
    refuse = _core.is_setting_on(refuse)
    if refuse or _core.is_setting_on(log):
        _guard(text(), refuse)


def _is_guarded(leaf):
    return not isinstance(leaf, _core.Tracer) and _core.is_evaluating()


def guard_put(leaf, target):
    """Guards a value that the user puts somewhere, on a device or a sharding, or on the default device with `None`."""
    from pullback._device import Device, default_device
    from pullback.sharding import SingleDeviceSharding

    if not _is_guarded(leaf):
        return
    if target is None and isinstance(leaf, _core.Array):
        return
    target = default_device() if target is None else target
    target = SingleDeviceSharding(target) if isinstance(target, Device) else target
    if not isinstance(leaf, _core.Array):
        _asked("LogPuts", "RefusePuts", lambda: f"host-to-device transfer: aval={_core.typeof(leaf)!r}, dst_sharding={target}")
    elif leaf.sharding.device_set != target.device_set:
        _asked("LogAskedMoves", "RefuseAskedMoves", lambda: f"device-to-device transfer: aval={_core.typeof(leaf)!r}, dst_sharding={target}")


def guard_argument(leaf, target):
    """Guards a value that a call puts where its options say."""
    if not _is_guarded(leaf):
        return
    if not isinstance(leaf, _core.Array):
        _asked("LogTransfers", "RefuseTransfers", lambda: f"host-to-device transfer: aval={_core.typeof(leaf)!r}, dst_sharding={target}")
    elif leaf.sharding.device_set != target.device_set:
        text = lambda: f"device-to-device transfer: aval={_core.typeof(leaf)!r}, sharding={leaf.sharding}, dst_sharding={target}"
        _asked("LogMoves", "RefuseMoves", text)
