//! Settings of the user that change what user-level functions mean: for the process, with overrides per thread.
//!
//! All settings are bits of one word, which is part of the key of every cache of traces. Rules never read them: what a
//! setting changes is decided where a user call enters.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::axes::env_number;

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// One setting that is on or off.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Setting { $($(#[$doc])* $name,)* }

        impl Setting {
            /// All settings, from the lowest bit of the word on.
            pub const ALL: &[Setting] = &[$(Setting::$name,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Setting::$name => stringify!($name),)* }
            }
        }
    };
}
settings! {
    /// 64-bit element types exist.
    X64,
    /// No implicit promotion between strong dtypes.
    StrictPromotion,
    /// Implicit promotion of ranks warns.
    WarnRankPromotion,
    /// Implicit promotion of ranks is an error.
    RaiseRankPromotion,
    /// `jit` calls the Python function itself.
    DisableJit,
    /// A NaN among the results is an error.
    DebugNans,
    /// An infinity among the results is an error.
    DebugInfs,
    /// Threefry bits do not depend on how the array is partitioned.
    ThreefryPartitionable,
    /// The lowest bit of the number of the precision of contractions, see [`matmul_precision`].
    MatmulPrecision1,
    /// Its second bit.
    MatmulPrecision2,
    /// Its third bit.
    MatmulPrecision4,
    /// Its fourth bit.
    MatmulPrecision8,
    /// Its fifth bit.
    MatmulPrecision16,
    /// Random keys made by `PRNGKey` are of the new, typed kind.
    TypedKeys,
    /// Keys are of the generator `rbg` where none is named.
    PrngRbg,
    /// Keys are of the generator `unsafe_rbg` where none is named.
    PrngUnsafeRbg,
    /// Keys are of the generator `philox2x32` where none is named.
    PrngPhilox2,
    /// Keys are of the generator `philox4x32` where none is named.
    PrngPhilox4,
    /// Keys are of the generator `threefry4x32` where none is named.
    PrngThreefry4,
    /// Tracers that outlive their trace are an error at its end.
    CheckLeaks,
    /// Sums of half-width floats are an error where they are asked for.
    NoHalfWidthSums,
    /// Values of a map over devices do not become varying by themselves.
    ExplicitVarying,
    /// While 64-bit element types are off, those that a caller names are given all the same.
    NamedX64,
    /// While 64-bit element types are off, naming one is an error.
    RefuseNamedX64,
    /// A fixed index out of bounds is an error.
    CheckStaticIndices,
    /// Raw random keys give a warning.
    WarnLegacyKeys,
    /// Raw random keys are an error.
    RefuseLegacyKeys,
    /// What a choice dropped is a structural zero of derivatives.
    SafeGrads,
    /// Reductions that see no element warn.
    WarnEmpty,
    /// What passes in silence otherwise is an error.
    Checked,
    /// Tracing a function is an error.
    NoTracing,
    /// Performing anything is an error.
    NoExecution,
    /// What is traced is reported, with the reason.
    ExplainMisses,
    /// What is compiled is reported.
    LogCompiles,
    /// Values of the host that enter an operation are reported.
    LogTransfers,
    /// Values of the host that enter an operation are an error.
    RefuseTransfers,
    /// Values of the host that a user puts on a device are reported.
    LogPuts,
    /// Values of the host that a user puts on a device are an error.
    RefusePuts,
    /// Arrays that a call moves to another device are reported.
    LogMoves,
    /// Arrays that a call moves to another device are an error.
    RefuseMoves,
    /// Arrays that a user puts on another device are reported.
    LogAskedMoves,
    /// Arrays that a user puts on another device are an error.
    RefuseAskedMoves,
}

/// Settings that change no program, so that what was traced without them is used under them: the last ones. Those before them
/// fit the lower half of the word, as the upper half of a key is another number.
const UNKEYED: u64 = u64::MAX << Setting::NoTracing as u8;
const _: () = assert!(Setting::NoTracing as u8 <= 32);

/// Threefry is partitionable from the start, as in the reference. A front end whose numbers have no types of their own
/// turns named 64-bit types off.
static PROCESS: AtomicU64 = AtomicU64::new(1 << Setting::ThreefryPartitionable as u8 | 1 << Setting::NamedX64 as u8);

thread_local! {
    /// Which bits this thread overrides, and their values.
    static THREAD: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    /// Which rules of promotion do not hold, as a function of the library is at work with values of its own.
    static SUSPENDED: Cell<u64> = const { Cell::new(0) };
}

/// The rules about operands of different dtype or rank: they are about what the user combines.
const PROMOTION_RULES: u64 = 1 << Setting::StrictPromotion as u8
    | 1 << Setting::WarnRankPromotion as u8
    | 1 << Setting::RaiseRankPromotion as u8;
/// Settings under which a promotion of ranks may be told.
const TELLING_OF_RANKS: u64 = 1 << Setting::WarnRankPromotion as u8 | 1 << Setting::Checked as u8;

