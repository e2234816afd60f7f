"""The chi-square distribution."""

import math as _math

from pullback import _core
from pullback.scipy.special import gammainc as _gammainc
from pullback.scipy.special import gammaincc as _gammaincc
from pullback.scipy.special import gammaln as _gammaln
from pullback.scipy.special import xlogy as _xlogy
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_INF = float("inf")
_of = _Distribution(
    "chi-square",
    "x**(df / 2 - 1) exp(-x / 2) / (2**(df / 2) gamma(df / 2))",
    {
        "x": "real numbers",
        "df": "positive numbers of degrees of freedom",
    },
)


@_of("1.0, 3.0", -1.4189)
def logpdf(x, df, loc=0, scale=1):
    x, df, loc, scale = _promote("chi2.logpdf", x, df, loc, scale)
    y = (x - loc) / scale
    value = _xlogy(df / 2 - 1, y) - y / 2 - _gammaln(df / 2) - df / 2 * _math.log(2) - _n.log(scale)
    return _n.where(x < loc, -_INF, value)


@_of("1.0, 3.0", 0.242)
def pdf(x, df, loc=0, scale=1):
    return _n.exp(logpdf(x, df, loc, scale))


@_of("1.0, 3.0", 0.1987)
def cdf(x, df, loc=0, scale=1):
    x, df, loc, scale = _promote("chi2.cdf", x, df, loc, scale)
    return _gammainc(df / 2, _n.clip((x - loc) / scale, 0) / 2)


@_of("1.0, 3.0", -1.6157)
def logcdf(x, df, loc=0, scale=1):
    return _n.log(cdf(x, df, loc, scale))


@_of("1.0, 3.0", 0.8013)
def sf(x, df, loc=0, scale=1):
    x, df, loc, scale = _promote("chi2.sf", x, df, loc, scale)
    return _gammaincc(df / 2, _n.clip((x - loc) / scale, 0) / 2)


@_of("1.0, 3.0", -0.2216)
def logsf(x, df, loc=0, scale=1):
    return _n.log(sf(x, df, loc, scale))
