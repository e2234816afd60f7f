//! Derivative and batching of convolutions: each is a convolution again.
//!
//! The cotangent of the operand is that of the result convolved with the turned kernel, strides and dilations of the
//! operand exchanged; that of the kernel is the operand convolved with the result's, batch and features exchanged.
//! Padding makes sizes come out: with dilated sizes X, W and Y, the first takes `W - 1 - low` before and what is left
//! after, the second `low` before.

use pullback_base::{Aval, Result};
use pullback_ir::{Batch, BatchDims, Emit, Operand, Params, Tangents, Val, Vals, not_linear};
use smallvec::smallvec;

use super::{CONV_GENERAL_DILATED, ConvDimensions, ConvGeneralDilated, PadPair, of};
use crate::prims::movement::past;
use crate::prims::{V, add_any, zeros};

fn conv<'e>(p: ConvGeneralDilated, x: &V<'e>, w: &V<'e>) -> V<'e> {
    x.bind(CONV_GENERAL_DILATED, &Params::new(p), &[w])
}

pub(super) fn jvp(p: &ConvGeneralDilated, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (x, w) = (V::new(e, &xs[0]), V::new(e, &xs[1]));
    let out = conv(p.clone(), &x, &w).done()?;
    let dx = ts[0].as_ref().map(|t| conv(p.clone(), &V::new(e, t), &w).done()).transpose()?;
    let dw = ts[1].as_ref().map(|t| conv(p.clone(), &x, &V::new(e, t)).done()).transpose()?;
    Ok((smallvec![out], smallvec![add_any(e, dx, dw)?]))
}

pub(super) fn transpose(
    p: &ConvGeneralDilated,
    e: &dyn Emit,
    cts: &[Option<Val>],
    ins: &[Operand],
) -> Result<Tangents> {
    let mut result: Tangents = smallvec![None, None];
    let Some(ct) = &cts[0] else { return Ok(result) };
    if ins.iter().all(Operand::is_linear) {
        return Err(not_linear("conv_general_dilated", " in both operands together"));
    }
    let ct = V::new(e, ct);
    if let (true, Some(w)) = (ins[0].is_linear(), ins[1].known()) {
        result[0] = Some(operand_ct(p, &ct, ins[0].aval(), &V::new(e, w)).done()?);
    }
    if let (true, Some(x)) = (ins[1].is_linear(), ins[0].known()) {
        result[1] = Some(kernel_ct(p, &ct, ins[1].aval(), &V::new(e, x)).done()?);
    }
    Ok(result)
}

/// Sizes of space once dilated: of the operand, the kernel, the result.
fn dilated_sizes(p: &ConvGeneralDilated, x: Aval, w: Aval, out: Aval) -> Vec<[i64; 3]> {
    let dims = &p.dimension_numbers;
    let sizes = [of(&x.shape, &dims.lhs), of(&w.shape, &dims.rhs), of(&out.shape, &dims.out)];
    let dilated = |size: usize, by: usize| if size == 0 { 0 } else { (size as i64 - 1) * by as i64 + 1 };
    let along = |axis: usize| {
        let by = [p.lhs_dilation[axis], p.rhs_dilation[axis], p.window_strides[axis]];
        [0, 1, 2].map(|i| dilated(sizes[i][axis + 2], by[i]))
    };
    (0..p.padding.len()).map(along).collect()
}

fn exchanged(spec: &[usize]) -> Vec<usize> {
    let mut spec = spec.to_vec();
    spec.swap(0, 1);
    spec
}

fn operand_ct<'e>(p: &ConvGeneralDilated, ct: &V<'e>, x: Aval, w: &V<'e>) -> V<'e> {
    let dims = &p.dimension_numbers;
    let sizes = dilated_sizes(p, x, w.aval(), ct.aval());
    let pair = |([x, w, out], old): (&[i64; 3], &PadPair)| {
        let low = w - old.0 - 1;
        PadPair(low, x + w - 1 - out - low)
    };
    let groups = p.feature_group_count * p.batch_group_count;
    let mut kernel = w.clone();
    if groups > 1 {
        // Out features of a group become in features of that group.
        kernel = into(&out_of(&kernel, dims.rhs[0], groups), dims.rhs[0], past(&dims.rhs, dims.rhs[0])[1], dims.rhs[1]);
    }
    let params = ConvGeneralDilated {
        window_strides: p.lhs_dilation.clone(),
        padding: sizes.iter().zip(&p.padding).map(pair).collect(),
        lhs_dilation: p.window_strides.clone(),
        dimension_numbers: ConvDimensions { lhs: dims.out.clone(), rhs: exchanged(&dims.rhs), out: dims.lhs.clone() },
        feature_group_count: groups,
        batch_group_count: 1,
        preferred_element_type: p.preferred_element_type.map(|_| x.dtype),
        ..p.clone()
    };
    let out = conv(params, ct, &kernel.rev(&dims.rhs[2..]));
    if p.batch_group_count == 1 {
        return out;
    }
    let split = out_of(&out, dims.lhs[1], p.batch_group_count);
    into(&split, dims.lhs[1], past(&dims.lhs, dims.lhs[1])[0], dims.lhs[0])
}

