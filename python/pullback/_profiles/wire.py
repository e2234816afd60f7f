"""Messages of protocol buffers, as far as traces and memory profiles need them: as dictionaries of lists, bytes and texts."""

import re as _re
import struct as _struct

from pullback._core import user_error as _user_error

# Of each message its fields: number, and kind: "int", "float", "text", "bytes", or the name of a message.
SCHEMAS = {
    "XSpace": {"planes": (1, "XPlane"), "errors": (2, "text"), "warnings": (3, "text"), "hostnames": (4, "text")},
    "XPlane": {
        "id": (1, "int"), "name": (2, "text"), "lines": (3, "XLine"), "event_metadata": (4, "EventMetadataEntry"),
        "stat_metadata": (5, "StatMetadataEntry"), "stats": (6, "XStat"),
    },
    "XLine": {
        "id": (1, "int"), "display_id": (10, "int"), "name": (2, "text"), "display_name": (11, "text"), "timestamp_ns": (3, "int"),
        "duration_ps": (9, "int"), "events": (4, "XEvent"),
    },
    "XEvent": {
        "metadata_id": (1, "int"), "offset_ps": (2, "int"), "num_occurrences": (5, "int"), "duration_ps": (3, "int"), "stats": (4, "XStat"),
    },
    "XStat": {
        "metadata_id": (1, "int"), "double_value": (2, "float"), "uint64_value": (3, "int"), "int64_value": (4, "int"),
        "str_value": (5, "text"), "bytes_value": (6, "bytes"), "ref_value": (7, "int"),
    },
    "EventMetadataEntry": {"key": (1, "int"), "value": (2, "XEventMetadata")},
    "StatMetadataEntry": {"key": (1, "int"), "value": (2, "XStatMetadata")},
    "XEventMetadata": {
        "id": (1, "int"), "name": (2, "text"), "display_name": (4, "text"), "metadata": (3, "bytes"), "stats": (5, "XStat"),
        "child_id": (6, "int"),
    },
    "XStatMetadata": {"id": (1, "int"), "name": (2, "text"), "description": (3, "text")},
    "Profile": {
        "sample_type": (1, "ValueType"), "sample": (2, "Sample"), "location": (4, "Location"), "function": (5, "Function"),
        "string_table": (6, "text"), "time_nanos": (9, "int"), "default_sample_type": (14, "int"),
    },
    "ValueType": {"type": (1, "int"), "unit": (2, "int")},
    "Sample": {"location_id": (1, "int"), "value": (2, "int"), "label": (3, "Label")},
    "Label": {"key": (1, "int"), "str": (2, "int"), "num": (3, "int")},
    "Location": {"id": (1, "int"), "line": (4, "Line")},
    "Line": {"function_id": (1, "int"), "line": (2, "int")},
    "Function": {"id": (1, "int"), "name": (2, "int"), "system_name": (3, "int"), "filename": (4, "int")},
}  # fmt: skip

_MASK = (1 << 64) - 1


def _varint(number):
    number &= _MASK
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)


def _field(number, kind, value):
    if kind == "int":
        return _varint(number << 3) + _varint(value)
    if kind == "float":
        return _varint(number << 3 | 1) + _struct.pack("<d", value)
    raw = value.encode() if kind == "text" else value if kind == "bytes" else encode(kind, value)
    return _varint(number << 3 | 2) + _varint(len(raw)) + raw


def encode(schema, message):
    """The bytes of a message: a dictionary from names of fields to a value or a list of values."""
    parts = []
    for name, values in message.items():
        number, kind = SCHEMAS[schema][name]
        parts.extend(_field(number, kind, value) for value in (values if isinstance(values, list) else [values]))
    return b"".join(parts)


def _broken():
    return _user_error(RuntimeError, "Failed to parse XSpace from array")


def _read_varint(data, at):
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise _broken()
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number & _MASK, at


def _read_raw(data, at, form):
    """A value by its form on the wire: a number, or bytes."""
    if form == 0:
        return _read_varint(data, at)
    size, at = _read_varint(data, at) if form == 2 else ({1: 8, 5: 4}.get(form, -1), at)
    if size < 0 or at + size > len(data):
        raise _broken()
    return data[at : at + size], at + size


def _signed(number):
    return number - (1 << 64) if number >> 63 else number


def _value(kind, form, raw):
    if (form == 0) != (kind == "int") or (form == 1) != (kind == "float"):
        raise _broken()
    if kind == "int":
        return _signed(raw)
    if kind == "float":
        return _struct.unpack("<d", raw)[0]
    return raw.decode(errors="replace") if kind == "text" else raw if kind == "bytes" else decode(kind, raw)


def decode(schema, data):
    """A message of bytes: a dictionary from names of fields to lists of values. Unknown fields are dropped."""
    by_number = {number: (name, kind) for name, (number, kind) in SCHEMAS[schema].items()}
    found, at = {}, 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        raw, at = _read_raw(data, at, tag & 7)
        if tag >> 3 in by_number:
            name, kind = by_number[tag >> 3]
            found.setdefault(name, []).append(_value(kind, tag & 7, raw))
    return found


_TOKENS = _re.compile(r'\s+|#[^\n]*|(?P<text>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\')|(?P<word>[\w.+-]+)|(?P<sign>[{}<>:;,])')


def _tokens(text):
    at = 0
    while at < len(text):
        found = _TOKENS.match(text, at)
        if not found:
            raise _user_error(RuntimeError, f"Failed to parse XSpace: unexpected {text[at]!r}")
        at = found.end()
        if found.lastgroup and found.group() not in (";", ","):
            yield found.group()


def of_text(schema, text):
    """A message of its text: `planes { name: "a" id: 1 }`."""
    tokens = [*_tokens(text), None]
    found, rest = _of_tokens(schema, tokens, 0, None)
    if tokens[rest] is not None:
        raise _user_error(RuntimeError, f"Failed to parse XSpace: unexpected {tokens[rest]!r}")
    return found


def _of_tokens(schema, tokens, at, end):
    found = {}
    while tokens[at] is not None and tokens[at] != end:
        name = tokens[at]
        if name not in SCHEMAS[schema]:
            raise _user_error(RuntimeError, f"Failed to parse XSpace: {schema} has no field {name!r}")
        kind = SCHEMAS[schema][name][1]
        at += 2 if tokens[at + 1] == ":" else 1
        if kind in SCHEMAS:
            value, at = _of_tokens(kind, tokens, at + 1, {"{": "}", "<": ">"}.get(tokens[at]))
        else:
            value = _plain(kind, tokens[at])
        found.setdefault(name, []).append(value)
        at += 1
    return found, at


def _plain(kind, token):
    import ast

    if kind in ("text", "bytes"):
        return ast.literal_eval(token if kind == "text" else f"b{token}")
    return float(token) if kind == "float" else int(token, 0)
