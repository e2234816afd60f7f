//! Addresses, loads and stores.

use super::super::ops;
use super::vector::n_parts;
use super::*;
use crate::x86::inst::{Operand, VectorInst};

/// How an address moves over the lanes of a group.
enum Steps {
    /// The same for all.
    None,
    /// By so many elements.
    Known(i64),
    /// Each has its own.
    Any,
}

/// Elements in a buffer that indices of 32 bits can reach.
const FEW: i64 = 1 << 31;

impl Lower<'_, '_> {
    pub(super) fn pointer(&mut self, buffer: BufferId) -> Reg {
        if let Some(pointer) = self.pointers[buffer.index()] {
            return pointer;
        }
        let is_inside = |scope: &Scope| scope.swapped.contains(&buffer);
        let level = self.scopes.iter().rposition(is_inside).map_or(0, |number| number + 1);
        self.context_entry(Key::Pointer(buffer), host::buffer_entry(self.program, buffer), level)
    }

    /// The address of an element, its computed part the same for all lanes.
    pub(super) fn address(&mut self, buffer: BufferId, addr: &Addr) -> Reg {
        let mem = self.place(buffer, addr);
        let dst = self.reg(Class::Int);
        self.push(Inst::Lea { dst, mem });
        dst
    }

    /// The place of an element, that of the first lane in lanes. A computed part that varies is left out.
    fn place(&mut self, buffer: BufferId, addr: &Addr) -> Mem {
        let size = self.program.buffers[buffer.index()].dtype.size_bytes() as i64;
        let offset = addr.offset.filter(|&offset| !self.is_varying(offset)).map(|offset| self.scalar(offset));
        let mut base = addr.base;
        let mut moving: SmallVec<[(LoopId, Reg, Extent); 4]> = smallvec![];
        let mut pointer = self.pointer(buffer);
        for &(id, stride) in &addr.terms {
            let counter = self.counters[id.index()].expect("the verifier saw the loop open");
            match (stride, counter.reg) {
                (Extent::Const(0), _) => {}
                (Extent::Const(stride), reg) => {
                    base = base.wrapping_add(counter.plus.wrapping_mul(stride));
                    moving.extend(reg.map(|reg| (id, reg, Extent::Const(stride))));
                }
                (Extent::Size(_), _) => {
                    let counter = self.counter(id);
                    moving.push((id, counter, stride));
                }
            }
        }
        // Outer loops first, so that their part leaves inner loops.
        moving.sort_by_key(|&(_, counter, _)| self.level(counter));
        let scale = |bytes: i64| matches!(bytes, 1 | 2 | 4 | 8).then(|| bytes.trailing_zeros() as u8);
        let mut index = offset.zip(scale(size));
        let last = moving.len().wrapping_sub(1);
        for (number, &(id, counter, stride)) in moving.iter().enumerate() {
            pointer = match stride {
                Extent::Const(stride) => match scale(stride.wrapping_mul(size)) {
                    Some(scale) if number == last && index.is_none() => {
                        index = Some((counter, scale));
                        pointer
                    }
                    _ => self.advanced(pointer, id, counter, stride.wrapping_mul(size)),
                },
                Extent::Size(stride) => {
                    let stride = self.size(stride);
                    let elements = self.mul(true, counter, Source::Reg(stride));
                    let bytes = self.mul(true, elements, Source::Imm(size as i32));
                    self.alu(Alu::Add, true, pointer, Source::Reg(bytes))
                }
            };
        }
        let bytes = base.wrapping_mul(size);
        let disp = match i32::try_from(bytes) {
            // The last bytes of a group may lie a little further.
            Ok(disp) if disp < i32::MAX - 256 => disp,
            _ => {
                let bytes = self.int(bytes);
                pointer = self.alu(Alu::Add, true, pointer, Source::Reg(bytes));
                0
            }
        };
        Mem { index, ..Mem::at(pointer, disp) }
    }

