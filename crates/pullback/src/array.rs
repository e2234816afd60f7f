//! The array type: a value, or the error on the way to it.

use std::fmt;
use std::ops::{Add, AddAssign, Div, DivAssign, Index, Mul, MulAssign, Neg, Sub, SubAssign};
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

use pullback_base::array::scalar_at;
use pullback_base::{Aval, DType, Error, ErrorKind, Result, Scalar, Span, bail};
use pullback_ir::Val;
use pullback_lib::{indexing, numpy};

use crate::element::{Element, Nested};

/// An n-dimensional array, or a stand-in for one while a function is being transformed.
///
/// Cloning copies a pointer. Operators take references or values, and numbers on either side; shapes broadcast as in
/// NumPy.
#[derive(Clone)]
pub struct Array {
    val: Result<Val>,
    checked: bool,
    /// Entries of the first axis that were asked for by `x[i]`, which has to give a reference.
    rows: OnceLock<Arc<Rows>>,
}

/// Entries of an axis, each made when it is asked for, in chunks so that a few of many cost little.
struct Rows(Box<[OnceLock<Box<[OnceLock<Array>]>>]>);

impl Rows {
    const CHUNK: usize = 64;

    fn of(n: usize) -> Rows {
        Rows((0..n.div_ceil(Rows::CHUNK)).map(|_| OnceLock::new()).collect())
    }

    fn get(&self, position: usize, make: impl FnOnce() -> Array) -> &Array {
        let chunk = self.0[position / Rows::CHUNK].get_or_init(|| (0..Rows::CHUNK).map(|_| OnceLock::new()).collect());
        chunk[position % Rows::CHUNK].get_or_init(make)
    }
}

/// The error with which the function that is being transformed ends.
struct Failure(Error);

/// Ends the program of a user that cannot go on without a value: the function that is being transformed, whose call then
/// gives the error; outside of one it is a panic.
#[track_caller]
pub(crate) fn fail(error: Error) -> ! {
    if pullback_trace::is_tracing() { resume_unwind(Box::new(Failure(error))) } else { panic!("{error}") }
}

/// Runs a function of the user, with the error that it [`fail`]ed with.
pub(crate) fn caught<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|payload| match payload.downcast::<Failure>() {
        Ok(failure) => Err(failure.0),
        Err(other) => resume_unwind(other),
    })
}

impl Array {
    pub(crate) fn from_val(val: Val) -> Array {
        Array { val: Ok(val), checked: false, rows: OnceLock::new() }
    }

    pub(crate) fn is_checked(&self) -> bool {
        self.checked
    }

    pub(crate) fn val(&self) -> Result<Val> {
        self.val.clone()
    }

    /// A vector of the given elements, in their type.
    #[track_caller]
    pub fn from_slice<T: Element>(elements: &[T]) -> Array {
        Array::from_shape(&[elements.len()], elements)
    }

    /// A matrix of the given rows.
    ///
    /// # Panics
    /// If rows differ in length.
    #[track_caller]
    pub fn from_rows<T: Element>(rows: &[&[T]]) -> Array {
        let width = rows.first().map_or(0, |row| row.len());
        assert!(rows.iter().all(|row| row.len() == width), "rows of a matrix have one length");
        Array::from_shape(&[rows.len(), width], &rows.concat())
    }

    /// An array of the given shape with elements in row-major order, in their type. The memory is copied.
    ///
    /// # Panics
    /// If the number of elements is not that of the shape, or there is no memory.
    #[track_caller]
    pub fn from_shape<T: Element>(shape: &[usize], elements: &[T]) -> Array {
        let size = Aval::new(shape, T::DTYPE).size();
        assert_eq!(size, elements.len(), "an array of shape {shape:?} has {size} elements, not {}", elements.len());
        let span = Span::of(Location::caller());
        let bytes = bytemuck::cast_slice(elements);
        let made = span.scope(|| pullback_base::Array::from_bytes(Aval::new(shape, T::DTYPE), bytes));
        Array::wrap(made.map(Val::Array), false)
    }

    /// An array of `dtype` with elements in row-major order, each converted by value.
    #[track_caller]
    fn converted<T: Element>(shape: &[usize], dtype: DType, elements: &[T]) -> Array {
        let span = Span::of(Location::caller());
        let elements = elements.iter().map(|&element| element.to_scalar());
        let made = span.scope(|| pullback_base::Array::try_from_scalars(shape, dtype, elements));
        Array::wrap(made.map(Val::Array), false)
    }

    /// What [`arr!`](crate::arr) makes of numbers in nested brackets: floats become `float32`, integers `int32`.
    #[doc(hidden)]
    #[track_caller]
    pub fn literal<T: Nested, const N: usize>(nested: &[T; N]) -> Array {
        let (mut shape, mut elements) = (vec![], vec![]);
        <[T; N]>::shape(&mut shape);
        nested.elements(&mut elements);
        let dtype = match T::Element::DTYPE {
            DType::F64 => DType::F32,
            other => other,
        };
        Array::converted(&shape, dtype, &elements)
    }

