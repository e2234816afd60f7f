//! Conversion of elements that programs cannot hold: small integers, eight-bit floats.

use pullback_base::array::scalar_at;
use pullback_base::{Array, Aval, Result};

/// The array with each element converted to the dtype of `out`.
pub(super) fn convert(x: &Array, out: Aval) -> Result<Array> {
    let (buffer, dtype) = (x.buffer()?, x.dtype());
    let elements = buffer.bytes()[..x.aval().size_bytes()].chunks_exact(dtype.size_bytes());
    let converted = elements.map(|bytes| scalar_at(dtype, bytes).convert(out.dtype));
    Array::try_from_scalars(&out.shape, out.dtype, converted)?.reinterpret(out)
}
