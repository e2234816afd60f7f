"""Functions of `numpy` that are compositions of others or concern dtypes only."""

import numpy as _np

from pullback import _core

_n = _core.numpy

__all__ = [
    "array_equiv", "argwhere", "can_cast", "compress", "diag_indices", "dsplit", "ediff1d", "extract", "fill_diagonal",
    "frombuffer", "fromfunction", "fromiter", "gradient", "isdtype", "isrealobj", "issubdtype", "ix_", "mask_indices", "minmax",
    "nanargmax", "nanargmin", "nanmedian", "outer", "piecewise", "promote_types", "put_along_axis", "ravel_multi_index", "resize",
    "rollaxis", "sort_complex", "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from",
    "unravel_index", "block", "save", "load", "savez",
    "gcd", "lcm", "insert", "histogram", "histogram_bin_edges",
    "matvec", "vecmat", "blackman", "bartlett", "hamming", "hanning",
]
array_equiv, dsplit, outer = _n.array_equiv, _n.dsplit, _n.outer
save, savez = _np.save, _np.savez


def _of(function):
    function.__module__ = "pullback.numpy"
    return function


@_of
def load(file, *args, **kwargs):
    """An array from a file that `save` wrote."""
    out = _np.load(file, *args, **kwargs)
    return _n.asarray(out) if isinstance(out, _np.ndarray) else out


@_of
def promote_types(a, b):
    """The dtype to which two dtypes promote."""
    return _n.result_type(a, b)


@_of
def can_cast(from_, to, casting="safe"):
    """Whether a dtype can be cast to another by NumPy's rules."""
    return _np.can_cast(from_, to, casting=casting)


@_of
def issubdtype(arg1, arg2):
    """Whether a dtype is a kind of another."""
    plain = [getattr(x, "dtype", x) if isinstance(x, type) and not issubclass(x, _np.generic) else x for x in (arg1, arg2)]
    kind = plain[1]
    name = getattr(_np.dtype(plain[0]), "name", "") if not (isinstance(plain[0], type) and issubclass(plain[0], _np.generic)) else ""
    if "float" in name and isinstance(kind, type) and issubclass(kind, _np.generic):
        return kind in (_np.floating, _np.inexact, _np.number, _np.generic) or _np.dtype(plain[0]).type is kind
    if name in ("int4", "int2") and isinstance(kind, type):
        return kind in (_np.signedinteger, _np.integer, _np.number, _np.generic) or _np.dtype(plain[0]).type is kind
    if name in ("uint4", "uint2") and isinstance(kind, type):
        return kind in (_np.unsignedinteger, _np.integer, _np.number, _np.generic) or _np.dtype(plain[0]).type is kind
    return _np.issubdtype(*plain)


@_of
def isdtype(dtype, kind):
    """Whether a dtype is of a kind of the array API."""
    kinds = {
        "bool": (_np.bool_,), "signed integer": (_np.signedinteger,), "unsigned integer": (_np.unsignedinteger,),
        "integral": (_np.integer,), "real floating": (_np.floating,), "complex floating": (_np.complexfloating,),
        "numeric": (_np.integer, _np.floating, _np.complexfloating),
    }
    wanted = kind if isinstance(kind, tuple) else (kind,)
    for one in wanted:
        if isinstance(one, str) and one in kinds:
            if any(issubdtype(dtype, abstract) for abstract in kinds[one]):
                return True
        elif _np.dtype(dtype) == _np.dtype(getattr(one, "dtype", one)):
            return True
    return False


@_of
def isrealobj(x):
    """Whether the dtype is not complex."""
    return not _n.iscomplexobj(x)


@_of
def argwhere(a, *, size=None, fill_value=None):
    """Positions of the nonzero elements as rows."""
    found = _n.nonzero(_n.atleast_1d(a), size=size, fill_value=fill_value)
    out = _n.transpose(_n.vstack(found))
    return out[:0].reshape(out.shape[0], 0) if _n.ndim(a) == 0 else out


@_of
def compress(condition, a, axis=None, *, size=None, fill_value=0, out=None):
    """Slices of an axis where a condition holds."""
    if out is not None:
        raise NotImplementedError("The 'out' argument to jnp.compress is not supported.")
    if axis is None:
        a, axis = _n.ravel(a), 0
    (places,) = _n.nonzero(condition, size=size, fill_value=_n.shape(a)[axis])
    return _n.take(a, places, axis=axis, fill_value=fill_value)


