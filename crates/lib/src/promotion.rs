//! Promotion of operands to one dtype, weak types included, and to one rank.

use pullback_base::dtype::{Typed, promote_all};
use pullback_base::{DType, Error, ErrorKind, Result};
use pullback_ir::Val;
use smallvec::SmallVec;

use crate::broadcast::promote_ranks;
use crate::config;
use crate::convert::{convert, inexact};

/// Operands of a function.
pub type Operands = SmallVec<[Val; 3]>;

/// Dtype and weak type of a value.
pub fn typed(x: &Val) -> Typed {
    let aval = x.aval();
    Typed { dtype: aval.dtype, weak_type: aval.weak_type }
}

/// The dtype and weak type of an operation on values of these types.
///
/// # Errors
/// `TypePromotion` when there is no implicit path, or when promotion is strict and strong dtypes differ.
pub fn result_type(types: &[Typed]) -> Result<Typed> {
    if config::is_strict() {
        check_strict(types)?;
    }
    promoted_type(types)
}

/// As [`result_type`], also where promotion is strict.
///
/// # Errors
/// `TypePromotion` when there is no implicit path.
pub fn promoted_type(types: &[Typed]) -> Result<Typed> {
    let is_wide = config::x64() || config::named_x64() && types.iter().any(is_named_x64);
    let found = promote_all(types, is_wide)?;
    // What nobody asked for stays narrow: of wide integers and a number of Python that is the float.
    let asked = config::x64() || types.iter().any(|one| is_named_x64(one) && one.dtype.is_inexact());
    let is_made_wide = found.dtype.is_inexact() && !asked;
    Ok(if is_made_wide { Typed { dtype: found.dtype.narrowed(), ..found } } else { found })
}

/// Whether somebody asked for 64 bits: numbers of no type of their own do not.
fn is_named_x64(operand: &Typed) -> bool {
    !operand.weak_type && operand.dtype.narrowed() != operand.dtype
}

/// Booleans, integers, floats, complex numbers.
fn kind(dtype: DType) -> u8 {
    match (dtype.is_complex(), dtype.is_inexact(), dtype.is_integer()) {
        (true, ..) => 3,
        (_, true, _) => 2,
        (.., true) => 1,
        _ => 0,
    }
}

/// Whether these types go together without an implicit promotion.
pub fn go_together(types: &[Typed]) -> bool {
    let strong: SmallVec<[DType; 4]> = types.iter().filter(|x| !x.weak_type).map(|x| x.dtype).collect();
    // A number of Python goes with a strong dtype of its own kind or a wider one.
    let fits = |weak: &&Typed| strong.iter().all(|strong| kind(*strong) >= kind(weak.dtype));
    strong.windows(2).all(|pair| pair[0] == pair[1]) && types.iter().filter(|x| x.weak_type).all(|x| fits(&x))
}

fn check_strict(types: &[Typed]) -> Result<()> {
    if go_together(types) {
        return Ok(());
    }
    let name = |x: &Typed| if x.weak_type { format!("weak {}", x.dtype) } else { format!("'{}'", x.dtype) };
    let names: Vec<String> = types.iter().map(name).collect();
    let text = format!(
        "Input dtypes ({}) have no available implicit dtype promotion path when jax_numpy_dtype_promotion=strict. Try \
         explicitly casting inputs to the desired output type, or set jax_numpy_dtype_promotion=standard.",
        names.join(", ")
    );
    Err(Error::new(ErrorKind::TypePromotion, text))
}

/// The result type of values.
///
/// # Errors
/// As [`result_type`].
pub fn result_type_of(xs: &[Val]) -> Result<Typed> {
    let types: SmallVec<[Typed; 3]> = xs.iter().map(typed).collect();
    result_type(&types)
}

/// The values in their common dtype.
///
/// # Errors
/// As [`result_type`].
pub fn promote_dtypes(xs: &[Val]) -> Result<Operands> {
    let to = result_type_of(xs)?;
    xs.iter().map(|x| convert(x, to.dtype, to.weak_type)).collect()
}

/// The values in their common floating or complex dtype.
///
/// # Errors
/// As [`result_type`].
pub fn promote_inexact(xs: &[Val]) -> Result<Operands> {
    let to = result_type_of(xs)?;
    xs.iter().map(|x| convert(x, inexact(to.dtype), to.weak_type)).collect()
}

/// The values in one dtype and one rank, for function `name`.
///
/// # Errors
/// As [`result_type`] and [`promote_ranks`].
pub fn promote(name: &str, xs: &[Val]) -> Result<Operands> {
    check_arguments(name, xs)?;
    promote_ranks(name, promote_dtypes(xs)?)
}

/// As [`promote`], to a floating or complex dtype.
///
/// # Errors
/// As [`promote`].
pub fn promote_args_inexact(name: &str, xs: &[Val]) -> Result<Operands> {
    check_arguments(name, xs)?;
    promote_ranks(name, promote_inexact(xs)?)
}

/// Checks that no operand is a random key or a tangent of integers, which are no numbers.
///
/// # Errors
/// A `Type` error that names the function.
pub fn check_arguments(name: &str, xs: &[Val]) -> Result<()> {
    if xs.iter().any(|x| x.aval().dtype == DType::Float0) {
        return Err(Error::type_error(format!(
            "Called {name} with a float0 array. float0s do not support any operations by design, because they are not compatible \
             with non-trivial vector spaces. No implicit dtype conversion is done. You can use np.zeros_like(arr, dtype=float) to \
             cast a float0 array to a regular zeros array. If you didn't expect to get a float0 you might have accidentally \
             taken a gradient with respect to an integer argument."
        )));
    }
    match xs.iter().map(|x| x.aval().dtype).find(|dtype| dtype.is_key()) {
        None => Ok(()),
        Some(dtype) => Err(Error::type_error(format!("{name} does not accept dtype {dtype}."))),
    }
}
