"""Vector quantization."""

from pullback import _core

_n = _core.numpy

__all__ = ["vq"]


def vq(obs, code_book, check_finite=True):
    """For each observation the nearest code and its distance.

    Args:
      obs: observations `[m, d]` or `[m]`.
      code_book: codes `[k, d]` or `[k]`.
      check_finite: accepted; nothing is checked.
    Returns: positions of codes and distances, `[m]` each.
    Raises:
      ValueError: arrays of different or of more than two axes, or of different size.
    Differentiable: the distances.

    >>> from pullback.scipy.cluster.vq import vq
    >>> from pullback import numpy as jnp
    >>> print(vq(jnp.array([[0.0, 1.0]]), jnp.array([[5.0, 5.0], [0.0, 0.0]]))[0])
    [1]
    """
    obs, code_book = _n._promote_inexact("vq", obs, code_book)
    if obs.ndim != code_book.ndim:
        raise ValueError("Observation and code_book should have the same rank")
    if obs.ndim == 1:
        obs, code_book = obs[..., None], code_book[..., None]
    if obs.ndim != 2:
        raise ValueError("ndim different than 1 or 2 are not supported")
    distances = _n.sqrt(((obs[:, None, :] - code_book[None, :, :]) ** 2).sum(-1))
    return distances.argmin(-1), distances.min(-1)


vq.__module__ = "pullback.scipy.cluster.vq"
