"""What JAX answered to the lines of a table, kept in `golden/answers`, so that a run need not trace and compile them again.

`python tests/py/record_answers.py` asks JAX anew. With PULLBACK_ASK_JAX=1 every line is asked again and must get the answer
that is kept. A line that is not kept, or whose answer is no data, is asked whenever it is met.
"""

import ast
import base64
import json
import math
import os
import zlib
from pathlib import Path

import ml_dtypes  # noqa: F401  (NumPy knows its types by name once it is imported)
import numpy as np

KEPT = Path(__file__).parent / "golden" / "answers"
IS_ASKED = os.environ.get("PULLBACK_ASK_JAX") == "1"
RECORDED = os.environ.get("PULLBACK_RECORD_ANSWERS")
MOST_ELEMENTS = 4096
LISTED = 48


class Refusal(Exception):
    """An exception that JAX raised: its class by name."""

    def __init__(self, name):
        super().__init__(name)
        self.name = name


class Numbers(np.ndarray):
    """An array that JAX gave; what is computed of it has its weak type."""

    weak_type = False

    def __array_finalize__(self, base):
        self.weak_type = getattr(base, "weak_type", False)


class NotData(Exception):
    """An answer that cannot be kept as text."""


def written(value, facts):
    """An answer as data for JSON."""
    if isinstance(value, Exception):
        return {"raises": facts(value)}
    if isinstance(value, (tuple, list)):
        return {"items": [written(item, facts) for item in value], "type": type(value).__name__}
    if value is None or type(value) in (bool, int, float, complex, str):
        return {"value": repr(value)}
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return written_array(value)
    raise NotData


def written_array(value):
    try:
        array = np.asarray(value)
    except Exception as error:
        raise NotData from error
    if array.size > MOST_ELEMENTS or str(array.dtype) != str(value.dtype) or array.dtype.kind == "O":
        raise NotData
    kept = {"dtype": str(array.dtype), "shape": list(array.shape)}
    if getattr(value, "weak_type", False):
        kept["weak"] = True
    if isinstance(value, np.generic):
        kept["scalar"] = True
    listed = list_of(array) if array.size <= LISTED else None
    return kept | ({"bytes": base64.b64encode(zlib.compress(array.tobytes(), 9)).decode()} if listed is None else {"data": listed})


def list_of(array):
    """The numbers of an array, if they are the same when they are read."""
    flat = array.ravel()
    if array.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    if array.dtype.kind in "biu":
        listed = [int(x) for x in flat]
    elif str(flat.dtype) == "float64":
        listed = flat.tolist()
    else:
        listed = [float(str(x)) for x in flat.astype("float32")]
    return listed if array_from(listed, array.dtype, array.shape).tobytes() == array.tobytes() else None


def array_from(listed, dtype, shape):
    part = {"complex64": "float32", "complex128": "float64"}.get(str(dtype), dtype)
    wide = np.array(listed, "float64") if np.dtype(part).kind not in "biu" else np.array(listed, dtype=object)
    return wide.astype(part).view(dtype).reshape(shape)


def read(kept):
    """The answer that [`written`] wrote."""
    if "raises" in kept:
        return Refusal(kept["raises"])
    if "items" in kept:
        items = [read(item) for item in kept["items"]]
        if kept["type"] == "list":
            return items
        return (tuple if kept["type"] == "tuple" else type(kept["type"], (tuple,), {}))(items)
    if "value" in kept:
        return value_of(kept["value"])
    dtype, shape = np.dtype(kept["dtype"]), tuple(kept["shape"])
    if "data" in kept:
        array = array_from(kept["data"], dtype, shape)
    else:
        array = np.frombuffer(zlib.decompress(base64.b64decode(kept["bytes"])), dtype).reshape(shape)
    if kept.get("scalar"):
        return array[()]
    array = array.view(Numbers)
    array.weak_type = kept.get("weak", False)
    return array


def value_of(text):
    try:
        return ast.literal_eval(text)
    except ValueError:
        return eval(text, {"inf": math.inf, "nan": math.nan})  # as Python prints floats and complex numbers


class Answers:
    """The answers to the lines of one table."""

    def __init__(self, table, facts):
        self.file, self.facts = KEPT / f"{table}.jsonl", facts
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.kept = dict(json.loads(line) for line in lines)

    def answer(self, line, ask):
        """The answer to a line: `ask` is called unless it is kept."""
        if line in self.kept and not IS_ASKED and not RECORDED:
            return read(self.kept[line])
        found = ask()
        if RECORDED:
            self.note(line, found)
        return found

    def note(self, line, found):
        try:
            entry = [line, written(found, self.facts)]
        except NotData:
            return
        with (Path(RECORDED) / f"{self.file.stem}.{os.getpid()}").open("a") as file:
            file.write(json.dumps(entry) + "\n")
