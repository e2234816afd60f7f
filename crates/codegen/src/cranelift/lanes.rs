//! `Lanes` loops in vector registers.
//!
//! A step handles [`GROUP`] iterations, several steps at once where the body is small. A reducing loop has four groups
//! of accumulators, the 16 virtual lanes; iterations that fill no whole turn go on lane by lane, through a copy of the
//! accumulators on the stack, so any tail gives the bits that the IR promises.

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use pullback_base::{DType, Result};
use pullback_loops::*;

use super::vector::{has_vector_binary, n_parts};
use crate::analysis::{unroll_of, varying_values};

use super::{Counter, Emitter, GROUP, LaneScope, Parts, Slot};

/// Groups of accumulators.
const N_GROUPS: usize = N_LANES / GROUP;

impl<'a> Emitter<'_, 'a, '_> {
    pub(super) fn lanes_loop(&mut self, inner: &'a For) -> Result<()> {
        let at_least = if inner.carries.is_empty() { GROUP } else { N_LANES };
        let is_long = match inner.n {
            Extent::Const(n) => n >= at_least as i64,
            Extent::Size(_) => true,
        };
        let varying = if is_long { varying_values(inner) } else { None };
        let scope = varying.map(|varying| LaneScope { id: inner.id, varying: std::rc::Rc::new(varying) });
        self.depth += 1;
        match (scope, inner.carries.is_empty()) {
            (Some(scope), true) => self.mapping_loop(inner, &scope)?,
            (None, true) => {
                let bounds = [self.int(0), self.extent(inner.n)];
                self.one_by_one(inner, bounds, inner.n)?;
            }
            (scope, false) => self.reducing_loop(inner, scope.as_ref())?,
        }
        self.depth -= 1;
        Ok(())
    }

    /// Iterations of a loop without carries, one by one.
    fn one_by_one(&mut self, inner: &'a For, bounds: [Value; 2], known: Extent) -> Result<()> {
        self.counted(inner.id, bounds, 1, known, &[], |me, _| {
            me.block(&inner.body)?;
            Ok(vec![])
        })?;
        Ok(())
    }

    fn mapping_loop(&mut self, inner: &'a For, scope: &LaneScope) -> Result<()> {
        let unroll = unroll_of(&inner.body);
        let end = self.extent(inner.n);
        let mut start = self.int(0);
        let mut done = 0;
        for n_groups in if unroll > 1 { vec![unroll, 1] } else { vec![1] } {
            let step = (GROUP * n_groups) as i64;
            let (stop, known) = self.whole_turns(inner.n, end, step, done);
            if known != Extent::Const(0) {
                self.counted(inner.id, [start, stop], step, known, &[], |me, _| {
                    me.in_lanes(scope, |me| {
                        (0..n_groups).try_for_each(|group| {
                            me.move_counter(inner.id, group);
                            me.block(&inner.body)
                        })
                    })?;
                    Ok(vec![])
                })?;
            }
            start = stop;
            if let Extent::Const(n) = inner.n {
                done = n - n % step;
            }
        }
        match inner.n {
            Extent::Const(n) if n == done => Ok(()),
            Extent::Const(n) => self.one_by_one(inner, [start, end], Extent::Const(n - done)),
            Extent::Size(_) => self.one_by_one(inner, [start, end], inner.n),
        }
    }

    /// The end of the iterations that fill whole turns of `step`, and how many those are after `done`, if known.
    fn whole_turns(&mut self, n: Extent, end: Value, step: i64, done: i64) -> (Value, Extent) {
        match n {
            Extent::Const(n) => (self.int(n - n % step), Extent::Const(n - n % step - done)),
            Extent::Size(_) => (self.fb.ins().band_imm_s(end, -step), n),
        }
    }

    fn in_lanes<T>(&mut self, scope: &LaneScope, body: impl FnOnce(&mut Self) -> T) -> T {
        self.lanes = Some(scope.clone());
        let result = body(self);
        self.lanes = None;
        result
    }

    /// Makes the counter that of a group of the step.
    fn move_counter(&mut self, id: LoopId, group: usize) {
        let counter = self.counters[id.index()].expect("the loop is open");
        self.counters[id.index()] = Some(Counter { plus: (group * GROUP) as i64, ..counter });
    }

