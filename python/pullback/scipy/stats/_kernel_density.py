"""Densities estimated from samples: a normal density around each of them."""

import dataclasses as _dataclasses
import math as _math
from typing import Any as _Any

from pullback import _core
from pullback._core import user_error as _user_error
from pullback._jit import jit as _jit
from pullback.numpy import linalg as _linalg
from pullback.scipy.linalg import solve_triangular as _solve_triangular
from pullback.tree_util import register_pytree_node_class as _register

_n = _core.numpy


@_jit
def _log_densities(points, dataset, weights, covariance):
    """The logarithm at each of `points` of the sum of normal densities with `covariance` around the columns of `dataset`."""
    from pullback.scipy.special import logsumexp

    root = _linalg.cholesky(covariance)
    white_points, white_data = (_solve_triangular(root, x, lower=True) for x in (points, dataset))
    offsets = white_points[:, :, None] - white_data[:, None, :]
    log_factor = 0.5 * points.shape[0] * _math.log(2 * _math.pi) + _n.log(_n.diagonal(root)).sum()
    return logsumexp(-0.5 * (offsets * offsets).sum(0) - log_factor, axis=-1, b=weights)


def _probability(low, high):
    """The probability that a standard normal number lies between both, from the tail in which it loses nothing."""
    from pullback.scipy.special import ndtr

    is_upper = low + high > 0
    return _n.where(is_upper, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))


def _factor(bw_method, estimator):
    """How much narrower kernels are than the data."""
    if bw_method is None or isinstance(bw_method, str) and bw_method == "scott":
        return estimator.neff ** (-1.0 / (estimator.d + 4))
    if isinstance(bw_method, str) and bw_method == "silverman":
        return (estimator.neff * (estimator.d + 2) / 4.0) ** (-1.0 / (estimator.d + 4))
    if callable(bw_method):
        return bw_method(estimator)
    if not isinstance(bw_method, str) and _n.ndim(bw_method) == 0:
        return bw_method
    raise _user_error(ValueError, f"`bw_method` should be 'scott', 'silverman', a scalar, or a callable, got {bw_method!r}.")


def _real(name, *xs):
    xs = _n._promote_inexact(name, *xs)
    if xs[0].dtype.kind == "c":
        raise _user_error(NotImplementedError, f"gaussian_kde does not support complex numbers, got {xs[0].dtype}")
    return xs


def _checked_weights(weights, n):
    if weights.ndim != 1:
        raise _user_error(ValueError, f"`weights` input should be one-dimensional, got shape {weights.shape}.")
    if weights.shape[0] != n:
        raise _user_error(ValueError, f"`weights` input should be of length n: got {weights.shape[0]} weights of {n} points")
    return weights / weights.sum()


def _dataset_and_weights(dataset, weights):
    dataset, *given = _real("gaussian_kde", dataset, *(() if weights is None else (weights,)))
    dataset = _n.atleast_2d(dataset)
    if dataset.ndim != 2:
        raise _user_error(ValueError, f"`dataset` has at most two dimensions, [d, n], got shape {dataset.shape}.")
    n = dataset.shape[1]
    if dataset.size <= 1 or not n:
        raise _user_error(ValueError, f"`dataset` input should have multiple elements, got shape {dataset.shape}.")
    return dataset, _checked_weights(given[0], n) if given else _n.full(n, 1 / n, dataset.dtype)


