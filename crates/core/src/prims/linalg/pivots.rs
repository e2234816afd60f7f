//! The permutation that a list of exchanges leads to.
//!
//! lu_pivots_to_permutation : pivots[..., k] -> permutation[..., permutation_size]        int32
//! No derivative.

use super::*;
use smallvec::smallvec;

/// Params of `lu_pivots_to_permutation`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct PivotsToPermutation {
    /// How many are permuted.
    pub permutation_size: usize,
}

/// The member.
pub(super) struct PivotsToPermutationOp;

impl MatrixOp for PivotsToPermutationOp {
    type Params = PivotsToPermutation;
    const NAME: &'static str = "lu_pivots_to_permutation";
    const MULTIPLE_RESULTS: bool = false;

    fn avals(p: &PivotsToPermutation, ins: &[Aval]) -> Result<Avals> {
        let [x] = ins else { bail!(Type, "lu_pivots_to_permutation takes 1 operand, got {}", ins.len()) };
        let Some((&n, batch)) = x.shape.split_last() else {
            bail!(Value, "Argument to lu_pivots_to_permutation must have rank 1 or more, got shape ()")
        };
        if x.dtype != DType::I32 {
            bail!(Type, "Argument to lu_pivots_to_permutation must have dtype int32, got {}", x.dtype);
        }
        if p.permutation_size < n {
            bail!(
                Value,
                "Output permutation size {} has to exceed the trailing dimension of the pivots. Got pivots size {n}",
                p.permutation_size
            );
        }
        Ok(smallvec![x.with_shape(&[batch, &[p.permutation_size]].concat())])
    }

    fn cpu(p: &PivotsToPermutation, ins: &[Aval]) -> CpuForm {
        let Some((&rows, batch)) = ins[0].shape.split_last() else {
            return CpuForm::Missing("pivots are lists".into());
        };
        CpuForm::Body(Box::new(Body::Matrix(Matrix {
            task: MatrixTask::PivotsToPermutation,
            dtype: DType::I32,
            batch: batch.iter().product(),
            rows,
            columns: p.permutation_size,
        })))
    }

    fn derivative() -> Derivative<PivotsToPermutation> {
        Derivative::Zero
    }

    fn hlo() -> Hlo<PivotsToPermutation> {
        Hlo::Rule(|_p, cx, ins, outs| exchanges(cx, ins[0], outs[0]))
    }

    fn samples() -> Vec<Sample> {
        let sample = |permutation_size, shape: &[usize]| {
            let p = PivotsToPermutation { permutation_size };
            Sample::new(Params::new(p), DType::I32, (0.0, 3.0), &[shape])
        };
        vec![sample(4, &[2, 3]), sample(3, &[3]), sample(4, &[2, 1, 2]), sample(2, &[0]), sample(3, &[0, 2])]
    }
}

/// The numbers in order, with one exchange after the other: for engines that run loops.
fn exchanges(cx: &mut dyn HloCx, pivots: HloValue, out: Aval) -> Result<HloValues> {
    let (n, batch) = pivots.aval.shape.split_last().expect("pivots are lists");
    let (n, batch, size) = (*n, batch.iter().product::<usize>(), out.shape[out.rank() - 1]);
    let numbers = cx.iota(&[batch, size], DType::I32, 1);
    if n == 0 || out.size() == 0 {
        return Ok(smallvec![cx.reshape(numbers, &out.shape)]);
    }
    let zero = Scalar::int(DType::I32, 0);
    let start = cx.constant(zero);
    let pivots = cx.reshape(pivots, &[batch, n]);
    let mut condition = |cx: &mut dyn HloCx, carry: &[HloValue]| {
        let end = cx.constant(Scalar::int(DType::I32, n as i128));
        Ok(smallvec![cx.compare("LT", carry[0], end)])
    };
    let mut body = |cx: &mut dyn HloCx, carry: &[HloValue]| {
        let [k, order, pivots] = *carry else { unreachable!("the loop carries three values") };
        let shape = [batch, size];
        let positions = cx.iota(&shape, DType::I32, 1);
        let origin = cx.constant(zero);
        let one_each = Aval::new(&[batch, 1], DType::I32);
        let pivot = cx.one("stablehlo.dynamic_slice", &format!("sizes = [{batch}, 1]"), &[pivots, origin, k], one_each);
        let (first, second) = (cx.repeated_scalar(k, &shape), cx.broadcast_in_dim(pivot, &[0, 1], &shape));
        let (is_first, is_second) = (cx.compare("EQ", positions, first), cx.compare("EQ", positions, second));
        let none = cx.full(zero, &shape);
        let at = |cx: &mut dyn HloCx, is_there: HloValue| {
            let only = cx.select(is_there, order, none);
            let number = cx.reduce(only, zero, "stablehlo.add", &[1])?;
            Ok::<HloValue, pullback_base::Error>(cx.broadcast_in_dim(number, &[0], &shape))
        };
        let (of_first, of_second) = (at(cx, is_first)?, at(cx, is_second)?);
        let order = cx.select(is_second, of_first, order);
        let order = cx.select(is_first, of_second, order);
        let one = cx.constant(Scalar::int(DType::I32, 1));
        Ok(smallvec![cx.binary("stablehlo.add", k, one), order, pivots])
    };
    let found = cx.while_loop(Some(n), &[start, numbers, pivots], &mut condition, &mut body)?;
    Ok(smallvec![cx.reshape(found[1], &out.shape)])
}
