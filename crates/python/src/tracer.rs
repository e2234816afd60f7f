//! What tracers show and refuse: their reprs, and the errors when a concrete value is asked of an abstract one.

use pullback_ir::{Slot, Tracer, Val};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;

use crate::errors::{exception_class, type_error};
use crate::gate::user_span;
use crate::names;
use crate::value::{TracerKind, kind_of, wrap};

/// The value itself when it is known: tracers of derivatives outside of staging have known primals.
pub fn concrete(val: &Val) -> Option<Val> {
    match val {
        Val::Literal(_) | Val::Array(_) => Some(val.clone()),
        Val::Tracer(Tracer { slot: Slot::Dual(dual), .. }) => concrete(&dual.primal),
        Val::Tracer(_) => None,
    }
}

/// The abstract tracer inside nested derivatives, which is why a value is not known.
fn culprit(tracer: &Tracer) -> &Tracer {
    match &tracer.slot {
        Slot::Dual(dual) => match &dual.primal {
            Val::Tracer(inner) => culprit(inner),
            Val::Literal(_) | Val::Array(_) => tracer,
        },
        Slot::Var(_) | Slot::Batched(_) | Slot::Foreign(_) => tracer,
    }
}

/// The text of a value inside the repr of a tracer.
fn inner_text(py: Python<'_>, val: &Val) -> String {
    match val {
        Val::Tracer(tracer) => repr(py, tracer),
        Val::Literal(_) | Val::Array(_) => wrap(py, val.clone())
            .and_then(|array| Ok(array.bind(py).str()?.to_string()))
            .unwrap_or_else(|error| error.to_string()),
    }
}

/// The repr of a tracer.
pub fn repr(py: Python<'_>, tracer: &Tracer) -> String {
    match &tracer.slot {
        Slot::Var(_) => format!("JitTracer({})", tracer.aval.long()),
        Slot::Foreign(_) => match crate::python_trace::class_of(py, tracer) {
            Some(class) => format!("{class}<{}>", tracer.aval.long()),
            None => format!("JitTracer({})", tracer.aval.long()),
        },
        Slot::Batched(batched) => {
            format!("VmapTracer(aval={}, batched={})", tracer.aval.long(), batched.value.aval().weak(false).long())
        }
        Slot::Dual(dual) => {
            let primal = inner_text(py, &dual.primal);
            let tangent = dual.tangent.as_ref();
            if kind_of(tracer) == TracerKind::Linearize {
                let aval = tangent.map_or_else(|| dual.primal.aval().tangent(), Val::aval);
                return format!("GradTracer(primal={primal}, typeof(tangent)={})", aval.short());
            }
            let tangent = tangent.map_or_else(|| "Zero".into(), |tangent| inner_text(py, tangent));
            format!("JVPTracer(primal={primal}, tangent={tangent})")
        }
    }
}

/// What `print` shows: a staged tracer says that it is traced, and where.
pub fn str_of(py: Python<'_>, tracer: &Tracer) -> String {
    match tracer.slot {
        Slot::Var(_) => format!("Traced<{}>with<DynamicJaxprTrace>", crate::aval::repr(tracer.aval)),
        Slot::Dual(_) | Slot::Batched(_) | Slot::Foreign(_) => repr(py, tracer),
    }
}

/// Which function, argument and line an abstract tracer comes from, as further lines of an error.
pub fn origin(py: Python<'_>, tracer: &Tracer) -> String {
    let tracer = culprit(tracer);
    let mut text = String::new();
    if matches!(tracer.slot, Slot::Batched(_)) {
        text += "\nThis VmapTracer stands for a value that differs from example to example.";
    } else if let Some(origin) = names::origin(py, tracer) {
        text += &format!("\n{origin}");
    }
    if let Some(place) = user_span(py).resolve() {
        text += &format!("\nThe value was asked for at {place}.");
    }
    text
}

/// The way out for a tracer whose value is known, but whose derivative would be lost with it.
fn way_out(tracer: &Tracer) -> &'static str {
    match concrete(&Val::Tracer(tracer.clone())) {
        Some(_) => {
            "\nOutside of JAX the value would lose its derivative. Compute with the functions of jax.numpy instead, or take the \
             value without a derivative with `jax.lax.stop_gradient(x)` first."
        }
        None => "",
    }
}

