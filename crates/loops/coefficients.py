"""Writes src/expand/coefficients.rs: polynomials by Chebyshev interpolation in 60 digits.

Run with mpmath installed: python3 coefficients.py > src/expand/coefficients.rs
Each entry: name, what it is, function, interval and degree for float32, interval and degree for float64.
"""
import struct
import sys
from mpmath import mp, mpf, cos, pi, exp, log, log1p, sin, tanh, erf, erfc, erfinv, atan, asin, sinh, sqrt, taylor, polyval, matrix

mp.dps = 60


def near_zero(f, order, lead):
    """(f(x) - lead(x)) / x^order as a function of x, by series next to zero."""
    def g(x):
        with mp.workdps(120):
            return (f(x) - lead(x)) / x**order
    return g


def even(f, order, lead):
    """As near_zero, but a function of z = x*x."""
    g = near_zero(f, order, lead)
    return lambda z: g(sqrt(z))


def chebyshev(f, a, b, degree):
    n = degree + 1
    nodes = [cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]
    points = [(a + b) / 2 + (b - a) / 2 * t for t in nodes]
    # A point where the series form divides zero by zero is moved aside.
    values = [f(x if abs(x) > mpf(10)**-30 else mpf(10)**-30) for x in points]
    coefficients = [2 * sum(v * cos(j * pi * (2 * k + 1) / (2 * n)) for k, v in enumerate(values)) / n for j in range(n)]
    coefficients[0] /= 2
    # Chebyshev series to powers of t, then of x.
    t0, t1 = [mpf(1)], [mpf(0), mpf(1)]
    powers = [mpf(0)] * n
    for j, c in enumerate(coefficients):
        tj = t0 if j == 0 else t1
        for i, v in enumerate(tj):
            powers[i] += c * v
        if j >= 1:
            t2 = [mpf(0)] + [2 * v for v in t1]
            for i, v in enumerate(t0):
                t2[i] -= v
            t0, t1 = t1, t2
    scale, shift = 2 / (b - a), -(a + b) / (b - a)
    result = [mpf(0)]
    for c in reversed(powers):
        shifted = [mpf(0)] * (len(result) + 1)
        for i, v in enumerate(result):
            shifted[i] += v * shift
            shifted[i + 1] += v * scale
        shifted[0] += c
        result = shifted
    return result[:n]


def f32(x):
    return struct.unpack('f', struct.pack('f', float(x)))[0]


def text_in_f32(c):
    return next(s for s in (f'{c:.{d}e}' for d in range(1, 10)) if f32(float(s)) == c)


def error(f, a, b, coefficients, rounding):
    rounded = [mpf(rounding(c)) for c in coefficients]
    worst = mpf(0)
    for k in range(201):
        x = a + (b - a) * (mpf(k) + mpf('0.4')) / 201
        worst = max(worst, abs(polyval(rounded[::-1], x) / f(x) - 1))
    return worst


def erfcx_bounded(t):
    x = K * (1 + t) / (1 - t)
    return exp(x * x) * erfc(x) * (1 + 2 * x)


K = mpf(2)
to_t = lambda x: (mpf(x) - K) / (mpf(x) + K)
root = lambda w: sqrt(mpf(w))
inverse = lambda w: erfinv(sqrt(1 - exp(-w))) / sqrt(1 - exp(-w))
def tail(s):
    with mp.workdps(80):
        w = s * s
        y = 1 - exp(-w)
        x = sqrt(y)
        # erfinv loses digits next to one: solve erfc(r) = 1 - x by Newton from the asymptotic guess.
        rest = exp(-w) / (1 + x)
        r = sqrt(w) * mpf('0.9')
        for _ in range(60):
            step = (erfc(r) - rest) / (-2 / sqrt(pi) * exp(-r * r))
            r -= step
            if abs(step) < mpf(10)**-65:
                break
        return r / x
