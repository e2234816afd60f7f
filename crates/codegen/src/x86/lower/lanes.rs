//! `Lanes` loops in vector registers.
//!
//! A step handles a group, several at once where the body is small. With AVX-512 the iterations that fill no group run
//! under a mask; with AVX2 one by one.

use super::structure::Bounds;
use super::*;
use crate::analysis::{unroll_of, varying_values};

impl<'a> Lower<'_, 'a> {
    pub(super) fn lanes_loop(&mut self, inner: &'a For) {
        let least = if self.has_avx512 { 2 } else { self.least_for_lanes(inner) };
        let is_long = match inner.n {
            Extent::Const(n) => n >= least,
            Extent::Size(_) => true,
        };
        let varying = if is_long { varying_values(inner) } else { None };
        let scope = varying.map(|varying| LaneScope { id: inner.id, varying: Rc::new(varying), tail: None });
        self.depth += 1;
        match (scope, inner.carries.is_empty()) {
            (Some(scope), true) => self.mapping_loop(inner, &scope),
            (None, true) => {
                let bounds = self.all_of(inner.n);
                self.one_by_one(inner, &bounds);
            }
            (scope, false) => self.reducing_loop(inner, scope.as_ref()),
        }
        self.depth -= 1;
    }

    /// The iterations from which on a loop without masks runs in lanes.
    fn least_for_lanes(&self, inner: &For) -> i64 {
        if inner.carries.is_empty() { self.group() as i64 } else { N_LANES as i64 }
    }

    /// Iterations of a loop without carries, one by one.
    fn one_by_one(&mut self, inner: &'a For, bounds: &Bounds) {
        self.counted(inner.id, bounds, &inner.body, &[], |me| {
            me.block(&inner.body);
            vec![]
        });
    }

    pub(super) fn in_lanes<T>(&mut self, scope: &LaneScope, body: impl FnOnce(&mut Self) -> T) -> T {
        self.lanes = Some(scope.clone());
        let result = body(self);
        self.lanes = None;
        result
    }

    /// Makes the counter that of a group of the step.
    pub(super) fn move_counter(&mut self, id: LoopId, by: i64) {
        let counter = self.counters[id.index()].expect("the loop is open");
        self.counters[id.index()] = Some(Counter { plus: counter.plus + by, ..counter });
    }

    fn mapping_loop(&mut self, inner: &'a For, scope: &LaneScope) {
        let group = self.group() as i64;
        let unroll = unroll_of(&inner.body) as i64;
        match inner.n {
            Extent::Const(n) => {
                let mut start = 0;
                for step in [group * unroll, group] {
                    let stop = n - n % step;
                    self.whole_groups(inner, scope, [start, stop], step);
                    start = stop;
                }
                self.rest(inner, scope, [start, n]);
            }
            Extent::Size(_) => self.mapping_of_unknown_length(inner, scope, group * unroll),
        }
    }

    /// The iterations between two known numbers, whole steps.
    fn whole_groups(&mut self, inner: &'a For, scope: &LaneScope, [start, stop]: [i64; 2], step: i64) {
        if start == stop {
            return;
        }
        if stop - start == step {
            return self.at_constant(inner.id, start, |me| me.in_lanes(scope, |me| me.groups(inner, step)));
        }
        let bounds = Bounds { start: self.source(start), end: self.source(stop), step: step as i32, runs: true };
        self.counted(inner.id, &bounds, &inner.body, &[], |me| {
            me.in_lanes(scope, |me| me.groups(inner, step));
            vec![]
        });
    }

    /// The groups of one step.
    fn groups(&mut self, inner: &'a For, step: i64) {
        let group = self.group() as i64;
        for number in 0..step / group {
            if number > 0 {
                self.move_counter(inner.id, group);
            }
            self.block(&inner.body);
        }
    }

    /// The iterations that fill no group, between two known numbers.
    fn rest(&mut self, inner: &'a For, scope: &LaneScope, [start, n]: [i64; 2]) {
        if start == n {
            return;
        }
        if !self.has_avx512 {
            let bounds = Bounds { start: self.source(start), end: self.source(n), step: 1, runs: true };
            return self.one_by_one(inner, &bounds);
        }
        let scope = self.tail_scope(scope, n - start);
        self.at_constant(inner.id, start, |me| me.in_lanes(&scope, |me| me.block(&inner.body)));
    }

    pub(super) fn tail_scope(&mut self, scope: &LaneScope, n: i64) -> LaneScope {
        let bits = self.int((1 << n) - 1);
        let mask = self.mask1(&super::super::ops::KMOV_FROM_R, bits);
        LaneScope { tail: Some(Tail { mask, n: Source::Imm(n as i32) }), ..scope.clone() }
    }

    /// The scope of the last `n` lanes, a number in a register.
    pub(super) fn unknown_tail_scope(&mut self, scope: &LaneScope, n: Reg) -> LaneScope {
        let one = self.int(1);
        let power = self.unary_int(|dst| Inst::ShiftBy { number: 4, wide: false, dst, x: one, by: n });
        let bits = self.alu(Alu::Sub, false, power, Source::Imm(1));
        let mask = self.mask1(&super::super::ops::KMOV_FROM_R, bits);
        LaneScope { tail: Some(Tail { mask, n: Source::Reg(n) }), ..scope.clone() }
    }

    fn mapping_of_unknown_length(&mut self, inner: &'a For, scope: &LaneScope, step: i64) {
        let group = self.group() as i64;
        let end = self.extent(inner.n);
        let end = self.source_reg(end);
        let mut start = Source::Imm(0);
        let mut steps: SmallVec<[i64; 2]> = smallvec![step, group];
        steps.dedup();
        for step in steps {
            let stop = Source::Reg(self.alu(Alu::And, true, end, Source::Imm(-(step as i32))));
            let bounds = Bounds { start, end: stop, step: step as i32, runs: false };
            self.counted(inner.id, &bounds, &inner.body, &[], |me| {
                me.in_lanes(scope, |me| me.groups(inner, step));
                vec![]
            });
            start = stop;
        }
        if !self.has_avx512 {
            return self.one_by_one(inner, &Bounds { start, end: Source::Reg(end), step: 1, runs: false });
        }
        self.if_any_rest(end, group, |me, rest| {
            let scope = me.unknown_tail_scope(scope, rest);
            let start = me.source_reg(start);
            me.at_register(inner.id, start, |me| me.in_lanes(&scope, |me| me.block(&inner.body)));
        });
    }

    /// Runs `body` with the number of iterations that fill no group of `group`, if there are any.
    pub(super) fn if_any_rest(&mut self, end: Reg, group: i64, body: impl FnOnce(&mut Self, Reg)) {
        let rest = self.alu(Alu::And, true, end, Source::Imm(group as i32 - 1));
        let skip = self.label();
        // Lengths below zero count as zero.
        let is_empty = Test { cond: Cond::LessEqual, wide: true, x: end, y: Source::Imm(0) };
        self.push(Inst::Branch { test: is_empty, label: skip });
        self.push(Inst::Branch {
            test: Test { cond: Cond::Equal, wide: true, x: rest, y: Source::Imm(0) },
            label: skip,
        });
        self.conditional(|me| body(me, rest));
        self.push(Inst::Bind(skip));
    }

    /// Runs `body` with the counter of a loop in a register that does not move.
    pub(super) fn at_register(&mut self, id: LoopId, reg: Reg, body: impl FnOnce(&mut Self)) {
        let outer = self.counters[id.index()].replace(Counter { reg: Some(reg), plus: 0 });
        body(self);
        self.counters[id.index()] = outer;
    }
}
