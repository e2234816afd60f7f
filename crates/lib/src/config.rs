//! The settings of the user that change what functions mean, as this crate reads them.
//!
//! They are kept where user calls enter, in `pullback_trace::settings`.

use pullback_core::prims::KeyKind;
use pullback_trace::settings::{Setting, is_on};

pub use pullback_trace::settings::{named_x64, settings, x64};

/// Whether strong dtypes never promote.
pub fn is_strict() -> bool {
    is_on(Setting::StrictPromotion)
}

/// The generator of keys where none is named.
pub fn default_generator() -> KeyKind {
    match (is_on(Setting::PrngRbg), is_on(Setting::PrngUnsafeRbg)) {
        (true, _) => KeyKind::Rbg,
        (false, true) => KeyKind::UnsafeRbg,
        (false, false) => KeyKind::Threefry,
    }
}

/// Whether operands of different rank are an error.
pub fn forbids_rank_promotion() -> bool {
    is_on(Setting::RaiseRankPromotion)
}

/// Whether operands of different rank give a warning.
pub fn warns_of_rank_promotion() -> bool {
    is_on(Setting::WarnRankPromotion)
}
