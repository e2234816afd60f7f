//! `vmap` of Python functions: which axes are mapped, their common size, and where the results have it.

use std::cell::RefCell;

use pullback_base::tree::TreeDef;
use pullback_base::{Aval, Result, Scalar, Sharding};
use pullback_ir::{Batch, Val};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::call::{call_on, tree_of, tree_vals};
use crate::errors::{Carry, type_error, value_error};
use crate::gate::gate;
use crate::names::argument_names;
use crate::tree::{broadcast_prefix, flatten_all, flatten_with_paths, key_text, prefix_mismatch, unflatten};
use crate::value::{try_val, wrap};

/// An axis as the user gave it; `None` is not mapped.
type Axis = Option<i64>;

fn axis_of(obj: &Bound<'_, PyAny>, what: &str) -> PyResult<Axis> {
    if obj.is_none() {
        return Ok(None);
    }
    obj.extract::<i64>().map(Some).map_err(|_| {
        let text = obj.str().map(|text| text.to_string()).unwrap_or_default();
        type_error(format!(
            "vmap {what} must be an int, None, or (nested) container with those types as leaves, but got {text}."
        ))
    })
}

/// Axes of all leaves, from a prefix tree of axes.
fn spread(spec: &Bound<'_, PyAny>, full: &Bound<'_, PyAny>, tree: &TreeDef, what: &str) -> PyResult<Vec<Axis>> {
    let axes = broadcast_prefix(spec, tree).map_err(|error| {
        match prefix_mismatch(spec, full, &format!("vmap {what}")) {
            Ok(Some(text)) => value_error(format!(
                "vmap {what} specification must be a tree prefix of the corresponding value; \n  Mismatch details (1 found):\n  {text}"
            )),
            _ => error,
        }
    })?;
    axes.iter().map(|axis| axis_of(axis, what)).collect()
}

/// One leaf of the arguments: its axis, and its value if it is mapped. What is not mapped may be anything: the function gets it
/// as it is.
struct Mapped {
    leaf: Py<PyAny>,
    val: Val,
    dim: Option<usize>,
}

impl Mapped {
    fn of(leaf: &Bound<'_, PyAny>, axis: Axis) -> PyResult<Mapped> {
        let val = match axis {
            None => Val::Literal(Scalar::bool(false)),
            Some(_) => try_val(leaf)?.ok_or_else(|| crate::call::not_a_jax_type(leaf, ""))?,
        };
        let dim = canonical(val.aval(), axis)?;
        Ok(Mapped { leaf: leaf.clone().unbind(), val, dim })
    }
}

fn canonical(aval: Aval, axis: Axis) -> PyResult<Option<usize>> {
    let Some(axis) = axis else { return Ok(None) };
    let rank = aval.rank() as i64;
    let needed = if axis < 0 { -axis } else { axis + 1 };
    if needed > rank {
        return Err(value_error(format!(
            "vmap was requested to map its argument along axis {axis}, which implies that its rank should be at least {needed}, \
             but is only {rank} (its shape is {})",
            pullback_base::aval::tuple_text(&aval.shape)
        )));
    }
    Ok(Some(if axis < 0 { axis + rank } else { axis } as usize))
}

/// The common size of the mapped axes.
fn common_size(mapped: &[Mapped], names: &dyn Fn() -> Vec<String>, axis_size: Option<usize>) -> PyResult<usize> {
    let mut sizes: Vec<(usize, usize, usize)> = vec![];
    for (at, argument) in mapped.iter().enumerate() {
        if let Some(dim) = argument.dim {
            sizes.push((argument.val.aval().shape[dim], dim, at));
        }
    }
    let Some(size) = axis_size.or_else(|| sizes.first().map(|(size, ..)| *size)) else {
        return Err(value_error(
            "vmap must have at least one non-None value in in_axes or axis_size must be specified",
        ));
    };
    if sizes.iter().all(|(other, ..)| *other == size) {
        return Ok(size);
    }
    Err(value_error(inconsistent(&sizes, mapped, &names(), axis_size)))
}

