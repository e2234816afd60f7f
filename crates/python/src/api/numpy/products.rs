//! Products, sorting and choice.
#![allow(non_snake_case, clippy::too_many_arguments, reason = "names and numbers of parameters are the reference's")]

use crate::api::arguments::{
    Arrays, canonical, check_out_sharding, no_out, one, one_within, optional, precision as precision_of, tuple,
};
use crate::dtypes::DTypeArg;
use crate::errors::value_error;
use crate::value::ArrayLike;
use pullback_base::{Result, bail};
use pullback_ir::Val;
use pullback_lib::numpy::{self, TakeMode, TakeOptions, TensordotAxes};
use pyo3::prelude::*;

/// Adds the functions to a module.
pub fn register(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(dot, m)?)?;
    m.add_function(wrap_pyfunction!(matmul, m)?)?;
    m.add_function(wrap_pyfunction!(vdot, m)?)?;
    m.add_function(wrap_pyfunction!(vecdot, m)?)?;
    m.add_function(wrap_pyfunction!(inner, m)?)?;
    m.add_function(wrap_pyfunction!(outer, m)?)?;
    m.add_function(wrap_pyfunction!(tensordot, m)?)?;
    m.add_function(wrap_pyfunction!(cross, m)?)?;
    m.add_function(wrap_pyfunction!(sort, m)?)?;
    m.add_function(wrap_pyfunction!(argsort, m)?)?;
    m.add_function(wrap_pyfunction!(lexsort, m)?)?;
    m.add_function(wrap_pyfunction!(searchsorted, m)?)?;
    m.add_function(wrap_pyfunction!(digitize, m)?)?;
    m.add_function(wrap_pyfunction!(partition, m)?)?;
    m.add_function(wrap_pyfunction!(argpartition, m)?)?;
    m.add_function(wrap_pyfunction!(top_k, m)?)?;
    m.add_function(wrap_pyfunction!(take, m)?)?;
    m.add_function(wrap_pyfunction!(take_along_axis, m)?)?;
    m.add_function(wrap_pyfunction!(choose, m)?)?;
    m.add_function(wrap_pyfunction!(select, m)?)?;
    Ok(())
}

/// The dot product: of vectors their inner product, of matrices the matrix product, with a number the product.
/// In general the sum of products over the last axis of `a` and the last but one (or only) axis of `b`; batches of
/// `matmul` are treated differently.
///
/// Args:
///   a: an array `[..., n]` or number.
///   b: an array `[..., n, k]` or `[n]`, or number.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
///   out_sharding: the sharding of the result.
/// Returns: an array with the other axes of `a`, then those of `b`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes differ.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.dot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
///   [21 43]
#[pyfunction]
#[pyo3(signature = (a, b, *, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(a, b, *, precision=None, preferred_element_type=None, out_sharding=None)")]
fn dot(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "dot", 0)?;
    let b = b.val(py, "dot", 1)?;
    let precision = precision_of(precision.as_ref())?;
    let preferred_element_type = canonical(py, preferred_element_type, "dot")?;
    check_out_sharding("jnp.dot", out_sharding.as_ref())?;
    one_within(py, precision, || numpy::dot(&a, &b, preferred_element_type))
}

/// The matrix product `a @ b`; axes before the last two are batches, which broadcast.
/// A vector on the left counts as a row, on the right as a column, and its axis is left out of the result.
///
/// Args:
///   a: an array `[..., m, n]` or `[n]`.
///   b: an array `[..., n, k]` or `[n]`.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
///   out_sharding: the sharding of the result.
/// Returns: an array `[..., m, k]` of the promoted dtype; of booleans whether any product is true.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes `n` differ.
///   ValueError: an argument has no axes, or batches do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 0], [0, 10]])))
///   [[ 1 20]
///    [ 3 40]]
#[pyfunction]
#[pyo3(signature = (a, b, *, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(a, b, *, precision=None, preferred_element_type=None, out_sharding=None)")]
fn matmul(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "matmul", 0)?;
    let b = b.val(py, "matmul", 1)?;
    let precision = precision_of(precision.as_ref())?;
    let preferred_element_type = canonical(py, preferred_element_type, "matmul")?;
    check_out_sharding("jnp.matmul", out_sharding.as_ref())?;
    one_within(py, precision, || numpy::matmul(&a, &b, preferred_element_type))
}

