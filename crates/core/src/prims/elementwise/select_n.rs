//! Chooses each element from one of several cases by an index: `false` (0) the first, `true` (1) the second, and so on.
//!
//! select_n : which[...] or [], cases[...]... -> [...]        which boolean (2 cases) or int32
//! Linear in the cases; the index is known.

use super::*;
use crate::prims::{batch_to_front, instantiate, zeros};
use pullback_base::Scalar;
use pullback_base::array::place::Spec;
use pullback_base::sharding::spec_text;
use pullback_ir::SampleIn;
use pullback_ir::lower::{LoopComparison, select};
use pullback_ir::{Passing, Splits};

pub(super) struct SelectN;

/// The primitive `select_n`.
pub static SELECT_N: PrimRef = prim(&SelectN);

impl Prim for SelectN {
    type Params = ();
    const NAME: &'static str = "select_n";

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        let [which, cases @ ..] = ins else { bail!(Type, "select_n takes an index and cases, got nothing") };
        check_cases(*which, cases)?;
        let weak_type = cases.iter().all(|case| case.weak_type);
        Ok(smallvec![cases[0].weak(weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<()> {
        Transpose::Rule(transpose)
    }

    fn splits(&self) -> Splits<()> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<()> {
        Batching::Rule(|(), e, batch, ins, dims| {
            // All operands go to one shape, but for an unbatched scalar index.
            let mut moved = vec![];
            for (i, (val, &dim)) in ins.iter().zip(dims).enumerate() {
                let is_scalar_index = i == 0 && val.aval().rank() == 0;
                moved.push(if is_scalar_index { val.clone() } else { batch_to_front(e, val, dim, batch.size)? });
            }
            // A batched scalar index repeats over the axes of the cases.
            let which = V::new(e, &moved[0]);
            if which.aval().rank() == 1 && moved[1].aval().rank() > 1 {
                moved[0] = which.broadcast_in_dim(&moved[1].aval().shape, &[0]).done()?;
            }
            Ok((e.bind(SELECT_N, &Params::NONE, &moved)?, smallvec![Some(0)]))
        })
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        let is_bool = ins[0].dtype == DType::Bool;
        CpuForm::Scalar(Box::new(move |loops, ins| {
            if is_bool {
                return select(loops, ins[0].one(), ins[2], ins[1]);
            }
            let mut chosen = ins[1];
            for (number, &case) in ins[1..].iter().enumerate().skip(1) {
                let number = loops.constant(Scalar::i32(number as i32));
                let reached = loops.compare(LoopComparison::Ge, ins[0].one(), number);
                chosen = select(loops, reached, case, chosen);
            }
            chosen
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        Hlo::Rule(|(), cx, ins, _| {
            let (which, cases) = (ins[0], &ins[1..]);
            if which.aval.dtype == DType::Bool && cases.len() == 2 {
                return Ok(smallvec![cx.select(which, cases[1], cases[0])]);
            }
            let mut chosen = cases[0];
            for (number, &case) in cases.iter().enumerate().skip(1) {
                let number = cx.full(Scalar::i32(number as i32), &which.aval.shape);
                let is_past = cx.compare("GE", which, number);
                chosen = cx.select(is_past, case, chosen);
            }
            Ok(smallvec![chosen])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let input = |shape: &[usize], dtype, domain| SampleIn { aval: Aval::new(shape, dtype), domain };
        let case = || input(&[2, 3], DType::F32, (-5.0, 5.0));
        let sample = |which, n: usize| {
            let ins = std::iter::once(which).chain((0..n).map(|_| case())).collect();
            Sample { params: Params::NONE, ins }
        };
        vec![
            sample(input(&[2, 3], DType::Bool, (0.0, 2.0)), 2),
            sample(input(&[], DType::Bool, (0.0, 2.0)), 2),
            sample(input(&[2, 3], DType::I32, (0.0, 3.0)), 3),
        ]
    }
}

/// Cases are split alike, and the choice as they are unless it is one for all.
fn pass((): &(), x: &Passing<'_>) -> Result<Vec<Spec>> {
    if !x.is_strict {
        return x.pointwise();
    }
    let shown = |specs: &[Spec]| specs.iter().map(spec_text).collect::<Vec<_>>().join(", ");
    if x.specs[2..].iter().any(|spec| *spec != x.specs[1]) {
        return x.refuse(|| format!("select cases must have the same shardings, got [{}].", shown(&x.specs[1..])));
    }
    if x.ins[0].rank() > 0 && x.specs[0] != x.specs[1] {
        return x.refuse(|| {
            format!(
                "select `which` must be scalar or have the same sharding as cases, got `which` sharding {} but case sharding {}.",
                spec_text(&x.specs[0]),
                spec_text(&x.specs[1])
            )
        });
    }
    Ok(vec![x.specs[1].clone()])
}

fn check_cases(which: Aval, cases: &[Aval]) -> Result<()> {
    let Some(first) = cases.first() else { bail!(Type, "select_n must have at least one case") };
    if let Some(other) = cases.iter().find(|case| case.shape != first.shape) {
        bail!(
            Type,
            "select_n cases must have the same shapes, got [{}, {}].",
            tuple_text(&first.shape),
            tuple_text(&other.shape)
        );
    }
    check_same_dtypes("select", cases)?;
    if which.rank() > 0 && which.shape != first.shape {
        bail!(
            Type,
            "select_n `which` must be scalar or have the same shape as cases, got `which` shape {} but case shape {}.",
            tuple_text(&which.shape),
            tuple_text(&first.shape)
        );
    }
    if which.dtype != DType::I32 && which.dtype != DType::Bool {
        bail!(Type, "select_n `which` must be int32 or bool, got {}.", which.dtype);
    }
    if which.dtype == DType::Bool && cases.len() > 2 {
        bail!(Type, "select_n with boolean `which` takes at most 2 cases, got {}.", cases.len());
    }
    Ok(())
}

fn jvp((): &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let outs = e.bind(SELECT_N, &Params::NONE, xs)?;
    if ts[1..].iter().all(Option::is_none) {
        return Ok((outs, smallvec![None]));
    }
    let mut dots = vec![xs[0].clone()];
    for (x, t) in xs.iter().zip(ts).skip(1) {
        dots.push(instantiate(e, x.aval(), t.clone())?);
    }
    let tangents = e.bind(SELECT_N, &Params::NONE, &dots)?;
    Ok((outs, tangents.into_iter().map(Some).collect()))
}

fn transpose((): &(), e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let mut result: Tangents = smallvec![None; ins.len()];
    let (Some(ct), Some(which)) = (&cts[0], ins[0].known()) else { return Ok(result) };
    let zeros = zeros(e, ct.aval())?;
    for (i, operand) in ins.iter().enumerate().skip(1).filter(|(_, operand)| operand.is_linear()) {
        debug_assert_eq!(operand.aval().shape, ct.aval().shape);
        let mut cases = vec![which.clone()];
        cases.extend((1..ins.len()).map(|j| if i == j { ct.clone() } else { zeros.clone() }));
        result[i] = e.bind(SELECT_N, &Params::NONE, &cases)?.pop();
    }
    Ok(result)
}
