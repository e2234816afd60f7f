//! Batching: values carry one axis that the program does not see.

use std::sync::Arc;

use pullback_base::{Result, Sharding, Span};
use pullback_ir::{
    Batch, Batched, Builder, Emit, EmitRef, JaxprRef, Params, PrimRef, Slot, TraceId, Tracer, Val, Vals, eval_jaxpr,
};
use smallvec::smallvec;

use super::cache::Cache;
use crate::prims::{V, batch_to_front};

/// The batching emitter over a parent.
pub struct BatchEmit {
    id: TraceId,
    parent: EmitRef,
    batch: Batch,
}

impl BatchEmit {
    /// Batching whose operations go to `parent`.
    pub fn new(parent: EmitRef, batch: Batch) -> BatchEmit {
        BatchEmit { id: TraceId::fresh(), parent, batch }
    }

    /// What is mapped over.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// A value whose axis `dim` is the batch; `None` for one value for all examples.
    pub fn pack(&self, value: Val, dim: Option<usize>) -> Val {
        let Some(dim) = dim else { return value };
        let whole = value.aval();
        let batched = Arc::new(Batched { value, dim, span: Span::current() });
        Val::Tracer(Tracer { trace: self.id, aval: whole.without_axis(dim), slot: Slot::Batched(batched) })
    }

    /// Whether the application communicates along this batch: then operands without a batch axis matter too.
    fn is_named_by(&self, prim: PrimRef, params: &Params) -> bool {
        self.batch.name.as_ref().is_some_and(|name| prim.axis_names(params).contains(name))
    }

    /// The value with its batch axis, and where that is.
    pub fn unpack(&self, val: &Val) -> (Val, Option<usize>) {
        match val {
            Val::Tracer(Tracer { trace, slot: Slot::Batched(batched), .. }) if *trace == self.id => {
                (batched.value.clone(), Some(batched.dim))
            }
            other => (other.clone(), None),
        }
    }
}

impl Emit for BatchEmit {
    fn id(&self) -> TraceId {
        self.id
    }

    fn bind(&self, prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
        let (vals, dims): (Vec<Val>, Vec<Option<usize>>) = ins.iter().map(|val| self.unpack(val)).unzip();
        if dims.iter().all(Option::is_none) && !self.is_named_by(prim, params) {
            return self.parent.bind(prim, params, &vals);
        }
        let e = &*self.parent;
        let own = prim.custom_rule(params).and_then(|rule| rule.batch(&self.parent, &self.batch, &vals, &dims));
        let result = own.map_or_else(|| prim.batch(params, e, &self.batch, &vals, &dims), |result| result.map(Some))?;
        let (outs, out_dims) = match result {
            Some(result) => result,
            None => {
                let (ins, dim) = align(e, &vals, &dims)?;
                (e.bind(prim, params, &ins)?, smallvec![Some(dim)])
            }
        };
        Ok(outs.into_iter().zip(out_dims).map(|(out, dim)| self.pack(out, dim)).collect())
    }

    fn parent(&self) -> Option<&dyn Emit> {
        Some(&*self.parent)
    }
}

/// Operands of an elementwise primitive with their batch axes in one place: as they are when they all agree, else in
/// front, with axes of size 1 where an operand has fewer.
fn align(e: &dyn Emit, vals: &[Val], dims: &[Option<usize>]) -> Result<(Vec<Val>, usize)> {
    let (first, dim) =
        dims.iter().enumerate().find_map(|(i, dim)| Some((i, (*dim)?))).expect("some operand is batched");
    let shape = &vals[first].aval().data().shape;
    let agrees = |(val, &other): (&Val, &Option<usize>)| match other {
        Some(other) => other == dim && val.aval().rank() == shape.len(),
        None => val.aval().rank() == 0,
    };
    if vals.iter().zip(dims).all(agrees) {
        return Ok((vals.to_vec(), dim));
    }
    let rank = |(val, dim): (&Val, &Option<usize>)| val.aval().rank() - usize::from(dim.is_some());
    let max_rank = vals.iter().zip(dims).map(rank).max().unwrap_or(0);
    // Those without the axis first, then batched scalars.
    let mut aligned = vals.to_vec();
    for (val, dim) in aligned.iter_mut().zip(dims) {
        *val = with_axis_in_front(e, val, *dim)?;
    }
    for (val, dim) in aligned.iter_mut().zip(dims) {
        *val = widened(e, val, *dim, max_rank)?;
    }
    Ok((aligned, 0))
}