    /// What [`arr!`](crate::arr) makes of numbers whose type is said.
    #[doc(hidden)]
    #[track_caller]
    pub fn nested_of<E: Element, T: Nested>(nested: &[T]) -> Array {
        let (mut shape, mut elements) = (vec![nested.len()], vec![]);
        T::shape(&mut shape);
        nested.iter().for_each(|item| item.elements(&mut elements));
        Array::converted(&shape, E::DTYPE, &elements)
    }

    /// A zero-dimensional array, in the type of its element.
    #[track_caller]
    pub fn scalar<T: Element>(element: T) -> Array {
        Array::from_shape(&[], &[element])
    }

    /// The same array, on which wrong operations wait as errors for [`Array::eval`] instead of panicking.
    #[must_use]
    pub fn checked(&self) -> Array {
        Array { val: self.val.clone(), checked: true, rows: OnceLock::new() }
    }

    /// The array, or the error that an operation on the way to it raised.
    ///
    /// # Errors
    /// That error.
    pub fn eval(self) -> Result<Array> {
        self.val.map(Array::from_val)
    }

    /// What is known of the array without its elements. After an error nothing is.
    #[track_caller]
    pub(crate) fn aval(&self) -> Aval {
        match &self.val {
            Ok(val) => val.aval(),
            Err(error) => fail(error.clone()),
        }
    }

    /// Sizes of the axes.
    ///
    /// # Panics
    /// When an operation on the way to the array failed; inside of a function that is being transformed its call gives
    /// that error.
    #[track_caller]
    pub fn shape(&self) -> &'static [usize] {
        &self.aval().data().shape
    }

    /// Element type.
    ///
    /// # Panics
    /// As [`Array::shape`].
    #[track_caller]
    pub fn dtype(&self) -> DType {
        self.aval().dtype
    }

    /// Number of axes.
    ///
    /// # Panics
    /// As [`Array::shape`].
    #[track_caller]
    pub fn rank(&self) -> usize {
        self.aval().rank()
    }

    /// The elements on the host.
    #[track_caller]
    pub(crate) fn known(&self) -> Result<pullback_base::Array> {
        let val = self.val()?;
        let span = Span::of(Location::caller());
        val.to_array().ok_or_else(|| {
            let text = format!(
                "the elements of an array of type {} are not known while a function is being transformed: they differ from \
                 call to call. Compute with the array instead, or give it back as a result.",
                val.aval().long()
            );
            span.scope(|| Error::new(ErrorKind::Concretization, text))
        })
    }

    /// The elements in row-major order, each converted to `T`: what is out of its range becomes the nearest number that it
    /// has. Elements of the type itself are copied as memory.
    ///
    /// # Errors
    /// When the array stands for a value that is not known, or an operation on the way to it failed.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let array = self.known()?;
        let (dtype, buffer) = (array.dtype(), array.buffer()?);
        let bytes = &buffer.bytes()[..array.aval().size_bytes()];
        if dtype == T::DTYPE {
            return Ok(T::read(bytes));
        }
        let elements = bytes.chunks_exact(dtype.size_bytes().max(1));
        Ok(elements.map(|element| T::from_scalar(scalar_at(dtype, element))).collect())
    }

    /// The only element.
    ///
    /// # Errors
    /// As [`Array::to_vec`]; when there is not exactly one element.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        let span = Span::of(Location::caller());
        match self.to_vec()?[..] {
            [one] => Ok(one),
            _ => {
                span.scope(|| bail!(Type, "only arrays of size 1 have an item, this one has shape {:?}", self.shape()))
            }
        }
    }

    /// The entry at a position of the first axis, counted from the end when negative.
    ///
    /// # Panics
    /// In eager mode, when the position is out of bounds.
    #[track_caller]
    #[must_use]
    pub fn row(&self, position: i64) -> Array {
        self.unary(|x| {
            let Some(&size) = x.aval().shape.first() else { bail!(Index, "an array without axes has no rows") };
            if position >= size as i64 || position < -(size as i64) {
                bail!(Index, "index {position} is out of bounds for axis 0 with size {size}");
            }
            indexing::getitem(x, &[indexing::IndexItem::Int(position)])
        })
    }

    /// A number with the precision of this array, which takes the dtype of what it meets.
    fn f64(&self, number: f64) -> Array {
        let is_wide = self.val.as_ref().is_ok_and(|val| matches!(val.aval().dtype, DType::F64 | DType::C128));
        let dtype = if is_wide { DType::F64 } else { pullback_lib::convert::default_float() };
        Array::from_val(Val::Literal(Scalar::float(dtype, number).weak(true)))
    }

    /// A whole number, which takes the dtype of what it meets.
    fn i32(&self, number: i32) -> Array {
        Array::from_val(pullback_lib::convert::weak_int(number.into()))
    }

    /// What an operation gave: its value, or its error, which waits where it may.
    pub(crate) fn wrap(result: Result<Val>, checked: bool) -> Array {
        if let Err(error) = &result
            && !checked
            && !pullback_trace::is_tracing()
        {
            panic!("{error}");
        }
        Array { val: result, checked, rows: OnceLock::new() }
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
        Array::from_val(Val::Literal(Scalar::float(pullback_lib::convert::default_float(), number).weak(true)))
    }
}

