//! Calls of public functions: arguments of Rust types as the declarations of the library read them.
//!
//! The modules that bear the names of Python's (`pullback::numpy`, `pullback::lax`, …) are written by a program from those
//! declarations; all of their functions are a few words around what stands here.

use std::panic::Location;

use pullback_base::tree::TreeDef;
use pullback_base::{DType, Error, Result, Scalar, Span};
use pullback_core::prims::DotPrecision;
use pullback_ir::Val;
use pullback_lib::axes::Axes;
use pullback_lib::declare::{
    Arguments, Callable, CallableOr, Declaration, NestedInts, Prototype, Returned, Tree, WideNumber,
};
use smallvec::SmallVec;

use crate::array::{Array, caught};
use crate::random::Key;
use crate::transforms::Output;

/// What may stand for an array in a call: an array or a reference to one, or a number, which takes the type of the other
/// operands.
pub trait Operand {
    /// The array.
    #[doc(hidden)]
    fn into_array(self) -> Array;
}

impl Operand for Array {
    fn into_array(self) -> Array {
        self
    }
}

impl Operand for &Array {
    fn into_array(self) -> Array {
        self.clone()
    }
}

/// Arrays and numbers side by side: a tuple, an array or a slice of them.
pub trait Operands {
    /// The arrays.
    #[doc(hidden)]
    fn into_arrays(self) -> Vec<Array>;
}

impl Operands for &[Array] {
    fn into_arrays(self) -> Vec<Array> {
        self.to_vec()
    }
}

impl Operands for Vec<Array> {
    fn into_arrays(self) -> Vec<Array> {
        self
    }
}

impl<T: Operand, const N: usize> Operands for [T; N] {
    fn into_arrays(self) -> Vec<Array> {
        self.into_iter().map(Operand::into_array).collect()
    }
}

macro_rules! operand_tuples {
    ($(($($T:ident $i:tt),+);)*) => {$(
        impl<$($T: Operand),+> Operands for ($($T,)+) {
            fn into_arrays(self) -> Vec<Array> { vec![$(self.$i.into_array()),+] }
        }
    )*};
}
operand_tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
}

macro_rules! number_operands {
    ($($number:ty => $make:expr;)*) => {$(
        impl Operand for $number {
            fn into_array(self) -> Array {
                Array::from_val(Val::Literal($make(self)))
            }
        }
    )*};
}
number_operands! {
    f64 => |x| Scalar::float(pullback_lib::convert::default_float(), x).weak(true);
    f32 => |x| Scalar::float(pullback_lib::convert::default_float(), f64::from(x)).weak(true);
    i32 => |x| Scalar::int(pullback_lib::convert::default_int(), i128::from(x)).weak(true);
    bool => Scalar::bool;
}

/// An argument.
pub(crate) enum Given {
    Array(Array),
    Arrays(Vec<Array>),
    Axes(Axes),
    Flag(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Ints(NestedInts),
    Sizes(Vec<i64>),
    DType(DType),
    Precision(DotPrecision),
    Callable(Callable),
    Callables(Vec<CallableOr>),
}

macro_rules! given_from {
    ($($from:ty, |$value:ident| $given:expr;)*) => {$(
        impl From<$from> for Given {
            fn from($value: $from) -> Given { $given }
        }
    )*};
}
given_from! {
    Array, |array| Given::Array(array);
    &[Array], |arrays| Given::Arrays(arrays.to_vec());
    Axes, |axes| Given::Axes(axes);
    bool, |flag| Given::Flag(flag);
    i64, |number| Given::Int(number);
    usize, |number| Given::Int(i64::try_from(number).unwrap_or(i64::MAX));
    f64, |number| Given::Float(number);
    &str, |text| Given::Text(text.to_string());
    NestedInts, |ints| Given::Ints(ints);
    &[i64], |sizes| Given::Sizes(sizes.to_vec());
    &[usize], |sizes| Given::Sizes(sizes.iter().map(|&size| i64::try_from(size).unwrap_or(i64::MAX)).collect());
    DType, |dtype| Given::DType(dtype);
    DotPrecision, |precision| Given::Precision(precision);
    Key, |key| Given::Array(key.into_array());
    Callable, |callable| Given::Callable(callable);
    Vec<CallableOr>, |callables| Given::Callables(callables);
}

/// A function that the library calls: from its operands to its result.
///
/// Where a function may be constant, a number or an array may stand for it.
#[derive(Clone, Debug)]
pub struct Function(pub(crate) CallableOr);

impl From<f64> for Function {
    fn from(value: f64) -> Function {
        Function::constant(value)
    }
}

impl Function {
    /// Of a closure.
    pub fn new<R: Output<Tree = Array>>(f: impl Fn(&[Array]) -> R + Send + Sync + 'static) -> Function {
        Function(CallableOr::Callable(f.into_callable()))
    }

