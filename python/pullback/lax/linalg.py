"""Factorizations and solutions of matrices, the last two axes of arrays; those before are batches.

What has no factors gives NaN. Each function but those that symmetrize is one primitive.
"""

import enum

from pullback import _core

class EigImplementation(enum.Enum):
    """Which library finds eigenvalues; there is one."""

    CUSOLVER = 0
    MAGMA = 1
    LAPACK = 2


class EighImplementation(enum.Enum):
    """Which algorithm finds eigenvalues of Hermitian matrices; there is one."""

    QR = 0
    JACOBI = 1
    QDWH = 2
    DC = 3


class SvdAlgorithm(enum.Enum):
    """Which algorithm finds singular values; there is one."""

    DEFAULT = 0
    QR = 1
    JACOBI = 2
    POLAR = 3


_functions = {name: function for name, function in vars(_core.lax.linalg).items() if not name.startswith("_")}
globals().update(_functions)


def __getattr__(name):
    if name.endswith("_p"):
        try:
            return _core.find_primitive(name[:-2])
        except ValueError:
            pass
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = sorted({*_functions, "EigImplementation", "EighImplementation", "SvdAlgorithm"})
