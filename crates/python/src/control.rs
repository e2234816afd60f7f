//! Control flow on Python functions: `cond`, `switch`, `scan`, `while_loop`, `checkpoint`.
//!
//! Functions are traced on flat values; what is carried must keep its structure and types, and the errors name the part
//! that does not.

use pullback_base::dtype::{Typed, promote};
use pullback_base::tree::{Node, TreeDef};
use pullback_base::{Aval, DType, Result, Scalar};
use pullback_core::control::{CHECKPOINT, COND, Checkpoint, Cond, PolicyRef, SCAN, SavePolicy, Scan, WHILE, While};
use pullback_ir::{Params, PrimRef, Val, Vals};
use pullback_lib::{convert, lax};
use pullback_trace::{Traced, trace_to_jaxpr, unify_captures};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::bodies;
use crate::call::{call_with, check_callable, not_a_jax_type, path_of, tree_of, tree_vals};
use crate::errors::{Carry, not_implemented, type_error, value_error};
use crate::gate::gate;
use crate::jaxpr::check_allowed;
use crate::jit::bad_output;
use crate::names::{self, function_and_place, positional_names};
use crate::tree::PyNode;

/// A traced Python function: its jaxpr and the structure of its result.
#[derive(Clone)]
pub struct TracedFun {
    /// The jaxpr and what it captured, which are its first inputs.
    pub traced: Traced,
    /// Structure of the result.
    pub out_tree: TreeDef,
}

impl TracedFun {
    /// Avals of the results.
    pub fn out_avals(&self) -> Vec<Aval> {
        self.traced.jaxpr.out_avals()
    }
}

/// The structure of a call with positional arguments of the given structures.
pub fn call_tree(py: Python<'_>, args: Vec<TreeDef>) -> TreeDef {
    let no_keywords = TreeDef::new(PyNode::dict(PyList::empty(py)).into_node(), vec![]);
    TreeDef::tuple(vec![TreeDef::tuple(args), no_keywords])
}

/// Traces `fun` on arguments of the given structures and flat avals.
///
/// # Errors
/// What the function raises.
pub fn trace_fun(
    transform: &'static str,
    fun: &Bound<'_, PyAny>,
    args: Vec<TreeDef>,
    avals: &[Aval],
) -> PyResult<TracedFun> {
    let py = fun.py();
    check_callable(fun)?;
    let key = bodies::Key::new(transform, args, avals);
    if let Some(known) = bodies::find(fun, &key)? {
        return Ok(known);
    }
    let in_tree = call_tree(py, key.args.clone());
    let (mut out_tree, mut id) = (None, None);
    let traced = gate(py, || {
        names::check_may_trace(transform, fun)?;
        trace_to_jaxpr(avals, &mut |tracers| {
            id = Some(pullback_trace::current().id());
            let out = call_with(transform, fun, &in_tree, tracers).carry(py)?;
            let bad = |leaf: &Bound<'_, PyAny>, path: &str| bad_output(transform, fun, leaf, path);
            let (outs, tree) = tree_vals(&out, &bad).carry(py)?;
            out_tree = Some(tree);
            Ok((outs, None))
        })
    })?;
    if let Some(id) = id {
        names::remember_lines(id, &traced.jaxpr);
        gate(py, || pullback_trace::find_leaks(id))?;
    }
    let traced = TracedFun { traced: traced.hoisted(), out_tree: out_tree.expect("the function ran") };
    bodies::keep(fun, key, &traced)?;
    Ok(traced)
}

fn avals(vals: &[Val]) -> Vec<Aval> {
    vals.iter().map(Val::aval).collect()
}

/// What goes round a loop, and how errors call it.
struct Carried<'a, 'py> {
    what: &'static str,
    fun: &'a Bound<'py, PyAny>,
    init: &'a Bound<'py, PyAny>,
    tree: &'a TreeDef,
    argument: usize,
}

impl Carried<'_, '_> {
    /// The name of the carried argument, or of one of its leaves.
    fn name(&self, leaf: Option<usize>) -> PyResult<String> {
        let names = positional_names(self.fun, self.argument + 1);
        let name = names.get(self.argument).cloned().unwrap_or_else(|| "carry".into());
        let path = leaf.map_or_else(|| Ok(String::new()), |leaf| path_of(self.init, leaf))?;
        Ok(if path.is_empty() { name } else { format!("component {name}{path}") })
    }

