//! The array type: a value, or the error on the way to it.

use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::panic::Location;

use pullback_base::{Aval, DType, Error, ErrorKind, Result, Scalar, Span};
use pullback_ir::Val;
use pullback_lib::numpy;

use crate::element::Element;

/// An n-dimensional array, or a stand-in for one while a function is being transformed.
///
/// Cloning copies a pointer. Operators take references or values, and numbers on either side; shapes broadcast as in
/// NumPy.
#[derive(Clone)]
pub struct Array {
    val: Result<Val>,
    checked: bool,
}

impl Array {
    pub(crate) fn from_val(val: Val) -> Array {
        Array { val: Ok(val), checked: false }
    }

    pub(crate) fn val(&self) -> Result<Val> {
        self.val.clone()
    }

    /// A vector of the given elements.
    pub fn from_slice<T: Element>(elements: &[T]) -> Array {
        Array::from_shape(&[elements.len()], elements)
    }

    /// A matrix of the given rows.
    ///
    /// # Panics
    /// If rows differ in length.
    pub fn from_rows<T: Element>(rows: &[&[T]]) -> Array {
        let width = rows.first().map_or(0, |row| row.len());
        assert!(rows.iter().all(|row| row.len() == width), "rows of a matrix have one length");
        Array::from_shape(&[rows.len(), width], &rows.concat())
    }

    /// An array of the given shape with elements in row-major order.
    ///
    /// # Panics
    /// If the number of elements is not that of the shape.
    pub fn from_shape<T: Element>(shape: &[usize], elements: &[T]) -> Array {
        assert_eq!(shape.iter().product::<usize>(), elements.len(), "elements for shape {shape:?}");
        let scalars = elements.iter().map(|&element| element.to_scalar());
        Array::from_val(Val::Array(pullback_base::Array::from_scalars(shape, T::DTYPE, scalars)))
    }

    /// A zero-dimensional array.
    pub fn scalar<T: Element>(element: T) -> Array {
        Array::from_val(Val::Array(pullback_base::Array::scalar(element.to_scalar())))
    }

    /// The same array, on which wrong operations wait as errors for [`Array::eval`] instead of panicking.
    #[must_use]
    pub fn checked(&self) -> Array {
        Array { val: self.val.clone(), checked: true }
    }

    /// The array, or the error that an operation on the way to it raised.
    ///
    /// # Errors
    /// That error.
    pub fn eval(self) -> Result<Array> {
        self.val.map(Array::from_val)
    }

    fn aval(&self) -> Aval {
        self.val.as_ref().map_or_else(|_| Aval::scalar(DType::F32, false), Val::aval)
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &'static [usize] {
        &self.aval().data().shape
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.aval().dtype
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.aval().rank()
    }

    /// The elements in row-major order, each converted to `T`.
    ///
    /// # Errors
    /// When the array stands for a value that is not known, or an operation on the way to it failed.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let val = self.val()?;
        let Some(array) = val.to_array() else {
            let text = format!("the elements of a traced array of type {} are not known", val.aval().long());
            return Err(Error::new(ErrorKind::Concretization, text));
        };
        Ok(array.elements()?.into_iter().map(T::from_scalar).collect())
    }

    /// The only element.
    ///
    /// # Errors
    /// As [`Array::to_vec`]; when there is not exactly one element.
    pub fn item<T: Element>(&self) -> Result<T> {
        let all = self.to_vec()?;
        match all[..] {
            [one] => Ok(one),
            _ => Err(Error::type_error(format!(
                "only arrays of size 1 have an item, this one has shape {:?}",
                self.shape()
            ))),
        }
    }

    /// What an operation gave: its value, or its error, which waits where it may.
    pub(crate) fn wrap(result: Result<Val>, checked: bool) -> Array {
        if let Err(error) = &result
            && !checked
            && !pullback_trace::is_tracing()
        {
            panic!("{error}");
        }
        Array { val: result, checked }
    }

    #[track_caller]
    pub(crate) fn unary(&self, f: impl FnOnce(&Val) -> Result<Val>) -> Array {
        let span = Span::of(Location::caller());
        Array::wrap(self.val().and_then(|val| span.scope(|| f(&val))), self.checked)
    }

    #[track_caller]
    pub(crate) fn binary(&self, other: &Array, f: impl FnOnce(&Val, &Val) -> Result<Val>) -> Array {
        let span = Span::of(Location::caller());
        let result = self.val().and_then(|x| other.val().and_then(|y| span.scope(|| f(&x, &y))));
        Array::wrap(result, self.checked || other.checked)
    }
}

impl From<f64> for Array {
    /// A weakly typed number: it takes the dtype of what it meets.
    fn from(number: f64) -> Array {
        Array::from_val(Val::Literal(Scalar::float(DType::F32, number).weak(true)))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $function:path;)*) => {$(
        impl $trait<&Array> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array { self.binary(other, $function) }
        }
        impl $trait<Array> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array { self.binary(&other, $function) }
        }
        impl $trait<&Array> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array { self.binary(other, $function) }
        }
        impl $trait<Array> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array { self.binary(&other, $function) }
        }
        impl $trait<f64> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: f64) -> Array { self.binary(&other.into(), $function) }
        }
        impl $trait<f64> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: f64) -> Array { self.binary(&other.into(), $function) }
        }
        impl $trait<&Array> for f64 {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array { Array::from(self).binary(other, $function) }
        }
        impl $trait<Array> for f64 {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array { Array::from(self).binary(&other, $function) }
        }
    )*};
}
operators! {
    Add add numpy::add;
    Sub sub numpy::subtract;
    Mul mul numpy::multiply;
    Div div numpy::true_divide;
}

impl Neg for &Array {
    type Output = Array;
    #[track_caller]
    fn neg(self) -> Array {
        self.unary(numpy::negative)
    }
}

impl Neg for Array {
    type Output = Array;
    #[track_caller]
    fn neg(self) -> Array {
        self.unary(numpy::negative)
    }
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.val {
            Ok(val) => write!(f, "{val:?}"),
            Err(error) => write!(f, "Array(error: {error})"),
        }
    }
}

impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.val.as_ref().map(Val::to_array) {
            Ok(Some(array)) => match array.elements() {
                Ok(elements) => f.write_str(&nested(self.shape(), &elements)),
                Err(error) => write!(f, "{error}"),
            },
            Ok(None) => write!(f, "traced {}", self.aval().long()),
            Err(error) => write!(f, "{error}"),
        }
    }
}

/// Elements in nested brackets.
fn nested(shape: &[usize], elements: &[Scalar]) -> String {
    let Some((&n, inner)) = shape.split_first() else { return elements[0].to_string() };
    let size: usize = inner.iter().product();
    let rows: Vec<String> = (0..n).map(|i| nested(inner, &elements[i * size..(i + 1) * size])).collect();
    let separator = if inner.is_empty() { " " } else { "\n " };
    format!("[{}]", rows.join(separator))
}