    pub(super) fn mul(&mut self, wide: bool, x: Reg, y: Source) -> Reg {
        if y == Source::Imm(1) {
            return x;
        }
        let dst = self.reg(Class::Int);
        match y {
            Source::Imm(value) if value > 0 && value & (value - 1) == 0 => {
                self.push(Inst::ShiftImm { number: 4, wide, dst, x, by: value.trailing_zeros() as u8 });
            }
            y => self.push(Inst::Mul { wide, dst, x, y }),
        }
        dst
    }

    fn advanced(&mut self, pointer: Reg, id: LoopId, counter: Reg, bytes: i64) -> Reg {
        let key = Key::Advanced(pointer, id, bytes);
        if let Some(&reg) = self.known.get(&key) {
            return reg;
        }
        let dst = self.reg(Class::Int);
        if matches!(bytes, 1 | 2 | 4 | 8) {
            let index = Some((counter, bytes.trailing_zeros() as u8));
            self.push(Inst::Lea { dst, mem: Mem { index, ..Mem::at(pointer, 0) } });
        } else {
            let factor = self.source(bytes);
            let moved = self.mul(true, counter, factor);
            self.push(Inst::Alu { op: Alu::Add, wide: true, dst, x: pointer, y: Source::Reg(moved) });
        }
        self.remember(key, dst);
        dst
    }

    fn steps(&self, addr: &Addr) -> Steps {
        if addr.offset.is_some_and(|offset| self.is_varying(offset)) {
            return Steps::Any;
        }
        let Some(lanes) = &self.lanes else { return Steps::None };
        let mut step = 0;
        for &(id, stride) in &addr.terms {
            match stride {
                Extent::Const(stride) if id == lanes.id => step += stride,
                Extent::Size(_) if id == lanes.id => return Steps::Any,
                _ => {}
            }
        }
        if step == 0 { Steps::None } else { Steps::Known(step) }
    }

    /// The least number of open loops that a load from the buffer must stay in.
    fn load_level(&self, buffer: BufferId, inst: &Inst) -> usize {
        let stored = self.scopes.iter().rposition(|scope| scope.stored.contains(&buffer));
        self.level_of_reads(inst).max(stored.map_or(0, |number| number + 1)).max(self.load_floor)
    }

    fn push_load(&mut self, buffer: BufferId, inst: Inst) {
        let level = self.load_level(buffer, &inst);
        self.push_at(level, inst);
    }

    pub(super) fn load(&mut self, buffer: BufferId, addr: &Addr) -> Slot {
        let dtype = self.program.buffers[buffer.index()].dtype;
        match self.steps(addr) {
            Steps::None => {
                let mem = self.place(buffer, addr);
                Slot::Scalar(self.load_scalar(dtype, mem, Some(buffer)))
            }
            Steps::Known(1) => {
                let mem = self.place(buffer, addr);
                self.load_group(dtype, mem, buffer)
            }
            Steps::Known(step) if self.can_gather(buffer, Some(step)) => {
                let mem = self.place(buffer, addr);
                let index = self.lane_numbers(step);
                self.gather(dtype, mem, index, buffer)
            }
            Steps::Any if self.can_gather(buffer, None) && self.lane_stride(addr).is_some() => {
                let (mem, index) = self.indices(buffer, addr);
                self.gather(dtype, mem, index, buffer)
            }
            Steps::Known(_) | Steps::Any => self.with_frame(|me| me.load_each(buffer, addr)),
        }
    }

    /// Whether the machine's gathers reach the elements of a buffer, by steps of `step`.
    fn can_gather(&self, buffer: BufferId, step: Option<i64>) -> bool {
        let decl = &self.program.buffers[buffer.index()];
        let reaches = match step {
            Some(step) => step.unsigned_abs() < 1 << 26,
            None => matches!(decl.len, Extent::Const(n) if n < FEW),
        };
        reaches && matches!(decl.dtype.size_bytes(), 4 | 8) && !decl.dtype.is_complex()
    }

    fn can_scatter(&self, buffer: BufferId, step: Option<i64>) -> bool {
        self.has_avx512 && self.can_gather(buffer, step)
    }

