"""Linear algebra with NumPy's names: the last two axes are matrices, those before are batches.

Integers become floats. What has no solution gives NaN or infinities, never an exception.
"""

from typing import NamedTuple as _NamedTuple

from pullback import _core


class EighResult(_NamedTuple):
    """Ascending eigenvalues, and eigenvectors as columns."""

    eigenvalues: _core.Array
    eigenvectors: _core.Array


class EigResult(_NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: _core.Array
    eigenvectors: _core.Array


class QRResult(_NamedTuple):
    """Orthonormal columns and an upper triangle."""

    Q: _core.Array
    R: _core.Array


class SlogdetResult(_NamedTuple):
    """Sign and logarithm of the absolute value of a determinant."""

    sign: _core.Array
    logabsdet: _core.Array


class SVDResult(_NamedTuple):
    """Singular vectors, descending singular values, adjoint singular vectors."""

    U: _core.Array
    S: _core.Array
    Vh: _core.Array


_functions = {name: function for name, function in vars(_core.numpy.linalg).items() if not name.startswith("_")}
globals().update(_functions)

__all__ = sorted(_functions)


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "EigResult", "EighResult", "QRResult", "SVDResult", "SlogdetResult",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