    /// A constant in place of a function.
    #[must_use]
    pub fn constant(value: impl Operand) -> Function {
        Function(value.into_array().val().map_or_else(failing, CallableOr::Constant))
    }
}

/// A function that gives an error where a value was to stand that is none.
fn failing(error: Error) -> CallableOr {
    CallableOr::Callable(Callable::new(move |_| Err(error.clone())))
}

/// What the library takes for functions of a user.
pub(crate) trait IntoCallable {
    /// The closure as the library calls it.
    fn into_callable(self) -> Callable;
}

impl<R: Output<Tree = Array>, F: Fn(&[Array]) -> R + Send + Sync + 'static> IntoCallable for F {
    fn into_callable(self) -> Callable {
        Callable::new(move |vals| {
            let operands: Vec<Array> = vals.iter().cloned().map(Array::from_val).collect();
            caught(|| self(&operands).into_result())?.val()
        })
    }
}

/// What the library takes for lists of functions.
#[cfg_attr(
    not(test),
    allow(dead_code, reason = "written by the generator where a declared function takes such a list")
)]
pub(crate) trait IntoCallables {
    /// The functions as the library takes them.
    fn into_callables(self) -> Vec<CallableOr>;
}

impl IntoCallables for Vec<Function> {
    fn into_callables(self) -> Vec<CallableOr> {
        self.into_iter().map(|function| function.0).collect()
    }
}

/// A call: the function, where it was called, and one place for each parameter.
pub(crate) struct Call {
    declaration: &'static Declaration,
    span: Span,
    places: SmallVec<[Option<Given>; 8]>,
}

impl Call {
    #[track_caller]
    pub(crate) fn of(declaration: &'static Declaration) -> Call {
        let places = declaration.parameters.iter().map(|_| None).collect();
        Call { declaration, span: Span::of(Location::caller()), places }
    }

    /// With an argument for the parameter at a position.
    pub(crate) fn with(mut self, at: usize, given: impl Into<Given>) -> Call {
        self.places[at] = Some(given.into());
        self
    }

    /// The result.
    #[track_caller]
    pub(crate) fn run<T: FromReturned>(mut self) -> T {
        let checked = self.places.iter().flatten().any(Given::is_checked);
        let (span, call) = (self.span, self.declaration.call);
        T::from_returned(span.scope(|| call(&mut self)), checked)
    }

    fn given(&self, at: usize) -> Result<&Given> {
        let declaration = self.declaration;
        self.places[at]
            .as_ref()
            .ok_or_else(|| Error::internal(format!("{} reads argument {at}, which was not given", declaration.name())))
    }

    fn misfit(&self, at: usize, wanted: &str) -> Error {
        let parameter = self.declaration.parameters[at].name;
        Error::type_error(format!("{}: the argument `{parameter}` is no {wanted}", self.declaration.name()))
    }
}

impl Given {
    fn is_checked(&self) -> bool {
        match self {
            Given::Array(array) => array.is_checked(),
            Given::Arrays(arrays) => arrays.iter().any(Array::is_checked),
            _ => false,
        }
    }
}

macro_rules! read {
    ($self:ident, $at:ident, $wanted:literal, $($pattern:pat => $value:expr),+) => {
        match $self.given($at)? {
            $($pattern => $value,)+
            _ => Err($self.misfit($at, $wanted)),
        }
    };
}

