"""What sparse arrays have in common."""

import abc as _abc
import math as _math
import typing as _typing

from pullback._core import user_error as _user_error


class SparseEfficiencyWarning(UserWarning):
    """A sparse operation stores or computes more than it needs to."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """As `SparseEfficiencyWarning`, of a library for accelerators."""


class SparseEfficiencyError(ValueError):
    """A sparse operation would store more than a dense one."""


class SparseInfo(_typing.NamedTuple):
    """What a sparse array is besides its buffers."""

    shape: tuple
    indices_sorted: bool = False
    unique_indices: bool = False


class COOInfo(_typing.NamedTuple):
    """As `SparseInfo`, for rows and columns."""

    shape: tuple
    rows_sorted: bool = False
    cols_sorted: bool = False


def _by_sparsify(name, *, reflected=False):
    def method(self, other):
        from pullback import numpy as jnp
        from pullback.experimental.sparse.transform import sparsify

        args = (other, self) if reflected else (self, other)
        return sparsify(getattr(jnp, name))(*args)

    return method


class JAXSparse(_abc.ABC):
    """The base of sparse arrays.

    Attributes:
      shape: the sizes of the axes.
      data: the stored elements; `dtype` is theirs.
      nse: how many elements are stored, for each element of a batch.
    """

    # NumPy leaves operations with these to them.
    __array_priority__ = 100
    __hash__ = None

    def __init__(self, args, *, shape):
        self.shape = tuple(map(int, shape))

    def __len__(self):
        return self.shape[0]

    @property
    def size(self):
        """The number of elements, stored or not."""
        return _math.prod(self.shape)

    @property
    def ndim(self):
        """The number of axes."""
        return len(self.shape)

    @property
    def dtype(self):
        """The element type."""
        return self.data.dtype

    @property
    def T(self):
        """The transposed array."""
        return self.transpose()

    @property
    @_abc.abstractmethod
    def nse(self):
        """How many elements are stored."""

    @_abc.abstractmethod
    def tree_flatten(self):
        """The buffers, and what else tells the array."""

    @classmethod
    def tree_unflatten(cls, info, buffers):
        """The array of buffers."""
        made = object.__new__(cls)
        made._fill(buffers, dict(info))
        return made

    @_abc.abstractmethod
    def todense(self):
        """The array with all its elements."""

    @_abc.abstractmethod
    def transpose(self, axes=None):
        """The array with its axes in another order."""

    def block_until_ready(self):
        """Waits until the buffers are computed, and gives the array."""
        for buffer in self.tree_flatten()[0]:
            buffer.block_until_ready()
        return self

    def sum(self, *args, **kwargs):
        """The sum over axes, as `jnp.sum`."""
        from pullback import numpy as jnp
        from pullback.experimental.sparse.transform import sparsify

        return sparsify(lambda x: jnp.sum(x, *args, **kwargs))(self)

    def __repr__(self):
        try:
            return f"{type(self).__name__}({self.dtype}[{', '.join(map(str, self.shape))}], nse={self.nse}{self._more()})"
        except Exception:
            return f"{type(self).__name__}(<invalid>)"

    def _more(self):
        return ""

    def _refused(self, what):
        return _user_error(NotImplementedError, f"{type(self).__name__}.{what}")

    def __neg__(self):
        raise self._refused("__neg__")

    def __pos__(self):
        raise self._refused("__pos__")

    def __matmul__(self, other):
        raise self._refused("__matmul__")

    def __rmatmul__(self, other):
        raise self._refused("__rmatmul__")

    def __mul__(self, other):
        raise self._refused("__mul__")

    def __rmul__(self, other):
        raise self._refused("__rmul__")

    def __add__(self, other):
        raise self._refused("__add__")

    def __radd__(self, other):
        raise self._refused("__radd__")

    def __sub__(self, other):
        raise self._refused("__sub__")

    def __rsub__(self, other):
        raise self._refused("__rsub__")

    def __getitem__(self, item):
        raise self._refused("__getitem__")
