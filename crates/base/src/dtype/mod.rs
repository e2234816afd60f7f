//! Element types: their names, sizes, kinds, and the promotion lattice with weak types.
//!
//! Conversion of values lives in [`crate::scalar`]; formats below 16 bits in [`minifloat`].

pub mod minifloat;
mod promotion;

use std::fmt;

pub use promotion::{Promotion, Typed, promote, promote_all};

/// An element type. `Key` elements are opaque words of the state of a random generator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum DType {
    Bool,
    I2,
    I4,
    I8,
    I16,
    I32,
    I64,
    U2,
    U4,
    U8,
    U16,
    U32,
    U64,
    F4E2M1FN,
    F8E3M4,
    F8E4M3,
    F8E4M3B11FNUZ,
    F8E4M3FN,
    F8E4M3FNUZ,
    F8E5M2,
    F8E5M2FNUZ,
    F8E8M0FNU,
    F16,
    BF16,
    F32,
    F64,
    C64,
    C128,
    /// The tangent type of integers and booleans: no information, one byte of storage.
    Float0,
    /// `key<fry>`: a threefry key, two 32-bit words.
    KeyFry,
    /// `key<rbg>`: four 32-bit words, threefry where keys are split and the device's generator where bits are made.
    KeyRbg,
    /// `key<urbg>`: as `key<rbg>`, with keys split by the device's generator too.
    KeyUnsafeRbg,
    /// `key<phx2>`: a key of philox with two words in a block, one 32-bit word; in memory a pair with 0.
    KeyPhilox2,
    /// `key<phx4>`: a key of philox with four words in a block, two 32-bit words.
    KeyPhilox4,
    /// `key<fry4>`: a key of threefry with four words in a block, four 32-bit words.
    KeyFry4,
}

/// What kind of number an element type holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
    Float0,
    Key,
}

use DType::*;

impl DType {
    /// Every element type, in the order of the declaration.
    pub const ALL: [DType; 35] = [
        Bool,
        I2,
        I4,
        I8,
        I16,
        I32,
        I64,
        U2,
        U4,
        U8,
        U16,
        U32,
        U64,
        F4E2M1FN,
        F8E3M4,
        F8E4M3,
        F8E4M3B11FNUZ,
        F8E4M3FN,
        F8E4M3FNUZ,
        F8E5M2,
        F8E5M2FNUZ,
        F8E8M0FNU,
        F16,
        BF16,
        F32,
        F64,
        C64,
        C128,
        Float0,
        KeyFry,
        KeyRbg,
        KeyUnsafeRbg,
        KeyPhilox2,
        KeyPhilox4,
        KeyFry4,
    ];

