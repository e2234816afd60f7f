//! Host arrays: an aval over an immutable shared buffer, dense and row-major.
//!
//! An [`Array`] is a counted pointer; copies are free. Its memory is a [`Buffer`]: 64-byte aligned and pooled, or
//! borrowed from another owner (a NumPy array). An array whose buffer was donated is deleted: shape and dtype stay
//! readable, the elements are gone. The elements may instead lie on a device of another engine ([`Held`]); then the
//! copy on the host is made when it is first asked for. This is the only module of the crate with `unsafe`.

mod buffer;
mod held;
pub mod place;
mod pool;
mod reserve;
mod system;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use buffer::{Buffer, BufferMut, check_room, scratch};
pub use held::Held;
pub use place::{Layout, Place};
pub use pool::{PoolStats, memory_limit, pool_stats, set_memory_limit, set_pool_limit, trim_pool};
pub use reserve::{WithReserve, check_memory, take_reserve};

use crate::aval::Aval;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::scalar::Scalar;

/// Waits for a result that another thread computes; the seam for asynchronous dispatch.
pub trait Pending: Send {
    /// Blocks until the buffer is there.
    fn wait(self: Box<Self>) -> Result<Buffer>;
}

enum State {
    Ready(Buffer),
    Pending(Box<dyn Pending>),
    /// On devices; with the copy on the host once that was asked for.
    Held(Arc<dyn Held>, Option<Buffer>),
    Failed(Error),
    Deleted,
}

struct Inner {
    aval: Aval,
    state: Mutex<State>,
    place: Option<Arc<Place>>,
    /// Whether a user gave the elements as memory of the host, and no operation has taken them to a device yet.
    is_of_host: bool,
}

/// An immutable array on the host.
#[derive(Clone)]
pub struct Array(Arc<Inner>);

impl Array {
    /// The array of `aval` over `buffer`, whose first bytes are the elements in row-major order.
    ///
    /// # Panics
    /// If the buffer is smaller than the aval needs: a bug of the caller.
    pub fn new(aval: Aval, buffer: Buffer) -> Array {
        Array::at(aval, buffer, None)
    }

    fn at(aval: Aval, buffer: Buffer, place: Option<Arc<Place>>) -> Array {
        assert!(buffer.size_bytes() >= aval.size_bytes(), "buffer of {} bytes for {aval}", buffer.size_bytes());
        // What is known of an array is no matter of devices any more.
        Array(Arc::new(Inner {
            aval: aval.varying(&[]),
            state: Mutex::new(State::Ready(buffer)),
            place,
            is_of_host: false,
        }))
    }

    fn with_state(aval: Aval, state: State, place: Option<Arc<Place>>) -> Array {
        Array(Arc::new(Inner { aval, state: Mutex::new(state), place, is_of_host: false }))
    }

    /// The array of `aval` whose buffer comes later.
    pub fn pending(aval: Aval, work: Box<dyn Pending>) -> Array {
        Array::with_state(aval, State::Pending(work), None)
    }

    /// The zero-dimensional array of one scalar, weak type included.
    pub fn scalar(scalar: Scalar) -> Array {
        Array::full(scalar.aval(), scalar).expect("a system that runs has memory for one number")
    }

    /// An array with all elements equal to `fill`, which is converted to the aval's dtype.
    ///
    /// # Errors
    /// `Memory` when there is none for so many.
    pub fn full(aval: Aval, fill: Scalar) -> Result<Array> {
        let bits = fill.convert(aval.dtype).to_bits().to_le_bytes();
        let element = &bits[..aval.dtype.size_bytes()];
        let mut buffer = Buffer::allocate(aval.size_bytes())?;
        let bytes = &mut buffer.bytes_mut()[..aval.size_bytes()];
        match element {
            [byte] => bytes.fill(*byte),
            _ => bytes.chunks_exact_mut(element.len()).for_each(|chunk| chunk.copy_from_slice(element)),
        }
        Ok(Array::new(aval, buffer.freeze()))
    }

    /// As [`Array::try_from_scalars`], for the few elements of a table.
    ///
    /// # Panics
    /// If the number of elements is not that of the shape; with the error, if there is no memory for them.
    pub fn from_scalars(shape: &[usize], dtype: DType, elements: impl IntoIterator<Item = Scalar>) -> Array {
        // A front end finds the error in the panic, and raises it as what it is.
        Array::try_from_scalars(shape, dtype, elements).unwrap_or_else(|error| std::panic::panic_any(error))
    }

