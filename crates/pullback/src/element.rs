//! Rust numbers as elements of arrays.

use pullback_base::{DType, Scalar};

/// A Rust type that elements of arrays convert to and from.
pub trait Element: Copy + bytemuck::NoUninit {
    /// The dtype of arrays made from such numbers: the type of the same name, `int64` and `uint64` for `isize` and
    /// `usize`.
    const DTYPE: DType;
    /// As an element.
    fn to_scalar(self) -> Scalar;
    /// From an element, by value: floats lose their fraction, and what is out of range becomes the nearest number that
    /// the type has (NaN becomes 0).
    fn from_scalar(scalar: Scalar) -> Self;
    /// The elements whose bytes these are, for arrays of [`Element::DTYPE`].
    fn read(bytes: &[u8]) -> Vec<Self>;
}

macro_rules! elements {
    ($($ty:ty, $dtype:ident, $make:ident, $from:expr;)*) => {$(
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn to_scalar(self) -> Scalar {
                Scalar::$make(DType::$dtype, self as _)
            }
            fn from_scalar(scalar: Scalar) -> $ty {
                let from: fn(Scalar) -> $ty = $from;
                from(scalar)
            }
            fn read(bytes: &[u8]) -> Vec<$ty> {
                bytemuck::pod_collect_to_vec(bytes)
            }
        }
    )*};
    ($($ty:ty, $dtype:ident;)*) => {elements! {$(
        $ty, $dtype, int, |scalar| scalar.number().as_i128().clamp(<$ty>::MIN as i128, <$ty>::MAX as i128) as $ty;
    )*}};
}
elements! {
    f32, F32, float, |scalar| scalar.as_f64() as f32;
    f64, F64, float, |scalar| scalar.as_f64();
}
elements! {
    i8, I8;
    i16, I16;
    i32, I32;
    i64, I64;
    isize, I64;
    u8, U8;
    u16, U16;
    u32, U32;
    u64, U64;
    usize, U64;
}

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn to_scalar(self) -> Scalar {
        Scalar::bool(self)
    }
    fn from_scalar(scalar: Scalar) -> bool {
        scalar.is_nonzero()
    }
    fn read(bytes: &[u8]) -> Vec<bool> {
        bytes.iter().map(|&byte| byte != 0).collect()
    }
}

/// Numbers in nested arrays of one length each, as [`arr!`](crate::arr) writes them.
pub trait Nested {
    /// The type of the numbers.
    type Element: Element;
    /// Appends the sizes of the axes.
    fn shape(into: &mut Vec<usize>);
    /// Appends the numbers in row-major order.
    fn elements(&self, into: &mut Vec<Self::Element>);
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Nested for $ty {
            type Element = $ty;
            fn shape(_into: &mut Vec<usize>) {}
            fn elements(&self, into: &mut Vec<$ty>) { into.push(*self); }
        }
    )*};
}
numbers!(f32 f64 i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool);

impl<T: Nested, const N: usize> Nested for [T; N] {
    type Element = T::Element;
    fn shape(into: &mut Vec<usize>) {
        into.push(N);
        T::shape(into);
    }
    fn elements(&self, into: &mut Vec<T::Element>) {
        self.iter().for_each(|item| item.elements(into));
    }
}
