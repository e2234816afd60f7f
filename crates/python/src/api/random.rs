//! The glue of `pullback.random`: keys, shapes and dtypes as users write them, one call into `lib`, the result wrapped.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use pullback_base::{DType, Result, bail};
use pullback_ir::Val;
use pullback_lib::convert::{default_float, default_int, default_uint, weak_float};
use pullback_lib::random::{self, Choice, Mode, Population};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use super::arguments::{ShapeArg, check_out_sharding, one, operand, optional};
use crate::dtypes::DTypeArg;
use crate::errors::{Carry, type_error};
use crate::gate::gate;
use crate::value::{ArrayLike, to_val, try_val};

type Object<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// An argument that should be a key.
struct Key(Val);

impl<'py> FromPyObject<'_, 'py> for Key {
    type Error = PyErr;
    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Key> {
        match try_val(&obj)? {
            Some(val) => Ok(Key(val)),
            None => Err(type_error(format!("unexpected PRNG key type {}", obj.get_type()))),
        }
    }
}

/// The default shape: that of one sample.
const ONE: ShapeArg = ShapeArg(vec![]);

/// The dtype that was asked for, or the default.
fn dtype_or(py: Python<'_>, asked: Option<DTypeArg>, function: &str, default: DType) -> PyResult<DType> {
    asked.map_or(Ok(default), |asked| asked.canonical(py, function))
}

fn sizes(shape: Option<ShapeArg>) -> Result<Option<Vec<usize>>> {
    shape.map(|shape| shape.sizes()).transpose()
}

/// Refuses options that are not served.
fn check_options(name: &str, out_sharding: Object<'_, '_>, method: Option<&str>) -> Result<()> {
    if let Some(given) = out_sharding {
        check_out_sharding(name, out_sharding).carry(given.py())?;
    }
    match method {
        None | Some("exact") => Ok(()),
        Some("approximate") => {
            bail!(NotImplemented, "method='approximate' of jax.random.{name} is not implemented; use method='exact'")
        }
        Some(other) => {
            bail!(Value, "method argument to `{name}` must be one of {{'exact', 'approximate'}}, got '{other}'")
        }
    }
}

fn mode_of(mode: Option<&str>) -> Result<Mode> {
    mode.map_or(Ok(Mode::Low), Mode::parse)
}

/// Checks the name of a generator.
#[pyfunction]
fn check_impl(py: Python<'_>, name: Object<'_, '_>) -> PyResult<()> {
    let Some(name) = name else { return Ok(()) };
    let text = if name.is_instance_of::<PyString>() { name.to_string() } else { name.str()?.to_string() };
    gate(py, || random::check_implementation(&text))
}

/// The key of a function, in typed form.
#[pyfunction]
fn checked_key(py: Python<'_>, name: &str, key: Key) -> PyResult<Py<PyAny>> {
    one(py, || random::checked_key(name, &key.0))
}

/// A seed: Python integers of up to 64 bits wrap, anything else is an array.
fn seed_val(py: Python<'_>, seed: &Bound<'_, PyAny>) -> PyResult<Val> {
    if seed.is_exact_instance_of::<PyInt>() {
        let wide = seed.extract::<i128>().unwrap_or(i128::MAX);
        return gate(py, || random::seed_of_int(wide));
    }
    match try_val(seed)? {
        Some(val) => Ok(val),
        None => to_val(&crate::numpy::numpy(py)?.asarray.bind(py).call1((seed,))?),
    }
}

