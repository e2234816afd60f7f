"""Element types: their objects, relations and promotion."""

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._core import as_dtype as _as_dtype
from pullback.errors import TypePromotionError as TypePromotionError

float0 = _np.dtype([("float0", "V0")])


class extended(_np.generic):
    """The class of element types that NumPy does not know."""


class prng_key(extended):
    """The class of random keys as element types."""


class ExtendedDType:
    """An element type that NumPy does not know."""


class _KeyDType(ExtendedDType):
    """Keys of one generator."""

    kind = "V"
    isnative = True
    type = prng_key

    def __init__(self, name, itemsize):
        self._pullback_dtype = self.name = name
        self.itemsize = itemsize

    def __repr__(self):
        return self.name

    __str__ = __repr__

    def __eq__(self, other):
        return isinstance(other, _KeyDType) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        return _get_key_dtype, (self.name,)


_KEY_DTYPES = {name: _KeyDType(name, itemsize) for name, itemsize in (
    ("key<fry>", 8), ("key<rbg>", 16), ("key<urbg>", 16), ("key<phx2>", 4), ("key<phx4>", 8), ("key<fry4>", 16),
)}


def _get_key_dtype(name):
    return _KEY_DTYPES[name]


class _ScalarMeta(type):
    """Classes that name an element type and make arrays of it."""

    dtype: _np.dtype

    def __hash__(self):
        return hash(self.dtype.type)

    def __eq__(self, other):
        return self is other or self.dtype.type is other or (isinstance(other, _ScalarMeta) and self.dtype == other.dtype)

    def __ne__(self, other):
        return not self == other

    def __call__(self, x=0, *args):
        import pullback.numpy as jnp

        return jnp.asarray(x, dtype=self.dtype)

    def __instancecheck__(self, instance):
        return isinstance(instance, self.dtype.type)

    def __repr__(self):
        return f"<class 'jax.numpy.{self.dtype.name}'>"


def _scalar_type(dtype):
    return _ScalarMeta(dtype.name, (object,), {"dtype": dtype, "__module__": "pullback.numpy", "__doc__": f"Elements of type {dtype.name}."})


_NUMPY = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "complex64",
    "complex128",
)
_SMALL = (
    "bfloat16", "int2", "int4", "uint2", "uint4", "float4_e2m1fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
)
# Element types that have names and kinds, but no arrays yet.
_UNSTORED = ("int1", "uint1", "float6_e2m3fn", "float6_e3m2fn")
scalar_types = {name: _scalar_type(_np.dtype(name)) for name in _NUMPY}


def scalar_type(name):
    """The class of the element type with a name: `jax.numpy.float32` and its kin.

    Args:
      name: a name such as 'float32'.
    Returns: a class; called, it makes arrays.
    Raises:
      AttributeError: there is no such element type.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dtypes.scalar_type("int8").dtype
      dtype('int8')
    """
    if name not in scalar_types:
        if name not in _SMALL:
            raise AttributeError(f"there is no element type {name!r}")
        import ml_dtypes

        scalar_types[name] = _scalar_type(_np.dtype(getattr(ml_dtypes, name)))
    return scalar_types[name]


def __getattr__(name):
    if name in _SMALL:
        return scalar_type(name)
    if name == "bfloat16":
        return scalar_type(name)
    raise AttributeError(f"module 'jax.dtypes' has no attribute {name!r}")


def canonicalize_dtype(dtype, allow_extended_dtype=False):
    """The dtype that arrays get: 64-bit types are narrowed while they are off.

    Args:
      dtype: anything that names a dtype.
      allow_extended_dtype: whether it may be the element type of keys.
    Returns: a NumPy dtype, or the element type of keys.
    Raises:
      TypeError: there is no such dtype. ValueError: it is that of keys, which is not allowed.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dtypes.canonicalize_dtype("float64")
      dtype('float32')
    """
    found = _as_dtype(dtype)
    if not allow_extended_dtype and str(found).startswith("key<"):
        raise _user_error(ValueError, f"Internal: canonicalize_dtype called on extended dtype {found} with allow_extended_dtype=False")
    return found