    fn check_tree(&self, out: &TreeDef) -> PyResult<()> {
        if out == self.tree {
            return Ok(());
        }
        let [a, b, why] = tree_difference(self.tree, out);
        let leaf = |text: String| if text == LEAF { "an array".into() } else { text };
        Err(type_error(format!(
            "{} carry input and carry output must have the same pytree structure, but they differ:\n\nThe input carry {} is {} \
             but the corresponding component of the carry output is {}, {why}.\n\n{}\n\nRevise the function {} so that the \
             carry output has the same pytree structure as the carry input.",
            self.what,
            self.name(None)?,
            leaf(a),
            leaf(b),
            side_by_side(["carry input", "carry output"], self.tree, out),
            function_and_place(self.fun)
        )))
    }

    fn check_types(&self, ins: &[Aval], outs: &[Aval]) -> PyResult<()> {
        let mut found = vec![];
        for (leaf, (a, b)) in ins.iter().zip(outs).enumerate() {
            let why = match (a.dtype == b.dtype, a.shape == b.shape) {
                (true, true) if a.vma == b.vma && a.sharding == b.sharding => continue,
                (true, true) if a.vma == b.vma => "so the shardings do not match",
                (true, true) => {
                    "so the manual axis types do not match. Apply `jax.lax.pcast(..., to='varying')` to the initial carry"
                }
                (false, true) => "so the dtypes do not match",
                (true, false) => "so the shapes do not match",
                (false, false) => "so the dtypes do not match, and also the shapes do not match",
            };
            found.push(format!(
                "he input carry {} has type {} but the corresponding output carry component has type {}, {why}",
                self.name(Some(leaf))?,
                a.weak(false).long(),
                b.weak(false).long()
            ));
        }
        if found.is_empty() {
            return Ok(());
        }
        Err(type_error(format!(
            "{} carry input and carry output must have equal types, but they differ:\n\n{}\n\nRevise the function so that all \
             output types match the corresponding input types, for example with astype. The function is {}.",
            self.what,
            sentence_or_list(&found),
            function_and_place(self.fun)
        )))
    }
}

/// One sentence, or a list of them; each comes without its first letter, a `t`.
fn sentence_or_list(found: &[String]) -> String {
    match found {
        [one] => format!("T{one}."),
        many => many.iter().map(|one| format!("  * t{one}")).collect::<Vec<_>>().join(";\n") + ".",
    }
}

/// Two structures, one below the other, and the paths of the parts that differ.
fn side_by_side(names: [&str; 2], a: &TreeDef, b: &TreeDef) -> String {
    let width = names[0].len().max(names[1].len());
    let mut paths = vec![];
    differing_paths(a, b, String::new(), &mut paths);
    let shown: Vec<&str> = paths.iter().map(|path| if path.is_empty() { "the root" } else { path.as_str() }).collect();
    format!("  {:width$}  {a}\n  {:width$}  {b}\n  they differ at {}", names[0], names[1], shown.join(", "))
}

fn differing_paths(a: &TreeDef, b: &TreeDef, path: String, found: &mut Vec<String>) {
    if a.node() != b.node() || a.children().len() != b.children().len() {
        found.push(path);
        return;
    }
    for (i, (one, other)) in a.children().iter().zip(b.children()).enumerate() {
        differing_paths(one, other, format!("{path}[{}]", key_of(a, i)), found);
    }
}

/// The key of a child in its container: that of a dictionary, else its number.
fn key_of(tree: &TreeDef, child: usize) -> String {
    let Node::Dict(custom) = tree.node() else { return child.to_string() };
    Python::attach(|py| {
        let keys = PyNode::of(custom).keys(py)?;
        keys[child].repr().map(|text| text.to_string())
    })
    .unwrap_or_else(|_| child.to_string())
}

const LEAF: &str = "a pytree leaf";

