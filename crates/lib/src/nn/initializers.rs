//! Initial values of weights: `jax.nn.initializers`, applied to key, shape and dtype.

use std::f64::consts::{PI, SQRT_2};

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;

use crate::axes::canonical_axis;
use crate::convert::{literal, to_dtype, weak_complex, weak_float, weak_int};
use crate::lax;
use crate::numpy::{multiply, negative, subtract};
use crate::random;

/// A constant everywhere.
///
/// # Errors
/// What the primitive raises.
pub fn constant(value: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let value = to_dtype(value, dtype)?;
    crate::broadcast::broadcast_to(&value, shape)
}

/// Uniform numbers from 0 to `scale`.
///
/// # Errors
/// Errors of keys and dtypes.
pub fn uniform(key: &Val, scale: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    multiply(&random::uniform(key, shape, dtype, &weak_float(0.0), &weak_float(1.0))?, &to_dtype(scale, dtype)?)
}

/// Normal numbers of mean 0 with the given deviation.
///
/// # Errors
/// Errors of keys and dtypes.
pub fn normal(key: &Val, deviation: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let deviation = to_dtype(deviation, dtype)?;
    if dtype.is_complex() {
        return multiply(&random::normal(key, shape, dtype)?, &deviation);
    }
    let unit = random::open_interval(key, shape, dtype)?;
    let scale = lax::mul(&literal(dtype, SQRT_2), &deviation)?;
    lax::mul(&scale, &lax::erf_inv(&unit)?)
}

/// Normal numbers between `lower` and `upper` deviations; the deviation is that before truncation.
///
/// # Errors
/// Errors of keys and dtypes.
pub fn truncated_normal(key: &Val, deviation: &Val, bounds: [&Val; 2], shape: &[usize], dtype: DType) -> Result<Val> {
    let sample = random::truncated_normal(key, bounds[0], bounds[1], Some(shape), dtype)?;
    multiply(&sample, &to_dtype(deviation, dtype)?)
}

/// What the variance is scaled by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fan {
    /// Number of inputs of a unit.
    In,
    /// Number of outputs.
    Out,
    /// Their mean.
    Mean,
    /// Their geometric mean.
    GeometricMean,
}

impl Fan {
    /// From the name that users write.
    ///
    /// # Errors
    /// A `Value` error for another name.
    pub fn parse(mode: &str) -> Result<Fan> {
        Ok(match mode {
            "fan_in" => Fan::In,
            "fan_out" => Fan::Out,
            "fan_avg" => Fan::Mean,
            "fan_geo_avg" => Fan::GeometricMean,
            _ => bail!(Value, "invalid mode for variance scaling initializer: {mode}"),
        })
    }

    fn of(self, fan_in: f64, fan_out: f64) -> f64 {
        match self {
            Fan::In => fan_in,
            Fan::Out => fan_out,
            Fan::Mean => (fan_in + fan_out) / 2.0,
            Fan::GeometricMean => (fan_in * fan_out).sqrt(),
        }
    }
}

/// Which distribution has the variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Normal up to two deviations.
    TruncatedNormal,
    /// Normal.
    Normal,
    /// Uniform around 0.
    Uniform,
}

impl Distribution {
    /// From the name that users write.
    ///
    /// # Errors
    /// A `Value` error for another name.
    pub fn parse(name: &str) -> Result<Distribution> {
        Ok(match name {
            "truncated_normal" => Distribution::TruncatedNormal,
            "normal" => Distribution::Normal,
            "uniform" => Distribution::Uniform,
            _ => bail!(Value, "invalid distribution for variance scaling initializer: {name}"),
        })
    }
}

/// Which axes of a weight count its inputs, its outputs, and independent copies.
#[derive(Clone, Debug)]
pub struct WeightAxes {
    /// Inputs; the last but one when not given.
    pub inputs: Option<Vec<i64>>,
    /// Outputs.
    pub outputs: Vec<i64>,
    /// Copies.
    pub batch: Vec<i64>,
}

impl WeightAxes {
    /// Numbers of inputs and outputs of a unit; all other axes are its receptive field.
    fn fans(&self, shape: &[usize]) -> Result<(f64, f64)> {
        if shape.len() <= 1 && self.inputs.is_none() {
            bail!(
                Value,
                "Can't compute input and output sizes of a {}-dimensional weights tensor with default in_axis. Must be at \
                 least 2D or specify in_axis explicitly.",
                shape.len()
            );
        }
        let sizes = |axes: &[i64]| -> Result<f64> {
            let size = |&axis: &i64| Ok(shape[canonical_axis(axis, shape.len())?] as f64);
            axes.iter().map(size).product()
        };
        let inputs = sizes(self.inputs.as_deref().unwrap_or(&[-2]))?;
        let (outputs, batch) = (sizes(&self.outputs)?, sizes(&self.batch)?);
        let all: f64 = shape.iter().map(|&size| size as f64).product();
        let field = all / inputs / outputs / batch;
        Ok((inputs * field, outputs * field))
    }
}

