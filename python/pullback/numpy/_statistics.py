"""Order statistics and covariances: what reductions along axes do not give."""

import math as _math

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, lax
from pullback.numpy._vectorize import _axis

_n = _core.numpy

__all__ = ["corrcoef", "cov", "minmax", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")


def _check(name, out, overwrite_input, out_sharding=None):
    if out_sharding is not None:
        raise _user_error(NotImplementedError, f"out_sharding of jax.numpy.{name} is not implemented")
    if out is not None or overwrite_input:
        raise _user_error(ValueError, f"jax.numpy.{name} does not support overwrite_input=True or out != None")


def quantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """The values below which a part `q` of the elements lies.
    By 'linear' it is the value at position `q (n - 1)` of the sorted elements (type 7 of Hyndman and Fan, "Sample
    quantiles in statistical packages", 1996). NaN if one is among the elements.

    Args:
      a: a real array or number; integers become floating.
      q: the parts, from 0 to 1: a number or a vector; others are clipped.
      axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
      out, overwrite_input: for compatibility; must be None and False.
      method: what lies between two elements: 'linear', 'lower', 'higher', 'midpoint', 'nearest', or 'inverted_cdf',
        which gives the first element that the part reaches.
      keepdims: whether reduced axes stay, with size 1.
      weights: what each element counts, of the shape of `a` or of the reduced axes; only for 'inverted_cdf'.
    Returns: a floating array: the axes of `q`, then those of `a` without the reduced ones.
    Raises:
      TypeError: `a` or `q` is neither an array nor a number.
      ValueError: `a` is complex, `q` has several axes, another `method`, weights of another shape, `out` or
        `overwrite_input` is given, or an axis is out of bounds.
      NotImplementedError: `weights` with another method than 'inverted_cdf'.
    Differentiable: almost everywhere, with respect to `a`; by 'linear' with respect to `q` too.
    Example:
      >>> print(jnp.quantile(jnp.array([1.0, 2.0, 4.0]), jnp.array([0.5, 0.75])))
      [2. 3.]
    """
    _check("quantile", out, overwrite_input)
    return _quantile("quantile", a, q, axis, method, keepdims, weights, False)


def percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None, out_sharding=None
):
    """The values below which `q` percent of the elements lie: `quantile` with `q / 100`.

    Args:
      a: a real array or number; integers become floating.
      q: the percentages, from 0 to 100: a number or a vector; others are clipped.
      axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
      out, overwrite_input: for compatibility; must be None and False.
      method: what lies between two elements, as for `quantile`.
      keepdims: whether reduced axes stay, with size 1.
      weights: what each element counts, as for `quantile`.
      out_sharding: must be None.
    Returns: a floating array: the axes of `q`, then those of `a` without the reduced ones.
    Raises:
      TypeError: `a` is neither an array nor a number.
      ValueError: `a` is complex, `q` has several axes, another `method`, weights of another shape, `out` or
        `overwrite_input` is given, or an axis is out of bounds.
      NotImplementedError: `weights` with another method than 'inverted_cdf', or `out_sharding` is given.
    Differentiable: almost everywhere, with respect to `a`; by 'linear' with respect to `q` too.
    Example:
      >>> print(jnp.percentile(jnp.array([1.0, 2.0, 4.0]), 75))
      3.0
    """
    _check("percentile", out, overwrite_input, out_sharding)
    a, q = _fractions_for("percentile", a, q)
    return _quantile("percentile", a, q / 100, axis, method, keepdims, weights, False)


def nanquantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """The values below which a part `q` of the elements that are not NaN lies; NaN where there are none.

    Args:
      a: a real array or number; integers become floating.
      q: the parts, from 0 to 1: a number or a vector; others are clipped.
      axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
      out, overwrite_input: for compatibility; must be None and False.
      method: what lies between two elements, as for `quantile`.
      keepdims: whether reduced axes stay, with size 1.
      weights: what each element counts, as for `quantile`.
    Returns: a floating array: the axes of `q`, then those of `a` without the reduced ones.
    Raises:
      TypeError: `a` or `q` is neither an array nor a number.
      ValueError: as for `quantile`.
      NotImplementedError: `weights` with another method than 'inverted_cdf'.
    Differentiable: almost everywhere, with respect to `a`; by 'linear' with respect to `q` too.
    Example:
      >>> print(jnp.nanquantile(jnp.array([1.0, jnp.nan, 3.0]), 0.5))
      2.0
    """
    _check("nanquantile", out, overwrite_input)
    return _quantile("nanquantile", a, q, axis, method, keepdims, weights, True)


def nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None
):
    """The values below which `q` percent of the elements that are not NaN lie: `nanquantile` with `q / 100`.

    Args:
      a: a real array or number; integers become floating.
      q: the percentages, from 0 to 100: a number or a vector; others are clipped.
      axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
      out, overwrite_input: for compatibility; must be None and False.
      method: what lies between two elements, as for `quantile`.
      keepdims: whether reduced axes stay, with size 1.
      weights: what each element counts, as for `quantile`.
    Returns: a floating array: the axes of `q`, then those of `a` without the reduced ones.
    Raises:
      TypeError: `a` is neither an array nor a number.
      ValueError: as for `quantile`.
      NotImplementedError: `weights` with another method than 'inverted_cdf'.
    Differentiable: almost everywhere, with respect to `a`; by 'linear' with respect to `q` too.
    Example:
      >>> print(jnp.nanpercentile(jnp.array([1.0, jnp.nan, 3.0]), 50))
      2.0
    """
    _check("nanpercentile", out, overwrite_input)
    a, q = _fractions_for("nanpercentile", a, q)
    return _quantile("nanpercentile", a, q / 100, axis, method, keepdims, weights, True)


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle of the elements over axes that are not NaN; the mean of the two middle ones of an even number.

    Args:
      a: a real array or number; integers become floating.
      axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
      out, overwrite_input: for compatibility; must be None and False.
      keepdims: whether reduced axes stay, with size 1.
    Returns: a floating array of the shape of `a` without the reduced axes; NaN where all elements are.
    Raises:
      TypeError: `a` is neither an array nor a number (lists are refused).
      ValueError: `a` is complex, `out` or `overwrite_input` is given, or an axis is out of bounds.
    Differentiable: almost everywhere; the gradient goes to the middle elements.
    Example:
      >>> print(jnp.nanmedian(jnp.array([1.0, jnp.nan, 3.0, 8.0])))
      3.0
    """
    _check("nanmedian", out, overwrite_input)
    return _quantile("nanmedian", a, 0.5, axis, "midpoint", keepdims, None, True)


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    return tuple(_axis(a, ndim) for a in axes)


def _fractions_for(name, a, q):
    """Elements and fractions in one floating dtype: a number for `q` does not widen what integers become."""
    return _n._promote_inexact(name, *_n._promote_inexact(name, a), q)


def _quantile(name, a, q, axis, method, keepdims, weights, skips_nan):
    a, q = _fractions_for(name, a, q)
    if a.dtype.kind == "c":
        raise _user_error(ValueError, "quantile does not support complex input, as the operation is poorly defined.")
    if method not in _METHODS:
        raise _user_error(ValueError, "method can only be 'linear', 'lower', 'higher', 'midpoint', 'nearest' or 'inverted_cdf'")
    if weights is not None and method != "inverted_cdf":
        raise _user_error(NotImplementedError, f"{method} doesn't support weights. Only method 'inverted_cdf' supports weights.")
    if weights is None and not skips_nan and method != "inverted_cdf":
        return _n.quantile(a, q, axis=axis, method=method, keepdims=keepdims)
    if q.ndim > 1:
        raise _user_error(ValueError, f"q must be have rank <= 1, got shape {q.shape}")
    axes = _axes(axis, a.ndim)
    shape = a.shape
    kept = [i for i in range(a.ndim) if i not in axes]
    weights = None if weights is None else _fitting(weights, a, axis, axes)
    rows = _last(a, kept, axes)
    if weights is None:
        found = _of_sorted(rows, q, method, skips_nan)
    else:
        found = _weighted(rows, _last(weights, kept, axes), q, skips_nan)
    if keepdims:
        found = found.reshape(q.shape + tuple(1 if i in axes else shape[i] for i in range(len(shape))))
    return found


def _last(x, kept, axes):
    """The reduced axes as one, behind the others."""
    return _n.transpose(x, kept + list(axes)).reshape([x.shape[i] for i in kept] + [_math.prod(x.shape[i] for i in axes)])


def _of_sorted(rows, q, method, skips_nan):
    """Quantiles along the last axis of `rows`, the axis of `q` first."""
    rows = _n.sort(rows, axis=-1)
    is_nan = _n.isnan(rows)
    size = rows.shape[-1]
    if size == 0:
        return _n.full(q.shape + rows.shape[:-1], _np.nan, rows.dtype)
    if skips_nan:
        count = (~is_nan).sum(-1).astype(q.dtype)
    else:
        rows = _n.where(is_nan.any(-1, keepdims=True), _n.asarray(_np.nan, rows.dtype), rows)
        count = _n.full(rows.shape[:-1], size, q.dtype)
    part = q.reshape(q.shape + (1,) * count.ndim)
    if method == "inverted_cdf":
        place = _n.ceil(part * count) - 1
        low = high = _n.clip(place, 0, _n.maximum(count - 1, 0))
    else:
        place = _n.clip(part * (count - 1), 0, _n.maximum(count - 1, 0))
        low, high = _n.floor(place), _n.ceil(place)
    at = lambda i: _n.take_along_axis(rows, _n.moveaxis(i.reshape((-1, *count.shape)), 0, -1).astype(_np.int32), axis=-1)  # noqa: E731
    low_value, high_value = at(low), at(high)
    share = _n.moveaxis((place - low).reshape((-1, *count.shape)), 0, -1)
    value = _between(low_value, high_value, share, method)
    if skips_nan:
        value = _n.where(count[..., None] == 0, _n.asarray(_np.nan, value.dtype), value)
    return _n.moveaxis(value, -1, 0).reshape(q.shape + count.shape)


def _between(low, high, share, method):
    match method:
        case "linear":
            return low * (1 - share) + high * share
        case "lower":
            return low
        case "higher":
            return high
        case "midpoint":
            return (low + high) * 0.5
        case "nearest":
            return _n.where(share <= 0.5, low, high)
        case "inverted_cdf":
            return low


def _fitting(weights, a, axis, axes):
    """Weights of the shape of `a`."""
    (weights,) = _n._promote_inexact("quantile", weights)
    if weights.shape == a.shape:
        return weights
    if axis is None:
        raise _user_error(ValueError, "Weights shape must match 'a' shape when axis is None.")
    reduced = tuple(a.shape[i] for i in axes)
    if weights.shape != reduced:
        raise _user_error(ValueError, f"Weights shape {weights.shape} must match reduction axes {reduced}")
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    weights = _n.transpose(weights, order)
    return _n.broadcast_to(_n.expand_dims(weights, tuple(i for i in range(a.ndim) if i not in axes)), a.shape)


def _weighted(rows, weights, q, skips_nan):
    """The first elements, in order, up to which the part `q` of the weight lies."""
    is_nan = _n.isnan(rows)
    if skips_nan:
        weights = _n.where(is_nan, 0, weights)
    order = _n.argsort(rows, axis=-1)
    rows, weights = _n.take_along_axis(rows, order, axis=-1), _n.take_along_axis(weights, order, axis=-1)
    running = _n.cumsum(weights, axis=-1)
    total = running[..., -1:]
    wanted = _n.expand_dims(q.reshape(-1), tuple(range(1, rows.ndim))) * total[..., 0]
    place = (running < wanted[..., None]).sum(-1)
    place = _n.clip(place, 0, rows.shape[-1] - 1)
    value = _n.take_along_axis(_n.broadcast_to(rows, place.shape + rows.shape[-1:]), place[..., None], axis=-1)[..., 0]
    is_bad = (weights < 0).any(-1) | (total[..., 0] == 0)
    if not skips_nan:
        is_bad = is_bad | is_nan.any(-1)
    value = _n.where(is_bad, _n.asarray(_np.nan, value.dtype), value)
    return value.reshape(q.shape + value.shape[1:])


def minmax(a, axis=None, out=None, keepdims=False, initial=None, where=None):
    """The least and the greatest element over axes; NaN if one is among them.

    Args:
      a: an array or number of any dtype.
      axis: the axis or tuple of axes to reduce, negative ones counted from the end; None (the default) for all.
      out: for compatibility; must be None.
      keepdims: whether reduced axes stay, with size 1.
      initial: an upper bound of the minimum and a lower bound of the maximum: one number for both, or a pair.
      where: a boolean mask that broadcasts to `a`: which elements take part; all by default.
    Returns: the pair of minimum and maximum, of the dtype of `a` and its shape without the reduced axes.
    Raises:
      TypeError: `a` is neither an array nor a number (lists are refused).
      ValueError: no elements or a `where` without `initial`; an axis is out of bounds or occurs twice.
      NotImplementedError: `out` is given.
    Differentiable: yes, in both modes; elements that tie share the gradient equally.
    Example:
      >>> least, greatest = jnp.minmax(jnp.array([[3, 1], [2, 8]]), axis=1)
      >>> print(least, greatest)
      [1 2] [3 8]
    """
    if out is not None:
        raise _user_error(NotImplementedError, "The 'out' argument to jnp.minmax is not supported.")
    low, high = initial if isinstance(initial, tuple) else (initial, initial)
    least = _n.min(a, axis=axis, keepdims=keepdims, initial=low, where=where)
    return least, _n.max(a, axis=axis, keepdims=keepdims, initial=high, where=where)


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    """The estimated covariances of variables: means of `(x - mean(x)) conj(y - mean(y))` over observations.

    Args:
      m: observations of shape `[variables, n]`, or `[n]` of one variable; integers become floating.
      y: more variables, likewise.
      rowvar: whether variables are rows; otherwise they are columns.
      bias: whether to divide by the number of observations, instead of one less.
      ddof: what is taken off the number of observations, in place of `bias`: an integer.
      fweights: how often each observation counts: integers `[n]`.
      aweights: the importance of each observation: numbers `[n]`.
      dtype: the dtype of the computation and the result.
    Returns: the matrix of covariances `[variables, variables]`, or the variance of one variable, without axes.
    Raises:
      TypeError: `fweights` that are no integers, or observations that are no array.
      ValueError: observations of more than two axes, or `ddof` that is no integer.
      RuntimeError: weights of several axes or another length.
    Differentiable: yes, in both modes, with respect to `m`, `y` and `aweights`.
    Example:
      >>> print(jnp.cov(jnp.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])))
      [[1. 2.]
       [2. 4.]]
    """
    if y is None:
        (m,) = _n._promote_inexact("cov", m)
    else:
        m, y = _n._promote_inexact("cov", m, y)
        if y.ndim > 2:
            raise _user_error(ValueError, "y has more than 2 dimensions")
    if m.ndim > 2:
        raise _user_error(ValueError, "m has more than 2 dimensions")
    if dtype is not None:
        m, y = m.astype(dtype), None if y is None else y.astype(dtype)
    if ddof is not None and int(ddof) != ddof:
        raise _user_error(ValueError, "ddof must be integer")
    rows = _n.atleast_2d(m)
    rows = rows.T if not rowvar and m.ndim != 1 else rows
    if rows.shape[0] == 0:
        return _n.zeros((0, 0), rows.dtype)
    if y is not None:
        more = _n.atleast_2d(y)
        rows = _n.concatenate([rows, more.T if not rowvar and more.shape[0] != 1 else more], axis=0)
    weights = _cov_weights(rows, fweights, aweights)
    ddof = (0 if bias else 1) if ddof is None else ddof
    mean, total = _n.average(rows, axis=1, weights=weights, returned=True)
    total = total[0]
    if weights is None:
        # Of no observations nothing is known.
        freedom = rows.shape[1] - ddof if rows.shape[1] else 0
    elif ddof == 0:
        freedom = total
    elif aweights is None:
        freedom = total - ddof
    else:
        freedom = total - ddof * (weights * aweights).sum() / total
    rows = rows - mean[:, None]
    scaled = rows.T if weights is None else lax.mul(rows.T, _n.broadcast_to(weights[:, None], rows.T.shape).astype(rows.dtype))
    return _n.true_divide(_n.dot(rows, _n.conj(scaled)), freedom).squeeze()


def _cov_weights(rows, fweights, aweights):
    weights = None
    if fweights is not None:
        (weights,) = _n._promote("cov", fweights)
        _check_weights("fweights", weights, rows)
        if weights.dtype.kind not in "iu":
            raise _user_error(TypeError, "fweights must be integer.")
        weights = _n.abs(weights)
    if aweights is not None:
        (given,) = _n._promote_inexact("cov", aweights)
        _check_weights("aweights", given, rows)
        weights = _n.abs(given) if weights is None else weights * _n.abs(given)
    return weights


def _check_weights(name, weights, rows):
    if weights.ndim > 1:
        raise _user_error(RuntimeError, f"cannot handle multidimensional {name}")
    if weights.shape[0] != rows.shape[1]:
        raise _user_error(RuntimeError, f"incompatible numbers of samples and {name}")


def corrcoef(x, y=None, rowvar=True, dtype=None):
    """The correlation coefficients of variables: covariances divided by both deviations, clipped to [-1, 1].

    Args:
      x: observations of shape `[variables, n]`, or `[n]` of one variable; integers become floating.
      y: more variables, likewise.
      rowvar: whether variables are rows; otherwise they are columns.
      dtype: the dtype of the computation and the result.
    Returns: the matrix of correlations `[variables, variables]`, or 1 for one variable, without axes; NaN for
      constant variables.
    Raises:
      TypeError: observations that are no array.
      ValueError: observations of more than two axes.
    Differentiable: yes, in both modes, where no variable is constant.
    Example:
      >>> print(jnp.corrcoef(jnp.array([[1.0, 2.0, 3.0], [2.0, 2.0, 2.0]])).shape)
      (2, 2)
    """
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviation = _n.sqrt(_n.diag(c).real if c.dtype.kind == "c" else _n.diag(c))
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind == "c":
        return lax.complex(_n.clip(c.real, -1, 1), _n.clip(c.imag, -1, 1))
    return _n.clip(c, -1, 1)


for _name in __all__:
    globals()[_name].__module__ = "pullback.numpy"
