//! The precision that contractions are asked for when a call does not say: that of the settings.
//!
//! A user function that takes `precision` runs [`within`] it, as the functions it is made of do not take one.

use std::cell::Cell;

use pullback_core::prims::{DotPrecision, Precision};
use pullback_trace::settings::matmul_precision;

thread_local! {
    static ASKED: Cell<Option<DotPrecision>> = const { Cell::new(None) };
}

const LEVELS: [(&str, Precision); 3] =
    [("default", Precision::Default), ("high", Precision::High), ("highest", Precision::Highest)];

/// Words for what the setting may be, in the order of its numbers, which start at 1.
pub fn words() -> impl Iterator<Item = &'static str> {
    LEVELS.iter().map(|(word, _)| *word).chain(DotPrecision::algorithms())
}

/// Runs `f` with `precision` for its contractions, or with what was in force if it is `None`.
pub fn within<R>(precision: Option<DotPrecision>, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<DotPrecision>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ASKED.set(self.0);
        }
    }
    let _restore = Restore(ASKED.get());
    if precision.is_some() {
        ASKED.set(precision);
    }
    f()
}

/// The precision of a contraction that does not say its own.
pub fn in_force() -> Option<DotPrecision> {
    ASKED.get().or_else(|| match matmul_precision() {
        0 => None,
        number => {
            let number = number as usize - 1;
            let level = LEVELS.get(number).map(|(_, level)| DotPrecision::level(*level));
            level.or_else(|| DotPrecision::algorithm(DotPrecision::algorithms().nth(number - LEVELS.len())?))
        }
    })
}

/// A precision as a static argument of a function that is traced once.
pub fn static_of(precision: Option<DotPrecision>) -> i64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    precision.hash(&mut hasher);
    hasher.finish() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_a_precision() {
        assert!(words().all(|word| DotPrecision::of_word(word).is_some()));
        assert!(words().count() < 32, "the setting has five bits");
    }

    #[test]
    fn a_precision_lasts_as_long_as_its_function() {
        let high = DotPrecision::of_word("high");
        assert_eq!(within(high, || within(None, in_force)), high);
        assert_eq!(in_force(), None);
    }
}
