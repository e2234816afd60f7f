"""`PartitionSpec`, and what types say of mesh axes. `pullback.sharding` shows them."""

from __future__ import annotations

import dataclasses as _dataclasses
import enum as _enum

from pullback._core import user_error as _user_error


def _names(partition):
    if partition is None or partition is _UNCONSTRAINED:
        return ()
    return partition if isinstance(partition, tuple) else (partition,)


class _Unconstrained:
    """The entry of a spec that leaves an axis open."""

    def __repr__(self):
        return "UNCONSTRAINED"

    def __reduce__(self):
        return "_UNCONSTRAINED"

    def __deepcopy__(self, memo):
        return self


_UNCONSTRAINED = _Unconstrained()


class UnreducedKind(_enum.Enum):
    """How partial results are to be joined."""

    sum = 1
    max = 2
    min = 3


def _axis_names(names, what):
    if not isinstance(names, (set, frozenset)):
        raise _user_error(TypeError, f"{what} argument of ManualAxisType should of type `frozenset` or `set`. Got type {type(names)}")
    return frozenset(names)


@_dataclasses.dataclass(frozen=True, kw_only=True)
class ManualAxisType:
    """What a type says of the mesh axes that `shard_map` made manual.

    Attributes:
      varying: axes along which values differ from member to member.
      unreduced: axes along which the members hold parts that are still to be joined.
      reduced: axes along which parts were joined.
      unreduced_kind: how the parts are joined; a sum where it is not said.
    Raises:
      TypeError: names are not given as a set.
      ValueError: an axis is in two of the sets.

    Example:
      >>> jax.sharding.ManualAxisType(varying={"i"}).varying
      frozenset({'i'})
    """

    varying: frozenset = frozenset()
    unreduced: frozenset = frozenset()
    reduced: frozenset = frozenset()
    unreduced_kind: UnreducedKind | None = None

    def __post_init__(self):
        for what in ("varying", "unreduced", "reduced"):
            object.__setattr__(self, what, _axis_names(getattr(self, what), what))
        for one, other in (("varying", "unreduced"), ("varying", "reduced"), ("unreduced", "reduced")):
            if getattr(self, one) & getattr(self, other):
                raise _user_error(
                    ValueError,
                    f"{one} and {other} cannot have common mesh axes. Got {one}={getattr(self, one)} and {other}={getattr(self, other)}"
                )
        if self.unreduced and self.unreduced_kind is None:
            object.__setattr__(self, "unreduced_kind", UnreducedKind.sum)

    def __repr__(self):
        parts = ", ".join(f"{field.name}={getattr(self, field.name)!s}" for field in _dataclasses.fields(self))
        return f"ManualAxisType({parts})"

    @property
    def vur(self):
        """All axes of which something is said."""
        return self.varying | self.unreduced | self.reduced

    @property
    def empty(self):
        """Whether nothing is said."""
        return not self.vur

    def update(self, **changes):
        """The same with some sets replaced."""
        return _dataclasses.replace(self, **changes)

    def to_ct_mat(self):
        """The type of cotangents: what was joined comes back in parts, and parts come back joined."""
        return ManualAxisType(varying=self.varying, unreduced=self.reduced, reduced=self.unreduced)


def _entry(partition):
    if isinstance(partition, (tuple, list)):
        partition = tuple(partition)
        for name in partition:
            if isinstance(name, (tuple, list)):
                raise _user_error(
                    ValueError,
                    f"A tuple inside PartitionSpec cannot contain a nested tuple. Got partition: {partition} and the nested tuple: {name}"
                )
        return None if not partition else partition[0] if len(partition) == 1 else partition
    return partition


def _spec_axes(names, what):
    if not isinstance(names, (set, frozenset)):
        raise _user_error(TypeError, f"{what} argument of PartitionSpec should of type `frozenset` or `set`. Got type {type(names)}")
    if None in names:
        raise _user_error(ValueError, f"{what} cannot contain None. All elements in {what} should refer to the mesh axes.")
    return frozenset(names)


def _check_apart(entries, unreduced, reduced):
    """Refuses a mesh axis that has two parts in a spec."""
    named = {name for entry in entries for name in _names(entry)}
    for what, names in (("unreduced", unreduced), ("reduced", reduced)):
        if named & names:
            raise _user_error(
                ValueError,
                f"partitions cannot overlap with {what} axes passed to PartitionSpec. Got partitions: {entries} and {what} axes: {names}"
            )
    if unreduced & reduced:
        raise _user_error(
            ValueError,
            f"`unreduced` and `reduced` argument to PartitionSpec cannot overlap. Got unreduced: {unreduced} and reduced: {reduced}"
        )


# Equal specs are one object.
_known_specs = {}


