"""Statistics and losses over the valid part of arrays: right values and finite gradients, also where nothing is valid.

In each function `mask` is true where an element counts, and has a shape that broadcasts to that of the array; `None` counts all. What is
not valid may hold anything, NaN and infinity too: neither the value nor the gradient sees it. The gradients need no setting.
"""

from pullback import lax as _lax
from pullback import numpy as _jnp

__all__ = ["cosine_similarity", "cross_entropy", "logsumexp", "mean", "norm", "softmax", "std", "var"]


def _parts(x, mask):
    """The array as floating numbers, and its mask in its shape."""
    x = _jnp.asarray(x)
    if not _jnp.issubdtype(x.dtype, _jnp.inexact):
        x = x.astype(_jnp.result_type(float))
    return x, _mask(mask, x.shape)


def _mask(mask, shape):
    if mask is None:
        return _jnp.ones(shape, bool)
    return _jnp.broadcast_to(_jnp.asarray(mask).astype(bool), shape)


def _keep(x, mask):
    return _jnp.where(mask, x, _jnp.zeros_like(x))


def _quotient(total, count, empty):
    """The quotient where there is something to divide by, else `empty`; without slopes there."""
    is_there = count > 0
    return _jnp.where(is_there, total / _jnp.where(is_there, count, _jnp.ones_like(count)), _jnp.asarray(empty, total.dtype))


def _root(square):
    """The square root whose slope at zero is 0."""
    is_there = square > 0
    return _jnp.where(is_there, _jnp.sqrt(_jnp.where(is_there, square, _jnp.ones_like(square))), _jnp.zeros_like(square))


def _count(mask, axis, keepdims, dtype):
    real = _jnp.finfo(dtype).dtype
    return _jnp.sum(mask, axis=axis, keepdims=keepdims, dtype=real)


def mean(x, mask=None, axis=None, keepdims=False, empty=0.0):
    """The mean of the valid elements.

    Args:
      x: an array.
      mask: true where an element counts.
      axis: the axis or axes to reduce; all unless given.
      keepdims: whether the reduced axes stay, with size 1.
      empty: the value where nothing is valid.
    Returns: the mean, of the dtype of `x`; `empty` where nothing is valid.
    Raises:
      ValueError: for an axis that is none, or a mask that does not fit.
    Differentiable: yes; the gradient is 0 where `mask` is false, and where nothing is valid.
    Example:
      >>> jax.masked.mean(jnp.array([1.0, 3.0, jnp.nan]), jnp.array([True, True, False]))
      Array(2., dtype=float32)
      >>> jax.grad(lambda x: jax.masked.mean(x, jnp.zeros(2)))(jnp.ones(2))
      Array([0., 0.], dtype=float32)
    """
    x, mask = _parts(x, mask)
    total = _jnp.sum(_keep(x, mask), axis=axis, keepdims=keepdims)
    return _quotient(total, _count(mask, axis, keepdims, x.dtype), empty)


def var(x, mask=None, axis=None, ddof=0, keepdims=False, empty=0.0):
    """The variance of the valid elements.

    Args:
      x: an array; of a complex one the squared moduli are summed.
      mask: true where an element counts.
      axis: the axis or axes to reduce; all unless given.
      ddof: what is subtracted from the number of valid elements in the divisor.
      keepdims: whether the reduced axes stay, with size 1.
      empty: the value where no more than `ddof` elements are valid.
    Returns: the variance, real.
    Raises:
      ValueError: for an axis that is none, or a mask that does not fit.
    Differentiable: yes; the gradient is 0 where `mask` is false.
    Example:
      >>> jax.masked.var(jnp.array([1.0, 3.0, 9.0]), jnp.array([True, True, False]))
      Array(1., dtype=float32)
    """
    x, mask = _parts(x, mask)
    center = mean(x, mask, axis=axis, keepdims=True)
    apart = _keep(x - center, mask)
    square = _jnp.real(apart * _jnp.conj(apart)) if _jnp.iscomplexobj(x) else apart * apart
    total = _jnp.sum(square, axis=axis, keepdims=keepdims)
    return _quotient(total, _count(mask, axis, keepdims, x.dtype) - ddof, empty)


