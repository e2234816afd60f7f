//! Laws about which elements meet, not about their values: products, sums and scatters that are simpler than they look.

use pullback_base::{Aval, Result, Scalar};
use pullback_core::prims::{DYNAMIC_UPDATE_SLICE, DotDimensions, DotGeneral, ReduceSum, Scatter, TransposeParams, V};
use pullback_ir::{Emit, Params, Val};

use super::rules::{Answer, Application, Known};

fn size(aval: Aval, axes: &[usize]) -> usize {
    axes.iter().map(|&axis| aval.shape[axis]).product()
}

/// Axes of one side that are neither batch nor contracted.
fn free(aval: Aval, dims: &DotDimensions, side: usize) -> Vec<usize> {
    let is_free = |axis: &usize| !dims.batch[side].contains(axis) && !dims.contract[side].contains(axis);
    (0..aval.rank()).filter(is_free).collect()
}

fn has_no_depth(avals: [Aval; 2], dims: &DotDimensions, out: Aval) -> bool {
    let is_plain = avals.iter().all(|aval| aval.dtype == out.dtype) && out.dtype.is_float();
    is_plain && out.rank() > 0 && size(avals[0], &dims.contract[0]) == 1
}

/// A product with one term in each sum is elementwise: `Σ₁ x·y = x·y + 0`, where adding zero takes the sign from -0.
pub(super) fn product_without_depth(_: &Known, eqn: &Application) -> Option<Answer> {
    let dims = &eqn.eqn.params.get::<DotGeneral>()?.dimension_numbers;
    let avals = [eqn.ins[0].aval(), eqn.ins[1].aval()];
    if !has_no_depth(avals, dims, eqn.out) {
        return None;
    }
    let ins = [eqn.ins[0].clone(), eqn.ins[1].clone()];
    Answer::made(spread_product(ins, dims.clone(), eqn.out.shape.to_vec()))
}

/// Makes `x·y + 0` of operands spread over all axes of the product.
fn spread_product(
    ins: [Val; 2],
    dims: DotDimensions,
    shape: Vec<usize>,
) -> impl FnOnce(&dyn Emit) -> Result<Val> + 'static {
    move |e| {
        let avals = [ins[0].aval(), ins[1].aval()];
        let (n_batch, n_left) = (dims.batch[0].len(), free(avals[0], &dims, 0).len());
        let spread = |side: usize| {
            let free = free(avals[side], &dims, side);
            let order = [&dims.batch[side][..], &free, &dims.contract[side]].concat();
            let first = if side == 0 { n_batch } else { n_batch + n_left };
            let to: Vec<usize> = (0..n_batch).chain(first..first + free.len()).collect();
            let kept: Vec<usize> = to.iter().map(|&axis| shape[axis]).collect();
            V::new(e, &ins[side]).transpose(&order).reshape(&kept).broadcast_in_dim(&shape, &to)
        };
        let product = &spread(0) * &spread(1);
        (&product + &product.number(0.0)).done()
    }
}

/// A sum over axes of size 1: `Σ₁ x = x + 0`, where adding zero takes the sign from -0.
pub(super) fn sum_of_one(_: &Known, eqn: &Application) -> Option<Answer> {
    let axes = &eqn.eqn.params.get::<ReduceSum>()?.axes;
    let x = eqn.ins[0].clone();
    if !eqn.out.dtype.is_float() || size(x.aval(), axes) != 1 {
        return None;
    }
    let shape = eqn.out.shape.to_vec();
    Answer::made(move |e| {
        let x = V::new(e, &x).reshape(&shape);
        (&x + &x.number(0.0)).done()
    })
}

/// `(x·y)ᵀ = yᵀ·xᵀ`, when nothing else wants the product. The order of each sum may be another.
pub(super) fn transposed_product(known: &Known, eqn: &Application) -> Option<Answer> {
    let permutation = &eqn.eqn.params.get::<TransposeParams>()?.permutation;
    let (dot, ins) = known.application_of(&eqn.ins[0], "dot_general")?;
    let params = dot.params.get::<DotGeneral>()?;
    let dims = &params.dimension_numbers;
    let (n_batch, n_left) = (dims.batch[0].len(), free(ins[0].aval(), dims, 0).len());
    let n_right = eqn.out.rank() - n_batch - n_left;
    let swapped = (0..n_batch).chain(n_batch + n_left..n_batch + n_left + n_right).chain(n_batch..n_batch + n_left);
    if !eqn.is_sole_reader || !swapped.eq(permutation.iter().copied()) {
        return None;
    }
    let [left, right] = [0, 1].map(|side: usize| ins[side].clone());
    let flip = |[a, b]: &[Vec<usize>; 2]| [b.clone(), a.clone()];
    let dims = DotDimensions { contract: flip(&dims.contract), batch: flip(&dims.batch) };
    if has_no_depth([right.aval(), left.aval()], &dims, eqn.out) {
        return Answer::made(spread_product([right, left], dims, eqn.out.shape.to_vec()));
    }
    let dtype = params.preferred_element_type;
    Answer::made(move |e| V::new(e, &right).dot_general(&V::new(e, &left), dims, dtype).done())
}

/// Elements replaced at a place that is known and lies inside: an update of that box.
pub(super) fn scatter_at_a_known_place(known: &Known, eqn: &Application) -> Option<Answer> {
    let params = eqn.eqn.params.get::<Scatter>()?;
    let dims = &params.dimension_numbers;
    let [x, indices, updates] = eqn.ins else { return None };
    let (x_aval, update) = (x.aval(), updates.aval());
    let is_one_window = dims.update_window_dims.len() == update.rank()
        && dims.operand_batching_dims.is_empty()
        && params.update_jaxpr.is_none();
    if !is_one_window || x_aval.rank() == 0 || update.dtype != x_aval.dtype {
        return None;
    }
    let starts = starts(known, indices, &dims.scatter_dims_to_operand_dims, x_aval.rank())?;
    let mut windows = update.shape.iter().copied();
    let mut next = |axis: usize| if dims.inserted_window_dims.contains(&axis) { Some(1) } else { windows.next() };
    let window: Vec<usize> = (0..x_aval.rank()).map(&mut next).collect::<Option<_>>()?;
    let is_inside = |axis: usize| {
        let end = usize::try_from(starts[axis]).ok().map(|start| start + window[axis]);
        end.is_some_and(|end| end <= x_aval.shape[axis])
    };
    if !(0..x_aval.rank()).all(is_inside) {
        return None;
    }
    let (x, updates) = (x.clone(), updates.clone());
    Answer::made(move |e| {
        let mut ins = vec![x, V::new(e, &updates).reshape(&window).done()?];
        ins.extend(starts.iter().map(|&start| Val::Literal(Scalar::i32(start as i32))));
        Ok(e.bind(DYNAMIC_UPDATE_SLICE, &Params::NONE, &ins)?.swap_remove(0))
    })
}

/// Where each axis starts, when the one index vector is made of numbers.
fn starts(known: &Known, indices: &Val, axes: &[usize], rank: usize) -> Option<Vec<i64>> {
    let aval = indices.aval();
    if aval.shape[..] != [axes.len()] {
        return None;
    }
    let parts = match known.operands_of(indices, "concatenate") {
        Some(parts) => parts.iter().map(|part| known.number(part)).collect::<Option<Vec<_>>>()?,
        None => vec![known.number(indices)?; axes.len()],
    };
    let mut starts = vec![0; rank];
    for (&axis, part) in axes.iter().zip(&parts) {
        starts[axis] = part.as_i64();
    }
    (parts.len() == axes.len()).then_some(starts)
}
