//! Public functions of `lib` as Python callables.
//!
//! One class serves all of them: it knows a declaration, gives the call its arguments ([`arguments`]) and wraps what comes
//! back ([`returned`]). To Python it looks like a builtin function.

mod arguments;
mod promotion;
mod returned;
mod slots;
mod static_arguments;

use std::ffi::c_void;
use std::ptr;

use pullback_lib::declare::{
    Argument, DECLARATIONS, Declaration, Parameter, ParameterKind, Placed, Returned, last_part,
};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use pullback_trace::splitting_constants;

use crate::gate::gate;
use arguments::Given;
use slots::Slots;
use static_arguments::Statics;

/// Functions that choose between arrays of the user, who is to say how they are split.
const CHOICES_OF_USERS: &[&str] = &["lax.select", "lax.select_n", "numpy.stack", "numpy.where"];

// A public function. This is no documentation for Python: that of an instance is its own.
#[pyclass(module = "pullback._core", frozen, weakref, dict)]
pub struct Function {
    /// What Python calls; first in mind, as [`enable_vectorcall`] tells Python where it lies.
    vectorcall: ffi::vectorcallfunc,
    declaration: &'static Declaration,
    /// The name that this one goes by, with its module.
    full_name: &'static str,
    /// The names of the parameters, interned, so that most are found by their address.
    names: Vec<Py<PyString>>,
    /// How many parameters from the first on have no default.
    n_required: usize,
    /// Whether others have none.
    requires_keywords: bool,
    /// The position of the parameter that says where the result shall be.
    placed: Option<usize>,
    /// The parameters whose arguments must have a hash.
    statics: Statics,
}

impl Function {
    fn new(py: Python<'_>, declaration: &'static Declaration, full_name: &'static str) -> Function {
        let names = declaration.parameters.iter().map(|one| PyString::intern(py, one.name).unbind()).collect();
        let placed = declaration.parameters.iter().position(|one| one.takes == Placed::TYPE);
        let is_required = |one: &Parameter| {
            one.default.is_none() && !matches!(one.kind, ParameterKind::Rest | ParameterKind::Keywords)
        };
        let n_required = declaration.parameters.iter().take_while(|one| is_required(one)).count();
        let requires_keywords = declaration.parameters[n_required..].iter().any(is_required);
        let statics = Statics::of(declaration);
        Function { vectorcall, declaration, full_name, names, n_required, requires_keywords, placed, statics }
    }

    fn name(&self) -> &'static str {
        last_part(self.full_name)
    }

    /// Its name in errors about operands: before a function of a distribution stands the distribution.
    fn title(&self) -> &'static str {
        self.full_name.strip_prefix("scipy.stats.").unwrap_or_else(|| self.name())
    }

    /// Whether it raises to a power.
    fn is_power(&self) -> bool {
        self.full_name == "numpy.power"
    }

    /// Whether it belongs to a module.
    fn is_of(&self, module: &str) -> bool {
        self.full_name.rsplit_once('.').is_some_and(|(of, _)| of == module)
    }

    /// Calls it with positional and named arguments.
    fn run<'py>(&self, py: Python<'py>, slots: &Slots<'_, 'py>) -> PyResult<Py<PyAny>> {
        let _own = crate::transfers::call_of(py, self.full_name)?;
        self.statics.check(slots)?;
        let returned = gate(py, || {
            let _rules = promotion::rules_for(self.declaration, slots);
            let _way = pullback_base::sharding::in_use()
                .then(|| splitting_constants(!CHOICES_OF_USERS.contains(&self.full_name)));
            let mut given = Given { py, function: self, slots, asked: None };
            let returned = (self.declaration.call)(&mut given)?;
            match (given.asked, returned) {
                (Some((asked, _free)), Returned::One(val)) => Ok(Returned::One(pullback_trace::split(&val, asked)?)),
                (_, returned) => Ok(returned),
            }
        })?;
        let result = returned::wrapped(py, returned)?;
        match self.placed.and_then(|at| slots.get(at)).filter(|place| !place.is_none()) {
            Some(place) => Ok(py.import("pullback._device")?.call_method1("device_put", (result, place))?.unbind()),
            None => Ok(result),
        }
    }
}

#[pymethods]
impl Function {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
        let py = args.py();
        let args: Vec<Bound<'_, PyAny>> = args.iter().collect();
        let named: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)> = kwargs.into_iter().flatten().collect();
        let mut slots = Slots::new();
        slots.place(self, args.iter().map(Bound::as_borrowed))?;
        for (name, value) in &named {
            slots.name(self, name.as_borrowed(), value.as_borrowed())?;
        }
        slots.check_complete(self)?;
        self.run(py, &slots)
    }

    /// As an attribute of a class it stays what it is, like a builtin function.
    fn __get__<'py>(
        slf: Bound<'py, Self>,
        _instance: Bound<'py, PyAny>,
        _class: Option<Bound<'py, PyAny>>,
    ) -> Bound<'py, Self> {
        slf
    }

    #[getter]
    fn __name__(&self) -> &'static str {
        self.name()
    }

    #[getter]
    fn __qualname__(&self) -> &'static str {
        self.name()
    }

    #[getter]
    fn __module__(&self) -> String {
        let (module, _) = self.full_name.rsplit_once('.').unwrap_or_default();
        format!("pullback.{module}")
    }

    #[getter]
    fn __text_signature__(&self) -> &'static str {
        self.declaration.signature
    }

    #[getter]
    fn __doc__(&self) -> String {
        documentation(self.declaration, self.name())
    }

    /// The types of the parameters and of the result, as stubs show them.
    #[getter]
    fn _types(&self) -> (Vec<String>, &'static str) {
        let shown = |one: &Parameter| match one.optional {
            true => format!("{} | None", one.takes.python),
            false => one.takes.python.to_string(),
        };
        (self.declaration.parameters.iter().map(shown).collect(), self.declaration.result.python)
    }

    fn __reduce__(&self) -> &'static str {
        self.name()
    }

    fn __repr__(&self) -> String {
        format!("<function jax.{}>", self.full_name)
    }
}