/// What two structures are at the first place where they differ, and why they do.
fn tree_difference(a: &TreeDef, b: &TreeDef) -> [String; 3] {
    let name = |tree: &TreeDef| match tree.node() {
        Node::Leaf => LEAF.to_string(),
        Node::None => "a <class 'NoneType'>".into(),
        Node::Tuple => "a <class 'tuple'>".into(),
        Node::List => "a <class 'list'>".into(),
        Node::Dict(custom) | Node::Custom(custom) => {
            Python::attach(|py| format!("a {}", PyNode::of(custom).class.bind(py).as_any()))
        }
    };
    if std::mem::discriminant(a.node()) != std::mem::discriminant(b.node()) {
        return [name(a), name(b), "so their Python types differ".into()];
    }
    if a.children().len() != b.children().len() {
        let sized = |tree: &TreeDef| {
            let kind = if matches!(tree.node(), Node::List) { "list" } else { "tuple" };
            format!("a {kind} of length {}", tree.children().len())
        };
        return match a.node() {
            Node::Tuple | Node::List => [sized(a), sized(b), "so the lengths do not match".into()],
            _ => [a.to_string(), b.to_string(), "so the numbers of children do not match".into()],
        };
    }
    if a.node() != b.node() {
        return [a.to_string(), b.to_string(), "so the static data do not match".into()];
    }
    let pairs = a.children().iter().zip(b.children());
    pairs
        .into_iter()
        .find(|(a, b)| a != b)
        .map_or_else(|| [a.to_string(), b.to_string(), "".into()], |(a, b)| tree_difference(a, b))
}

/// Whether promotion of a weakly typed initial value with what comes out gives the latter's dtype: a number may widen, but
/// a weak float does not become an integer.
fn may_become(a: &Aval, out: &Aval) -> bool {
    let typed = |aval: &Aval| Typed { dtype: aval.dtype, weak_type: aval.weak_type };
    promote(typed(a), typed(out), true).is_ok_and(|joined| joined.dtype == out.dtype)
}

/// Types of weakly typed initial values whose dtype does not survive the loop, replaced by those of what comes out of
/// it, which are strong; `None` if all do. A weak type that becomes strong changes nothing.
fn promoted(ins: &[Aval], outs: &[Aval]) -> Option<Vec<Aval>> {
    let differs =
        |(a, out): (&Aval, &Aval)| a.weak_type && a.dtype != out.dtype && a.shape == out.shape && may_become(a, out);
    let pairs = || ins.iter().zip(outs);
    pairs().any(differs).then(|| pairs().map(|(a, out)| if differs((a, out)) { out.weak(false) } else { *a }).collect())
}

/// Initial values in the dtypes of what is carried. Weak types alone need no conversion: a loop ignores them.
fn in_dtypes(vals: &[Val], wanted: &[Aval]) -> Result<Vec<Val>> {
    let place = |(val, aval): (&Val, &Aval)| match val {
        Val::Array(_) | Val::Tracer(_) if val.aval().dtype == aval.dtype => Ok(val.clone()),
        _ => convert::convert(val, aval.dtype, aval.weak_type),
    };
    vals.iter().zip(wanted).map(place).collect()
}

fn scan_length(xs: &[Val], length: Option<usize>) -> PyResult<usize> {
    let mut sizes = vec![];
    for x in xs {
        match x.aval().shape.first() {
            Some(&size) => sizes.push(size),
            None => {
                let text = format!("scan got value with no leading axis to scan over: {}.", x.aval().long());
                return Err(value_error(text));
            }
        }
    }
    let text = |sizes: &[usize]| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if let Some(length) = length {
        if sizes.iter().any(|&size| size != length) {
            let text = format!(
                "scan got `length` argument of {length} which disagrees with leading axis sizes [{}].",
                text(&sizes)
            );
            return Err(value_error(text));
        }
        return Ok(length);
    }
    sizes.dedup();
    match sizes[..] {
        [size] => Ok(size),
        [] => Err(value_error("scan got no values to scan over and `length` not provided.")),
        _ => Err(value_error(format!("scan got values with different leading axis sizes: {}.", text(&sizes)))),
    }
}

