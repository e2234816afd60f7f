//! Static parameters of primitives: typed structs inside, one value model at the edges.
//!
//! A primitive's params are a small Rust struct that derives `Params`. Equations hold them erased ([`Params`]). Printing,
//! parsing and conversion to another language go through [`ParamValue`]; nobody looks a parameter up by name inside.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pullback_base::{Aval, DType, Error, Result, Scalar};

use crate::jaxpr::JaxprRef;

/// The value of one parameter, in the model that all front ends share.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number with an element type; prints as the bare number.
    Scalar(Scalar),
    /// Text without quotes: names, enumerators.
    Name(Arc<str>),
    /// Text that prints in quotes, such as the names of axes in a tuple.
    Text(Arc<str>),
    /// An element type.
    DType(DType),
    /// An abstract value.
    Aval(Aval),
    /// A tuple.
    Tuple(Vec<ParamValue>),
    /// A list; prints in square brackets.
    List(Vec<ParamValue>),
    /// A named tuple: class name, then fields.
    Record(&'static str, Vec<(&'static str, ParamValue)>),
    /// A jaxpr.
    Jaxpr(JaxprRef),
    /// Something that only its owner understands.
    Opaque(Opaque),
}

/// A value that prints and compares by identity, such as a function of the host language.
#[derive(Clone)]
pub struct Opaque {
    /// How it prints.
    pub text: Arc<str>,
    /// The value.
    pub value: Arc<dyn Any + Send + Sync>,
}

impl PartialEq for Opaque {
    fn eq(&self, other: &Opaque) -> bool {
        Arc::ptr_eq(&self.value, &other.value)
    }
}

impl Eq for Opaque {}

impl Hash for Opaque {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.value).cast::<()>().hash(state);
    }
}

impl fmt::Debug for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Names and values of all parameters.
pub type ParamFields = Vec<(&'static str, ParamValue)>;

/// A type that can be one parameter.
pub trait ParamField: Sized {
    /// To the shared model.
    fn to_value(&self) -> ParamValue;
    /// From the shared model; `None` when the value has the wrong form.
    fn from_value(value: &ParamValue) -> Option<Self>;
}

/// The typed parameters of a primitive; implemented by `#[derive(Params)]`.
pub trait ParamSet: Clone + PartialEq + Eq + Hash + fmt::Debug + Send + Sync + 'static {
    /// Fields that JAX's printed form leaves out.
    const HIDDEN: &'static [&'static str];
    /// All fields.
    fn fields(&self) -> ParamFields;
    /// The struct of the given fields.
    fn from_fields(fields: &[(String, ParamValue)]) -> Result<Self>;
}

impl ParamSet for () {
    const HIDDEN: &'static [&'static str] = &[];
    fn fields(&self) -> ParamFields {
        vec![]
    }
    fn from_fields(fields: &[(String, ParamValue)]) -> Result<()> {
        match fields.first() {
            Some((name, _)) => Err(Error::type_error(format!("unexpected parameter {name}: there are none"))),
            None => Ok(()),
        }
    }
}

/// Reads one field by name; used by the derive macro.
///
/// # Errors
/// When it is missing or has the wrong form.
pub fn read_field<T: ParamField>(fields: &[(String, ParamValue)], name: &str) -> Result<T> {
    let value = fields.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let Some(value) = value else { return Err(Error::type_error(format!("parameter {name} is missing"))) };
    T::from_value(value).ok_or_else(|| Error::type_error(format!("parameter {name} has a wrong value {value:?}")))
}

/// Erased parameters.
pub trait ParamsObject: Any + Send + Sync + fmt::Debug {
    /// Names and values.
    fn fields(&self) -> Vec<(String, ParamValue)>;
    /// Names that JAX's printed form leaves out.
    fn hidden(&self) -> &'static [&'static str];
    /// Equality with other parameters of the same primitive.
    fn equals(&self, other: &dyn ParamsObject) -> bool;
    /// A hash that agrees with equality.
    fn hash_value(&self) -> u64;
    /// For the typed struct.
    fn as_any(&self) -> &dyn Any;
}

