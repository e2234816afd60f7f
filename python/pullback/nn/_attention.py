"""Attention: values weighted by how well keys match queries."""

import math as _math

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy


def _check(name, x, shape, dtype=None):
    """Raises unless an argument has the sizes `shape`, -1 standing for any, and the dtype."""
    if x is None:
        return
    fits = len(x.shape) == len(shape) and all(want in (-1, size) for want, size in zip(shape, x.shape))
    if not fits:
        raise _user_error(ValueError, f"{name} shape should be {list(shape)}: but got {tuple(x.shape)}")
    if dtype is not None and x.dtype != dtype:
        raise _user_error(ValueError, f"{name} dtype should be {dtype}, but got {x.dtype}")


def _four_axes(x):
    """With a batch axis, which an array of three axes lacks, and other axes of size 1."""
    if x is None:
        return None
    x = _n.asarray(x)
    return _n.reshape(x, (1,) * (4 - x.ndim) + x.shape) if x.ndim < 4 else x


def dot_product_attention(
    query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, query_seq_lengths=None,
    key_value_seq_lengths=None, local_window_size=None, implementation=None, return_residual=False,
):
    """Values weighted by the softmax of the products of queries and keys (Vaswani et al., Attention is all you need, 2017).

    dot_product_attention : query[b, t, n, h] key[b, s, k, h] value[b, s, k, h] -> [b, t, n, h]

    Args:
      query: queries; without the batch axis `b` everywhere, the result lacks it too.
      key: keys; `n` is a multiple of `k`, and heads of queries that stand next to each other share one (Ainslie et
        al., GQA, 2023).
      value: values.
      bias: what is added to the products, broadcast to `[b, n, t, s]`.
      mask: booleans, broadcast likewise: False removes a pair.
      scale: the factor of the products; `1 / sqrt(h)` by default.
      is_causal: a query sees keys up to its own position.
      query_seq_lengths: int32 `[b]`: the queries that count; others give 0.
      key_value_seq_lengths: int32 `[b]`: the keys that count.
      local_window_size: a query sees keys from so many before its position to so many after: a number or a pair.
      implementation: None or 'xla'.
      return_residual: also give the logarithms of the sums of exponentials `[b, t, n]`.
    Returns: an array of the shape and dtype of `query`, or a pair with the residual. Products are summed in float32.
    Raises:
      ValueError: shapes or dtypes that do not fit, another implementation. RuntimeError: 'cudnn', which is not there.
      AssertionError: `bias` or `mask` does not broadcast.
    Differentiable: in query, key, value and bias.
    Example:
      >>> x = jnp.ones((1, 3, 2, 4))
      >>> jax.nn.dot_product_attention(x, x, x, is_causal=True).shape
      (1, 3, 2, 4)
    """
    if implementation == "cudnn":
        raise _user_error(RuntimeError, "cuDNN is not detected.")
    if implementation not in (None, "xla"):
        raise _user_error(ValueError, f"Unsupported implementation option: {implementation}")
    shape = _n.shape(query)
    query, key, value, bias, mask = map(_four_axes, (query, key, value, bias, mask))
    lengths = tuple(None if x is None else _n.asarray(x) for x in (query_seq_lengths, key_value_seq_lengths))
    _check_operands(query, key, value, bias, mask, lengths)
    scale = 1 / _math.sqrt(key.shape[-1]) if scale is None else scale
    window = (local_window_size, local_window_size) if isinstance(local_window_size, int) else local_window_size
    allowed = _allowed(query, key, mask, is_causal, lengths, window)
    out, residual = _attend(query, key, value, bias, allowed, scale)
    if lengths[0] is not None:
        is_real = _n.arange(query.shape[1]) < lengths[0][:, None]
        out = out * is_real[:, :, None, None].astype(out.dtype)
    out = _n.reshape(out, shape)
    return (out, _n.reshape(residual, shape[:-1])) if return_residual else out


def _check_operands(query, key, value, bias, mask, lengths):
    if key.ndim != 4:
        raise _user_error(ValueError, f"key should have 3 or 4 axes, got shape {key.shape}")
    b, s, k, h = key.shape
    _check("value", value, (b, s, k, h), key.dtype)
    _check("query", query, (b, -1, -1, h), key.dtype)
    t, n = query.shape[1:3]
    if n % k != 0:
        raise _user_error(ValueError, f"The number of query heads must be a multiple of key/value heads, but got {n} vs {k}")
    _check("bias", bias, (-1, -1, -1, -1))
    _check("mask", mask, (-1, -1, -1, -1), _np.dtype(bool))
    for name, x in (("bias", bias), ("mask", mask)):
        if x is not None and any(size not in (1, want) for size, want in zip(x.shape, (b, n, t, s))):
            raise AssertionError(f"{name} with shape {x.shape} does not broadcast to {(b, n, t, s)}")
    _check("query_seq_lengths", lengths[0], (b,), _np.dtype(_np.int32))
    _check("key_value_seq_lengths", lengths[1], (b,), _np.dtype(_np.int32))


def _allowed(query, key, mask, is_causal, lengths, window):
    """Which keys each query sees `[b, n, t, s]`, or None for all."""
    t, s = query.shape[1], key.shape[1]
    at, of = _n.arange(t)[:, None], _n.arange(s)[None, :]
    parts = [] if mask is None else [mask]
    if is_causal:
        parts.append(_n.tril(_n.ones((t, s), dtype=bool))[None, None])
    if window is not None:
        before, after = window
        parts.append(((at >= of - after) & (at <= of + before))[None, None])
    if lengths[0] is not None:
        parts.append((at < lengths[0][:, None, None])[:, None])
    if lengths[1] is not None:
        parts.append((of < lengths[1][:, None, None])[:, None])
    allowed = None
    for part in parts:
        allowed = part if allowed is None else allowed & part
    return allowed


def _grouped(x, k):
    """The axis of `n` heads as `k` groups, each in an axis of its own: `[b, k, n / k, t, s]`."""
    b, n, t, s = x.shape
    return x[:, :, None] if n == 1 else _n.reshape(x, (b, k, n // k, t, s))


def _attend(query, key, value, bias, allowed, scale):
    (b, t, n, h), k = query.shape, key.shape[2]
    wide = _np.promote_types(query.dtype, _np.float32) if query.dtype.kind == "f" else _np.dtype(_np.float32)
    grouped = _n.reshape(query, (b, t, k, n // k, h))
    logits = _n.einsum("btkgh,bskh->bkgts", grouped, key, preferred_element_type=wide) * scale
    if bias is not None:
        logits = (logits + _grouped(bias, k)).astype(logits.dtype)
    if allowed is not None:
        # Far below any logit, yet not infinite: a query that sees nothing gives no NaN.
        least = -0.7 * float(_np.finfo(logits.dtype).max)
        logits = _n.where(_grouped(allowed, k), logits, _n.asarray(least, logits.dtype))
    weights = _core.nn.softmax(logits, axis=-1).astype(key.dtype)
    out = _n.einsum("bkgts,bskh->btkgh", weights, value)
    residual = _n.transpose(_core.nn.logsumexp(logits, axis=-1), (0, 3, 1, 2))
    return _n.reshape(out, (b, t, n, h)), _n.reshape(residual, (b, t, n)).astype(query.dtype)