/// The inner product of all elements, of the flat arrays, the first conjugated.
///
/// Args:
///   a, b: arrays of as many elements.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: an array without axes, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes differ.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.vdot(jnp.array([1j, 2]), jnp.array([1j, 3])))
///   (7+0j)
#[pyfunction]
#[pyo3(signature = (a, b, *, precision=None, preferred_element_type=None), text_signature = "(a, b, *, precision=None, preferred_element_type=None)")]
fn vdot(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "vdot", 0)?;
    let b = b.val(py, "vdot", 1)?;
    let precision = precision_of(precision.as_ref())?;
    let preferred_element_type = canonical(py, preferred_element_type, "vdot")?;
    one_within(py, precision, || numpy::vdot(&a, &b, preferred_element_type))
}

/// The inner products of vectors along an axis, the first conjugated; other axes broadcast.
///
/// Args:
///   x1, x2: arrays of one size along `axis`.
///   axis: the axis of the vectors; the last by default.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: an array of the broadcast shape without the axis, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: the sizes differ, the axis is out of bounds, or batches do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.vecdot(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 10])))
///   [21 43]
#[pyfunction]
#[pyo3(signature = (x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None), text_signature = "(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None)")]
fn vecdot(
    py: Python<'_>,
    x1: ArrayLike,
    x2: ArrayLike,
    axis: i64,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let x1 = x1.val(py, "vecdot", 0)?;
    let x2 = x2.val(py, "vecdot", 1)?;
    let precision = precision_of(precision.as_ref())?;
    let preferred_element_type = canonical(py, preferred_element_type, "vecdot")?;
    one_within(py, precision, || numpy::vecdot(&x1, &x2, axis, preferred_element_type))
}

/// The inner products over the last axes of two arrays, of all pairs of vectors; with a number the product.
///
/// Args:
///   a: an array `[..., n]` or number.
///   b: an array `[..., n]` or number.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
/// Returns: an array with the other axes of `a`, then those of `b`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or the sizes differ.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.inner(jnp.array([[1, 2], [3, 4]]), jnp.array([[1, 0], [1, 1]])))
///   [[1 3]
///    [3 7]]
#[pyfunction]
#[pyo3(signature = (a, b, *, precision=None, preferred_element_type=None), text_signature = "(a, b, *, precision=None, preferred_element_type=None)")]
fn inner(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "inner", 0)?;
    let b = b.val(py, "inner", 1)?;
    let precision = precision_of(precision.as_ref())?;
    let preferred_element_type = canonical(py, preferred_element_type, "inner")?;
    one_within(py, precision, || numpy::inner(&a, &b, preferred_element_type))
}

/// The products of all pairs of elements of two arrays, which are taken as flat.
///
/// Args:
///   a: an array of m elements, or a number.
///   b: an array of n elements, or a number.
///   out: for compatibility; must be None.
/// Returns: an array `[m, n]` of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   NotImplementedError: `out` is given.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.outer(jnp.array([1, 2]), jnp.array([3, 4])))
///   [[3 4]
///    [6 8]]
#[pyfunction]
#[pyo3(signature = (a, b, out=None), text_signature = "(a, b, out=None)")]
fn outer(py: Python<'_>, a: ArrayLike, b: ArrayLike, out: Option<Bound<'_, PyAny>>) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "outer", 0)?;
    let b = b.val(py, "outer", 1)?;
    no_out("outer", out.as_ref())?;
    one(py, || numpy::outer(&a, &b))
}

