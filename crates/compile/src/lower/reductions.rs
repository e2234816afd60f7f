//! Reductions with a memory: the index of an extreme element, running combinations.

use pullback_base::{DType, Result, Scalar, bail};
use pullback_ir::Atom;
use pullback_ir::lower::{Elem, Extreme, Index, value_dtype, values_per_element};
use pullback_loops::{BufferId, Builder, Combine, Comparison, ValueId};

use super::Block;
use super::group::{Accesses, combined, kept_index, take_elem, values_of};
use crate::nest::{Acc, Nest, NestBody};
use crate::view::{View, rounded};

/// Where totals of a reduction go, by the index of the kept axes; registers when there are none.
struct Totals {
    view: Option<View>,
    elem: Option<ValueId>,
}

impl Totals {
    fn at(&self, loops: &mut Builder, index: &[Index]) -> Result<ValueId> {
        match (&self.view, self.elem) {
            (Some(view), _) => Ok(view.load(loops, index, view.dtype)?.one()),
            (None, Some(elem)) => Ok(elem),
            (None, None) => bail!(Internal, "a total is read before it is made"),
        }
    }
}

/// A reduction of one value over one axis; `value` makes what is combined.
struct OneAxis<'b, 'a, 'o, F> {
    block: &'b mut Block<'a, 'o>,
    axis: usize,
    combine: Combine,
    value: F,
    totals: Totals,
    /// The type that totals are stored in.
    dtype: DType,
}

impl<'a, 'o, F> NestBody for OneAxis<'_, 'a, 'o, F>
where
    F: FnMut(&mut Block<'a, 'o>, &mut Builder, &[Index]) -> Result<ValueId>,
{
    fn element(&mut self, loops: &mut Builder, index: &[Index], accs: &[ValueId]) -> Result<Vec<ValueId>> {
        let x = (self.value)(self.block, loops, index)?;
        Ok(vec![loops.binary(self.combine.binary(), accs[0], x)])
    }

    fn finish(&mut self, loops: &mut Builder, index: &[Index], totals: &[ValueId]) -> Result<()> {
        let total = loops.convert(value_dtype(self.dtype), totals[0]);
        match &self.totals.view {
            Some(view) => view.store(loops, &kept_index(index, &[self.axis]), Elem::One(total)),
            None => self.totals.elem = Some(total),
        }
        Ok(())
    }

    fn scratch(&mut self, loops: &mut Builder, dtype: DType, len: i64) -> BufferId {
        self.block.step_temp(loops, &[len as usize], dtype).buffer
    }
}

impl<'a, 'o> Block<'a, 'o> {
    /// Two passes, each in lanes: the extreme value, then the least index at which it is.
    pub(super) fn arg_reduce(
        &mut self,
        loops: &mut Builder,
        number: usize,
        extreme: Extreme,
        axis: usize,
    ) -> Result<()> {
        let graph = self.graph.clone();
        let x = graph.eqn(number).ins[0];
        let (aval, out) = (graph.aval(x), graph.out_aval(number));
        if values_per_element(aval.dtype) == 2 {
            bail!(NotImplemented, "{} of {} is not implemented", graph.eqn(number).prim.name(), aval.dtype);
        }
        let dtype = if aval.dtype == DType::Bool { DType::U8 } else { value_dtype(aval.dtype) };
        let element = move |block: &mut Block<'_, '_>, loops: &mut Builder, index: &[Index]| {
            let value = block.element(loops, x, index)?.one();
            Ok(loops.convert(dtype, value))
        };
        let combine = match extreme {
            Extreme::Max => Combine::Max,
            Extreme::Min => Combine::Min,
        };
        let best_view = (out.rank() > 0).then(|| self.step_temp(loops, &out.shape, dtype));
        let best = self.reduce_axis(loops, x, axis, (combine, dtype), (best_view, dtype), element)?;
        let counter = if aval.shape[axis] < i32::MAX as usize { DType::I32 } else { DType::I64 };
        let index_at_best = move |block: &mut Block<'_, '_>, loops: &mut Builder, index: &[Index]| {
            let value = element(block, loops, index)?;
            let best = best.at(loops, &kept_index(index, &[axis]))?;
            let is_best = is_extreme(loops, value, best);
            let (here, never) = (index[axis].value(loops), Scalar::greatest(counter));
            let (here, never) = (loops.convert(counter, here), loops.constant(never));
            Ok(loops.select(is_best, here, never))
        };
        let is_register = out.rank() == 0;
        let dest = (!is_register).then(|| self.dest(loops, graph.out(number)));
        let found =
            self.reduce_axis(loops, x, axis, (Combine::Min, counter), (dest.clone(), out.dtype), index_at_best)?;
        self.define_total(loops, number, dest, found)
    }