impl Arguments for Call {
    fn function(&self) -> &'static str {
        self.declaration.name()
    }
    fn is_given(&self, at: usize) -> bool {
        self.places[at].is_some()
    }
    fn is_none(&self, at: usize) -> bool {
        self.places[at].is_none()
    }
    fn is_sequence(&self, at: usize) -> bool {
        matches!(self.places[at], Some(Given::Arrays(_) | Given::Sizes(_) | Given::Ints(NestedInts::Many(_))))
    }
    fn class(&self, at: usize) -> String {
        self.declaration.parameters[at].takes.rust.to_string()
    }
    fn shown(&mut self, at: usize) -> Result<String> {
        self.text(at)
    }
    fn array(&mut self, at: usize) -> Result<Val> {
        read!(self, at, "array", Given::Array(array) => array.val())
    }
    fn number(&mut self, at: usize) -> Result<WideNumber> {
        self.array(at).map(WideNumber::Val)
    }
    fn convertible(&mut self, at: usize) -> Result<Val> {
        self.array(at)
    }
    fn prototype(&mut self, at: usize) -> Result<Prototype> {
        Ok(Prototype { val: self.array(at)?, shape: None })
    }
    fn is_array(&self, at: usize) -> bool {
        matches!(self.places[at], Some(Given::Array(_)))
    }
    fn arrays(&mut self, at: usize) -> Result<Vec<Val>> {
        read!(self, at, "list of arrays", Given::Arrays(arrays) => arrays.iter().map(Array::val).collect())
    }
    fn rest(&mut self) -> Result<Vec<Val>> {
        let given = self.places.iter().flatten().find_map(|given| match given {
            Given::Arrays(arrays) => Some(arrays),
            _ => None,
        });
        given.map_or(Ok(vec![]), |arrays| arrays.iter().map(Array::val).collect())
    }
    fn flag(&mut self, at: usize) -> Result<bool> {
        read!(self, at, "truth", Given::Flag(flag) => Ok(*flag))
    }
    fn int(&mut self, at: usize) -> Result<i64> {
        read!(self, at, "integer", Given::Int(number) => Ok(*number))
    }
    fn float(&mut self, at: usize) -> Result<f64> {
        read!(self, at, "number", Given::Float(number) => Ok(*number), Given::Int(number) => Ok(*number as f64))
    }
    fn nested_ints(&mut self, at: usize) -> Result<NestedInts> {
        read!(self, at, "list of integers",
            Given::Ints(ints) => Ok(ints.clone()),
            Given::Int(number) => Ok(NestedInts::One(*number)),
            Given::Sizes(sizes) => Ok(NestedInts::Many(sizes.iter().map(|&size| NestedInts::One(size)).collect())))
    }
    fn text(&mut self, at: usize) -> Result<String> {
        read!(self, at, "text", Given::Text(text) => Ok(text.clone()))
    }
    fn axes(&mut self, at: usize) -> Result<Axes> {
        read!(self, at, "axis", Given::Axes(axes) => Ok(axes.clone()), Given::Int(axis) => Ok(Axes::One(*axis)))
    }
    fn sizes(&mut self, at: usize) -> Result<Vec<i64>> {
        read!(self, at, "shape", Given::Sizes(sizes) => Ok(sizes.clone()))
    }
    fn dtype(&mut self, at: usize) -> Result<DType> {
        read!(self, at, "dtype", Given::DType(dtype) => Ok(*dtype))
    }
    fn exact_dtype(&mut self, at: usize) -> Result<DType> {
        self.dtype(at)
    }
    fn precision(&mut self, at: usize) -> Result<DotPrecision> {
        read!(self, at, "precision", Given::Precision(precision) => Ok(*precision))
    }
    fn key(&mut self, at: usize) -> Result<Val> {
        self.array(at)
    }
    fn callable(&mut self, at: usize) -> Result<Callable> {
        read!(self, at, "function", Given::Callable(callable) => Ok(callable.clone()))
    }
    fn callables(&mut self, at: usize) -> Result<Vec<CallableOr>> {
        read!(self, at, "list of functions", Given::Callables(callables) => Ok(callables.clone()))
    }
    fn tree(&mut self, at: usize) -> Result<Tree> {
        let leaves = match self.given(at)? {
            Given::Array(array) => return Ok(Tree { leaves: vec![array.val()?], structure: TreeDef::leaf() }),
            _ => self.arrays(at)?,
        };
        let structure = TreeDef::tuple(leaves.iter().map(|_| TreeDef::leaf()).collect());
        Ok(Tree { leaves, structure })
    }
    fn split_result(&mut self, at: usize) -> Result<()> {
        Err(self.misfit(at, "sharding"))
    }
}

/// Types that results come as.
pub(crate) trait FromReturned {
    /// The result; arrays hold the error.
    fn from_returned(returned: Result<Returned>, checked: bool) -> Self;
}

/// As many arrays as there are, or one that holds the error.
fn arrays(returned: Result<Returned>, checked: bool) -> Vec<Array> {
    let vals = returned.and_then(|returned| match returned {
        Returned::One(val) => Ok(vec![val]),
        Returned::Tuple(vals) | Returned::List(vals) | Returned::Named(_, vals) => Ok(vals.into_vec()),
        Returned::Tree(tree) => Ok(tree.leaves),
        other => Err(Error::internal(format!("{other:?} came in place of arrays"))),
    });
    match vals {
        Ok(vals) => vals.into_iter().map(|val| Array::wrap(Ok(val), checked)).collect(),
        Err(error) => vec![Array::wrap(Err(error), checked)],
    }
}

