//! Scalar formulas of the loop IR written with operators, real ([`Term`]) and complex ([`Complex`]).
//!
//! They say how one element is computed; nothing here knows of arrays or derivatives. The elementary functions of complex
//! numbers are in [`super::complex_math`].

use std::cell::{RefCell, RefMut};
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

use pullback_base::{DType, Scalar};
use pullback_ir::lower::Elem;
use pullback_loops::{Binary, Builder, Carry, Comparison, Op, Unary, ValueId, While};

/// Where the terms of one formula are made.
pub struct Formula<'b>(RefCell<&'b mut Builder>);

/// A scalar value of a formula.
#[derive(Clone, Copy)]
pub struct Term<'f> {
    formula: &'f Formula<'f>,
    id: ValueId,
}

impl<'b> Formula<'b> {
    /// A formula that makes values in `loops`.
    pub fn new(loops: &'b mut Builder) -> Formula<'b> {
        Formula(RefCell::new(loops))
    }

    fn loops(&self) -> RefMut<'_, &'b mut Builder> {
        self.0.borrow_mut()
    }
}

impl<'f> Formula<'f> {
    /// A value of the builder as a term.
    pub fn term(&'f self, id: ValueId) -> Term<'f> {
        Term { formula: self, id }
    }

    /// An integer constant, wrapped to `dtype`.
    pub fn int(&'f self, dtype: DType, value: i128) -> Term<'f> {
        let id = self.loops().constant(Scalar::int(dtype, value));
        self.term(id)
    }

    /// A real constant, rounded to `dtype`.
    pub fn real(&'f self, dtype: DType, value: f64) -> Term<'f> {
        let id = self.loops().constant(Scalar::float(dtype, value));
        self.term(id)
    }
}

impl<'f> Term<'f> {
    /// The value in the builder.
    pub fn id(self) -> ValueId {
        self.id
    }

    /// Another value of the builder as a term of the same formula.
    pub fn same(self, id: ValueId) -> Term<'f> {
        self.formula.term(id)
    }

    /// Its type in the loop IR.
    pub fn dtype(self) -> DType {
        self.formula.loops().dtype(self.id)
    }

    /// A real constant of the same type.
    pub fn number(self, value: f64) -> Term<'f> {
        self.formula.real(self.dtype(), value)
    }

    /// An integer constant of the same type.
    pub fn int(self, value: i128) -> Term<'f> {
        self.formula.int(self.dtype(), value)
    }

