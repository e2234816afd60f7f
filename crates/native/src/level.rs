//! The instructions that code may use.

use serde::{Deserialize, Serialize};

/// Instructions of x86-64 that code may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Level {
    /// 256-bit lanes, with fused multiplication, half-width conversions and the bit instructions of the same years.
    Avx2,
    /// 512-bit lanes with masks, for all widths of lanes.
    Avx512,
}

/// The best that this machine runs; `None` where it runs neither.
pub fn best_level() -> Option<Level> {
    [Level::Avx512, Level::Avx2].into_iter().find(|level| level.runs_here())
}

#[cfg(all(target_arch = "x86_64", unix))]
impl Level {
    /// Whether this machine has the instructions.
    pub fn runs_here(self) -> bool {
        let has_avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let has_avx512 = || {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
        };
        has_avx2 && (self == Level::Avx2 || has_avx512())
    }
}

/// The calling convention is that of Unix.
#[cfg(not(all(target_arch = "x86_64", unix)))]
impl Level {
    /// Whether this machine has the instructions.
    pub fn runs_here(self) -> bool {
        false
    }
}
