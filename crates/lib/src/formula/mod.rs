//! Formulas of values, written with operators that promote as Python's operators on arrays do.
//!
//! The first error of a formula is its value, so that only the end of a formula is checked.

mod functions;

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Rem, Sub};

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use crate::axes::Axes;
use crate::broadcast::check_rank_promotion;
use crate::convert::{convert, to_dtype, weak_float, weak_int};
use crate::indexing::{IndexItem, getitem};
use crate::numpy::{self, Reduction};
use crate::promotion::{check_arguments, promote_inexact};

pub(crate) use functions::*;

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

    /// Its power.
    pub(crate) fn to_the(&self, exponent: impl Into<Formula>) -> Formula {
        binary(self.clone(), exponent.into(), numpy::power)
    }

    /// Its product of matrices with another.
    pub(crate) fn times(&self, other: impl Into<Formula>) -> Formula {
        binary(self.clone(), other.into(), |x, y| numpy::matmul(x, y, None))
    }

    /// Its inner product with another vector.
    pub(crate) fn dot(&self, other: impl Into<Formula>) -> Formula {
        binary(self.clone(), other.into(), |x, y| numpy::dot(x, y, None))
    }

    /// In the dtype of another formula.
    pub(crate) fn typed_as(&self, other: &Formula) -> Formula {
        binary(self.clone(), other.clone(), |x, other| numpy::astype(x, other.aval().dtype))
    }

    /// In the dtype and of the weak type of another formula.
    pub(crate) fn typed_like(&self, other: &Formula) -> Formula {
        binary(self.clone(), other.clone(), |x, other| convert(x, other.aval().dtype, other.aval().weak_type))
    }

    /// In a dtype.
    pub(crate) fn astype(&self, dtype: DType) -> Formula {
        self.then(|x| numpy::astype(x, dtype))
    }

    /// Of strong type, but for one number: as where typed constants take part.
    pub(crate) fn strong_if_array(&self) -> Formula {
        self.then(|x| if x.aval().rank() == 0 { Ok(x.clone()) } else { to_dtype(x, x.aval().dtype) })
    }

    /// Of strong type.
    pub(crate) fn strong(&self) -> Formula {
        self.then(|x| to_dtype(x, x.aval().dtype))
    }

    /// Its sum along an axis.
    pub(crate) fn sum(&self, axis: i64) -> Formula {
        self.then(|x| numpy::sum(x, &Reduction::over(Axes::One(axis), false)))
    }

    /// Its sum along all axes.
    pub(crate) fn total(&self) -> Formula {
        self.then(|x| numpy::sum(x, &Reduction::default()))
    }

    /// A part of it.
    pub(crate) fn at(&self, items: &[IndexItem]) -> Formula {
        self.then(|x| getitem(x, items))
    }
}

/// The operands of a function in their common floating dtype, each as the start of a formula.
///
/// # Errors
/// As [`promote_inexact`] and [`check_arguments`].
pub(crate) fn promoted<const N: usize>(name: &str, args: [&Val; N]) -> Result<[Formula; N]> {
    let args = args.map(Clone::clone);
    check_arguments(name, &args)?;
    check_rank_promotion(name, &args)?;
    if name.contains('.') && !OF_COMPLEX.contains(&name) {
        check_real(name, &args)?;
    }
    let mut found = promote_inexact(&args)?.into_iter();
    Ok(args.map(|_| Formula(Ok(found.next().expect("as many operands as arguments")))))
}

/// Distributions whose formulas hold for complex numbers, which have no order.
const OF_COMPLEX: [&str; 23] = [
    "cauchy.logpdf",
    "cauchy.cdf",
    "cauchy.ppf",
    "cauchy.sf",
    "cauchy.logsf",
    "cauchy.isf",
    "logistic.logpdf",
    "logistic.ppf",
    "logistic.sf",
    "logistic.isf",
    "logistic.cdf",
    "norm.logpdf",
    "norm.cdf",
    "norm.logcdf",
    "norm.sf",
    "norm.logsf",
    "norm.ppf",
    "t.logpdf",
    "expon.ppf",
    "pareto.ppf",
    "uniform.logpdf",
    "uniform.ppf",
    "multivariate_normal.logpdf",
];

fn check_real(name: &str, args: &[Val]) -> Result<()> {
    match args.iter().map(|x| x.aval().dtype).find(|dtype| dtype.is_complex()) {
        None => Ok(()),
        Some(dtype) => bail!(Type, "{name} does not accept dtype {dtype}: complex numbers have no order."),
    }
}

macro_rules! comparisons {
    ($($method:ident $function:path;)*) => {
        impl Formula {$(
            pub(crate) fn $method(&self, other: impl Into<Formula>) -> Formula {
                binary(self.clone(), other.into(), $function)
            }
        )*}
    };
}
comparisons! {
    lt numpy::less;
    le numpy::less_equal;
    gt numpy::greater;
    ge numpy::greater_equal;
    is numpy::equal;
    differs numpy::not_equal;
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
    Rem rem numpy::remainder;
}

macro_rules! logic {
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
    )*};
}
logic! {
    BitAnd bitand numpy::bitwise_and;
    BitOr bitor numpy::bitwise_or;
}

impl Not for Formula {
    type Output = Formula;
    fn not(self) -> Formula {
        self.then(numpy::invert)
    }
}

impl Not for &Formula {
    type Output = Formula;
    fn not(self) -> Formula {
        self.then(numpy::invert)
    }
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
