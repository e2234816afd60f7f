//! Sums of products.

mod conv_general_dilated;
mod dot_general;
mod fft;
mod precision;

pub use conv_general_dilated::{CONV_GENERAL_DILATED, ConvDimensions, ConvGeneralDilated, PadPair};
pub use dot_general::{DOT_GENERAL, DotDimensions, DotGeneral};
pub use fft::{FFT, Fft};
pub use precision::{Algorithm, CustomAlgorithm, DotPrecision, Precision};
