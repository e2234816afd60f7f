"""Rotations of space, and interpolation between them.

A rotation is a unit quaternion `[x, y, z, w]`, or an array of them along the first axis; both are trees. Other forms are made
from it and lead to it.
"""

import functools as _functools
import math as _math
from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

import numpy as _np

from pullback import _core
from pullback._core import user_error as _user_error

__all__ = ["Rotation", "Slerp"]

_n = _core.numpy


def _floating(name, x):
    (x,) = _n._promote_inexact(name, _n.asarray(x))
    return x


def _vectors(name, x, size):
    """An array of so many numbers along the last axis."""
    x = _floating(name, x)
    if x.ndim == 0 or x.shape[-1] != size:
        raise _user_error(ValueError, f"{name}: expected an array of shape [{size}] or [n, {size}], got {x.shape}")
    return x


def _dot(x, y):
    return (x * y).sum(-1, keepdims=True)


def _unit(x):
    return x / _n.sqrt(_dot(x, x))


def _with_positive_last(quat):
    """The one of both quaternions of a rotation whose last element is not negative."""
    return _n.where(quat[..., 3:] < 0, -quat, quat)


def _composed(p, q):
    """Hamilton's product."""
    (v, s), (u, t) = ((x[..., :3], x[..., 3:]) for x in (p, q))
    from pullback.numpy import cross

    return _n.concatenate([s * u + t * v + cross(*_n.broadcast_arrays(v, u)), s * t - _dot(v, u)], -1)


# Squares below which power series are exact.
_SMALL = 1e-3


def _sine_share(square):
    """`sin(a / 2) / a` of the square of an angle, with a derivative at 0."""
    is_small = square < _SMALL
    angle = _n.sqrt(_n.where(is_small, 1, square))
    series = 0.5 - square / 48 * (1 - square / 80 * (1 - square / 168))
    return _n.where(is_small, series, _n.sin(0.5 * angle) / angle)


def _cosine(square):
    """`cos(a / 2)` of the square of an angle, with a derivative at 0."""
    is_small = square < _SMALL
    series = 1 - square / 8 * (1 - square / 48 * (1 - square / 120))
    return _n.where(is_small, series, _n.cos(0.5 * _n.sqrt(_n.where(is_small, 1, square))))


def _angle_share(square, w):
    """The angle over the sine of its half, of the square of that sine and the cosine."""
    is_small = square < _SMALL
    sine = _n.sqrt(_n.where(is_small, 1, square))
    series = 2 + square / 3 * (1 + square * 9 / 20 * (1 + square * 25 / 42 * (1 + square * 49 / 72)))
    return _n.where(is_small, series, 2 * _n.arctan2(sine, w) / sine)


def _axes(seq):
    """The indices of axes, and whether they turn with the rotation, which capitals say."""
    if not 0 < len(seq) <= 3:
        raise _user_error(ValueError, f"Expected axis specification to be a non-empty string of upto 3 characters, got {seq!r}")
    if not (set(seq) <= set("xyz") or set(seq) <= set("XYZ")):
        raise _user_error(ValueError, f"Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], got {seq}")
    if any(a == b for a, b in zip(seq, seq[1:])):
        raise _user_error(ValueError, f"Expected consecutive axes to be different, got {seq}")
    return ["xyz".index(a) for a in seq.lower()], seq.isupper()


def _about(axis, angle):
    """The quaternions of rotations about an axis of coordinates."""
    parts = [_n.zeros_like(angle)] * 3 + [_n.cos(0.5 * angle)]
    parts[axis] = _n.sin(0.5 * angle)
    return _n.stack(parts, -1)


def _wrapped(angle):
    return _n.where(angle > _math.pi, angle - 2 * _math.pi, _n.where(angle < -_math.pi, angle + 2 * _math.pi, angle))


# Angles between the first and the last axis that count as none, where only the sum of the outer angles is known.
_ALIGNED = 1e-7


