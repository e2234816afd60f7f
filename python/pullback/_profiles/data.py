"""Traces as users read them: `ProfileData` and its planes, lines and events."""

from pullback._core import user_error as _user_error
from pullback._profiles import wire as _wire


def _first(message, name, default):
    return message.get(name, [default])[0]


def _metadata(plane, name):
    return {_first(entry, "key", 0): _first(entry, "value", {}) for entry in plane.get(name, [])}


def _stats(message, names):
    """Pairs of the names and values of statistics; a reference stands for the text that has its number."""
    for stat in message.get("stats", []):
        name = _first(names.get(_first(stat, "metadata_id", 0), {}), "name", "")
        kind, value = next(((kind, values[0]) for kind, values in stat.items() if kind != "metadata_id"), (None, None))
        yield name, _first(names.get(value, {}), "name", "") if kind == "ref_value" else value


class ProfileEvent:
    """What happened from `start_ns` on for `duration_ns`."""

    def __init__(self, message, line, events, stats):
        self._message, self._stats = message, stats
        self.name = _first(events.get(_first(message, "metadata_id", 0), {}), "name", "")
        self.start_ns = _first(line, "timestamp_ns", 0) + _first(message, "offset_ps", 0) / 1e3
        self.duration_ns = _first(message, "duration_ps", 0) / 1e3
        self.end_ns = self.start_ns + self.duration_ns

    @property
    def stats(self):
        """Pairs of names and values."""
        return _stats(self._message, self._stats)


class ProfileLine:
    """Events one after the other, such as those of a thread."""

    def __init__(self, message, plane):
        self._message, self._plane = message, plane
        self.name = _first(message, "name", "")

    @property
    def events(self):
        """Its events, in order."""
        events, stats = (_metadata(self._plane, name) for name in ("event_metadata", "stat_metadata"))
        return (ProfileEvent(event, self._message, events, stats) for event in self._message.get("events", []))


class ProfilePlane:
    """Lines of one place, such as the threads of the host."""

    def __init__(self, message):
        self._message = message
        self.name = _first(message, "name", "")

    @property
    def lines(self):
        """Its lines."""
        return (ProfileLine(line, self._message) for line in self._message.get("lines", []))

    @property
    def stats(self):
        """Pairs of names and values."""
        return _stats(self._message, _metadata(self._message, "stat_metadata"))


class ProfileData:
    """A trace: its planes."""

    def __init__(self, space):
        self._space = space

    @property
    def planes(self):
        """Its planes."""
        return (ProfilePlane(plane) for plane in self._space.get("planes", []))

    def find_plane_with_name(self, name):
        """The plane of a name.

        Args:
          name: a text.
        Returns: a `ProfilePlane`, or None where there is none.
        Differentiable: no; it takes no arrays.
        Example:
          >>> data = jax.profiler.ProfileData.from_text_proto('planes { name: "a" }')
          >>> data.find_plane_with_name("a").name
          'a'
        """
        return next((plane for plane in self.planes if plane.name == name), None)

    @staticmethod
    def from_serialized_xspace(serialized_xspace):
        """The trace of the bytes of an XSpace.

        Args:
          serialized_xspace: bytes, such as a file `*.xplane.pb` holds.
        Returns: a `ProfileData`.
        Raises:
          RuntimeError: they are none.
        Differentiable: no; it takes no arrays.
        Example:
          >>> list(jax.profiler.ProfileData.from_serialized_xspace(b"").planes)
          []
        """
        return ProfileData(_wire.decode("XSpace", bytes(serialized_xspace)))

    @staticmethod
    def from_file(proto_file_path):
        """The trace in a file.

        Args:
          proto_file_path: the path of a file `*.xplane.pb`.
        Returns: a `ProfileData`.
        Raises:
          JaxRuntimeError: the file cannot be read. RuntimeError: it holds no trace.
        Differentiable: no; it takes no arrays.
        Example:
          >>> try:
          ...     jax.profiler.ProfileData.from_file("/there/is/none")
          ... except jax.errors.JaxRuntimeError:
          ...     print("no file")
          no file
        """
        from pullback.errors import JaxRuntimeError

        try:
            with open(proto_file_path, "rb") as file:
                return ProfileData.from_serialized_xspace(file.read())
        except OSError as error:
            raise _user_error(JaxRuntimeError, f"NOT_FOUND: {proto_file_path}; {error.strerror}") from None

    @staticmethod
    def from_text_proto(text_proto):
        """The trace of the text of an XSpace.

        Args:
          text_proto: a text such as `planes { name: "a" }`.
        Returns: a `ProfileData`.
        Raises:
          RuntimeError: the text does not follow the form.
        Differentiable: no; it takes no arrays.
        Example:
          >>> [plane.name for plane in jax.profiler.ProfileData.from_text_proto('planes { name: "a" }').planes]
          ['a']
        """
        return ProfileData(_wire.of_text("XSpace", text_proto))

    @staticmethod
    def text_proto_to_serialized_xspace(text_proto):
        """The bytes of the text of an XSpace.

        Args:
          text_proto: a text such as `planes { name: "a" }`.
        Returns: bytes.
        Raises:
          RuntimeError: the text does not follow the form.
        Differentiable: no; it takes no arrays.
        Example:
          >>> jax.profiler.ProfileData.text_proto_to_serialized_xspace('planes { name: "a" }')
          b'\\n\\x03\\x12\\x01a'
        """
        return _wire.encode("XSpace", _wire.of_text("XSpace", text_proto))

    def serialized(self):
        """The bytes of its XSpace."""
        return _wire.encode("XSpace", self._space)

    def chrome_trace(self):
        """The trace for viewers of Chrome's and Perfetto's form, as a dictionary for JSON."""
        events = []
        for pid, plane in enumerate(self.planes, 1):
            events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": plane.name}})
            for tid, line in enumerate(plane.lines, 1):
                events.append({"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": line.name}})
                events.extend(_chrome_event(pid, tid, event) for event in line.events)
        return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": events}


def _chrome_event(pid, tid, event):
    found = {"ph": "X", "pid": pid, "tid": tid, "ts": event.start_ns / 1e3, "dur": event.duration_ns / 1e3, "name": event.name}
    shown = {name: str(value) for name, value in event.stats if not name.startswith("_")}
    return found | ({"args": shown} if shown else {})
