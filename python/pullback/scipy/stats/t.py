"""The Student's t distribution."""

import math as _math

from pullback import _core, lax
from pullback.scipy.stats._distribution import Distribution as _Distribution
from pullback.scipy.stats._distribution import promote as _promote

_n = _core.numpy
_of = _Distribution(
    "Student's t",
    "gamma((df + 1) / 2) / (sqrt(df pi) gamma(df / 2)) (1 + x**2 / df)**(-(df + 1) / 2)",
    {
        "x": "real numbers",
        "df": "positive numbers of degrees of freedom",
    },
)


@_of("1.0, 4.0", -1.5387)
def logpdf(x, df, loc=0, scale=1):
    x, df, loc, scale = _promote("t.logpdf", x, df, loc, scale)
    y = (x - loc) / scale
    half = (df + 1) / 2
    constant = _n.log(scale) + 0.5 * _n.log(df * _math.pi) + lax.lgamma(df / 2) - lax.lgamma(half)
    return -(constant + half * _n.log1p(y * y / df))


@_of("1.0, 4.0", 0.2147)
def pdf(x, df, loc=0, scale=1):
    return _n.exp(logpdf(x, df, loc, scale))