/// A random key of an integer seed.
#[pyfunction]
#[pyo3(signature = (seed, *, r#impl=None, dtype=None), text_signature = "(seed, *, impl=None, dtype=None)")]
fn key(py: Python<'_>, seed: &Bound<'_, PyAny>, r#impl: Object<'_, '_>, dtype: Object<'_, '_>) -> PyResult<Py<PyAny>> {
    check_impl(py, r#impl.or(dtype))?;
    let seed = seed_val(py, seed)?;
    one(py, || random::key(&seed))
}

/// A random key of an integer seed, as two words.
#[pyfunction]
#[pyo3(signature = (seed, *, r#impl=None), text_signature = "(seed, *, impl=None)")]
fn PRNGKey(py: Python<'_>, seed: &Bound<'_, PyAny>, r#impl: Object<'_, '_>) -> PyResult<Py<PyAny>> {
    check_impl(py, r#impl)?;
    let seed = seed_val(py, seed)?;
    one(py, || random::PRNGKey(&seed))
}

/// The words of keys.
#[pyfunction]
fn key_data(py: Python<'_>, keys: Key) -> PyResult<Py<PyAny>> {
    one(py, || random::key_data(&keys.0))
}

/// Keys of their words.
#[pyfunction]
#[pyo3(
    signature = (key_bits_array, *, r#impl=None, dtype=None),
    text_signature = "(key_bits_array, *, impl=None, dtype=None)"
)]
fn wrap_key_data(
    py: Python<'_>,
    key_bits_array: ArrayLike,
    r#impl: Object<'_, '_>,
    dtype: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    check_impl(py, r#impl.or(dtype))?;
    let data = key_bits_array.val(py, "wrap_key_data", 0)?;
    one(py, || random::wrap_key_data(&data))
}

/// The name of the generator of keys.
#[pyfunction]
fn key_impl(py: Python<'_>, keys: Key) -> PyResult<&'static str> {
    gate(py, || random::key_impl(&keys.0))
}

/// New keys of a key.
#[pyfunction]
#[pyo3(signature = (key, num=ShapeArg(vec![2])), text_signature = "(key, num=2)")]
fn split(py: Python<'_>, key: Key, num: ShapeArg) -> PyResult<Py<PyAny>> {
    one(py, || random::split(&key.0, &num.0))
}

/// A new key of a key and an integer.
#[pyfunction]
fn fold_in(py: Python<'_>, key: Key, data: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let data = word(py, data)?;
    one(py, || random::fold_in(&key.0, &data))
}

/// The data of `fold_in`: Python integers must fit 32 unsigned bits.
fn word(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Val> {
    if data.is_exact_instance_of::<PyInt>() {
        let fits = data.extract::<u32>().map_err(|_| {
            pyo3::exceptions::PyOverflowError::new_err(format!("Python integer {data} out of bounds for uint32"))
        })?;
        return Ok(Val::Literal(pullback_base::Scalar::int(DType::U32, fits.into())));
    }
    match try_val(data)? {
        Some(val) => Ok(val),
        None => to_val(&py.get_type::<PyInt>().call1((data,))?),
    }
}

/// The same key, fit to be used once more.
#[pyfunction]
fn clone(py: Python<'_>, key: Key) -> PyResult<Py<PyAny>> {
    one(py, || random::clone(&key.0))
}

/// Random bits as unsigned integers.
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)")]
fn bits(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "bits", default_uint())?;
    one(py, || {
        check_options("bits", out_sharding, None)?;
        random::bits(&key.0, &shape.sizes()?, dtype)
    })
}

/// Normal numbers.
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)")]
fn normal(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "normal", default_float())?;
    one(py, || {
        check_options("normal", out_sharding, None)?;
        random::normal(&key.0, &shape.sizes()?, dtype)
    })
}

/// Numbers of the exponential distribution.
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)")]
fn exponential(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "exponential", default_float())?;
    one(py, || {
        check_options("exponential", out_sharding, None)?;
        random::exponential(&key.0, &shape.sizes()?, dtype)
    })
}

/// Numbers of the Laplace distribution.
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)")]
fn laplace(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "laplace", default_float())?;
    one(py, || {
        check_options("laplace", out_sharding, None)?;
        random::laplace(&key.0, &shape.sizes()?, dtype)
    })
}

/// Numbers of the logistic distribution.
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)")]
fn logistic(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "logistic", default_float())?;
    one(py, || {
        check_options("logistic", out_sharding, None)?;
        random::logistic(&key.0, &shape.sizes()?, dtype)
    })
}