    /// By how much an address moves with the vectorized loop's counter, if known.
    fn lane_stride(&self, addr: &Addr) -> Option<i64> {
        let id = self.lanes.as_ref()?.id;
        let mut step = 0i64;
        for &(term, stride) in &addr.terms {
            match stride {
                Extent::Const(stride) if term == id => step = step.wrapping_add(stride),
                Extent::Size(_) if term == id => return None,
                _ => {}
            }
        }
        Some(step)
    }

    /// The numbers of the lanes times `step`, as 32-bit lanes.
    fn lane_numbers(&mut self, step: i64) -> Reg {
        let bytes = (0..self.group() as i64).flat_map(|lane| ((lane * step) as i32).to_le_bytes()).collect();
        self.pattern(bytes)
    }

    /// A buffer's pointer and the elements that the lanes name. Positions are below 2³¹, so arithmetic modulo 2³²
    /// finds them.
    fn indices(&mut self, buffer: BufferId, addr: &Addr) -> (Mem, Reg) {
        let offset = addr.offset.expect("the address varies by its computed part");
        let parts = self.vector(offset);
        let mut index = self.low_words(parts[0], parts[1]);
        let step = self.lane_stride(addr).expect("asked before");
        if step != 0 {
            let numbers = self.lane_numbers(step);
            index = self.vec2(&ops::PADD[0], index, numbers);
        }
        let rest = self.uniform_elements(addr);
        if let Some(rest) = rest {
            let rest = self.splat_int(rest, false);
            index = self.vec2(&ops::PADD[0], index, rest);
        }
        let size = self.program.buffers[buffer.index()].dtype.size_bytes();
        let pointer = self.pointer(buffer);
        let _ = size;
        (Mem::at(pointer, 0), index)
    }

    /// The part of a position that is the same for all lanes, in elements; `None` if it is zero.
    fn uniform_elements(&mut self, addr: &Addr) -> Option<Reg> {
        let mut base = addr.base;
        let mut sum: Option<Reg> = None;
        for &(id, stride) in &addr.terms {
            let counter = self.counters[id.index()].expect("the verifier saw the loop open");
            let part = match (stride, counter.reg) {
                (Extent::Const(stride), reg) => {
                    base = base.wrapping_add(counter.plus.wrapping_mul(stride));
                    let Some(reg) = reg.filter(|_| stride != 0) else { continue };
                    let stride = self.source(stride);
                    self.mul(true, reg, stride)
                }
                (Extent::Size(stride), _) => {
                    let (counter, stride) = (self.counter(id), self.size(stride));
                    self.mul(true, counter, Source::Reg(stride))
                }
            };
            sum = Some(match sum {
                Some(sum) => self.alu(Alu::Add, true, sum, Source::Reg(part)),
                None => part,
            });
        }
        match (sum, base) {
            (sum, 0) => sum,
            (None, base) => Some(self.int(base)),
            (Some(sum), base) => {
                let base = self.source(base);
                Some(self.alu(Alu::Add, true, sum, base))
            }
        }
    }

    /// An address with the register of indices in place of the general index, which moves into the pointer.
    fn by_indices(&mut self, mem: Mem, index: Reg, size: usize) -> Mem {
        let mut mem = mem;
        if mem.index.is_some() {
            let dst = self.reg(Class::Int);
            self.push(Inst::Lea { dst, mem });
            mem = Mem::at(dst, 0);
        }
        Mem { index: Some((index, size.trailing_zeros() as u8)), ..mem }
    }

    fn gather(&mut self, dtype: DType, mem: Mem, index: Reg, buffer: BufferId) -> Slot {
        let wide = is_wide(dtype);
        let tails = self.tails(wide);
        let indices: Parts = if wide { smallvec![index, self.high_half(index)] } else { smallvec![index] };
        let mut parts: Parts = smallvec![];
        for (index, mask) in indices.into_iter().zip(tails) {
            let mem = self.by_indices(mem, index, dtype.size_bytes());
            let dst = self.reg(Class::Vector);
            self.push_load(buffer, Inst::Gather { wide, len: self.whole(), dst, mem, mask });
            parts.push(dst);
        }
        Slot::Vector(parts)
    }

