//! The one error type of Pullback.
//!
//! An [`Error`] says what went wrong in a sentence for the user, which class of exception it is at the Python
//! front ([`ErrorKind`]), and where the user's program asked for it ([`Span`]). It deliberately carries no
//! backtrace into the framework: those lines are not the user's.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::span::Span;

/// Result with Pullback's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The class of an error; each maps to one exception class of the Python front.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Wrong type of argument: dtype mismatch, shape mismatch in an operation, non-array argument.
    Type,
    /// Right type, wrong value: axis out of bounds, bad parameter.
    Value,
    /// An index that is not valid.
    Index,
    /// A number that does not fit its type.
    Overflow,
    /// Something that Pullback does not do yet; the text names what.
    NotImplemented,
    /// The run itself failed.
    Runtime,
    /// A mapping lacks a key.
    Key,
    /// An object lacks an attribute.
    Attribute,
    /// A name, for example of an axis, that nothing binds.
    Name,
    /// Memory could not be had; the text begins with `RESOURCE_EXHAUSTED`.
    Memory,
    /// The user interrupted the computation.
    Interrupt,
    /// A NaN or infinity was found while the debug setting looked for them.
    FloatingPoint,
    /// No implicit promotion path between dtypes.
    TypePromotion,
    /// Shardings in types that do not fit, or leave open how a result is split.
    ShardingType,
    /// A concrete value was needed of an abstract tracer.
    Concretization,
    /// `bool(tracer)` of an abstract tracer.
    TracerBool,
    /// A NumPy array was asked of an abstract tracer.
    TracerArray,
    /// A Python integer was asked of an abstract tracer.
    TracerInteger,
    /// A boolean index that is not concrete.
    NonConcreteBooleanIndex,
    /// A tracer outlived its trace.
    UnexpectedTracer,
    /// A bug in Pullback itself.
    Internal,
    /// An exception of the host language on its way through; see [`Error::payload`].
    Foreign,
}

struct Inner {
    kind: ErrorKind,
    message: String,
    span: Span,
    payload: Option<Arc<dyn Any + Send + Sync>>,
}

/// What went wrong, for the user to read. One word large, so that `Result` stays small.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

impl Error {
    /// An error of the given kind at the current span.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        Error(Arc::new(Inner { kind, message: message.into(), span: Span::current(), payload: None }))
    }

    /// An exception of the host language, carried through unchanged.
    pub fn foreign(message: impl Into<String>, payload: Arc<dyn Any + Send + Sync>) -> Error {
        let (kind, span) = (ErrorKind::Foreign, Span::current());
        Error(Arc::new(Inner { kind, message: message.into(), span, payload: Some(payload) }))
    }

    /// An error about a value, of which a front end can say more.
    pub fn about(kind: ErrorKind, message: impl Into<String>, value: Arc<dyn Any + Send + Sync>) -> Error {
        let (message, span) = (message.into(), Span::current());
        Error(Arc::new(Inner { kind, message, span, payload: Some(value) }))
    }

    /// The class of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The sentence for the user, without place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where the user's program asked for what failed.
    pub fn span(&self) -> Span {
        self.0.span
    }

    /// The host language's own exception of an [`ErrorKind::Foreign`] error, or the value that an error is about.
    pub fn payload(&self) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.0.payload.as_ref()
    }

    /// The same error with `text` put in front of its message.
    pub fn context(&self, text: impl fmt::Display) -> Error {
        self.with_message(format!("{text}{}", self.0.message))
    }

    /// The same error with another message.
    pub fn with_message(&self, message: String) -> Error {
        Error(Arc::new(Inner { kind: self.0.kind, message, span: self.0.span, payload: self.0.payload.clone() }))
    }

    /// The same error at `span`, unless it already has a place.
    pub fn at(self, span: Span) -> Error {
        if self.0.span.is_known() {
            return self;
        }
        let Inner { kind, message, payload, .. } = &*self.0;
        Error(Arc::new(Inner { kind: *kind, message: message.clone(), span, payload: payload.clone() }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match self.0.span.resolve() {
            Some(place) => write!(f, "\n  at {place}"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {}

macro_rules! constructors {
    ($($name:ident $kind:ident $doc:literal;)*) => {
        impl Error {
            $(#[doc = $doc] pub fn $name(message: impl Into<String>) -> Error { Error::new(ErrorKind::$kind, message) })*
        }
    };
}
constructors! {
    type_error Type "A wrong type of argument.";
    value_error Value "A wrong value of an argument.";
    index_error Index "An index that is not valid.";
    overflow Overflow "A number that does not fit.";
    not_implemented NotImplemented "Something Pullback does not do yet; name it.";
    runtime Runtime "A failure of the run itself.";
    internal Internal "A bug in Pullback.";
}

/// Leaves the function with an error of a kind: `bail!(Type, "add got {x}")`.
#[macro_export]
macro_rules! bail {
    ($kind:ident, $($arg:tt)*) => {
        return Err($crate::Error::new($crate::ErrorKind::$kind, format!($($arg)*)))
    };
}
