"""The chi-square distribution."""

import math as _math

from pullback import _core
from pullback.scipy.special import gammainc as _gammainc
from pullback.scipy.special import gammaincc as _gammaincc
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import of as _of
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_DENSITY = "x**(df / 2 - 1) exp(-x / 2) / (2**(df / 2) gamma(df / 2))"


@_of("chi-square", _DENSITY)
def logpdf(x, df, loc=0, scale=1):
    x, df, loc, scale = _promote("chi2.logpdf", x, df, loc, scale)
    y = (x - loc) / scale
    value = _xlogy(df / 2 - 1, y) - y / 2 - _gammaln(df / 2) - df / 2 * _math.log(2) - _n.log(scale)
    return _n.where(x < loc, -_INF, value)


@_of("chi-square", _DENSITY)
def pdf(x, df, loc=0, scale=1):
    return _n.exp(logpdf(x, df, loc, scale))


@_of("chi-square")
def cdf(x, df, loc=0, scale=1):
    x, df, loc, scale = _promote("chi2.cdf", x, df, loc, scale)
    return _gammainc(df / 2, _n.clip((x - loc) / scale, 0) / 2)


@_of("chi-square")
def logcdf(x, df, loc=0, scale=1):
    return _n.log(cdf(x, df, loc, scale))


@_of("chi-square")
def sf(x, df, loc=0, scale=1):
    x, df, loc, scale = _promote("chi2.sf", x, df, loc, scale)
    return _gammaincc(df / 2, _n.clip((x - loc) / scale, 0) / 2)


@_of("chi-square")
def logsf(x, df, loc=0, scale=1):
    return _n.log(sf(x, df, loc, scale))