    fn reducing_loop(&mut self, inner: &'a For, scope: Option<&LaneScope>) -> Result<()> {
        let end = self.extent(inner.n);
        let has_tail = scope.is_none() || !matches!(inner.n, Extent::Const(n) if n % N_LANES as i64 == 0);
        let mut groups = self.identities(inner);
        let mut start = self.int(0);
        if let Some(scope) = scope {
            let (stop, known) = self.whole_turns(inner.n, end, N_LANES as i64, 0);
            groups = self.whole_reduction(inner, scope, [start, stop], known, groups)?;
            start = stop;
        }
        if has_tail {
            groups = self.rest_of_reduction(inner, [start, end], groups)?;
        }
        for (carry, groups) in inner.carries.iter().zip(groups) {
            let total = self.tree(carry, groups);
            let init = self.scalar(carry.init);
            let (op, dtype) = (combiner(carry), self.dtype(carry.phi));
            let out = self.combine(op, dtype, init, total);
            self.set(carry.out, Slot::Scalar(out));
        }
        Ok(())
    }

    /// For each carry the accumulators, all at the identity.
    fn identities(&mut self, inner: &For) -> Vec<Vec<Parts>> {
        let mut all = vec![];
        for carry in &inner.carries {
            let dtype = self.dtype(carry.phi);
            let identity = carry.combine.expect("the verifier saw a combiner").identity(dtype).to_bits() as u64;
            let part = if dtype == DType::Bool {
                self.bits_constant(types::I32X4, if identity == 0 { 0 } else { u64::MAX })
            } else {
                self.bits_constant(super::vector::lane_type(dtype), identity)
            };
            let parts: Parts = std::iter::repeat_n(part, n_parts(dtype)).collect();
            all.push(vec![parts; N_GROUPS]);
        }
        all
    }

    fn whole_reduction(
        &mut self,
        inner: &'a For,
        scope: &LaneScope,
        bounds: [Value; 2],
        known: Extent,
        groups: Vec<Vec<Parts>>,
    ) -> Result<Vec<Vec<Parts>>> {
        let inits: Vec<Value> = groups.iter().flatten().flatten().copied().collect();
        let outs = self.counted(inner.id, bounds, N_LANES as i64, known, &inits, |me, phis| {
            let phis = regrouped(&groups, phis);
            let mut nexts = groups.clone();
            me.in_lanes(scope, |me| -> Result<()> {
                for group in 0..N_GROUPS {
                    me.move_counter(inner.id, group);
                    for (carry, phis) in inner.carries.iter().zip(&phis) {
                        let slot = me.lanes_slot(carry.phi, phis[group].clone());
                        me.set(carry.phi, slot);
                    }
                    me.block(&inner.body)?;
                    for (carry, nexts) in inner.carries.iter().zip(&mut nexts) {
                        nexts[group] = me.group_of(carry.next);
                    }
                }
                Ok(())
            })?;
            Ok(nexts.into_iter().flatten().flatten().collect())
        })?;
        Ok(regrouped(&groups, &outs))
    }

    fn lanes_slot(&self, value: ValueId, parts: Parts) -> Slot {
        if self.dtype(value) == DType::Bool { Slot::Mask(parts) } else { Slot::Vector(parts) }
    }

    fn group_of(&mut self, value: ValueId) -> Parts {
        if self.dtype(value) == DType::Bool { self.mask(value, false) } else { self.vector(value) }
    }

