//! Samples of named distributions.
#![allow(clippy::too_many_arguments, reason = "numbers of parameters are the reference's")]

use pullback_lib::convert::{default_float, default_int, default_uint, weak_float};
use pullback_lib::random;
use pyo3::prelude::*;

use super::{Key, ONE, Object, check_options, dtype_or, mode_of, sizes};
use crate::api::arguments::{ShapeArg, one, optional};
use crate::dtypes::DTypeArg;
use crate::value::ArrayLike;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; bits normal exponential laplace logistic cauchy maxwell rademacher pareto rayleigh wald dirichlet t geometric gamma loggamma chisquare gumbel uniform lognormal truncated_normal beta f weibull_min double_sided_maxwell generalized_normal triangular);
    Ok(())
}

macro_rules! standard {
    ($($(#[$meta:meta])* $name:ident $default:ident;)*) => {$(
        $(#[$meta])*
        #[pyfunction]
        #[pyo3(
            signature = (key, shape=ONE, dtype=None, *, out_sharding=None),
            text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)"
        )]
        fn $name(
            py: Python<'_>,
            key: Key,
            shape: ShapeArg,
            dtype: Option<DTypeArg>,
            out_sharding: Object<'_, '_>,
        ) -> PyResult<Py<PyAny>> {
            let dtype = dtype_or(py, dtype, stringify!($name), $default())?;
            one(py, || {
                check_options(stringify!($name), out_sharding, None)?;
                random::$name(&key.0, &shape.sizes()?, dtype)
            })
        }
    )*};
}

standard! {
    /// Random bits as unsigned integers, each number equally likely.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   shape: the shape of the result; one number by default.
    ///   dtype: an unsigned dtype; uint32 by default, uint64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, or the dtype is not unsigned.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: no, there are no tangents of integers.
    /// Example:
    ///   >>> jax.random.bits(jax.random.key(0), (2,))
    ///   Array([4070199207, 4202968722], dtype=uint32)
    bits default_uint;

    /// Normal numbers with mean 0 and variance 1: sqrt(2) times the inverse error function of uniform ones.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   shape: the shape of the result; one number by default.
    ///   dtype: a floating or complex dtype; float32 by default. Parts of complex numbers are independent, with variance
    ///     1/2.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, or the dtype is neither floating nor complex.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: nothing to differentiate, keys have no tangents.
    /// Example:
    ///   >>> jax.random.normal(jax.random.key(0), (2, 3)).shape
    ///   (2, 3)
    normal default_float;

    /// Numbers of the exponential distribution with mean 1, density `exp(-x)` from 0 on.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   shape: the shape of the result; one number by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, or the dtype is not floating.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: nothing to differentiate, keys have no tangents.
    /// Example:
    ///   >>> bool((jax.random.exponential(jax.random.key(0), (100,)) >= 0).all())
    ///   True
    exponential default_float;

    /// Numbers of the Laplace distribution with mean 0 and scale 1, density `exp(-|x|) / 2`.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   shape: the shape of the result; one number by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, or the dtype is not floating.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: nothing to differentiate, keys have no tangents.
    /// Example:
    ///   >>> jax.random.laplace(jax.random.key(0), (3,)).shape
    ///   (3,)
    laplace default_float;

    /// Numbers of the logistic distribution, whose distribution function is the sigmoid.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   shape: the shape of the result; one number by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, or the dtype is not floating.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: nothing to differentiate, keys have no tangents.
    /// Example:
    ///   >>> jax.random.logistic(jax.random.key(0), (3,)).shape
    ///   (3,)
    logistic default_float;

    /// Numbers of the Cauchy distribution with median 0, density `1 / (π (1 + x**2))`; it has no mean.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   shape: the shape of the result; one number by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, or the dtype is not floating.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: nothing to differentiate, keys have no tangents.
    /// Example:
    ///   >>> jax.random.cauchy(jax.random.key(0), (3,)).shape
    ///   (3,)
    cauchy default_float;

    /// Lengths of normal vectors in three dimensions: density `sqrt(2/π) x**2 exp(-x**2 / 2)` from 0 on.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   shape: the shape of the result; one number by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, or the dtype is not floating.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: nothing to differentiate, keys have no tangents.
    /// Example:
    ///   >>> bool((jax.random.maxwell(jax.random.key(0), (100,)) >= 0).all())
    ///   True
    maxwell default_float;

    /// -1 or 1, equally likely.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   shape: the shape of the result; one number by default.
    ///   dtype: any numeric dtype; int32 by default.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: nothing to differentiate, keys have no tangents.
    /// Example:
    ///   >>> jax.random.rademacher(jax.random.key(0), (4,))
    ///   Array([-1, -1,  1,  1], dtype=int32)
    rademacher default_int;
}

