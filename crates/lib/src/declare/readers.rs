//! How arguments are read: by the type of a parameter, or by a reader that its signature names.

use std::fmt;
use std::sync::Arc;

use pullback_base::aval::tuple_text;
use pullback_base::tree::TreeDef;
use pullback_base::{DType, Error, ErrorKind, Result, Scalar, bail};
use pullback_core::prims::DotPrecision;
use pullback_ir::Val;

use super::{Arguments, Constant, Type};
use crate::axes::{Axes, shape_of};
use crate::convert::{to_dtype, weak_float, weak_int};

/// Types that arguments are read as.
pub trait Argument: Sized {
    /// How fronts name the type.
    const TYPE: Type;
    /// Whether `None` may be given too.
    const OPTIONAL: bool = false;
    /// The argument, which is given.
    ///
    /// # Errors
    /// As [`Arguments`].
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Self>;
    /// What stands for an argument that is not given.
    fn absent(default: Constant) -> Self;
}

/// Ways to read an argument as a type, other than the type's own.
pub trait Reader<T> {
    /// How fronts name what is read.
    const TYPE: Type;
    /// Whether `None` may be given too.
    const OPTIONAL: bool = false;
    /// The argument, which is given.
    ///
    /// # Errors
    /// As [`Arguments`].
    fn read(args: &mut dyn Arguments, at: usize) -> Result<T>;
    /// What stands for an argument that is not given.
    fn absent(default: Constant) -> T;
}

/// The type's own way.
pub struct Own;

impl<T: Argument> Reader<T> for Own {
    const TYPE: Type = T::TYPE;
    const OPTIONAL: bool = T::OPTIONAL;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<T> {
        T::read(args, at)
    }
    fn absent(default: Constant) -> T {
        T::absent(default)
    }
}

/// Reads an argument, or takes its default.
///
/// # Errors
/// As [`Arguments`].
pub fn read<R: Reader<T>, T>(args: &mut dyn Arguments, at: usize, default: Option<Constant>) -> Result<T> {
    match default {
        Some(default) if !args.is_given(at) => Ok(R::absent(default)),
        _ => R::read(args, at),
    }
}

fn misfit<T>(kind: &str, default: Constant) -> T {
    panic!("{default:?} is declared as the default of {kind}")
}