fn kernel_ct<'e>(p: &ConvGeneralDilated, ct: &V<'e>, w: Aval, x: &V<'e>) -> V<'e> {
    let dims = &p.dimension_numbers;
    let sizes = dilated_sizes(p, x.aval(), w, ct.aval());
    let pair = |([x, w, out], old): (&[i64; 3], &PadPair)| PadPair(old.0, out + w - x - 1 - old.0);
    let params = ConvGeneralDilated {
        window_strides: p.rhs_dilation.clone(),
        padding: sizes.iter().zip(&p.padding).map(pair).collect(),
        rhs_dilation: p.window_strides.clone(),
        dimension_numbers: ConvDimensions {
            lhs: exchanged(&dims.lhs),
            rhs: exchanged(&dims.out),
            out: exchanged(&dims.rhs),
        },
        feature_group_count: p.batch_group_count,
        batch_group_count: p.feature_group_count,
        preferred_element_type: p.preferred_element_type.map(|_| w.dtype),
        ..p.clone()
    };
    conv(params, x, ct)
}

/// Axis `axis` as two axes, the first of size `n`.
fn out_of<'e>(x: &V<'e>, axis: usize, n: usize) -> V<'e> {
    let mut shape = x.aval().shape.to_vec();
    if axis >= shape.len() {
        // An error came before, and shows in the end.
        return x.clone();
    }
    shape[axis] /= n;
    shape.insert(axis, n);
    x.reshape(&shape)
}

/// Axis `from` put in front of axis `to`, both one axis, which is number `merged` of the result.
fn into<'e>(x: &V<'e>, from: usize, to: usize, merged: usize) -> V<'e> {
    let place = if from < to { to - 1 } else { to };
    let moved = x.move_axis(from, place);
    let mut shape = moved.aval().shape.to_vec();
    let size = shape.remove(place);
    debug_assert_eq!(place, merged, "the merged axis is where it was");
    shape[place] *= size;
    moved.reshape(&shape)
}

/// The batch axis in front of the axis that is number `axis` without it.
fn batch_into<'e>(x: &V<'e>, dim: usize, axis: usize) -> V<'e> {
    into(x, dim, past(&[axis], dim)[0], axis)
}

pub(super) fn batch(
    p: &ConvGeneralDilated,
    e: &dyn Emit,
    batch: &Batch,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, BatchDims)> {
    if batch.size == 0 {
        return no_examples(p, e, ins, dims);
    }
    let (x, w, specs) = (V::new(e, &ins[0]), V::new(e, &ins[1]), &p.dimension_numbers);
    let mut new = p.clone();
    let groups = p.feature_group_count * p.batch_group_count;
    let (out, axis) = match (dims[0], dims[1]) {
        (Some(left), Some(right)) => {
            // Examples are groups.
            let is_by_batch = p.batch_group_count > 1;
            let x = batch_into(&x, left, specs.lhs[if is_by_batch { 0 } else { 1 }]);
            let count = if is_by_batch { &mut new.batch_group_count } else { &mut new.feature_group_count };
            *count *= batch.size;
            (conv(new, &x, &batch_into(&w, right, specs.rhs[0])), specs.out[1])
        }
        (Some(left), None) if p.batch_group_count == 1 => {
            (conv(new, &batch_into(&x, left, specs.lhs[0]), &w), specs.out[0])
        }
        (Some(left), None) => {
            let x = grouped(&x, left, specs.lhs[0], p.batch_group_count);
            (conv(new, &x, &w), specs.out[0])
        }
        (None, Some(right)) if groups == 1 => (conv(new, &x, &batch_into(&w, right, specs.rhs[0])), specs.out[1]),
        (None, Some(right)) => {
            let w = grouped(&w, right, specs.rhs[0], groups);
            let out = conv(new, &x, &w);
            // Features lie as group, example, feature of the group.
            let axis = specs.out[1];
            let split = out_of(&out_of(&out, axis, groups), axis + 1, batch.size);
            let merged = into(&split.move_axis(axis + 1, 0), axis + 1, axis + 2, axis + 1);
            return Ok((smallvec![merged.done()?], smallvec![Some(0)]));
        }
        (None, None) => unreachable!("some operand is batched"),
    };
    Ok((smallvec![out_of(&out, axis, batch.size).done()?], smallvec![Some(axis)]))
}

/// The result for a batch without examples, whose sizes would be groups otherwise.
fn no_examples(p: &ConvGeneralDilated, e: &dyn Emit, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let one = |(x, dim): (&Val, &Option<usize>)| {
        let mut shape = x.aval().shape.to_vec();
        if let Some(dim) = dim {
            shape.remove(*dim);
        }
        x.aval().with_shape(&shape)
    };
    let avals: Vec<Aval> = ins.iter().zip(dims).map(one).collect();
    let out = CONV_GENERAL_DILATED.abstract_eval(&Params::new(p.clone()), &avals)?[0];
    let shape: Vec<usize> = std::iter::once(0).chain(out.shape.iter().copied()).collect();
    Ok((smallvec![zeros(e, out.with_shape(&shape))?], smallvec![Some(0)]))
}

/// The batch axis put inside the groups of an axis: group, example, rest of the group.
fn grouped<'e>(x: &V<'e>, dim: usize, axis: usize, groups: usize) -> V<'e> {
    let front = x.move_axis(dim, 0);
    let split = out_of(&front, axis + 1, groups);
    // Axes: batch, ..., group at axis + 1, rest at axis + 2.
    let inside = into(&split, 0, axis + 2, axis + 1);
    let mut shape = inside.aval().shape.to_vec();
    let rest = shape.remove(axis + 1);
    shape[axis] *= rest;
    inside.reshape(&shape)
}