class PartitionSpec:
    """For each axis of an array the mesh axes that divide it: a name, a tuple of names (the first the slowest), or `None`.

    Axes beyond the last entry are whole. A spec is a sequence of its entries; it compares and hashes by them. `jax.P` is the
    same class.

    Attributes:
      partitions: the tuple of entries.
      unreduced: the set of mesh axes along which devices hold parts that are still to be summed; `unreduced_kind` says how.
      reduced: the set of mesh axes along which cotangents come in parts.
      UNCONSTRAINED: an entry that leaves an axis open.
    Raises:
      ValueError: a tuple in a tuple, or a mesh axis that has two parts.
      TypeError: `unreduced` or `reduced` is no set; the class is subclassed.

    Example:
      >>> jax.sharding.PartitionSpec("x", None, ("y", "z"))
      P('x', None, ('y', 'z'))
    """

    __slots__ = ("_partitions", "_unreduced", "_reduced", "_unreduced_kind", "__weakref__")
    UNCONSTRAINED = _UNCONSTRAINED

    def __new__(cls, *partitions, unreduced=frozenset(), reduced=frozenset(), unreduced_kind=None):
        entries = tuple(map(_entry, partitions))
        unreduced, reduced = _spec_axes(unreduced, "unreduced"), _spec_axes(reduced, "reduced")
        if unreduced and unreduced_kind is None:
            unreduced_kind = UnreducedKind.sum
        key = entries, unreduced, reduced, unreduced_kind
        try:
            known = _known_specs.get(key)
        except TypeError:
            known = None
        if known is not None:
            return known
        _check_apart(entries, unreduced, reduced)
        made = super().__new__(cls)
        made._partitions, made._unreduced, made._reduced, made._unreduced_kind = key
        try:
            return _known_specs.setdefault(key, made)
        except TypeError:
            return made

    def __init_subclass__(cls, **kwargs):
        raise _user_error(TypeError, "Subclassing `jax.P` is prohibited.")

    @property
    def partitions(self):
        """The tuple of entries."""
        return self._partitions

    @property
    def unreduced(self):
        """Axes along which parts are still to be summed."""
        return self._unreduced

    @property
    def reduced(self):
        """Axes along which parts were summed."""
        return self._reduced

    @property
    def unreduced_kind(self):
        """How parts are still to be joined; None where there are none."""
        return self._unreduced_kind

    def __getitem__(self, i):
        return self._partitions[i]

    def __iter__(self):
        return iter(self._partitions)

    def __len__(self):
        return len(self._partitions)

    def __add__(self, other):
        if isinstance(other, PartitionSpec):
            if self._unreduced_kind != other._unreduced_kind:
                raise _user_error(
                    TypeError, f"PartitionSpec can't be added if the unreduced_kind differs in self and other. Got {self=} and {other=}"
                )
            sums = {"unreduced": self._unreduced | other._unreduced, "reduced": self._reduced | other._reduced}
            return PartitionSpec(*self, *other, **sums, unreduced_kind=self._unreduced_kind)
        if isinstance(other, tuple):
            return self.update(partitions=(*self, *other))
        raise _user_error(NotImplementedError, f"PartitionSpec + {type(other).__name__}")

    def __radd__(self, other):
        if not isinstance(other, tuple):
            raise _user_error(NotImplementedError, f"{type(other).__name__} + PartitionSpec")
        return self.update(partitions=(*other, *self))

    def _key(self):
        return self._partitions, self._unreduced, self._reduced, self._unreduced_kind

    def __eq__(self, other):
        return self is other or isinstance(other, PartitionSpec) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        parts = [repr(entry) for entry in self._partitions]
        for what, names in (("unreduced", self._unreduced), ("reduced", self._reduced)):
            if names:
                parts.append(f"{what}={{{', '.join(map(repr, names))}}}")
        if self._unreduced_kind is not None:
            parts.append(f"unreduced_kind={self._unreduced_kind.name}")
        comma = "," if len(parts) == 1 and self._partitions else ""
        return f"P({', '.join(parts)}{comma})"

    def __reduce__(self):
        return _spec_of_key, self._key()

    def index(self, value):
        """The position of an entry."""
        return self._partitions.index(_entry(value))

    def count(self, value):
        """How often an entry occurs."""
        return self._partitions.count(_entry(value))

    def update(self, partitions=None, unreduced=None, reduced=None, **kwargs):
        """The spec with other entries or sets of axes."""
        pick = lambda new, old: old if new is None else new  # noqa: E731
        unreduced = pick(unreduced, self._unreduced)
        kind = kwargs.get("unreduced_kind", self._unreduced_kind) if unreduced else None
        entries = pick(partitions, self._partitions)
        return PartitionSpec(*entries, unreduced=unreduced, reduced=pick(reduced, self._reduced), unreduced_kind=kind)

    def to_lo(self):
        """The spec itself."""
        return self

    to_tangent_spec = to_lo

    def to_ct_spec(self):
        """The spec of cotangents: what was summed comes in parts, and parts come summed."""
        return PartitionSpec(*self, unreduced=self._reduced, reduced=self._unreduced)


def _spec_of_key(entries, unreduced, reduced, kind):
    return PartitionSpec(*entries, unreduced=unreduced, reduced=reduced, unreduced_kind=kind)


for _public in (ManualAxisType, PartitionSpec, UnreducedKind):
    _public.__module__ = "pullback.sharding"