class Rotation(_NamedTuple):
    """A rotation of space, or several.

    `r * s` is `s` followed by `r`, `len(r)` how many there are and `r[i]` some of them; one alone has neither.

    Args:
      quat: a unit quaternion `[4]`, the scalar last, or several, `[n, 4]`; `from_quat` makes it a unit.
    Differentiable: yes, to and from all forms, in both modes, but for angles where axes align.
    Example:
      >>> from pullback.scipy.spatial.transform import Rotation
      >>> turn = Rotation.from_euler("z", 90, degrees=True)
      >>> print(abs(turn.apply(jnp.array([1.0, 0.0, 0.0]))).round(3))
      [0. 1. 0.]
    """

    quat: _Any

    @classmethod
    def concatenate(cls, rotations):
        """All rotations of a sequence one after the other; always several, `[n, 4]`."""
        return cls(_n.concatenate([_n.atleast_2d(rotation.quat) for rotation in rotations]))

    @classmethod
    def from_euler(cls, seq, angles, degrees=False):
        """Rotations about axes one after the other.

        `seq` names up to three axes: small letters for fixed ones, capitals for those that turn along. `angles` is a number or
        `[len(seq)]`, for several rotations `[n, len(seq)]`. A ValueError says what does not fit.
        """
        axes, turn_along = _axes(seq)
        angles = _n.atleast_1d(_n._promote_inexact("from_euler", angles)[0])
        if angles.shape[-1] != len(axes):
            raise _user_error(ValueError, f"from_euler: {len(axes)} axes {seq!r} take as many angles along the last axis, got shape {angles.shape}")
        angles = _n.deg2rad(angles) if degrees else angles
        turns = [_about(axis, angles[..., i]) for i, axis in enumerate(axes)]
        quat = _functools.reduce(_composed, turns if turn_along else turns[::-1])
        return cls(_core.lax.convert_element_type(quat, quat.dtype))

    @classmethod
    def from_matrix(cls, matrix):
        """Rotations of orthogonal matrices `[3, 3]` or `[n, 3, 3]` with determinant 1.

        The quaternion is taken from its greatest element (S. Shepperd, "Quaternion from rotation matrix", 1978).
        """
        matrix = _floating("from_matrix", matrix)
        if matrix.ndim not in (2, 3) or matrix.shape[-2:] != (3, 3):
            raise _user_error(ValueError, f"from_matrix: expected an array of shape [3, 3] or [n, 3, 3], got {matrix.shape}")
        m = lambda i, j: matrix[..., i, j]
        trace = m(0, 0) + m(1, 1) + m(2, 2)
        candidates = []
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            parts = {i: 1 - trace + 2 * m(i, i), j: m(j, i) + m(i, j), k: m(k, i) + m(i, k), 3: m(k, j) - m(j, k)}
            candidates.append(_n.stack([parts[axis] for axis in range(4)], -1))
        candidates.append(_n.stack([m(2, 1) - m(1, 2), m(0, 2) - m(2, 0), m(1, 0) - m(0, 1), 1 + trace], -1))
        greatest = _n.argmax(_n.stack([m(0, 0), m(1, 1), m(2, 2), trace], -1), -1)
        quat = _n.take_along_axis(_n.stack(candidates, -2), greatest[..., None, None], -2)[..., 0, :]
        return cls(_unit(quat))

    @classmethod
    def from_mrp(cls, mrp):
        """Rotations of modified Rodrigues parameters `[3]` or `[n, 3]`: the axis times the tangent of a quarter of the angle."""
        mrp = _vectors("from_mrp", mrp, 3)
        square = _dot(mrp, mrp)
        return cls(_n.concatenate([2 * mrp, 1 - square], -1) / (1 + square))

    @classmethod
    def from_quat(cls, quat):
        """Rotations of quaternions `[4]` or `[n, 4]` of any length but 0, the scalar last."""
        return cls(_unit(_vectors("from_quat", quat, 4)))

    @classmethod
    def from_rotvec(cls, rotvec, degrees=False):
        """Rotations of axes times angles, `[3]` or `[n, 3]`; it has a derivative at 0."""
        rotvec = _vectors("from_rotvec", rotvec, 3)
        rotvec = _n.deg2rad(rotvec) if degrees else rotvec
        square = _dot(rotvec, rotvec)
        return cls(_n.concatenate([rotvec * _sine_share(square), _cosine(square)], -1))

    @classmethod
    def identity(cls, num=None, dtype=float):
        """The rotation that changes nothing, or `num` of them."""
        quat = _n.asarray([0, 0, 0, 1], _core.as_dtype(dtype))
        return cls(quat if num is None else _n.tile(quat, (num, 1)))

    @classmethod
    def random(cls, random_key, num=None):
        """A rotation drawn uniformly with a key, or `num` of them (G. Marsaglia, 1972)."""
        from pullback import random

        return cls(_unit(random.normal(random_key, (4,) if num is None else (num, 4))))

    def __getitem__(self, indexer):
        if self.single:
            raise _user_error(TypeError, "Single rotation is not subscriptable.")
        return Rotation(self.quat[indexer])

    def __len__(self):
        if self.single:
            raise _user_error(TypeError, "Single rotation has no len().")
        return self.quat.shape[0]

    def __mul__(self, other):
        return Rotation(_composed(self.quat, other.quat))

    def apply(self, vectors, inverse=False):
        """Vectors `[3]` or `[n, 3]` turned, or turned back; one vector or rotation goes with several of the other."""
        vectors = _vectors("apply", vectors, 3)
        matrix = self.as_matrix()
        _n.broadcast_shapes(matrix.shape[:-2], vectors.shape[:-1])
        return ((_n.swapaxes(matrix, -1, -2) if inverse else matrix) * vectors[..., None, :]).sum(-1)

    def as_euler(self, seq, degrees=False):
        """The angles about three axes, `[3]` or `[n, 3]`, as `from_euler` takes them.

        After E. Bernardes and S. Viollet, "Quaternion to Euler angles conversion" (2022). The middle one is from 0 to π where
        the outer axes are the same, else from -π/2 to π/2. Where axes align the last angle is 0.
        """
        if len(seq) != 3:
            raise _user_error(ValueError, f"Expected 3 axes, got {seq}.")
        axes, turn_along = _axes(seq)
        angles = _n.stack(_euler_angles(self.quat, axes if not turn_along else axes[::-1], turn_along), -1)
        return _n.rad2deg(angles) if degrees else angles

    def as_matrix(self):
        """The matrices `[3, 3]` or `[n, 3, 3]`."""
        x, y, z, w = (self.quat[..., i] for i in range(4))
        rows = [
            [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), y * y - x * x - z * z + w * w, 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), z * z - x * x - y * y + w * w],
        ]
        return _n.stack([_n.stack(row, -1) for row in rows], -2)

    def as_mrp(self):
        """The modified Rodrigues parameters `[3]` or `[n, 3]`, of length at most 1."""
        quat = _with_positive_last(self.quat)
        return quat[..., :3] / (1 + quat[..., 3:])

    def as_rotvec(self, degrees=False):
        """The axes times angles up to π, `[3]` or `[n, 3]`."""
        quat = _with_positive_last(self.quat)
        vector = quat[..., :3]
        rotvec = vector * _angle_share(_dot(vector, vector), quat[..., 3:])
        return _n.rad2deg(rotvec) if degrees else rotvec

    def as_quat(self, canonical=False, scalar_first=False):
        """The quaternions `[4]` or `[n, 4]`; canonical ones have no negative scalar, which is the last or the first element."""
        quat = _canonical(self.quat) if canonical else self.quat
        return _n.roll(quat, 1, axis=-1) if scalar_first else quat

    def inv(self):
        """The rotations back."""
        return Rotation(self.quat * _n.asarray(_np.array([-1, -1, -1, 1]), self.quat.dtype))

    def magnitude(self):
        """The angles, from 0 to π: a number or `[n]`."""
        vector = self.quat[..., :3]
        return 2 * _n.arctan2(_n.sqrt((vector * vector).sum(-1)), _n.abs(self.quat[..., 3]))

    def mean(self, weights=None):
        """The rotation nearest to all, with weights `[n]`: that of the greatest eigenvector of the sum of `q qᵀ`.

        F. Markley et al., "Averaging quaternions" (2007).
        """
        from pullback.numpy import linalg

        count = len(self)
        weights = _n.ones(count, self.quat.dtype) if weights is None else _floating("mean", weights)
        if weights.shape != (count,):
            raise _user_error(ValueError, f"Expected `weights` to have number of values equal to number of rotations, got shape {weights.shape} "
                              f"and {count} rotations.")
        products = (weights[:, None] * self.quat).T @ self.quat
        return Rotation.from_quat(linalg.eigh(products)[1][:, -1])

    @property
    def single(self):
        """Whether it is one rotation alone."""
        return self.quat.ndim == 1