    fn define_total(&mut self, loops: &mut Builder, number: usize, dest: Option<View>, found: Totals) -> Result<()> {
        let out = self.graph.out(number);
        if let Some(view) = dest {
            self.define(out, view);
            return Ok(());
        }
        let total = Elem::One(found.at(loops, &[])?);
        if let Some(wanted) = self.wanted.get(&out) {
            wanted.clone().store(loops, &[], total);
        }
        self.values[out.index()] = Some(crate::view::Value::Uniform(total));
        Ok(())
    }

    fn reduce_axis(
        &mut self,
        loops: &mut Builder,
        x: Atom,
        axis: usize,
        (combine, acc): (Combine, DType),
        (view, dtype): (Option<View>, DType),
        value: impl FnMut(&mut Block<'a, 'o>, &mut Builder, &[Index]) -> Result<ValueId>,
    ) -> Result<Totals> {
        let shape = &self.graph.aval(x).data().shape;
        self.current.clear();
        // The body needs the position along the axis itself, so axes are not merged.
        let nest = Nest::new(shape, &[axis], None, 2).reducing(Acc::of(combine, acc).to_vec(), false);
        let mut body = OneAxis { block: self, axis, combine, value, totals: Totals { view, elem: None }, dtype };
        nest.run(loops, &mut body)?;
        Ok(body.totals)
    }

    /// Along the axis in order; other axes in lanes where they are contiguous.
    pub(super) fn cumulative(
        &mut self,
        loops: &mut Builder,
        number: usize,
        combine: Combine,
        axis: usize,
        reverse: bool,
    ) -> Result<()> {
        let graph = self.graph.clone();
        let x = graph.eqn(number).ins[0];
        let aval = graph.aval(x);
        let dest = self.dest(loops, graph.out(number));
        let mut accesses = Accesses::new();
        self.access(loops, x, &aval.shape, &mut accesses);
        accesses.add(dest.strides.clone());
        let nest = Nest::new(&aval.shape, &[axis], accesses.known(), 2);
        let nest = nest.reducing(Acc::of(combine, aval.dtype).to_vec(), true);
        self.current.clear();
        let last = aval.shape[axis] as i64 - 1;
        nest.run(loops, &mut Running { block: self, x, combine, axis, last: reverse.then_some(last), dest: &dest })?;
        self.define(graph.out(number), dest);
        Ok(())
    }
}

/// `value` equals `best`, or both are NaN.
fn is_extreme(loops: &mut Builder, value: ValueId, best: ValueId) -> ValueId {
    let is_equal = loops.compare(Comparison::Eq, value, best);
    if !loops.dtype(value).is_float() {
        return is_equal;
    }
    let is_nan = loops.compare(Comparison::Ne, value, value);
    loops.binary(pullback_loops::Binary::Or, is_equal, is_nan)
}

struct Running<'b, 'a, 'o> {
    block: &'b mut Block<'a, 'o>,
    x: Atom,
    combine: Combine,
    axis: usize,
    /// The last position along the axis when it runs backwards.
    last: Option<i64>,
    dest: &'b View,
}

impl NestBody for Running<'_, '_, '_> {
    fn element(&mut self, loops: &mut Builder, index: &[Index], accs: &[ValueId]) -> Result<Vec<ValueId>> {
        let mut index = index.to_vec();
        if let Some(last) = self.last {
            index[self.axis] = index[self.axis].times(-1, loops).plus_const(last, loops);
        }
        let dtype = self.dest.dtype;
        let x = self.block.element(loops, self.x, &index)?;
        let sum = combined(loops, self.combine, take_elem(&mut accs.iter().copied(), dtype), x)?;
        let shown = rounded(loops, sum, dtype);
        self.dest.store(loops, &index, shown);
        Ok(values_of(sum).to_vec())
    }
    fn finish(&mut self, _: &mut Builder, _: &[Index], _: &[ValueId]) -> Result<()> {
        Ok(())
    }
    fn scratch(&mut self, loops: &mut Builder, dtype: DType, len: i64) -> BufferId {
        self.block.step_temp(loops, &[len as usize], dtype).buffer
    }
}