/// Numbers of the Cauchy distribution.
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)")]
fn cauchy(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "cauchy", default_float())?;
    one(py, || {
        check_options("cauchy", out_sharding, None)?;
        random::cauchy(&key.0, &shape.sizes()?, dtype)
    })
}

/// Numbers of the Maxwell distribution.
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)")]
fn maxwell(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "maxwell", default_float())?;
    one(py, || {
        check_options("maxwell", out_sharding, None)?;
        random::maxwell(&key.0, &shape.sizes()?, dtype)
    })
}

/// -1 or 1, equally likely.
#[pyfunction]
#[pyo3(signature = (key, shape=ONE, dtype=None, *, out_sharding=None), text_signature = "(key, shape=(), dtype=None, *, out_sharding=None)")]
fn rademacher(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let dtype = dtype_or(py, dtype, "rademacher", default_int())?;
    one(py, || {
        check_options("rademacher", out_sharding, None)?;
        random::rademacher(&key.0, &shape.sizes()?, dtype)
    })
}

/// Numbers of the Gumbel distribution.
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

/// Numbers of the Pareto distribution.
#[pyfunction]
#[pyo3(signature = (key, b, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, b, shape=None, dtype=None, *, out_sharding=None)")]
fn pareto(
    py: Python<'_>,
    key: Key,
    b: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let b = b.val(py, "pareto", 1)?;
    let dtype = dtype_or(py, dtype, "pareto", default_float())?;
    one(py, || {
        check_options("pareto", out_sharding, None)?;
        random::pareto(&key.0, &b, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers of the Rayleigh distribution.
#[pyfunction]
#[pyo3(signature = (key, scale, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, scale, shape=None, dtype=None, *, out_sharding=None)")]
fn rayleigh(
    py: Python<'_>,
    key: Key,
    scale: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let scale = scale.val(py, "rayleigh", 1)?;
    let dtype = dtype_or(py, dtype, "rayleigh", default_float())?;
    one(py, || {
        check_options("rayleigh", out_sharding, None)?;
        random::rayleigh(&key.0, &scale, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers whose logarithm is normal.
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

/// Numbers of the inverse Gaussian distribution.
#[pyfunction]
#[pyo3(signature = (key, mean, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, mean, shape=None, dtype=None, *, out_sharding=None)")]
fn wald(
    py: Python<'_>,
    key: Key,
    mean: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let mean = mean.val(py, "wald", 1)?;
    let dtype = dtype_or(py, dtype, "wald", default_float())?;
    one(py, || {
        check_options("wald", out_sharding, None)?;
        random::wald(&key.0, &mean, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers of the gamma distribution.
#[pyfunction]
#[pyo3(signature = (key, a, shape=None, dtype=None, *, method="exact", out_sharding=None), text_signature = "(key, a, shape=None, dtype=None, *, method='exact', out_sharding=None)")]
fn gamma(
    py: Python<'_>,
    key: Key,
    a: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    method: &str,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "gamma", 1)?;
    let dtype = dtype_or(py, dtype, "gamma", default_float())?;
    one(py, || {
        check_options("gamma", out_sharding, Some(method))?;
        random::gamma(&key.0, &a, sizes(shape)?.as_deref(), dtype)
    })
}

/// Logarithms of numbers of the gamma distribution.
#[pyfunction]
#[pyo3(signature = (key, a, shape=None, dtype=None, *, method="exact", out_sharding=None), text_signature = "(key, a, shape=None, dtype=None, *, method='exact', out_sharding=None)")]
fn loggamma(
    py: Python<'_>,
    key: Key,
    a: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    method: &str,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "loggamma", 1)?;
    let dtype = dtype_or(py, dtype, "loggamma", default_float())?;
    one(py, || {
        check_options("loggamma", out_sharding, Some(method))?;
        random::loggamma(&key.0, &a, sizes(shape)?.as_deref(), dtype)
    })
}

/// Vectors of the Dirichlet distribution.
#[pyfunction]
#[pyo3(signature = (key, alpha, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, alpha, shape=None, dtype=None, *, out_sharding=None)")]
fn dirichlet(
    py: Python<'_>,
    key: Key,
    alpha: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let alpha = alpha.val(py, "dirichlet", 1)?;
    let dtype = dtype_or(py, dtype, "dirichlet", default_float())?;
    one(py, || {
        check_options("dirichlet", out_sharding, None)?;
        random::dirichlet(&key.0, &alpha, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers of the chi-square distribution.
#[pyfunction]
#[pyo3(signature = (key, df, shape=None, dtype=None, *, method="exact", out_sharding=None), text_signature = "(key, df, shape=None, dtype=None, *, method='exact', out_sharding=None)")]
fn chisquare(
    py: Python<'_>,
    key: Key,
    df: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    method: &str,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let df = df.val(py, "chisquare", 1)?;
    let dtype = dtype_or(py, dtype, "chisquare", default_float())?;
    one(py, || {
        check_options("chisquare", out_sharding, Some(method))?;
        random::chisquare(&key.0, &df, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers of Student's t distribution.
#[pyfunction]
#[pyo3(signature = (key, df, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, df, shape=None, dtype=None, *, out_sharding=None)")]
fn t(
    py: Python<'_>,
    key: Key,
    df: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let df = df.val(py, "t", 1)?;
    let dtype = dtype_or(py, dtype, "t", default_float())?;
    one(py, || {
        check_options("t", out_sharding, None)?;
        random::t(&key.0, &df, sizes(shape)?.as_deref(), dtype)
    })
}

/// Numbers of trials up to the first success.
#[pyfunction]
#[pyo3(signature = (key, p, shape=None, dtype=None, *, out_sharding=None), text_signature = "(key, p, shape=None, dtype=None, *, out_sharding=None)")]
fn geometric(
    py: Python<'_>,
    key: Key,
    p: ArrayLike,
    shape: Option<ShapeArg>,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let p = p.val(py, "geometric", 1)?;
    let dtype = dtype_or(py, dtype, "geometric", default_int())?;
    one(py, || {
        check_options("geometric", out_sharding, None)?;
        random::geometric(&key.0, &p, sizes(shape)?.as_deref(), dtype)
    })
}

/// Normal numbers between two bounds.
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

/// Numbers of the beta distribution.
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

/// Numbers of the F distribution.
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

/// Numbers of the Weibull distribution.
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

/// Numbers of the Maxwell distribution with random sign.
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

/// Numbers with density proportional to `exp(-|x|**p)`.
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

/// Numbers of the triangular distribution.
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

/// Uniform numbers from `minval` up to but not including `maxval`.
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

/// Uniform integers from `minval` up to but not including `maxval`.
#[pyfunction]
#[pyo3(
    signature = (key, shape, minval, maxval, dtype=None, *, out_sharding=None),
    text_signature = "(key, shape, minval, maxval, dtype=None, *, out_sharding=None)"
)]
fn randint(
    py: Python<'_>,
    key: Key,
    shape: ShapeArg,
    minval: ArrayLike,
    maxval: ArrayLike,
    dtype: Option<DTypeArg>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let (minval, maxval) = (minval.val(py, "randint", 2)?, maxval.val(py, "randint", 3)?);
    let dtype = dtype_or(py, dtype, "randint", default_int())?;
    one(py, || {
        check_options("randint", out_sharding, None)?;
        random::randint(&key.0, &shape.sizes()?, &minval, &maxval, dtype)
    })
}

/// Booleans that hold with probability `p`.
#[pyfunction]
#[pyo3(
    signature = (key, p=None, shape=None, mode="low", *, out_sharding=None),
    text_signature = "(key, p=0.5, shape=None, mode='low', *, out_sharding=None)"
)]
fn bernoulli(
    py: Python<'_>,
    key: Key,
    p: Option<ArrayLike>,
    shape: Option<ShapeArg>,
    mode: &str,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let p = optional(py, p, "bernoulli", 1)?.unwrap_or_else(|| weak_float(0.5));
    one(py, || {
        check_options("bernoulli", out_sharding, None)?;
        random::bernoulli(&key.0, &p, sizes(shape)?.as_deref(), Mode::parse(mode)?)
    })
}

/// What is permuted or chosen from: integers count, arrays have parts. A concrete scalar array is its integer.
fn population(obj: &Bound<'_, PyAny>, function: &str, argument: &str) -> PyResult<Population> {
    if obj.is_instance_of::<PyInt>() {
        return Ok(Population::Below(obj.extract()?));
    }
    let val = operand(obj, function, 1)?;
    let aval = val.aval();
    if aval.rank() > 0 {
        return Ok(Population::Array(val));
    }
    if !aval.dtype.is_integer() {
        return Err(type_error(format!("{argument} must be an integer or at least 1-dimensional")));
    }
    obj.call_method0("__index__")?.extract().map(Population::Below)
}

/// The integers below `x`, or the parts of the array `x` along an axis, in random order.
#[pyfunction]
#[pyo3(
    signature = (key, x, axis=0, independent=false, *, out_sharding=None),
    text_signature = "(key, x, axis=0, independent=False, *, out_sharding=None)"
)]
fn permutation(
    py: Python<'_>,
    key: Key,
    x: &Bound<'_, PyAny>,
    axis: i64,
    independent: bool,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let population = population(x, "permutation", "x")?;
    one(py, || {
        check_options("permutation", out_sharding, None)?;
        random::permutation(&key.0, &population, axis, independent)
    })
}

/// Random integers below `a`, or random parts of the array `a` along an axis.
#[pyfunction]
#[pyo3(
    signature = (key, a, shape=ONE, replace=true, p=None, axis=0, mode=None),
    text_signature = "(key, a, shape=(), replace=True, p=None, axis=0, mode=None)"
)]
fn choice(
    py: Python<'_>,
    key: Key,
    a: &Bound<'_, PyAny>,
    shape: ShapeArg,
    replace: bool,
    p: Option<ArrayLike>,
    axis: i64,
    mode: Option<&str>,
) -> PyResult<Py<PyAny>> {
    let population = population(a, "choice", "a")?;
    let p = optional(py, p, "choice", 4)?;
    one(py, || {
        let options = Choice { shape: shape.sizes()?, replace, p, axis, mode: mode_of(mode)? };
        random::choice(&key.0, &population, &options)
    })
}

/// Positions with probabilities proportional to the exponentials of `logits`.
#[pyfunction]
#[pyo3(
    signature = (key, logits, axis=-1, shape=None, replace=true, mode=None, *, out_sharding=None),
    text_signature = "(key, logits, axis=-1, shape=None, replace=True, mode=None, *, out_sharding=None)"
)]
fn categorical(
    py: Python<'_>,
    key: Key,
    logits: ArrayLike,
    axis: i64,
    shape: Option<ShapeArg>,
    replace: bool,
    mode: Option<&str>,
    out_sharding: Object<'_, '_>,
) -> PyResult<Py<PyAny>> {
    let logits = logits.val(py, "categorical", 1)?;
    one(py, || {
        check_options("categorical", out_sharding, None)?;
        random::categorical(&key.0, &logits, axis, sizes(shape)?.as_deref(), replace, mode_of(mode)?)
    })
}

macro_rules! add_all {
    ($m:expr; $($name:ident)*) => { $($m.add_function(wrap_pyfunction!($name, $m)?)?;)* };
}

/// Adds `_core.random`, whose functions say that they live in `pullback.random`.
pub fn register(core: &Bound<'_, PyModule>) -> PyResult<()> {
    let m = PyModule::new(core.py(), "pullback.random")?;
    add_all!(&m; check_impl checked_key key PRNGKey key_data wrap_key_data key_impl split fold_in clone bits normal exponential laplace logistic cauchy maxwell rademacher gumbel pareto rayleigh lognormal wald gamma loggamma dirichlet chisquare t geometric truncated_normal beta f weibull_min double_sided_maxwell generalized_normal triangular uniform randint bernoulli permutation choice categorical);
    core.add("random", m)
}