impl<T: ParamSet> ParamsObject for T {
    fn fields(&self) -> Vec<(String, ParamValue)> {
        ParamSet::fields(self).into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
    fn hidden(&self) -> &'static [&'static str] {
        T::HIDDEN
    }
    fn equals(&self, other: &dyn ParamsObject) -> bool {
        other.as_any().downcast_ref::<T>().is_some_and(|other| self == other)
    }
    fn hash_value(&self) -> u64 {
        let mut state = rustc_hash::FxHasher::default();
        self.hash(&mut state);
        state.finish()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The parameters of an equation, erased. Primitives without parameters take no memory.
#[derive(Clone, Debug, Default)]
pub struct Params(Option<Arc<dyn ParamsObject>>);

impl Params {
    /// No parameters.
    pub const NONE: Params = Params(None);

    /// Erases a typed struct; `()` takes no memory.
    pub fn new<T: ParamSet>(params: T) -> Params {
        if (&params as &dyn Any).is::<()>() { Params(None) } else { Params(Some(Arc::new(params))) }
    }

    /// Parameters of a primitive that another language defines.
    pub fn foreign(object: Arc<dyn ParamsObject>) -> Params {
        Params(Some(object))
    }

    /// The typed struct, if it is one of type `T`.
    pub fn get<T: ParamSet>(&self) -> Option<&T> {
        match &self.0 {
            Some(object) => object.as_any().downcast_ref(),
            None => (&() as &dyn Any).downcast_ref(),
        }
    }

    /// The erased object; `None` when there are no parameters.
    pub fn object(&self) -> Option<&Arc<dyn ParamsObject>> {
        self.0.as_ref()
    }

    /// Names and values.
    pub fn fields(&self) -> Vec<(String, ParamValue)> {
        self.0.as_ref().map(|object| object.fields()).unwrap_or_default()
    }

    /// All jaxprs among the values.
    pub fn jaxprs(&self) -> Vec<JaxprRef> {
        let mut found = vec![];
        for (_, value) in self.fields() {
            collect_jaxprs(&value, &mut found);
        }
        found
    }
}

fn collect_jaxprs(value: &ParamValue, found: &mut Vec<JaxprRef>) {
    match value {
        ParamValue::Jaxpr(jaxpr) => found.push(jaxpr.clone()),
        ParamValue::Tuple(items) | ParamValue::List(items) => items.iter().for_each(|item| collect_jaxprs(item, found)),
        ParamValue::Record(_, fields) => fields.iter().for_each(|(_, item)| collect_jaxprs(item, found)),
        ParamValue::None
        | ParamValue::Bool(_)
        | ParamValue::Int(_)
        | ParamValue::Scalar(_)
        | ParamValue::Name(_)
        | ParamValue::Text(_)
        | ParamValue::DType(_)
        | ParamValue::Aval(_)
        | ParamValue::Opaque(_) => {}
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Params) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.equals(&**b),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

impl Eq for Params {}

impl Hash for Params {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ref().map(|object| object.hash_value()).hash(state);
    }
}

macro_rules! simple_field {
    ($($ty:ty: $value:ident => $to:expr, $pattern:pat => $from:expr;)*) => {$(
        impl ParamField for $ty {
            fn to_value(&self) -> ParamValue { let $value = self; $to }
            fn from_value(value: &ParamValue) -> Option<Self> { match value { $pattern => $from, _ => None } }
        }
    )*};
}
simple_field! {
    bool: x => ParamValue::Bool(*x), ParamValue::Bool(x) => Some(*x);
    i64: x => ParamValue::Int(*x), ParamValue::Int(x) => Some(*x);
    i32: x => ParamValue::Int((*x).into()), ParamValue::Int(x) => (*x).try_into().ok();
    u32: x => ParamValue::Int((*x).into()), ParamValue::Int(x) => (*x).try_into().ok();
    usize: x => ParamValue::Int(*x as i64), ParamValue::Int(x) => (*x).try_into().ok();
    DType: x => ParamValue::DType(*x), ParamValue::DType(x) => Some(*x);
    Aval: x => ParamValue::Aval(*x), ParamValue::Aval(x) => Some(*x);
    Arc<str>: x => ParamValue::Name(x.clone()), ParamValue::Name(x) => Some(x.clone());
    JaxprRef: x => ParamValue::Jaxpr(x.clone()), ParamValue::Jaxpr(x) => Some(x.clone());
    Scalar: x => ParamValue::Scalar(*x), ParamValue::Scalar(x) => Some(*x);
    Opaque: x => ParamValue::Opaque(x.clone()), ParamValue::Opaque(x) => Some(x.clone());
}

impl<T: ParamField> ParamField for Option<T> {
    fn to_value(&self) -> ParamValue {
        self.as_ref().map_or(ParamValue::None, ParamField::to_value)
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        if *value == ParamValue::None { Some(None) } else { T::from_value(value).map(Some) }
    }
}

impl<T: ParamField> ParamField for Vec<T> {
    fn to_value(&self) -> ParamValue {
        ParamValue::Tuple(self.iter().map(ParamField::to_value).collect())
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Tuple(items) | ParamValue::List(items) => items.iter().map(T::from_value).collect(),
            _ => None,
        }
    }
}

impl<A: ParamField, B: ParamField> ParamField for (A, B) {
    fn to_value(&self) -> ParamValue {
        ParamValue::Tuple(vec![self.0.to_value(), self.1.to_value()])
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Tuple(items) if items.len() == 2 => {
                Some((A::from_value(&items[0])?, B::from_value(&items[1])?))
            }
            _ => None,
        }
    }
}

impl<A: ParamField, B: ParamField, C: ParamField> ParamField for (A, B, C) {
    fn to_value(&self) -> ParamValue {
        ParamValue::Tuple(vec![self.0.to_value(), self.1.to_value(), self.2.to_value()])
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Tuple(items) if items.len() == 3 => {
                Some((A::from_value(&items[0])?, B::from_value(&items[1])?, C::from_value(&items[2])?))
            }
            _ => None,
        }
    }
}