def dtype(x, *, canonicalize=False):
    """The dtype of an array, number or anything that names one.

    Args:
      x: an array, a number, a dtype or a scalar type.
      canonicalize: taken for compatibility; dtypes are canonical.
    Returns: a NumPy dtype, or the element type of keys.
    Raises:
      ValueError: `x` is None. TypeError: `x` has no dtype.
    Differentiable: no, the result is no array.
    Example:
      >>> jax.dtypes.dtype(1.0)
      dtype('float32')
    """
    if x is None:
        raise _user_error(ValueError, f"Invalid argument to dtype: {x}.")
    if isinstance(x, type):
        return _as_dtype(x)
    return _core.typeof(x).dtype


def itemsize_bits(dtype):
    """How many bits an element of a type has; small integers and floats have fewer than the byte that they take in memory.

    Args:
      dtype: anything that names a dtype.
    Returns: an int.
    Raises:
      ValueError: None is given. TypeError: the argument names no dtype.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dtypes.itemsize_bits("int4"), jax.dtypes.itemsize_bits(jnp.float32)
      (4, 32)
    """
    if dtype is None:
        raise _user_error(ValueError, "dtype cannot be None.")
    dtype = _as_dtype_exact(dtype)
    if dtype.name in _SMALL or dtype.name in _UNSTORED:
        name = dtype.name.partition("_")[0]
        return 16 if name == "bfloat16" else int("".join(letter for letter in name if letter.isdigit()))
    return 8 * dtype.itemsize


def issubdtype(a, b):
    """Whether one element type belongs to another or to an abstract class of them.

    Args:
      a: anything that names a dtype, or an abstract class of them such as `numpy.integer`.
      b: likewise; `jax.dtypes.prng_key` is the class of keys.
    Returns: a bool.
    Raises:
      TypeError: an argument names no dtype.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dtypes.issubdtype(jnp.bfloat16, jnp.floating), jax.dtypes.issubdtype("int8", jnp.floating)
      (True, False)
    """
    a_type = _class_of(a)
    b_type = b if isinstance(b, type) and issubclass(b, _np.generic) else _class_of(b)
    if a_type is b_type:
        return True
    for kind, root in (("f", _np.floating), ("i", _np.signedinteger), ("u", _np.unsignedinteger)):
        if _kind_of_small(a) == kind:
            return issubclass(root, b_type)
    return isinstance(b_type, type) and issubclass(a_type, b_type)


def _class_of(x):
    if isinstance(x, ExtendedDType):
        return x.type
    if isinstance(x, type) and issubclass(x, _np.generic):
        return x
    if isinstance(x, _ScalarMeta):
        return x.dtype.type
    if isinstance(x, _np.dtype):
        return x.type
    return _np.dtype(x).type


def _kind_of_small(x):
    try:
        name = x.name if isinstance(x, _np.dtype) else _np.dtype(x).name if not isinstance(x, _ScalarMeta) else x.dtype.name
    except TypeError:
        return None
    if name not in _SMALL and name not in _UNSTORED:
        return None
    return "u" if name.startswith("uint") else "i" if name.startswith("int") else "f"


