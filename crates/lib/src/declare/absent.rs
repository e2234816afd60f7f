//! Readers for arguments that are seldom given, and for those that no body looks at.

use pullback_base::{DType, Result};

use super::{Argument, Arguments, Constant, Placed, Reader, Type};
use crate::config;
use crate::convert::{default_float, default_int, default_uint};

/// Whether it was said where the result shall be.
impl Reader<bool> for Placed {
    const TYPE: Type = <Placed as Argument>::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<bool> {
        Ok(!args.is_none(at))
    }
    fn absent(_default: Constant) -> bool {
        false
    }
}

/// A dtype, as it was named, or as the settings change it.
pub struct Narrowed;

impl Reader<DType> for Narrowed {
    const TYPE: Type = DType::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<DType> {
        let dtype = args.exact_dtype(at)?;
        if dtype.narrowed() == dtype || config::x64() { Ok(dtype) } else { args.dtype(at) }
    }
    fn absent(default: Constant) -> DType {
        DType::absent(default)
    }
}

impl Reader<Option<DType>> for Narrowed {
    const TYPE: Type = DType::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Option<DType>> {
        if args.is_none(at) { Ok(None) } else { <Narrowed as Reader<DType>>::read(args, at).map(Some) }
    }
    fn absent(_default: Constant) -> Option<DType> {
        None
    }
}

macro_rules! dtypes_by_default {
    ($($(#[$doc:meta])* $name:ident $default:ident;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl Reader<DType> for $name {
            const TYPE: Type = DType::TYPE;
            fn read(args: &mut dyn Arguments, at: usize) -> Result<DType> {
                if args.is_none(at) { Ok($default()) } else { args.dtype(at) }
            }
            fn absent(_default: Constant) -> DType {
                $default()
            }
        }
    )*};
}
dtypes_by_default! {
    /// A dtype; the default one of floating numbers if none is given.
    FloatByDefault default_float;
    /// A dtype; the default one of integers if none is given.
    IntByDefault default_int;
    /// A dtype; the default one of unsigned integers if none is given.
    UintByDefault default_uint;
}
