//! Addresses, loads and stores.

use cranelift_codegen::ir::{InstBuilder, Value, condcodes::IntCC, types};
use pullback_base::DType;
use pullback_loops::*;
use smallvec::smallvec;

use super::vector::{lane_type, n_parts};
use super::{Emitter, GROUP, Parts, Slot, constants, loads, scalar_type};

/// How an address moves over the lanes of a group.
enum Steps {
    /// The same for all.
    None,
    /// By so many elements.
    Known(i64),
    /// Each has its own.
    Any,
}

impl Emitter<'_, '_, '_> {
    pub(super) fn buffer_pointer(&mut self, buffer: BufferId) -> Value {
        if let Some(pointer) = self.pointers[buffer.index()] {
            return pointer;
        }
        let at = self.buffer_entry(buffer);
        let flags = if self.shared.swapped[buffer.index()] { loads() } else { constants() };
        self.fb.ins().load(types::I64, flags, self.context, at)
    }

    /// The address of an element, its computed part the same for all lanes.
    pub(super) fn pointer(&mut self, buffer: BufferId, addr: &Addr) -> Value {
        let offset = addr.offset.map(|offset| self.scalar(offset));
        let (pointer, displacement) = self.place(buffer, addr, offset, 0);
        if displacement == 0 { pointer } else { self.fb.ins().iadd_imm_s(pointer, i64::from(displacement)) }
    }

    /// The address of an element as a register and a displacement. `lane` counts on from the first of the group.
    fn place(&mut self, buffer: BufferId, addr: &Addr, offset: Option<Value>, lane: i64) -> (Value, i32) {
        let size = self.program.buffers[buffer.index()].dtype.size_bytes() as i64;
        let mut pointer = self.buffer_pointer(buffer);
        let mut base = addr.base;
        let lane_loop = self.lanes.as_ref().map(|lanes| lanes.id);
        // Outer loops first, so that their part leaves inner loops.
        let mut terms = addr.terms.clone();
        terms.sort_by_key(|&(id, _)| self.depth_of(id));
        for (id, stride) in terms {
            let counter = self.counters[id.index()].expect("the verifier saw the loop open");
            let lane = if lane_loop == Some(id) { lane } else { 0 };
            let moved = match stride {
                Extent::Const(0) => continue,
                Extent::Const(stride) => {
                    base = base.wrapping_add((counter.plus + lane).wrapping_mul(stride));
                    self.scaled(counter.value, stride * size)
                }
                Extent::Size(_) => {
                    let stride = self.extent(stride);
                    let bytes = self.scaled(stride, size);
                    let number = self.fb.ins().iadd_imm_s(counter.value, counter.plus + lane);
                    self.fb.ins().imul(number, bytes)
                }
            };
            pointer = self.fb.ins().iadd(pointer, moved);
        }
        if let Some(offset) = offset {
            let bytes = self.scaled(offset, size);
            pointer = self.fb.ins().iadd(pointer, bytes);
        }
        let displacement = base.wrapping_mul(size);
        match i32::try_from(displacement) {
            // The last bytes of a group may lie a little further.
            Ok(displacement) if displacement < i32::MAX - 64 => (pointer, displacement),
            _ => (self.fb.ins().iadd_imm_s(pointer, displacement), 0),
        }
    }

    fn depth_of(&self, id: LoopId) -> usize {
        // Counters of inner loops are registers made later.
        self.counters[id.index()].map_or(0, |counter| counter.value.as_u32() as usize)
    }

    fn scaled(&mut self, x: Value, factor: i64) -> Value {
        match factor {
            1 => x,
            _ if factor > 0 && factor & (factor - 1) == 0 => {
                self.fb.ins().ishl_imm_u(x, i64::from(factor.trailing_zeros()))
            }
            _ => self.fb.ins().imul_imm_s(x, factor),
        }
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

    pub(super) fn load(&mut self, buffer: BufferId, addr: &Addr) -> Slot {
        let dtype = self.program.buffers[buffer.index()].dtype;
        match self.steps(addr) {
            Steps::None => {
                let offset = addr.offset.map(|offset| self.scalar(offset));
                let (pointer, displacement) = self.place(buffer, addr, offset, 0);
                Slot::Scalar(self.load_scalar(dtype, pointer, displacement))
            }
            Steps::Known(1) => {
                let offset = addr.offset.map(|offset| self.scalar(offset));
                let (pointer, displacement) = self.place(buffer, addr, offset, 0);
                self.load_group(dtype, pointer, displacement)
            }
            Steps::Known(_) | Steps::Any => {
                let lanes: Vec<Value> = (0..GROUP)
                    .map(|lane| {
                        let offset = addr.offset.map(|offset| self.lane(offset, lane));
                        let (pointer, displacement) = self.place(buffer, addr, offset, lane as i64);
                        self.load_scalar(dtype, pointer, displacement)
                    })
                    .collect();
                let value_type = if is_half(dtype) { DType::F32 } else { dtype };
                self.group_from(value_type, &lanes)
            }
        }
    }

    pub(super) fn store(&mut self, buffer: BufferId, addr: &Addr, value: ValueId) {
        let dtype = self.program.buffers[buffer.index()].dtype;
        match self.steps(addr) {
            Steps::None => {
                let offset = addr.offset.map(|offset| self.scalar(offset));
                let (pointer, displacement) = self.place(buffer, addr, offset, 0);
                let register = self.scalar(value);
                self.store_scalar(dtype, register, pointer, displacement);
            }
            Steps::Known(1) => {
                let offset = addr.offset.map(|offset| self.scalar(offset));
                let (pointer, displacement) = self.place(buffer, addr, offset, 0);
                let parts = if dtype == DType::Bool { self.mask(value, false) } else { self.vector(value) };
                self.store_group(dtype, &parts, pointer, displacement);
            }
            Steps::Known(_) | Steps::Any => {
                for lane in 0..GROUP {
                    let offset = addr.offset.map(|offset| self.lane(offset, lane));
                    let (pointer, displacement) = self.place(buffer, addr, offset, lane as i64);
                    let register = self.lane(value, lane);
                    self.store_scalar(dtype, register, pointer, displacement);
                }
            }
        }
    }

    pub(super) fn load_scalar(&mut self, dtype: DType, pointer: Value, displacement: i32) -> Value {
        if is_half(dtype) {
            let bits = self.fb.ins().uload16(types::I32, loads(), pointer, displacement);
            return self.widen(dtype, bits);
        }
        self.fb.ins().load(scalar_type(dtype), loads(), pointer, displacement)
    }

    pub(super) fn store_scalar(&mut self, dtype: DType, register: Value, pointer: Value, displacement: i32) {
        if is_half(dtype) {
            let bits = self.narrow(dtype, register);
            self.fb.ins().istore16(loads(), bits, pointer, displacement);
        } else {
            self.fb.ins().store(loads(), register, pointer, displacement);
        }
    }

    /// Reads consecutive elements.
    pub(super) fn load_group(&mut self, dtype: DType, pointer: Value, displacement: i32) -> Slot {
        if is_half(dtype) {
            let half = self.load_part(DType::U16, pointer, displacement);
            let words = self.widened(false, half);
            return Slot::Vector(smallvec![self.widen(dtype, words)]);
        }
        if dtype == DType::Bool {
            let bytes = self.load_part(dtype, pointer, displacement);
            let words = self.widened(false, bytes);
            let zero = self.bits_constant(types::I32X4, 0);
            return Slot::Mask(smallvec![self.fb.ins().icmp(IntCC::NotEqual, words, zero)]);
        }
        let parts = (0..n_parts(dtype)).map(|part| self.load_part(dtype, pointer, displacement + 16 * part as i32));
        Slot::Vector(parts.collect())
    }

    /// Reads one register of consecutive elements; of narrow types only the bytes of the group.
    fn load_part(&mut self, dtype: DType, pointer: Value, displacement: i32) -> Value {
        let ty = lane_type(dtype);
        let (word, words) = match dtype.size_bytes() {
            1 => (types::I32, types::I32X4),
            2 => (types::I64, types::I64X2),
            _ => return self.fb.ins().load(ty, loads(), pointer, displacement),
        };
        let word = self.fb.ins().load(word, loads(), pointer, displacement);
        let words = self.fb.ins().scalar_to_vector(words, word);
        self.bitcast(ty, words)
    }

    /// Writes consecutive elements; booleans come as a mask of 32-bit lanes.
    pub(super) fn store_group(&mut self, dtype: DType, parts: &Parts, pointer: Value, displacement: i32) {
        let mut parts = parts.clone();
        if is_half(dtype) {
            let words = self.narrow(dtype, parts[0]);
            parts[0] = self.narrowed(2, words);
        } else if dtype == DType::Bool {
            let one = self.bits_constant(types::I32X4, 1);
            let words = self.fb.ins().band(parts[0], one);
            parts[0] = self.narrowed(1, words);
        }
        let words = match dtype.size_bytes() {
            1 => types::I32X4,
            2 => types::I64X2,
            _ => {
                for (number, part) in parts.into_iter().enumerate() {
                    self.fb.ins().store(loads(), part, pointer, displacement + 16 * number as i32);
                }
                return;
            }
        };
        let whole = self.bitcast(words, parts[0]);
        let word = self.fb.ins().extractlane(whole, 0);
        self.fb.ins().store(loads(), word, pointer, displacement);
    }
}

pub(super) fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}
