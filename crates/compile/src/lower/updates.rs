//! Results made of boxes of operands, and copies with elements replaced or combined.

use pullback_base::{Result, Shape};
use pullback_ir::Atom;
use pullback_ir::lower::{Elem, Index, Piece, TargetFn, select, values_per_element};
use pullback_loops::{Builder, Call, Combine, Kernel, Op, ValueId};

use super::group::{Accesses, Map, combined, converted};
use super::{Block, Cx};
use crate::graph::{moves_a_box, moves_rows};
use crate::nest::Nest;
use crate::view::{Value, View, rounded};

/// Updates side by side from which on they are made in lanes.
const LANES: usize = 8;

impl Block<'_, '_> {
    pub(super) fn pieces(&mut self, loops: &mut Builder, number: usize, pieces: &[Piece]) -> Result<()> {
        let graph = self.graph.clone();
        let dest = self.dest(loops, graph.out(number));
        for piece in pieces.iter().filter(|piece| !piece.sizes.contains(&0)) {
            self.piece(loops, graph.eqn(number).ins[piece.operand], piece, &dest)?;
        }
        self.define(graph.out(number), dest);
        Ok(())
    }

    fn piece(&mut self, loops: &mut Builder, x: Atom, piece: &Piece, dest: &View) -> Result<()> {
        let is_scalar = self.graph.aval(x).rank() == 0;
        let mut accesses = Accesses::new();
        match self.value(loops, x) {
            Some(Value::Memory(view)) if !is_scalar => accesses.add(view.strides),
            Some(_) => {}
            None => accesses.unknown(),
        }
        accesses.add(dest.strides.iter().zip(&piece.step).map(|(stride, step)| stride * step).collect());
        let nest = Nest::new(&piece.sizes, &[], accesses.known(), 1);
        self.map(loops, &nest, |block, loops, index| {
            let from: Vec<Index> =
                piece.operand_start.iter().zip(index).map(|(&start, index)| index.plus_const(start, loops)).collect();
            let to: Vec<Index> = (0..index.len())
                .map(|axis| index[axis].times(piece.step[axis], loops).plus_const(piece.start[axis], loops))
                .collect();
            let elem = block.element(loops, x, if is_scalar { &[] } else { &from })?;
            dest.store(loops, &to, elem);
            Ok(())
        })
    }

    pub(super) fn scatter(
        &mut self,
        loops: &mut Builder,
        number: usize,
        updates: usize,
        combine: Option<Combine>,
        target: &TargetFn,
    ) -> Result<()> {
        let graph = self.graph.clone();
        let (eqn, out) = (graph.eqn(number), graph.out_aval(number));
        let dest = self.updated(loops, number)?;
        let shape: Shape = graph.aval(eqn.ins[updates]).shape.clone();
        if out.size() > 0 && !shape.contains(&0) {
            let ins: Vec<_> = eqn.ins.iter().map(|&atom| graph.aval(atom)).collect();
            let is_a_box = moves_a_box(target, &ins, &shape);
            let has_rows = shape.last().is_some_and(|&n| n >= LANES) && moves_rows(target, &ins, &shape);
            let nest = Nest::new(&shape, &[], None, 1);
            self.current.clear();
            let body = |block: &mut Block<'_, '_>, loops: &mut Builder, index: &[Index]| {
                block.update(loops, number, updates, combine, target, &dest, index)
            };
            let mut body = Map { block: self, body };
            match (is_a_box, has_rows) {
                (true, _) => nest.run(loops, &mut body)?,
                (false, true) => nest.run_rows_in_order(loops, &mut body)?,
                (false, false) => nest.run_in_order(loops, &mut body)?,
            }
        }
        self.define(graph.out(number), dest);
        Ok(())
    }

    /// A copy of the first operand, to be written to.
    fn updated(&mut self, loops: &mut Builder, number: usize) -> Result<View> {
        let graph = self.graph.clone();
        let x = graph.eqn(number).ins[0];
        if let Some(view) = self.dying(loops, x, number) {
            return Ok(view);
        }
        let (dest, aval) = (self.dest(loops, graph.out(number)), graph.aval(x));
        match self.value(loops, x) {
            Some(Value::Memory(view)) if view.is_row_major(&aval.shape) && view.dtype == dest.dtype => {
                let n = aval.size() * values_per_element(aval.dtype);
                let zero = vec![Index::constant(0); aval.rank()];
                let args = vec![(view.buffer, view.addr(loops, &zero)), (dest.buffer, dest.addr(loops, &zero))];
                let call = Call { kernel: Kernel::Copy(n), args };
                loops.push(Op::Call(Box::new(call)));
            }
            _ => self.copy(loops, x, &dest)?,
        }
        Ok(dest)
    }

