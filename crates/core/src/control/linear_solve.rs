//! The solution of a linear system that the user describes by functions: its derivative never looks into the solver.
//!
//! custom_linear_solve : matvec_consts vecmat_consts solve_consts transpose_solve_consts b -> x aux
//! x solves matvec(x) = b. From A x = b comes A ẋ = ḃ - Ȧ x, so a tangent is one more solution with the same solver; the
//! cotangent of b solves the transposed system. Auxiliary results of the solver have no derivative.

use pullback_base::{Aval, Error, Result, bail};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batch, BatchDims, Batching, Derivative, Effects, Emit, Hlo, JaxprRef, Operand, ParamField, ParamValue,
    Params, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val, Vals, eval_jaxpr,
};

use super::jit::{batch_in_front, check_call};
use crate::prims::{V, add_any, batch_to_front, instantiate};
use crate::transforms::{BatchedJaxpr, batch_jaxpr, jvp_jaxpr, transpose_jaxpr};

/// Numbers of consts of the functions, in the order of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SolveConsts {
    /// Of the matrix.
    pub matvec: usize,
    /// Of the transposed matrix.
    pub vecmat: usize,
    /// Of the solver.
    pub solve: usize,
    /// Of the solver of the transposed system.
    pub transpose_solve: usize,
}

/// The functions; each takes its consts and then a vector like `b`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SolveJaxprs {
    /// The matrix times a vector.
    pub matvec: JaxprRef,
    /// The transposed matrix times a vector; with the solver of the transposed system or not at all.
    pub vecmat: Option<JaxprRef>,
    /// The solver: x, then auxiliary results.
    pub solve: JaxprRef,
    /// The solver of the transposed system.
    pub transpose_solve: Option<JaxprRef>,
}

/// Params of `custom_linear_solve`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct LinearSolve {
    /// Numbers of consts.
    pub const_lengths: SolveConsts,
    /// The functions.
    pub jaxprs: SolveJaxprs,
}

const RECORD: &str = "_LinearSolveTuple";
const FIELDS: [&str; 4] = ["matvec", "vecmat", "solve", "transpose_solve"];

fn fields_of(value: &ParamValue) -> Option<[&ParamValue; 4]> {
    let items: Vec<&ParamValue> = match value {
        ParamValue::Record(_, fields) => fields.iter().map(|(_, value)| value).collect(),
        ParamValue::Tuple(items) => items.iter().collect(),
        _ => return None,
    };
    items.try_into().ok()
}

impl ParamField for SolveConsts {
    fn to_value(&self) -> ParamValue {
        let counts = [self.matvec, self.vecmat, self.solve, self.transpose_solve];
        ParamValue::Record(RECORD, FIELDS.into_iter().zip(counts.map(|n| n.to_value())).collect())
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let [matvec, vecmat, solve, transpose_solve] = fields_of(value)?.map(usize::from_value);
        Some(SolveConsts { matvec: matvec?, vecmat: vecmat?, solve: solve?, transpose_solve: transpose_solve? })
    }
}

impl ParamField for SolveJaxprs {
    fn to_value(&self) -> ParamValue {
        let values =
            [self.matvec.to_value(), self.vecmat.to_value(), self.solve.to_value(), self.transpose_solve.to_value()];
        ParamValue::Record(RECORD, FIELDS.into_iter().zip(values).collect())
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let [matvec, vecmat, solve, transpose_solve] = fields_of(value)?;
        Some(SolveJaxprs {
            matvec: JaxprRef::from_value(matvec)?,
            vecmat: Option::from_value(vecmat)?,
            solve: JaxprRef::from_value(solve)?,
            transpose_solve: Option::from_value(transpose_solve)?,
        })
    }
}

/// What comes in the order of the operands, by function.
struct Parts<'a, T> {
    matvec: &'a [T],
    vecmat: &'a [T],
    solve: &'a [T],
    transpose_solve: &'a [T],
    b: &'a [T],
}