    /// Values that `next` makes of themselves while `goes_on`, each of which sees the values so far.
    pub fn iterate(
        inits: &[Term<'f>],
        goes_on: impl FnOnce(&[Term<'f>]) -> Term<'f>,
        next: impl FnOnce(&[Term<'f>]) -> Vec<Term<'f>>,
    ) -> Vec<Term<'f>> {
        let formula = inits[0].formula;
        let fresh = |of: &Term<'f>| {
            let dtype = of.dtype();
            let id = formula.loops().fresh(dtype);
            formula.term(id)
        };
        let phis: Vec<Term<'f>> = inits.iter().map(fresh).collect();
        formula.loops().open();
        let condition = goes_on(&phis);
        let header = formula.loops().close();
        formula.loops().open();
        let nexts = next(&phis);
        let body = formula.loops().close();
        let outs: Vec<Term<'f>> = inits.iter().map(fresh).collect();
        let carries = (0..inits.len())
            .map(|i| Carry { phi: phis[i].id, init: inits[i].id, next: nexts[i].id, out: outs[i].id, combine: None })
            .collect();
        formula.loops().push(Op::While(Box::new(While { carries, header, condition: condition.id, body })));
        outs
    }

    fn made(self, make: impl FnOnce(&mut Builder) -> ValueId) -> Term<'f> {
        let id = make(&mut self.formula.loops());
        Term { formula: self.formula, id }
    }

    /// An operation of one operand.
    pub fn unary(self, op: Unary) -> Term<'f> {
        self.made(|loops| loops.unary(op, self.id))
    }

    /// An operation of two operands.
    pub fn binary(self, op: Binary, other: Term<'f>) -> Term<'f> {
        self.made(|loops| loops.binary(op, self.id, other.id))
    }

    /// A comparison.
    pub fn compare(self, op: Comparison, other: Term<'f>) -> Term<'f> {
        self.made(|loops| loops.compare(op, self.id, other.id))
    }

    /// Equality.
    pub fn eq(self, other: Term<'f>) -> Term<'f> {
        self.compare(Comparison::Eq, other)
    }

    /// Less than.
    pub fn lt(self, other: Term<'f>) -> Term<'f> {
        self.compare(Comparison::Lt, other)
    }

    /// Greater than.
    pub fn gt(self, other: Term<'f>) -> Term<'f> {
        self.compare(Comparison::Gt, other)
    }

    /// At least.
    pub fn ge(self, other: Term<'f>) -> Term<'f> {
        self.compare(Comparison::Ge, other)
    }

    /// Of a boolean: the first where it holds, else the second.
    pub fn choose(self, on_true: Term<'f>, on_false: Term<'f>) -> Term<'f> {
        self.made(|loops| loops.select(self.id, on_true.id, on_false.id))
    }

    /// Conversion by value.
    pub fn to(self, dtype: DType) -> Term<'f> {
        self.made(|loops| loops.convert(dtype, self.id))
    }

    /// The bits as another type of the same width.
    pub fn bits(self, dtype: DType) -> Term<'f> {
        self.made(|loops| loops.bitcast(dtype, self.id))
    }

    /// Shifted left.
    pub fn shifted_up(self, amount: i128) -> Term<'f> {
        self.binary(Binary::ShiftLeft, self.int(amount))
    }

    /// Shifted right, zeros coming in.
    pub fn shifted_down(self, amount: i128) -> Term<'f> {
        self.binary(Binary::ShiftRightLogical, self.int(amount))
    }

    /// The smaller.
    pub fn min(self, other: Term<'f>) -> Term<'f> {
        self.binary(Binary::Min, other)
    }

    /// The greater.
    pub fn max(self, other: Term<'f>) -> Term<'f> {
        self.binary(Binary::Max, other)
    }

    /// The distance from the origin to `(self, other)`, without overflow in between.
    pub fn hypot(self, other: Term<'f>) -> Term<'f> {
        let (a, b) = (self.unary(Unary::Abs), other.unary(Unary::Abs));
        let (high, low) = (a.max(b), a.min(b));
        let ratio = low / high;
        let length = high * (1.0 + ratio * ratio).unary(Unary::Sqrt);
        // 0/0 and inf/inf are not numbers; the greater part is the answer there.
        let is_plain = high.eq(high.number(0.0)) | high.eq(high.number(f64::INFINITY));
        is_plain.choose(high, length)
    }

    /// This size with the sign of `other`, be it of a zero or NaN.
    pub fn with_sign_of(self, other: Term<'f>) -> Term<'f> {
        let bits = if self.dtype() == DType::F32 { DType::I32 } else { DType::I64 };
        let is_negative = other.bits(bits).lt(self.formula.int(bits, 0));
        is_negative.choose(-self, self)
    }

    /// Whether it is an infinity of either sign.
    pub fn is_infinite(self) -> Term<'f> {
        self.unary(Unary::Abs).eq(self.number(f64::INFINITY))
    }

    /// Whether it is NaN.
    pub fn is_nan(self) -> Term<'f> {
        self.compare(Comparison::Ne, self)
    }

    /// The exponential.
    pub fn exp(self) -> Term<'f> {
        self.unary(Unary::Exp)
    }

    /// The natural logarithm.
    pub fn log(self) -> Term<'f> {
        self.unary(Unary::Log)
    }

    /// The greatest integer not above.
    pub fn floor(self) -> Term<'f> {
        self.unary(Unary::Floor)
    }

    /// A polynomial, lowest power first.
    pub fn polynomial(self, coefficients: &[f64]) -> Term<'f> {
        let (&last, rest) = coefficients.split_last().expect("a polynomial has coefficients");
        rest.iter().rev().fold(self.number(last), |sum, &coefficient| sum * self + coefficient)
    }

    /// The opposite of a boolean.
    pub fn opposite(self) -> Term<'f> {
        self.unary(Unary::Not)
    }