    /// An array with the given elements in row-major order, each converted to `dtype`.
    ///
    /// # Errors
    /// `Memory` when there is none for so many.
    ///
    /// # Panics
    /// If the number of elements is not that of the shape.
    pub fn try_from_scalars(
        shape: &[usize],
        dtype: DType,
        elements: impl IntoIterator<Item = Scalar>,
    ) -> Result<Array> {
        let aval = Aval::new(shape, dtype);
        let mut buffer = Buffer::allocate(aval.size_bytes())?;
        let mut chunks = buffer.bytes_mut()[..aval.size_bytes()].chunks_exact_mut(dtype.size_bytes());
        for element in elements {
            let bits = element.convert(dtype).to_bits().to_le_bytes();
            chunks.next().expect("no more elements than the shape has").copy_from_slice(&bits[..dtype.size_bytes()]);
        }
        assert!(chunks.next().is_none(), "fewer elements than {aval} has");
        Ok(Array::new(aval, buffer.freeze()))
    }

    /// An array over a copy of raw bytes, which must be as many as the aval needs.
    ///
    /// # Errors
    /// `Memory` when there is none for the copy.
    pub fn from_bytes(aval: Aval, bytes: &[u8]) -> Result<Array> {
        assert_eq!(bytes.len(), aval.size_bytes(), "bytes for {aval}");
        let mut buffer = Buffer::allocate(bytes.len())?;
        buffer.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        Ok(Array::new(aval, buffer.freeze()))
    }

    /// A vector of `float32`.
    pub fn f32s(elements: &[f32]) -> Array {
        Array::from_scalars(&[elements.len()], DType::F32, elements.iter().map(|&x| Scalar::f32(x)))
    }

    /// Shape, dtype and weak type; readable even when deleted.
    pub fn aval(&self) -> Aval {
        self.0.aval
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.0.aval.dtype
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &'static [usize] {
        self.0.aval.data().shape.as_slice()
    }

    /// The array as one that lies with the host until an operation takes it; for the guards of transfers.
    pub fn of_host(self) -> Array {
        match Arc::try_unwrap(self.0) {
            Ok(inner) => Array(Arc::new(Inner { is_of_host: true, ..inner })),
            Err(shared) => Array(shared),
        }
    }

    /// The same elements as an array that was taken to a device.
    ///
    /// # Errors
    /// When it was deleted.
    pub fn of_device(&self) -> Result<Array> {
        match self.is_of_host() {
            true => Ok(Array::at(self.aval(), self.buffer()?, self.0.place.clone())),
            false => Ok(self.clone()),
        }
    }

    /// Whether it was made by [`Array::of_host`].
    pub fn is_of_host(&self) -> bool {
        self.0.is_of_host
    }

