//! Samples of vectors.

use pullback_base::aval::tuple_text;
use pullback_base::{DType, Result, bail};
use pullback_derive::public;
use pullback_ir::Val;

use super::key::{checked_key, split_typed};
use super::uniform::{check_float, statics};
use super::{exponential, generalized_normal, normal};
use crate::axes::{Axes, signed_tuple_text};
use crate::broadcast::broadcast_shapes;
use crate::convert::weak_int;
use crate::declare::{Argument, Arguments, Constant, Ignored, Type};
use crate::formula::{of, sqrt};
use crate::indexing::{IndexItem, getitem};
use crate::jit::named_jit_one;
use crate::lax;
use crate::lax::linalg::{self as lin, row, singular_vectors};
use crate::numpy::{Reduction, absolute, add, diagonal, einsum, linalg, multiply, power, sum, swapaxes, true_divide};
use crate::promotion::{check_arguments, promote_inexact};

/// Points uniform in the unit ball of an Lp norm.
///
/// Numbers with density proportional to `exp(-|x|**p)`, divided by the norm of them together with an exponential number
/// (Barthe, Guédon, Mendelson, Naor: A probabilistic approach to the geometry of the l_p^n-ball, 2005).
///
/// Args:
///   key: a key, typed or of two words.
///   d: the dimension of the points.
///   p: the exponent of the norm, a positive scalar.
///   shape: the shape of the batch.
///   dtype: a floating dtype, float32 by default.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of shape `(*shape, d)`.
/// Raises:
///   TypeError: `key` is no key, or the dimension is negative.
///   ValueError: several keys are given, or the dtype is not floating.
/// Differentiable: in `p`, as `gamma` is.
/// Example:
///   >>> bool(jnp.linalg.norm(jax.random.ball(jax.random.key(0), 3)) <= 1)
///   True
#[public("random.ball(key: Key, d, p=2, shape=(), dtype: FloatByDefault=None, *, out_sharding: Sharded=None)")]
pub fn ball(key: &Val, d: i64, p: &Val, shape: &[usize], dtype: DType) -> Result<Val> {
    let key = checked_key("ball", key)?;
    check_float("gamma", dtype)?;
    let Ok(size) = usize::try_from(d) else {
        let shape: Vec<i64> = shape.iter().map(|&size| size as i64).chain([d]).collect();
        let shape = signed_tuple_text(&shape);
        bail!(Type, "Only non-negative indices are allowed when broadcasting static shapes, but got shape {shape}.");
    };
    let statics = [statics(shape, dtype), vec![d]].concat();
    named_jit_one("_ball", &statics, &[key, p.clone()], |ins| {
        let (keys, p) = (split_typed(&ins[0], &[2])?, &ins[1]);
        let nth = |i: i64| getitem(&keys, &[IndexItem::Int(i)]);
        let (for_point, for_rest) = (nth(0)?, nth(1)?);
        let point = generalized_normal(&for_point, p, &[shape, &[size]].concat(), dtype)?;
        let rest = exponential(&for_rest, shape, dtype)?;
        let powers = sum(&power(&absolute(&point)?, p)?, &Reduction::over(Axes::One(-1), false))?;
        let norm = power(&add(&powers, &rest)?, &true_divide(&weak_int(1), p)?)?;
        true_divide(&point, &lax::expand_axes(&norm, &[shape.len()])?)
    })
}

/// What is multiplied with normal numbers to give them a covariance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootMethod {
    /// By Cholesky factors.
    Cholesky,
    /// By eigenvalues.
    Eigh,
    /// By singular values.
    Svd,
}

impl Argument for RootMethod {
    const TYPE: Type = Type { python: "str", rust: "RootMethod" };
    fn read(args: &mut dyn Arguments, at: usize) -> Result<RootMethod> {
        match args.word(at)?.as_str() {
            "cholesky" => Ok(RootMethod::Cholesky),
            "eigh" => Ok(RootMethod::Eigh),
            "svd" => Ok(RootMethod::Svd),
            _ => bail!(Value, "method must be one of {{'svd', 'eigh', 'cholesky'}}"),
        }
    }
    fn absent(_default: Constant) -> RootMethod {
        RootMethod::Cholesky
    }
}

fn root_of(cov: &Val, method: RootMethod) -> Result<Val> {
    let scaled = |vectors: &Val, squares: &Val| (of(vectors) * sqrt(row(squares))).done();
    match method {
        RootMethod::Cholesky => linalg::cholesky(cov, false, true),
        RootMethod::Eigh => {
            let found = linalg::eigh(cov, None, true)?;
            scaled(&found.eigenvectors, &found.eigenvalues)
        }
        RootMethod::Svd => {
            let (u, s, _) = singular_vectors(cov, true, None)?;
            scaled(&u, &s)
        }
    }
}