def isdtype(dtype, kind):
    """Whether an element type is of a kind: a type, a name of a kind, or a tuple of them.

    Args:
      dtype: anything that names a dtype.
      kind: a dtype; 'bool', 'signed integer', 'unsigned integer', 'integral', 'real floating', 'complex floating' or
        'numeric'; or a tuple of these, of which one is enough.
    Returns: a bool.
    Raises:
      ValueError: there is no kind of that name. TypeError: `dtype` names no dtype.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dtypes.isdtype("int8", ("bool", "integral"))
      True
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)
    dtype = _as_dtype_exact(dtype)
    names = {
        "bool": _np.bool_, "signed integer": _np.signedinteger, "unsigned integer": _np.unsignedinteger, "integral": _np.integer,
        "real floating": _np.floating, "complex floating": _np.complexfloating,
    }
    for one in kinds:
        if one == "numeric":
            if issubdtype(dtype, _np.number):
                return True
        elif isinstance(one, str) and one in names:
            if issubdtype(dtype, names[one]):
                return True
        elif isinstance(one, str):
            raise _user_error(ValueError, f"Unrecognized {kind=}; use one of {[*names, 'numeric']}")
        elif dtype == _as_dtype_exact(one):
            return True
    return False


def _as_dtype_exact(dtype):
    if isinstance(dtype, ExtendedDType):
        return dtype
    if isinstance(dtype, _ScalarMeta):
        return dtype.dtype
    return _np.dtype(dtype)


def is_python_scalar(x):
    """Whether `x` is a number of Python, or weakly typed like one.

    Args:
      x: any object.
    Returns: a bool.
    Differentiable: no, the result is no array.
    Example:
      >>> jax.dtypes.is_python_scalar(1.0), jax.dtypes.is_python_scalar(jnp.ones(1))
      (True, False)
    """
    return isinstance(x, (bool, int, float, complex)) or getattr(x, "weak_type", False) and getattr(x, "ndim", 1) == 0


def finfo(dtype):
    """Limits of a floating type.

    Args:
      dtype: anything that names a floating or complex dtype.
    Returns: an object with `bits`, `eps`, `max`, `min`, `tiny` and more, as NumPy's.
    Raises:
      ValueError: the dtype is not floating. TypeError: there is no such dtype.
    Differentiable: no; it takes no arrays.
    Example:
      >>> float(jax.dtypes.finfo("float32").eps)
      1.1920928955078125e-07
    """
    import ml_dtypes

    return ml_dtypes.finfo(_as_dtype_exact(dtype))


def iinfo(dtype):
    """Limits of an integer type.

    Args:
      dtype: anything that names an integer dtype.
    Returns: an object with `bits`, `max` and `min`, as NumPy's.
    Raises:
      ValueError: the dtype is not of integers. TypeError: there is no such dtype.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dtypes.iinfo("int8").max
      127
    """
    import ml_dtypes

    return ml_dtypes.iinfo(_as_dtype_exact(dtype))


def result_type(*args, return_weak_type_flag=False):
    """The dtype to which arguments promote.

    Args:
      *args: arrays, numbers or dtypes; Python numbers give way to the others.
      return_weak_type_flag: whether to say too if the result gives way to other dtypes.
    Returns: a NumPy dtype; with the flag a pair of it and a bool.
    Raises:
      TypeError: an argument has no dtype. ValueError: there are no arguments.
    Differentiable: no, the result is no array.
    Example:
      >>> jax.dtypes.result_type(jnp.int8(1), 2.0)
      dtype('float32')
    """
    import functools

    import pullback
    import pullback.numpy as jnp

    found = jnp.result_type(*args)
    if not return_weak_type_flag:
        return found
    # The sum of numbers of these types promotes as they do.
    avals = [pullback.typeof(x) if not isinstance(x, type) and (hasattr(x, "shape") or is_python_scalar(x)) else pullback.ShapeDtypeStruct((), x) for x in args]
    scalars = [pullback.ShapeDtypeStruct((), aval.dtype, weak_type=aval.weak_type) for aval in avals]
    return found, pullback.eval_shape(lambda *xs: functools.reduce(jnp.add, xs), *scalars).weak_type


def promote_types(a, b):
    """The dtype to which two types promote.

    Args:
      a, b: anything that names a dtype.
    Returns: a NumPy dtype.
    Raises:
      TypeError: an argument names no dtype.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dtypes.promote_types("int8", "uint8")
      dtype('int16')
    """
    import pullback.numpy as jnp

    return jnp.promote_types(a, b)


def scalar_type_of(x):
    """The type of Python numbers nearest to that of `x`.

    Args:
      x: an array or a number.
    Returns: bool, int, float or complex.
    Raises:
      TypeError: `x` is no number.
    Differentiable: no, the result is no array.
    Example:
      >>> jax.dtypes.scalar_type_of(jnp.int8(3))
      <class 'int'>
    """
    kind = dtype(x)
    for root, python in ((_np.bool_, bool), (_np.integer, int), (_np.floating, float), (_np.complexfloating, complex)):
        if issubdtype(kind, root):
            return python
    raise _user_error(TypeError, f"Invalid scalar value {x}")


def check_user_dtype_supported(dtype, fun_name=None):
    """Raises for dtypes that arrays cannot have.

    Args:
      dtype: anything that names a dtype.
      fun_name: taken for compatibility and ignored.
    Returns: None.
    Raises:
      TypeError: arrays cannot have the dtype.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.dtypes.check_user_dtype_supported("float32")
    """
    _as_dtype(dtype)


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "ExtendedDType", "check_user_dtype_supported", "dtype", "is_python_scalar", "isdtype", "promote_types", "scalar_type",
    "scalar_types",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
