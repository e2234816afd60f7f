"""Calls of handlers with XLA's C interface, version 0.x: buffers and attributes laid out in memory, and what a handler may ask.

A handler may create errors, and ask for the run, the device and the interface. What belongs to a runtime of XLA (streams, device
memory, thread pools, states between calls, futures) is answered with an error of the code UNIMPLEMENTED that names it.
"""

import ctypes as _c
import functools as _functools

from pullback._core import user_error as _user_error

_POINTER, _SIZE, _I64, _INT = _c.c_void_p, _c.c_size_t, _c.c_int64, _c.c_int
_VERSION = (0, 5)
_EXECUTE, _UNIMPLEMENTED = 3, 12
_TYPES = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9, "float16": 10, "float32": 11,
    "float64": 12, "complex64": 15, "bfloat16": 16, "complex128": 18, "float8_e5m2": 19, "float8_e4m3fn": 20, "float8_e4m3b11fnuz": 23,
    "float8_e5m2fnuz": 24, "float8_e4m3fnuz": 25, "float8_e4m3": 28, "float8_e3m4": 29, "float8_e8m0fnu": 33, "int4": 21, "uint4": 22,
}  # fmt: skip
_CODES = (
    "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED "
    "OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED"
).split()


def _struct(name, *fields):
    """A struct that begins with its size and a pointer to extensions."""
    return type(name, (_c.Structure,), {"_fields_": [("struct_size", _SIZE), ("extension_start", _POINTER), *fields]})


_Buffer = _struct("Buffer", ("dtype", _INT), ("data", _POINTER), ("rank", _I64), ("dims", _c.POINTER(_I64)))
_Operands = _struct("Operands", ("size", _I64), ("types", _c.POINTER(_INT)), ("values", _c.POINTER(_POINTER)))
_Attributes = _struct("Attributes", ("size", _I64), ("types", _c.POINTER(_INT)), ("names", _c.POINTER(_POINTER)), ("values", _c.POINTER(_POINTER)))
_Frame = _struct(
    "Frame", ("api", _POINTER), ("ctx", _POINTER), ("stage", _INT), ("args", _Operands), ("rets", _Operands), ("attrs", _Attributes), ("future", _POINTER)
)
_ErrorCreate = _struct("ErrorCreate", ("message", _c.c_char_p), ("code", _INT))
_ErrorDetails = _struct("ErrorDetails", ("error", _POINTER), ("message", _POINTER), ("code", _INT))
_ErrorDestroy = _struct("ErrorDestroy", ("error", _POINTER))
_Asked = _struct("Asked", ("ctx", _POINTER), ("value", _I64))
_Version = _struct("Version", ("major", _INT), ("minor", _INT))


class _Span(_c.Structure):
    _fields_ = [("data", _c.c_char_p), ("size", _SIZE)]


class _Scalar(_c.Structure):
    _fields_ = [("dtype", _INT), ("value", _POINTER)]


class _Array(_c.Structure):
    _fields_ = [("dtype", _INT), ("size", _SIZE), ("data", _POINTER)]


_HANDLER = _c.CFUNCTYPE(_POINTER, _c.POINTER(_Frame))
_FUNCTION = _c.CFUNCTYPE(_POINTER, _POINTER)
# In the order of the interface's table.
_NAMES = (
    "Error_Create Error_GetDetails Error_Destroy Handler_Register Stream_Get Type_Register InvokeContext_Get State_Set State_Get DeviceMemory_Allocate "
    "DeviceMemory_Free ThreadPool_Schedule ThreadPool_NumThreads Future_Create Future_SetAvailable Future_SetError RunId_Get DeviceOrdinal_Get "
    "InvokeContext_FindExtension CustomOptions_Get"
).split()
_Api = _struct("Api", ("version", _Version), ("internal", _POINTER), *((name, _POINTER) for name in _NAMES))
# Errors that handlers made and nobody has read yet: by number, from one.
_errors = {}


def _new_error(text, code):
    number = max(_errors, default=0) + 1
    _errors[number] = text if isinstance(text, bytes) else text.encode(), code
    return number


def _read(kind, address):
    return _c.cast(address, _c.POINTER(kind)).contents


def _error_create(address):
    args = _read(_ErrorCreate, address)
    return _new_error(args.message or b"", args.code)


def _error_details(address):
    args = _read(_ErrorDetails, address)
    text, args.code = _errors[args.error]
    args.message = _c.cast(_c.c_char_p(text), _POINTER)
    return 0


def _error_destroy(address):
    _errors.pop(_read(_ErrorDestroy, address).error, None)
    return 0


def _asked(value):
    def answer(address):
        _read(_Asked, address).value = value
        return 0

    return answer


def _missing(name):
    return lambda address: _new_error(f"XLA_FFI_{name} is not supported: this engine has no such part of XLA's runtime", _UNIMPLEMENTED)