fn with_axis_in_front(e: &dyn Emit, val: &Val, dim: Option<usize>) -> Result<Val> {
    let v = V::new(e, val);
    if let Some(dim) = dim {
        return v.move_axis(dim, 0).done();
    }
    if val.aval().rank() == 0 {
        return Ok(val.clone());
    }
    let dims: Vec<usize> = (1..=val.aval().rank()).collect();
    let shape: Vec<usize> = std::iter::once(1).chain(val.aval().shape.iter().copied()).collect();
    v.broadcast_in_dim(&shape, &dims).done()
}

/// Only batched scalars have fewer axes than the others.
fn widened(e: &dyn Emit, val: &Val, dim: Option<usize>, rank: usize) -> Result<Val> {
    let shape = &val.aval().data().shape;
    if dim.is_none() || shape.len() == rank + 1 {
        return Ok(val.clone());
    }
    let mut wide = vec![1; rank + 1];
    wide[0] = shape[0];
    V::new(e, val).broadcast_in_dim(&wide, &[0]).done()
}

/// A batched jaxpr.
#[derive(Clone, Debug)]
pub struct BatchedJaxpr {
    /// Batched inputs and results have the batch axis in front.
    pub jaxpr: JaxprRef,
    /// Which results are batched.
    pub batched_out: Vec<bool>,
}

/// Batches a jaxpr whose inputs marked in `batched_in` have the batch axis in front; results marked in `force_out` are
/// batched even if they are the same for all examples.
///
/// # Errors
/// What a rule raises.
pub fn batch_jaxpr(jaxpr: &JaxprRef, batch: &Batch, batched_in: &[bool], force_out: &[bool]) -> Result<BatchedJaxpr> {
    type Key = (u64, (usize, Option<Arc<str>>, Option<Sharding>), Vec<bool>, Vec<bool>);
    static CACHE: Cache<Key, BatchedJaxpr> = Cache::new();
    let batched = (batch.size, batch.name.clone(), batch.split);
    let key = (jaxpr.id(), batched, batched_in.to_vec(), force_out.to_vec());
    CACHE.get_or_make(key, || make_batched(jaxpr, batch, batched_in, force_out))
}

fn make_batched(jaxpr: &JaxprRef, batch: &Batch, batched_in: &[bool], force_out: &[bool]) -> Result<BatchedJaxpr> {
    let builder = Arc::new(Builder::new());
    let emit = BatchEmit::new(builder.clone(), batch.clone());
    let mut args = vec![];
    for (aval, &batched) in jaxpr.in_avals().into_iter().zip(batched_in) {
        if !batched {
            args.push(builder.input(aval));
            continue;
        }
        args.push(emit.pack(builder.input(aval.with_axis(0, batch.size, batch.split)), Some(0)));
    }
    let (mut outs, mut batched_out) = (vec![], vec![]);
    for (out, &forced) in eval_jaxpr(&emit, jaxpr, &args)?.iter().zip(force_out) {
        let (value, dim) = emit.unpack(out);
        let batched = forced || dim.is_some();
        batched_out.push(batched);
        outs.push(if batched { batch_to_front(&*builder, &value, dim, batch.size)? } else { value });
    }
    Ok(BatchedJaxpr { jaxpr: JaxprRef::interned(builder.finish(&outs, None).0), batched_out })
}
