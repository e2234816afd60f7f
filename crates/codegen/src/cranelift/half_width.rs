//! Half-width floats by integer arithmetic on 32-bit registers, scalars or lanes alike.
//!
//! The bits stand in the low half of each 32-bit integer. What comes out is what the interpreter's conversions give.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, InstBuilder, Value, types};
use pullback_base::DType;

use super::Emitter;

/// From the exponent bias of 15 to that of 127.
const REBIAS: u64 = 112 << 23;

impl Emitter<'_, '_, '_> {
    /// The `float32` values of half-width bits.
    pub(super) fn widen(&mut self, dtype: DType, x: Value) -> Value {
        let ty = self.fb.func.dfg.value_type(x);
        let float = float_of(ty);
        if dtype == DType::BF16 {
            let moved = self.shifted_left(x, 16);
            return self.bitcast(float, moved);
        }
        let magnitude = self.and_bits(x, 0x7fff);
        let sign = self.and_bits(x, 0x8000);
        let sign = self.shifted_left(sign, 16);
        let moved = self.shifted_left(magnitude, 13);
        let rebias = self.bits_constant(ty, REBIAS);
        let normal = self.fb.ins().iadd(moved, rebias);
        let special = self.fb.ins().iadd(normal, rebias);
        // Subnormals by conversion: as bits they would be subnormal here too, and flushed.
        let small = self.fb.ins().fcvt_from_sint(float, magnitude);
        let unit = self.float_like(small, 2f64.powi(-24));
        let small = self.fb.ins().fmul(small, unit);
        let small = self.bitcast(ty, small);
        let (least, infinity) = (self.bits_constant(ty, 0x0400), self.bits_constant(ty, 0x7c00));
        let is_small = self.fb.ins().icmp(IntCC::SignedLessThan, magnitude, least);
        let result = self.choose(is_small, small, normal);
        let is_special = self.fb.ins().icmp(IntCC::SignedGreaterThanOrEqual, magnitude, infinity);
        let result = self.choose(is_special, special, result);
        let result = self.fb.ins().bor(result, sign);
        self.bitcast(float, result)
    }

    /// The half-width bits nearest to `float32` values, ties to even.
    pub(super) fn narrow(&mut self, dtype: DType, x: Value) -> Value {
        let float = self.fb.func.dfg.value_type(x);
        let ty = if float.is_vector() { types::I32X4 } else { types::I32 };
        let bits = self.bitcast(ty, x);
        let magnitude = self.and_bits(bits, 0x7fff_ffff);
        let infinity = self.bits_constant(ty, 0x7f80_0000);
        let is_nan = self.fb.ins().icmp(IntCC::SignedGreaterThan, magnitude, infinity);
        if dtype == DType::BF16 {
            let rounded = self.drop_bits(bits, 16, 0);
            let cut = self.shifted_right(bits, 16);
            let quiet = self.bits_constant(ty, 0x40);
            let nan = self.fb.ins().bor(cut, quiet);
            return self.choose(is_nan, nan, rounded);
        }
        let normal = self.drop_bits(magnitude, 13, REBIAS);
        let most = self.bits_constant(ty, 0x7c00);
        let is_over = self.fb.ins().icmp(IntCC::SignedGreaterThan, normal, most);
        let normal = self.choose(is_over, most, normal);
        // Adding a half moves the last place of subnormals to the last bit.
        let value = self.bitcast(float, magnitude);
        let half = self.float_like(value, 0.5);
        let sum = self.fb.ins().fadd(value, half);
        let sum = self.bitcast(ty, sum);
        let half_bits = self.bits_constant(ty, 0x3f00_0000);
        let small = self.fb.ins().isub(sum, half_bits);
        let least = self.bits_constant(ty, 0x3880_0000);
        let is_small = self.fb.ins().icmp(IntCC::SignedLessThan, magnitude, least);
        let result = self.choose(is_small, small, normal);
        let nan = self.bits_constant(ty, 0x7e00);
        let result = self.choose(is_nan, nan, result);
        let sign = self.shifted_right(bits, 16);
        let sign = self.and_bits(sign, 0x8000);
        self.fb.ins().bor(result, sign)
    }

    /// `x >> n` rounded to nearest even, after `less` was taken off.
    fn drop_bits(&mut self, x: Value, n: i64, less: u64) -> Value {
        let ty = self.fb.func.dfg.value_type(x);
        let last = self.shifted_right(x, n);
        let last = self.and_bits(last, 1);
        let below_half = self.bits_constant(ty, (1 << (n - 1)) - 1);
        let sum = self.fb.ins().iadd(x, below_half);
        let sum = self.fb.ins().iadd(sum, last);
        let less = self.bits_constant(ty, less);
        let sum = self.fb.ins().isub(sum, less);
        self.shifted_right(sum, n)
    }

    /// A shift by a scalar amount, which lanes need too.
    fn shifted_left(&mut self, x: Value, n: i64) -> Value {
        let n = self.fb.ins().iconst(types::I32, n);
        self.fb.ins().ishl(x, n)
    }

    fn shifted_right(&mut self, x: Value, n: i64) -> Value {
        let n = self.fb.ins().iconst(types::I32, n);
        self.fb.ins().ushr(x, n)
    }

    fn and_bits(&mut self, x: Value, mask: u64) -> Value {
        let ty = self.fb.func.dfg.value_type(x);
        let mask = self.bits_constant(ty, mask);
        self.fb.ins().band(x, mask)
    }
}

fn float_of(ty: ir::Type) -> ir::Type {
    if ty.is_vector() { types::F32X4 } else { types::F32 }
}
