"""Exported programs as bytes.

A blob is the magic word, the version of this format, the SHA-256 of what follows, and that: the length of a head in JSON, the
head, and the elements of the constants. What does not fit is a ValueError before anything of it is used.
"""

import base64
import hashlib
import json
import struct

from pullback._core import user_error as _user_error
from pullback._export import dims
from pullback._export.avals import aval
from pullback._export.program import Program
from pullback._export.scope import Reader, SymbolicScope

MAGIC = b"PULLBACKEXPORT"
VERSION = 1
_node_types, _node_names = {}, {}


def register(nodetype, name, to_bytes, from_bytes, from_children):
    """How nodes of a class are written; ValueError where the class or the name is known."""
    if nodetype in _node_types:
        raise _user_error(
            ValueError,
            f"Duplicate serialization registration for type `{nodetype}`. Previous registration was with serialized_name "
            f"`{_node_types[nodetype][0]}`."
        )
    if name in _node_names:
        raise _user_error(
            ValueError,
            f"Duplicate serialization registration for serialized_name `{name}`. Previous registration was for type `{_node_names[name][0]}`."
        )
    _node_types[nodetype] = name, to_bytes
    _node_names[name] = nodetype, from_bytes, from_children


def _tree(tree):
    """A tree as JSON."""
    data = tree.node_data()
    if data is None:
        return ["leaf"]
    kind, aux = data
    children = [_tree(child) for child in tree.children()]
    if kind is type(None):
        return ["none"]
    if kind in (tuple, list):
        return [kind.__name__, children]
    if kind is dict:
        if not all(isinstance(key, str) for key in aux):
            raise _user_error(TypeError, f"Serialization is supported only for dictionaries with string keys. Found keys {list(aux)}")
        return ["dict", children, list(aux)]
    if kind not in _node_types:
        raise _user_error(
            ValueError,
            f"Cannot serialize PyTreeDef containing an unregistered type `{kind}`. Use `export.register_pytree_node_serialization` or "
            "`export.register_namedtuple_serialization`."
        )
    name, to_bytes = _node_types[kind]
    written = to_bytes(aux)
    if not isinstance(written, (bytes, bytearray)):
        raise _user_error(ValueError, f"The custom serialization function for `{kind}` must return a `bytes` object. It returned a {type(written)}")
    return ["node", children, name, base64.b64encode(written).decode()]


def _untree(data):
    """An object of that structure whose leaves are zeros."""
    kind = data[0]
    if kind == "leaf":
        return 0
    if kind == "none":
        return None
    children = [_untree(child) for child in data[1]]
    if kind in ("tuple", "list"):
        return {"tuple": tuple, "list": list}[kind](children)
    if kind == "dict":
        return dict(zip(data[2], children, strict=True))
    name = data[2]
    if name not in _node_names:
        raise _user_error(
            ValueError,
            f"Cannot deserialize a PyTreeDef containing an unregistered type `{name}`. Use `export.register_pytree_node_serialization` or "
            "`export.register_namedtuple_serialization`."
        )
    _, from_bytes, from_children = _node_names[name]
    return from_children(from_bytes(base64.b64decode(data[3])), children)


def _dtype_name(dtype):
    return str(dtype)


def _dtype(name):
    from pullback import _core, random

    if name.startswith("key<"):
        for impl in ("threefry2x32", "rbg", "unsafe_rbg"):
            if str(random.key(0, impl=impl).dtype) == name:
                return random.key(0, impl=impl).dtype
        raise _user_error(ValueError, f"there are no random keys of the kind {name}")
    return _core.as_dtype(name)


def _aval(one):
    return [list(map(str, one.shape)), _dtype_name(one.dtype), bool(one.weak_type)]


def _unaval(data, scope):
    shape, dtype, weak_type = data
    return aval(tuple(Reader(text, scope).whole() for text in shape), _dtype(dtype), weak_type)


def _const(array, chunks):
    import numpy as np
    from pullback import dtypes, random

    impl = None
    if dtypes.issubdtype(array.dtype, dtypes.prng_key):
        impl, array = str(random.key_impl(array)), random.key_data(array)
    elements = np.asarray(array)
    chunks.append(elements.tobytes())
    return [list(elements.shape), str(elements.dtype), len(chunks[-1]), impl]