/// Normal vectors with the given mean and covariance: standard ones times a root of the covariance, plus the mean.
///
/// Args:
///   key: a key, typed or of two words.
///   mean: means `[..., n]`.
///   cov: covariances `[..., n, n]`, symmetric and positive semidefinite; for 'cholesky' definite, else NaN comes
///     out.
///   shape: the shape of the batch; that of `mean` and `cov` together by default.
///   dtype: a floating dtype, float32 by default.
///   method: how the root is found: 'cholesky', 'eigh' or 'svd'.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of shape `(*shape, n)`.
/// Raises:
///   TypeError: `key` is no key.
///   ValueError: several keys are given, the dtype is not floating, shapes do not go together, or the method is
///     unknown.
/// Differentiable: in `mean` and `cov`, as the factorization is.
/// Example:
///   >>> jax.random.multivariate_normal(jax.random.key(0), jnp.zeros(2), jnp.eye(2), (5,)).shape
///   (5, 2)
#[public(
    "random.multivariate_normal(key: Key, mean, cov, shape=None, dtype: FloatByDefault=None, method='cholesky', *, out_sharding: Sharded=None)"
)]
pub fn multivariate_normal(
    key: &Val,
    mean: &Val,
    cov: &Val,
    shape: Option<&[usize]>,
    dtype: DType,
    method: RootMethod,
) -> Result<Val> {
    let name = "multivariate_normal";
    let key = checked_key(name, key)?;
    let given = [mean.clone(), cov.clone()];
    check_arguments(name, &given)?;
    let both = promote_inexact(&given)?;
    check_float(name, dtype)?;
    let (of_mean, of_cov) = (both[0].aval().shape.clone(), both[1].aval().shape.clone());
    let Some((&n, batch)) = of_mean.split_last() else {
        bail!(Value, "multivariate_normal requires mean.ndim >= 1, got mean.ndim == 0");
    };
    let rank = of_cov.len();
    if rank < 2 {
        bail!(Value, "multivariate_normal requires cov.ndim >= 2, got cov.ndim == {rank}");
    }
    if of_cov[rank - 2..] != [n, n] {
        let cov = tuple_text(&of_cov);
        bail!(Value, "multivariate_normal requires cov.shape == (..., n, n) for n={n}, but got cov.shape == {cov}.");
    }
    let batches = [batch, &of_cov[..rank - 2]];
    let shape = match shape {
        None => broadcast_shapes(&batches)?.to_vec(),
        Some(shape) => {
            let found = broadcast_shapes(&[shape, batches[0], batches[1]])?;
            if found[..] != *shape {
                let (found, shape) = (tuple_text(&found), tuple_text(shape));
                bail!(
                    Value,
                    "multivariate_normal parameter shapes must be broadcast-compatible with shape argument, and the \
                     result of broadcasting the shapes must equal the shape argument, but got result {found} for shape \
                     argument {shape}."
                );
            }
            shape.to_vec()
        }
    };
    let fixed = [statics(&shape, dtype), vec![method as i64]].concat();
    named_jit_one("_multivariate_normal", &fixed, &[key, both[0].clone(), both[1].clone()], |ins| {
        let root = root_of(&ins[2], method)?;
        let samples = normal(&ins[0], &[&shape[..], &[n]].concat(), dtype)?;
        let spread = einsum("...ij,...j->...i", &[root, samples], None)?;
        add(&ins[1], &spread)
    })
}

/// Matrices with orthonormal rows or columns, uniform by the Haar measure.
///
/// The factor Q of a normal matrix, its columns with the signs of the diagonal of R (Mezzadri: How to generate random
/// matrices from the classical compact groups, 2007).
///
/// Args:
///   key: a key, typed or of two words.
///   n: the number of rows.
///   shape: the shape of the batch.
///   dtype: a floating or complex dtype, float32 by default.
///   m: the number of columns; `n` by default.
///   out_sharding: how the result is split: a `NamedSharding`, or a spec on the mesh of the context.
/// Returns: an array of shape `(*shape, n, m)`: orthonormal columns if `n >= m`, else orthonormal rows.
/// Raises:
///   TypeError: `key` is no key, or `n` is no integer.
///   ValueError: several keys are given, the dtype is neither floating nor complex, or a size is negative.
/// Differentiable: nothing to differentiate, keys have no tangents.
/// Example:
///   >>> q = jax.random.orthogonal(jax.random.key(0), 3, m=2)
///   >>> bool(jnp.allclose(q.T @ q, jnp.eye(2), atol=1e-5))
///   True
#[public("random.orthogonal(key: Key, n, shape=(), dtype: FloatByDefault=None, m=None, *, out_sharding: Sharded=None)")]
pub fn orthogonal(key: &Val, n: i64, shape: &[usize], dtype: DType, m: Option<i64>) -> Result<Val> {
    let key = checked_key("orthogonal", key)?;
    let sizes = (usize::try_from(n), m.map_or(Ok(0), usize::try_from));
    let (Ok(n), Ok(_)) = sizes else {
        let m = m.map_or("None".to_string(), |m| m.to_string());
        bail!(Value, "negative dimensions are not allowed, got {n} and {m}");
    };
    let m = m.map_or(n, |m| m as usize);
    let fixed = [statics(shape, dtype), vec![n as i64, m as i64]].concat();
    named_jit_one("_orthogonal", &fixed, &[key], |ins| {
        let numbers = normal(&ins[0], &[shape, &[n.max(m), n.min(m)]].concat(), dtype)?;
        let found = lin::qr(&numbers, false, false, Ignored)?.0;
        let signs = lax::sign(&diagonal(&found[1], 0, [-2, -1])?)?;
        let q = multiply(&found[0], &row(&signs)?)?;
        if n < m { swapaxes(&q, -1, -2) } else { Ok(q) }
    })
}