fn inconsistent(
    sizes: &[(usize, usize, usize)],
    mapped: &[Mapped],
    names: &[String],
    axis_size: Option<usize>,
) -> String {
    let describe = |&(_, dim, at): &(usize, usize, usize)| {
        let name = names.get(at).cloned().unwrap_or_default();
        let of = if name.starts_with("kwargs[") { name } else { format!("argument {name}") };
        format!("axis {dim} of {of} of type {}", mapped[at].val.aval().weak(false).long())
    };
    let mut groups: Vec<(usize, Vec<String>)> = vec![];
    for entry in sizes {
        match groups.iter_mut().find(|(size, _)| *size == entry.0) {
            Some((_, texts)) => texts.push(describe(entry)),
            None => groups.push((entry.0, vec![describe(entry)])),
        }
    }
    groups.sort_by_key(|(_, texts)| std::cmp::Reverse(texts.len()));
    let mut lines: Vec<String> =
        axis_size.map(|size| format!("  * the `axis_size` argument was {size}")).into_iter().collect();
    for (i, (size, texts)) in groups.iter().enumerate() {
        lines.push(match (texts.len(), i) {
            (1, _) => format!("  * one axis had size {size}: {}", texts[0]),
            (n, 0) => format!("  * most axes ({n} of them) had size {size}, e.g. {}", texts[0]),
            (n, _) => format!("  * some axes ({n} of them) had size {size}, e.g. {}", texts[0]),
        });
    }
    format!("vmap got inconsistent sizes for array axes to be mapped:\n{}", lines.join(";\n"))
}

/// Runs `fun` for all examples at once.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "called from one place, in order")]
fn vmap_call(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: &Bound<'_, PyDict>,
    in_axes: &Bound<'_, PyAny>,
    out_axes: &Bound<'_, PyAny>,
    axis_name: Option<Bound<'_, PyAny>>,
    axis_size: Option<usize>,
) -> PyResult<Py<PyAny>> {
    let pair = PyTuple::new(py, [args.as_any(), kwargs.as_any()])?;
    let (leaves, in_tree) = flatten_all(pair.as_any())?;
    if leaves.is_empty() && axis_size.is_none() {
        return Err(value_error(format!(
            "vmap wrapped function must be passed at least one argument containing an array or axis_size must be specified, got \
             empty *args={} and **kwargs={}",
            args.repr()?,
            kwargs.repr()?
        )));
    }
    let args_tree = &in_tree.children()[0];
    let mut axes = spread(in_axes, args.as_any(), args_tree, "in_axes")?;
    axes.resize(leaves.len(), Some(0));
    let mut mapped = vec![];
    for (leaf, axis) in leaves.iter().zip(axes) {
        mapped.push(Mapped::of(leaf, axis)?);
    }
    let names = || argument_names_of_vmap(fun, args, kwargs);
    let size = common_size(&mapped, &names, axis_size)?;
    let name = axis_name.map(|name| crate::api::lax::parallel::axis_name(&name)).transpose()?;
    let split = common_split(&mapped)?;
    let batch = Batch { size, name, split };

    let job = Job { fun, in_tree: &in_tree, out_axes };
    let (outs, out_tree) = gate(py, || job.run(&batch, &mapped))?;
    tree_of(py, &out_tree, outs)
}

/// How the mapped axis is split, on which all arguments agree.
fn common_split(mapped: &[Mapped]) -> PyResult<Option<Sharding>> {
    let mut splits = mapped.iter().filter_map(|one| one.dim.map(|dim| one.val.aval().split_of(dim)));
    let Some(first) = splits.next() else { return Ok(None) };
    let names = |split: Option<Sharding>| split.map_or_else(Vec::new, |split| split.entries[0].clone());
    match splits.find(|other| names(*other) != names(first)) {
        None => Ok(first),
        Some(other) => {
            let [a, b] =
                [first, other].map(|split| split.map_or_else(|| "None".into(), |split| split.entries[0].join(",")));
            Err(value_error(format!(
                "Mapped away dimension of inputs passed to vmap should be sharded the same. Got inconsistent axis specs: {a} vs {b}"
            )))
        }
    }
}