macro_rules! of_one_parameter {
    ($($(#[$meta:meta])* $name:ident $parameter:ident $default:ident;)*) => {$(
        $(#[$meta])*
        #[pyfunction]
        #[pyo3(signature = (key, $parameter, shape=None, dtype=None, *, out_sharding=None))]
        fn $name(
            py: Python<'_>,
            key: Key,
            $parameter: ArrayLike,
            shape: Option<ShapeArg>,
            dtype: Option<DTypeArg>,
            out_sharding: Object<'_, '_>,
        ) -> PyResult<Py<PyAny>> {
            let parameter = $parameter.val(py, stringify!($name), 1)?;
            let dtype = dtype_or(py, dtype, stringify!($name), $default())?;
            one(py, || {
                check_options(stringify!($name), out_sharding, None)?;
                random::$name(&key.0, &parameter, sizes(shape)?.as_deref(), dtype)
            })
        }
    )*};
}

of_one_parameter! {
    /// Numbers of the Pareto distribution: density `b x**(-b - 1)` from 1 on.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   b: the exponent, positive; real numbers.
    ///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: in `b`.
    /// Example:
    ///   >>> bool((jax.random.pareto(jax.random.key(0), 2.0, (100,)) >= 1).all())
    ///   True
    pareto b default_float;

    /// Numbers of the Rayleigh distribution: density `x / scale**2 exp(-x**2 / (2 scale**2))` from 0 on.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   scale: the mode, not negative; real numbers.
    ///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: in `scale`, linear.
    /// Example:
    ///   >>> jax.random.rayleigh(jax.random.key(0), jnp.zeros(2))
    ///   Array([0., 0.], dtype=float32)
    rayleigh scale default_float;

    /// Numbers of the inverse Gaussian distribution with scale 1: density `sqrt(1 / (2 π x**3)) exp(-(x - mean)**2 /
    /// (2 mean**2 x))` from 0 on (Michael, Schucany, Haas, 1976).
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   mean: the mean, positive; real numbers.
    ///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: in `mean`, where the choice between the two roots does not change.
    /// Example:
    ///   >>> jax.random.wald(jax.random.key(0), 1.0, (3,)).shape
    ///   (3,)
    wald mean default_float;

    /// Vectors of the Dirichlet distribution: positive numbers whose sum is 1, from numbers of the gamma distribution.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   alpha: weights along the last axis, positive; the axes before are the batch.
    ///   shape: the shape of the batch, to which that of `alpha` broadcasts; that of `alpha` by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of the batch's shape and one more axis, the size of the last of `alpha`.
    /// Raises:
    ///   TypeError: `key` is no key.
    ///   ValueError: several keys are given, the dtype is not floating, `alpha` is a scalar, or shapes do not go together.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: in `alpha`, as `gamma` is.
    /// Example:
    ///   >>> jax.random.dirichlet(jax.random.key(0), jnp.ones(3), (5,)).shape
    ///   (5, 3)
    dirichlet alpha default_float;

    /// Numbers of Student's t distribution: a normal number over the root of one of the chi-square distribution divided
    /// by `df`.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   df: degrees of freedom, positive; real numbers.
    ///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: in `df`, as `gamma` is.
    /// Example:
    ///   >>> jax.random.t(jax.random.key(0), 3.0, (4,)).shape
    ///   (4,)
    t df default_float;

    /// Numbers of trials up to the first success, itself counted: k with probability `(1 - p)**(k - 1) p`.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   p: probabilities from 0 to 1; 0 gives the greatest integer.
    ///   shape: the shape of the result, to which `p` broadcasts; its shape by default.
    ///   dtype: an integer dtype; int32 by default, int64 with x64.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or the dtype is not of integers.
    ///   ValueError: several keys are given, or shapes do not go together.
    ///   NotImplementedError: `out_sharding` is given.
    /// Differentiable: no, counts are integers.
    /// Example:
    ///   >>> jax.random.geometric(jax.random.key(0), 1.0, (3,))
    ///   Array([1, 1, 1], dtype=int32)
    geometric p default_int;
}

macro_rules! by_method {
    ($($(#[$meta:meta])* $name:ident $parameter:ident;)*) => {$(
        $(#[$meta])*
        #[pyfunction]
        #[pyo3(signature = (key, $parameter, shape=None, dtype=None, *, method="exact", out_sharding=None))]
        fn $name(
            py: Python<'_>,
            key: Key,
            $parameter: ArrayLike,
            shape: Option<ShapeArg>,
            dtype: Option<DTypeArg>,
            method: &str,
            out_sharding: Object<'_, '_>,
        ) -> PyResult<Py<PyAny>> {
            let parameter = $parameter.val(py, stringify!($name), 1)?;
            let dtype = dtype_or(py, dtype, stringify!($name), default_float())?;
            one(py, || {
                check_options(stringify!($name), out_sharding, Some(method))?;
                random::$name(&key.0, &parameter, sizes(shape)?.as_deref(), dtype)
            })
        }
    )*};
}

by_method! {
    /// Numbers of the gamma distribution with scale 1: density `x**(a - 1) exp(-x) / Γ(a)` from 0 on, by rejection
    /// (Marsaglia, Tsang, A simple method for generating gamma variables, 2000).
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   a: the shape parameter; real numbers. 0 gives 0, negative ones NaN.
    ///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   method: 'exact'.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
    ///   NotImplementedError: the method is 'approximate', or `out_sharding` is given.
    /// Differentiable: in `a`, by implicit reparameterization (Figurnov et al., 2018); once, not twice.
    /// Example:
    ///   >>> jax.random.gamma(jax.random.key(0), jnp.array([0.0, 0.0]))
    ///   Array([0., 0.], dtype=float32)
    gamma a;

    /// Logarithms of numbers of the gamma distribution, exact where those underflow because `a` is small.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   a: the shape parameter; real numbers. 0 gives minus infinity, negative ones NaN.
    ///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   method: 'exact'.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
    ///   NotImplementedError: the method is 'approximate', or `out_sharding` is given.
    /// Differentiable: in `a`, by implicit reparameterization (Figurnov et al., 2018); once, not twice.
    /// Example:
    ///   >>> bool(jax.random.loggamma(jax.random.key(0), 1e-3) < 0)
    ///   True
    loggamma a;

    /// Numbers of the chi-square distribution: sums of `df` squared normal numbers, twice those of the gamma distribution of
    /// `df / 2`.
    ///
    /// Args:
    ///   key: a key, typed or of two words.
    ///   df: degrees of freedom, positive; real numbers.
    ///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
    ///   dtype: a floating dtype; float32 by default, float64 with x64.
    ///   method: 'exact'.
    ///   out_sharding: not served; None.
    /// Returns: an array of `shape` and `dtype`.
    /// Raises:
    ///   TypeError: `key` is no key, or a size is negative.
    ///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
    ///   NotImplementedError: the method is 'approximate', or `out_sharding` is given.
    /// Differentiable: in `df`, as `gamma` is.
    /// Example:
    ///   >>> bool((jax.random.chisquare(jax.random.key(0), 2.0, (100,)) >= 0).all())
    ///   True
    chisquare df;
}

/// Numbers of the Gumbel distribution, with distribution function `exp(-exp(-x))`: `-log(-log(u))` of uniform ones.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   mode: 'low', the default, takes one word for each number; 'high' takes two, which matters for the upper tail.
///   out_sharding: not served; None.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or the mode is unknown.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> jax.random.gumbel(jax.random.key(0), (3,)).shape
///   (3,)
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, mode=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, mode=None, *, out_sharding=None)")]
fn gumbel(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    mode: Option<&str>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "gumbel", default_float())?;
    one(py, || {
        check_options("gumbel", out_sharding, None)?;
        random::gumbel(&key.0, &shape.sizes()?, dtype, mode_of(mode)?)
    })
}

/// Uniform numbers from `minval` up to but not including `maxval`.
///
/// Args:
///   key: a key, typed or of two words.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   minval: lower bounds, broadcast to `shape`.
///   maxval: upper bounds, broadcast to `shape`; where they are not above the lower ones, the result is `minval`.
///   out_sharding: not served; None.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, a size is negative, or bounds do not broadcast.
///   ValueError: several keys are given, or the dtype is not floating.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: in `minval` and `maxval`.
/// Example:
///   >>> x = jax.random.uniform(jax.random.key(0), (100,), minval=2.0, maxval=3.0)
///   >>> bool(((x >= 2) & (x < 3)).all())
///   True
#[pyfunction]
#[pyo3(
    signature = (key, shape=ONE, dtype=None, minval=None, maxval=None, *, out_sharding=None),
    text_signature = "(key, shape=(), dtype=None, minval=0.0, maxval=1.0, *, out_sharding=None)"
)]
fn uniform(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    minval: Option<ArrayLike>,
    maxval: Option<ArrayLike>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let minval = optional(py, minval, "uniform", 3)?.unwrap_or_else(|| weak_float(0.0));
    let maxval = optional(py, maxval, "uniform", 4)?.unwrap_or_else(|| weak_float(1.0));
    let dtype = dtype_or(py, dtype, "uniform", default_float())?;
    one(py, || {
        check_options("uniform", out_sharding, None)?;
        random::uniform(&key.0, &shape.sizes()?, dtype, &minval, &maxval)
    })
}

