"""The named tuples that `unique_all` and its relatives give."""

from typing import Any as _Any
from typing import NamedTuple as _NamedTuple


class _UniqueAllResult(_NamedTuple):
    values: _Any
    indices: _Any
    inverse_indices: _Any
    counts: _Any


class _UniqueCountsResult(_NamedTuple):
    values: _Any
    counts: _Any


class _UniqueInverseResult(_NamedTuple):
    values: _Any
    inverse_indices: _Any