def std(x, mask=None, axis=None, ddof=0, keepdims=False, empty=0.0):
    """The standard deviation of the valid elements; its gradient is 0 where it is 0.

    Args:
      x: an array.
      mask: true where an element counts.
      axis: the axis or axes to reduce; all unless given.
      ddof: what is subtracted from the number of valid elements in the divisor.
      keepdims: whether the reduced axes stay, with size 1.
      empty: the value where no more than `ddof` elements are valid.
    Returns: the standard deviation, real.
    Raises:
      ValueError: for an axis that is none, or a mask that does not fit.
    Differentiable: yes, also where all valid elements are equal.
    Example:
      >>> jax.grad(jax.masked.std)(jnp.ones(3))
      Array([0., 0., 0.], dtype=float32)
    """
    mask = _mask(mask, _jnp.shape(x))
    variance = var(x, mask, axis=axis, ddof=ddof, keepdims=keepdims)
    is_there = _count(mask, axis, keepdims, variance.dtype) > ddof
    return _jnp.where(is_there, _root(variance), _jnp.asarray(empty, variance.dtype))


def logsumexp(x, mask=None, axis=None, keepdims=False):
    """The logarithm of the sum of exponentials of the valid elements.

    Args:
      x: a real array.
      mask: true where an element counts.
      axis: the axis or axes to reduce; all unless given.
      keepdims: whether the reduced axes stay, with size 1.
    Returns: the logarithm; that of nothing, minus infinity, where nothing is valid.
    Raises:
      ValueError: for an axis that is none, or a mask that does not fit.
    Differentiable: yes; the gradient is the softmax of the valid elements, and 0 where nothing is valid.
    Example:
      >>> jax.masked.logsumexp(jnp.array([0.0, 0.0, jnp.inf]), jnp.array([True, True, False]))
      Array(0.6931472, dtype=float32)
    """
    x, mask = _parts(x, mask)
    is_there = _jnp.any(mask, axis=axis, keepdims=True)
    greatest = _jnp.max(_jnp.where(mask, x, -_jnp.inf), axis=axis, keepdims=True, initial=-_jnp.inf)
    shift = _lax.stop_gradient(_jnp.where(_jnp.isfinite(greatest), greatest, _jnp.zeros_like(greatest)))
    total = _jnp.sum(_keep(_jnp.exp(_keep(x - shift, mask)), mask), axis=axis, keepdims=True)
    has_sum = is_there & (total > 0)
    logarithm = _jnp.log(_jnp.where(has_sum, total, _jnp.ones_like(total))) + shift
    out = _jnp.where(has_sum, logarithm, _jnp.full_like(logarithm, -_jnp.inf))
    return out if keepdims else _jnp.squeeze(out, axis=axis)


def softmax(x, mask=None, axis=-1):
    """Exponentials of the valid elements, divided by their sum.

    Args:
      x: a real array.
      mask: true where an element counts.
      axis: the axis or axes along which the result sums to 1.
    Returns: the weights: 0 where `mask` is false, and everywhere where nothing is valid.
    Raises:
      ValueError: for an axis that is none, or a mask that does not fit.
    Differentiable: yes; the gradient is 0 where nothing is valid.
    Example:
      >>> jax.masked.softmax(jnp.array([1.0, 1.0, jnp.nan]), jnp.array([True, True, False]))
      Array([0.5, 0.5, 0. ], dtype=float32)
    """
    x, mask = _parts(x, mask)
    greatest = _jnp.max(_jnp.where(mask, x, -_jnp.inf), axis=axis, keepdims=True, initial=-_jnp.inf)
    shift = _lax.stop_gradient(_jnp.where(_jnp.isfinite(greatest), greatest, _jnp.zeros_like(greatest)))
    weights = _keep(_jnp.exp(_keep(x - shift, mask)), mask)
    return _quotient(weights, _jnp.sum(weights, axis=axis, keepdims=True), 0.0)