def _unconst(data, blob, at):
    import math

    import numpy as np
    from pullback import numpy as jnp, random

    shape, dtype, length, impl = data
    kind = np.dtype(_dtype(dtype))
    if any(size < 0 for size in shape) or math.prod(shape) * kind.itemsize != length or at + length > len(blob):
        raise _user_error(ValueError, "the exported program's constants do not fit its bytes")
    elements = jnp.asarray(np.frombuffer(blob[at : at + length], dtype=kind).reshape(shape))
    return (random.wrap_key_data(elements, impl=impl) if impl else elements), at + length


FIELDS = ("fun_name", "nr_devices", "platforms", "calling_convention_version", "module_kept_var_idx", "uses_global_constants")


def head_of(exported, program, scope, chunks):
    """All of an exported function but the elements of its constants, as JSON."""
    return {
        **{name: getattr(exported, name) for name in FIELDS},
        "disabled": [check._impl for check in exported.disabled_safety_checks],
        "in_tree": _tree(exported.in_tree), "out_tree": _tree(exported.out_tree),
        "in_avals": list(map(_aval, exported.in_avals)), "out_avals": list(map(_aval, exported.out_avals)),
        "constraints": list(scope.given) if scope else None,
        "names": list(program.names), "pieces": program.pieces,
        "expressions": [[str(value), is_real] for value, is_real in program.expressions],
        "consts": [_const(array, chunks) for array in program.consts],
    }


def written(head, chunks):
    """The bytes of a head and the constants."""
    text = json.dumps(head).encode()
    body = struct.pack("<Q", len(text)) + text + b"".join(chunks)
    return bytearray(MAGIC + struct.pack("<H", VERSION) + hashlib.sha256(body).digest() + body)


def opened(blob):
    """The head and the bytes of the constants; ValueError for what is no export of ours, or was changed."""
    blob = bytes(blob)
    start = len(MAGIC)
    if not blob.startswith(MAGIC) or len(blob) < start + 42:
        raise _user_error(ValueError, "the bytes are no exported function of Pullback; those that JAX writes hold a program for XLA alone")
    version, = struct.unpack_from("<H", blob, start)
    if version != VERSION:
        raise _user_error(ValueError, f"the exported function is of version {version} of the format; version {VERSION} is read")
    digest, body = blob[start + 2 : start + 34], blob[start + 34 :]
    if hashlib.sha256(body).digest() != digest:
        raise _user_error(ValueError, "the bytes of the exported function were changed: their digest is another")
    length, = struct.unpack_from("<Q", body)
    try:
        return json.loads(body[8 : 8 + length]), body[8 + length :]
    except (ValueError, RecursionError) as error:
        raise _user_error(ValueError, "the head of the exported function cannot be read") from error


def program_of(head, blob, at):
    """The program of a head, its scope, and where its constants end."""
    scope = SymbolicScope(head["constraints"] or ()) if head["constraints"] is not None else None
    expressions = [(Reader(text, scope).whole(), bool(is_real)) for text, is_real in head["expressions"]]
    if len(head["pieces"]) != len(expressions) + 1 or not all(isinstance(piece, str) for piece in head["pieces"]):
        raise _user_error(ValueError, "the exported program's text does not fit its expressions")
    consts = []
    for data in head["consts"]:
        const, at = _unconst(data, blob, at)
        consts.append(const)
    if not all(dims.variables(value) <= set(head["names"]) for value, _ in expressions):
        raise _user_error(ValueError, "the exported program speaks of variables that it does not have")
    return Program(head["names"], head["pieces"], expressions, consts), scope, at


def types_of(head, scope):
    """The structures and types of a head."""
    from pullback import tree_util

    in_tree, out_tree = (tree_util.tree_structure(_untree(head[name])) for name in ("in_tree", "out_tree"))
    in_avals, out_avals = (tuple(_unaval(one, scope) for one in head[name]) for name in ("in_avals", "out_avals"))
    if in_tree.num_leaves != len(in_avals) or out_tree.num_leaves != len(out_avals):
        raise _user_error(ValueError, "the exported function's structures do not fit its types")
    return in_tree, out_tree, in_avals, out_avals
