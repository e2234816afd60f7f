//! Derived jaxprs, remembered by the identity of what they derive from.
//!
//! Ids of jaxprs are never reused, so an entry can only be useless, not wrong; when too many have gathered all are
//! dropped.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

use pullback_base::Result;
use rustc_hash::FxBuildHasher;

/// Entries before the cache starts anew.
const LIMIT: usize = 4096;

/// A cache from a key that names a jaxpr by its id to what was derived from it.
pub(crate) struct Cache<K, T>(Mutex<Option<HashMap<K, T, FxBuildHasher>>>);

impl<K: Hash + Eq, T: Clone> Cache<K, T> {
    pub(crate) const fn new() -> Cache<K, T> {
        Cache(Mutex::new(None))
    }

    /// The remembered value of `key`, or that of `make`. The lock is not held while making, nor while old entries go:
    /// they may hold objects of a front end.
    pub(crate) fn get_or_make(&self, key: K, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().as_ref().and_then(|entries| entries.get(&key)) {
            return Ok(known.clone());
        }
        let made = make()?;
        let mut guard = lock();
        let entries = guard.get_or_insert_default();
        let old = if entries.len() >= LIMIT { std::mem::take(entries) } else { HashMap::default() };
        let replaced = entries.insert(key, made.clone());
        drop(guard);
        // Rules of a front end may go with them: outside of the lock.
        drop((old, replaced));
        Ok(made)
    }
}