/// A loop over the first axis of `xs`. See `pullback.lax.scan`.
#[pyfunction]
#[pyo3(signature = (f, init, xs, length, reverse, unroll, what = "scan body function"))]
#[allow(clippy::too_many_arguments, reason = "called from one place, in order")]
fn scan(
    py: Python<'_>,
    f: &Bound<'_, PyAny>,
    init: &Bound<'_, PyAny>,
    xs: &Bound<'_, PyAny>,
    length: Option<usize>,
    reverse: bool,
    unroll: usize,
    what: &str,
) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
    let what = if what == "scan body function" { "scan body function" } else { "fori_loop body function" };
    let (carry, carry_tree) = tree_vals(init, &not_a_jax_type)?;
    let mut carry_avals = avals(&carry);
    let (slices, xs_tree) = tree_vals(xs, &not_a_jax_type)?;
    let length = scan_length(&slices, length)?;
    if let Some(split) = slices.iter().map(Val::aval).find(|x| !x.entry(0).is_empty()) {
        return Err(value_error(format!(
            "0th dimension of all xs should be replicated. Got {}",
            pullback_base::sharding::spec_text(&split.entries())
        )));
    }
    let slice_avals: Vec<Aval> = slices.iter().map(|x| x.aval().without_axis(0)).collect();
    let carried = Carried { what, fun: f, init, tree: &carry_tree, argument: 0 };
    loop {
        let in_avals = [carry_avals.clone(), slice_avals.clone()].concat();
        let body = trace_fun("scan", f, vec![carry_tree.clone(), xs_tree.clone()], &in_avals)?;
        let [carry_out, ys_tree] = body.out_tree.children() else { return Err(not_a_pair(&body)) };
        if !matches!(body.out_tree.node(), Node::Tuple | Node::List) {
            return Err(not_a_pair(&body));
        }
        carried.check_tree(carry_out)?;
        let outs = body.out_avals();
        if let Some(new) = promoted(&carry_avals, &outs[..carry.len()]) {
            carry_avals = new;
            continue;
        }
        carried.check_types(&carry_avals, &outs[..carry.len()])?;
        check_allowed(py, "scan", &[&body.traced.jaxpr])?;
        let carry = gate(py, || in_dtypes(&carry, &carry_avals))?;
        let Traced { jaxpr, captured } = body.traced;
        let mut params = Scan::new(jaxpr, length, reverse, captured.len(), carry.len());
        params.unroll = unroll;
        let operands = [&captured[..], &carry, &slices].concat();
        let mut results = gate(py, || pullback_trace::bind(SCAN, &Params::new(params), &operands))?;
        let ys: Vals = results.drain(carry.len()..).collect();
        return Ok((tree_of(py, &carry_tree, results)?, tree_of(py, ys_tree, ys)?));
    }
}

fn not_a_pair(body: &TracedFun) -> PyErr {
    match body.out_avals()[..] {
        [aval] if body.out_tree.is_leaf() => {
            type_error(format!("scan body output must be a pair, got {}.", aval.long()))
        }
        _ => type_error(format!("scan body output must be a pair, got a tree of structure {}.", body.out_tree)),
    }
}

/// A loop that runs while a condition holds. See `pullback.lax.while_loop`.
#[pyfunction]
fn while_loop(
    py: Python<'_>,
    cond_fun: &Bound<'_, PyAny>,
    body_fun: &Bound<'_, PyAny>,
    init: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    let (carry, tree) = tree_vals(init, &not_a_jax_type)?;
    let mut carry_avals = avals(&carry);
    let carried = Carried { what: "while_loop body function", fun: body_fun, init, tree: &tree, argument: 0 };
    let body = loop {
        let body = trace_fun("while_loop", body_fun, vec![tree.clone()], &carry_avals)?;
        carried.check_tree(&body.out_tree)?;
        match promoted(&carry_avals, &body.out_avals()) {
            Some(new) => carry_avals = new,
            None => break body,
        }
    };
    carried.check_types(&carry_avals, &body.out_avals())?;
    let carry = gate(py, || in_dtypes(&carry, &carry_avals))?;
    let Traced { jaxpr: body_jaxpr, captured: body_captured } = body.traced;
    let cond = trace_fun("while_loop", cond_fun, vec![tree.clone()], &carry_avals)?;
    if !cond.out_tree.is_leaf() {
        return Err(type_error(format!("cond_fun must return a boolean scalar, but got pytree {}.", cond.out_tree)));
    }
    gate(py, || pullback_core::control::check_condition(&cond.traced.jaxpr))?;
    check_allowed(py, "while", &[&body_jaxpr, &cond.traced.jaxpr])?;
    let params = While {
        cond_jaxpr: cond.traced.jaxpr,
        cond_nconsts: cond.traced.captured.len(),
        body_jaxpr,
        body_nconsts: body_captured.len(),
    };
    let operands = [&cond.traced.captured[..], &body_captured, &carry].concat();
    let results = gate(py, || pullback_trace::bind(WHILE, &Params::new(params), &operands))?;
    tree_of(py, &tree, results)
}

/// The predicate of `cond` as an `int32` index.
fn index_of_predicate(pred: &Val) -> Result<Val> {
    let aval = pred.aval();
    let pred = if aval.dtype == DType::Bool { pred.clone() } else { lax::ne(pred, &convert::number(pred, 0.0))? };
    match pred {
        Val::Literal(scalar) => Ok(Val::Literal(Scalar::i32(i32::from(scalar.is_nonzero())))),
        other => convert::to_dtype(&other, DType::I32),
    }
}

