//! Initial weights: samples whose variance follows the sizes of a layer.

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::{literal, weak_float, weak_int};
use crate::lax;
use crate::numpy;
use crate::random;

/// Which size of a layer the variance is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanMode {
    /// Number of inputs of a unit.
    In,
    /// Number of outputs of a unit.
    Out,
    /// Their mean.
    Average,
    /// Their geometric mean.
    GeometricAverage,
}

/// From what samples are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// A normal distribution, cut at two deviations.
    TruncatedNormal,
    /// A normal distribution.
    Normal,
    /// An even one around 0.
    Uniform,
}

/// Which axes of a weight count inputs, outputs and batches.
#[derive(Clone, Debug)]
pub struct FanAxes {
    /// Axes of inputs.
    pub inputs: Vec<i64>,
    /// Axes of outputs.
    pub outputs: Vec<i64>,
    /// Axes over which weights are separate.
    pub batch: Vec<i64>,
}

/// Numbers of inputs and outputs of a unit.
///
/// # Errors
/// A `Value` error for a shape of fewer than two axes.
pub fn fans(shape: &[usize], axes: &FanAxes) -> Result<(f64, f64)> {
    let rank = shape.len();
    if rank <= 1 {
        bail!(
            Value,
            "Can't compute input and output sizes of a {rank}-dimensional weights tensor. Must be at least 2D."
        );
    }
    let product = |axes: &[i64]| -> Result<f64> {
        axes.iter().map(|&axis| Ok(shape[canonical_axis(axis, rank)?] as f64)).product()
    };
    let (inputs, outputs, batch) = (product(&axes.inputs)?, product(&axes.outputs)?, product(&axes.batch)?);
    let receptive = shape.iter().product::<usize>() as f64 / inputs / outputs / batch;
    Ok((inputs * receptive, outputs * receptive))
}

/// Samples with variance `scale / fan`.
///
/// # Errors
/// As [`fans`].
pub fn variance_scaling(
    key: &Val,
    shape: &[usize],
    dtype: DType,
    scale: f64,
    mode: FanMode,
    distribution: Distribution,
    axes: &FanAxes,
) -> Result<Val> {
    let (fan_in, fan_out) = fans(shape, axes)?;
    let denominator = match mode {
        FanMode::In => fan_in,
        FanMode::Out => fan_out,
        FanMode::Average => (fan_in + fan_out) / 2.0,
        FanMode::GeometricAverage => (fan_in * fan_out).sqrt(),
    };
    let variance = literal(dtype.real(), scale / denominator);
    match distribution {
        Distribution::Normal => {
            let samples = random::normal(key, shape, dtype)?;
            numpy::multiply(&samples, &lax::sqrt(&variance)?)
        }
        Distribution::Uniform => {
            let samples = random::uniform(key, shape, dtype, &weak_int(-1), &weak_float(1.0))?;
            let bound = lax::sqrt(&lax::mul(&literal(dtype.real(), 3.0), &variance)?)?;
            numpy::multiply(&samples, &bound)
        }
        Distribution::TruncatedNormal => {
            /// The standard deviation of a standard normal cut at two deviations.
            const CUT_DEVIATION: f64 = 0.879_625_661_034_239_78;
            let deviation = lax::div(&lax::sqrt(&variance)?, &literal(dtype.real(), CUT_DEVIATION))?;
            let samples = random::truncated_normal(key, &weak_int(-2), &weak_int(2), Some(shape), dtype)?;
            numpy::multiply(&samples, &deviation)
        }
    }
}
