//! Rust numbers as elements of arrays.

use pullback_base::{DType, Scalar};

/// A Rust type that elements of arrays convert to and from.
pub trait Element: Copy {
    /// The dtype of arrays made from such numbers. `f64` gives `float32`, so that literals make the usual type.
    const DTYPE: DType;
    /// As an element.
    fn to_scalar(self) -> Scalar;
    /// From an element, converted by value.
    fn from_scalar(scalar: Scalar) -> Self;
}

macro_rules! elements {
    ($($ty:ty, $dtype:ident, $make:ident, $read:ident;)*) => {$(
        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
            fn to_scalar(self) -> Scalar {
                Scalar::$make(DType::$dtype, self.into())
            }
            fn from_scalar(scalar: Scalar) -> $ty {
                scalar.$read() as $ty
            }
        }
    )*};
}
elements! {
    f32, F32, float, as_f64;
    f64, F32, float, as_f64;
    i8, I8, int, as_i64;
    i16, I16, int, as_i64;
    i32, I32, int, as_i64;
    u8, U8, int, as_i64;
    u16, U16, int, as_i64;
    u32, U32, int, as_i64;
}

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    fn to_scalar(self) -> Scalar {
        Scalar::bool(self)
    }
    fn from_scalar(scalar: Scalar) -> bool {
        scalar.is_nonzero()
    }
}
