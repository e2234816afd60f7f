//! Formulas of values, written with operators that promote as Python's operators on arrays do.
//!
//! The first error of a formula is its value, so that only the end of a formula is checked.

use std::ops::{Add, Div, Mul, Neg, Sub};

use pullback_base::Result;
use pullback_ir::Val;

use crate::convert::{weak_float, weak_int};
use crate::numpy;

/// A value in a formula, or the error that came before it.
#[derive(Clone)]
pub(crate) struct Formula(Result<Val>);

/// The start of a formula.
pub(crate) fn of(x: &Val) -> Formula {
    Formula(Ok(x.clone()))
}

impl Formula {
    /// The value.
    pub(crate) fn done(self) -> Result<Val> {
        self.0
    }

    /// A function of it.
    pub(crate) fn then(&self, f: impl FnOnce(&Val) -> Result<Val>) -> Formula {
        Formula(self.0.as_ref().map_err(Clone::clone).and_then(f))
    }

    /// Its power of a fixed exponent.
    pub(crate) fn to_the(&self, exponent: &Val) -> Formula {
        self.then(|x| numpy::power(x, exponent))
    }

    /// Its product of matrices with another.
    pub(crate) fn times(&self, other: impl Into<Formula>) -> Formula {
        binary(self.clone(), other.into(), |x, y| numpy::matmul(x, y, None))
    }
}

impl From<&Val> for Formula {
    fn from(x: &Val) -> Formula {
        of(x)
    }
}

impl From<Val> for Formula {
    fn from(x: Val) -> Formula {
        Formula(Ok(x))
    }
}

impl From<Result<Val>> for Formula {
    fn from(x: Result<Val>) -> Formula {
        Formula(x)
    }
}

impl From<&Formula> for Formula {
    fn from(x: &Formula) -> Formula {
        x.clone()
    }
}

impl From<f64> for Formula {
    fn from(x: f64) -> Formula {
        Formula(Ok(weak_float(x)))
    }
}

impl From<i64> for Formula {
    fn from(x: i64) -> Formula {
        Formula(Ok(weak_int(x)))
    }
}

fn binary(x: Formula, y: Formula, op: fn(&Val, &Val) -> Result<Val>) -> Formula {
    Formula(x.0.and_then(|x| op(&x, &y.0?)))
}

macro_rules! operators {
    ($($operator:ident $method:ident $function:path;)*) => {$(
        impl<T: Into<Formula>> $operator<T> for Formula {
            type Output = Formula;
            fn $method(self, other: T) -> Formula {
                binary(self, other.into(), $function)
            }
        }
        impl<T: Into<Formula>> $operator<T> for &Formula {
            type Output = Formula;
            fn $method(self, other: T) -> Formula {
                binary(self.clone(), other.into(), $function)
            }
        }
        operators!($operator $method $function, f64, Formula);
        operators!($operator $method $function, f64, &Formula);
        operators!($operator $method $function, i64, Formula);
        operators!($operator $method $function, i64, &Formula);
    )*};
    ($operator:ident $method:ident $function:path, $number:ty, $formula:ty) => {
        impl $operator<$formula> for $number {
            type Output = Formula;
            fn $method(self, other: $formula) -> Formula {
                binary(self.into(), other.into(), $function)
            }
        }
    };
}
operators! {
    Add add numpy::add;
    Sub sub numpy::subtract;
    Mul mul numpy::multiply;
    Div div numpy::true_divide;
}

impl Neg for Formula {
    type Output = Formula;
    fn neg(self) -> Formula {
        self.then(numpy::negative)
    }
}

impl Neg for &Formula {
    type Output = Formula;
    fn neg(self) -> Formula {
        self.then(numpy::negative)
    }
}
