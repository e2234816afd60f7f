"""Functions with SciPy's names."""

from pullback.scipy import fft as fft, linalg as linalg
