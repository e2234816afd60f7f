"""Geometry: rotations."""

from pullback.scipy.spatial import transform as transform