    fn scatter(&mut self, dtype: DType, mem: Mem, index: Reg, value: ValueId) {
        let wide = is_wide(dtype);
        let (tails, values) = (self.tails(wide), self.vector(value));
        let indices: Parts = if wide { smallvec![index, self.high_half(index)] } else { smallvec![index] };
        for ((index, mask), src) in indices.into_iter().zip(tails).zip(values) {
            let mem = self.by_indices(mem, index, dtype.size_bytes());
            self.push(Inst::Scatter { wide, len: self.whole(), mem, src, mask });
        }
    }

    /// The masks of the lanes that exist, for each register of a value.
    pub(super) fn tails(&mut self, wide: bool) -> SmallVec<[Option<Reg>; 2]> {
        let tail = self.lanes.as_ref().and_then(|lanes| lanes.tail);
        match (tail, wide) {
            (None, false) => smallvec![None],
            (None, true) => smallvec![None, None],
            (Some(tail), false) => smallvec![Some(tail.mask)],
            (Some(tail), true) => {
                let high = self.mask_imm(&ops::KSHIFTR, tail.mask, 8);
                smallvec![Some(tail.mask), Some(high)]
            }
        }
    }

    /// Each lane's element by itself.
    fn load_each(&mut self, buffer: BufferId, addr: &Addr) -> Slot {
        let dtype = self.program.buffers[buffer.index()].dtype;
        let value_type = if is_half(dtype) { DType::F32 } else { dtype };
        let offsets = self.offset_cells(addr);
        let result = self.cells(value_type);
        self.each_existing_lane(|me, lane| {
            let mem = me.lane_place(buffer, addr, lane, offsets);
            let value = me.load_scalar(dtype, mem, None);
            me.store_cell(value_type, result, lane, value);
        });
        self.reloaded(value_type, result)
    }

    fn store_each(&mut self, buffer: BufferId, addr: &Addr, value: ValueId) {
        let dtype = self.program.buffers[buffer.index()].dtype;
        let value_type = self.dtype(value);
        let offsets = self.offset_cells(addr);
        let cells = self.spilled(value);
        self.each_existing_lane(|me, lane| {
            let mem = me.lane_place(buffer, addr, lane, offsets);
            let value = me.load_cell(value_type, cells, lane);
            me.store_scalar(dtype, value, mem);
        });
    }

    fn offset_cells(&mut self, addr: &Addr) -> Option<i32> {
        let offset = addr.offset.filter(|&offset| self.is_varying(offset))?;
        Some(self.spilled(offset))
    }

    /// The place of one lane's element.
    fn lane_place(&mut self, buffer: BufferId, addr: &Addr, lane: Reg, offsets: Option<i32>) -> Mem {
        let size = self.program.buffers[buffer.index()].dtype.size_bytes();
        let mem = self.place(buffer, addr);
        let mut elements = offsets.map(|cells| self.load_cell(DType::I64, cells, lane));
        let id = self.lanes.as_ref().expect("lanes are open").id;
        for &(term, stride) in &addr.terms {
            if term == id && stride != Extent::Const(0) {
                let stride = self.extent(stride);
                let moved = self.mul(true, lane, stride);
                elements = Some(match elements {
                    Some(elements) => self.alu(Alu::Add, true, elements, Source::Reg(moved)),
                    None => moved,
                });
            }
        }
        match elements {
            Some(elements) => self.by_indices(mem, elements, size),
            None => mem,
        }
    }

    pub(super) fn store(&mut self, buffer: BufferId, addr: &Addr, value: ValueId) {
        let dtype = self.program.buffers[buffer.index()].dtype;
        match self.steps(addr) {
            Steps::None => {
                let (mem, src) = (self.place(buffer, addr), self.scalar(value));
                self.store_scalar(dtype, src, mem);
            }
            Steps::Known(1) => {
                let mem = self.place(buffer, addr);
                self.store_group(dtype, value, mem);
            }
            Steps::Known(step) if self.can_scatter(buffer, Some(step)) => {
                let mem = self.place(buffer, addr);
                let index = self.lane_numbers(step);
                self.scatter(dtype, mem, index, value);
            }
            Steps::Any if self.can_scatter(buffer, None) && self.lane_stride(addr).is_some() => {
                let (mem, index) = self.indices(buffer, addr);
                self.scatter(dtype, mem, index, value);
            }
            Steps::Known(_) | Steps::Any => self.with_frame(|me| me.store_each(buffer, addr, value)),
        }
    }

