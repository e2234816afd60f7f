"""The memory of arrays as a profile for pprof: how many arrays of each type live, and their bytes."""

import time as _time
from collections import Counter as _Counter

from pullback._profiles import wire as _wire


class _Texts:
    """The table of texts of a profile, which begins with the empty one."""

    def __init__(self):
        self.table = [""]

    def __call__(self, text):
        if text not in self.table:
            self.table.append(text)
        return self.table.index(text)


def _counted(arrays):
    """Of each type and device the arrays and their bytes; arrays of one block of memory count once."""
    numbers, sizes, seen = _Counter(), _Counter(), set()
    for array in arrays:
        for shard in array.addressable_shards:
            data = shard.data
            place = (str(shard.device), data.unsafe_buffer_pointer() if data.nbytes and not _is_key(data) else id(data))
            if place in seen:
                continue
            seen.add(place)
            kind = f"{data.dtype}{list(data.shape)}".replace(" ", ""), str(shard.device)
            numbers[kind] += 1
            sizes[kind] += data.nbytes
    return [(*kind, numbers[kind], sizes[kind]) for kind in sorted(numbers)]


def _is_key(array):
    from pullback import dtypes

    return dtypes.issubdtype(array.dtype, dtypes.extended)


def profile(arrays):
    """The bytes of the profile, not compressed."""
    texts = _Texts()
    message = {
        "sample_type": [{"type": texts("allocations"), "unit": texts("count")}, {"type": texts("space"), "unit": texts("bytes")}],
        "sample": [], "location": [], "function": [],
    }
    for at, (kind, device, number, size) in enumerate(_counted(arrays), 1):
        labels = [{"key": texts("kind"), "str": texts("buffer")}, {"key": texts("device"), "str": texts(device)}]
        message["sample"].append({"location_id": at, "value": [number, size], "label": labels})
        message["location"].append({"id": at, "line": {"function_id": at}})
        message["function"].append({"id": at, "name": texts(kind)})
    message |= {"string_table": texts.table, "time_nanos": _time.time_ns(), "default_sample_type": texts("space")}
    return _wire.encode("Profile", message)