/// The sums of products over several axes of two arrays.
///
/// Args:
///   a, b: arrays.
///   axes: an integer: the last axes of `a` go with as many first ones of `b`, 2 by default; or a pair of
///     (sequences of) axes of `a` and of `b` that go together.
///   precision: the precision of the products: None, or what `jax.lax.dot_general` takes.
///   preferred_element_type: the dtype in which to add, and that of the result.
///   out_sharding: the sharding of the result.
/// Returns: an array with the other axes of `a`, then those of `b`, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number, more axes than there are, lists of different lengths,
///     or sizes that differ.
///   ValueError: an axis is out of bounds.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.tensordot(jnp.ones((2, 3, 4)), jnp.ones((3, 4)), axes=2))
///   [12. 12.]
#[pyfunction]
#[pyo3(signature = (a, b, axes=None, *, precision=None, preferred_element_type=None, out_sharding=None), text_signature = "(a, b, axes=2, *, precision=None, preferred_element_type=None, out_sharding=None)")]
fn tensordot(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    axes: Option<&Bound<'_, PyAny>>,
    precision: Option<Bound<'_, PyAny>>,
    preferred_element_type: Option<DTypeArg>,
    out_sharding: Option<Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "tensordot", 0)?;
    let b = b.val(py, "tensordot", 1)?;
    let precision = precision_of(precision.as_ref())?;
    let preferred_element_type = canonical(py, preferred_element_type, "tensordot")?;
    check_out_sharding("jnp.tensordot", out_sharding.as_ref())?;
    {
        let axes = match axes {
            None => TensordotAxes::Count(2),
            Some(axes) => super::support::tensordot_axes(axes)?,
        };
        one_within(py, precision, || numpy::tensordot(&a, &b, &axes, preferred_element_type))
    }
}

/// The cross products of vectors of three elements.
///
/// Args:
///   a, b: arrays of size 3 along the axes of the vectors; other axes broadcast.
///   axisa, axisb: the axes of the vectors in `a` and in `b`; the last by default.
///   axisc: the axis of the vectors in the result; the last by default.
///   axis: all three at once, in place of them.
/// Returns: an array of the broadcast shape, of the promoted dtype.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: vectors of another size, an axis is out of bounds, or shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to both.
/// Example:
///   >>> print(jnp.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0])))
///   [0 0 1]
#[pyfunction]
#[pyo3(signature = (a, b, axisa=-1, axisb=-1, axisc=-1, axis=None), text_signature = "(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None)")]
fn cross(
    py: Python<'_>,
    a: ArrayLike,
    b: ArrayLike,
    axisa: i64,
    axisb: i64,
    axisc: i64,
    axis: Option<i64>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "cross", 0)?;
    let b = b.val(py, "cross", 1)?;
    one(py, || numpy::cross(&a, &b, axis.map_or([axisa, axisb, axisc], |axis| [axis; 3])))
}

/// Refuses the arguments of NumPy's that choose a method or fields.
fn plain_order(name: &str, kind: Option<&Bound<'_, PyAny>>, order: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if kind.is_some() {
        return Err(crate::errors::type_error(format!(
            "'kind' argument to {name} is not supported. Use stable=True or stable=False to specify sort stability."
        )));
    }
    match order {
        None => Ok(()),
        Some(_) => Err(crate::errors::type_error(format!("'order' argument to {name} is not supported."))),
    }
}

/// The elements in order along an axis; NaNs come last. Complex numbers compare by real part, then imaginary part.
///
/// Args:
///   a: an array.
///   axis: the axis; the last by default; None takes the flat array.
///   kind, order: for compatibility; must be None.
///   stable: whether equal elements keep their order, which makes a difference for -0.0 and 0.0 only.
///   descending: whether the greatest comes first.
/// Returns: an array of the shape and dtype of `a`, or flat without axis.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or `kind` or `order` is given.
///   ValueError: the axis is out of bounds.
/// Differentiable: yes, in both modes: the gradient goes back to the places where elements came from.
/// Example:
///   >>> print(jnp.sort(jnp.array([[3, 1, 2], [0, 9, 4]]), descending=True))
///   [[3 2 1]
///    [9 4 0]]
#[pyfunction]
#[pyo3(signature = (a, axis=Some(-1), *, kind=None, order=None, stable=true, descending=false), text_signature = "(a, axis=-1, *, kind=None, order=None, stable=True, descending=False)")]
fn sort(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    kind: Option<Bound<'_, PyAny>>,
    order: Option<Bound<'_, PyAny>>,
    stable: bool,
    descending: bool,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "sort", 0)?;
    plain_order("sort", kind.as_ref(), order.as_ref())?;
    one(py, || numpy::sort(&a, axis, stable, descending))
}