impl LinearSolve {
    fn parts<'a, T>(&self, ins: &'a [T]) -> Parts<'a, T> {
        let n = self.const_lengths;
        let (matvec, rest) = ins.split_at(n.matvec);
        let (vecmat, rest) = rest.split_at(n.vecmat);
        let (solve, rest) = rest.split_at(n.solve);
        let (transpose_solve, b) = rest.split_at(n.transpose_solve);
        Parts { matvec, vecmat, solve, transpose_solve, b }
    }

    fn n_b(&self) -> usize {
        self.jaxprs.matvec.outs.len()
    }

    fn n_consts(&self) -> usize {
        let n = self.const_lengths;
        n.matvec + n.vecmat + n.solve + n.transpose_solve
    }

    fn bind(self, e: &dyn Emit, ins: &[Val]) -> Result<Vals> {
        e.bind(CUSTOM_LINEAR_SOLVE, &Params::new(self), ins)
    }

    /// The transposed system; `None` without a solver for it.
    fn transposed(&self) -> Option<LinearSolve> {
        let SolveConsts { matvec, vecmat, solve, transpose_solve } = self.const_lengths;
        let const_lengths =
            SolveConsts { matvec: vecmat, vecmat: matvec, solve: transpose_solve, transpose_solve: solve };
        let jaxprs = SolveJaxprs {
            matvec: self.jaxprs.vecmat.clone()?,
            vecmat: Some(self.jaxprs.matvec.clone()),
            solve: self.jaxprs.transpose_solve.clone()?,
            transpose_solve: Some(self.jaxprs.solve.clone()),
        };
        Some(LinearSolve { const_lengths, jaxprs })
    }
}

struct LinearSolvePrim;

/// The primitive `custom_linear_solve`.
pub static CUSTOM_LINEAR_SOLVE: PrimRef = PrimRef(&LinearSolvePrim);

impl Prim for LinearSolvePrim {
    type Params = LinearSolve;
    const NAME: &'static str = "custom_linear_solve";
    const MULTIPLE_RESULTS: bool = true;

    fn abstract_eval(&self, p: &LinearSolve, ins: &[Aval]) -> Result<Avals> {
        if ins.len() != p.n_consts() + p.n_b() {
            bail!(Type, "custom_linear_solve takes {} operands, got {}", p.n_consts() + p.n_b(), ins.len());
        }
        let parts = p.parts(ins);
        check_call("custom_linear_solve", &p.jaxprs.solve, &[parts.solve, parts.b].concat())?;
        check_call("custom_linear_solve matvec", &p.jaxprs.matvec, &[parts.matvec, parts.b].concat())?;
        Ok(p.jaxprs.solve.out_avals().into())
    }

    fn derivative(&self) -> Derivative<LinearSolve> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<LinearSolve> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<LinearSolve> {
        Splits::Inside
    }

    fn batching(&self) -> Batching<LinearSolve> {
        Batching::Rule(batch)
    }

    fn cpu(&self, p: &LinearSolve, _ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let p = p.clone();
        CpuForm::Decompose(Box::new(move |e, ins| {
            let parts = p.parts(ins);
            Ok(eval_jaxpr(e, &p.jaxprs.solve, &[parts.solve, parts.b].concat())?.into())
        }))
    }

    fn hlo(&self) -> Hlo<LinearSolve> {
        Hlo::AsCpu
    }

    // Covered by the tests of control flow: there is no sample without traced functions.
    fn samples(&self) -> Vec<Sample> {
        vec![]
    }

    fn effects(&self, p: &LinearSolve) -> Effects {
        p.jaxprs.solve.effects()
    }
}

fn jvp(p: &LinearSolve, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = p.clone().bind(e, xs)?;
    let (parts, dots) = (p.parts(xs), p.parts(ts));
    let solution = &outs[..p.n_b()];
    let matrix_dots = change_of_product(p, e, parts.matvec, dots.matvec, solution)?;
    let mut rhs = vec![];
    for ((b, b_dot), product) in parts.b.iter().zip(dots.b).zip(matrix_dots) {
        let minus = product.map(|product| (-V::new(e, &product)).done()).transpose()?;
        rhs.push((b.aval(), add_any(e, b_dot.clone(), minus)?));
    }
    let n_aux = outs.len() - p.n_b();
    if rhs.iter().all(|(_, dot)| dot.is_none()) {
        let zeros = outs.iter().map(|_| None).collect();
        return Ok((outs, zeros));
    }
    let mut ins = xs[..p.n_consts()].to_vec();
    for (aval, dot) in rhs {
        ins.push(instantiate(e, aval, dot)?);
    }
    let mut tangents: Tangents = p.clone().bind(e, &ins)?.into_iter().take(p.n_b()).map(Some).collect();
    tangents.extend((0..n_aux).map(|_| None));
    Ok((outs, tangents))
}

/// Ȧ x: the tangents of the matrix times the solution.
fn change_of_product(
    p: &LinearSolve,
    e: &dyn Emit,
    consts: &[Val],
    const_dots: &[Option<Val>],
    solution: &[Val],
) -> Result<Vec<Option<Val>>> {
    let n = p.n_b();
    if const_dots.iter().all(Option::is_none) {
        return Ok(vec![None; n]);
    }
    let nonzero: Vec<bool> = const_dots.iter().map(Option::is_some).chain(std::iter::repeat_n(false, n)).collect();
    let derived = jvp_jaxpr(&p.jaxprs.matvec, &nonzero, &vec![false; n])?;
    let ins: Vec<Val> = consts.iter().chain(solution).cloned().chain(const_dots.iter().flatten().cloned()).collect();
    let mut dots = eval_jaxpr(e, &derived.jaxpr, &ins)?.split_off(n).into_iter();
    Ok(derived.nonzero_out.iter().map(|&nonzero| if nonzero { dots.next() } else { None }).collect())
}

