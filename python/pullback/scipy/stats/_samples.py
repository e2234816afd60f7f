"""Statistics of samples: modes, ranks, standard errors."""

from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.numpy._vectorize import _axis

_n = _core.numpy


class ModeResult(_NamedTuple):
    """The most frequent elements and how often they occur."""

    mode: _Any
    count: _Any


def _check_policy(name, nan_policy):
    if nan_policy not in ("propagate", "omit", "raise"):
        raise _user_error(ValueError, f"Illegal nan_policy value {nan_policy!r}; expected one of {{'propagate', 'omit', 'raise'}}")
    if nan_policy == "omit":
        raise _user_error(NotImplementedError, f"Logic for `nan_policy` of {nan_policy} is not implemented")
    if nan_policy == "raise":
        raise _user_error(NotImplementedError, "In order to best JIT compile `mode`, we cannot know whether `x` contains nans. Please check "
                                  "if nans exist in `x` outside of the `mode` function.")


def mode(a, axis=0, nan_policy="propagate", keepdims=False):
    """The most frequent elements along an axis, the least of several; NaN compares like the greatest number.

    Args:
      a: an array of real numbers.
      axis: an axis; None takes the flat array.
      nan_policy: must be "propagate".
      keepdims: keep the axis with size 1.
    Returns: a named tuple: `mode`, of the dtype of `a`, and `count`, integers, without the axis; NaN and 0 of no elements.
    Raises:
      NotImplementedError: the policies "omit" and "raise".
      ValueError: another policy, or an axis out of bounds.
      TypeError: `a` is no array or number.
    Differentiable: almost everywhere, in both modes: the cotangent goes to one of the elements.
    Example:
      >>> int(jax.scipy.stats.mode(jnp.array([2, 1, 2])).mode)
      2
    """
    (x,) = _n._promote("mode", a)
    _check_policy("mode", nan_policy)
    if axis is not None:
        axis = _axis(axis, x.ndim)
    rank = max(x.ndim, 1)
    if not (x.size if axis is None else x.shape[axis]):
        kept = (1,) if keepdims else ()
        shape = (1,) * rank if axis is None and keepdims else () if axis is None else x.shape[:axis] + kept + x.shape[axis + 1:]
        return ModeResult(*(_n.full(shape, value, _core.as_dtype(float)) for value in (_np.nan, 0.0)))
    lines = _n.ravel(x)[None] if axis is None else _n.moveaxis(x, axis, -1)
    ordered = _n.sort(lines, axis=-1)
    is_nan = _n.isnan(ordered)
    counts = ((ordered[..., None] == ordered[..., None, :]) | (is_nan[..., None] & is_nan[..., None, :])).sum(-1)
    best = counts.argmax(-1, keepdims=True)
    value, count = _n.take_along_axis(ordered, best, -1)[..., 0], _n.take_along_axis(counts, best, -1)[..., 0]
    if axis is None:
        value, count = value[0], count[0]
        return ModeResult(*(_n.reshape(r, (1,) * rank) if keepdims else r for r in (value, count)))
    return ModeResult(*(_n.expand_dims(r, axis) if keepdims else r for r in (value, count)))


def rankdata(a, method="average", *, axis=None, nan_policy="propagate"):
    """The ranks of elements, from 1.

    Args:
      a: an array of real numbers.
      method: what equal elements get: the "average" of their places, the "min" or "max" of them, "dense", the number of
        different elements up to them, or "ordinal", places in the order of `a`.
      axis: an axis; None takes the flat array and gives a vector.
      nan_policy: must be "propagate".
    Returns: floating ranks of the shape of `a`, or flat; NaN for all of a line with NaN.
    Raises:
      NotImplementedError: the policies "omit" and "raise".
      ValueError: another method or policy.
      TypeError: `a` is no array or number.
    Differentiable: almost everywhere, with derivative zero.
    Example:
      >>> print(jax.scipy.stats.rankdata(jnp.array([5.0, 3.0, 5.0])))
      [2.5 1.  2.5]
    """
    (a,) = _n._promote("rankdata", a)
    _check_policy("rankdata", nan_policy)
    if method not in ("average", "min", "max", "dense", "ordinal"):
        raise _user_error(ValueError, f"unknown method '{method}'")
    if axis is None:
        a, axis = _n.ravel(a), 0
    from pullback.numpy._vectorize import apply_along_axis

    ranks = apply_along_axis(_ranks, axis, a, method).astype(_core.as_dtype(float))
    return _n.where(_n.isnan(a).any(axis=axis, keepdims=True), _np.nan, ranks)


def _ranks(line, method):
    order = _n.argsort(line)
    inverse = _n.zeros(line.shape[0], _np.int32).at[order].set(_n.arange(line.shape[0], dtype=_np.int32))
    if method == "ordinal":
        return inverse + 1
    ordered = line[order]
    is_first = _n.concatenate([_n.ones(1, bool), ordered[1:] != ordered[:-1]])
    dense = _n.cumsum(is_first)[inverse]
    if method == "dense":
        return dense
    size = line.shape[0]
    (starts,) = _n.nonzero(is_first, size=size + 1, fill_value=size)
    if method == "max":
        return starts[dense]
    if method == "min":
        return starts[dense - 1] + 1
    return 0.5 * (starts[dense] + starts[dense - 1] + 1)


def sem(a, axis=0, ddof=1, nan_policy="propagate", *, keepdims=False):
    """The standard error of the mean along an axis: the deviation over the root of the number of elements.

    Args:
      a: an array of real numbers; integers become floating.
      axis: an axis; None takes the flat array.
      ddof: what is taken off the number of elements for the deviation; 1 for the estimate without bias of the variance.
      nan_policy: "propagate", or "omit" for the elements that are not NaN.
      keepdims: keep the axis with size 1.
    Returns: an array without the axis, of a floating dtype; NaN where there are no more than `ddof` elements.
    Raises:
      NotImplementedError: the policy "raise".
      ValueError: another policy.
      TypeError: `a` is no array or number.
    Differentiable: yes, except where all elements are equal, in both modes.
    Example:
      >>> float(jax.scipy.stats.sem(jnp.array([1.0, 3.0])))
      1.0
    """
    (a,) = _n._promote_inexact("sem", a)
    if nan_policy == "omit":
        count = (~_n.isnan(a)).sum(axis=axis, keepdims=keepdims)
        return _n.nanstd(a, axis=axis, ddof=ddof, keepdims=keepdims) / _n.sqrt(count.astype(a.dtype))
    _check_policy("sem", nan_policy)
    size = a.size if axis is None else a.shape[axis]
    return _n.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / _n.sqrt(_n.asarray(size, a.dtype))


for _function in (mode, rankdata, sem):
    _function.__module__ = "pullback.scipy.stats"
