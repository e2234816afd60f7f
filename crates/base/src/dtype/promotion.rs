//! The promotion lattice: which element type a binary operation on two others has.
//!
//! Strong types sit at nodes; Python scalars and other weakly typed values sit at three weak nodes (`i*`, `f*`,
//! `c*`), below the strong types of their kind. The result is the least upper bound. Where none exists, the
//! promotion is an error. Narrowing to 32 bits when `x64` is off happens at the end.

use std::sync::LazyLock;

use super::{DType, Kind};
use crate::error::{Error, ErrorKind, Result};

use DType::*;

/// An element type with its weak type, as an operand of a promotion.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Typed {
    /// Element type.
    pub dtype: DType,
    /// Whether it yields to strong types.
    pub weak_type: bool,
}

/// What a promotion gives.
pub type Promotion = Typed;

const N_NODES: usize = 33;
const WEAK_INT: usize = 30;
const WEAK_FLOAT: usize = 31;
const WEAK_COMPLEX: usize = 32;

const FLOAT8: [DType; 9] =
    [F4E2M1FN, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F8E8M0FNU];

fn direct_uppers(node: usize) -> Vec<usize> {
    let index = |types: &[DType]| types.iter().map(|&dtype| dtype as usize).collect::<Vec<_>>();
    match node {
        WEAK_INT => index(&[I2, U2, I4, U4, I8, U8]),
        WEAK_FLOAT => [index(&FLOAT8), index(&[BF16, F16]), vec![WEAK_COMPLEX]].concat(),
        WEAK_COMPLEX => index(&[C64]),
        _ => match DType::ALL[node] {
            Bool => vec![WEAK_INT],
            U8 => index(&[I16, U16]),
            U16 => index(&[I32, U32]),
            U32 => index(&[I64, U64]),
            I8 => index(&[I16]),
            I16 => index(&[I32]),
            I32 => index(&[I64]),
            I64 | U64 => vec![WEAK_FLOAT],
            BF16 | F16 => index(&[F32]),
            F32 => index(&[F64, C64]),
            F64 | C64 => index(&[C128]),
            _ => vec![],
        },
    }
}

/// For each node the bit set of nodes at or above it.
static UPPERS: LazyLock<[u64; N_NODES]> = LazyLock::new(|| {
    let mut uppers = [0; N_NODES];
    for (node, upper) in uppers.iter_mut().enumerate() {
        let mut open = vec![node];
        while let Some(next) = open.pop() {
            if *upper & (1 << next) == 0 {
                *upper |= 1 << next;
                open.extend(direct_uppers(next));
            }
        }
    }
    uppers
});

fn node_of(typed: Typed) -> usize {
    match (typed.weak_type, typed.dtype.kind()) {
        (true, Kind::Signed | Kind::Unsigned) => WEAK_INT,
        (true, Kind::Float) => WEAK_FLOAT,
        (true, Kind::Complex) => WEAK_COMPLEX,
        _ => typed.dtype as usize,
    }
}

fn least_upper_bound(nodes: &[usize]) -> Option<usize> {
    let common = nodes.iter().fold(u64::MAX, |set, &node| set & UPPERS[node]);
    (0..N_NODES).find(|&node| common & (1 << node) != 0 && UPPERS[node] == common)
}

fn type_of_node(node: usize) -> DType {
    match node {
        WEAK_INT => I64,
        WEAK_FLOAT => F64,
        WEAK_COMPLEX => C128,
        strong => DType::ALL[strong],
    }
}

/// The type of an operation on operands of the given types.
///
/// # Errors
/// [`ErrorKind::TypePromotion`] when no implicit path exists, for example between `int4` and `float32`.
pub fn promote_all(operands: &[Typed], x64: bool) -> Result<Promotion> {
    let narrow = |dtype: DType| if x64 { dtype } else { dtype.narrowed() };
    let first = operands[0];
    let all_weak = operands.iter().all(|operand| operand.weak_type);
    if operands.iter().all(|operand| operand.dtype == first.dtype) {
        return Ok(Typed { dtype: narrow(first.dtype), weak_type: all_weak });
    }
    let nodes: Vec<usize> = operands
        .iter()
        .map(|&operand| node_of(Typed { weak_type: operand.weak_type && !all_weak, ..operand }))
        .collect();
    let Some(node) = least_upper_bound(&nodes) else { return Err(no_path(operands)) };
    let weak_type = all_weak || node >= WEAK_INT;
    Ok(Typed { dtype: narrow(type_of_node(node)), weak_type })
}

