//! Public functions as values: name, signature, documentation and body of each in one place.
//!
//! `#[public("numpy.sum(a, axis=None, …)")]` above a function of this crate makes it public: the text is its signature as
//! Python shows it, the comment above it its documentation, its parameters and result say how arguments are read and what
//! comes back. All declarations together are [`DECLARATIONS`]; the fronts, the stubs and the reference grow from them.
//!
//! A parameter of the function stands for the parameter of that name (an underscore at the end is dropped), or else for a
//! group of them: a struct that derives `Keywords`. What is read how is said by the type, or by the [`Reader`] that the
//! text names: `shape: Sizes`. An argument of which the function knows nothing is read by its reader and dropped:
//! `out_sharding: Sharded=None`. Nothing here knows who calls: a front is an implementation of [`Arguments`].

mod absent;
mod readers;
mod returned;

use std::fmt;

use pullback_base::{DType, Result};
use pullback_core::prims::DotPrecision;
use pullback_ir::Val;

pub use absent::*;
pub use readers::*;
pub use returned::*;

pub use crate::image::HighestByDefault;
pub use crate::lax::Starts;
pub use crate::random::{ManySizes, SampleMethod, Seed, Word};

use crate::axes::Axes;

/// A public function.
pub struct Declaration {
    /// Its name with its module, `numpy.linalg.norm`, and its other names.
    pub names: &'static [&'static str],
    /// Where the declaration stands in the crates.
    pub path: &'static str,
    /// Its parameters as Python shows them, in parentheses.
    pub signature: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Its documentation, of the function by its first name.
    pub doc: &'static str,
    /// What comes back.
    pub result: Type,
    /// Reads the arguments and runs the body.
    pub call: fn(&mut dyn Arguments) -> Result<Returned>,
}

impl Declaration {
    /// The name without its module.
    #[must_use]
    pub fn name(&self) -> &'static str {
        last_part(self.names[0])
    }
}

impl fmt::Debug for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.names[0], self.signature)
    }
}

/// The part of a name after its module.
#[must_use]
pub fn last_part(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

/// A parameter of a public function.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// How it may be given.
    pub kind: ParameterKind,
    /// What stands for it when it is not given; nothing if it must be.
    pub default: Option<Constant>,
    /// What may be given.
    pub takes: Type,
    /// Whether `None` may be given too.
    pub optional: bool,
}

/// How a parameter may be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ParameterKind {
    /// By position alone.
    PositionalOnly,
    /// By position or by name.
    Either,
    /// By name alone.
    KeywordOnly,
    /// All further positions.
    Rest,
    /// All further names.
    Keywords,
}

/// A default, as the signature shows it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Constant {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating number.
    Float(f64),
    /// A text.
    Text(&'static str),
    /// `()`.
    Empty,
    /// A tuple of integers.
    Ints(&'static [i64]),
}

/// What a parameter takes or a function gives: as Python's stubs and as the Rust front say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type {
    /// In a stub, without `| None` where the default is `None`.
    pub python: &'static str,
    /// In the Rust front.
    pub rust: &'static str,
}

