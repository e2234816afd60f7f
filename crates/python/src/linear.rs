//! Linear functions that the user describes: `custom_linear_solve`, `linear_call`.

use pullback_base::Aval;
use pullback_base::tree::{Node, TreeDef};
use pullback_core::control::{
    CUSTOM_LINEAR_SOLVE, LINEAR_CALL, LinearCall, LinearSolve, SolveConsts, SolveJaxprs, transposed_matvec,
};
use pullback_ir::{Params, Val, Vals};
use pyo3::prelude::*;

use crate::call::{not_a_jax_type, tree_of, tree_vals};
use crate::control::{TracedFun, trace_fun};
use crate::errors::{type_error, value_error};
use crate::gate::gate;

fn shapes_text(avals: &[Aval]) -> String {
    let shapes: Vec<String> = avals.iter().map(|aval| pullback_base::aval::tuple_text(&aval.shape)).collect();
    format!("[{}]", shapes.join(", "))
}

fn check_like_b(name: &str, found: &[Aval], b: &[Aval]) -> PyResult<()> {
    if found.len() == b.len() && found.iter().zip(b).all(|(x, y)| x.shape == y.shape) {
        return Ok(());
    }
    Err(value_error(format!("{name}() output shapes must match b, got {} and {}", shapes_text(found), shapes_text(b))))
}

/// Structure of the auxiliary results of a solver, if it has any.
fn aux_tree(solve: &TracedFun, has_aux: bool, name: &str) -> PyResult<Option<TreeDef>> {
    if !has_aux {
        return Ok(None);
    }
    match (solve.out_tree.node(), solve.out_tree.children()) {
        (Node::Tuple | Node::List, [_, aux]) => Ok(Some(aux.clone())),
        _ => Err(type_error(format!(
            "{name}() with has_aux=True must return a pair of the solution and auxiliary data, got {}",
            solve.out_tree
        ))),
    }
}

/// Solves `matvec(x) = b`; the solvers take `b` alone. Gives x, and the auxiliary results with `has_aux`.
#[pyfunction]
fn custom_linear_solve(
    py: Python<'_>,
    matvec: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    solve: &Bound<'_, PyAny>,
    transpose_solve: Option<Bound<'_, PyAny>>,
    symmetric: bool,
    has_aux: bool,
) -> PyResult<(Py<PyAny>, Option<Py<PyAny>>)> {
    let (vals, tree) = tree_vals(b, &not_a_jax_type)?;
    let avals: Vec<Aval> = vals.iter().map(Val::aval).collect();
    let trace = |fun: &Bound<'_, PyAny>| trace_fun("custom_linear_solve", fun, vec![tree.clone()], &avals);
    let (matvec, solve) = (trace(matvec)?, trace(solve)?);
    check_like_b("matvec", &matvec.out_avals(), &avals)?;
    let aux = aux_tree(&solve, has_aux, "solve")?;
    let n_x = solve.out_avals().len() - aux.as_ref().map_or(0, TreeDef::n_leaves);
    check_like_b("solve", &solve.out_avals()[..n_x], &avals)?;

    let n_matvec = matvec.traced.captured.len();
    let (vecmat, transposed) = match transpose_solve {
        _ if symmetric => (Some(matvec.traced.clone()), Some(solve.traced.clone())),
        None => (None, None),
        Some(fun) => {
            let transposed = trace(&fun)?;
            let n_aux = aux_tree(&transposed, has_aux, "transpose_solve")?.map_or(0, |aux| aux.n_leaves());
            let n_x = transposed.out_avals().len() - n_aux;
            check_like_b("transpose_solve", &transposed.out_avals()[..n_x], &avals)?;
            let jaxpr = gate(py, || transposed_matvec(&matvec.traced.jaxpr, n_matvec))?;
            let vecmat = pullback_trace::Traced { jaxpr, captured: matvec.traced.captured.clone() };
            (Some(vecmat), Some(transposed.traced))
        }
    };
    let captured = |traced: &Option<pullback_trace::Traced>| {
        traced.as_ref().map(|traced| traced.captured.clone()).unwrap_or_default()
    };
    let consts = [matvec.traced.captured, captured(&vecmat), solve.traced.captured, captured(&transposed)];
    let [matvec_n, vecmat_n, solve_n, transpose_n] = [0, 1, 2, 3].map(|i: usize| consts[i].len());
    let params = LinearSolve {
        const_lengths: SolveConsts { matvec: matvec_n, vecmat: vecmat_n, solve: solve_n, transpose_solve: transpose_n },
        jaxprs: SolveJaxprs {
            matvec: matvec.traced.jaxpr,
            vecmat: vecmat.map(|traced| traced.jaxpr),
            solve: solve.traced.jaxpr,
            transpose_solve: transposed.map(|traced| traced.jaxpr),
        },
    };
    let operands = [consts.concat(), vals].concat();
    let mut outs = gate(py, || pullback_trace::bind(CUSTOM_LINEAR_SOLVE, &Params::new(params), &operands))?;
    let aux_vals: Vals = outs.drain(n_x..).collect();
    let aux = aux.map(|aux| tree_of(py, &aux, aux_vals)).transpose()?;
    Ok((tree_of(py, &tree, outs)?, aux))
}

/// Calls `fun(residuals, linear)`, whose transpose is `fun_transpose(residuals, cotangents)`.
#[pyfunction]
fn linear_call(
    py: Python<'_>,
    fun: &Bound<'_, PyAny>,
    fun_transpose: &Bound<'_, PyAny>,
    residuals: &Bound<'_, PyAny>,
    linear: &Bound<'_, PyAny>,
) -> PyResult<Py<PyAny>> {
    let (res, res_tree) = tree_vals(residuals, &not_a_jax_type)?;
    let (lin, lin_tree) = tree_vals(linear, &not_a_jax_type)?;
    let avals = |vals: &[Val]| vals.iter().map(Val::aval).collect::<Vec<Aval>>();
    let callee =
        trace_fun("linear_call", fun, vec![res_tree.clone(), lin_tree.clone()], &avals(&[&res[..], &lin].concat()))?;
    let ct_avals: Vec<Aval> = callee.out_avals().into_iter().map(Aval::tangent).collect();
    let transpose = trace_fun(
        "linear_call",
        fun_transpose,
        vec![res_tree, callee.out_tree.clone()],
        &[avals(&res), ct_avals].concat(),
    )?;
    if transpose.out_tree != lin_tree {
        return Err(type_error(format!(
            "transpose output pytree structure must match that of linear inputs, got output structure {} and input structure \
             {lin_tree}.",
            transpose.out_tree
        )));
    }
    let fits = |(x, ct): (&Val, Aval)| x.aval().shape == ct.shape;
    if !lin.iter().zip(transpose.out_avals()).all(fits) {
        return Err(type_error(format!(
            "transpose output shapes must match those of linear inputs, got {} and {}",
            shapes_text(&transpose.out_avals()),
            shapes_text(&avals(&lin))
        )));
    }
    let params = LinearCall {
        callee: callee.traced.jaxpr,
        num_callee_consts: callee.traced.captured.len(),
        num_res: res.len(),
        transpose: transpose.traced.jaxpr,
        num_transpose_consts: transpose.traced.captured.len(),
    };
    let operands = [callee.traced.captured, transpose.traced.captured, res, lin].concat();
    let outs = gate(py, || pullback_trace::bind(LINEAR_CALL, &Params::new(params), &operands))?;
    tree_of(py, &callee.out_tree, outs)
}

/// Adds functions to the extension module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(custom_linear_solve, m)?)?;
    m.add_function(wrap_pyfunction!(linear_call, m)?)
}
