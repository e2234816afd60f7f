//! Bytes of arguments as slices of elements.

use pullback_base::{Result, bail};

/// Types any bytes of whose size are an element.
///
/// # Safety
/// Every bit pattern must be valid, and there must be no padding.
pub(crate) unsafe trait Plain: Copy + Send + Sync + 'static {}

macro_rules! plain {
    ($($ty:ty)*) => {$(
        // SAFETY: numbers have no invalid bits and no padding; a complex or a pair is two of them.
        unsafe impl Plain for $ty {}
    )*};
}
plain! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 num_complex::Complex32 num_complex::Complex64 [u64; 2] }

/// The first `len` elements of an operand.
pub(crate) fn operand<T: Plain>(bytes: &[u8], len: usize) -> Result<&[T]> {
    check::<T>(bytes.as_ptr(), bytes.len(), len)?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: length and alignment were checked, and any bits are an element.
    Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<T>(), len) })
}

/// The first `len` elements of a result.
pub(crate) fn result<T: Plain>(bytes: &mut [u8], len: usize) -> Result<&mut [T]> {
    check::<T>(bytes.as_ptr(), bytes.len(), len)?;
    if len == 0 {
        return Ok(&mut []);
    }
    // SAFETY: as above, and the bytes are borrowed exclusively.
    Ok(unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast::<T>(), len) })
}

fn check<T>(start: *const u8, n_bytes: usize, len: usize) -> Result<()> {
    if n_bytes < len * size_of::<T>() {
        bail!(Internal, "an argument of a kernel has {n_bytes} bytes for {len} elements");
    }
    if len > 0 && !start.cast::<T>().is_aligned() {
        bail!(Internal, "an argument of a kernel is not aligned");
    }
    Ok(())
}

/// A slice whose parts several threads write.
pub(crate) struct Shared<T>(*mut T, usize);

// SAFETY: users of `part` promise that parts are disjoint.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub(crate) fn new(slice: &mut [T]) -> Shared<T> {
        Shared(slice.as_mut_ptr(), slice.len())
    }

    /// The start of the slice.
    pub(crate) fn start(&self) -> *mut T {
        self.0
    }

    /// Elements from `start` on.
    ///
    /// # Safety
    /// No other part in use may overlap.
    ///
    /// # Panics
    /// When the part is not inside.
    #[allow(clippy::mut_from_ref, reason = "parts are disjoint by contract")]
    pub(crate) unsafe fn part(&self, start: usize, len: usize) -> &mut [T] {
        assert!(start + len <= self.1, "a part of {len} from {start} of {}", self.1);
        // SAFETY: inside, by the check; disjoint from others, by contract.
        unsafe { std::slice::from_raw_parts_mut(self.0.add(start), len) }
    }
}

/// Row-major strides.
pub(crate) fn strides_of(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}
