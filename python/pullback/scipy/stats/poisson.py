"""The Poisson distribution."""

import math as _math

from pullback import _core
from pullback.scipy.special import gammaincc as _gammaincc
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "Poisson",
    "mu**k exp(-mu) / k!",
    {
        "k": "integers; the probability of other numbers is 0",
        "mu": "means that are not negative",
    },
)


@_of("2, 3.0", -1.4959, wrt="mu")
def logpmf(k, mu, loc=0):
    k, mu, loc = _promote("poisson.logpmf", k, mu, loc)
    y = k - loc
    value = _xlogy(y, mu) - _gammaln(y + 1) - mu
    return _n.where((y < 0) | (_n.round(k) != k), -_INF, value)


@_of("2, 3.0", 0.224, wrt="mu")
def pmf(k, mu, loc=0):
    return _n.exp(logpmf(k, mu, loc))


@_of("2, 3.0", 0.4232, wrt="mu")
def cdf(k, mu, loc=0):
    k, mu, loc = _promote("poisson.cdf", k, mu, loc)
    y = k - loc
    value = _gammaincc(_n.floor(y + 1), mu)
    return _n.where(y < 0, 0.0, value).astype(value.dtype)


@_of("3.0", 1.9315, wrt="mu")
def entropy(mu, loc=0):
    mu, _ = _n.broadcast_arrays(*_promote("poisson.entropy", mu, loc))
    small = _n.where(mu <= 10, mu, 1)
    # The sum has hardly a term beyond the mean and ten deviations.
    k = _n.reshape(_n.arange(60, dtype=mu.dtype), (-1,) + (1,) * mu.ndim)
    log = _xlogy(k, small) - _gammaln(k + 1) - small
    near = -(_n.exp(log) * log).sum(0)
    large = _n.where(mu > 10, mu, 11)
    far = 0.5 * _n.log(2 * _math.pi * _math.e * large) - 1 / (12 * large) - 1 / (24 * large**2) - 19 / (360 * large**3)
    out = _n.where(mu == 0, 0.0, _n.where(mu <= 10, near, far)).astype(mu.dtype)
    return _n.where(mu < 0, float("nan"), out)