fn raise(py: Python<'_>, class: &str, text: String) -> PyErr {
    exception_class(py, class).map_or_else(|error| error, |class| PyErr::from_type(class, text))
}

fn abstract_text(tracer: &Tracer) -> String {
    format!(
        "Abstract tracer value encountered where concrete value is expected: traced array with shape {}",
        tracer.aval.weak(false).long()
    )
}

/// `bool(tracer)`.
pub fn bool_error(py: Python<'_>, tracer: &Tracer) -> PyErr {
    let shape = tracer.aval.weak(false).long();
    let hint =
        "\nUse jnp.where or lax.cond to choose by a traced value, or mark the argument as static with static_argnums.";
    raise(
        py,
        "TracerBoolConversionError",
        format!("Attempted boolean conversion of traced array with shape {shape}.{}{hint}", origin(py, tracer)),
    )
}

/// `float(tracer)` and its kin.
pub fn number_error(py: Python<'_>, tracer: &Tracer, function: &str) -> PyErr {
    let hint = format!(
        "\nThe problem arose with the `{function}` function. If trying to convert the data type of a value, try using \
         `x.astype({function})` or `jnp.array(x, {function})` instead."
    );
    let (text, way_out) = (abstract_text(tracer), way_out(tracer));
    raise(py, "ConcretizationTypeError", format!("{text}{hint}{way_out}{}", origin(py, tracer)))
}

/// A method that needs the elements.
pub fn method_error(py: Python<'_>, tracer: &Tracer, context: &str) -> PyErr {
    let (text, way_out) = (abstract_text(tracer), way_out(tracer));
    raise(py, "ConcretizationTypeError", format!("{text}\n{context}{way_out}{}", origin(py, tracer)))
}

/// `range(tracer)`.
pub fn index_error(py: Python<'_>, tracer: &Tracer) -> PyErr {
    let shape = tracer.aval.weak(false).long();
    let text = format!("The __index__() method was called on traced array with shape {shape}{}", origin(py, tracer));
    raise(py, "TracerIntegerConversionError", text)
}

/// `numpy.asarray(tracer)`.
pub fn array_error(py: Python<'_>, tracer: &Tracer) -> PyErr {
    let shape = tracer.aval.weak(false).long();
    let text = format!(
        "The numpy.ndarray conversion method __array__() was called on traced array with shape {shape}{}\nUse the functions of \
         jax.numpy in place of those of numpy inside traced functions.{}",
        origin(py, tracer),
        way_out(tracer)
    );
    raise(py, "TracerArrayConversionError", text)
}

/// `memoryview(tracer)` and all else that reads buffers.
pub fn buffer_error(py: Python<'_>, tracer: &Tracer, class: &str) -> PyErr {
    let shape = tracer.aval.weak(false).long();
    type_error(format!(
        "a bytes-like object is required, not '{class}': the buffer of a traced array with shape {shape} was asked for{}{}",
        origin(py, tracer),
        way_out(tracer)
    ))
}

/// `format(tracer, spec)`.
pub fn format_error(py: Python<'_>, tracer: &Tracer, class: &str) -> PyErr {
    let hint = "\nUse jax.debug.print to print values of traced arrays.";
    type_error(format!("unsupported format string passed to {class}.__format__{hint}{}", origin(py, tracer)))
}

/// A method that only concrete arrays have.
pub fn attribute_error(py: Python<'_>, tracer: &Tracer, name: &str) -> PyErr {
    let shape = tracer.aval.weak(false).long();
    PyAttributeError::new_err(format!(
        "The '{name}' method is not available on traced array with shape {shape}.{}",
        origin(py, tracer)
    ))
}

/// An attribute that says where an array lies.
pub fn place_error(py: Python<'_>, tracer: &Tracer, name: &str) -> PyErr {
    let shape = tracer.aval.weak(false).long();
    PyAttributeError::new_err(format!(
        "The '{name}' attribute is not available on traced array with shape {shape}. To query sharding information on tracers, \
         use `jax.typeof(x)`.{}",
        origin(py, tracer)
    ))
}

/// Arrays have no hash.
pub fn unhashable(class: &str) -> PyErr {
    PyTypeError::new_err(format!("unhashable type: '{class}'"))
}
