//! Transforms of running functions: the emitters of `core` made current around a flat function.

use std::sync::Arc;

use pullback_base::{Array, Aval, DType, Error, Result, Scalar, Span};
use pullback_core::marks::{MarkEmit, with_marks};
use pullback_core::prims::{batch_to_front, instantiate};
use pullback_core::transforms::{BatchEmit, JvpEmit, Linear, with_safe_derivatives};
use pullback_ir::{Batch, Emit, EmitRef, Val};

use crate::axes::{BoundAxis, with_axes};
use crate::current::{current, find_leaks, with_current};
use crate::settings::{Setting, is_on};

/// A function of flat values.
pub type Flat<'a> = &'a mut dyn FnMut(&[Val]) -> Result<Vec<Val>>;

/// Results of `f` at `primals` and their tangents; `None` is a zero tangent, both ways.
///
/// # Errors
/// What `f` or a rule raises.
pub fn jvp(f: Flat<'_>, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vec<Val>, Vec<Option<Val>>)> {
    let is_safe = is_on(Setting::SafeGrads);
    if is_safe {
        with_safe_derivatives(true, || safe_jvp(f, primals, tangents))
    } else {
        jvp_over(current(), f, primals, tangents)
    }
}

fn jvp_over(
    parent: EmitRef,
    f: Flat<'_>,
    primals: &[Val],
    tangents: &[Option<Val>],
) -> Result<(Vec<Val>, Vec<Option<Val>>)> {
    let emit = Arc::new(JvpEmit::new(parent));
    let args: Vec<Val> = primals.iter().zip(tangents).map(|(x, t)| emit.pack(x.clone(), t.clone())).collect();
    let outs = Span::within_transform("jvp", || with_current(emit.clone(), || f(&args)))?;
    find_leaks(emit.id())?;
    Ok(outs.iter().map(|out| emit.unpack(out)).unzip())
}

/// Tangents bear marks, primals do not.
fn safe_jvp(f: Flat<'_>, primals: &[Val], tangents: &[Option<Val>]) -> Result<(Vec<Val>, Vec<Option<Val>>)> {
    let marks = Arc::new(MarkEmit::new(current()));
    let marked: Vec<Option<Val>> = tangents.iter().map(|t| t.clone().map(|t| marks.linear(t))).collect();
    let (outs, dots) = jvp_over(marks.clone(), f, primals, &marked)?;
    let outs = outs.iter().map(|out| marks.value(out)).collect();
    Ok((outs, dots.into_iter().map(|dot| dot.map(|dot| marks.value(&dot))).collect()))
}

/// Results of `f` at `primals`, and its derivative there.
///
/// # Errors
/// What `f` or a rule raises.
pub fn linearize(f: Flat<'_>, primals: &[Val]) -> Result<(Vec<Val>, Linear)> {
    let mut run = |emit: EmitRef, args: &[Val]| {
        let id = emit.id();
        let outs = Span::within_transform("jvp", || with_current(emit, || f(args)))?;
        find_leaks(id)?;
        Ok(outs)
    };
    with_safe_derivatives(is_on(Setting::SafeGrads), || {
        pullback_core::transforms::linearize(current(), primals, &mut run)
    })
}

/// Cotangents of the inputs of a derivative for cotangents of its results, zeros made; with marks if it is where-safe.
///
/// # Errors
/// What a transpose rule raises.
pub fn pull_back(linear: &Linear, cts: &[Option<Val>]) -> Result<Vec<Val>> {
    let e = current();
    let found = where_safe(linear.is_safe(), &e, cts, |e, cts| linear.pull_back(e, cts))?;
    found.into_iter().zip(linear.in_avals()).map(|(ct, &aval)| instantiate(&*e, aval, ct)).collect()
}

/// Runs `body`, which is linear in `linear`, with marks or without.
///
/// # Errors
/// What `body` raises.
pub fn where_safe(
    is_safe: bool,
    e: &EmitRef,
    linear: &[Option<Val>],
    body: impl FnOnce(&EmitRef, &[Option<Val>]) -> Result<Vec<Option<Val>>>,
) -> Result<Vec<Option<Val>>> {
    if is_safe { with_marks(e, linear, body) } else { body(e, linear) }
}

/// Runs `f` for all examples at once: each argument comes with its batch axis, each result goes with that asked for in
/// `out_dims` (given the number of results).
///
/// # Errors
/// What `f` or a rule raises; `Value` when a result that is batched is asked for without a batch axis.
pub fn vmap(
    f: Flat<'_>,
    batch: &Batch,
    args: &[(Val, Option<usize>)],
    out_dims: &mut dyn FnMut(usize) -> Result<Vec<Option<i64>>>,
) -> Result<Vec<Val>> {
    let parent = current();
    let emit = Arc::new(BatchEmit::new(parent.clone(), batch.clone()));
    let ins: Vec<Val> = args.iter().map(|(val, dim)| emit.pack(val.clone(), *dim)).collect();
    let axes: Vec<_> = batch.name.iter().map(|name| BoundAxis::new(name.clone(), batch.size)).collect();
    let run = || with_axes(&axes, || with_current(emit.clone(), || f(&ins)));
    let outs = Span::within_transform("vmap", run)?;
    let wanted = out_dims(outs.len())?;
    find_leaks(emit.id())?;
    let mut results = vec![];
    for (i, (out, want)) in outs.iter().zip(wanted).enumerate() {
        let (value, dim) = emit.unpack(out);
        results.push(match want {
            None if dim.is_some() => {
                let text = format!(
                    "at vmap out_axes[{i}], got axis spec None but output was batched on axis {}",
                    dim.unwrap_or(0)
                );
                return Err(Error::value_error(text));
            }
            None => value,
            Some(want) => place(&*parent, &value, dim, want, batch.size)?,
        });
    }
    Ok(results)
}

fn place(e: &dyn pullback_ir::Emit, value: &Val, dim: Option<usize>, want: i64, size: usize) -> Result<Val> {
    if let (DType::Float0, None) = (value.aval().dtype, dim) {
        // Tangents of integers have no elements to repeat.
        let (mut shape, rank) = (value.aval().shape.to_vec(), value.aval().rank() as i64 + 1);
        shape.insert((if want < 0 { want + rank } else { want }).clamp(0, rank - 1) as usize, size);
        return Array::full(Aval::new(&shape, DType::Float0), Scalar::zero(DType::Float0)).map(Val::Array);
    }
    let front = batch_to_front(e, value, dim, size)?;
    let rank = front.aval().rank() as i64;
    if want < -rank || want >= rank {
        return Err(Error::value_error(format!("axis {want} is out of bounds for array of dimension {rank}")));
    }
    let want = if want < 0 { want + rank } else { want };
    pullback_core::prims::V::new(e, &front).move_axis(0, want as usize).done()
}
