//! Elementary functions of complex numbers, as formulas of their parts.
//!
//! Values agree with the reference at zeros, infinities and NaN, which differs from C99 in places: `exp`, `sinh`, `tanh`
//! and their kin give +0 for the imaginary part of a real argument, whatever the sign of its zero, and the inverse
//! functions with cuts on the real axis (`asin`, `acos`, `acosh`, `sqrt`) count -0 as 0 there. Inverse sine and cosine
//! are those of Hull, Fairgrieve and Tang, "Implementing the complex arcsine and arccosine functions using exception
//! handling" (ACM TOMS 23, 1997), without the exceptions: the parts of `complex64` run in `float64`, where nothing
//! overflows, and those of `complex128` are scaled.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pullback_base::DType;
use pullback_loops::{Binary, Unary};

use super::formula::{Complex, Term, power};

impl<'f> Complex<'f> {
    /// From its parts.
    pub fn new(re: Term<'f>, im: Term<'f>) -> Complex<'f> {
        Complex { re, im }
    }

    /// Both parts times a real number.
    pub fn scaled(self, factor: f64) -> Complex<'f> {
        Complex { re: self.re * factor, im: self.im * factor }
    }

    /// The real number as a complex one.
    pub fn number(self, value: f64) -> Complex<'f> {
        Complex { re: self.re.number(value), im: self.re.number(0.0) }
    }

    /// `(re, im)` to `(im, re)`.
    fn swapped(self) -> Complex<'f> {
        Complex { re: self.im, im: self.re }
    }

    pub(super) fn to(self, dtype: DType) -> Complex<'f> {
        Complex { re: self.re.to(dtype), im: self.im.to(dtype) }
    }

    /// A formula in `float64` parts.
    pub(super) fn in_double(self, formula: impl FnOnce(Complex<'f>) -> Complex<'f>) -> Complex<'f> {
        formula(self.to(DType::F64)).to(self.re.dtype())
    }

    /// The first where the condition holds, else the second.
    pub fn choose(condition: Term<'f>, on_true: Complex<'f>, on_false: Complex<'f>) -> Complex<'f> {
        Complex { re: condition.choose(on_true.re, on_false.re), im: condition.choose(on_true.im, on_false.im) }
    }

    fn has_infinity(self) -> Term<'f> {
        self.re.is_infinite() | self.im.is_infinite()
    }

    /// Distance from zero; infinite where a part is, even beside NaN.
    pub fn abs(self) -> Term<'f> {
        let infinity = self.re.number(f64::INFINITY);
        self.has_infinity().choose(infinity, self.re.hypot(self.im))
    }

    /// The angle, in radians.
    pub fn angle(self) -> Term<'f> {
        self.im.binary(Binary::Atan2, self.re)
    }

    /// The imaginary part +0 where that of `of` is zero.
    fn real_where_real(self, of: Complex<'f>) -> Complex<'f> {
        let zero = self.im.number(0.0);
        Complex { re: self.re, im: of.im.eq(zero).choose(zero, self.im) }
    }

    /// `e^z`.
    pub fn exp(self) -> Complex<'f> {
        // Beyond the range of e^x the parts may still be numbers: half of the exponent goes into each of two factors.
        let limit = if self.re.dtype() == DType::F32 { 88.0 } else { 709.0 };
        let is_great = self.re.number(limit).lt(self.re);
        let factor = is_great.choose(self.re * 0.5, self.re).unary(Unary::Exp);
        let again = is_great.choose(factor, factor.number(1.0));
        let part = |of: Term<'f>| factor * of * again;
        let value = Complex { re: part(self.im.unary(Unary::Cos)), im: part(self.im.unary(Unary::Sin)) };
        let value = value.real_where_real(self);
        // A real argument of infinite size has no angle to lose.
        let zero = self.im.number(0.0);
        Complex { re: self.im.eq(zero).choose(factor * again, value.re), im: value.im }
    }

    /// `2^z`, as `e^(z ln 2)`.
    pub fn exp2(self) -> Complex<'f> {
        (self * self.number(std::f64::consts::LN_2)).exp()
    }

    /// `e^z - 1`, exact near zero.
    pub fn expm1(self) -> Complex<'f> {
        // e^x cos y - 1 = (e^x - 1) cos y - 2 sin²(y/2).
        let half = (self.im * 0.5).unary(Unary::Sin);
        let less = self.re.unary(Unary::Expm1);
        let cos = self.im.unary(Unary::Cos);
        let is_real = self.im.eq(self.im.number(0.0));
        let re = is_real.choose(less + 0.0, less * cos - (half * half) * 2.0);
        Complex { re, im: self.exp().im }
    }

    /// The principal logarithm.
    pub fn log(self) -> Complex<'f> {
        let (x, y) = (self.re.abs(), self.im.abs());
        let size = self.re.hypot(self.im);
        // Near the unit circle |z|² - 1 says more than |z|.
        let (high, low) = (x.max(y), x.min(y));
        let excess = (high - 1.0) * (high + 1.0) + low * low;
        let is_near = size.gt(size.number(0.5)) & size.lt(size.number(2.0));
        let re = is_near.choose(excess.unary(Unary::Log1p) * 0.5, size.log());
        Complex { re, im: self.angle() }
    }

    /// The logarithm of one more, exact near zero.
    pub fn log1p(self) -> Complex<'f> {
        if self.re.dtype() == DType::F32 { self.in_double(Complex::log1p_wide) } else { self.log1p_wide() }
    }

    fn log1p_wide(self) -> Complex<'f> {
        // |1 + z|² - 1 = x (2 + x) + y², which does not cancel near zero; elsewhere |1 + z| will do.
        let excess = self.re * (self.re + 2.0) + self.im * self.im;
        let one_more = Complex::new(self.re + 1.0, self.im);
        let small = |x: Term<'f>| x.abs().lt(x.number(0.25));
        let is_near = small(self.re) & small(self.im);
        let re = is_near.choose(excess.unary(Unary::Log1p) * 0.5, one_more.log().re);
        Complex::new(re, one_more.angle())
    }

    /// The principal square root with the sign of the imaginary part's zero.
    fn sqrt_by_sides(self, is_below: Term<'f>) -> Complex<'f> {
        // With t = sqrt((|x| + |z|)/2), the parts are t and |y|/2t in an order that the sign of x says.
        let t = ((self.re.abs() * 0.5) + (self.re.hypot(self.im) * 0.5)).sqrt();
        let other = self.im.abs() / (t * 2.0);
        let zero = self.re.number(0.0);
        let other = (t.eq(zero) | self.re.is_infinite()).choose(zero, other);
        let is_right = self.re.ge(zero);
        let value = Complex { re: is_right.choose(t, other), im: is_right.choose(other, t) };
        // Above and below everything: infinite in both parts.
        let infinity = t.number(f64::INFINITY);
        let value = Complex::choose(self.im.is_infinite(), Complex::new(infinity, infinity), value);
        // A NaN is in both parts.
        let nan = self.re + self.im;
        let is_nan = self.re.is_nan() | self.im.is_nan();
        let value = Complex::choose(is_nan, Complex::new(nan, nan), value);
        Complex { re: value.re, im: is_below.choose(-value.im, value.im) }
    }

    /// The principal square root.
    pub fn sqrt(self) -> Complex<'f> {
        self.sqrt_by_sides(self.im.lt(self.im.number(0.0)))
    }

    /// One over the principal square root.
    pub fn rsqrt(self) -> Complex<'f> {
        let zero = self.re.number(0.0);
        let is_below = self.im.lt(zero) | (1.0 / self.im).lt(zero);
        let root = self.sqrt_by_sides(is_below);
        let size = self.re.hypot(self.im);
        let value = Complex { re: root.re / size, im: -root.im / size };
        let far = Complex { re: zero.with_sign_of(self.re), im: (-zero.with_sign_of(self.im)) };
        let far = Complex { re: self.re.is_infinite().choose(far.re, zero), im: far.im };
        let value = Complex::choose(self.has_infinity(), far, value);
        let is_zero = self.re.eq(zero) & self.im.eq(zero);
        let pole = Complex::new(zero.number(f64::INFINITY), zero.number(f64::NAN));
        Complex::choose(is_zero, pole, value)
    }

    /// Its square.
    pub fn square(self) -> Complex<'f> {
        self * self
    }

    /// The product of `n` factors equal to this one.
    pub fn power(self, n: u32) -> Complex<'f> {
        power(self, n, |a, b| a * b).unwrap_or_else(|| self.number(1.0))
    }

    /// One over it.
    pub fn reciprocal(self) -> Complex<'f> {
        self.number(1.0) / self
    }

    /// The sine.
    pub fn sin(self) -> Complex<'f> {
        let (sinh, cosh) = (self.im.unary(Unary::Sinh), self.im.unary(Unary::Cosh));
        let value = Complex { re: self.re.unary(Unary::Sin) * cosh, im: self.re.unary(Unary::Cos) * sinh };
        let zero = self.re.number(0.0);
        Complex::choose(self.re.eq(zero), Complex::new(zero, sinh), value)
    }

    /// The cosine.
    pub fn cos(self) -> Complex<'f> {
        let (sinh, cosh) = (self.im.unary(Unary::Sinh), self.im.unary(Unary::Cosh));
        let value = Complex { re: self.re.unary(Unary::Cos) * cosh, im: -self.re.unary(Unary::Sin) * sinh };
        let zero = self.re.number(0.0);
        Complex::choose(self.re.eq(zero), Complex::new(cosh, zero), value)
    }

    /// The hyperbolic sine.
    pub fn sinh(self) -> Complex<'f> {
        let (sinh, cosh) = (self.re.unary(Unary::Sinh), self.re.unary(Unary::Cosh));
        let value = Complex { re: sinh * self.im.unary(Unary::Cos), im: cosh * self.im.unary(Unary::Sin) };
        let zero = self.im.number(0.0);
        let value = Complex::choose(self.im.eq(zero), Complex::new(sinh, zero), value);
        // A zero real part is +0.
        Complex { re: value.re + 0.0, im: value.im }
    }

    /// The hyperbolic cosine.
    pub fn cosh(self) -> Complex<'f> {
        let (sinh, cosh) = (self.re.unary(Unary::Sinh), self.re.unary(Unary::Cosh));
        let value = Complex { re: cosh * self.im.unary(Unary::Cos), im: sinh * self.im.unary(Unary::Sin) };
        let zero = self.im.number(0.0);
        let value = Complex::choose(self.im.eq(zero), Complex::new(cosh, zero), value);
        Complex { re: value.re, im: value.im + 0.0 }
    }

    /// The hyperbolic tangent: `(sinh x cosh x + i sin y cos y) / (sinh² x + cos² y)`.
    pub fn tanh(self) -> Complex<'f> {
        // Beyond the bound the real part is ±1 to any precision we have, and the imaginary part vanishes beside it.
        let bound = if self.re.dtype() == DType::F32 { 20.0 } else { 40.0 };
        let x = self.re.max(self.re.number(-bound)).min(self.re.number(bound));
        let (sinh, cosh) = (x.unary(Unary::Sinh), x.unary(Unary::Cosh));
        let (sin, cos) = (self.im.unary(Unary::Sin), self.im.unary(Unary::Cos));
        let divisor = sinh * sinh + cos * cos;
        let value = Complex { re: (sinh * cosh) / divisor, im: (sin * cos) / divisor };
        let (zero, one) = (x.number(0.0), x.number(1.0));
        let turn = (sin * cos).is_nan().choose(zero, zero.with_sign_of(sin * cos));
        let end = Complex { re: one.with_sign_of(self.re), im: turn };
        let value = Complex::choose(self.re.is_infinite(), end, value);
        let is_real = self.im.eq(zero);
        let re = is_real.choose(self.re.unary(Unary::Tanh), value.re);
        Complex { re, im: value.im }.real_where_real(self)
    }

    /// The tangent, `-i tanh(iz)`.
    pub fn tan(self) -> Complex<'f> {
        let turned = Complex::new(-self.im, self.re).tanh();
        Complex::new(turned.im, -turned.re)
    }

    /// `1 / (1 + e^-z)`.
    pub fn logistic(self) -> Complex<'f> {
        (self.number(1.0) + (-self).exp()).reciprocal()
    }

    /// With `x = |re|` and `y = |im|`: the root `sqrt(A² - x²)` and `arcosh A`, where `A` is half the sum of the distances
    /// from ±1.
    fn arc_parts(self) -> (Term<'f>, Term<'f>) {
        let (x, y) = (self.re.abs(), self.im.abs());
        let zero = x.number(0.0);
        let (more, less) = (x + 1.0, x - 1.0);
        let (r, s) = (more.hypot(y), less.abs().hypot(y));
        let a = (r + s) * 0.5;
        let is_inside = less.lt(zero);
        // y (y / d), which is 0 at 0/0 and does not lose small squares.
        let over = |d: Term<'f>| y.eq(zero).choose(zero, y * (y / d));
        let first = over(r + more);
        let (near, far) = (s - less, over(s + less));
        let rest = (first + less.compare(pullback_loops::Comparison::Le, zero).choose(near, far)) * 0.5;
        let root = (a + x).sqrt() * rest.sqrt();
        let (inner, outer) = (over(s - less), s + less);
        let excess = (first + is_inside.choose(inner, outer)) * 0.5;
        let arcosh = (excess + excess.sqrt() * (a + 1.0).sqrt()).unary(Unary::Log1p);
        (root, arcosh)
    }

    /// `(asin, acos)` of the real part's angle, and the common imaginary part of `asin`.
    fn arcs(self) -> (Term<'f>, Term<'f>, Term<'f>) {
        let (root, arcosh) = self.arc_parts();
        let (x, zero, one) = (self.re.abs(), root.number(0.0), root.number(1.0));
        // At infinity the direction alone counts.
        let unit = |part: Term<'f>| part.is_infinite().choose(one, zero);
        let is_far = self.has_infinity();
        let (across, along) = (is_far.choose(unit(self.im), root), is_far.choose(unit(self.re), x));
        let nan = self.re + self.im;
        let is_nan = self.re.is_nan() | self.im.is_nan();
        let signed = along.with_sign_of(self.re);
        let asin = along.binary(Binary::Atan2, across);
        let acos = is_far.choose(across, root).binary(Binary::Atan2, signed);
        let im = is_far.choose(zero.number(f64::INFINITY), is_nan.choose(nan, arcosh));
        (is_nan.choose(nan, asin).with_sign_of(self.re), is_nan.choose(nan, acos), im)
    }

    fn with_im_away_from(self, of: Complex<'f>) -> Complex<'f> {
        let is_below = of.im.lt(of.im.number(0.0));
        Complex { re: self.re, im: is_below.choose(-self.im, self.im) }
    }

    fn asin_wide(self) -> Complex<'f> {
        let (asin, _, im) = self.arcs();
        Complex::new(asin, im).with_im_away_from(self)
    }

    fn acos_wide(self) -> Complex<'f> {
        let (_, acos, im) = self.arcs();
        Complex::new(acos, -im).with_im_away_from(self)
    }

    /// The inverse sine; cut on the real axis beyond ±1.
    pub fn asin(self) -> Complex<'f> {
        self.in_double(Complex::asin_wide)
    }

    /// The inverse cosine; cut on the real axis beyond ±1.
    pub fn acos(self) -> Complex<'f> {
        self.in_double(Complex::acos_wide)
    }

    /// The inverse hyperbolic sine, the inverse sine with both sides turned.
    pub fn asinh(self) -> Complex<'f> {
        self.swapped().asin().swapped()
    }

    /// The inverse hyperbolic cosine: `±i acos z` with the real part not negative.
    pub fn acosh(self) -> Complex<'f> {
        self.in_double(|z| {
            let (_, acos, im) = z.arcs();
            Complex::new(im, acos).with_im_away_from(z)
        })
    }

    /// The inverse hyperbolic tangent; cut on the real axis beyond ±1.
    pub fn atanh(self) -> Complex<'f> {
        self.in_double(Complex::atanh_wide)
    }

    fn atanh_wide(self) -> Complex<'f> {
        let (zero, quarter_turn) = (self.re.number(0.0), self.re.number(std::f64::consts::FRAC_PI_2));
        let (x, y) = (self.re.abs(), self.im.abs());
        let limit = zero.number(1e100);
        let is_near = x.lt(limit) & y.lt(limit);
        let less = 1.0 - x;
        let near_re = ((x * 4.0) / (less * less + y * y)).unary(Unary::Log1p) * 0.25;
        let near_im = (self.im * 2.0).binary(Binary::Atan2, less * (x + 1.0) - y * y) * 0.5;
        let size = x.max(y);
        let far_re = (x / size) / size / ((x / size) * (x / size) + (y / size) * (y / size));
        let far_re = self.has_infinity().choose(zero, far_re);
        let re = is_near.choose(near_re, far_re);
        let is_right = self.re.ge(zero);
        let is_above = self.im.ge(zero);
        let far_im = is_above.choose(quarter_turn, -quarter_turn);
        Complex { re: is_right.choose(re, -re), im: is_near.choose(near_im, far_im) }
    }

    /// The inverse tangent, `-i atanh(iz)`.
    pub fn atan(self) -> Complex<'f> {
        let turned = Complex::new(-self.im, self.re).atanh();
        Complex::new(turned.im, -turned.re)
    }
}

