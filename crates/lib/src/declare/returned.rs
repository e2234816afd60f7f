//! What public functions give back, for fronts that do not know which function they call.

use pullback_base::DType;
use pullback_ir::{Val, Vals};

use super::{Tree, Type};

/// The result of a public function.
#[derive(Debug)]
pub enum Returned {
    /// An array.
    One(Val),
    /// A tuple of arrays.
    Tuple(Vals),
    /// A list of arrays.
    List(Vals),
    /// A named tuple of arrays.
    Named(&'static NamedTuple, Vals),
    /// A tree of arrays.
    Tree(Tree),
    /// A truth that is no array.
    Bool(bool),
    /// A number that is no array.
    Int(i64),
    /// Sizes.
    Sizes(Vec<usize>),
    /// A dtype.
    DType(DType),
    /// A text.
    Text(String),
}

/// A class of tuples with named fields.
#[derive(Debug)]
pub struct NamedTuple {
    /// Its name with its module.
    pub name: &'static str,
    /// Its fields.
    pub fields: &'static [&'static str],
}

/// Types that public functions give back.
pub trait Return {
    /// How fronts name the type.
    const TYPE: Type;
    /// The value for a front.
    fn returned(self) -> Returned;
}

impl Return for Val {
    const TYPE: Type = Type { python: "Array", rust: "Array" };
    fn returned(self) -> Returned {
        Returned::One(self)
    }
}

impl Return for (Val, Val) {
    const TYPE: Type = Type { python: "tuple[Array, Array]", rust: "(Array, Array)" };
    fn returned(self) -> Returned {
        Returned::Tuple([self.0, self.1].into_iter().collect())
    }
}

impl Return for (Val, Val, Val) {
    const TYPE: Type = Type { python: "tuple[Array, Array, Array]", rust: "(Array, Array, Array)" };
    fn returned(self) -> Returned {
        Returned::Tuple([self.0, self.1, self.2].into_iter().collect())
    }
}

/// An array, or a tuple of several.
#[derive(Debug)]
pub enum OneOrTuple {
    /// One.
    One(Val),
    /// Several.
    Tuple(Vec<Val>),
}

impl Return for OneOrTuple {
    const TYPE: Type = Type { python: "Any", rust: "Vec<Array>" };
    fn returned(self) -> Returned {
        match self {
            OneOrTuple::One(val) => Returned::One(val),
            OneOrTuple::Tuple(vals) => Returned::Tuple(vals.into_iter().collect()),
        }
    }
}

/// As many arrays as the arguments say, in a tuple.
#[derive(Debug)]
pub struct TupleOf(pub Vals);

impl Return for TupleOf {
    const TYPE: Type = Type { python: "tuple[Array, ...]", rust: "Vec<Array>" };
    fn returned(self) -> Returned {
        Returned::Tuple(self.0)
    }
}

impl Return for Vec<Val> {
    const TYPE: Type = Type { python: "list[Array]", rust: "Vec<Array>" };
    fn returned(self) -> Returned {
        Returned::List(self.into_iter().collect())
    }
}

impl Return for Vals {
    const TYPE: Type = Type { python: "list[Array]", rust: "Vec<Array>" };
    fn returned(self) -> Returned {
        Returned::List(self)
    }
}

impl Return for Tree {
    const TYPE: Type = Type { python: "Any", rust: "Vec<Array>" };
    fn returned(self) -> Returned {
        Returned::Tree(self)
    }
}

impl Return for Returned {
    const TYPE: Type = Type { python: "Any", rust: "Vec<Array>" };
    fn returned(self) -> Returned {
        self
    }
}

macro_rules! plain_results {
    ($($rust:ty, $python:literal, $variant:ident;)*) => {$(
        impl Return for $rust {
            const TYPE: Type = Type { python: $python, rust: stringify!($rust) };
            fn returned(self) -> Returned {
                Returned::$variant(self)
            }
        }
    )*};
}
impl Return for &'static str {
    const TYPE: Type = String::TYPE;
    fn returned(self) -> Returned {
        Returned::Text(self.to_string())
    }
}

plain_results! {
    bool, "bool", Bool;
    i64, "int", Int;
    String, "str", Text;
    Vec<usize>, "tuple[int, ...]", Sizes;
    DType, "np.dtype[Any]", DType;
}
