"""Clusters of points, with SciPy's names."""

from pullback.scipy.cluster import vq as vq