impl<T: Element> From<Vec<T>> for Array {
    /// A vector, in the type of its elements.
    #[track_caller]
    fn from(elements: Vec<T>) -> Array {
        Array::from_slice(&elements)
    }
}

impl<T: Element> From<&[T]> for Array {
    /// A vector, in the type of its elements.
    #[track_caller]
    fn from(elements: &[T]) -> Array {
        Array::from_slice(elements)
    }
}

impl<T: Nested, const N: usize> From<[T; N]> for Array {
    /// An array with an axis for each level of brackets, in the type of its elements.
    #[track_caller]
    fn from(nested: [T; N]) -> Array {
        Array::nested_of::<T::Element, T>(&nested)
    }
}

impl PartialEq for Array {
    /// Whether shapes, dtypes and all elements are equal; as for numbers, NaN is not equal to itself.
    ///
    /// # Panics
    /// When elements are not known, or an operation on the way to them failed.
    fn eq(&self, other: &Array) -> bool {
        let elements = |x: &Array| x.known().and_then(|x| x.elements()).unwrap_or_else(|error| fail(error));
        let have = (self.shape(), self.dtype()) == (other.shape(), other.dtype());
        have && elements(self).iter().zip(&elements(other)).all(|(x, y)| x.number() == y.number())
    }
}

impl Index<usize> for Array {
    type Output = Array;
    /// The entry at a position of the first axis.
    ///
    /// # Panics
    /// When the position is out of bounds.
    #[track_caller]
    fn index(&self, position: usize) -> &Array {
        let n = self.shape().first().copied().unwrap_or(0);
        if position >= n {
            let text = format!("index {position} is out of bounds for axis 0 of an array of shape {:?}", self.shape());
            let span = Span::of(Location::caller());
            fail(span.scope(|| Error::index_error(text)));
        }
        let rows = self.rows.get_or_init(|| Arc::new(Rows::of(n)));
        let span = Span::of(Location::caller());
        rows.get(position, || span.scope(|| self.row(position as i64)))
    }
}

/// The entries of an array along its first axis.
pub struct Entries {
    array: Array,
    range: std::ops::Range<usize>,
}

impl Iterator for Entries {
    type Item = Array;
    fn next(&mut self) -> Option<Array> {
        self.range.next().map(|position| self.array.row(position as i64))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}

impl IntoIterator for &Array {
    type Item = Array;
    type IntoIter = Entries;
    /// The entries along the first axis.
    ///
    /// # Panics
    /// For an array without axes.
    #[track_caller]
    fn into_iter(self) -> Entries {
        let Some(&n) = self.shape().first() else {
            let span = Span::of(Location::caller());
            fail(span.scope(|| Error::type_error("an array without axes has no entries to iterate over")))
        };
        Entries { array: self.clone(), range: 0..n }
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
        operators!(@number $trait $method $function, f64 i32);
    )*};
    (@number $trait:ident $method:ident $function:path, $($number:ident)*) => {$(
        impl $trait<$number> for &Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: $number) -> Array { self.binary(&self.$number(other), $function) }
        }
        impl $trait<$number> for Array {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: $number) -> Array { self.binary(&self.$number(other), $function) }
        }
        impl $trait<&Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: &Array) -> Array { other.$number(self).binary(other, $function) }
        }
        impl $trait<Array> for $number {
            type Output = Array;
            #[track_caller]
            fn $method(self, other: Array) -> Array { other.$number(self).binary(&other, $function) }
        }
    )*};
}
operators! {
    Add add numpy::add;
    Sub sub numpy::subtract;
    Mul mul numpy::multiply;
    Div div numpy::true_divide;
}

macro_rules! assignments {
    ($($assign:ident $method:ident $trait:ident $operator:ident;)*) => {$(
        impl<T> $assign<T> for Array
        where
            for<'a> &'a Array: $trait<T, Output = Array>,
        {
            #[track_caller]
            fn $method(&mut self, other: T) { *self = (&*self).$operator(other); }
        }
    )*};
}
assignments! {
    AddAssign add_assign Add add;
    SubAssign sub_assign Sub sub;
    MulAssign mul_assign Mul mul;
    DivAssign div_assign Div div;
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