def _canonical(quat):
    """The quaternions whose last element that is not zero is positive, counted from the scalar to the first."""
    x, y, z, w = (quat[..., i : i + 1] for i in range(4))
    is_negative = (w < 0) | (w == 0) & ((x < 0) | (x == 0) & ((y < 0) | (y == 0) & (z < 0)))
    return _n.where(is_negative, -quat, quat)


def _euler_angles(quat, axes, turn_along):
    i, j, k = axes
    is_symmetric = i == k
    k = 3 - i - j if is_symmetric else k
    sign = (i - j) * (j - k) * (k - i) // 2
    x, y, z, w = quat[..., i], quat[..., j], sign * quat[..., k], quat[..., 3]
    a, b, c, d = (w, x, y, z) if is_symmetric else (w - y, x + z, y + w, z - x)
    middle = 2 * _n.arctan2(_n.hypot(c, d), _n.hypot(a, b))
    half_sum, half_difference = _n.arctan2(b, a), _n.arctan2(d, c)
    is_none, is_opposite = middle <= _ALIGNED, middle >= _math.pi - _ALIGNED
    first, last = half_sum - half_difference, (half_sum + half_difference) * (1 if is_symmetric else sign)
    first, last = (last, first) if turn_along else (first, last)
    alone = _n.where(is_none, 2 * half_sum, (2 if turn_along else -2) * half_difference)
    if turn_along and not is_symmetric:
        alone = alone * sign
    is_aligned = is_none | is_opposite
    first, last = _n.where(is_aligned, alone, first), _n.where(is_aligned, 0, last)
    return _wrapped(first), middle if is_symmetric else middle - 0.5 * _math.pi, _wrapped(last)