/// The positions of the elements in order along an axis: `take_along_axis(a, argsort(a), -1)` is sorted.
///
/// Args:
///   a: an array.
///   axis: the axis; the last by default; None takes the flat array.
///   kind, order: for compatibility; must be None.
///   stable: whether equal elements keep their order.
///   descending: whether the greatest comes first.
///   dtype: the dtype of the result; the default integer by default.
/// Returns: integers of the shape of `a`, or flat without axis.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused), or `kind` or `order` is given.
///   ValueError: the axis is out of bounds.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argsort(jnp.array([3, 1, 2])))
///   [1 2 0]
#[pyfunction]
#[pyo3(signature = (a, axis=Some(-1), *, kind=None, order=None, stable=true, descending=false, dtype=None), text_signature = "(a, axis=-1, *, kind=None, order=None, stable=True, descending=False, dtype=None)")]
fn argsort(
    py: Python<'_>,
    a: ArrayLike,
    axis: Option<i64>,
    kind: Option<Bound<'_, PyAny>>,
    order: Option<Bound<'_, PyAny>>,
    stable: bool,
    descending: bool,
    dtype: Option<DTypeArg>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "argsort", 0)?;
    plain_order("argsort", kind.as_ref(), order.as_ref())?;
    let dtype = canonical(py, dtype, "argsort")?;
    one(py, || {
        let positions = numpy::argsort(&a, axis, stable, descending)?;
        match dtype {
            Some(dtype) => pullback_lib::convert::convert(&positions, dtype, false),
            None => Ok(positions),
        }
    })
}

/// The positions that sort by several keys: the last key counts first, the ones before decide ties.
///
/// Args:
///   keys: a sequence of arrays of one shape, or an array whose slices they are.
///   axis: the axis along which to sort; the last by default.
///   batch_size: for compatibility; without influence.
/// Returns: integers of the shape of a key.
/// Raises:
///   TypeError: there are no keys.
///   ValueError: keys of different shapes, or the axis is out of bounds.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.lexsort((jnp.array([2, 1, 0]), jnp.array([1, 0, 1]))))
///   [1 2 0]
#[pyfunction]
#[pyo3(signature = (keys, axis=-1, *, batch_size=16), text_signature = "(keys, axis=-1, *, batch_size=16)")]
fn lexsort(py: Python<'_>, keys: Arrays, axis: i64, batch_size: i64) -> PyResult<Py<PyAny>> {
    let keys = keys.vals(py, "lexsort")?;
    one(py, || {
        let _ = batch_size;
        numpy::lexsort(&keys, axis)
    })
}

/// The positions at which elements would be inserted into a sorted vector to keep it sorted.
///
/// Args:
///   a: a vector in ascending order.
///   v: the elements: an array or number; NaN goes behind the numbers.
///   side: 'left' (the default) for the first such position, 'right' for the last.
///   sorter: positions that sort `a`, if it is not in order.
///   method: 'scan', 'scan_unrolled', 'sort' or 'compare_all'; all give the same here.
/// Returns: integers of the default dtype and the shape of `v`, from 0 to the size of `a`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: `a` is no vector, or another `side` or `method`.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.searchsorted(jnp.array([1, 3, 5]), jnp.array([0, 3, 9])))
///   [0 1 3]
#[pyfunction]
#[pyo3(signature = (a, v, side="left", sorter=None, *, method="scan"), text_signature = "(a, v, side='left', sorter=None, *, method='scan')")]
fn searchsorted(
    py: Python<'_>,
    a: ArrayLike,
    v: ArrayLike,
    side: &str,
    sorter: Option<ArrayLike>,
    method: &str,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "searchsorted", 0)?;
    let v = v.val(py, "searchsorted", 1)?;
    let sorter = optional(py, sorter, "searchsorted", 3)?;
    one(py, || {
        if !["compare_all", "scan", "scan_unrolled", "sort"].contains(&method) {
            bail!(
                Value,
                "invalid argument method='{method}', expected one of ['compare_all', 'scan', 'scan_unrolled', 'sort']"
            );
        }
        let sorted = match &sorter {
            Some(order) => numpy::take(&a, order, None, TakeOptions::default())?,
            None => a.clone(),
        };
        match side {
            "left" | "right" => numpy::searchsorted(&sorted, &v, side == "right"),
            _ => bail!(Value, "{side:?} is an invalid value for keyword 'side'. Expected one of ['left', 'right']."),
        }
    })
}