@_of
def extract(condition, arr, *, size=None, fill_value=0):
    """Elements where a condition holds."""
    return compress(_n.ravel(condition), _n.ravel(arr), size=size, fill_value=fill_value)


@_of
def diag_indices(n, ndim=2):
    """Positions of the main diagonal."""
    if n < 0:
        raise ValueError(f"n argument to diag_indices must be nonnegative, got {n}")
    if ndim < 0:
        raise ValueError(f"ndim argument to diag_indices must be nonnegative, got {ndim}")
    return (_n.arange(n),) * ndim


@_of
def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours in the flat array."""
    out = _n.diff(_n.ravel(ary))
    parts = [part for part in (to_begin, out, to_end) if part is not None]
    return _n.concatenate([_n.ravel(part) for part in parts]).astype(out.dtype) if len(parts) > 1 else out


@_of
def fill_diagonal(a, val, wrap=False, *, inplace=True):
    """The array with a value on its main diagonal; a new one, so `inplace` must be false."""
    if inplace:
        raise NotImplementedError("JAX arrays are immutable, must use inplace=False")
    if wrap:
        raise NotImplementedError("wrap=True is not implemented, must use wrap=False")
    size = min(a.shape)
    places = (_n.arange(size),) * a.ndim
    return a.at[places].set(val if _n.ndim(val) == 0 else _n.ravel(val)[_n.arange(size) % _n.size(val)])


@_of
def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """The array of the bytes of a buffer."""
    return _n.asarray(_np.frombuffer(buffer, dtype=getattr(dtype, "dtype", dtype), count=count, offset=offset))


@_of
def fromiter(*args, **kwargs):
    """The array of the values of an iterator."""
    return _n.asarray(_np.fromiter(*args, **kwargs))


@_of
def fromfunction(function, shape, *, dtype=float, **kwargs):
    """The array of a function of positions."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    grid = [_n.broadcast_to(_n.expand_dims(_n.arange(size, dtype=dtype), [j for j in range(len(shape)) if j != i]), shape)
            for i, size in enumerate(shape)]
    return function(*grid, **kwargs)


@_of
def gradient(f, *varargs, axis=None, edge_order=None):
    """Differences at each element: central inside, one-sided at the ends."""
    if edge_order is not None:
        raise NotImplementedError("The 'edge_order' argument to jnp.gradient is not supported.")
    f = _n.asarray(f)
    if not issubdtype(f.dtype, _np.inexact):
        f = f.astype(_n.result_type(f, float))
    axes = range(f.ndim) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [a % f.ndim for a in axes]
    spacings = list(varargs) if len(varargs) > 1 else list(varargs or [1.0]) * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("Invalid number of spacing arguments for the gradient function")
    out = [_gradient_along(f, a, h) for a, h in zip(axes, spacings)]
    return out[0] if len(out) == 1 else out


def _gradient_along(f, axis, h):
    f = _n.moveaxis(f, axis, 0)
    if f.shape[0] < 2:
        raise ValueError("Shape of array too small to calculate a numerical gradient, at least 2 elements are required.")
    if _n.ndim(h) == 0:
        inner = (f[2:] - f[:-2]) * 0.5
        out = _n.concatenate([f[1:2] - f[:1], inner, f[-1:] - f[-2:-1]]) / h
    else:
        steps = _n.reshape(_n.diff(_n.asarray(h)), (-1,) + (1,) * (f.ndim - 1))
        before, after = steps[:-1], steps[1:]
        inner = (
            -after / (before * (before + after)) * f[:-2] + (after - before) / (before * after) * f[1:-1]
            + before / (after * (before + after)) * f[2:]
        )
        out = _n.concatenate([(f[1:2] - f[:1]) / steps[:1], inner, (f[-1:] - f[-2:-1]) / steps[-1:]])
    return _n.moveaxis(out, 0, axis)


@_of
def ix_(*args):
    """Index arrays that form a grid."""
    n = len(args)
    out = []
    for i, arg in enumerate(args):
        arg = _n.asarray(arg)
        if arg.ndim != 1:
            raise ValueError(f"Arguments to jax.numpy.ix_ must be 1-dimensional, got shape {arg.shape}")
        if arg.dtype == bool:
            (arg,) = _n.nonzero(arg)
        out.append(_n.reshape(arg, (1,) * i + (-1,) + (1,) * (n - i - 1)))
    return tuple(out)


