"""Functions of one variable given by points: interpolation, and phases made continuous."""

from ml_dtypes import finfo as _finfo

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["interp", "unwrap"]


def _side(name, given):
    if isinstance(given, str):
        if given != "extrapolate":
            raise _user_error(ValueError, f"the only valid string value of `{name}` is 'extrapolate', but got: {given!r}")
        return None
    return given


def interp(x, xp, fp, left=None, right=None, period=None):
    """The piecewise linear function through points.

    Args:
      x: where to evaluate: a real array or number.
      xp: the abscissas of the points, a vector `[n]`, ascending unless `period` is given.
      fp: the ordinates `[n]`, real or complex.
      left, right: the values outside of the points; those of the first and last point by default; 'extrapolate'
        goes on along the line of the two nearest points.
      period: the period of the function; abscissas are taken modulo it, and `left` and `right` have no influence.
    Returns: an array of the shape of `x` and a floating or complex dtype.
    Raises:
      ValueError: points that are no vectors of one length, complex `x`, a period of 0 or with axes, or another
        text.
    Differentiable: almost everywhere, with respect to `x`, `xp` and `fp`.
    Example:
      >>> print(jnp.interp(jnp.array([0.5, 9.0]), jnp.array([0.0, 1.0]), jnp.array([2.0, 4.0])))
      [3. 4.]
    """
    if _n.iscomplexobj(x):
        raise _user_error(ValueError, "jnp.interp: complex x values not supported.")
    if not (isinstance(left, str) or isinstance(right, str) or period is not None or _n.iscomplexobj(fp)):
        return _n.interp(x, xp, fp, left, right)
    goes_left, goes_right = isinstance(left, str), isinstance(right, str)
    left, right = _side("left", left), _side("right", right)
    if _n.shape(xp) != _n.shape(fp) or _n.ndim(xp) != 1:
        raise _user_error(ValueError, "xp and fp must be one-dimensional arrays of equal size")
    x, xp = _n._promote_inexact("interp", x, xp)
    (fp,) = _n._promote_inexact("interp", fp)
    if period is not None:
        if _n.ndim(period) != 0:
            raise _user_error(ValueError, f"period must be a scalar; got {period}")
        if _core.is_concrete(period) and float(period) == 0:
            raise _user_error(ValueError, f"period must be a non-zero value; got {period}")
        period = _n.abs(period)
        x, xp = x % period, xp % period
        order = _n.argsort(xp)
        xp, fp = xp[order], fp[order]
        # One more point of the periods before and behind closes the circle.
        xp = _n.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = _n.concatenate([fp[-1:], fp, fp[:1]])
    i = _n.clip(_n.searchsorted(xp, x, side="right"), 1, len(xp) - 1)
    df, dx, delta = fp[i] - fp[i - 1], xp[i] - xp[i - 1], x - xp[i - 1]
    is_flat = _n.abs(dx) <= float(_finfo(xp.dtype).eps)
    f = _n.where(is_flat, fp[i - 1], fp[i - 1] + (delta / _n.where(is_flat, 1, dx)) * df)
    if not goes_left and period is None:
        f = _n.where(x < xp[0], fp[0] if left is None else left, f)
    if not goes_right and period is None:
        f = _n.where(x > xp[-1], fp[-1] if right is None else right, f)
    return f


def unwrap(p, discont=None, axis=-1, period=6.283185307179586):
    """Phases with jumps of more than half a period replaced by their complement, by adding multiples of the period.

    Args:
      p: an array of real numbers of at least one axis.
      discont: the least jump that is replaced; half a period by default and at least.
      axis: the axis; the last by default.
      period: the period, 2 pi by default.
    Returns: an array of the shape of `p` and a floating dtype; integers stay integers if the period is one.
    Raises:
      ValueError: `p` is complex.
      IndexError: the axis is out of bounds.
    Differentiable: almost everywhere; with derivative 1.
    Example:
      >>> print(jnp.unwrap(jnp.array([0.0, 3.0, 6.0, 1.0]), period=6))
      [0. 3. 6. 7.]
    """
    p = _n.asarray(p)
    if p.dtype.kind == "c":
        raise _user_error(ValueError, "jnp.unwrap does not support complex inputs.")
    if p.dtype.kind not in "iu" or not isinstance(period, int):
        (p,) = _n._promote_inexact("unwrap", p)
    if p.shape[axis] == 0:
        return p
    if p.dtype.kind in "iu":
        interval, rest = period // 2, period % 2
    else:
        interval, rest = period / 2, 1
    jump = _n.diff(p, axis=axis)
    wrapped = (jump + interval) % period - interval
    if rest == 0 or p.dtype.kind not in "iu":
        wrapped = _n.where((wrapped == -interval) & (jump > 0), interval, wrapped)
    correction = wrapped - jump
    correction = _n.where(_n.abs(jump) < (interval if discont is None else discont), 0, correction)
    head = [slice(None)] * p.ndim
    head[axis] = slice(0, 1)
    tail = [slice(None)] * p.ndim
    tail[axis] = slice(1, None)
    return _n.concatenate(
        [p[tuple(head)], (p[tuple(tail)] + _n.cumsum(correction, axis=axis)).astype(p.dtype)], axis=axis
    )


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
