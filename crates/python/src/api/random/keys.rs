//! Keys: made of seeds and of words, split, and taken apart.
#![allow(non_snake_case, reason = "names are the reference's")]

use pullback_base::DType;
use pullback_ir::Val;
use pullback_lib::random;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use super::{Key, Object};
use crate::api::arguments::{ShapeArg, one};
use crate::gate::gate;
use crate::value::{ArrayLike, to_val, try_val};

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; check_impl checked_key key PRNGKey key_data wrap_key_data key_impl split fold_in clone);
    Ok(())
}

/// Checks the name of a generator.
#[pyfunction]
fn check_impl(py: Python<'_>, name: Object<'_, '_>) -> PyResult<()> {
    let Some(name) = name else { return Ok(()) };
    // The element type of keys stands for its generator.
    if crate::dtypes::of_object(name).is_ok_and(|dtype| dtype == DType::KeyFry) {
        return Ok(());
    }
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
///
/// Args:
///   seed: an integer scalar; without x64 the low 32 bits of Python integers count.
///   impl: the name of the generator, 'threefry2x32' or None; it is threefry with two words and 20 rounds (Salmon et
///     al., 2011).
///   dtype: the element type of keys, as `key_dtype` gives it, instead of `impl`.
/// Returns: a key, an array of shape `()` and dtype `key<fry>`.
/// Raises:
///   TypeError: the seed is no integer, or no scalar.
///   OverflowError: the seed does not fit int64.
///   ValueError: there is no such generator.
///   NotImplementedError: the generator is another one of JAX's.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.key(42))
///   Array([ 0, 42], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (seed, *, r#impl=None, dtype=None), text_signature = "(seed, *, impl=None, dtype=None)")]
fn key(py: Python<'_>, seed: &Bound<'_, PyAny>, r#impl: Object<'_, '_>, dtype: Object<'_, '_>) -> PyResult<Py<PyAny>> {
    check_impl(py, r#impl.or(dtype))?;
    let seed = seed_val(py, seed)?;
    one(py, || random::key(&seed))
}

/// A random key of an integer seed, as two words; `key` gives keys that cannot be taken for numbers.
///
/// Args:
///   seed: an integer scalar; without x64 the low 32 bits of Python integers count.
///   impl: the name of the generator, 'threefry2x32' or None.
/// Returns: uint32 of shape `(2,)`.
/// Raises:
///   TypeError: the seed is no integer, or no scalar.
///   OverflowError: the seed does not fit int64.
///   ValueError: there is no such generator.
///   NotImplementedError: the generator is another one of JAX's.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.PRNGKey(42)
///   Array([ 0, 42], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (seed, *, r#impl=None), text_signature = "(seed, *, impl=None)")]
fn PRNGKey(py: Python<'_>, seed: &Bound<'_, PyAny>, r#impl: Object<'_, '_>) -> PyResult<Py<PyAny>> {
    check_impl(py, r#impl)?;
    let seed = seed_val(py, seed)?;
    one(py, || random::PRNGKey(&seed))
}

/// The words of keys.
///
/// Args:
///   keys: an array of keys, or of their words already.
/// Returns: uint32 of shape `(*keys.shape, 2)`.
/// Raises:
///   TypeError: `keys` are no keys.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.key(42))
///   Array([ 0, 42], dtype=uint32)
#[pyfunction]
fn key_data(py: Python<'_>, keys: Key) -> PyResult<Py<PyAny>> {
    one(py, || random::key_data(&keys.0))
}

/// Keys of their words.
///
/// Args:
///   key_bits_array: uint32 array whose last axis has size 2.
///   impl: the name of the generator, 'threefry2x32' or None.
///   dtype: the element type of keys, as `key_dtype` gives it, instead of `impl`.
/// Returns: an array of keys, without the last axis.
/// Raises:
///   TypeError: the dtype is not uint32, or the last axis has another size.
///   ValueError: there is no such generator.
///   NotImplementedError: the generator is another one of JAX's.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> key = jax.random.wrap_key_data(jnp.array([0, 42], dtype=jnp.uint32))
///   >>> jax.random.key_data(key)
///   Array([ 0, 42], dtype=uint32)
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
///
/// Args:
///   keys: an array of keys, or of their words.
/// Returns: 'threefry2x32'.
/// Raises:
///   TypeError: `keys` are no keys.
/// Differentiable: no, the result is text.
/// Example:
///   >>> jax.random.key_impl(jax.random.key(0))
///   'threefry2x32'
#[pyfunction]
fn key_impl(py: Python<'_>, keys: Key) -> PyResult<&'static str> {
    gate(py, || random::key_impl(&keys.0))
}

/// New keys of a key, independent of each other and of it for all that is known.
///
/// Args:
///   key: a key, typed or of two words.
///   num: how many, or the shape of the array of keys.
/// Returns: an array of keys in the form of `key`: of shape `(num,)`, and one axis of two words more for words.
/// Raises:
///   TypeError: `key` is no key, or a size is negative.
///   ValueError: several keys are given; use `vmap`.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> first, second = jax.random.split(jax.random.key(0))
///   >>> jax.random.key_data(first)
///   Array([1797259609, 2579123966], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (key, num=ShapeArg(vec![2])), text_signature = "(key, num=2)")]
fn split(py: Python<'_>, key: Key, num: ShapeArg) -> PyResult<Py<PyAny>> {
    one(py, || random::split(&key.0, &num.0))
}

/// A new key of a key and an integer, such as the number of a step.
///
/// Args:
///   key: a key, typed or of two words.
///   data: an integer scalar of 32 bits; Python integers must fit uint32.
/// Returns: a key in the form of `key`.
/// Raises:
///   TypeError: `key` is no key, or `data` no scalar.
///   ValueError: several keys are given; use `vmap`.
///   OverflowError: a Python integer does not fit.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.fold_in(jax.random.key(0), 1))
///   Array([ 928981903, 3453687069], dtype=uint32)
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

/// The same key, fit to be used once more where reuse is checked.
///
/// Args:
///   key: an array of typed keys.
/// Returns: keys with the same words.
/// Raises:
///   TypeError: `key` holds no typed keys.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.clone(jax.random.key(42)))
///   Array([ 0, 42], dtype=uint32)
#[pyfunction]
fn clone(py: Python<'_>, key: Key) -> PyResult<Py<PyAny>> {
    one(py, || random::clone(&key.0))
}