/// The number of the bin of each element: i where `bins[i-1] <= x < bins[i]`, 0 before the first edge and
/// `len(bins)` from the last one on.
///
/// Args:
///   x: an array or number.
///   bins: the edges, a vector in ascending or descending order.
///   right: whether bins hold their right edge, in place of the left one.
///   method: how to search, as for `searchsorted`.
/// Returns: integers of the default dtype and the shape of `x`.
/// Raises:
///   TypeError: `x` is neither an array nor a number (lists are refused).
///   ValueError: `bins` is no vector.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.digitize(jnp.array([-1.0, 0.5, 1.0]), jnp.array([0.0, 1.0])))
///   [0 1 2]
#[pyfunction]
#[pyo3(signature = (x, bins, right=false, *, method=None), text_signature = "(x, bins, right=False, *, method=None)")]
fn digitize(py: Python<'_>, x: ArrayLike, bins: ArrayLike, right: bool, method: Option<&str>) -> PyResult<Py<PyAny>> {
    let x = x.val(py, "digitize", 0)?;
    let bins = bins.val(py, "digitize", 1)?;
    one(py, || {
        let _ = method;
        numpy::digitize(&x, &bins, right)
    })
}

/// Refuses complex numbers.
fn without_complex(name: &str, a: &Val) -> Result<()> {
    if a.aval().dtype.is_complex() {
        bail!(NotImplemented, "jnp.{name} for complex dtype is not implemented.");
    }
    Ok(())
}

/// The elements with the `kth` smallest in its place: none before it is greater, none behind it smaller.
///
/// Args:
///   a: a real array.
///   kth: the place, a static integer; negative ones count from the end.
///   axis: the axis; the last by default.
/// Returns: an array of the shape and dtype of `a`; the order on both sides is not specified.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `kth` or the axis is out of bounds.
///   NotImplementedError: `a` is complex.
/// Differentiable: yes, in both modes: the gradient goes back to the places where elements came from.
/// Example:
///   >>> print(jnp.partition(jnp.array([5, 1, 4, 2]), 1)[1])
///   2
#[pyfunction]
#[pyo3(signature = (a, kth, axis=-1), text_signature = "(a, kth, axis=-1)")]
fn partition(py: Python<'_>, a: ArrayLike, kth: i64, axis: i64) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "partition", 0)?;
    one(py, || {
        without_complex("partition", &a)?;
        numpy::partition(&a, kth, axis)
    })
}

/// The positions of the elements in an order with the `kth` smallest in its place, as `partition` gives it.
///
/// Args:
///   a: a real array.
///   kth: the place, a static integer; negative ones count from the end.
///   axis: the axis; the last by default.
/// Returns: integers of the shape of `a`; the order on both sides is not specified.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `kth` or the axis is out of bounds.
///   NotImplementedError: `a` is complex.
/// Differentiable: no; the result is an integer.
/// Example:
///   >>> print(jnp.argpartition(jnp.array([5, 1, 4, 2]), 1)[1])
///   3
#[pyfunction]
#[pyo3(signature = (a, kth, axis=-1), text_signature = "(a, kth, axis=-1)")]
fn argpartition(py: Python<'_>, a: ArrayLike, kth: i64, axis: i64) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "argpartition", 0)?;
    one(py, || {
        without_complex("argpartition", &a)?;
        numpy::argpartition(&a, kth, axis)
    })
}

/// The first of the elements in order, and their positions.
fn smallest(a: &Val, k: usize, axis: i64) -> Result<[Val; 2]> {
    let aval = a.aval();
    let along = pullback_lib::axes::canonical_axis(axis, aval.rank())?;
    if aval.dtype.is_complex() {
        bail!(Value, "top_k is not compatible with complex inputs.");
    }
    if k > aval.shape[along] {
        let size = aval.shape[along];
        bail!(Value, "k argument to top_k must be no larger than size along axis; got k={k} with size {size}.");
    }
    let order = numpy::argsort(a, Some(axis), true, false)?;
    let positions = pullback_lib::lax::slice_in_dim(&order, 0, k, 1, along)?;
    let values = numpy::take_along_axis(a, &positions, Some(axis), TakeOptions::default())?;
    Ok([values, positions])
}

