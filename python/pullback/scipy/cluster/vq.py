"""Vector quantization."""

from pullback._core import user_error as _user_error
from pullback import _core

_n = _core.numpy

__all__ = ["vq"]


def vq(obs, code_book, check_finite=True):
    """For each observation the nearest code, by Euclidean distance, and its distance.

    Args:
      obs: observations `[m, d]`, or `[m]` numbers.
      code_book: codes `[k, d]`, or `[k]` numbers.
      check_finite: accepted for compatibility; nothing is checked.
    Returns: positions of codes (integers) and distances, `[m]` each; of equally near codes the first.
    Raises:
      ValueError: arrays of different or of more than two axes.
      TypeError: arrays of different size along the last axis, or what is no array.
    Differentiable: yes, the distances, with respect to both, except where a distance is zero or codes are equally near.
    Example:
      >>> print(jax.scipy.cluster.vq.vq(jnp.array([[0.0, 1.0]]), jnp.array([[5.0, 5.0], [0.0, 0.0]]))[0])
      [1]
    """
    obs, code_book = _n._promote_inexact("vq", obs, code_book)
    if obs.ndim != code_book.ndim:
        raise _user_error(ValueError, "Observation and code_book should have the same rank")
    if obs.ndim == 1:
        obs, code_book = obs[..., None], code_book[..., None]
    if obs.ndim != 2:
        raise _user_error(ValueError, "ndim different than 1 or 2 are not supported")
    distances = _n.sqrt(((obs[:, None, :] - code_book[None, :, :]) ** 2).sum(-1))
    return distances.argmin(-1), distances.min(-1)


vq.__module__ = "pullback.scipy.cluster.vq"