impl Argument for Val {
    const TYPE: Type = Type { python: "ArrayLike", rust: "&Array" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Val> {
        args.array(at)
    }
    fn absent(default: Constant) -> Val {
        match default {
            Constant::Bool(truth) => Val::Literal(Scalar::bool(truth)),
            Constant::Int(number) => weak_int(number),
            Constant::Float(number) => weak_float(number),
            other => misfit("an array", other),
        }
    }
}

impl<T: Argument> Argument for Option<T> {
    const TYPE: Type = T::TYPE;
    const OPTIONAL: bool = true;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Option<T>> {
        if args.is_none(at) { Ok(None) } else { T::read(args, at).map(Some) }
    }
    fn absent(default: Constant) -> Option<T> {
        match default {
            Constant::None => None,
            other => Some(T::absent(other)),
        }
    }
}

impl Argument for Axes {
    const TYPE: Type = Type { python: "int | Sequence[int]", rust: "impl Into<Axes>" };
    const OPTIONAL: bool = true;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Axes> {
        if args.is_none(at) { Ok(Axes::All) } else { args.axes(at) }
    }
    fn absent(default: Constant) -> Axes {
        match default {
            Constant::None => Axes::All,
            Constant::Int(axis) => Axes::One(axis),
            other => misfit("axes", other),
        }
    }
}

macro_rules! plain_arguments {
    ($($rust:ty, $python:literal, $read:ident, $constant:ident;)*) => {$(
        impl Argument for $rust {
            const TYPE: Type = Type { python: $python, rust: stringify!($rust) };
            fn read(args: &mut dyn Arguments, at: usize) -> Result<$rust> {
                args.$read(at)
            }
            fn absent(default: Constant) -> $rust {
                match default {
                    Constant::$constant(value) => value.into(),
                    other => misfit(stringify!($rust), other),
                }
            }
        }
    )*};
}
plain_arguments! {
    i64, "int", int, Int;
    String, "str", word, Text;
}

impl Argument for bool {
    const TYPE: Type = Type { python: "bool", rust: "bool" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<bool> {
        args.flag(at)
    }
    fn absent(default: Constant) -> bool {
        match default {
            Constant::Bool(truth) => truth,
            Constant::None => false,
            other => misfit("a flag", other),
        }
    }
}

impl Argument for f64 {
    const TYPE: Type = Type { python: "float", rust: "f64" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<f64> {
        args.float(at)
    }
    fn absent(default: Constant) -> f64 {
        match default {
            Constant::Float(number) => number,
            Constant::Int(number) => number as f64,
            other => misfit("a number", other),
        }
    }
}

impl Argument for usize {
    const TYPE: Type = Type { python: "int", rust: "usize" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<usize> {
        let given = args.int(at)?;
        usize::try_from(given).map_err(|_| {
            Error::new(
                ErrorKind::Value,
                format!("{} needs a number that is not negative, got {given}", args.function()),
            )
        })
    }
    fn absent(default: Constant) -> usize {
        usize::try_from(i64::absent(default)).unwrap_or_else(|_| misfit("a count", default))
    }
}

impl Argument for DType {
    const TYPE: Type = Type { python: "DTypeLike", rust: "DType" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<DType> {
        args.dtype(at)
    }
    fn absent(default: Constant) -> DType {
        misfit("a dtype", default)
    }
}

/// A dtype as it was named: one of 64 bits stays one.
pub struct Exact;

impl Reader<DType> for Exact {
    const TYPE: Type = DType::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<DType> {
        args.exact_dtype(at)
    }
    fn absent(default: Constant) -> DType {
        misfit("a dtype", default)
    }
}

impl Argument for DotPrecision {
    const TYPE: Type = Type { python: "PrecisionLike", rust: "DotPrecision" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<DotPrecision> {
        args.precision(at)
    }
    fn absent(default: Constant) -> DotPrecision {
        misfit("a precision", default)
    }
}

/// A sequence of arrays.
impl Argument for Vec<Val> {
    const TYPE: Type = Type { python: "Sequence[ArrayLike] | ArrayLike", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Vec<Val>> {
        args.arrays(at)
    }
    fn absent(default: Constant) -> Vec<Val> {
        misfit("arrays", default)
    }
}

/// Arrays to be put together: a sequence of them, or one whose slices they are.
#[derive(Clone, Debug)]
pub enum Parts {
    /// One array.
    Slices(Val),
    /// Several.
    Each(Vec<Val>),
}

impl Argument for Parts {
    const TYPE: Type = Type { python: "Sequence[ArrayLike] | ArrayLike", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Parts> {
        if args.is_array(at) { args.array(at).map(Parts::Slices) } else { args.arrays(at).map(Parts::Each) }
    }
    fn absent(default: Constant) -> Parts {
        misfit("arrays", default)
    }
}

/// An array, or what `array` makes one: numbers in sequences of any depth.
pub struct Convertible;

impl Reader<Val> for Convertible {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Val> {
        args.convertible(at)
    }
    fn absent(default: Constant) -> Val {
        Val::absent(default)
    }
}

impl Reader<Option<Val>> for Convertible {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Option<Val>> {
        if args.is_none(at) { Ok(None) } else { args.convertible(at).map(Some) }
    }
    fn absent(default: Constant) -> Option<Val> {
        Option::absent(default)
    }
}

/// An array whose default the function itself takes, so that it is no operand where it is not given.
pub struct OwnDefault;

impl Reader<Option<Val>> for OwnDefault {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Option<Val>> {
        args.array(at).map(Some)
    }
    fn absent(_default: Constant) -> Option<Val> {
        None
    }
}

/// Integers that are known while a program is traced, or an array of them.
#[derive(Clone, Debug)]
pub enum IntsOrArray {
    /// Numbers of the caller's language.
    Ints(Vec<i64>),
    /// An array.
    Array(Val),
}

impl Argument for IntsOrArray {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<IntsOrArray> {
        if !args.is_array(at)
            && let Ok(ints) = Vec::<i64>::read(args, at)
        {
            return Ok(IntsOrArray::Ints(ints));
        }
        args.convertible(at).map(IntsOrArray::Array)
    }
    fn absent(default: Constant) -> IntsOrArray {
        IntsOrArray::Ints(Vec::absent(default))
    }
}

/// The arrays at all further positions: what a parameter with a star is read by.
pub struct Rest;

impl Reader<Vec<Val>> for Rest {
    const TYPE: Type = Type { python: "ArrayLike", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, _at: usize) -> Result<Vec<Val>> {
        args.rest()
    }
    fn absent(_default: Constant) -> Vec<Val> {
        vec![]
    }
}

/// Integers, one or several.
impl Argument for Vec<i64> {
    const TYPE: Type = Type { python: "int | Sequence[int]", rust: "&[i64]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Vec<i64>> {
        args.nested_ints(at)?.flat().ok_or_else(|| {
            Error::type_error(format!("{} takes an integer or a sequence of integers there", args.function()))
        })
    }
    fn absent(default: Constant) -> Vec<i64> {
        match default {
            Constant::Empty => vec![],
            Constant::Int(only) => vec![only],
            Constant::Ints(all) => all.to_vec(),
            other => misfit("integers", other),
        }
    }
}

/// A shape: a size or several, of which -1 may stand for one to be found.
pub struct Sizes;

impl Reader<Vec<i64>> for Sizes {
    const TYPE: Type = Type { python: "int | Sequence[int]", rust: "&[i64]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Vec<i64>> {
        args.sizes(at)
    }
    fn absent(default: Constant) -> Vec<i64> {
        Vec::absent(default)
    }
}

impl Reader<Option<Vec<i64>>> for Sizes {
    const TYPE: Type = Type { python: "int | Sequence[int]", rust: "&[i64]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Option<Vec<i64>>> {
        if args.is_none(at) { Ok(None) } else { args.sizes(at).map(Some) }
    }
    fn absent(default: Constant) -> Option<Vec<i64>> {
        Option::absent(default)
    }
}

/// A shape, none of whose sizes may be negative.
impl Argument for Vec<usize> {
    const TYPE: Type = Type { python: "int | Sequence[int]", rust: "&[usize]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Vec<usize>> {
        shape_of(&args.sizes(at)?)
    }
    fn absent(default: Constant) -> Vec<usize> {
        match default {
            Constant::Empty => vec![],
            other => misfit("a shape", other),
        }
    }
}

/// Integers in sequences of any depth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NestedInts {
    /// One.
    One(i64),
    /// Several.
    Many(Vec<NestedInts>),
}

impl From<i64> for NestedInts {
    fn from(number: i64) -> NestedInts {
        NestedInts::One(number)
    }
}

impl<T: Into<NestedInts>> From<Vec<T>> for NestedInts {
    fn from(items: Vec<T>) -> NestedInts {
        NestedInts::Many(items.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<NestedInts>, const N: usize> From<[T; N]> for NestedInts {
    fn from(items: [T; N]) -> NestedInts {
        NestedInts::Many(items.into_iter().map(Into::into).collect())
    }
}

impl NestedInts {
    /// As a list; `None` if it is nested deeper.
    #[must_use]
    pub fn flat(&self) -> Option<Vec<i64>> {
        let only = |item: &NestedInts| if let NestedInts::One(number) = item { Some(*number) } else { None };
        match self {
            NestedInts::One(number) => Some(vec![*number]),
            NestedInts::Many(items) => items.iter().map(only).collect(),
        }
    }

    /// The items; one number is one item.
    #[must_use]
    pub fn items(&self) -> &[NestedInts] {
        match self {
            NestedInts::One(_) => std::slice::from_ref(self),
            NestedInts::Many(items) => items,
        }
    }
}

impl Argument for NestedInts {
    const TYPE: Type = Type { python: "int | Sequence[Any]", rust: "NestedInts" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<NestedInts> {
        args.nested_ints(at)
    }
    fn absent(default: Constant) -> NestedInts {
        match default {
            Constant::Int(number) => NestedInts::One(number),
            Constant::Empty => NestedInts::Many(vec![]),
            other => misfit("integers", other),
        }
    }
}

/// An array or a number of which no digit is lost.
#[derive(Clone, Debug)]
pub enum WideNumber {
    /// An array, or a number that a default dtype holds.
    Val(Val),
    /// An integer that no default dtype holds.
    Int(i128),
}

impl WideNumber {
    /// The value, in a dtype if one is given: then a wide integer gives its low bits.
    ///
    /// # Errors
    /// An `Overflow` error for a wide integer without a dtype.
    pub fn to(&self, dtype: Option<DType>) -> Result<Val> {
        match (self, dtype) {
            (WideNumber::Val(val), None) => Ok(val.clone()),
            (WideNumber::Val(val), Some(dtype)) => to_dtype(val, dtype),
            (WideNumber::Int(number), Some(dtype)) if dtype.is_integer() || dtype.is_key() => {
                if !(i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(number) {
                    bail!(Overflow, "Python int {number} too large to convert to {dtype}");
                }
                // Of keys all words are known only to who takes the number.
                let dtype = if dtype.is_key() { DType::U64 } else { dtype };
                Ok(Val::Literal(Scalar::int(dtype, *number)))
            }
            (WideNumber::Int(number), Some(dtype)) => Ok(Val::Literal(Scalar::float(dtype, *number as f64))),
            (WideNumber::Int(number), None) => {
                bail!(Overflow, "Python int {number} too large to convert to {}", crate::convert::default_int())
            }
        }
    }
}

impl WideNumber {
    /// The value; a wide integer goes to a dtype, other values stay what they are.
    ///
    /// # Errors
    /// As [`WideNumber::to`].
    pub fn to_wide(&self, dtype: DType) -> Result<Val> {
        self.to(matches!(self, WideNumber::Int(_)).then_some(dtype))
    }
}

impl Argument for WideNumber {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<WideNumber> {
        args.number(at)
    }
    fn absent(default: Constant) -> WideNumber {
        WideNumber::Val(Val::absent(default))
    }
}

/// What a `*_like` function takes the dtype and shape from: an array, or an object that has both, such as a
/// `ShapeDtypeStruct`.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// An array; a number of its dtype where there is only the shape.
    pub val: Val,
    /// The shape, where the value does not have it.
    pub shape: Option<Vec<i64>>,
}

impl Argument for Prototype {
    const TYPE: Type = Type { python: "ArrayLike | ShapeDtypeStruct", rust: "&Array" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Prototype> {
        args.prototype(at)
    }
    fn absent(default: Constant) -> Prototype {
        misfit("a prototype", default)
    }
}

/// Which elements take part: booleans.
pub struct Mask;

impl Reader<Option<Val>> for Mask {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Option<Val>> {
        let found: Option<Val> = Argument::read(args, at)?;
        match found.as_ref().map(|mask| mask.aval().dtype) {
            None | Some(DType::Bool) => Ok(found),
            Some(dtype) => {
                let function = args.function();
                bail!(Value, "jnp.{function}: where must be None or a boolean array; got where.dtype=dtype('{dtype}').")
            }
        }
    }
    fn absent(_default: Constant) -> Option<Val> {
        None
    }
}

/// What a reduction starts from: a scalar.
pub struct Initial;

impl Reader<Option<Val>> for Initial {
    const TYPE: Type = Val::TYPE;
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Option<Val>> {
        let found: Option<Val> = Argument::read(args, at)?;
        if let Some(aval) = found.as_ref().map(Val::aval).filter(|aval| aval.rank() > 0) {
            bail!(Value, "initial value must be a scalar. Got array of shape {}", tuple_text(&aval.shape));
        }
        Ok(found)
    }
    fn absent(_default: Constant) -> Option<Val> {
        None
    }
}

/// A key of random numbers.
pub struct Key;

impl Reader<Val> for Key {
    const TYPE: Type = Type { python: "ArrayLike", rust: "&Key" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Val> {
        args.key(at)
    }
    fn absent(default: Constant) -> Val {
        misfit("a key", default)
    }
}

/// An `out`, which is there for NumPy's sake: it must be `None`.
#[derive(Clone, Copy, Debug)]
pub struct NoOut;

/// How the result is split, which the front sees to.
#[derive(Clone, Copy, Debug)]
pub struct Sharded;

/// Where the result shall be: the front puts it there.
#[derive(Clone, Copy, Debug)]
pub struct Placed;

/// What has no meaning here, such as a memory order: it may be anything.
#[derive(Clone, Copy, Debug)]
pub struct Ignored;

/// Any object: only whether it is there matters.
#[derive(Clone, Copy, Debug)]
pub struct Object;

macro_rules! without_value {
    ($($reader:ident $python:literal, |$args:ident, $at:ident| $read:expr;)*) => {$(
        impl Argument for $reader {
            const TYPE: Type = Type { python: $python, rust: "" };
            fn read($args: &mut dyn Arguments, $at: usize) -> Result<$reader> {
                $read.map(|()| $reader)
            }
            fn absent(_default: Constant) -> $reader {
                $reader
            }
        }
        impl Reader<()> for $reader {
            const TYPE: Type = <$reader as Argument>::TYPE;
            fn read(args: &mut dyn Arguments, at: usize) -> Result<()> {
                <$reader as Argument>::read(args, at).map(|_| ())
            }
            fn absent(_default: Constant) {}
        }
    )*};
}
without_value! {
    NoOut "None", |args, at| refuse_out(args, at);
    Sharded "Any", |args, at| args.split_result(at);
    Placed "CpuDevice | Sharding", |_args, _at| Ok::<(), Error>(());
    Object "Any", |_args, _at| Ok::<(), Error>(());
    Ignored "Any", |_args, _at| Ok::<(), Error>(());
}

fn refuse_out(args: &dyn Arguments, at: usize) -> Result<()> {
    if args.is_none(at) {
        return Ok(());
    }
    bail!(NotImplemented, "The 'out' argument to jnp.{} is not supported.", args.function())
}

/// A function of arrays that the user gave.
#[derive(Clone)]
pub struct Callable(Arc<dyn Fn(&[Val]) -> Result<Val> + Send + Sync>);

impl Callable {
    /// Of a Rust function.
    pub fn new(call: impl Fn(&[Val]) -> Result<Val> + Send + Sync + 'static) -> Callable {
        Callable(Arc::new(call))
    }

    /// Calls it.
    ///
    /// # Errors
    /// What the function raises.
    pub fn call(&self, operands: &[Val]) -> Result<Val> {
        (self.0)(operands)
    }
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Callable")
    }
}

impl Argument for Callable {
    const TYPE: Type = Type { python: "Callable[..., Any]", rust: "impl Fn(&Array) -> Array" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Callable> {
        args.callable(at)
    }
    fn absent(default: Constant) -> Callable {
        misfit("a function", default)
    }
}

/// A function of arrays, or a constant in its place.
#[derive(Clone, Debug)]
pub enum CallableOr {
    /// A function.
    Callable(Callable),
    /// A constant.
    Constant(Val),
}

impl Argument for Vec<CallableOr> {
    const TYPE: Type = Type { python: "Sequence[Callable[..., Any] | ArrayLike]", rust: "Vec<CallableOr>" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Vec<CallableOr>> {
        args.callables(at)
    }
    fn absent(default: Constant) -> Vec<CallableOr> {
        misfit("functions", default)
    }
}

/// A tree of arrays.
#[derive(Clone)]
pub struct Tree {
    /// The leaves.
    pub leaves: Vec<Val>,
    /// What puts them together.
    pub structure: TreeDef,
}

impl Tree {
    /// The tree of other leaves, as many as these.
    #[must_use]
    pub fn of(&self, leaves: Vec<Val>) -> Tree {
        debug_assert_eq!(leaves.len(), self.leaves.len());
        Tree { leaves, structure: self.structure.clone() }
    }

    /// The tree of what a function gives for each leaf.
    ///
    /// # Errors
    /// What the function raises.
    pub fn map(&self, f: impl FnMut(&Val) -> Result<Val>) -> Result<Tree> {
        Ok(self.of(self.leaves.iter().map(f).collect::<Result<_>>()?))
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tree({} leaves)", self.leaves.len())
    }
}

impl Argument for Tree {
    const TYPE: Type = Type { python: "Any", rust: "&[Array]" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<Tree> {
        args.tree(at)
    }
    fn absent(default: Constant) -> Tree {
        misfit("a tree", default)
    }
}
