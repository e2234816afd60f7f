"""The class of a result of samples."""

from typing import NamedTuple as _NamedTuple

from pullback import _core


class ModeResult(_NamedTuple):
    """The most frequent elements and how often they occur."""

    mode: _core.Array
    count: _core.Array


ModeResult.__module__ = "pullback.scipy.stats"