    /// Whether the user placed the array on a device explicitly.
    pub fn is_committed(&self) -> bool {
        self.0.place.as_ref().is_some_and(|place| place.is_committed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory of the elements, waiting for it when it is still being computed.
    ///
    /// # Errors
    /// When the array was deleted, or its computation failed.
    pub fn buffer(&self) -> Result<Buffer> {
        let mut state = self.state();
        if let State::Held(held, None) = &*state {
            let held = held.clone();
            drop(state);
            return self.host_copy(&held);
        }
        if let State::Pending(_) = &*state {
            let State::Pending(work) = std::mem::replace(&mut *state, State::Deleted) else { unreachable!() };
            *state = work.wait().map_or_else(State::Failed, State::Ready);
        }
        match &*state {
            State::Ready(buffer) => Ok(buffer.clone()),
            State::Held(held, Some(_)) if held.is_deleted() => Err(self.deleted_error()),
            State::Held(_, Some(buffer)) => Ok(buffer.clone()),
            State::Held(_, None) => Err(Error::internal("elements on a device are read above")),
            State::Failed(error) => Err(error.clone()),
            State::Deleted => Err(self.deleted_error()),
            State::Pending(_) => unreachable!("waited above"),
        }
    }

    fn deleted_error(&self) -> Error {
        let text = format!("Array has been deleted with shape={}.", self.aval().long());
        Error::new(ErrorKind::Runtime, text)
    }

    /// Whether the elements are gone.
    pub fn is_deleted(&self) -> bool {
        match &*self.state() {
            State::Deleted => true,
            State::Held(held, _) => held.is_deleted(),
            State::Ready(_) | State::Pending(_) | State::Failed(_) => false,
        }
    }

    /// Whether reading would not wait.
    pub fn is_ready(&self) -> bool {
        match &*self.state() {
            State::Pending(_) => false,
            State::Held(held, None) => held.is_ready(),
            State::Ready(_) | State::Held(_, Some(_)) | State::Failed(_) | State::Deleted => true,
        }
    }

    /// Frees the elements; shape and dtype stay.
    pub fn delete(&self) {
        // What a device holds goes outside of the lock: its engine may wait for that.
        let old = std::mem::replace(&mut *self.state(), State::Deleted);
        drop(old);
    }

    /// Takes the buffer out for donation and leaves the array deleted. `None` when another owner, for example a
    /// NumPy view, can still see the memory; the array then stays as it is.
    pub fn donate(&self) -> Option<BufferMut> {
        let mut state = self.state();
        if let State::Held(..) = &*state {
            return None;
        }
        let State::Ready(buffer) = std::mem::replace(&mut *state, State::Deleted) else { return None };
        match buffer.try_into_mut() {
            Ok(unique) => Some(unique),
            Err(shared) => {
                *state = State::Ready(shared);
                None
            }
        }
    }

    /// Whether others hold the same memory: a view of another library, an array that shares it, or an owner outside.
    pub fn is_shared(&self) -> bool {
        match &*self.state() {
            State::Ready(buffer) => buffer.is_shared(),
            State::Held(held, _) => Arc::strong_count(held) > 1,
            State::Pending(_) | State::Failed(_) | State::Deleted => false,
        }
    }

    /// Whether nobody else holds this array, so that nobody sees it deleted.
    pub fn is_held_once(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Another array of the same memory: deleting one leaves the other, and memory that both see is not given away.
    ///
    /// # Errors
    /// When the array was deleted.
    pub fn twin(&self) -> Result<Array> {
        if let Some(held) = self.held() {
            return Ok(Array::on_device(self.aval(), held, self.0.place.clone()));
        }
        Ok(Array::at(self.aval(), self.buffer()?, self.0.place.clone()))
    }

    /// The same elements under another aval of the same size in bytes; no copy.
    ///
    /// # Errors
    /// When the array was deleted.
    pub fn reinterpret(&self, aval: Aval) -> Result<Array> {
        if aval == self.aval() {
            return Ok(self.clone());
        }
        if let Some(held) = self.held().filter(|_| (aval.dtype, &aval.shape) == (self.dtype(), &self.aval().shape)) {
            return Ok(Array::on_device(aval, held, self.0.place.clone()));
        }
        Ok(Array::at(aval, self.buffer()?, self.0.place.clone()))
    }

    /// The elements' bytes, as a vector.
    ///
    /// # Errors
    /// When the array was deleted.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.buffer()?.bytes()[..self.aval().size_bytes()].to_vec())
    }

    /// The element at a row-major position.
    ///
    /// # Errors
    /// When the array was deleted.
    ///
    /// # Panics
    /// If `index` is not below the number of elements.
    pub fn element(&self, index: usize) -> Result<Scalar> {
        let size = self.dtype().size_bytes();
        let buffer = self.buffer()?;
        Ok(scalar_at(self.dtype(), &buffer.bytes()[index * size..][..size]))
    }

    /// All elements in row-major order.
    ///
    /// # Errors
    /// When the array was deleted.
    pub fn elements(&self) -> Result<Vec<Scalar>> {
        let (dtype, buffer) = (self.dtype(), self.buffer()?);
        let bytes = &buffer.bytes()[..self.aval().size_bytes()];
        Ok(bytes.chunks_exact(dtype.size_bytes()).map(|chunk| scalar_at(dtype, chunk)).collect())
    }

    /// Whether both are the very same array object.
    pub fn is_same(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The address of the shared object, an identity while it lives.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

/// The element whose bytes these are.
pub fn scalar_at(dtype: DType, bytes: &[u8]) -> Scalar {
    let mut bits = [0; 16];
    bits[..bytes.len()].copy_from_slice(bytes);
    Scalar::from_bits(dtype, u128::from_le_bytes(bits))
}

impl fmt::Debug for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.elements() {
            Ok(elements) => {
                let texts: Vec<String> = elements.iter().take(32).map(Scalar::to_string).collect();
                write!(f, "{}{{{}}}", self.aval(), texts.join(" "))
            }
            Err(_) => write!(f, "{}{{deleted}}", self.aval()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn donation_needs_sole_ownership() {
        let array = Array::f32s(&[1.0, 2.0]);
        let seen = array.buffer().expect("alive");
        assert!(array.donate().is_none());
        assert!(!array.is_deleted());
        drop(seen);
        assert!(array.donate().is_some());
        assert!(array.is_deleted());
        assert_eq!(array.buffer().expect_err("gone").message(), "Array has been deleted with shape=float32[2].");
    }

    #[test]
    fn elements_round_trip() {
        let array = Array::from_scalars(&[3], DType::BF16, [0.5, 1.0, -2.0].map(Scalar::f32));
        let back: Vec<f64> = array.elements().expect("alive").into_iter().map(Scalar::as_f64).collect();
        assert_eq!(back, [0.5, 1.0, -2.0]);
    }
}
