//! What a program asks for, operation by operation, before any is fused with another.
//!
//! The measures are those of XLA's analysis of a program that it has not compiled: an elementwise operation on floats is
//! one per element, a contraction two per product, a reduction one per element taken in; functions such as `sine` count
//! apart; bytes are those of operands and results, of a part only those of the part. A loop counts as often as it runs when that is known, else once; of
//! branches the dearest counts.

use pullback_base::Aval;
use pullback_ir::hlo::HloValue;

/// Costs of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Arithmetic operations.
    pub flops: f64,
    /// Functions that take many of them.
    pub transcendentals: f64,
    /// Bytes of operands and results.
    pub bytes: f64,
}

impl Cost {
    /// One after the other.
    pub(crate) fn add(&mut self, other: Cost) {
        self.flops += other.flops;
        self.transcendentals += other.transcendentals;
        self.bytes += other.bytes;
    }

    /// As often as `times` says.
    pub(crate) fn times(self, times: f64) -> Cost {
        Cost { flops: self.flops * times, transcendentals: self.transcendentals * times, bytes: self.bytes * times }
    }

    /// The dearer of two in each measure.
    pub(crate) fn max(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.max(other.flops),
            transcendentals: self.transcendentals.max(other.transcendentals),
            bytes: self.bytes.max(other.bytes),
        }
    }

    /// The cost of one operation without regions.
    pub(crate) fn of(name: &str, attributes: &str, ins: &[HloValue], outs: &[Aval]) -> Cost {
        let mut cost = Cost { bytes: touched(name, ins, outs), ..Cost::default() };
        let size = outs.iter().map(|out| out.size()).sum::<usize>() as f64;
        match kind(name) {
            Kind::Free => {}
            Kind::Elementwise => cost.flops = size,
            Kind::Transcendental => cost.transcendentals = size,
            Kind::Contraction => cost.flops = 2.0 * size * contracted(attributes, ins[0].aval),
            Kind::Reduction => cost.flops = ins[0].aval.size() as f64 - size,
        }
        cost
    }
}

/// Bytes of operands and results.
fn bytes(ins: &[HloValue], outs: &[Aval]) -> f64 {
    let ins = ins.iter().map(|x| x.aval.size_bytes()).sum::<usize>();
    (ins + outs.iter().map(|out| out.size_bytes()).sum::<usize>()) as f64
}

/// Bytes that an operation reads and writes: of a part only the part, and none to see elements in another order.
pub(crate) fn touched(name: &str, ins: &[HloValue], outs: &[Aval]) -> f64 {
    let twice = |aval: Aval| 2.0 * aval.size_bytes() as f64;
    match name {
        "stablehlo.transpose" => 0.0,
        "stablehlo.slice" | "stablehlo.dynamic_slice" => twice(outs[0]),
        "stablehlo.dynamic_update_slice" => twice(ins[1].aval),
        "stablehlo.gather" => twice(outs[0]) + bytes(&ins[1..], &[]),
        // Updates are read, and what they join is read and written.
        "stablehlo.scatter" => twice(ins[2].aval) + bytes(&ins[1..], &[]),
        _ => bytes(ins, outs),
    }
}

enum Kind {
    /// It moves elements.
    Free,
    Elementwise,
    Transcendental,
    Contraction,
    Reduction,
}

fn kind(name: &str) -> Kind {
    let Some(short) = name.strip_prefix("stablehlo.") else { return Kind::Transcendental };
    match short {
        "iota"
        | "broadcast_in_dim"
        | "reshape"
        | "transpose"
        | "slice"
        | "pad"
        | "concatenate"
        | "reverse"
        | "dynamic_slice"
        | "dynamic_update_slice"
        | "bitcast_convert"
        | "gather"
        | "custom_call"
        | "optimization_barrier"
        | "real"
        | "imag"
        | "complex" => Kind::Free,
        "exponential"
        | "exponential_minus_one"
        | "log"
        | "log_plus_one"
        | "sine"
        | "cosine"
        | "tan"
        | "tanh"
        | "logistic"
        | "sqrt"
        | "rsqrt"
        | "cbrt"
        | "power"
        | "atan2" => Kind::Transcendental,
        "dot_general" => Kind::Contraction,
        "reduce" => Kind::Reduction,
        _ => Kind::Elementwise,
    }
}

/// Number of products in an element of a contraction: the sizes that `contracting_dims = [1] x [0]` names.
fn contracted(attributes: &str, left: Aval) -> f64 {
    let Some((_, axes)) = attributes.split_once("contracting_dims = [") else { return 1.0 };
    let axes = axes.split(']').next().unwrap_or_default();
    axes.split(", ").filter_map(|axis| axis.parse::<usize>().ok()).map(|axis| left.shape[axis] as f64).product()
}