@_of
def mask_indices(n, mask_func, k=0, *, size=None):
    """Positions that a mask of an n by n matrix keeps."""
    return _n.nonzero(mask_func(_n.ones((n, n)), k), size=size)


@_of
def minmax(a, axis=None, keepdims=False, **kwargs):
    """The least and the greatest over axes."""
    return _n.min(a, axis=axis, keepdims=keepdims, **kwargs), _n.max(a, axis=axis, keepdims=keepdims, **kwargs)


def _nan_position(name, position, fill):
    def function(a, axis=None, out=None, keepdims=None):
        if out is not None:
            raise NotImplementedError(f"The 'out' argument to jnp.{name} is not supported.")
        if not issubdtype(_n.result_type(a), _np.inexact):
            return position(a, axis=axis, keepdims=keepdims)
        is_nan = _n.isnan(a)
        found = position(_n.where(is_nan, fill, a), axis=axis, keepdims=keepdims)
        return _n.where(_n.all(is_nan, axis=axis, keepdims=bool(keepdims)), -1, found)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "As the function without `nan`, but for NaNs; -1 where all are NaN."
    return _of(function)


nanargmax = _nan_position("nanargmax", _n.argmax, -_np.inf)
nanargmin = _nan_position("nanargmin", _n.argmin, _np.inf)


@_of
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle element over axes without NaNs."""
    if out is not None or overwrite_input:
        raise ValueError("jax.numpy.nanmedian does not support overwrite_input=True or out != None")
    a = _n.asarray(a)
    axes = tuple(range(a.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    axes = tuple(x % a.ndim for x in axes)
    kept = [x for x in range(a.ndim) if x not in axes]
    flat = _n.reshape(_n.transpose(a, kept + list(axes)), [a.shape[x] for x in kept] + [-1])
    ordered = _n.sort(flat, axis=-1)
    count = _n.sum(~_n.isnan(flat), axis=-1, keepdims=True)
    low, high = _n.clip((count - 1) // 2, 0), _n.clip(count // 2, 0, flat.shape[-1] - 1)
    value = (_n.take_along_axis(ordered, low, axis=-1) + _n.take_along_axis(ordered, high, axis=-1)) * 0.5
    value = _n.where(count == 0, _np.nan, value)[..., 0]
    return _n.expand_dims(value, axes) if keepdims else value


@_of
def piecewise(x, condlist, funclist, *args, **kw):
    """For each element the function whose condition holds; the last function is the default."""
    conditions = list(condlist) if isinstance(condlist, (list, tuple)) else [condlist]
    n = len(conditions)
    functions = list(funclist)
    if len(functions) == n:
        functions = functions + [0]
    elif len(functions) != n + 1:
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected; got {len(functions)}")
    x = _n.asarray(x)
    values = [_n.broadcast_to(_n.asarray(f(x, *args, **kw) if callable(f) else f).astype(x.dtype), x.shape) for f in functions]
    return _n.select([_n.broadcast_to(_n.asarray(c, dtype=bool), x.shape) for c in conditions], values[:-1], values[-1])


@_of
def put_along_axis(arr, indices, values, axis, inplace=True, *, mode=None):
    """The array with values at indices along an axis; a new one, so `inplace` must be false."""
    if inplace:
        raise ValueError(
            "jax.numpy.put_along_axis cannot modify arrays in-place, because JAX arrays are immutable. Pass inplace=False to "
            "instead return an updated array."
        )
    arr = _n.asarray(arr)
    shape = arr.shape
    if axis is None:
        arr, axis = _n.ravel(arr), 0
    axis %= arr.ndim
    places = [
        _n.reshape(_n.arange(size), [-1 if i == j else 1 for j in range(arr.ndim)]) for i, size in enumerate(arr.shape)
    ]
    places[axis] = indices
    return _n.reshape(arr.at[tuple(places)].set(values, mode=mode), shape)


@_of
def ravel_multi_index(multi_index, dims, mode="raise", order="C", *, dtype=None):
    """Positions in the flat array of coordinates."""
    dims = tuple(dims)
    index = [_n.asarray(i) for i in multi_index]
    if len(index) != len(dims):
        raise ValueError(f"len(multi_index)={len(index)} != len(dims)={len(dims)}")
    if mode == "raise":
        for i, size in zip(index, dims):
            if bool(_n.any((i < 0) | (i >= size))):
                raise ValueError("invalid entry in coordinates array")
    elif mode == "clip":
        index = [_n.clip(i, 0, size - 1) for i, size in zip(index, dims)]
    elif mode == "wrap":
        index = [i % size for i, size in zip(index, dims)]
    else:
        raise ValueError(f"invalid mode={mode!r}. Expected 'raise', 'wrap', or 'clip'")
    if order not in ("C", "F"):
        raise ValueError(f"invalid order={order!r}. Expected 'C' or 'F'")
    strides = _np.cumprod((1, *dims[:0:-1]))[::-1] if order == "C" else _np.cumprod((1, *dims[:-1]))
    total = 0
    for i, stride in zip(index, strides):
        total = total + i * int(stride)
    return _n.asarray(total, dtype=dtype)


@_of
def unravel_index(indices, shape):
    """Coordinates of positions in the flat array."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    flat = _n.asarray(indices)
    total = int(_np.prod(shape))
    flat = _n.clip(flat, -total, total - 1)
    flat = _n.where(flat < 0, flat + total, flat)
    out = []
    for size in reversed(shape):
        out.append(flat % size)
        flat = flat // size
    return tuple(reversed(out))