/// The index of `switch`, moved into the range of the branches.
fn index_of_branch(index: &Val, n_branches: usize) -> Result<Val> {
    let index = convert::to_dtype(index, DType::I32)?;
    let (low, high) = (convert::int_literal(DType::I32, 0), convert::int_literal(DType::I32, n_branches as i128 - 1));
    lax::clamp(&low, &index, &high)
}

/// A choice between functions. `is_predicate` says that the index is a predicate for `[false, true]`.
#[pyfunction]
fn cond(
    py: Python<'_>,
    index: &Bound<'_, PyAny>,
    branches: Vec<Bound<'_, PyAny>>,
    operands: &Bound<'_, PyTuple>,
    is_predicate: bool,
) -> PyResult<Py<PyAny>> {
    let Some(chosen) = crate::value::plain_val(index)? else { return Err(bad_predicate(index, is_predicate)?) };
    let aval = chosen.aval();
    if aval.rank() > 0 {
        let what = if is_predicate { "Pred must be a scalar" } else { "Branch index must be scalar" };
        let shape = pullback_base::aval::tuple_text(&aval.shape);
        return Err(type_error(format!("{what}, got {} of shape {shape}.", index.str()?)));
    }
    if is_predicate && aval.dtype.is_complex() {
        return Err(type_error(format!("Pred type must be either boolean or number, got {}.", aval.dtype)));
    }
    if !is_predicate && !aval.dtype.is_integer() {
        return Err(type_error(format!("Index type must be an integer, got {} as {}", index.str()?, aval.dtype)));
    }
    let (vals, tree) = tree_vals(operands.as_any(), &not_a_jax_type)?;
    let args = tree.children().to_vec();
    let mut funs = vec![];
    for branch in &branches {
        funs.push(trace_fun(if is_predicate { "cond" } else { "switch" }, branch, args.clone(), &avals(&vals))?);
    }
    check_branches(&branches, &funs, is_predicate)?;
    check_allowed(py, "cond", &funs.iter().map(|fun| &fun.traced.jaxpr).collect::<Vec<_>>())?;
    let out_tree = funs[0].out_tree.clone();
    let results = gate(py, || {
        let chosen = if is_predicate { index_of_predicate(&chosen)? } else { index_of_branch(&chosen, funs.len())? };
        let traced: Vec<Traced> = funs.into_iter().map(|fun| fun.traced).collect();
        let (jaxprs, captured) = unify_captures(&traced);
        let ins = [&[chosen][..], &captured, &vals].concat();
        pullback_trace::bind(COND, &Params::new(Cond::new(jaxprs)), &ins)
    })?;
    tree_of(py, &out_tree, results)
}

fn bad_predicate(index: &Bound<'_, PyAny>, is_predicate: bool) -> PyResult<PyErr> {
    let text = index.str()?;
    Ok(if !is_predicate {
        type_error(format!("Index type must be an integer, got {text}."))
    } else if index.is_none() {
        type_error("cond predicate is None: it must be a boolean or a number")
    } else if index.is_instance_of::<pyo3::types::PyString>() || index.is_instance_of::<PyTuple>() {
        type_error(format!("Pred must be a scalar, got {text} of type {}", index.get_type()))
    } else {
        type_error(format!("Pred type must be either boolean or number, got {text}."))
    })
}