    /// Reads a scalar, from a buffer or, if none is named, from where it stands in the order of instructions.
    pub(super) fn load_scalar(&mut self, dtype: DType, mem: Mem, buffer: Option<BufferId>) -> Reg {
        let class = if is_half(dtype) { Class::Int } else { class_of(dtype) };
        let dst = self.reg(class);
        let size_bytes = dtype.size_bytes() as u8;
        let inst = match class {
            Class::Int => Inst::Load { size_bytes, is_signed: is_signed(dtype), dst, mem },
            Class::Vector | Class::Mask => {
                let op = if size_bytes == 8 { &ops::MOVSD } else { &ops::MOVSS };
                let rm = Operand::Mem(mem);
                Inst::Vector(VectorInst { op, len: Len::L128, dst, middle: None, rm, fourth: None, mask: None, imm: 0 })
            }
        };
        match buffer {
            Some(buffer) => self.push_load(buffer, inst),
            None => self.push_at(self.scopes.len(), inst),
        }
        if is_half(dtype) { self.widened_scalar(dtype, dst) } else { dst }
    }

    pub(super) fn store_scalar(&mut self, dtype: DType, src: Reg, mem: Mem) {
        let size_bytes = dtype.size_bytes() as u8;
        if is_half(dtype) {
            let src = self.narrowed_scalar(dtype, src);
            return self.push(Inst::Store { size_bytes: 2, mem, src });
        }
        match class_of(dtype) {
            Class::Int => self.push(Inst::Store { size_bytes, mem, src }),
            Class::Vector | Class::Mask => {
                let op = if size_bytes == 8 { &ops::MOVSD_STORE } else { &ops::MOVSS_STORE };
                self.push(Inst::VectorStore { op, len: Len::L128, mem, src, mask: None, imm: 0 });
            }
        }
    }

    /// Reads a register from memory, only the lanes of the mask if there is one.
    fn load_vector(&mut self, op: &'static ops::VecOp, mem: Mem, mask: Option<Reg>, buffer: BufferId) -> Reg {
        let dst = self.reg(Class::Vector);
        let (len, rm) = (self.whole(), Operand::Mem(mem));
        self.push_load(buffer, Inst::Vector(VectorInst { op, len, dst, middle: None, rm, fourth: None, mask, imm: 0 }));
        dst
    }

    /// Reads consecutive elements.
    fn load_group(&mut self, dtype: DType, mem: Mem, buffer: BufferId) -> Slot {
        let wide = is_wide(dtype);
        let tails = self.tails(wide);
        let one = |reg| Slot::Vector(smallvec![reg]);
        match dtype {
            DType::F16 => one(self.load_vector(&ops::CVTPH2PS, mem, tails[0], buffer)),
            DType::BF16 => {
                let bits = self.load_vector(&ops::PMOVZX[1], mem, tails[0], buffer);
                one(self.vec_imm(&ops::PSLLI[0], bits, 16))
            }
            DType::Bool => {
                let words = self.load_vector(&ops::PMOVZX[0], mem, tails[0], buffer);
                Slot::Mask(self.is_nonzero(words))
            }
            _ if dtype.size_bytes() < 4 => {
                let ops = if is_signed(dtype) { &ops::PMOVSX } else { &ops::PMOVZX };
                one(self.load_vector(&ops[dtype.size_bytes() - 1], mem, tails[0], buffer))
            }
            _ => {
                let op = if wide { &ops::MOVUPD } else { &ops::MOVUPS };
                let step = self.whole().bytes() as i32;
                let parts = tails.into_iter().enumerate();
                let load = |(number, mask)| self.load_vector(op, mem.plus(step * number as i32), mask, buffer);
                Slot::Vector(parts.map(load).collect())
            }
        }
    }