fn transpose(p: &LinearSolve, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(transposed) = p.transposed() else {
        return Err(Error::type_error(
            "transpose_solve required for backwards mode automatic differentiation of custom_linear_solve",
        ));
    };
    let known = |operands: &[Operand]| -> Result<Vec<Val>> {
        let known = |operand: &Operand| {
            operand.known().cloned().ok_or_else(|| Error::internal("custom_linear_solve is linear in b only"))
        };
        operands.iter().map(known).collect()
    };
    let parts = p.parts(ins);
    let mut all: Tangents = (0..p.n_consts()).map(|_| None).collect();
    if cts[..p.n_b()].iter().all(Option::is_none) {
        all.extend(parts.b.iter().map(|_| None));
        return Ok(all);
    }
    let mut operands =
        [known(parts.vecmat)?, known(parts.matvec)?, known(parts.transpose_solve)?, known(parts.solve)?].concat();
    for (ct, b) in cts.iter().zip(parts.b) {
        operands.push(instantiate(e, b.aval(), ct.clone())?);
    }
    let solved = transposed.bind(e, &operands)?;
    all.extend(solved.into_iter().zip(parts.b).map(|(ct, b)| b.is_linear().then_some(ct)));
    Ok(all)
}

fn batch(
    p: &LinearSolve,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    let (mut operands, batched) = batch_in_front(e, ins, dims, batch.size)?;
    let parts = p.parts(&batched);
    let mut vector = parts.b.to_vec();
    // A component of the vectors is batched when any function makes it so: x and b go in and out of all of them.
    let (matvec, vecmat, solve, transpose_solve) = loop {
        let derive = |jaxpr: &JaxprRef, consts: &[bool]| -> Result<BatchedJaxpr> {
            let n_aux = jaxpr.outs.len() - vector.len();
            let forced = [&vector[..], &vec![false; n_aux]].concat();
            batch_jaxpr(jaxpr, batch, &[consts, &vector].concat(), &forced)
        };
        let maybe =
            |jaxpr: &Option<JaxprRef>, consts: &[bool]| jaxpr.as_ref().map(|jaxpr| derive(jaxpr, consts)).transpose();
        let matvec = derive(&p.jaxprs.matvec, parts.matvec)?;
        let vecmat = maybe(&p.jaxprs.vecmat, parts.vecmat)?;
        let solve = derive(&p.jaxprs.solve, parts.solve)?;
        let transpose_solve = maybe(&p.jaxprs.transpose_solve, parts.transpose_solve)?;
        let is_batched = |i: usize| {
            let in_other = |other: &Option<BatchedJaxpr>| other.as_ref().is_some_and(|other| other.batched_out[i]);
            matvec.batched_out[i] || solve.batched_out[i] || in_other(&vecmat) || in_other(&transpose_solve)
        };
        let next: Vec<bool> = (0..vector.len()).map(is_batched).collect();
        if next == vector {
            break (matvec, vecmat, solve, transpose_solve);
        }
        vector = next;
    };
    for (i, &batched) in vector.iter().enumerate() {
        let at = p.n_consts() + i;
        if batched && !parts.b[i] {
            operands[at] = batch_to_front(e, &operands[at], None, batch.size)?;
        }
    }
    let jaxprs = SolveJaxprs {
        matvec: matvec.jaxpr,
        vecmat: vecmat.map(|derived| derived.jaxpr),
        solve: solve.jaxpr,
        transpose_solve: transpose_solve.map(|derived| derived.jaxpr),
    };
    let outs = LinearSolve { const_lengths: p.const_lengths, jaxprs }.bind(e, &operands)?;
    Ok((outs, solve.batched_out.iter().map(|&batched| batched.then_some(0)).collect()))
}

/// The transposed matrix times a vector, from the matrix times a vector. It has the same consts.
///
/// # Errors
/// When `matvec` is not linear.
pub fn transposed_matvec(matvec: &JaxprRef, n_consts: usize) -> Result<JaxprRef> {
    let linear: Vec<bool> = (0..matvec.invars.len()).map(|i| i >= n_consts).collect();
    Ok(transpose_jaxpr(matvec, &linear, &vec![true; matvec.outs.len()], true)?.jaxpr)
}