/// The `k` greatest (or smallest) elements along an axis, in order, and their positions.
///
/// Args:
///   a: a real array.
///   k: how many, a static integer.
///   axis: the axis; the last by default.
///   mode: 'largest' (the default; NaN is greatest) or 'smallest'.
///   sorted: for compatibility; results are always in order.
/// Returns: the pair of elements and int32 positions, both of size `k` along the axis; of equal ones the first come
///   first.
/// Raises:
///   TypeError: `a` is neither an array nor a number (lists are refused).
///   ValueError: `k` is greater than the axis, the axis is out of bounds, `a` is complex, or another `mode`.
/// Differentiable: the elements: the gradient goes back to the places where they came from.
/// Example:
///   >>> values, places = jnp.top_k(jnp.array([3, 9, 5]), 2)
///   >>> print(values, places)
///   [9 5] [1 2]
#[pyfunction]
#[pyo3(signature = (a, k, /, *, axis=-1, mode="largest", sorted=true), text_signature = "(a, k, /, *, axis=-1, mode='largest', sorted=True)")]
fn top_k(py: Python<'_>, a: ArrayLike, k: usize, axis: i64, mode: &str, sorted: bool) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "top_k", 0)?;
    tuple(py, || {
        let _ = sorted;
        if !["largest", "smallest"].contains(&mode) {
            bail!(Value, "mode must be 'largest' or 'smallest', got '{mode}'");
        }
        if mode == "smallest" {
            return smallest(&a, k, axis);
        }
        let (values, positions) = numpy::top_k(&a, k, axis)?;
        Ok([values, positions])
    })
}

/// The elements or slices at indices along an axis. Negative indices count from the end.
///
/// Args:
///   a: an array.
///   indices: integers of any shape.
///   axis: the axis; None (the default) takes the flat array.
///   out: for compatibility; must be None.
///   mode: what indices out of bounds give: None or 'fill' (the default) `fill_value`, 'clip' the nearest element,
///     also for negative ones, 'wrap' that of the index modulo the size.
///   unique_indices: a promise that no index occurs twice, for speed.
///   indices_are_sorted: a promise that indices ascend, for speed.
///   fill_value: NaN by default, for integers the least of the signed, the greatest of the unsigned, and true for
///     booleans.
/// Returns: an array of the dtype of `a`, with the axes of `indices` in place of `axis`.
/// Raises:
///   TypeError: an argument is neither an array nor a number (lists are refused).
///   ValueError: indices that are no integers, or the axis is out of bounds.
///   IndexError: elements of an empty axis.
///   NotImplementedError: `mode='raise'`, or `out` is given.
/// Differentiable: yes, in both modes, with respect to `a`.
/// Example:
///   >>> print(jnp.take(jnp.array([5.0, 6.0, 7.0]), jnp.array([0, -1, 9])))
///   [ 5.  7. nan]
///   >>> print(jnp.take(jnp.array([5.0, 6.0, 7.0]), jnp.array([0, 9]), mode="clip"))
///   [5. 7.]
#[pyfunction]
#[pyo3(signature = (a, indices, axis=None, out=None, mode=None, unique_indices=false, indices_are_sorted=false, fill_value=None), text_signature = "(a, indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None)")]
fn take(
    py: Python<'_>,
    a: ArrayLike,
    indices: ArrayLike,
    axis: Option<i64>,
    out: Option<Bound<'_, PyAny>>,
    mode: Option<&str>,
    unique_indices: bool,
    indices_are_sorted: bool,
    fill_value: Option<&Bound<'_, PyAny>>,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "take", 0)?;
    let indices = indices.val(py, "take", 1)?;
    no_out("take", out.as_ref())?;
    check_mode("take", mode, "promise_in_bounds")?;
    {
        let options =
            super::support::take_options(mode, unique_indices, indices_are_sorted, fill_value, a.aval().dtype)?;
        one(py, || numpy::take(&a, &indices, axis, options))
    }
}

/// Refuses the mode that a function does not have.
fn check_mode(function: &str, mode: Option<&str>, refused: &str) -> PyResult<()> {
    match mode {
        Some(mode) if mode == refused => Err(value_error(format!("Invalid mode '{mode}' for jnp.{function}"))),
        _ => Ok(()),
    }
}

