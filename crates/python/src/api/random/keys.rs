//! Keys: made of seeds and of words, split, and taken apart.
#![allow(non_snake_case, reason = "names are the reference's")]

use pullback_base::{Aval, DType};
use pullback_ir::Val;
use pullback_lib::random::{self, KeyKind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use super::{Key, Object};
use crate::api::arguments::{ShapeArg, one};
use crate::errors::type_error;
use crate::gate::gate;
use crate::value::{ArrayLike, to_val, try_val};

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    add_all!(m; _key_dtype checked_key key PRNGKey key_data wrap_key_data key_impl split fold_in clone);
    Ok(())
}

/// The element type of keys of a generator, or of the default one.
#[pyfunction]
fn _key_dtype<'py>(py: Python<'py>, name: Object<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let kind = generator(py, name)?.unwrap_or_else(random::default_generator);
    crate::dtypes::to_numpy(py, kind.dtype())
}

/// The generator that is named, by text or by the element type of its keys.
fn generator(py: Python<'_>, name: Object<'_, '_>) -> PyResult<Option<KeyKind>> {
    let Some(name) = name else { return Ok(None) };
    if name.is_instance_of::<PyString>() {
        let name = name.to_string();
        return gate(py, || random::generator(&name)).map(Some);
    }
    let dtype = crate::dtypes::of_object(name).ok().filter(|dtype| dtype.is_key());
    let Some(dtype) = dtype else {
        let given = name.get_type();
        return Err(type_error(format!("unrecognized type {given} for specifying PRNG implementation.")));
    };
    gate(py, || KeyKind::of(Aval::scalar(dtype, false))).map(Some)
}

/// The generator of `impl` or `dtype`, of which one may be given.
fn one_generator(
    py: Python<'_>,
    function: &str,
    name: Object<'_, '_>,
    dtype: Object<'_, '_>,
) -> PyResult<Option<KeyKind>> {
    if name.is_some() && dtype.is_some() {
        let text = format!("Cannot specify both `impl` and `dtype` arguments to jax.random.{function}");
        return Err(PyValueError::new_err(text));
    }
    generator(py, name.or(dtype))
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
///   impl: the name of the generator: 'threefry2x32', with two words and 20 rounds (Salmon et al., 2011); 'rbg', whose
///     bits are the device's (on the CPU philox with four words and 10 rounds, of the same paper) and whose keys are
///     threefry's; or 'unsafe_rbg', whose keys are the device's too; None for the setting `jax_default_prng_impl`.
///   dtype: the element type of keys, as `key_dtype` gives it, instead of `impl`.
/// Returns: a key, an array of shape `()` and dtype `key<fry>`, `key<rbg>` or `key<urbg>`.
/// Raises:
///   TypeError: the seed is no integer, or no scalar.
///   OverflowError: the seed does not fit int64.
///   ValueError: there is no such generator, or both `impl` and `dtype` are given.
///   NotImplementedError: the generator is another one of JAX's.
/// Differentiable: no, keys have no tangents.
/// Example:
///   >>> jax.random.key_data(jax.random.key(42))
///   Array([ 0, 42], dtype=uint32)
#[pyfunction]
#[pyo3(signature = (seed, *, r#impl=None, dtype=None), text_signature = "(seed, *, impl=None, dtype=None)")]
fn key(py: Python<'_>, seed: &Bound<'_, PyAny>, r#impl: Object<'_, '_>, dtype: Object<'_, '_>) -> PyResult<Py<PyAny>> {
    let kind = one_generator(py, "key", r#impl, dtype)?;
    let seed = seed_val(py, seed)?;
    one(py, || random::key(&seed, kind))
}

/// A random key of an integer seed, as two words; `key` gives keys that cannot be taken for numbers.
///
/// Args:
///   seed: an integer scalar; without x64 the low 32 bits of Python integers count.
///   impl: the name of the generator: 'threefry2x32', 'rbg', 'unsafe_rbg', or None for the default.
/// Returns: uint32 of shape `(2,)`, or `(4,)` for 'rbg' and 'unsafe_rbg'.
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
    let kind = generator(py, r#impl)?;
    let seed = seed_val(py, seed)?;
    one(py, || random::PRNGKey(&seed, kind))
}

/// The words of keys.
///
/// Args:
///   keys: an array of keys, or of their words already.
/// Returns: uint32 of shape `(*keys.shape, 2)`, or with 4 words for 'rbg' and 'unsafe_rbg'.
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
///   key_bits_array: uint32 array whose last axis has the size of a key: 2, or 4 for 'rbg' and 'unsafe_rbg'.
///   impl: the name of the generator: 'threefry2x32', 'rbg', 'unsafe_rbg', or None for the default.
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
    let kind = one_generator(py, "wrap_key_data", r#impl, dtype)?;
    let data = key_bits_array.val(py, "wrap_key_data", 0)?;
    one(py, || random::wrap_key_data(&data, kind))
}

/// The name of the generator of keys.
///
/// Args:
///   keys: an array of keys, or of their words.
/// Returns: 'threefry2x32', 'rbg' or 'unsafe_rbg'.
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
