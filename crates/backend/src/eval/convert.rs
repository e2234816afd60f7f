//! Conversion of elements that programs cannot hold: small integers, eight-bit floats.

use pullback_base::{Array, Aval, Result, Scalar};

/// The array with each element converted to the dtype of `out`.
pub(super) fn convert(x: &Array, out: Aval) -> Result<Array> {
    let converted = x.elements()?.into_iter().map(|element: Scalar| element.convert(out.dtype));
    Array::from_scalars(&out.shape, out.dtype, converted).reinterpret(out)
}