    /// The iterations from `start` on, each into its lane, by way of the stack.
    fn rest_of_reduction(
        &mut self,
        inner: &'a For,
        bounds: [Value; 2],
        groups: Vec<Vec<Parts>>,
    ) -> Result<Vec<Vec<Parts>>> {
        let mut cells = vec![];
        for (carry, groups) in inner.carries.iter().zip(&groups) {
            let dtype = self.dtype(carry.phi);
            let memory = self.stack(N_LANES * dtype.size_bytes());
            for (number, parts) in groups.iter().enumerate() {
                self.store_group(dtype, parts, memory, (number * GROUP * dtype.size_bytes()) as i32);
            }
            cells.push((memory, dtype));
        }
        self.counted(inner.id, bounds, 1, Extent::Size(0), &[], |me, _| {
            let counter = me.counter(inner.id);
            let lane = me.fb.ins().band_imm_s(counter, N_LANES as i64 - 1);
            let mut places = vec![];
            for (carry, &(memory, dtype)) in inner.carries.iter().zip(&cells) {
                let bytes = me.fb.ins().imul_imm_s(lane, dtype.size_bytes() as i64);
                let place = me.fb.ins().iadd(memory, bytes);
                let phi = me.load_scalar(dtype, place, 0);
                me.set(carry.phi, Slot::Scalar(phi));
                places.push((place, dtype));
            }
            me.block(&inner.body)?;
            for (carry, (place, dtype)) in inner.carries.iter().zip(places) {
                let next = me.scalar(carry.next);
                me.store_scalar(dtype, next, place, 0);
            }
            Ok(vec![])
        })?;
        let mut all = vec![];
        for (memory, dtype) in cells {
            let load = |number| {
                let slot = self.load_group(dtype, memory, (number * GROUP * dtype.size_bytes()) as i32);
                let (Slot::Vector(parts) | Slot::Mask(parts)) = slot else { unreachable!("a group is lanes") };
                parts
            };
            all.push((0..N_GROUPS).map(load).collect());
        }
        Ok(all)
    }

    /// The fixed tree over the 16 lanes: lane `l` takes in `l + 8`, then `l + 4`, `l + 2`, `l + 1`.
    fn tree(&mut self, carry: &Carry, groups: Vec<Parts>) -> Value {
        let (op, dtype) = (combiner(carry), self.dtype(carry.phi));
        let [first, second, third, fourth] = <[Parts; N_GROUPS]>::try_from(groups).expect("four groups");
        let low = self.combine_groups(op, dtype, first, third);
        let high = self.combine_groups(op, dtype, second, fourth);
        let group = self.combine_groups(op, dtype, low, high);
        let lanes: Vec<Value> = (0..GROUP).map(|lane| self.group_lane(dtype, &group, lane)).collect();
        let even = self.combine(op, dtype, lanes[0], lanes[2]);
        let odd = self.combine(op, dtype, lanes[1], lanes[3]);
        self.combine(op, dtype, even, odd)
    }

    fn group_lane(&mut self, dtype: DType, group: &Parts, lane: usize) -> Value {
        let per_part = GROUP / group.len();
        let value = self.fb.ins().extractlane(group[lane / per_part], (lane % per_part) as u8);
        if dtype == DType::Bool { self.fb.ins().icmp_imm_s(IntCC::NotEqual, value, 0) } else { value }
    }

    fn combine_groups(&mut self, op: Binary, dtype: DType, x: Parts, y: Parts) -> Parts {
        if dtype == DType::Bool {
            let bits = match op {
                Binary::And | Binary::Min | Binary::Mul => self.fb.ins().band(x[0], y[0]),
                Binary::Xor => self.fb.ins().bxor(x[0], y[0]),
                _ => self.fb.ins().bor(x[0], y[0]),
            };
            return std::iter::once(bits).collect();
        }
        if has_vector_binary(op, dtype) {
            return x.into_iter().zip(y).map(|(x, y)| self.lanes_binary(op, dtype, x, y)).collect();
        }
        let lanes: Vec<Value> = (0..GROUP)
            .map(|lane| {
                let (x, y) = (self.group_lane(dtype, &x, lane), self.group_lane(dtype, &y, lane));
                self.combine(op, dtype, x, y)
            })
            .collect();
        let Slot::Vector(parts) = self.group_from(dtype, &lanes) else { unreachable!("not boolean") };
        parts
    }

    fn combine(&mut self, op: Binary, dtype: DType, x: Value, y: Value) -> Value {
        if dtype.is_float() { self.float_binary(op, x, y) } else { self.integer_binary(op, dtype, x, y) }
    }
}

fn combiner(carry: &Carry) -> Binary {
    carry.combine.expect("the verifier saw a combiner").binary()
}

/// Registers in the shape of `groups`.
fn regrouped(groups: &[Vec<Parts>], registers: &[Value]) -> Vec<Vec<Parts>> {
    let mut registers = registers.iter().copied();
    let mut take = |parts: &Parts| parts.iter().map(|_| registers.next().expect("as many as before")).collect();
    groups.iter().map(|groups| groups.iter().map(&mut take).collect()).collect()
}
