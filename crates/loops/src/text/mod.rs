//! Programs as text: what [`Display`](std::fmt::Display) prints, [`parse`] reads back.
//!
//! ```text
//! program "sum" sizes 1 {
//!   b0: float32[s0] input 0
//!   b1: float32[1] output 0
//!   v0: float32 = const 0.0
//!   for i0 < s0 lanes carry (v1 from v0 next v3 out v4 by add) {
//!     v2: float32 = load b0[i0*1]
//!     v3: float32 = add v1 v2
//!   }
//!   store b1[0] v4
//! }
//! ```
//! A call of a host function prints its name and does not parse: the function is not in the text.

mod parse;
mod print;

pub use parse::parse;

use crate::program::{Binary, Combine, Comparison, LoopKind, Unary};

/// The names of an operation's cases, for both directions.
macro_rules! names {
    ($($type:ident: $($case:ident $name:literal)*;)*) => {$(
        impl $type {
            /// The name in printed programs.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$case => $name,)*
                }
            }

            /// The case with the given name.
            pub fn named(name: &str) -> Option<$type> {
                match name {
                    $($name => Some($type::$case),)*
                    _ => None,
                }
            }
        }
    )*};
}
names! {
    Unary: Neg "neg" Abs "abs" Not "not" Sqrt "sqrt" Floor "floor" Ceil "ceil" Trunc "trunc" RoundEven "round_even"
        RoundAway "round_away" Sign "sign" IsFinite "is_finite" PopCount "pop_count" LeadingZeros "leading_zeros"
        Exp "exp" Exp2 "exp2" Expm1 "expm1" Log "log" Log2 "log2" Log1p "log1p" Sin "sin" Cos "cos" Tan "tan"
        Asin "asin" Acos "acos" Atan "atan" Sinh "sinh" Cosh "cosh" Asinh "asinh" Acosh "acosh" Atanh "atanh"
        Tanh "tanh" Logistic "logistic" Erf "erf" Erfc "erfc" ErfInv "erf_inv" Rsqrt "rsqrt" Cbrt "cbrt"
        Lgamma "lgamma" Digamma "digamma";
    Binary: Add "add" Sub "sub" Mul "mul" Div "div" Rem "rem" Min "min" Max "max" And "and" Or "or" Xor "xor"
        ShiftLeft "shift_left" ShiftRightLogical "shift_right_logical" ShiftRightArithmetic "shift_right_arithmetic"
        Scale "scale" Pow "pow" Atan2 "atan2";
    Comparison: Eq "eq" Ne "ne" Lt "lt" Le "le" Gt "gt" Ge "ge";
    Combine: Add "add" Mul "mul" Min "min" Max "max" And "and" Or "or" Xor "xor";
    LoopKind: Seq "seq" Lanes "lanes" Parallel "parallel";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::verify;

    /// The text reads back as a valid program that prints the same.
    fn check(text: &str) {
        let program = parse(text).expect("it parses");
        assert_eq!(verify(&program), Ok(()));
        assert_eq!(program.to_string(), text);
    }

    #[test]
    fn programs_survive_a_round_trip() {
        check(
            r#"program "sum" sizes 1 {
  b0: float32[s0] input 0
  b1: float32[1] output 0
  v0: float32 = const 0.0
  for i0 < s0 lanes carry (v1 from v0 next v3 out v4 by add) {
    v2: float32 = load b0[i0*1]
    v3: float32 = add v1 v2
  }
  store b1[0] v4
}
"#,
        );
        check(
            r#"program "all" sizes 2 {
  b0: float32[64] input 0
  b1: bool[64] output 0
  b2: bfloat16[64] temp
  b3: bfloat16[64] temp
  b4: int64[2] const #01000000000000000200000000000000
  b5: float32[64] output 1
  b6: float32[64] output 2
  v0: int64 = const -3
  v1: float32 = const #7fc00001
  v2: float64 = const -inf
  v3: bool = const True
  v4: int64 = size 1
  for i0 < 8 parallel {
    for i1 < 8 seq carry (v5 from v0 next v7 out v8, v6 from v3 next v9 out v10) {
      v7: int64 = index i1
      v11: float32 = load b0[1 + i0*s1 + i1*2 + v7]
      v9: bool = is_finite v11
      v12: float32 = fma v11 v11 v1
      v13: float32 = select v9 v12 v11
      v14: float32 = round bfloat16 v13
      v15: int32 = bitcast v14
      v16: float64 = convert v15
      v17: bool = le v16 v2
      store b1[i0*8 + i1*1] v17
      store b2[0] v14
    }
  }
  while carry (v18 from v0 next v20 out v21) {
    v19: bool = lt v18 v4
  } on v19 {
    v20: int64 = add v18 v4
    swap b2 b3
  }
  switch v21 {
  } {
    call gemm float32 sizes [1 1 2 2 3] lhs [0 0 3 1] rhs [0 0 1 3] out [0 0 2 1] (b0[0] b0[8] b5[0])
  } {
    call sort [float32] sizes [1 64 1] keys 1 (b0[0] b6[0])
    call copy 4 (b0[0] b6[v21])
  }
}
"#,
        );
    }

    #[test]
    fn errors_name_the_place() {
        let check = |text: &str, want: &str| {
            let error = parse(text).expect_err("it does not parse");
            assert!(error.message().contains(want), "{}", error.message());
        };
        check("program \"p\" {\n  v0: float32 = nonsense v1\n}\n", "nonsense");
        check("program \"p\" {\n  v0: float99 = const 1\n}\n", "float99");
        check("program \"p\" {\n", "end of the text");
    }
}
