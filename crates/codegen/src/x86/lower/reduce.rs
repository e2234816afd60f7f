//! Reducing `Lanes` loops: 16 virtual lanes of accumulators, and the fixed tree over them at the end.
//!
//! Iterations that fill no whole turn of the 16 lanes run under a mask with AVX-512; with AVX2, and where the body cannot
//! run in lanes, they go on one by one through a copy of the accumulators in memory. Any way gives the bits that the IR
//! promises.

use super::super::ops;
use super::float::Shape;
use super::structure::Bounds;
use super::*;

/// The accumulators of one carry: for each group of lanes its registers, or its mask.
type Groups = Vec<Parts>;

impl<'a> Lower<'_, 'a> {
    fn n_groups(&self) -> usize {
        N_LANES / self.group()
    }

    pub(super) fn reducing_loop(&mut self, inner: &'a For, scope: Option<&LaneScope>) {
        let mut all = self.identities(inner);
        match (scope, inner.n) {
            (None, _) => {
                let bounds = self.all_of(inner.n);
                self.by_cells(inner, &bounds, &mut all);
            }
            (Some(scope), Extent::Const(n)) => self.reduction_of_known_length(inner, scope, n, &mut all),
            (Some(scope), Extent::Size(_)) => self.reduction_of_unknown_length(inner, scope, &mut all),
        }
        for (carry, groups) in inner.carries.iter().zip(all) {
            let total = self.tree(carry, groups);
            let init = self.scalar(carry.init);
            let out = self.scalar_binary(combiner(carry), self.dtype(carry.phi), init, total);
            self.set(carry.out, Slot::Scalar(out));
        }
    }

    /// For each carry the accumulators, all at the identity.
    fn identities(&mut self, inner: &For) -> Vec<Groups> {
        let mut all = vec![];
        for carry in &inner.carries {
            let dtype = self.dtype(carry.phi);
            let identity = carry.combine.expect("the verifier saw a combiner").identity(dtype).to_bits() as u64;
            let part = match dtype {
                DType::Bool if self.has_avx512 => {
                    let bits = self.int(if identity == 0 { 0 } else { 0xffff });
                    self.mask1(&ops::KMOV_FROM_R, bits)
                }
                DType::Bool => self.lanes_literal(if identity == 0 { 0 } else { 0xffff_ffff }, false),
                _ if dtype.is_float() => self.lanes_literal(identity, is_wide(dtype)),
                _ => {
                    let bits = integer_value(dtype, identity) as u64;
                    self.lanes_literal(if is_wide(dtype) { bits } else { bits & 0xffff_ffff }, is_wide(dtype))
                }
            };
            let parts: Parts = smallvec![part; vector::n_parts(dtype)];
            all.push(vec![parts; self.n_groups()]);
        }
        all
    }

    fn reduction_of_known_length(&mut self, inner: &'a For, scope: &LaneScope, n: i64, all: &mut Vec<Groups>) {
        let lanes = N_LANES as i64;
        let stop = n - n % lanes;
        if stop == lanes {
            self.at_constant(inner.id, 0, |me| *all = me.turn(inner, scope, all));
        } else if stop > 0 {
            let bounds = Bounds { start: Source::Imm(0), end: self.source(stop), step: lanes as i32, runs: true };
            self.turns(inner, scope, &bounds, all);
        }
        if stop == n {
            return;
        }
        if !self.has_avx512 {
            let bounds = Bounds { start: self.source(stop), end: self.source(n), step: 1, runs: true };
            return self.by_cells(inner, &bounds, all);
        }
        let scope = self.tail_scope(scope, n - stop);
        self.at_constant(inner.id, stop, |me| *all = me.masked_turn(inner, &scope, all));
    }

    fn reduction_of_unknown_length(&mut self, inner: &'a For, scope: &LaneScope, all: &mut Vec<Groups>) {
        let lanes = N_LANES as i32;
        let end = self.extent(inner.n);
        let end = self.source_reg(end);
        let stop = self.alu(Alu::And, true, end, Source::Imm(-lanes));
        let start = Source::Imm(0);
        self.turns(inner, scope, &Bounds { start, end: Source::Reg(stop), step: lanes, runs: false }, all);
        if !self.has_avx512 {
            let bounds = Bounds { start: Source::Reg(stop), end: Source::Reg(end), step: 1, runs: false };
            return self.by_cells(inner, &bounds, all);
        }
        self.if_any_rest(end, lanes.into(), |me, rest| {
            let scope = me.unknown_tail_scope(scope, rest);
            let mut results = vec![];
            me.at_register(inner.id, stop, |me| results = me.masked_turn(inner, &scope, all));
            for (variable, result) in all.iter().flatten().flatten().zip(results.iter().flatten().flatten()) {
                me.assign(*variable, *result);
            }
        });
    }

    /// Whole turns in a loop; afterwards the accumulators are its variables.
    fn turns(&mut self, inner: &'a For, scope: &LaneScope, bounds: &Bounds, all: &mut Vec<Groups>) {
        let inits: Vec<Reg> = all.iter().flatten().flatten().copied().collect();
        let variables: Vec<Reg> = inits.into_iter().map(|init| self.variable(init)).collect();
        let phis = regrouped(all, &variables);
        let watched = self.watched(inner);
        let masks: Vec<Reg> = watched.iter().map(|_| self.empty_mask()).collect();
        let both = [variables, masks.clone()].concat();
        self.counted(inner.id, bounds, &inner.body, &both, |me| {
            me.watched = watched.iter().map(|carry| carry.phi).zip(masks.iter().copied()).collect();
            let nexts = me.turn(inner, scope, &phis);
            let masks = std::mem::take(&mut me.watched).into_iter().map(|(_, mask)| mask);
            nexts.into_iter().flatten().flatten().chain(masks).collect()
        });
        *all = phis;
        for (carry, mask) in watched.into_iter().zip(masks) {
            let number = inner.carries.iter().position(|other| other.phi == carry.phi).expect("one of them");
            self.put_nan(carry, mask, &mut all[number]);
        }
    }

    /// Carries whose extreme is taken without looking for NaN, for which a mask looks: then accumulators wait for one
    /// instruction and not for three.
    fn watched<'c>(&self, inner: &'c For) -> Vec<&'c Carry> {
        let is_extreme = |carry: &&Carry| matches!(carry.combine, Some(Combine::Min | Combine::Max));
        let floats = inner.carries.iter().filter(is_extreme).filter(|carry| self.dtype(carry.phi).is_float());
        if self.has_avx512 { floats.collect() } else { vec![] }
    }

    fn empty_mask(&mut self) -> Reg {
        let none = self.int(0);
        let mask = self.mask1(&ops::KMOV_FROM_R, none);
        self.variable(mask)
    }

    /// NaN into the accumulators where the mask says; which lane it is makes no difference to the total.
    fn put_nan(&mut self, carry: &Carry, mask: Reg, groups: &mut Groups) {
        let shape = Shape::lanes(self.dtype(carry.phi)).for_machine(self.has_avx512);
        let nan = self.float_literal(shape, f64::NAN);
        groups[0][0] = self.choose(shape, mask, nan, groups[0][0]);
    }

    /// One iteration for each of the 16 lanes.
    fn turn(&mut self, inner: &'a For, scope: &LaneScope, all: &[Groups]) -> Vec<Groups> {
        let mut nexts = all.to_vec();
        let group = self.group() as i64;
        self.in_lanes(scope, |me| {
            for number in 0..me.n_groups() {
                if number > 0 {
                    me.move_counter(inner.id, group);
                }
                for (carry, groups) in inner.carries.iter().zip(all) {
                    let slot = me.lanes_slot(carry.phi, groups[number].clone());
                    me.set(carry.phi, slot);
                }
                me.block(&inner.body);
                for (carry, groups) in inner.carries.iter().zip(&mut nexts) {
                    groups[number] = me.group_of(carry.next);
                }
            }
        });
        nexts
    }

    /// One iteration for each of the lanes that exist; the others keep their accumulators.
    fn masked_turn(&mut self, inner: &'a For, scope: &LaneScope, all: &[Groups]) -> Vec<Groups> {
        let mut nexts = self.turn(inner, scope, all);
        let mask = scope.tail.expect("a scope with a tail").mask;
        for ((carry, groups), before) in inner.carries.iter().zip(&mut nexts).zip(all) {
            let dtype = self.dtype(carry.phi);
            groups[0] = if dtype == DType::Bool {
                smallvec![self.choose_mask(mask, groups[0][0], before[0][0])]
            } else {
                let masks: Parts =
                    if is_wide(dtype) { self.split_mask(mask).into_iter().collect() } else { smallvec![mask] };
                self.choose_parts(dtype, &masks, &groups[0], &before[0])
            };
        }
        nexts
    }

    fn lanes_slot(&self, value: ValueId, parts: Parts) -> Slot {
        if self.dtype(value) == DType::Bool { Slot::Mask(parts[0]) } else { Slot::Vector(parts) }
    }

    fn group_of(&mut self, value: ValueId) -> Parts {
        if self.dtype(value) == DType::Bool { smallvec![self.mask(value)] } else { self.vector(value) }
    }

    /// Iterations one by one, each into its lane, by way of memory.
    fn by_cells(&mut self, inner: &'a For, bounds: &Bounds, all: &mut [Groups]) {
        self.with_frame(|me| me.framed_by_cells(inner, bounds, all));
    }

    fn framed_by_cells(&mut self, inner: &'a For, bounds: &Bounds, all: &mut [Groups]) {
        let mut cells = vec![];
        for (carry, groups) in inner.carries.iter().zip(all.iter()) {
            let dtype = self.dtype(carry.phi);
            let memory = self.cells(dtype);
            for (number, parts) in groups.iter().enumerate() {
                let words: Parts =
                    if dtype == DType::Bool { smallvec![self.words_of_mask(parts[0])] } else { parts.clone() };
                self.parts_to_cells(&words, memory + self.group_bytes(dtype) * number as i32);
            }
            cells.push((memory, dtype));
        }
        self.counted(inner.id, bounds, &inner.body, &[], |me| {
            let counter = me.counter(inner.id);
            let lane = me.alu(Alu::And, true, counter, Source::Imm(N_LANES as i32 - 1));
            for (carry, &(memory, dtype)) in inner.carries.iter().zip(&cells) {
                let phi = me.load_cell(dtype, memory, lane);
                me.set(carry.phi, Slot::Scalar(phi));
            }
            me.block(&inner.body);
            for (carry, &(memory, dtype)) in inner.carries.iter().zip(&cells) {
                let next = me.scalar(carry.next);
                me.store_cell(dtype, memory, lane, next);
            }
            vec![]
        });
        for (groups, (memory, dtype)) in all.iter_mut().zip(cells) {
            for (number, group) in groups.iter_mut().enumerate() {
                let at = memory + self.group_bytes(dtype) * number as i32;
                *group = match self.reloaded(dtype, at) {
                    Slot::Vector(parts) => parts,
                    Slot::Mask(mask) => smallvec![mask],
                    slot => unreachable!("{slot:?} is not lanes"),
                };
            }
        }
    }

    fn group_bytes(&self, dtype: DType) -> i32 {
        (self.group() * if is_wide(dtype) { 8 } else { 4 }) as i32
    }

    /// The fixed tree over the 16 lanes: lane `l` takes in `l + 8`, then `l + 4`, `l + 2`, `l + 1`.
    fn tree(&mut self, carry: &Carry, groups: Groups) -> Reg {
        let (op, dtype) = (combiner(carry), self.dtype(carry.phi));
        if dtype == DType::Bool {
            return self.mask_tree(op, groups);
        }
        // The registers that hold the 16 lanes in order; halving brings lanes `l` and `l + s` together.
        let mut registers: Vec<Reg> = groups.into_iter().flatten().collect();
        let mut len = self.whole();
        while registers.len() > 1 {
            let (low, high) = registers.split_at(registers.len() / 2);
            let pairs: Vec<(Reg, Reg)> = low.iter().copied().zip(high.iter().copied()).collect();
            registers = pairs.into_iter().map(|(x, y)| self.lanes_binary(op, dtype, len, x, y)).collect();
        }
        let mut x = registers[0];
        while len > Len::L128 {
            let (extract, shorter) = match (len, self.has_avx512) {
                (Len::L512, _) => (&ops::EXTRACT256, Len::L256),
                (_, true) => (&ops::EXTRACT128_EVEX, Len::L128),
                (_, false) => (&ops::EXTRACT128, Len::L128),
            };
            let high = self.vec_inst(extract, len, Class::Vector, [None, Some(x), None], 1);
            len = shorter;
            x = self.lanes_binary(op, dtype, len, x, high);
        }
        let orders: &[u8] = if is_wide(dtype) { &[0x4e] } else { &[0x4e, 0xb1] };
        for &order in orders {
            let moved = self.vec_inst(&ops::PSHUFD, Len::L128, Class::Vector, [None, Some(x), None], order);
            x = self.lanes_binary(op, dtype, Len::L128, x, moved);
        }
        if dtype.is_float() {
            return x;
        }
        self.vec_inst(&ops::MOVD_R[usize::from(is_wide(dtype))], Len::L128, Class::Int, [None, Some(x), None], 0)
    }

    /// All, any or the parity of the lanes of masks.
    fn mask_tree(&mut self, op: Binary, groups: Groups) -> Reg {
        let masks: Vec<Reg> = groups.into_iter().flatten().collect();
        let (op_of_masks, all) = if self.has_avx512 { (&ops::KMOV_TO_R, 0xffff) } else { (&ops::MOVMSK, 0xff) };
        let mut mask = masks[0];
        for &other in &masks[1..] {
            mask = self.mask_binary(op, mask, other);
        }
        let len = if self.has_avx512 { Len::L128 } else { Len::L256 };
        let bits = self.vec_inst(op_of_masks, len, Class::Int, [None, Some(mask), None], 0);
        let test = |cond, value| Test { cond, wide: false, x: bits, y: Source::Imm(value) };
        match op {
            Binary::And | Binary::Min | Binary::Mul => {
                self.unary_int(|dst| Inst::Set { dst, test: test(Cond::Equal, all) })
            }
            Binary::Xor => {
                let count = self.unary_int(|dst| Inst::PopCount { wide: false, dst, x: bits });
                self.alu(Alu::And, false, count, Source::Imm(1))
            }
            _ => self.unary_int(|dst| Inst::Set { dst, test: test(Cond::NotEqual, 0) }),
        }
    }
}

fn combiner(carry: &Carry) -> Binary {
    carry.combine.expect("the verifier saw a combiner").binary()
}

/// Registers in the shape of `groups`.
fn regrouped(groups: &[Groups], regs: &[Reg]) -> Vec<Groups> {
    let mut regs = regs.iter().copied();
    let mut take = |parts: &Parts| parts.iter().map(|_| regs.next().expect("as many as before")).collect();
    groups.iter().map(|groups| groups.iter().map(&mut take).collect()).collect()
}