impl FromReturned for Array {
    #[track_caller]
    fn from_returned(returned: Result<Returned>, checked: bool) -> Array {
        let val = returned.and_then(|returned| match returned {
            Returned::One(val) => Ok(val),
            other => Err(Error::internal(format!("{other:?} came in place of an array"))),
        });
        Array::wrap(val, checked)
    }
}

impl FromReturned for Vec<Array> {
    #[track_caller]
    fn from_returned(returned: Result<Returned>, checked: bool) -> Vec<Array> {
        arrays(returned, checked)
    }
}

/// The arrays of a tuple; after an error each of them holds it.
#[track_caller]
fn fixed<const N: usize>(returned: Result<Returned>, checked: bool) -> [Array; N] {
    let found = arrays(returned, checked);
    std::array::from_fn(|i| found[i.min(found.len() - 1)].clone())
}

impl FromReturned for (Array, Array) {
    #[track_caller]
    fn from_returned(returned: Result<Returned>, checked: bool) -> (Array, Array) {
        fixed::<2>(returned, checked).into()
    }
}

impl FromReturned for (Array, Array, Array) {
    #[track_caller]
    fn from_returned(returned: Result<Returned>, checked: bool) -> (Array, Array, Array) {
        fixed::<3>(returned, checked).into()
    }
}

macro_rules! plain_results {
    ($($rust:ty, $variant:ident;)*) => {$(
        impl FromReturned for $rust {
            #[track_caller]
            fn from_returned(returned: Result<Returned>, _checked: bool) -> $rust {
                match returned {
                    Ok(Returned::$variant(value)) => value,
                    Ok(other) => crate::array::fail(Error::internal(format!("{other:?} is no such value"))),
                    Err(error) => crate::array::fail(error),
                }
            }
        }
    )*};
}
plain_results! {
    bool, Bool;
    i64, Int;
    String, Text;
    Vec<usize>, Sizes;
    DType, DType;
}

#[cfg(test)]
mod tests {
    use pullback_lib::declare::{Parameter, ParameterKind, Type};

    use super::*;

    const fn parameter(name: &'static str) -> Parameter {
        let takes = Type { python: "Any", rust: "" };
        Parameter { name, kind: ParameterKind::Either, default: None, takes, optional: false }
    }

    /// Applies a function to the leaves of a tree, then functions or constants one after the other to what comes.
    fn chained(args: &mut dyn Arguments) -> Result<Returned> {
        let (first, rest, tree) = (args.callable(0)?, args.callables(1)?, args.tree(2)?);
        let start = first.call(&tree.leaves)?;
        let step = |x: Val, f: &CallableOr| match f {
            CallableOr::Callable(f) => f.call(&[x]),
            CallableOr::Constant(value) => pullback_lib::numpy::add(&x, value),
        };
        rest.iter().try_fold(start, step).map(Returned::One)
    }

    static CHAINED: Declaration = Declaration {
        names: &["test.chained"],
        path: "",
        signature: "(f, then, xs)",
        parameters: &[parameter("f"), parameter("then"), parameter("xs")],
        doc: "",
        result: Type { python: "Array", rust: "Array" },
        call: chained,
    };

    fn call(f: impl Fn(&[Array]) -> Result<Array> + Send + Sync + 'static, xs: &[Array]) -> Array {
        let then = vec![Function::new(|xs: &[Array]| &xs[0] * 3.0), Function::constant(0.5)];
        Call::of(&CHAINED).with(0, f.into_callable()).with(1, then.into_callables()).with(2, xs).run()
    }

    #[test]
    fn functions_and_trees_are_arguments() -> Result<()> {
        let product = |xs: &[Array]| Ok(&xs[0] * &xs[1]);
        let (x, y) = (crate::arr![2.0], crate::arr![5.0]);
        assert_eq!(call(product, &[x.clone(), y.clone()]), crate::arr![30.5]);
        let slope = crate::grad(|x: &Array| call(product, &[x.clone(), y.clone()]).sum())(&x)?;
        assert_eq!(slope, crate::arr![15.0]);
        let error = crate::jit(|x: &Array| call(|_| Err(Error::value_error("mine")), std::slice::from_ref(x)))(&x);
        assert!(error.expect_err("the closure fails").message().contains("mine"));
        let wrong = Call::of(&CHAINED).with(0, 1.0).with(1, 2.0).with(2, x.checked()).run::<Array>();
        let error = wrong.eval().expect_err("a number is no function");
        assert!(error.message().contains("the argument `f` is no function"), "{error}");
        Ok(())
    }
}
