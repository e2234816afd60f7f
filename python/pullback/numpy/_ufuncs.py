"""Universal functions: `ufunc`, its methods, and the functions of `pullback.numpy` that are such.

Owns reductions, running reductions and updates by a function of two scalars. Calls do not pass here: they go from the base
class, which is native, to the function.
"""

import inspect as _inspect
import operator as _operator

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback.numpy._vectorize import _axis
from pullback.numpy._vectorize import vectorize as _vectorize

_n = _core.numpy

__all__ = ["frompyfunc", "ufunc"]

_IMMUTABLE = (
    "Because JAX arrays are immutable, jnp.ufunc.at() cannot operate inplace like\nnp.ufunc.at(). Instead, you can pass "
    "inplace=False and capture the result; e.g.\n>>> arr = jnp.add.at(arr, ind, val, inplace=False)\n"
)


_CALL_SIGNATURE = _inspect.Signature([
    _inspect.Parameter("args", _inspect.Parameter.VAR_POSITIONAL),
    _inspect.Parameter("out", _inspect.Parameter.KEYWORD_ONLY, default=None),
    _inspect.Parameter("where", _inspect.Parameter.KEYWORD_ONLY, default=None),
])


class ufunc(_core.UfuncBase):
    """A function of scalars as one of arrays, which broadcast, with the methods of NumPy's universal functions.

    Made by :func:`frompyfunc`; `jnp.add` and its kin are such.

    Args:
      func: the function of `nin` scalars.
      nin: number of arguments.
      nout: number of results.
      name: its name; that of `func` by default.
      nargs: number of arguments and results.
      identity: the value that changes nothing on the left, or None.
      call, reduce, accumulate, at, reduceat: replacements of the general methods, faster ones.

    >>> import pullback.numpy as jnp
    >>> print(jnp.add.reduce(jnp.array([[1, 2], [3, 4]])))
    [4 6]
    """

    def __new__(
        cls, func, /, nin, nout, *, name=None, nargs=None, identity=None, call=None, reduce=None, accumulate=None, at=None,
        reduceat=None,
    ):
        made = super().__new__(cls, call or _vectorize(func), name or func.__name__)
        made.__name__ = name or func.__name__
        made.__doc__ = func.__doc__
        made.__signature__ = _CALL_SIGNATURE
        made._func, made._nin, made._nout, made._identity = func, _operator.index(nin), _operator.index(nout), identity
        made._nargs = _operator.index(made._nin if nargs is None else nargs)
        made._fast = {"reduce": reduce, "accumulate": accumulate, "at": at, "reduceat": reduceat}
        made._call = call
        return made

    nin = property(lambda self: self._nin, doc="Number of arguments.")
    nout = property(lambda self: self._nout, doc="Number of results.")
    nargs = property(lambda self: self._nargs, doc="Number of arguments that take part.")
    identity = property(lambda self: self._identity, doc="The value that changes nothing, or None.")

    def __repr__(self):
        return f"<jnp.ufunc '{self.__name__}'>"

    def _key(self):
        return self._func, self.__name__, self._nin, self._nout, self._identity, self._call

    def __eq__(self, other):
        return isinstance(other, ufunc) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        return self.__name__

    def _check(self, method, out):
        if self.nin != 2:
            raise _user_error(ValueError, f"{method} only supported for binary ufuncs")
        if self.nout != 1:
            raise _user_error(ValueError, f"{method} only supported for functions returning a single value")
        if out is not None:
            raise _user_error(NotImplementedError, f"out argument of {self.__name__}.{method}()")

    def reduce(self, a, axis=0, dtype=None, out=None, keepdims=False, initial=None, where=None):
        """The function applied from left to right along an axis.

        Args:
          a: an array.
          axis: an axis; None for all elements in row-major order.
          dtype: the dtype of the computation.
          out: must be None.
          keepdims: keep the axis with size 1.
          initial: a value to start from.
          where: a mask of the elements that take part; the function needs an identity or `initial`.
        Raises:
          ValueError: the function is not of two arguments and one result, has no identity where one is needed, or the axis
            is out of bounds.
        Differentiable as the function is.
        """
        self._check("reduce", out)
        if self._identity is None and where is not None and initial is None:
            raise _user_error(
                ValueError,
                f"reduction operation {self.__name__!r} does not have an identity, so to use a where mask one has to specify "
                "'initial'."
            )
        if where is not None and _n.result_type(where) != bool:
            raise _user_error(ValueError, f"where argument must have dtype=bool; got dtype={_n.result_type(where)}")
        fast = self._fast["reduce"] or self._reduce_by_scan
        return fast(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def _reduce_by_scan(self, a, axis=0, dtype=None, keepdims=False, initial=None, where=None):
        a = _n.asarray(a, dtype)
        rank = a.ndim
        mask = None if where is None else _n.broadcast_to(where, a.shape)
        a, mask, axis = _in_front(a, mask, axis)
        start = self._identity if initial is None else initial
        if start is None:
            if a.shape[0] == 0:
                raise _user_error(ValueError, f"zero-size array to reduction operation {self.__name__} which has no identity")
            start, a, mask = a[0], a[1:], None if mask is None else mask[1:]
        dtype = self._result_dtype(a)
        # The identity -1 stands for all bits, of unsigned numbers too.
        start = _np.array(start).astype(dtype) if initial is None and isinstance(start, int) else start
        carry = _n.broadcast_to(_n.asarray(start, dtype), a.shape[1:])

        def step(carry, given):
            x, keeps = given
            new = self(carry, x).astype(carry.dtype)
            return (new if keeps is None else _n.where(keeps, new, carry)), None

        out = lax.scan(step, carry, (a, mask))[0]
        if not keepdims:
            return out
        return _n.reshape(out, (1,) * rank) if axis is None else _n.expand_dims(out, axis)

    def _result_dtype(self, a):
        from pullback import eval_shape

        one = lax.full((), 0, a.dtype)
        return eval_shape(self._func, one, one).dtype

    def accumulate(self, a, axis=0, dtype=None, out=None):
        """The results of all steps of :meth:`reduce` along an axis.

        Args:
          a: an array.
          axis: an axis.
          dtype: the dtype of the computation.
          out: must be None.
        Raises:
          ValueError: the function is not of two arguments and one result, or the axis is None or out of bounds.
        """
        self._check("accumulate", out)
        if axis is None or isinstance(axis, (tuple, list)):
            raise _user_error(ValueError, "accumulate does not allow multiple axes")
        fast = self._fast["accumulate"] or self._accumulate_by_scan
        return fast(a, axis=axis, dtype=dtype)

    def _accumulate_by_scan(self, a, axis=0, dtype=None):
        a = _n.asarray(a, dtype)
        a, _, axis = _in_front(a, None, axis)
        dtype = self._result_dtype(a)
        if a.shape[0] == 0:
            return _n.moveaxis(a.astype(dtype), 0, axis)
        first = a[0].astype(dtype)

        def step(carry, x):
            new = self(carry, x).astype(dtype)
            return new, new

        rest = lax.scan(step, first, a[1:])[1]
        return _n.moveaxis(_n.concatenate([first[None], rest]), 0, axis)

    def at(self, a, indices, b=None, /, *, inplace=True):
        """The array with the function applied at indices; a new one, so `inplace` must be false.

        Args:
          a: an array.
          indices: which elements; those that occur several times are updated several times.
          b: the second arguments of a function of two.
          inplace: must be False.
        Raises:
          NotImplementedError: `inplace` is true.
          ValueError: `b` is missing or too many.
        """
        if inplace:
            raise _user_error(NotImplementedError, _IMMUTABLE)
        fast = self._fast["at"]
        return fast(a, indices, b) if fast and b is not None else self._at_by_scan(a, indices, b)

    def _at_by_scan(self, a, indices, b):
        a = _n.asarray(a)
        places = _n.arange(a.size).reshape(a.shape)[indices]
        flat_places = places.ravel()
        others = () if b is None else (_n.broadcast_to(_n.asarray(b), places.shape).ravel(),)

        def step(carry, given):
            place, *rest = given
            return carry.at[place].set(self(carry.at[place].get(), *rest).astype(carry.dtype)), None

        return lax.scan(step, a.ravel(), (flat_places, *others))[0].reshape(a.shape)

    def reduceat(self, a, indices, axis=0, dtype=None, out=None):
        """Reductions of slices along an axis: from each index to the next, or of one element where the next is not greater.

        Args:
          a: an array.
          indices: a vector of positions.
          axis: an axis.
          dtype: the dtype of the computation.
          out: must be None.
        Raises:
          ValueError: the function is not of two arguments and one result, the indices are no vector, or the axis is None or
            out of bounds.
        """
        self._check("reduceat", out)
        indices = _n.asarray(indices)
        if indices.ndim != 1:
            raise _user_error(ValueError, f"reduceat: indices must be one-dimensional, got shape {indices.shape}")
        if axis is None or isinstance(axis, (tuple, list)):
            raise _user_error(ValueError, "reduceat requires a single integer axis.")
        a, _, axis = _in_front(_n.asarray(a, dtype), None, axis)
        size, dtype = a.shape[0], self._result_dtype(a)
        ends = _n.append(indices[1:], size)
        ends = _n.where(ends > indices, ends, indices + 1)
        column = (-1,) + (1,) * (a.ndim - 1)
        first = _n.reshape(indices, column)
        last = _n.reshape(ends, column)

        def step(carry, given):
            i, x = given
            new = self(carry, x).astype(dtype)
            return _n.where(first == i, x, _n.where((first < i) & (i < last), new, carry)), None

        start = _n.zeros((indices.shape[0], *a.shape[1:]), dtype)
        return _n.moveaxis(lax.scan(step, start, (_n.arange(size), a))[0], 0, axis)

    def outer(self, A, B, /):
        """The function of all pairs of elements: the shape is that of `A`, then that of `B`.

        Raises:
          ValueError: the function is not of two arguments.
        """
        if self.nin != 2:
            raise _user_error(ValueError, "outer only supported for binary ufuncs")
        A, B = _n.asarray(A), _n.asarray(B)
        return self(_n.reshape(A, A.shape + (1,) * B.ndim), B)


def _in_front(a, mask, axis):
    """The array and mask with the axis in front; all elements as one axis for None."""
    if axis is None:
        return _n.ravel(a), None if mask is None else _n.ravel(mask), None
    if isinstance(axis, (tuple, list)):
        raise _user_error(ValueError, "reduction over multiple axes is not supported for functions without a reduction of their own")
    axis = _operator.index(axis)
    if not -a.ndim <= axis < a.ndim:
        raise _user_error(ValueError, f"axis {axis} is out of bounds for array of dimension {a.ndim}")
    return _n.moveaxis(a, axis, 0), None if mask is None else _n.moveaxis(mask, axis, 0), axis


def frompyfunc(func, /, nin, nout, *, identity=None):
    """A universal function of a function of scalars, with the methods `reduce`, `accumulate`, `at`, `outer` and
    `reduceat`.

    Args:
      func: a function of `nin` scalars with `nout` results that JAX can trace.
      nin: the number of arguments.
      nout: the number of results.
      identity: the value that changes nothing, where `reduce` needs one; None for none.
    Returns: a `jnp.ufunc`.
    Raises:
      TypeError: a number that is no integer.
    Differentiable: the result as `func` is.
    Example:
      >>> larger = jnp.frompyfunc(lambda a, b: jnp.where(a > b, a, b), 2, 1)
      >>> print(larger(jnp.array([1, 5]), 3), larger.reduce(jnp.array([3, 7, 5])))
      [3 5] 7
    """
    return ufunc(func, nin, nout, identity=identity)


def _accumulated(running):
    def accumulate(a, axis=0, dtype=None):
        a = _n.asarray(a, dtype)
        return running(a, axis=_axis(axis, a.ndim))

    return accumulate


def _logical(reduction):
    def reduce(a, axis=0, dtype=None, keepdims=False, initial=None, where=None):
        out = reduction(a, axis=axis, keepdims=keepdims, where=where)
        if initial is not None:
            out = (_n.logical_and if reduction is _n.all else _n.logical_or)(initial, out)
        return out if dtype is None else out.astype(dtype)

    return reduce


def _without_dtype(reduction):
    def reduce(a, axis=0, dtype=None, keepdims=False, initial=None, where=None):
        return reduction(_n.asarray(a, dtype), axis=axis, keepdims=keepdims, initial=initial, where=where)

    return reduce


def _updating(method):
    def at(a, indices, b):
        a = _n.asarray(a)
        # Sums of booleans say whether any holds, products whether all do.
        chosen = {"add": "max", "mul": "min"}.get(method, method) if a.dtype == bool else method
        return getattr(a.at[indices], chosen)(b)

    return at


_MINUS_INF = -float("inf")
# Identity, and the faster methods.
_NATIVE = {
    "add": (0, dict(reduce=_n.sum, accumulate=_n.cumsum, at=_updating("add"))),
    "multiply": (1, dict(reduce=_n.prod, accumulate=_n.cumprod, at=_updating("mul"))),
    "maximum": (None, dict(reduce=_without_dtype(_n.max), accumulate=_accumulated(lax.cummax), at=_updating("max"))),
    "minimum": (None, dict(reduce=_without_dtype(_n.min), accumulate=_accumulated(lax.cummin), at=_updating("min"))),
    "subtract": (None, dict(at=_updating("subtract"))),
    "bitwise_and": (-1, {}),
    "bitwise_or": (0, {}),
    "bitwise_xor": (0, {}),
    "logical_and": (True, dict(reduce=_logical(_n.all))),
    "logical_or": (False, dict(reduce=_logical(_n.any))),
    "logical_xor": (False, {}),
    "logaddexp": (_MINUS_INF, {}),
    "logaddexp2": (_MINUS_INF, {}),
    "negative": (None, {}),
}


def _native(name):
    identity, fast = _NATIVE[name]
    function = getattr(_n, name)
    nin = 1 if name == "negative" else 2
    return ufunc(function, nin, 1, name=name, identity=identity, call=function, **fast)


for _name in _NATIVE:
    globals()[_name] = _native(_name)
__all__ += list(_NATIVE)
for _public in (ufunc, frompyfunc):
    _public.__module__ = "pullback.numpy"