/// For each position the element at its index along an axis: `out[i, j] = arr[i, indices[i, j]]` along the last of
/// two.
///
/// Args:
///   arr: an array.
///   indices: integers with as many axes as `arr`; other axes than `axis` broadcast.
///   axis: the axis; the last by default; None takes the flat array.
///   mode: what indices out of bounds give: 'fill' (the default) NaN or the least integer, 'clip' the nearest
///     element; 'promise_in_bounds' promises that there are none.
///   fill_value: what 'fill' gives in place of that.
///   wrap_negative_indices: whether negative indices count from the end; if not, they are out of bounds.
/// Returns: an array of the dtype of `arr` and the shape of `indices`, broadcast.
/// Raises:
///   TypeError: an argument is neither an array nor a number, or indices that are no integers.
///   ValueError: another number of axes, the axis is out of bounds, or shapes do not broadcast.
/// Differentiable: yes, in both modes, with respect to `arr`.
/// Example:
///   >>> print(jnp.take_along_axis(jnp.array([[1, 2], [3, 4]]), jnp.array([[1], [0]]), axis=1))
///   [[2]
///    [3]]
#[pyfunction]
#[pyo3(signature = (arr, indices, axis=Some(-1), mode=None, fill_value=None, *, wrap_negative_indices=true), text_signature = "(arr, indices, axis=-1, mode=None, fill_value=None, *, wrap_negative_indices=True)")]
fn take_along_axis(
    py: Python<'_>,
    arr: ArrayLike,
    indices: ArrayLike,
    axis: Option<i64>,
    mode: Option<&str>,
    fill_value: Option<&Bound<'_, PyAny>>,
    wrap_negative_indices: bool,
) -> PyResult<Py<PyAny>> {
    let arr = arr.val(py, "take_along_axis", 0)?;
    let indices = indices.val(py, "take_along_axis", 1)?;
    check_mode("take_along_axis", mode, "wrap")?;
    let options = super::support::take_options(mode, false, false, fill_value, arr.aval().dtype)?;
    let options = TakeOptions { wraps_negative: wrap_negative_indices, ..options };
    one(py, || numpy::take_along_axis(&arr, &indices, axis, options))
}

/// For each element that of one of several choices.
#[pyfunction]
#[pyo3(signature = (a, choices, out=None, mode="raise"), text_signature = "(a, choices, out=None, mode='raise')")]
fn choose(
    py: Python<'_>,
    a: ArrayLike,
    choices: Arrays,
    out: Option<Bound<'_, PyAny>>,
    mode: &str,
) -> PyResult<Py<PyAny>> {
    let a = a.val(py, "choose", 0)?;
    let choices = choices.vals(py, "choose")?;
    no_out("choose", out.as_ref())?;
    one(py, || {
        let mode = match mode {
            "wrap" => TakeMode::Wrap,
            "clip" => TakeMode::Clip,
            _ => bail!(Value, "mode={mode:?} not understood. Must be 'raise', 'wrap', or 'clip'"),
        };
        if !a.aval().dtype.is_integer() {
            bail!(Value, "`a` array must be integer typed");
        }
        numpy::choose(&a, &choices, mode)
    })
}

/// For each element that of the first choice whose condition holds.
///
/// Args:
///   condlist: conditions: arrays of booleans that broadcast.
///   choicelist: as many arrays or numbers.
///   default: what to give where no condition holds; 0 by default.
/// Returns: an array of the broadcast shape and the promoted dtype of the choices and the default.
/// Raises:
///   TypeError: an argument is neither an array nor a number.
///   ValueError: no conditions, another number of choices, or shapes that do not broadcast.
/// Differentiable: yes, in both modes, with respect to the choices and the default.
/// Example:
///   >>> x = jnp.arange(4)
///   >>> print(jnp.select([x < 1, x < 3], [x, 10 * x], 7))
///   [ 0 10 20  7]
#[pyfunction]
#[pyo3(signature = (condlist, choicelist, default=None), text_signature = "(condlist, choicelist, default=0)")]
fn select(py: Python<'_>, condlist: Arrays, choicelist: Arrays, default: Option<ArrayLike>) -> PyResult<Py<PyAny>> {
    let condlist = condlist.vals(py, "select")?;
    let choicelist = choicelist.vals(py, "select")?;
    let default = optional(py, default, "select", 2)?;
    one(py, || numpy::select(&condlist, &choicelist, &default.unwrap_or_else(|| pullback_lib::convert::weak_int(0))))
}