    /// The memory of an operand that nobody reads after this step and that may be written.
    fn dying(&mut self, loops: &mut Builder, x: Atom, number: usize) -> Option<View> {
        let graph = self.graph.clone();
        let (Atom::Var(var), out) = (x, graph.out(number)) else { return None };
        let Some(Value::Memory(view)) = self.value(loops, x) else { return None };
        let dies_here = self.plan.last_use[var.index()] == self.step && !self.wanted.contains_key(&var);
        let ins = &graph.eqn(number).ins;
        let are_apart = ins[1..].iter().all(|&atom| self.lies_apart(loops, atom, &view));
        let is_whole = view.is_row_major(&graph.aval(x).shape) && !self.wanted.contains_key(&out);
        if !dies_here || !are_apart || !is_whole {
            return None;
        }
        if self.overwritable.contains(&var) {
            self.overwritable.insert(out);
            return Some(view);
        }
        if !self.to_release[self.step].contains(&view.buffer) {
            return None;
        }
        // The buffer lives on as that of the result.
        self.to_release[self.step].retain(|&buffer| buffer != view.buffer);
        let last = self.plan.last_use[out.index()].clamp(self.step, self.to_release.len() - 1);
        self.to_release[last].push(view.buffer);
        Some(view)
    }

    /// Whether an operand surely has no element in the memory of `view`.
    fn lies_apart(&mut self, loops: &mut Builder, atom: Atom, view: &View) -> bool {
        match self.value(loops, atom) {
            Some(Value::Uniform(_)) => true,
            Some(Value::Memory(other)) => other.buffer != view.buffer,
            None => false,
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of a scatter form at one index")]
    fn update(
        &mut self,
        loops: &mut Builder,
        number: usize,
        updates: usize,
        combine: Option<Combine>,
        target: &TargetFn,
        dest: &View,
        index: &[Index],
    ) -> Result<()> {
        let graph = self.graph.clone();
        let (at, is_in) = target(&mut Cx { block: self, loops, eqn: number }, index)?;
        let update = self.element(loops, graph.eqn(number).ins[updates], index)?;
        let update = converted(loops, update, dest.dtype);
        let Some(is_in) = is_in else { return store_combined(loops, combine, dest, &at, update) };
        // An update that goes nowhere stores the first element to itself, so that no address is out of bounds.
        let at: Vec<Index> = at.iter().map(|index| guarded(loops, is_in, index)).collect();
        let old = dest.load(loops, &at, dest.dtype)?;
        let new = match combine {
            Some(combine) => combined(loops, combine, old, update)?,
            None => update,
        };
        let new = select(loops, is_in, new, old);
        let new = rounded(loops, new, dest.dtype);
        dest.store(loops, &at, new);
        Ok(())
    }
}

fn store_combined(
    loops: &mut Builder,
    combine: Option<Combine>,
    dest: &View,
    at: &[Index],
    update: Elem,
) -> Result<()> {
    let new = match combine {
        Some(combine) => {
            let old = dest.load(loops, at, dest.dtype)?;
            combined(loops, combine, old, update)?
        }
        None => update,
    };
    dest.store(loops, at, new);
    Ok(())
}

/// The index, or one that is surely inside. What counters alone say is inside anyway: it is a place in a window, and windows
/// fit.
fn guarded(loops: &mut Builder, is_in: ValueId, index: &Index) -> Index {
    match index {
        Index::Affine(_) => return index.clone(),
        Index::Sum(affine, value) if affine.base == 0 => {
            let zero = loops.int(0);
            return Index::Sum(affine.clone(), loops.select(is_in, *value, zero));
        }
        Index::Sum(..) => {}
    }
    let (value, zero) = (index.value(loops), loops.int(0));
    let place = loops.select(is_in, value, zero);
    Index::computed(place, loops)
}