@_register
@_dataclasses.dataclass(frozen=True, init=False)
class gaussian_kde:
    """A density estimated from samples: the mean of normal densities around them, whose covariance is that of the data, scaled.

    B. Silverman, "Density Estimation for Statistics and Data Analysis" (1986). It is a tree of its five arrays. A call is
    `evaluate`.

    Args:
      dataset: samples: a vector `[n]` of numbers, or a matrix `[d, n]` with a sample in each column.
      bw_method: by what the deviations of the data are multiplied for those around a sample: "scott" (the default) for
        `neff**(-1 / (d + 4))`, "silverman" for `(neff (d + 2) / 4)**(-1 / (d + 4))`, a number, or a function of the estimator.
      weights: the weights of the samples, `[n]`; equal by default.
    Raises:
      ValueError: fewer than two numbers, another number of weights than samples, or another method.
      NotImplementedError: complex numbers.
      TypeError: an argument is no array or number.
    Differentiable: yes, with respect to samples, weights, a number for the method, and points, in both modes.
    Example:
      >>> density = jax.scipy.stats.gaussian_kde(jnp.array([1.0, 2.0, 4.0]))
      >>> print(density(2.0).round(4))
      [0.2149]
    """

    neff: _Any
    dataset: _Any
    weights: _Any
    covariance: _Any
    inv_cov: _Any

    __slots__ = ("neff", "dataset", "weights", "covariance", "inv_cov")

    def __init__(self, dataset, bw_method=None, weights=None):
        dataset, weights = _dataset_and_weights(dataset, weights)
        self._keep(dataset=dataset, weights=weights, neff=1 / (weights * weights).sum())
        factor = _factor(bw_method, self)
        spread = _n.atleast_2d(_cov(dataset, weights))
        self._keep(covariance=spread * factor**2, inv_cov=_linalg.inv(spread) / factor**2)

    def _keep(self, **values):
        """Sets fields, which no one else can."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def tree_flatten(self):
        """The five arrays, and nothing else."""
        return tuple(getattr(self, name) for name in self.__slots__), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        """The estimator of five arrays, or of what a transformation puts for them."""
        estimator = object.__new__(cls)
        estimator._keep(**dict(zip(cls.__slots__, children, strict=True)))
        return estimator

    def __reduce__(self):
        return type(self).tree_unflatten, self.tree_flatten()[::-1]

    @property
    def d(self):
        """How many numbers a sample has."""
        return self.dataset.shape[0]

    @property
    def n(self):
        """How many samples there are."""
        return self.dataset.shape[1]

    def evaluate(self, points):
        """The density at points: a vector `[m]` of numbers or, of samples with `d` numbers, a matrix `[d, m]`; `[m]`."""
        return _n.exp(self._log_density("evaluate", points))

    def __call__(self, points):
        return self.evaluate(points)

    def pdf(self, x):
        """The density at points, as `evaluate` gives it."""
        return _n.exp(self._log_density("pdf", x))

    def logpdf(self, x):
        """The logarithm of the density at points, which does not underflow."""
        return self._log_density("logpdf", x)

    def _log_density(self, name, points):
        points, dataset, weights, covariance = _real(name, points, self.dataset, self.weights, self.covariance)
        return _log_densities(self._reshape_points(points), dataset, weights, covariance)

    def _reshape_points(self, points):
        """Points in columns; a vector is one point where samples have as many numbers."""
        points = _n.atleast_2d(points)
        d, m = points.shape
        if d == self.d:
            return points
        if d == 1 and m == self.d:
            return points.reshape(m, 1)
        raise _user_error(ValueError, f"points have dimension {d}, dataset has dimension {self.d}")

    def integrate_gaussian(self, mean, cov):
        """The integral of the density times the normal density with a mean `[d]` and a covariance `[d, d]`, a scalar."""
        mean, cov = _n.atleast_1d(_n.squeeze(mean)), _n.atleast_2d(cov)
        if mean.shape != (self.d,):
            raise _user_error(ValueError, f"mean does not have dimension {self.d}: its shape is {mean.shape}")
        if cov.shape != (self.d, self.d):
            raise _user_error(ValueError, f"covariance does not have dimension {self.d}: its shape is {cov.shape}")
        # Of two normal densities, one around the other's mean, with the sum of their covariances.
        mean, dataset, weights, covariance = _real("integrate_gaussian", mean, self.dataset, self.weights, self.covariance + cov)
        return _n.exp(_log_densities(mean[:, None], dataset, weights, covariance)[0])

    def integrate_box_1d(self, low, high):
        """The probability of a number between two, for samples that are numbers."""
        if self.d != 1:
            raise _user_error(ValueError, f"integrate_box_1d() only handles 1D pdfs, got samples with {self.d} numbers")
        if _n.ndim(low) != 0 or _n.ndim(high) != 0:
            raise _user_error(ValueError, f"the limits of integration in integrate_box_1d must be scalars, got shapes {_n.shape(low)} and {_n.shape(high)}")
        deviation = _n.sqrt(self.covariance[0, 0])
        low, high = ((_n.asarray(limit) - self.dataset[0]) / deviation for limit in (low, high))
        return (self.weights * _probability(low, high)).sum()

    def integrate_box(self, low_bounds, high_bounds, maxpts=None):
        """Not supported; `integrate_box_1d` is, for numbers."""
        raise _user_error(NotImplementedError, "only 1D box integrations are supported; use `integrate_box_1d`")

    def integrate_kde(self, other):
        """The integral of the product of two densities, a scalar."""
        if other.d != self.d:
            raise _user_error(ValueError, f"KDEs are not the same dimensionality: {self.d} and {other.d}")
        args = _real("integrate_kde", other.dataset, self.dataset, self.weights, self.covariance + other.covariance)
        return (_n.exp(_log_densities(*args)) * other.weights).sum()

    def resample(self, key, shape=()):
        """Numbers of the density: `[d, *shape]`, drawn with a key."""
        from pullback import random

        which_key, noise_key = random.split(key)
        which = random.choice(which_key, self.n, shape=shape, p=self.weights)
        zeros = _n.zeros(self.d, self.dataset.dtype)
        noise = random.multivariate_normal(noise_key, zeros, self.covariance, shape=shape, dtype=self.dataset.dtype)
        return self.dataset[:, which] + _n.moveaxis(noise, -1, 0)

    def set_bandwidth(self, bw_method=None):
        """Not supported: an estimator does not change; make another one."""
        raise _user_error(NotImplementedError, "dynamically changing the bandwidth method is not supported; make another gaussian_kde")


def _cov(dataset, weights):
    from pullback.numpy import cov

    return cov(dataset, rowvar=True, bias=False, aweights=weights)


gaussian_kde.__module__ = "pullback.scipy.stats"