def norm(x, mask=None, axis=None, keepdims=False):
    """The Euclidean norm of the valid elements; its gradient at zero is 0.

    Args:
      x: an array.
      mask: true where an element counts.
      axis: the axis or axes to reduce; all unless given.
      keepdims: whether the reduced axes stay, with size 1.
    Returns: the norm, real; 0 where nothing is valid.
    Raises:
      ValueError: for an axis that is none, or a mask that does not fit.
    Differentiable: yes, also at zero.
    Example:
      >>> jax.grad(jax.masked.norm)(jnp.zeros(2))
      Array([0., 0.], dtype=float32)
    """
    x, mask = _parts(x, mask)
    kept = _keep(x, mask)
    square = _jnp.real(kept * _jnp.conj(kept)) if _jnp.iscomplexobj(x) else kept * kept
    return _root(_jnp.sum(square, axis=axis, keepdims=keepdims))


def cosine_similarity(a, b, mask=None, axis=-1, keepdims=False):
    """The cosine of the angle between two vectors, of their valid elements.

    Args:
      a: a real array.
      b: a real array that broadcasts with `a`.
      mask: true where an element of both counts.
      axis: the axis or axes of the vectors.
      keepdims: whether the reduced axes stay, with size 1.
    Returns: the cosine; 0 where either vector is zero or nothing is valid.
    Raises:
      ValueError: for an axis that is none, or shapes that do not fit.
    Differentiable: yes, also at zero vectors, where the gradient is 0.
    Example:
      >>> jax.masked.cosine_similarity(jnp.array([1.0, 0.0]), jnp.array([1.0, 1.0]))
      Array(0.70710677, dtype=float32)
    """
    a, b = _jnp.broadcast_arrays(_jnp.asarray(a), _jnp.asarray(b))
    (a, mask), (b, _) = _parts(a, mask), _parts(b, mask)
    a, b = _keep(a, mask), _keep(b, mask)
    lengths = norm(a, axis=axis, keepdims=keepdims) * norm(b, axis=axis, keepdims=keepdims)
    return _quotient(_jnp.sum(a * b, axis=axis, keepdims=keepdims), lengths, 0.0)


def cross_entropy(logits, labels, mask=None, axis=-1):
    """The mean cross entropy of integer labels over the valid examples.

    Args:
      logits: a real array, whose `axis` has an entry for each class.
      labels: whole numbers, of the shape of `logits` without `axis`; any number, -1 too, where an example is not valid.
      mask: true where an example counts, of the shape of `labels`; or of that of `logits`, true where a class counts. Use a pair of both
        for both.
      axis: the axis of the classes.
    Returns: the mean of -log softmax(logits)[label]; 0 where no example is valid.
    Raises:
      ValueError: for an axis that is none, or shapes that do not fit.
    Differentiable: yes, in `logits`; the gradient is 0 for examples that are not valid.
    Example:
      >>> jax.masked.cross_entropy(jnp.zeros((2, 4)), jnp.array([3, -1]), jnp.array([True, False]))
      Array(1.3862944, dtype=float32)
    """
    logits = _jnp.moveaxis(_jnp.asarray(logits), axis, -1)
    labels = _jnp.asarray(labels)
    examples = mask
    classes = None
    if isinstance(mask, tuple):
        examples, classes = mask
    elif mask is not None and _jnp.ndim(mask) == logits.ndim:
        examples, classes = None, mask
    if classes is not None:
        classes = _jnp.moveaxis(_jnp.broadcast_to(classes, _jnp.moveaxis(logits, -1, axis).shape), axis, -1)
    examples = _mask(examples, labels.shape)
    logits, classes = _parts(logits, classes)
    counted = _jnp.where(examples[..., None], classes, True)
    filtered = _jnp.where(examples[..., None] & classes, logits, _jnp.zeros_like(logits))
    chosen = _jnp.where(examples, labels, _jnp.zeros_like(labels))[..., None]
    own = _jnp.take_along_axis(filtered, chosen, axis=-1)[..., 0]
    return mean(logsumexp(filtered, counted, axis=-1) - own, examples)