/// An initializer whose variance falls with the number of connections of a unit.
#[derive(Clone, Debug)]
pub struct VarianceScaling {
    /// Variance times the fan.
    pub scale: f64,
    /// Which fan.
    pub fan: Fan,
    /// Which distribution.
    pub distribution: Distribution,
    /// Which axes count.
    pub axes: WeightAxes,
}

impl VarianceScaling {
    /// The weights.
    ///
    /// # Errors
    /// A `Value` error for a shape without such axes; errors of keys and dtypes.
    pub fn sample(&self, key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
        let (fan_in, fan_out) = self.axes.fans(shape)?;
        let variance = literal(dtype, self.scale / self.fan.of(fan_in, fan_out));
        match self.distribution {
            Distribution::Normal => normal(key, &lax::sqrt(&variance)?, shape, dtype),
            Distribution::Uniform => uniform_with(key, &variance, shape, dtype),
            Distribution::TruncatedNormal => truncated_with(key, &variance, shape, dtype),
        }
    }
}

fn uniform_with(key: &Val, variance: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    if dtype.is_complex() {
        let sample = complex_disk(key, shape, dtype)?;
        return multiply(&sample, &lax::sqrt(variance)?);
    }
    let sample = random::uniform(key, shape, dtype, &weak_int(-1), &weak_float(1.0))?;
    multiply(&sample, &lax::sqrt(&multiply(&weak_int(3), variance)?)?)
}

fn truncated_with(key: &Val, variance: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    // Deviations of the truncated distributions.
    const REAL: f64 = 0.879_625_661_034_239_8;
    const COMPLEX: f64 = 0.953_111_665_434_233_2;
    let correction = literal(dtype, if dtype.is_complex() { COMPLEX } else { REAL });
    let deviation = lax::div(&lax::sqrt(variance)?, &correction)?;
    let sample = if dtype.is_complex() {
        complex_truncated_normal(key, shape, dtype)?
    } else {
        random::truncated_normal(key, &weak_int(-2), &weak_int(2), Some(shape), dtype)?
    };
    multiply(&sample, &deviation)
}

fn two_units(key: &Val, dtype: DType) -> Result<(Val, Val)> {
    if !dtype.is_complex() {
        bail!(Internal, "complex samples have a complex dtype, got {dtype}");
    }
    let keys = lax::unstack(&random::split(key, &[2])?, 0)?;
    Ok((keys[0].clone(), keys[1].clone()))
}

fn unit(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    random::uniform(key, shape, dtype.real(), &weak_float(0.0), &weak_float(1.0))
}

/// Numbers on the unit circle.
fn direction(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let turn = to_dtype(&unit(key, shape, dtype)?, dtype)?;
    let angle = multiply(&weak_float(2.0 * PI), &turn)?;
    lax::exp(&multiply(&weak_complex(0.0, 1.0), &angle)?)
}

/// Uniform numbers of a disk with mean square 1.
fn complex_disk(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let (radius, angle) = two_units(key, dtype)?;
    let radius = lax::sqrt(&multiply(&weak_float(2.0), &unit(&radius, shape, dtype)?)?)?;
    multiply(&to_dtype(&radius, dtype)?, &direction(&angle, shape, dtype)?)
}

/// Complex normal numbers up to two deviations.
fn complex_truncated_normal(key: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let (radius, angle) = two_units(key, dtype)?;
    let share = subtract(&weak_float(1.0), &lax::exp(&literal(dtype, -4.0))?)?;
    let unit = to_dtype(&unit(&radius, shape, dtype)?, dtype)?;
    let rest = subtract(&weak_float(1.0), &multiply(&share, &unit)?)?;
    let radius = lax::sqrt(&negative(&lax::log(&rest)?)?)?;
    multiply(&radius, &direction(&angle, shape, dtype)?)
}

/// Weights with orthogonal rows or columns.
///
/// # Errors
/// Always: `Value` for less than two axes, else `NotImplemented`.
pub fn orthogonal(_key: &Val, shape: &[usize]) -> Result<Val> {
    if shape.len() < 2 {
        bail!(Value, "orthogonal initializer requires at least a 2D shape");
    }
    bail!(NotImplemented, "jax.nn.initializers.orthogonal is not implemented: it needs the primitive 'qr'")
}