class Slerp(_NamedTuple):
    """Rotations at times between those of given ones, each turning evenly to the next: a call takes times, `[]` or `[m]`.

    K. Shoemake, "Animating rotation with quaternion curves" (1985). Before the first and behind the last time it turns on.

    Args:
      times: the times; `init` makes all four from times and rotations.
      timedelta: what lies between them.
      rotations: all rotations but the last.
      rotvecs: from each to the next, as axes times angles.
    Differentiable: yes, with respect to times and rotations, in both modes.
    Example:
      >>> from pullback.scipy.spatial.transform import Rotation, Slerp
      >>> ends = Rotation.from_euler("z", jnp.array([[0.0], [90.0]]), degrees=True)
      >>> print(Slerp.init(jnp.array([0.0, 1.0]), ends)(0.5).magnitude().round(4))
      0.7854
    """

    times: _Any
    timedelta: _Any
    rotations: Rotation
    rotvecs: _Any

    @classmethod
    def init(cls, times, rotations):
        """The interpolation of `[n]` times, in order, and as many rotations, at least two."""
        if rotations.single or len(rotations) == 1:
            raise _user_error(ValueError, "`rotations` must be a sequence of at least 2 rotations.")
        times = _n.asarray(times, dtype=rotations.quat.dtype)
        if times.ndim != 1:
            raise _user_error(ValueError, f"Expected times to be specified in a 1 dimensional array, got {times.ndim} dimensions.")
        if times.shape[0] != len(rotations):
            raise _user_error(ValueError, "Expected number of rotations to be equal to number of timestamps given, got "
                              f"{len(rotations)} rotations and {times.shape[0]} timestamps.")
        starts = rotations[:-1]
        return cls(times, times[1:] - times[:-1], starts, (starts.inv() * rotations[1:]).as_rotvec())

    def __call__(self, times):
        """The rotations at times: one at a number, several at a vector."""
        times = _n.asarray(times, dtype=self.times.dtype)
        if times.ndim > 1:
            raise _user_error(ValueError, f"`times` must be at most 1-dimensional, got shape {times.shape}.")
        place = _n.clip(_n.searchsorted(self.times, times, side="left") - 1, 0, self.timedelta.shape[0] - 1)
        share = (times - self.times[place]) / self.timedelta[place]
        return self.rotations[place] * Rotation.from_rotvec(self.rotvecs[place] * share[..., None])


for _class in (Rotation, Slerp):
    _class.__module__ = "pullback.scipy.spatial.transform"