half = mpf('0.35')
low, high = sqrt(mpf('0.5')) - 1, sqrt(mpf(2)) - 1
s2 = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1))**2 * mpf('1.01')
quarter = (pi / 4 * mpf('1.005'))**2
one = mpf(1)
FITS = [
    ('EXP', '`(e^r - 1 - r) / r²` over `|r| ≤ 0.35`', near_zero(exp, 2, lambda r: 1 + r), (-half, half, 4), (-half, half, 9)),
    ('EXP2', '`(2^r - 1 - r ln 2) / r²` over `|r| ≤ 0.5`', near_zero(lambda r: mpf(2)**r, 2, lambda r: 1 + r * log(2)), (-mpf('.505'), mpf('.505'), 4), (-mpf('.505'), mpf('.505'), 10)),
    ('LOG', '`(ln(1+f) - f + f²/2) / f³` between `√½ - 1` and `√2 - 1`', near_zero(log1p, 3, lambda f: f - f * f / 2), (low, high, 8), None),
    ('LOG_ATANH', '`(ln((1+s)/(1-s)) - 2s) / s³` in `z = s²`', even(lambda s: log((1 + s) / (1 - s)), 3, lambda s: 2 * s), None, (mpf(0), s2, 7)),
    ('SIN', '`(sin r - r) / r³` in `z = r²`, `|r| ≤ π/4`', even(sin, 3, lambda r: r), (mpf(0), quarter, 2), (mpf(0), quarter, 6)),
    ('COS', '`(cos r - 1 + z/2) / z²` in `z = r²`, `|r| ≤ π/4`', even(cos, 4, lambda r: 1 - r * r / 2), (mpf(0), quarter, 2), (mpf(0), quarter, 6)),
    ('TANH', '`(tanh x - x) / x³` in `z = x²`, `|x| ≤ 0.63`', even(tanh, 3, lambda x: x), (mpf(0), mpf('.4'), 5), (mpf(0), mpf('.4'), 11)),
    ('SINH', '`(sinh x - x) / x³` in `z = x²`, `|x| ≤ 1`', even(sinh, 3, lambda x: x), (mpf(0), one, 3), (mpf(0), one, 7)),
    ('ATAN', '`(atan x - x) / x³` in `z = x²`, `|x| ≤ 1`', even(atan, 3, lambda x: x), (mpf(0), one, 9), (mpf(0), one, 21)),
    ('ASIN', '`(asin x - x) / x³` in `z = x²`, `|x| ≤ ½`', even(asin, 3, lambda x: x), (mpf(0), mpf('.25'), 5), (mpf(0), mpf('.25'), 12)),
    ('ERF', '`erf(x) / x - 2/√π` over `z`, in `z = x²`, `|x| ≤ 1`', even(erf, 3, lambda x: 2 / sqrt(pi) * x), (mpf(0), one, 6), (mpf(0), one, 14)),
    ('ERFCX', '`e^{x²} erfc(x) (1 + 2x)` in `t = (x-2)/(x+2)`, `x ≥ 0`', erfcx_bounded, (to_t(0), to_t('10.5'), 11), (to_t(0), to_t('27.5'), 25)),
    ('ERF_INV', '`erfinv(x) / x` in `w = -ln(1-x²)` up to 6.25', inverse, None, (mpf(0), mpf('6.25'), 24)),
    ('ERF_INV_TAIL', '`erfinv(x) / x` in `√w - 3.25` from 2.5 to 4', lambda d: tail(d + mpf('3.25')), None, (mpf('-.75'), mpf('.75'), 18)),
    ('ERF_INV_FAR', '`erfinv(x) / x` in `√w - 5` from 4', lambda d: tail(d + 5), None, (mpf(-1), root(37) - 5, 16)),
]

print('''//! Coefficients of the polynomials, lowest power first.
//!
//! Written by `coefficients.py` of this crate: Chebyshev interpolation in 60 digits, then rounded.

/// One polynomial for each float type.
pub(super) struct Polynomial {
    pub(super) f32: &'static [f32],
    pub(super) f64: &'static [f64],
}
''')
for name, text, f, single, double in FITS:
    tables = []
    for fit, rounding in ((single, f32), (double, float)):
        if fit is None:
            tables.append([])
            continue
        a, b, degree = fit
        coefficients = chebyshev(f, a, b, degree)
        tables.append([rounding(c) for c in coefficients])
        print(name, degree, mp.nstr(error(f, a, b, coefficients, rounding), 3), mp.nstr(error(f, a, b, coefficients, lambda c: c), 3), file=sys.stderr)
    print(f'/// {text}.')
    print('#[rustfmt::skip]')
    print(f'pub(super) const {name}: Polynomial = Polynomial {{')
    for kind, table in zip(('f32', 'f64'), tables):
        def text_of(c):
            if kind == 'f64':
                return repr(c) if '.' in repr(c) or 'e' in repr(c) else repr(c) + '.0'
            return text_in_f32(c)
        lines = [', '.join(map(text_of, table[i:i + 5])) for i in range(0, len(table), 5)]
        body = ''.join(f'\n        {line},' for line in lines) + ('\n    ' if lines else '')
        print(f'    {kind}: &[{body}],')
    print('};')


# erf for float32, in pieces: around each multiple of WIDTH but the last one, from whose piece on it is 1 to
# an ulp. Of 2500 widths of 20 bits that were tried, the one whose rounded coefficients leave the least error (1.26 ulp).
WIDTH, PIECES, DEGREE = mpf(277923) / 2**20, 16, 5


def of_piece(number):
    """Coefficients of erf around the middle of a piece; next to zero of erf(r) - r, without a constant."""
    middle, half = number * WIDTH, WIDTH / 2 * mpf('1.001')
    if number == 0:
        return [mpf(0)] + chebyshev(lambda r: erf(r) / r - 1, mpf(0), half, DEGREE - 1)
    if number == PIECES - 1:
        return [mpf(1)] + [mpf(0)] * DEGREE
    return chebyshev(lambda r: erf(middle + r), -half, half, DEGREE)


pieces = [of_piece(number) for number in range(PIECES)]
print('/// The distance of the middles of the pieces of [`ERF_PIECES`]; the first is at zero.')
print(f'pub(super) const ERF_PIECE: f64 = {float(WIDTH)};')
print('/// `erf` in `float32` around the middle of each piece, in the first less its argument: for each power, lowest first, its coefficients.')
print('#[rustfmt::skip]')
print(f'pub(super) const ERF_PIECES: [[f32; {PIECES}]; {DEGREE + 1}] = [')
for power in range(DEGREE + 1):
    entries = [text_in_f32(f32(piece[power])) for piece in pieces]
    print('    [\n' + ''.join('        ' + ', '.join(entries[i:i + 8]) + ',\n' for i in (0, 8)) + '    ],')
print('];')