/// The type of a binary operation.
///
/// # Errors
/// As [`promote_all`].
pub fn promote(a: Typed, b: Typed, x64: bool) -> Result<Promotion> {
    promote_all(&[a, b], x64)
}

fn no_path(operands: &[Typed]) -> Error {
    let names: Vec<String> = operands.iter().map(|operand| format!("'{}'", operand.dtype)).collect();
    let text = format!(
        "Input dtypes ({}) have no available implicit dtype promotion path. Convert one of them, for example with \
         x.astype(...).",
        names.join(", ")
    );
    Error::new(ErrorKind::TypePromotion, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows and columns of the reference's table with 64-bit types off; `*` marks weak types.
    const TABLE: &str = "
        .    i*   i8   i16  i32  u8   u32  f*   bf16 f16  f32  c*   c64
        bool i32* i8   i16  i32  u8   u32  f32* bf16 f16  f32  c64* c64
        i*   i32* i8   i16  i32  u8   u32  f32* bf16 f16  f32  c64* c64
        i8   i8   i8   i16  i32  i16  i32  f32* bf16 f16  f32  c64* c64
        i16  i16  i16  i16  i32  i16  i32  f32* bf16 f16  f32  c64* c64
        i32  i32  i32  i32  i32  i32  i32  f32* bf16 f16  f32  c64* c64
        u8   u8   i16  i16  i32  u8   u32  f32* bf16 f16  f32  c64* c64
        u32  u32  i32  i32  i32  u32  u32  f32* bf16 f16  f32  c64* c64
        f*   f32* f32* f32* f32* f32* f32* f32* bf16 f16  f32  c64* c64
        bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32  f32  c64  c64
        f16  f16  f16  f16  f16  f16  f16  f16  f32  f16  f32  c64  c64";

    fn typed(name: &str) -> Typed {
        match name {
            "i*" | "i32*" => Typed { dtype: I32, weak_type: true },
            "f*" | "f32*" => Typed { dtype: F32, weak_type: true },
            "c*" | "c64*" => Typed { dtype: C64, weak_type: true },
            strong => Typed { dtype: DType::parse(strong).expect("a known name"), weak_type: false },
        }
    }

    #[test]
    fn the_table_of_the_reference_holds() {
        let mut rows = TABLE.trim().lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let columns = rows.next().expect("a header");
        for row in rows {
            for (column, want) in columns.iter().zip(&row).skip(1) {
                let got = promote(typed(row[0]), typed(column), false).expect("a path");
                assert_eq!(got, typed(want), "{} with {column}", row[0]);
                assert_eq!(got, promote(typed(column), typed(row[0]), false).expect("a path"));
            }
        }
    }

    #[test]
    fn with_64_bits() {
        let check = |a: DType, b: DType, want: DType, weak_type: bool| {
            let strong = |dtype| Typed { dtype, weak_type: false };
            assert_eq!(promote(strong(a), strong(b), true).expect("a path"), Typed { dtype: want, weak_type });
        };
        check(I32, U32, I64, false);
        check(I64, U64, F64, true);
        check(F32, F64, F64, false);
        check(C64, F64, C128, false);
        check(F16, BF16, F32, false);
    }

    #[test]
    fn small_types_promote_only_with_themselves() {
        let strong = |dtype| Typed { dtype, weak_type: false };
        assert!(promote(strong(I4), strong(F32), false).is_err());
        assert_eq!(promote(strong(I4), typed("i*"), false).expect("a path").dtype, I4);
        assert_eq!(promote(strong(F8E5M2), typed("f*"), false).expect("a path").dtype, F8E5M2);
    }
}
