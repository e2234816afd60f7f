//! Named axes of the maps around a user call: which names are bound on this thread, and how long their axes are. With them the
//! contexts of the user that are in force, as a number that the front end gives.
//!
//! An environment of both is interned, and its number is part of the settings word: a trace made under one is never used under
//! another.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use pullback_base::{Error, ErrorKind, Result};
use pullback_ir::AxisName;

/// An axis that a map around the call binds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoundAxis {
    /// Its name.
    pub name: AxisName,
    /// Its length.
    pub size: usize,
    /// Whether types say of each value if it differs along the axis.
    pub is_typed: bool,
}

impl BoundAxis {
    /// An axis of which types say nothing.
    pub fn new(name: AxisName, size: usize) -> BoundAxis {
        BoundAxis { name, size, is_typed: false }
    }
}

/// Bound axes, those of the innermost map last.
pub type AxisEnv = Vec<BoundAxis>;

/// What traces depend on besides settings.
#[derive(Clone, PartialEq, Eq, Default)]
struct Environment {
    axes: AxisEnv,
    contexts: u32,
}

/// Environments by number less one; number 0 is the empty one. A program meets few.
static KNOWN: Mutex<Vec<Environment>> = Mutex::new(Vec::new());

thread_local! {
    static CURRENT: Cell<u32> = const { Cell::new(0) };
}

fn number_of(env: Environment) -> u32 {
    if env == Environment::default() {
        return 0;
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known.iter().position(|other| *other == env).unwrap_or_else(|| {
        known.push(env);
        known.len() - 1
    });
    found as u32 + 1
}

/// The number of the environment of this thread; equal numbers mean equal names, sizes and contexts.
pub(crate) fn env_number() -> u32 {
    CURRENT.get()
}

fn environment() -> Environment {
    match CURRENT.get() {
        0 => Environment::default(),
        number => KNOWN.lock().unwrap_or_else(PoisonError::into_inner)[number as usize - 1].clone(),
    }
}

/// All axes that are bound on this thread, the innermost last.
pub fn axis_env() -> AxisEnv {
    environment().axes
}

/// Puts other contexts of the user in force on this thread, and gives the number of those before; 0 means none.
pub fn set_user_contexts(contexts: u32) -> u32 {
    let env = environment();
    let before = env.contexts;
    CURRENT.set(number_of(Environment { contexts, ..env }));
    before
}

/// Runs `body` with more axes bound; a name that is bound again means the inner axis.
pub fn with_axes<T>(axes: &[BoundAxis], body: impl FnOnce() -> T) -> T {
    if axes.is_empty() {
        return body();
    }
    let _restore = Restore(CURRENT.get());
    let mut env = environment();
    env.axes.retain(|outer| axes.iter().all(|inner| inner.name != outer.name));
    env.axes.extend_from_slice(axes);
    CURRENT.set(number_of(env));
    body()
}

struct Restore(u32);

impl Drop for Restore {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// The length of a bound axis.
///
/// # Errors
/// `Name` when no map around the call binds the name.
pub fn axis_size(name: &str) -> Result<usize> {
    let found = axis_env().iter().rev().find(|axis| &*axis.name == name).map(|axis| axis.size);
    found.ok_or_else(|| Error::new(ErrorKind::Name, format!("unbound axis name: {name}")))
}

/// Whether types say of each value if it differs along the axis.
pub fn is_typed_axis(name: &str) -> bool {
    axis_env().iter().any(|axis| &*axis.name == name && axis.is_typed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::settings;

    #[test]
    fn inner_axes_come_and_go() {
        let outside = settings();
        with_axes(&[BoundAxis::new("i".into(), 4)], || {
            assert_ne!(settings(), outside);
            let inner = [BoundAxis::new("i".into(), 2), BoundAxis::new("j".into(), 3)];
            let shadowed = with_axes(&inner, || (axis_size("i"), axis_size("j")));
            assert_eq!((shadowed.0.ok(), shadowed.1.ok()), (Some(2), Some(3)));
            assert_eq!(axis_size("i").ok(), Some(4));
            assert_eq!(axis_size("j").expect_err("gone").message(), "unbound axis name: j");
        });
        assert_eq!(settings(), outside);
    }

    #[test]
    fn contexts_of_the_user_change_the_word() {
        let outside = settings();
        assert_eq!(set_user_contexts(3), 0);
        let inside = settings();
        assert_ne!(inside, outside);
        with_axes(&[BoundAxis::new("i".into(), 4)], || assert_ne!(settings(), inside));
        assert_eq!(set_user_contexts(0), 3);
        assert_eq!(settings(), outside);
    }
}