_ANSWERS = {
    "Error_Create": _error_create, "Error_GetDetails": _error_details, "Error_Destroy": _error_destroy, "RunId_Get": _asked(0),
    "DeviceOrdinal_Get": _asked(0),
}  # fmt: skip


@_functools.cache
def _api():
    """The interface that handlers see, and the functions in it, which must live as long."""
    functions = {name: _FUNCTION(_ANSWERS.get(name) or _missing(name)) for name in _NAMES}
    api = _Api(struct_size=_c.sizeof(_Api))
    api.version = _Version(_c.sizeof(_Version), None, *_VERSION)
    for name, function in functions.items():
        setattr(api, name, _c.cast(function, _POINTER).value)
    return api, functions


class _Memory:
    """What a frame points to, kept while the call lasts."""

    def __init__(self):
        self.kept = []

    def address(self, value):
        """The address of a value that stays."""
        self.kept.append(value)
        return _c.addressof(value)

    def table(self, kind, values):
        """An array of values as C has it."""
        made = (kind * max(len(values), 1))(*values)
        self.kept.append(made)
        return _c.cast(made, _c.POINTER(kind))

    def operands(self, arrays):
        """Buffers of arrays."""
        buffers = []
        for array in arrays:
            dims = self.table(_I64, array.shape)
            self.kept.append(array)
            buffers.append(self.address(_Buffer(_c.sizeof(_Buffer), None, dtype_code(array.dtype), array.ctypes.data, array.ndim, dims)))
        return _Operands(_c.sizeof(_Operands), None, len(arrays), self.table(_INT, [1] * len(arrays)), self.table(_POINTER, buffers))

    def attributes(self, pairs):
        """Attributes by name, in the order of the names."""
        pairs = sorted(pairs, key=lambda pair: pair[0])
        names = [self.address(self.span(name)) for name, _ in pairs]
        made = [self.attribute(value) for _, value in pairs]
        return _Attributes(
            _c.sizeof(_Attributes), None, len(pairs), self.table(_INT, [kind for kind, _ in made]), self.table(_POINTER, names),
            self.table(_POINTER, [address for _, address in made]),
        )

    def span(self, text):
        """A text."""
        data = text.encode()
        self.kept.append(data)
        return _Span(data, len(data))

    def attribute(self, value):
        """The kind of an attribute, and its address."""
        import numpy as np

        if isinstance(value, str):
            return 4, self.address(self.span(value))
        if isinstance(value, tuple) and value and value[0] == "dict":
            return 2, self.address(self.attributes(value[1]))
        if isinstance(value, tuple):
            array = np.frombuffer(value[2], dtype=value[0]).reshape(value[1])
            self.kept.append(array)
            return 1, self.address(_Array(dtype_code(array.dtype), array.size, array.ctypes.data))
        array = np.asarray(value, dtype=_scalar_dtype(value))
        self.kept.append(array)
        return 3, self.address(_Scalar(dtype_code(array.dtype), array.ctypes.data))


def _scalar_dtype(value):
    import numpy as np

    return np.dtype(bool if isinstance(value, bool) else np.int64 if type(value) is int else np.float64 if type(value) is float else value.dtype)


def dtype_code(dtype):
    """The interface's number of a dtype; TypeError where it has none."""
    code = _TYPES.get(str(dtype))
    if code is None:
        raise _user_error(TypeError, f"the interface of handlers has no element type {dtype}")
    return code


def pointer_of(capsule):
    """The address that a capsule holds; TypeError for anything else."""
    get_name, get = _c.pythonapi.PyCapsule_GetName, _c.pythonapi.PyCapsule_GetPointer
    get_name.restype, get_name.argtypes = _c.c_char_p, [_c.py_object]
    get.restype, get.argtypes = _POINTER, [_c.py_object, _c.c_char_p]
    if type(capsule).__name__ != "PyCapsule":
        raise _user_error(TypeError, f"a handler must be a PyCapsule, got {type(capsule)}; see jax.ffi.pycapsule")
    return get(capsule, get_name(capsule))


def call(name, address, operands, results, attributes):
    """Runs a handler over arrays; the results are written in place. JaxRuntimeError with the handler's code and text where it fails."""
    from pullback.errors import JaxRuntimeError

    memory = _Memory()
    api, _ = _api()
    frame = _Frame(_c.sizeof(_Frame) - _c.sizeof(_POINTER), None, _c.addressof(api), None, _EXECUTE)
    frame.args, frame.rets, frame.attrs = memory.operands(operands), memory.operands(results), memory.attributes(attributes)
    error = _HANDLER(address)(_c.byref(frame))
    if frame.future:
        raise _user_error(NotImplementedError, f"the handler of {name} is asynchronous, which is not supported")
    if error:
        text, code = _errors.pop(error)
        raise _user_error(JaxRuntimeError, f"{_CODES[code]}: {text.decode(errors='replace')}")