fn argument_names_of_vmap(
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    kwargs: &Bound<'_, PyDict>,
) -> Vec<String> {
    let mut names = argument_names(fun, args, None, &|_, _| false);
    let (found, _) = match flatten_with_paths(kwargs.as_any(), None, false) {
        Ok(found) => found,
        Err(_) => return names,
    };
    names.extend(found.iter().map(|(path, _)| format!("kwargs{}", key_text(path).unwrap_or_default())));
    names
}

fn bad_output(leaf: &Bound<'_, PyAny>, _path: &str) -> PyErr {
    let text = leaf.repr().map(|text| text.to_string()).unwrap_or_default();
    type_error(format!("Output from batched function {text} with type {} is not a valid JAX type", leaf.get_type()))
}

/// The user's function, and what is asked of its results.
struct Job<'a, 'py> {
    fun: &'a Bound<'py, PyAny>,
    in_tree: &'a TreeDef,
    out_axes: &'a Bound<'py, PyAny>,
}

impl<'py> Job<'_, 'py> {
    fn run(&self, batch: &Batch, mapped: &[Mapped]) -> Result<(Vec<Val>, TreeDef)> {
        let py = self.fun.py();
        let ins: Vec<(Val, Option<usize>)> =
            mapped.iter().map(|argument| (argument.val.clone(), argument.dim)).collect();
        // The axes of the results are known only with their structure, after the call.
        let result: RefCell<Option<(Option<Bound<'py, PyAny>>, TreeDef)>> = RefCell::new(None);
        let mut flat = |vals: &[Val]| -> Result<Vec<Val>> {
            let leaves = mapped.iter().zip(vals).map(|(one, val)| match one.dim {
                None => Ok(one.leaf.clone_ref(py)),
                Some(_) => wrap(py, val.clone()),
            });
            let leaves = leaves.collect::<PyResult<Vec<_>>>().carry(py)?;
            let out = call_on("vmap", self.fun, self.in_tree, leaves).carry(py)?;
            let (outs, tree) = tree_vals(&out, &bad_output).carry(py)?;
            result.replace(Some((Some(out), tree)));
            Ok(outs)
        };
        let mut out_dims = |_: usize| -> Result<Vec<Axis>> {
            // Taken, so that nobody holds tracers when the trace ends.
            let mut result = result.borrow_mut();
            let (out, tree) = result.as_mut().expect("the function ran");
            let out = out.take().expect("axes are asked for once");
            spread(self.out_axes, &out, tree, "out_axes").carry(py)
        };
        let outs = pullback_trace::vmap(&mut flat, batch, &ins, &mut out_dims);
        let (_, tree) = result.into_inner().ok_or_else(|| outs.as_ref().err().cloned().unwrap_or_else(no_result))?;
        let outs = outs.map_err(|error| with_path(py, error, &tree))?;
        Ok((outs, tree))
    }
}

/// The error with the path of a result in place of its number.
fn with_path(py: Python<'_>, error: pullback_base::Error, tree: &TreeDef) -> pullback_base::Error {
    let named = |number: &str| -> PyResult<String> {
        let numbers = (0..tree.n_leaves()).map(|i| Ok(i.into_pyobject(py)?.into_any().unbind()));
        let whole = unflatten(py, tree, numbers.collect::<PyResult<Vec<_>>>()?)?;
        let (found, _) = flatten_with_paths(whole.bind(py), None, false)?;
        let place = number.parse::<usize>().ok().and_then(|i| found.get(i)).map(|(path, _)| key_text(path));
        place.unwrap_or_else(|| Ok(format!("[{number}]")))
    };
    let start = "at vmap out_axes[";
    let Some((number, rest)) = error.message().strip_prefix(start).and_then(|text| text.split_once(']')) else {
        return error;
    };
    match named(number) {
        Ok(path) => error.with_message(format!("at vmap out_axes{path}{rest}")),
        Err(_) => error.clone(),
    }
}

fn no_result() -> pullback_base::Error {
    pullback_base::Error::internal("vmap did not call its function")
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(vmap_call, m)?)
}