@_of
def resize(a, new_shape):
    """The elements, repeated as often as needed, in a new shape."""
    new_shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    if any(size < 0 for size in new_shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    flat = _n.ravel(a)
    size = int(_np.prod(new_shape))
    if flat.size == 0 or size == 0:
        return _n.zeros(new_shape, flat.dtype)
    return _n.reshape(_n.tile(flat, -(-size // flat.size))[:size], new_shape)


@_of
def rollaxis(a, axis, start=0):
    """An axis moved before another."""
    a = _n.asarray(a)
    axis = _axis(axis, a.ndim)
    start = _axis(start, a.ndim) if start < a.ndim else start
    return _n.moveaxis(a, axis, start - (axis < start))


def _axis(axis, ndim):
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


@_of
def sort_complex(a):
    """The elements in order as complex numbers."""
    out = _n.sort(a, axis=0)
    return out.astype(_n.result_type(out.dtype, complex))


@_of
def tril_indices(n, k=0, m=None):
    """Positions on and below a diagonal."""
    return tuple(_n.asarray(i) for i in _np.tril_indices(n, k, m))


@_of
def triu_indices(n, k=0, m=None):
    """Positions on and above a diagonal."""
    return tuple(_n.asarray(i) for i in _np.triu_indices(n, k, m))


def _check_matrix(arr):
    if len(_n.shape(arr)) != 2:
        raise ValueError("Only 2-D inputs are accepted")
    return _n.shape(arr)


@_of
def tril_indices_from(arr, k=0):
    """Positions on and below a diagonal of a matrix."""
    n, m = _check_matrix(arr)
    return tril_indices(n, k, m)


@_of
def triu_indices_from(arr, k=0):
    """Positions on and above a diagonal of a matrix."""
    n, m = _check_matrix(arr)
    return triu_indices(n, k, m)


@_of
def block(arrays):
    """Nested lists of arrays joined to one."""

    def depth(part):
        return 1 + max((depth(item) for item in part), default=0) if isinstance(part, list) else 0

    levels = depth(arrays)

    def rank(part):
        return max(map(rank, part)) if isinstance(part, list) else _n.ndim(part)

    ndim = max(levels, rank(arrays))

    def join(part, level):
        if not isinstance(part, list):
            x = _n.asarray(part)
            return _n.reshape(x, (1,) * (ndim - x.ndim) + x.shape)
        return _n.concatenate([join(item, level + 1) for item in part], axis=level - levels)

    return join(arrays, 0)


def _integers(name, *xs):
    if not all(issubdtype(_n.result_type(x), _np.integer) or _n.result_type(x) == bool for x in xs):
        raise ValueError(f"Arguments to jax.numpy.{name} must be integers.")
    dtype = _n.result_type(*xs)
    return [_n.abs(x) for x in _n.broadcast_arrays(*(_n.asarray(x, dtype) for x in xs))]


@_of
def gcd(x1, x2):
    """The greatest common divisor of integers."""
    from pullback import lax

    def step(pair):
        a, b = pair
        is_done = b == 0
        return _n.where(is_done, a, b), _n.where(is_done, 0, a % _n.where(is_done, 1, b))

    a, b = _integers("gcd", x1, x2)
    return lax.while_loop(lambda pair: _n.any(pair[1] != 0), step, (a, b))[0]


@_of
def lcm(x1, x2):
    """The least common multiple of integers."""
    a, b = _integers("lcm", x1, x2)
    d = gcd(a, b)
    return _n.where(d == 0, 0, a // _n.where(d == 0, 1, d) * b)


@_of
def insert(arr, obj, values, axis=None):
    """The array with values inserted before given positions."""
    arr = _n.asarray(arr)
    if axis is None:
        arr, axis = _n.ravel(arr), 0
    axis = _axis(axis, arr.ndim)
    size = arr.shape[axis]
    places = _np.arange(*obj.indices(size)) if isinstance(obj, slice) else _np.asarray(obj)
    values = _n.asarray(values, arr.dtype)
    if values.ndim < arr.ndim:
        values = _n.reshape(values, (1,) * (arr.ndim - values.ndim) + values.shape)
    if places.ndim == 0:
        values = _n.moveaxis(values, 0, axis) if values.ndim == arr.ndim and values.shape[0] == 1 and axis else values
        shape = list(arr.shape)
        shape[axis] = values.shape[axis]
        at = int(places) + (size if places < 0 else 0)
        values = _n.broadcast_to(values, shape)
        parts = [_n.take(arr, _np.arange(at), axis=axis), values, _n.take(arr, _np.arange(at, size), axis=axis)]
        return _n.concatenate(parts, axis=axis)
    places = _np.where(places < 0, places + size, places)
    order = _np.argsort(places, kind="stable")
    shape = list(arr.shape)
    shape[axis] = places.size
    values = _n.broadcast_to(values, shape)
    at = places[order] + _np.arange(places.size)
    is_old = _np.ones(size + places.size, bool)
    is_old[at] = False
    source = _np.empty(size + places.size, int)
    source[is_old] = _np.arange(size)
    source[at] = size + order
    return _n.take(_n.concatenate([arr, values], axis=axis), source, axis=axis)


@_of
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """Edges of evenly spaced bins."""
    if isinstance(bins, str):
        raise NotImplementedError("string values for `bins` not implemented.")
    a = _n.ravel(a)
    dtype = _n.result_type(a.dtype, float)
    if _n.ndim(bins) == 1:
        return _n.asarray(bins, dtype=dtype)
    low, high = (_n.min(a), _n.max(a)) if range is None else range
    low, high = _n.asarray(low, dtype), _n.asarray(high, dtype)
    is_flat = high == low
    return _n.linspace(_n.where(is_flat, low - 0.5, low), _n.where(is_flat, high + 0.5, high), bins + 1, dtype=dtype)


@_of
def histogram(a, bins=10, range=None, weights=None, density=None, out_sharding=None):
    """How many elements lie in each bin."""
    a = _n.ravel(a)
    weights = _n.ones_like(a) if weights is None else _n.ravel(weights)
    edges = histogram_bin_edges(a, bins, range, weights)
    place = _n.searchsorted(edges, a, side="right")
    place = _n.where(a == edges[-1], len(edges) - 1, place)
    counts = _n.zeros(len(edges), weights.dtype).at[place].add(weights)[1:]
    if density:
        counts = counts / _n.diff(edges) / _n.sum(counts)
    return counts, edges


@_of
def matvec(x1, x2, /):
    """Products of matrices and vectors."""
    return _n.matmul(x1, _n.expand_dims(x2, -1))[..., 0]


@_of
def vecmat(x1, x2, /):
    """Products of vectors, conjugated, and matrices."""
    return _n.matmul(_n.expand_dims(_n.conj(x1), -2), x2)[..., 0, :]


def _window(name, formula):
    def function(M):
        if M <= 1:
            return _n.ones(M)
        return formula(_n.arange(M, dtype=_n.result_type(float)), M)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The {name} window of M points."
    return _of(function)


blackman = _window("blackman", lambda k, M: 0.42 - 0.5 * _n.cos(2 * _np.pi * k / (M - 1)) + 0.08 * _n.cos(4 * _np.pi * k / (M - 1)))
bartlett = _window("bartlett", lambda k, M: 1 - _n.abs(2 * k + 1 - M) / (M - 1))
hamming = _window("hamming", lambda k, M: 0.54 - 0.46 * _n.cos(2 * _np.pi * k / (M - 1)))
hanning = _window("hanning", lambda k, M: 0.5 * (1 - _n.cos(2 * _np.pi * k / (M - 1))))