impl<'f> Add for Complex<'f> {
    type Output = Complex<'f>;
    fn add(self, other: Complex<'f>) -> Complex<'f> {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl<'f> Sub for Complex<'f> {
    type Output = Complex<'f>;
    fn sub(self, other: Complex<'f>) -> Complex<'f> {
        Complex { re: self.re - other.re, im: self.im - other.im }
    }
}

impl<'f> Mul for Complex<'f> {
    type Output = Complex<'f>;
    fn mul(self, other: Complex<'f>) -> Complex<'f> {
        let re = self.re * other.re - self.im * other.im;
        Complex { re, im: self.re * other.im + self.im * other.re }
    }
}

impl<'f> Div for Complex<'f> {
    type Output = Complex<'f>;
    /// By Smith's method: the divisor's greater part is factored out, so that no square overflows. Where both parts
    /// come out NaN, infinities are told from their directions (C99, annex G.5.1).
    fn div(self, other: Complex<'f>) -> Complex<'f> {
        let (a, b, c, d) = (self.re, self.im, other.re, other.im);
        let is_wide = c.abs().ge(d.abs());
        let (high, low) = (is_wide.choose(c, d), is_wide.choose(d, c));
        let (zero, one) = (high.number(0.0), high.number(1.0));
        let ratio = high.eq(zero).choose(low, low / high);
        let divisor = high.eq(zero).choose(high, high + low * ratio);
        let re = is_wide.choose(a + b * ratio, a * ratio + b);
        let im = is_wide.choose(b - a * ratio, b * ratio - a);
        let plain = Complex { re: re / divisor, im: im / divisor };
        let unit = |z: Complex<'f>| {
            let part = |x: Term<'f>| x.is_infinite().choose(one, zero).with_sign_of(x);
            Complex::new(part(z.re), part(z.im))
        };
        let times_conjugate =
            |x: Complex<'f>, y: Complex<'f>| Complex::new(x.re * y.re + x.im * y.im, x.im * y.re - x.re * y.im);
        let is_finite = |z: Complex<'f>| z.re.unary(Unary::IsFinite) & z.im.unary(Unary::IsFinite);
        let far = times_conjugate(unit(self), other).scaled(f64::INFINITY);
        let near = times_conjugate(self, unit(other)).scaled(0.0);
        let is_lost = plain.re.is_nan() & plain.im.is_nan();
        let value = Complex::choose(is_lost & self.has_infinity() & is_finite(other), far, plain);
        Complex::choose(is_lost & other.has_infinity() & is_finite(self), near, value)
    }
}

impl<'f> Neg for Complex<'f> {
    type Output = Complex<'f>;
    fn neg(self) -> Complex<'f> {
        Complex { re: -self.re, im: -self.im }
    }
}