/// `lognormal` as `jax.random.lognormal` describes it.
#[pyfunction]
#[pyo3(signature = (key, sigma=None, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, sigma=1.0, shape=None, dtype=None, *, out_sharding=None)")]
fn lognormal(
    py: Python<'_>,
    key: Key,
    sigma: Option<ArrayLike>,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let sigma = optional(py, sigma, "lognormal", 1)?.unwrap_or_else(|| weak_float(1.0));
    let dtype = dtype_or(py, dtype, "lognormal", default_float())?;
    one(py, || {
        check_options("lognormal", out_sharding, None)?;
        random::lognormal(&key.0, &sigma, sizes(shape)?.as_deref(), dtype)
    })
}

/// Standard normal numbers, given that they lie between two bounds, by the inverse of the distribution function.
///
/// Args:
///   key: a key, typed or of two words.
///   lower: lower bounds; real numbers, not included.
///   upper: upper bounds above them; real numbers, not included.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: not served; None.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: in both bounds.
/// Example:
///   >>> x = jax.random.truncated_normal(jax.random.key(0), -1.0, 1.0, (100,))
///   >>> bool((abs(x) < 1).all())
///   True
#[pyfunction]
#[pyo3(signature = (key, lower, upper, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, lower, upper, shape=None, dtype=None, *, out_sharding=None)")]
fn truncated_normal(
    py: Python<'_>,
    key: Key,
    lower: ArrayLike,
    upper: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let lower = lower.val(py, "truncated_normal", 1)?;
    let upper = upper.val(py, "truncated_normal", 2)?;
    let dtype = dtype_or(py, dtype, "truncated_normal", default_float())?;
    one(py, || {
        check_options("truncated_normal", out_sharding, None)?;
        random::truncated_normal(&key.0, &lower, &upper, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers of the beta distribution: density proportional to `x**(a - 1) (1 - x)**(b - 1)` from 0 to 1; `g / (g + h)` of
/// two of the gamma distribution.
///
/// Args:
///   key: a key, typed or of two words.
///   a, b: the shape parameters, positive; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   method: 'exact'.
///   out_sharding: not served; None.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is unknown.
///   NotImplementedError: the method is 'approximate', or `out_sharding` is given.
/// Differentiable: in `a` and `b`, as `gamma` is.
/// Example:
///   >>> x = jax.random.beta(jax.random.key(0), 2.0, 3.0, (100,))
///   >>> bool(((x >= 0) & (x <= 1)).all())
///   True
#[pyfunction]
#[pyo3(signature = (key, a, b, shape=None, dtype=None, *, method="exact", out_sharding=None), text_signature = "(key, a, b, shape=None, dtype=None, *, method='exact', out_sharding=None)")]
fn beta(
    py: Python<'_>,
    key: Key,
    a: ArrayLike,
    b: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    method: &str,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "beta", 1)?;
    let b = b.val(py, "beta", 2)?;
    let dtype = dtype_or(py, dtype, "beta", default_float())?;
    one(py, || {
        check_options("beta", out_sharding, Some(method))?;
        random::beta(&key.0, &a, &b, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers of the F distribution: two of the chi-square distribution, each divided by its degrees of freedom, over
/// each other.
///
/// Args:
///   key: a key, typed or of two words.
///   dfnum: degrees of freedom of the numerator, positive; real numbers.
///   dfden: degrees of freedom of the denominator, positive; real numbers.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: not served; None.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: in both, as `gamma` is.
/// Example:
///   >>> bool((jax.random.f(jax.random.key(0), 2.0, 3.0, (100,)) >= 0).all())
///   True
#[pyfunction]
#[pyo3(signature = (key, dfnum, dfden, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, dfnum, dfden, shape=None, dtype=None, *, out_sharding=None)")]
fn f(
    py: Python<'_>,
    key: Key,
    dfnum: ArrayLike,
    dfden: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dfnum = dfnum.val(py, "f", 1)?;
    let dfden = dfden.val(py, "f", 2)?;
    let dtype = dtype_or(py, dtype, "f", default_float())?;
    one(py, || {
        check_options("f", out_sharding, None)?;
        random::f(&key.0, &dfnum, &dfden, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers of the Weibull distribution: `scale * e**(1 / concentration)` of exponential ones, so from 0 on.
///
/// Args:
///   key: a key, typed or of two words.
///   scale: the scale, positive; it broadcasts with the samples.
///   concentration: the shape parameter, positive; likewise.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
/// Returns: an array of the common shape.
/// Raises:
///   TypeError: `key` is no key, or shapes do not go together.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: in `scale` and `concentration`.
/// Example:
///   >>> bool((jax.random.weibull_min(jax.random.key(0), 1.0, 2.0, (100,)) >= 0).all())
///   True
#[pyfunction]
#[pyo3(signature = (key, scale, concentration, shape=ONE, dtype=None), text_signature = "(key, scale, concentration, shape=(), dtype=None)")]
fn weibull_min(
    py: Python<'_>,
    key: Key,
    scale: ArrayLike,
    concentration: ArrayLike,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let scale = scale.val(py, "weibull_min", 1)?;
    let concentration = concentration.val(py, "weibull_min", 2)?;
    let dtype = dtype_or(py, dtype, "weibull_min", default_float())?;
    one(py, || random::weibull_min(&key.0, &scale, &concentration, &shape.sizes()?, dtype))
}

/// Numbers of the Maxwell distribution with random sign, times `scale`, plus `loc`.
///
/// Args:
///   key: a key, typed or of two words.
///   loc: the centre; it broadcasts with the samples.
///   scale: the scale, positive; likewise.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
/// Returns: an array of the common shape.
/// Raises:
///   TypeError: `key` is no key, or shapes do not go together.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: in `loc` and `scale`, linear.
/// Example:
///   >>> jax.random.double_sided_maxwell(jax.random.key(0), 0.0, 1.0, (3,)).shape
///   (3,)
#[pyfunction]
#[pyo3(signature = (key, loc, scale, shape=ONE, dtype=None), text_signature = "(key, loc, scale, shape=(), dtype=None)")]
fn double_sided_maxwell(
    py: Python<'_>,
    key: Key,
    loc: ArrayLike,
    scale: ArrayLike,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let loc = loc.val(py, "double_sided_maxwell", 1)?;
    let scale = scale.val(py, "double_sided_maxwell", 2)?;
    let dtype = dtype_or(py, dtype, "double_sided_maxwell", default_float())?;
    one(py, || random::double_sided_maxwell(&key.0, &loc, &scale, &shape.sizes()?, dtype))
}

/// Numbers with density proportional to `exp(-|x|**p)`: roots of numbers of the gamma distribution, with random sign.
///
/// Args:
///   key: a key, typed or of two words.
///   p: the exponent, a positive scalar.
///   shape: the shape of the result; one number by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: not served; None.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, or the dtype is not floating.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: in `p`, as `gamma` is.
/// Example:
///   >>> jax.random.generalized_normal(jax.random.key(0), 2.0, (3,)).shape
///   (3,)
#[pyfunction]
#[pyo3(signature = (key, p, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, p, shape=(), dtype=None, *, out_sharding=None)")]
fn generalized_normal(
    py: Python<'_>,
    key: Key,
    p: ArrayLike,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let p = p.val(py, "generalized_normal", 1)?;
    let dtype = dtype_or(py, dtype, "generalized_normal", default_float())?;
    one(py, || {
        check_options("generalized_normal", out_sharding, None)?;
        random::generalized_normal(&key.0, &p, &shape.sizes()?, dtype)
    })
}

/// Numbers of the triangular distribution, whose density rises from `left` to `mode` and falls to `right`.
///
/// Args:
///   key: a key, typed or of two words.
///   left: where the density begins; real numbers.
///   mode: where it is greatest, between the others.
///   right: where it ends, above `left`.
///   shape: the shape of the result, to which parameters broadcast; their common shape by default.
///   dtype: a floating dtype; float32 by default, float64 with x64.
///   out_sharding: not served; None.
/// Returns: an array of `shape` and `dtype`.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given, the dtype is not floating, or shapes do not go together.
///   NotImplementedError: `out_sharding` is given.
/// Differentiable: in all three, where the sample does not change sides.
/// Example:
///   >>> x = jax.random.triangular(jax.random.key(0), 0.0, 1.0, 2.0, (100,))
///   >>> bool(((x >= 0) & (x <= 2)).all())
///   True
#[pyfunction]
#[pyo3(signature = (key, left, mode, right, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, left, mode, right, shape=None, dtype=None, *, out_sharding=None)")]
fn triangular(
    py: Python<'_>,
    key: Key,
    left: ArrayLike,
    mode: ArrayLike,
    right: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let left = left.val(py, "triangular", 1)?;
    let mode = mode.val(py, "triangular", 2)?;
    let right = right.val(py, "triangular", 3)?;
    let dtype = dtype_or(py, dtype, "triangular", default_float())?;
    one(py, || {
        check_options("triangular", out_sharding, None)?;
        random::triangular(&key.0, [&left, &right], &mode, sizes(shape)?.as_deref(), dtype)
    })
}
