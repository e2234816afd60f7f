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
    let named = [
        (Setting::PrngRbg, KeyKind::Rbg),
        (Setting::PrngUnsafeRbg, KeyKind::UnsafeRbg),
        (Setting::PrngPhilox2, KeyKind::Philox2),
        (Setting::PrngPhilox4, KeyKind::Philox4),
        (Setting::PrngThreefry4, KeyKind::Threefry4),
    ];
    named.into_iter().find(|(setting, _)| is_on(*setting)).map_or(KeyKind::Threefry, |(_, kind)| kind)
}

/// Whether operands of different rank are an error.
pub fn forbids_rank_promotion() -> bool {
    is_on(Setting::RaiseRankPromotion)
}

/// Whether operands of different rank give a warning.
pub fn warns_of_rank_promotion() -> bool {
    pullback_trace::settings::tells_rank_promotion()
}