    /// The NumPy name (`float32`), as users write and read it.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// The short name in jaxprs (`f32`).
    pub fn short(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Bool => ("bool", "bool"),
            I2 => ("int2", "i2"),
            I4 => ("int4", "i4"),
            I8 => ("int8", "i8"),
            I16 => ("int16", "i16"),
            I32 => ("int32", "i32"),
            I64 => ("int64", "i64"),
            U2 => ("uint2", "u2"),
            U4 => ("uint4", "u4"),
            U8 => ("uint8", "u8"),
            U16 => ("uint16", "u16"),
            U32 => ("uint32", "u32"),
            U64 => ("uint64", "u64"),
            F4E2M1FN => ("float4_e2m1fn", "f4_e2m1fn"),
            F8E3M4 => ("float8_e3m4", "f8_e3m4"),
            F8E4M3 => ("float8_e4m3", "f8_e4m3"),
            F8E4M3B11FNUZ => ("float8_e4m3b11fnuz", "f8_e4m3b11fnuz"),
            F8E4M3FN => ("float8_e4m3fn", "f8_e4m3fn"),
            F8E4M3FNUZ => ("float8_e4m3fnuz", "f8_e4m3fnuz"),
            F8E5M2 => ("float8_e5m2", "f8_e5m2"),
            F8E5M2FNUZ => ("float8_e5m2fnuz", "f8_e5m2fnuz"),
            F8E8M0FNU => ("float8_e8m0fnu", "f8_e8m0fnu"),
            F16 => ("float16", "f16"),
            BF16 => ("bfloat16", "bf16"),
            F32 => ("float32", "f32"),
            F64 => ("float64", "f64"),
            C64 => ("complex64", "c64"),
            C128 => ("complex128", "c128"),
            Float0 => ("float0", "float0"),
            KeyFry => ("key<fry>", "key<fry>"),
            KeyRbg => ("key<rbg>", "key<rbg>"),
            KeyUnsafeRbg => ("key<urbg>", "key<urbg>"),
            KeyPhilox2 => ("key<phx2>", "key<phx2>"),
            KeyPhilox4 => ("key<phx4>", "key<phx4>"),
            KeyFry4 => ("key<fry4>", "key<fry4>"),
        }
    }

    /// The element type with the given NumPy or short name.
    pub fn parse(name: &str) -> Option<DType> {
        DType::ALL.into_iter().find(|dtype| dtype.name() == name || dtype.short() == name)
    }

    /// What kind of number it holds.
    pub fn kind(self) -> Kind {
        match self {
            Bool => Kind::Bool,
            I2 | I4 | I8 | I16 | I32 | I64 => Kind::Signed,
            U2 | U4 | U8 | U16 | U32 | U64 => Kind::Unsigned,
            F4E2M1FN | F8E3M4 | F8E4M3 | F8E4M3B11FNUZ | F8E4M3FN | F8E4M3FNUZ | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU
            | F16 | BF16 | F32 | F64 => Kind::Float,
            C64 | C128 => Kind::Complex,
            Float0 => Kind::Float0,
            KeyFry | KeyRbg | KeyUnsafeRbg | KeyPhilox2 | KeyPhilox4 | KeyFry4 => Kind::Key,
        }
    }

    /// Bytes that one element takes in memory. Types below eight bits take a whole byte each, as in NumPy.
    pub fn size_bytes(self) -> usize {
        match self {
            I16 | U16 | F16 | BF16 => 2,
            I32 | U32 | F32 => 4,
            I64 | U64 | F64 | C64 | KeyFry | KeyPhilox2 | KeyPhilox4 => 8,
            C128 | KeyRbg | KeyUnsafeRbg | KeyFry4 => 16,
            Bool | I2 | I4 | I8 | U2 | U4 | U8 | F4E2M1FN | F8E3M4 | F8E4M3 | F8E4M3B11FNUZ | F8E4M3FN | F8E4M3FNUZ
            | F8E5M2 | F8E5M2FNUZ | F8E8M0FNU | Float0 => 1,
        }
    }

    /// Bits that carry information in one element.
    pub fn bits(self) -> u32 {
        match self {
            Bool | Float0 => 1,
            I2 | U2 => 2,
            I4 | U4 | F4E2M1FN => 4,
            other => u32::try_from(other.size_bytes() * 8).expect("an element is small"),
        }
    }

    /// Signed or unsigned integer (not `bool`).
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    /// A key of a random generator.
    pub fn is_key(self) -> bool {
        self.kind() == Kind::Key
    }

    /// Real floating type.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// Complex type.
    pub fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }

    /// Floating or complex: a type that has derivatives.
    pub fn is_inexact(self) -> bool {
        self.is_float() || self.is_complex()
    }

    /// The type of real and imaginary part; itself for real types.
    pub fn real(self) -> DType {
        match self {
            C64 => F32,
            C128 => F64,
            other => other,
        }
    }

    /// The complex type whose parts have this type, for `float32` and `float64`.
    pub fn complex(self) -> DType {
        match self {
            F64 | C128 => C128,
            _ => C64,
        }
    }

    /// The element type of tangents: itself when inexact, else [`DType::Float0`].
    pub fn tangent(self) -> DType {
        if self.is_inexact() { self } else { Float0 }
    }

    /// The type after narrowing to 32 bits, which all user input undergoes while 64-bit types are off.
    pub fn narrowed(self) -> DType {
        match self {
            I64 => I32,
            U64 => U32,
            F64 => F32,
            C128 => C64,
            other => other,
        }
    }
}

impl serde::Serialize for DType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for DType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<DType, D::Error> {
        let name = <&str>::deserialize(deserializer)?;
        DType::parse(name).ok_or_else(|| serde::de::Error::custom("no element type has this name"))
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