/// Bits of all settings that the user has in force on this thread.
fn bits_of_user() -> u64 {
    let (mask, bits) = THREAD.get();
    PROCESS.load(Ordering::Relaxed) & !mask | bits & mask
}

/// Whether the user has rules of promotion in force, be they suspended.
pub fn has_promotion_rules() -> bool {
    bits_of_user() & (PROMOTION_RULES | TELLING_OF_RANKS) != 0
}

/// Whether promotions of ranks that a user asks for are told, or looked at.
pub fn tells_rank_promotion() -> bool {
    let is_suspended = SUSPENDED.get() >> Setting::WarnRankPromotion as u8 & 1 == 1;
    !is_suspended && bits_of_user() & TELLING_OF_RANKS != 0
}

/// A scope in which some rules of promotion are suspended.
#[must_use]
pub struct PromotionScope {
    before: u64,
}

impl Drop for PromotionScope {
    fn drop(&mut self) {
        SUSPENDED.set(self.before);
    }
}

/// All rules of promotion hold until the scope ends, or none.
pub fn promotion_rules_hold(hold: bool) -> PromotionScope {
    PromotionScope { before: SUSPENDED.replace(if hold { 0 } else { PROMOTION_RULES }) }
}

/// The rule about dtypes is suspended until the scope ends.
pub fn without_strict_promotion() -> PromotionScope {
    PromotionScope { before: SUSPENDED.replace(SUSPENDED.get() | 1 << Setting::StrictPromotion as u8) }
}

/// Bits of all settings in force on this thread.
fn bits_in_force() -> u64 {
    bits_of_user() & !SUSPENDED.get()
}

/// All settings in force on this thread that change programs, as one word; its upper half is the number of the environment
/// of named axes and contexts of the user.
pub fn settings() -> u64 {
    bits_in_force() & !UNKEYED | u64::from(env_number()) << 32
}

/// Whether a setting is on for this thread.
pub fn is_on(setting: Setting) -> bool {
    bits_in_force() >> setting as u8 & 1 == 1
}

/// Whether 64-bit element types exist.
pub fn x64() -> bool {
    is_on(Setting::X64)
}

/// Whether 64-bit types that a caller names are given.
pub fn named_x64() -> bool {
    bits_in_force() & (1 << Setting::X64 as u8 | 1 << Setting::NamedX64 as u8) != 0
}

/// The number of the precision of contractions that say none themselves; 0 when the user asks for none.
pub fn matmul_precision() -> u8 {
    (settings() >> Setting::MatmulPrecision1 as u8 & 0b1_1111) as u8
}

/// Lets the backend ask what is forbidden once a user asks for it.
fn arm(setting: Setting, on: bool) {
    use Setting::{Checked, DebugInfs, DebugNans, LogTransfers, NoExecution, RefuseTransfers};
    if on && matches!(setting, Checked | DebugNans | DebugInfs | NoExecution | LogTransfers | RefuseTransfers) {
        pullback_backend::check_numbers(|| pullback_backend::Forbidden {
            nans: is_on(DebugNans),
            infs: is_on(DebugInfs),
            everything: is_on(NoExecution),
            transfers: is_on(LogTransfers) || is_on(RefuseTransfers),
            mistakes: is_on(Checked),
        });
    }
}

/// Sets a setting for the process.
pub fn set(setting: Setting, on: bool) {
    arm(setting, on);
    let bit = 1 << setting as u8;
    if on {
        PROCESS.fetch_or(bit, Ordering::Relaxed);
    } else {
        PROCESS.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// Overrides a setting for this thread (`None` ends the override), and gives the override that was there before.
pub fn set_on_thread(setting: Setting, on: Option<bool>) -> Option<bool> {
    arm(setting, on == Some(true));
    let bit = 1u64 << setting as u8;
    let (mask, bits) = THREAD.get();
    let before = (mask & bit != 0).then_some(bits & bit != 0);
    let new_mask = if on.is_some() { mask | bit } else { mask & !bit };
    let new_bits = if on == Some(true) { bits | bit } else { bits & !bit };
    THREAD.set((new_mask, new_bits));
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_traced_is_used_where_tracing_is_forbidden() {
        let before = settings();
        set_on_thread(Setting::NoTracing, Some(true));
        assert!(is_on(Setting::NoTracing));
        assert_eq!(settings(), before);
        set_on_thread(Setting::NoTracing, None);
    }

    #[test]
    fn a_thread_overrides_the_process() {
        assert!(is_on(Setting::ThreefryPartitionable));
        assert_eq!(set_on_thread(Setting::ThreefryPartitionable, Some(false)), None);
        assert!(!is_on(Setting::ThreefryPartitionable));
        std::thread::spawn(|| assert!(is_on(Setting::ThreefryPartitionable))).join().expect("no panic");
        assert_eq!(set_on_thread(Setting::ThreefryPartitionable, None), Some(false));
        assert!(is_on(Setting::ThreefryPartitionable));
    }
}