fn check_branches(branches: &[Bound<'_, PyAny>], funs: &[TracedFun], is_predicate: bool) -> PyResult<()> {
    // The true branch comes first in errors, though second in the program.
    let shown: Vec<usize> = if is_predicate { vec![1, 0] } else { (0..funs.len()).collect() };
    let what = if is_predicate { "cond" } else { "switch" };
    let name = |i: usize| match (is_predicate, i) {
        (true, 1) => "true_fun".to_string(),
        (true, _) => "false_fun".into(),
        (false, 0) => "branch 0".into(),
        (false, i) => format!("branch{i}"),
    };
    let first = shown[0];
    for &other in &shown[1..] {
        let names = [name(first), name(other)];
        let places = [first, other].map(|i| format!("{} is {}", name(i), function_and_place(&branches[i]))).join("\n");
        let (a, b) = (&funs[first], &funs[other]);
        if a.out_tree != b.out_tree {
            let [one, two, why] = tree_difference(&a.out_tree, &b.out_tree);
            return Err(type_error(format!(
                "{what} branch outputs must have the same pytree structure, but they differ:\n\n{places}\n\n{} output is {one} but \
                 {} output is {two}, {why}.\n\n{}\n\nRevise {} and/or {} so that they have the same pytree structure.",
                names[0],
                names[1],
                side_by_side([&names[0], &names[1]], &a.out_tree, &b.out_tree),
                names[0],
                names[1]
            )));
        }
        let found = output_differences(branches[0].py(), a, b, &names)?;
        if !found.is_empty() {
            return Err(type_error(format!(
                "{what} branches must have equal output types but they differ.\n\n{places}\n\n{}\n\nRevise {} and/or {} so that \
                 all output types match, for example with astype.",
                sentence_or_list(&found),
                names[0],
                names[1]
            )));
        }
    }
    Ok(())
}

fn output_differences(py: Python<'_>, a: &TracedFun, b: &TracedFun, names: &[String; 2]) -> PyResult<Vec<String>> {
    let marks = (0..a.out_tree.n_leaves()).map(|_| py.Ellipsis());
    let skeleton = crate::tree::unflatten(py, &a.out_tree, marks)?;
    let mut found = vec![];
    for (leaf, (x, y)) in a.out_avals().into_iter().zip(b.out_avals()).enumerate() {
        let why = match (x.dtype == y.dtype, x.shape == y.shape) {
            (true, true) if x.sharding == y.sharding => continue,
            (true, true) => "so the shardings do not match",
            (false, true) => "so the dtypes do not match",
            (true, false) => "so the shapes do not match",
            (false, false) => "so the dtypes do not match, and also the shapes do not match",
        };
        let path = path_of(skeleton.bind(py), leaf)?;
        let at = if path.is_empty() { String::new() } else { format!(" at path {path}") };
        found.push(format!(
            "he output of {}{at} has type {} but the corresponding output of {} has type {}, {why}",
            names[0],
            x.weak(false).long(),
            names[1],
            y.weak(false).long()
        ));
    }
    Ok(found)
}

/// A policy of `checkpoint`, as Python function of a primitive, the avals of its operands, and its params.
struct PyPolicy(Py<PyAny>);

impl PyPolicy {
    fn ask(&self, py: Python<'_>, prim: PrimRef, params: &Params, ins: &[Aval]) -> PyResult<bool> {
        let mut args = vec![crate::primitive::primitive_object(py, prim)?.into_any()];
        for &aval in ins {
            args.push(Py::new(py, crate::aval::PyAval(aval))?.into_any());
        }
        let keywords = PyDict::new(py);
        for (name, value) in params.fields() {
            keywords.set_item(name, crate::jaxpr::param_object(py, &value)?)?;
        }
        let answer = self.0.bind(py).call(PyTuple::new(py, args)?, Some(&keywords))?;
        match crate::names::class_name(&answer).as_str() {
            "RecomputeType" => Ok(false),
            "Offloadable" => Err(not_implemented(
                "checkpoint policies that offload values to another memory are not supported: the CPU has one memory. Save \
                 the values or recompute them",
            )),
            _ => answer.is_truthy(),
        }
    }
}

impl SavePolicy for PyPolicy {
    fn saves(&self, prim: PrimRef, params: &Params, ins: &[Aval]) -> Result<bool> {
        Python::attach(|py| self.ask(py, prim, params, ins).carry(py))
    }

    fn name(&self) -> String {
        Python::attach(|py| crate::names::masked_repr(self.0.bind(py)))
    }
}

/// A call whose intermediate values are computed again for the reverse derivative, but those that a policy keeps.
#[pyfunction]
fn checkpoint(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    args: &Bound<'_, PyTuple>,
    prevent_cse: bool,
    policy: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let (vals, tree) = tree_vals(args.as_any(), &not_a_jax_type)?;
    let fun = trace_fun("checkpoint", fun, tree.children().to_vec(), &avals(&vals))?;
    let Traced { jaxpr, captured } = fun.traced;
    let operands = [&captured[..], &vals].concat();
    let policy = policy.map(|policy| PolicyRef(std::sync::Arc::new(PyPolicy(policy))));
    let params = Params::new(Checkpoint { policy, ..Checkpoint::new(jaxpr, prevent_cse) });
    let results = gate(py, || pullback_trace::bind(CHECKPOINT, &params, &operands))?;
    tree_of(py, &fun.out_tree, results)
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(scan, m)?)?;
    m.add_function(wrap_pyfunction!(while_loop, m)?)?;
    m.add_function(wrap_pyfunction!(cond, m)?)?;
    m.add_function(wrap_pyfunction!(checkpoint, m)?)
}