/// The documentation without its examples in Rust; of an alias with its own name in the examples.
fn documentation(declaration: &Declaration, name: &str) -> String {
    let mut text = String::new();
    let mut is_rust = false;
    for line in declaration.doc.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if !is_fence && !is_rust {
            text += line;
            text.push('\n');
        }
        is_rust ^= is_fence;
    }
    let first = declaration.name();
    let text = text.trim_end();
    if name == first { text.to_string() } else { renamed(text, first, name) }
}

/// The text with another name of the function, where it stands after a dot: `jnp.max` in examples.
fn renamed(text: &str, first: &str, name: &str) -> String {
    let old = format!(".{first}");
    let mut parts = text.split(old.as_str());
    let mut all = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        all += if goes_on { &old } else { "." };
        all += if goes_on { "" } else { name };
        all += part;
    }
    all
}

/// What Python calls: arguments as they lie on its stack.
///
/// # Safety
/// As Python's vectorcall protocol says.
unsafe extern "C" fn vectorcall(
    callable: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    kwnames: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    Python::attach(|py| {
        // SAFETY: Python calls with an instance of our class, `nargsf` positional arguments, and after them one value for
        // each name in `kwnames`; all live until we return.
        let (function, positional, named) = unsafe {
            let function = Borrowed::from_ptr(py, callable).cast_unchecked::<Function>();
            let n = ffi::PyVectorcall_NARGS(nargsf) as usize;
            let n_named = if kwnames.is_null() { 0 } else { ffi::PyTuple_GET_SIZE(kwnames) as usize };
            let all: &[*mut ffi::PyObject] =
                if n + n_named == 0 { &[] } else { std::slice::from_raw_parts(args, n + n_named) };
            (function, &all[..n], &all[n..])
        };
        let result = called(py, function.get(), positional, named, kwnames);
        match result {
            Ok(result) => result.into_ptr(),
            Err(error) => {
                error.restore(py);
                ptr::null_mut()
            }
        }
    })
}

fn called(
    py: Python<'_>,
    function: &Function,
    positional: &[*mut ffi::PyObject],
    named: &[*mut ffi::PyObject],
    kwnames: *mut ffi::PyObject,
) -> PyResult<Py<PyAny>> {
    // SAFETY: as in `vectorcall`: the pointers are live objects.
    let borrowed = |&object: &*mut ffi::PyObject| unsafe { Borrowed::from_ptr(py, object) };
    let mut slots = Slots::new();
    slots.place(function, positional.iter().map(borrowed))?;
    for (i, value) in named.iter().enumerate() {
        // SAFETY: `kwnames` is a tuple with one name for each value.
        let name = unsafe { Borrowed::from_ptr(py, ffi::PyTuple_GET_ITEM(kwnames, i as isize)) };
        slots.name(function, name, borrowed(value))?;
    }
    slots.check_complete(function)?;
    function.run(py, &slots)
}

/// Tells Python that instances have a vectorcall, and where: PyO3 has no slot for that.
fn enable_vectorcall(instance: &Bound<'_, Function>) {
    let field = ptr::from_ref(&instance.get().vectorcall).cast::<c_void>() as isize;
    let offset = field - instance.as_ptr() as isize;
    // SAFETY: the class is our own and no other thread has seen it; the offset is the same in all of its instances, as
    // they have one layout.
    unsafe {
        let class = ffi::Py_TYPE(instance.as_ptr());
        (*class).tp_vectorcall_offset = offset;
        (*class).tp_flags |= ffi::Py_TPFLAGS_HAVE_VECTORCALL;
        ffi::PyType_Modified(class);
    }
}

/// Adds all public functions to the modules of `_core` that bear their modules' names.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = core.py();
    let class = py.get_type::<Function>();
    core.add("Function", &class)?;
    let mut is_first = true;
    for declaration in DECLARATIONS {
        for name in declaration.names {
            let function = Bound::new(py, Function::new(py, declaration, name))?;
            if std::mem::take(&mut is_first) {
                enable_vectorcall(&function);
            }
            let (module, last) = name.rsplit_once('.').ok_or_else(|| PyTypeError::new_err(*name))?;
            module_of(core, module)?.add(last, function)?;
        }
    }
    Ok(())
}

/// The module of a name inside of `_core`, which is made where there is none yet.
fn module_of<'py>(core: &Bound<'py, PyModule>, name: &str) -> PyResult<Bound<'py, PyModule>> {
    let mut module = core.clone();
    let mut path = String::from("pullback");
    for part in name.split('.') {
        path = format!("{path}.{part}");
        let found = module.dict().get_item(part)?;
        module = match found {
            Some(found) => found.cast_into()?,
            None => {
                let made = PyModule::new(core.py(), &path)?;
                // So that the list of its names is there, be it empty.
                made.index()?;
                module.dict().set_item(part, &made)?;
                made
            }
        };
    }
    Ok(module)
}
