"""The kinds of memory that a value can be put in."""

import enum as _enum


class Space(_enum.Enum):
    """A kind of memory, whatever the device: its own, or the host's.

    On the CPU both are the one memory there is, so `device_put(x, Space.Host)` moves nothing.
    """

    Device = 1
    Host = 2
    Any = 3

    def __repr__(self):
        return f"MemorySpace.{self.name}"

    __str__ = __repr__
