//! Sets of dtypes that primitives accept, and the error that names them.

use pullback_base::dtype::Kind;
use pullback_base::{DType, Result, bail};

/// A set of dtypes by kind.
#[derive(Clone, Copy, Debug)]
pub struct DTypes(&'static [Kind]);

impl DTypes {
    /// Floating and complex.
    pub const INEXACT: DTypes = DTypes(&[Kind::Float, Kind::Complex]);
    /// Real floating.
    pub const FLOAT: DTypes = DTypes(&[Kind::Float]);
    /// Complex.
    pub const COMPLEX: DTypes = DTypes(&[Kind::Complex]);
    /// Signed and unsigned integers.
    pub const INTEGER: DTypes = DTypes(&[Kind::Signed, Kind::Unsigned]);
    /// Integers and booleans.
    pub const BITS: DTypes = DTypes(&[Kind::Signed, Kind::Unsigned, Kind::Bool]);
    /// All but booleans.
    pub const NUMBER: DTypes = DTypes(&[Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Complex]);
    /// Numbers with an order.
    pub const REAL: DTypes = DTypes(&[Kind::Signed, Kind::Unsigned, Kind::Float]);
    /// Signed numbers.
    pub const SIGNED: DTypes = DTypes(&[Kind::Float, Kind::Complex, Kind::Signed]);
    /// All with an order, booleans included.
    pub const ORDERED: DTypes = DTypes(&[Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Bool]);
    /// Every number and boolean.
    pub const ANY: DTypes = DTypes(&[Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Complex, Kind::Bool]);
    /// Everything that an array can hold.
    pub const ALL: DTypes =
        DTypes(&[Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Complex, Kind::Bool, Kind::Float0, Kind::Key]);

    /// Whether the dtype is in the set.
    pub fn contains(self, dtype: DType) -> bool {
        self.0.contains(&dtype.kind())
    }

    /// The names of NumPy's abstract types; both kinds of integer together are one.
    fn names(self) -> String {
        let name = |kind: &Kind| match kind {
            Kind::Bool => "bool",
            Kind::Signed if self.0.contains(&Kind::Unsigned) => "integer",
            Kind::Signed => "signedinteger",
            Kind::Unsigned => "unsignedinteger",
            Kind::Float => "floating",
            Kind::Complex => "complexfloating",
            Kind::Float0 => "float0",
            Kind::Key => "prng_key",
        };
        let is_listed = |kind: &&Kind| **kind != Kind::Unsigned || !self.0.contains(&Kind::Signed);
        self.0.iter().filter(is_listed).map(name).collect::<Vec<_>>().join(", ")
    }

    /// Checks the operand of primitive `name`, which takes one.
    ///
    /// # Errors
    /// A `Type` error that names the accepted dtypes.
    pub fn check_only(self, name: &str, dtype: DType) -> Result<()> {
        let is_narrow = dtype.is_integer() && dtype.bits() < 8;
        if is_narrow && self.0.contains(&Kind::Signed) && !self.0.contains(&Kind::Unsigned) {
            bail!(
                Type,
                "{name} does not accept dtype {dtype}. Support for narrow-width integers is platform-dependent and limited \
                 to a few specific operations, e.g. basic arithmetic and type casting."
            );
        }
        if self.contains(dtype) {
            return Ok(());
        }
        bail!(Type, "{name} does not accept dtype {dtype}. Accepted dtypes are subtypes of {}.", self.names())
    }

    /// Checks operand `position` of primitive `name`.
    ///
    /// # Errors
    /// A `Type` error that names the accepted dtypes.
    pub fn check(self, name: &str, position: usize, dtype: DType) -> Result<()> {
        if self.contains(dtype) {
            return Ok(());
        }
        bail!(
            Type,
            "{name} does not accept dtype {dtype} at position {position}. Accepted dtypes at position {position} are \
             subtypes of {}.",
            self.names()
        )
    }
}
