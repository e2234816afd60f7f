//! Elements that lie on devices of another engine than our own.
//!
//! The engine that holds them knows their true type; all others read the copy on the host, which is made once. No lock
//! of an array is held while a device is waited for: what it does may need locks that the waiting thread has given up.

use std::any::Any;
use std::sync::Arc;

use super::place::Place;
use super::{Array, Buffer, State};
use crate::aval::Aval;
use crate::error::Result;

/// The elements of one array on the devices of its place.
pub trait Held: Send + Sync + Any {
    /// The whole array on the host; waits for it.
    ///
    /// # Errors
    /// When the computation failed, or the elements are gone.
    fn read(&self) -> Result<Buffer>;

    /// Waits until the elements are there, without a copy.
    ///
    /// # Errors
    /// When the computation failed, or the elements are gone.
    fn wait(&self) -> Result<()>;

    /// Whether reading would not wait for a computation.
    fn is_ready(&self) -> bool;

    /// Whether the elements are gone: a run took their memory.
    fn is_deleted(&self) -> bool;

    /// What the device number `position` of the place holds.
    fn part(&self, position: usize) -> Option<Arc<dyn Held>>;

    /// Address of the elements on the device number `position` of the place.
    ///
    /// # Errors
    /// When the device gives none.
    fn address(&self, position: usize) -> Result<usize>;
}

impl dyn Held {
    /// The engine's own type, if it is that.
    pub fn downcast<T: Held>(&self) -> Option<&T> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

impl Array {
    /// The array of `aval` whose elements lie on the devices of a place.
    pub fn on_device(aval: Aval, held: Arc<dyn Held>, place: Option<Arc<Place>>) -> Array {
        super::place::use_places();
        Array::with_state(aval.varying(&[]), State::Held(held, None), place)
    }

    /// What holds the elements, when they lie on devices of another engine.
    pub fn held(&self) -> Option<Arc<dyn Held>> {
        match &*self.state() {
            State::Held(held, _) => Some(held.clone()),
            State::Ready(_) | State::Pending(_) | State::Failed(_) | State::Deleted => None,
        }
    }

    /// What holds the elements; `put` brings them to the devices of the array's place, where that was not done yet.
    ///
    /// # Errors
    /// When the array was deleted; what `put` raises.
    pub fn held_or_put(&self, put: impl FnOnce(Buffer) -> Result<Arc<dyn Held>>) -> Result<Arc<dyn Held>> {
        if let Some(held) = self.held() {
            return Ok(held);
        }
        let buffer = self.buffer()?;
        let held = put(buffer.clone())?;
        let mut state = self.state();
        if let State::Ready(_) = &*state {
            *state = State::Held(held.clone(), Some(buffer));
        }
        Ok(held)
    }

    /// Waits until the elements are there, wherever they are.
    ///
    /// # Errors
    /// When the array was deleted, or its computation failed.
    pub fn wait(&self) -> Result<()> {
        match self.held() {
            Some(held) if !self.is_deleted() => held.wait(),
            _ => self.buffer().map(drop),
        }
    }

    /// Makes the copy on the host; another thread may have been faster.
    pub(super) fn host_copy(&self, held: &Arc<dyn Held>) -> Result<Buffer> {
        if held.is_deleted() {
            return Err(self.deleted_error());
        }
        let buffer = held.read()?;
        let mut state = self.state();
        match &mut *state {
            State::Held(_, Some(known)) => Ok(known.clone()),
            State::Held(_, copy @ None) => Ok(copy.insert(buffer).clone()),
            State::Ready(_) | State::Pending(_) | State::Failed(_) => Ok(buffer),
            State::Deleted => Err(self.deleted_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Numbers that count how often they are read.
    struct Counted(Array, AtomicUsize);

    impl Held for Counted {
        fn read(&self) -> Result<Buffer> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.buffer()
        }
        fn wait(&self) -> Result<()> {
            Ok(())
        }
        fn is_ready(&self) -> bool {
            true
        }
        fn is_deleted(&self) -> bool {
            self.0.is_deleted()
        }
        fn part(&self, _position: usize) -> Option<Arc<dyn Held>> {
            None
        }
        fn address(&self, _position: usize) -> Result<usize> {
            Ok(0)
        }
    }

    fn counted() -> (Arc<Counted>, Array) {
        let inner = Array::f32s(&[1.0, 2.0]);
        let held = Arc::new(Counted(inner.clone(), AtomicUsize::new(0)));
        (held.clone(), Array::on_device(inner.aval(), held, None))
    }

    #[test]
    fn elements_are_copied_to_the_host_once() {
        let (held, array) = counted();
        assert_eq!(held.1.load(Ordering::Relaxed), 0);
        for _ in 0..2 {
            assert_eq!(array.elements().expect("alive").len(), 2);
        }
        assert_eq!(held.1.load(Ordering::Relaxed), 1);
        assert!(array.donate().is_none() && !array.is_deleted());
    }

    #[test]
    fn what_a_run_took_is_deleted() {
        let (held, array) = counted();
        let twin = array.twin().expect("alive");
        assert!(array.is_shared() && twin.held().is_some());
        held.0.delete();
        assert!(array.is_deleted() && twin.is_deleted());
        let error = array.buffer().expect_err("gone");
        assert_eq!(error.message(), "Array has been deleted with shape=float32[2].");
    }

    #[test]
    fn arrays_are_put_once() {
        let array = Array::f32s(&[1.0]);
        let put = |_| Ok(counted().0 as Arc<dyn Held>);
        let held = array.held_or_put(put).expect("put");
        let again = array.held_or_put(|_| panic!("it is there")).expect("there");
        assert!(Arc::ptr_eq(&held, &again));
        assert_eq!(array.to_bytes().expect("the copy stays").len(), 4);
    }
}