    /// The constant where the condition holds, else this value.
    pub fn when(self, condition: Term<'f>, constant: f64) -> Term<'f> {
        condition.choose(self.number(constant), self)
    }

    /// The square root.
    pub fn sqrt(self) -> Term<'f> {
        self.unary(Unary::Sqrt)
    }

    /// The distance from zero.
    pub fn abs(self) -> Term<'f> {
        self.unary(Unary::Abs)
    }

    /// The product of `n` factors equal to this one; one for `n = 0`.
    pub fn power(self, n: u32) -> Term<'f> {
        power(self, n, |a, b| a * b)
            .unwrap_or_else(|| if self.dtype().is_float() { self.number(1.0) } else { self.int(1) })
    }
}

/// `n` factors by repeated squaring; `None` for `n = 0`.
pub(super) fn power<T: Copy>(base: T, mut n: u32, times: impl Fn(T, T) -> T) -> Option<T> {
    let (mut square, mut product) = (base, None);
    while n > 0 {
        if n & 1 == 1 {
            product = Some(product.map_or(square, |product| times(product, square)));
        }
        n >>= 1;
        if n > 0 {
            square = times(square, square);
        }
    }
    product
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<'f> $trait for Term<'f> {
            type Output = Term<'f>;
            fn $method(self, other: Term<'f>) -> Term<'f> { self.binary(Binary::$op, other) }
        }
        impl<'f> $trait<f64> for Term<'f> {
            type Output = Term<'f>;
            fn $method(self, other: f64) -> Term<'f> { self.binary(Binary::$op, self.number(other)) }
        }
        impl<'f> $trait<Term<'f>> for f64 {
            type Output = Term<'f>;
            fn $method(self, other: Term<'f>) -> Term<'f> { other.number(self).binary(Binary::$op, other) }
        }
    )*};
}
operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
}

macro_rules! bit_operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<'f> $trait for Term<'f> {
            type Output = Term<'f>;
            fn $method(self, other: Term<'f>) -> Term<'f> { self.binary(Binary::$op, other) }
        }
    )*};
}
bit_operators! {
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
}

impl<'f> Neg for Term<'f> {
    type Output = Term<'f>;
    fn neg(self) -> Term<'f> {
        self.unary(Unary::Neg)
    }
}

/// A complex value of a formula.
#[derive(Clone, Copy)]
pub struct Complex<'f> {
    /// Real part.
    pub re: Term<'f>,
    /// Imaginary part.
    pub im: Term<'f>,
}

/// One complex element from one complex element.
pub fn complex_formula(
    loops: &mut Builder,
    re: ValueId,
    im: ValueId,
    body: impl for<'f> FnOnce(Complex<'f>) -> Complex<'f>,
) -> Elem {
    let formula = Formula::new(loops);
    let result = body(Complex { re: formula.term(re), im: formula.term(im) });
    Elem::Two(result.re.id(), result.im.id())
}

/// One complex element from two complex elements.
pub fn complex_formula2(
    loops: &mut Builder,
    [a, b]: [ValueId; 2],
    [c, d]: [ValueId; 2],
    body: impl for<'f> FnOnce(Complex<'f>, Complex<'f>) -> Complex<'f>,
) -> Elem {
    let formula = Formula::new(loops);
    let (x, y) =
        (Complex { re: formula.term(a), im: formula.term(b) }, Complex { re: formula.term(c), im: formula.term(d) });
    let result = body(x, y);
    Elem::Two(result.re.id(), result.im.id())
}

/// One real value from one real value.
pub fn real_formula(loops: &mut Builder, x: ValueId, body: impl for<'f> FnOnce(Term<'f>) -> Term<'f>) -> ValueId {
    let formula = Formula::new(loops);
    let result = body(formula.term(x));
    result.id()
}

/// One real value from two real values.
pub fn real_formula2(
    loops: &mut Builder,
    x: ValueId,
    y: ValueId,
    body: impl for<'f> FnOnce(Term<'f>, Term<'f>) -> Term<'f>,
) -> ValueId {
    let formula = Formula::new(loops);
    let result = body(formula.term(x), formula.term(y));
    result.id()
}