    /// Writes consecutive elements.
    fn store_group(&mut self, dtype: DType, value: ValueId, mem: Mem) {
        let tails = self.tails(is_wide(dtype));
        let whole = self.whole();
        let store = |me: &mut Self, op: &'static ops::VecOp, len, mem, src, mask, imm| {
            me.push(Inst::VectorStore { op, len, mem, src, mask, imm });
        };
        match dtype.size_bytes() {
            4 | 8 => {
                let op = if is_wide(dtype) { &ops::MOVUPD_STORE } else { &ops::MOVUPS_STORE };
                let parts = self.vector(value);
                for (number, (src, mask)) in parts.into_iter().zip(tails).enumerate() {
                    store(self, op, whole, mem.plus((whole.bytes() * number) as i32), src, mask, 0);
                }
            }
            2 if dtype == DType::F16 => {
                let src = self.vector(value)[0];
                store(self, &ops::CVTPS2PH, whole, mem, src, tails[0], 0);
            }
            size_bytes => {
                let words = self.narrow_words(dtype, value);
                if self.has_avx512 {
                    let op = if size_bytes == 1 { &ops::PMOVDB } else { &ops::PMOVDW };
                    store(self, op, whole, mem, words, tails[0], 0);
                } else {
                    self.store_low_bytes(size_bytes, words, mem);
                }
            }
        }
    }

    /// The elements to be stored in the low bytes of 32-bit lanes.
    fn narrow_words(&mut self, dtype: DType, value: ValueId) -> Reg {
        match dtype {
            DType::Bool => {
                let (mask, one) = (self.mask(value), self.lanes_literal(1, false));
                self.keep_where(mask, one, false)
            }
            DType::BF16 => {
                let x = self.vector(value)[0];
                self.bf16_bits(self.whole(), x)
            }
            _ => self.vector(value)[0],
        }
    }

    /// The low one or two bytes of eight 32-bit lanes, one after the other.
    fn store_low_bytes(&mut self, size_bytes: usize, words: Reg, mem: Mem) {
        let order: [u8; 16] = if size_bytes == 1 {
            [0, 4, 8, 12, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255]
        } else {
            [0, 1, 4, 5, 8, 9, 12, 13, 255, 255, 255, 255, 255, 255, 255, 255]
        };
        let order = self.pattern(order.repeat(2));
        let packed = self.vec2(&ops::PSHUFB, words, order);
        let high = self.high_half(packed);
        let (join, op) =
            if size_bytes == 1 { (&ops::PUNPCKLDQ, &ops::MOVSD_STORE) } else { (&ops::PUNPCKLQDQ, &ops::MOVUPS_STORE) };
        let src = self.vec2_at(Len::L128, join, packed, high);
        self.push(Inst::VectorStore { op, len: Len::L128, mem, src, mask: None, imm: 0 });
    }

    /// Writes a whole register, of which `len` counts.
    pub(super) fn store_whole(&mut self, len: Len, wide: bool, mem: Mem, src: Reg) {
        let op = match (len, wide) {
            (Len::L128, true) => &ops::MOVSD_STORE,
            _ => &ops::MOVUPS_STORE,
        };
        self.push(Inst::VectorStore { op, len, mem, src, mask: None, imm: 0 });
    }

    // Cells: memory of this function with one scalar for each lane, of 4 or 8 bytes.

    fn cell_bytes(dtype: DType) -> usize {
        if is_wide(dtype) { 8 } else { 4 }
    }

    pub(super) fn cells(&mut self, dtype: DType) -> i32 {
        self.frame(N_LANES * Self::cell_bytes(dtype))
    }

    pub(super) fn cell(dtype: DType, cells: i32, lane: Reg) -> Mem {
        Mem { index: Some((lane, Self::cell_bytes(dtype).trailing_zeros() as u8)), ..Mem::frame(cells) }
    }

    /// Writes the lanes of a value to fresh cells.
    pub(super) fn spilled(&mut self, value: ValueId) -> i32 {
        let dtype = self.dtype(value);
        let cells = self.cells(dtype);
        let parts = if dtype == DType::Bool {
            let mask = self.mask(value);
            smallvec![self.words_of_mask(mask)]
        } else {
            self.vector(value)
        };
        self.parts_to_cells(&parts, cells);
        cells
    }

    pub(super) fn parts_to_cells(&mut self, parts: &[Reg], cells: i32) {
        let len = self.whole();
        for (number, &part) in parts.iter().enumerate() {
            self.store_whole(len, false, Mem::frame(cells + (len.bytes() * number) as i32), part);
        }
    }

    pub(super) fn reloaded(&mut self, dtype: DType, cells: i32) -> Slot {
        let len = self.whole();
        let parts: Parts = (0..n_parts(dtype))
            .map(|number| {
                let dst = self.reg(Class::Vector);
                let rm = Operand::Mem(Mem::frame(cells + (len.bytes() * number) as i32));
                let inst =
                    VectorInst { op: &ops::MOVUPS, len, dst, middle: None, rm, fourth: None, mask: None, imm: 0 };
                self.push_at(self.scopes.len(), Inst::Vector(inst));
                dst
            })
            .collect();
        if dtype == DType::Bool { Slot::Mask(self.is_nonzero(parts[0])) } else { Slot::Vector(parts) }
    }

    pub(super) fn load_cell(&mut self, dtype: DType, cells: i32, lane: Reg) -> Reg {
        let mem = Self::cell(dtype, cells, lane);
        match class_of(dtype) {
            Class::Vector | Class::Mask => self.load_scalar(dtype, mem, None),
            Class::Int => {
                let dst = self.reg(Class::Int);
                let size_bytes = Self::cell_bytes(dtype) as u8;
                self.push(Inst::Load { size_bytes, is_signed: false, dst, mem });
                if dtype == DType::Bool { self.alu(Alu::And, false, dst, Source::Imm(1)) } else { dst }
            }
        }
    }

    pub(super) fn store_cell(&mut self, dtype: DType, cells: i32, lane: Reg, src: Reg) {
        let mem = Self::cell(dtype, cells, lane);
        match class_of(dtype) {
            Class::Vector | Class::Mask => self.store_scalar(dtype, src, mem),
            Class::Int => self.push(Inst::Store { size_bytes: Self::cell_bytes(dtype) as u8, mem, src }),
        }
    }

    /// A small loop over all lanes of a group.
    pub(super) fn each_lane(&mut self, body: impl FnOnce(&mut Self, Reg)) {
        let n = Source::Imm(self.group() as i32);
        self.lane_loop(n, body);
    }

    /// A small loop over the lanes that exist.
    fn each_existing_lane(&mut self, body: impl FnOnce(&mut Self, Reg)) {
        let tail = self.lanes.as_ref().and_then(|lanes| lanes.tail);
        let n = tail.map_or(Source::Imm(self.group() as i32), |tail| tail.n);
        self.lane_loop(n, body);
    }

    fn lane_loop(&mut self, n: Source, body: impl FnOnce(&mut Self, Reg)) {
        let lane = self.reg(Class::Int);
        self.push_variable(Inst::Imm { dst: lane, value: 0 });
        let head = self.label();
        // Loads of the body are from cells or from elements that vary, so nothing moves out but what is pure.
        let floor = self.load_floor;
        self.open_scope(&[]);
        self.load_floor = self.scopes.len();
        self.push(Inst::LoopStart(head));
        self.regs[lane.index()].level = self.scopes.len() as u32;
        body(self, lane);
        let y = Source::Imm(1);
        self.push_variable(Inst::Alu { op: Alu::Add, wide: true, dst: lane, x: lane, y });
        self.push(Inst::Branch { test: Test { cond: Cond::Less, wide: true, x: lane, y: n }, label: head });
        self.push(Inst::LoopEnd);
        self.close_scope();
        self.load_floor = floor;
    }
}