/// The arguments of one call, by the position of their parameter in the declaration.
///
/// # Errors
/// All methods: a `Type` error that names the function and the argument for what is not of the kind that is asked for, and
/// what the caller's own objects raise.
pub trait Arguments {
    /// The name of the function, for errors.
    fn function(&self) -> &'static str;
    /// Whether there is an argument.
    fn is_given(&self, at: usize) -> bool;
    /// Whether an argument is a tuple or list.
    fn is_sequence(&self, at: usize) -> bool;
    /// The class of an argument, for errors.
    fn class(&self, at: usize) -> String;
    /// An argument as a text: a word, or how a member of an enumeration shows.
    fn shown(&mut self, at: usize) -> Result<String>;
    /// Whether there is none, or one that says that there is none.
    fn is_none(&self, at: usize) -> bool;
    /// An array or number.
    fn array(&mut self, at: usize) -> Result<Val>;
    /// An array or number; of an integer that no default dtype holds, all digits.
    fn number(&mut self, at: usize) -> Result<WideNumber>;
    /// An array, or what is made one: numbers in sequences.
    fn convertible(&mut self, at: usize) -> Result<Val>;
    /// Whether there is an array, in contrast to numbers of the caller's language.
    fn is_array(&self, at: usize) -> bool;
    /// An array, or an object with its shape and dtype.
    fn prototype(&mut self, at: usize) -> Result<Prototype>;
    /// A sequence of arrays, or the slices of one.
    fn arrays(&mut self, at: usize) -> Result<Vec<Val>>;
    /// The arrays at all further positions.
    fn rest(&mut self) -> Result<Vec<Val>>;
    /// A truth.
    fn flag(&mut self, at: usize) -> Result<bool>;
    /// An integer.
    fn int(&mut self, at: usize) -> Result<i64>;
    /// A floating number that is known.
    fn float(&mut self, at: usize) -> Result<f64>;
    /// Integers, each perhaps a sequence of them.
    fn nested_ints(&mut self, at: usize) -> Result<NestedInts>;
    /// A text.
    fn text(&mut self, at: usize) -> Result<String>;
    /// One of the words that a function knows. What is no text comes as it shows itself: it is none of them, and the
    /// function says which there are.
    fn word(&mut self, at: usize) -> Result<String> {
        self.text(at).or_else(|_| self.shown(at))
    }
    /// Start, stop and step of a range, if that is what there is.
    fn slice(&mut self, _at: usize) -> Result<Option<[Option<i64>; 3]>> {
        Ok(None)
    }
    /// Axes, perhaps named ones.
    fn axes(&mut self, at: usize) -> Result<Axes>;
    /// Sizes.
    fn sizes(&mut self, at: usize) -> Result<Vec<i64>>;
    /// A dtype; one of 64 bits only where they are on.
    fn dtype(&mut self, at: usize) -> Result<DType>;
    /// A dtype as it was named.
    fn exact_dtype(&mut self, at: usize) -> Result<DType>;
    /// The precision of a contraction.
    fn precision(&mut self, at: usize) -> Result<DotPrecision>;
    /// A key of random numbers.
    fn key(&mut self, at: usize) -> Result<Val>;
    /// A function of arrays, with all further arguments of the call bound.
    fn callable(&mut self, at: usize) -> Result<Callable>;
    /// Functions of arrays, or constants in their place.
    fn callables(&mut self, at: usize) -> Result<Vec<CallableOr>>;
    /// A tree of arrays.
    fn tree(&mut self, at: usize) -> Result<Tree>;
    /// Takes how the result is to be split: the front resolves what is ambiguous on the way, and splits the result.
    fn split_result(&mut self, at: usize) -> Result<()>;
}

/// A parameter in a group: its name and type, and whether `None` may be given.
pub type Field = (&'static str, Type, bool);

/// Several parameters in one struct; derived by `Keywords`.
pub trait Group: Sized {
    /// Their names and types, and whether they may be absent, in the order of the struct.
    const FIELDS: &'static [Field];
    /// Reads them, from the position of each field's parameter; fields without one have their default.
    ///
    /// # Errors
    /// As [`Arguments`].
    fn read(args: &mut dyn Arguments, parameters: &[Parameter], at: &[Option<usize>]) -> Result<Self>;
}

/// The position of each field of a group among the parameters of a function.
#[must_use]
pub const fn positions<const N: usize>(fields: &[Field], parameters: &[&'static str]) -> [Option<usize>; N] {
    let mut found = [None; N];
    let mut field = 0;
    while field < N {
        let mut at = 0;
        while at < parameters.len() {
            if same_text(fields[field].0, parameters[at]) {
                found[field] = Some(at);
            }
            at += 1;
        }
        field += 1;
    }
    found
}

/// The field of a group that has a name.
///
/// # Panics
/// While compiling, when no field has the name.
#[must_use]
pub const fn field_of(fields: &[Field], name: &'static str) -> Field {
    let mut field = 0;
    while field < fields.len() {
        if same_text(fields[field].0, name) {
            return fields[field];
        }
        field += 1;
    }
    panic!("the signature names a parameter that neither the function nor its group of keywords has");
}

const fn same_text(x: &str, y: &str) -> bool {
    let (x, y) = (x.as_bytes(), y.as_bytes());
    if x.len() != y.len() {
        return false;
    }
    let mut i = 0;
    while i < x.len() {
        if x[i] != y[i] {
            return false;
        }
        i += 1;
    }
    true
}

include!(concat!(env!("OUT_DIR"), "/declarations.rs"));

#[cfg(test)]
mod tests;
