//! Elementwise primitives, and the families that supply what their members share.
//!
//! Operands of several-operand primitives have one shape, up to axes of size 1 and scalars, which repeat. A member
//! states its name, the dtypes it accepts, its scalar form and its derivative; shapes, dtypes, batching and the sums
//! that undo repetition come from the family.

mod add;
mod add_any;
mod cos;
mod mul;
mod neg;
mod select_n;
mod sin;
mod sub;

use std::marker::PhantomData;

use pullback_base::aval::tuple_text;
use pullback_base::dtype::Kind;
use pullback_base::{Aval, DType, Error, Result, Shape, bail};
use pullback_ir::lower::{CpuForm, Elem};
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, Operand, Params, Prim, PrimRef, Sample, Tangents, Transpose, Val, Vals,
};
use pullback_loops::{Builder, ValueId};
use smallvec::smallvec;

use super::value::{V, add_any};

pub use select_n::SELECT_N;

/// A primitive without params.
const fn prim<T: Prim>(member: &'static T) -> PrimRef {
    PrimRef(member)
}

macro_rules! members {
    ($($family:ident $name:ident $member:path;)*) => {$(
        #[doc = concat!("The primitive of `", stringify!($member), "`.")]
        pub const $name: PrimRef = prim(&$family::<$member>(PhantomData));
    )*};
}
members! {
    Unary COS cos::Cos;
    Unary NEG neg::Neg;
    Unary SIN sin::Sin;
    Binary ADD add::Add;
    Binary ADD_ANY add_any::AddAny;
    Binary MUL mul::Mul;
    Binary SUB sub::Sub;
}

/// A set of dtypes by kind.
#[derive(Clone, Copy, Debug)]
pub struct DTypes(&'static [Kind]);

impl DTypes {
    /// Floating and complex.
    pub const INEXACT: DTypes = DTypes(&[Kind::Float, Kind::Complex]);
    /// Real floating.
    pub const FLOAT: DTypes = DTypes(&[Kind::Float]);
    /// Complex.
    pub const COMPLEX: DTypes = DTypes(&[Kind::Complex]);
    /// Signed and unsigned integers.
    pub const INTEGER: DTypes = DTypes(&[Kind::Signed, Kind::Unsigned]);
    /// Integers and booleans.
    pub const BITS: DTypes = DTypes(&[Kind::Bool, Kind::Signed, Kind::Unsigned]);
    /// All but booleans.
    pub const NUMBER: DTypes = DTypes(&[Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Complex]);
    /// Signed numbers.
    pub const SIGNED: DTypes = DTypes(&[Kind::Signed, Kind::Float, Kind::Complex]);
    /// All with an order, booleans included.
    pub const ORDERED: DTypes = DTypes(&[Kind::Bool, Kind::Signed, Kind::Unsigned, Kind::Float]);
    /// Every number and boolean.
    pub const ANY: DTypes = DTypes(&[Kind::Bool, Kind::Signed, Kind::Unsigned, Kind::Float, Kind::Complex]);

    /// Whether the dtype is in the set.
    pub fn contains(self, dtype: DType) -> bool {
        self.0.contains(&dtype.kind())
    }

    fn names(self) -> String {
        let name = |kind: &Kind| match kind {
            Kind::Bool => "bool",
            Kind::Signed => "signedinteger",
            Kind::Unsigned => "unsignedinteger",
            Kind::Float => "floating",
            Kind::Complex => "complexfloating",
            Kind::Float0 => "float0",
            Kind::Key => "prng_key",
        };
        self.0.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// Checks operand `position` of primitive `name`.
    ///
    /// # Errors
    /// A `Type` error that names the accepted dtypes.
    pub fn check(self, name: &str, position: usize, dtype: DType) -> Result<()> {
        if self.contains(dtype) {
            return Ok(());
        }
        bail!(
            Type,
            "{name} does not accept dtype {dtype} at position {position}. Accepted dtypes at position {position} are \
             subtypes of {}.",
            self.names()
        )
    }
}

/// How a one-operand member is differentiated.
pub enum UnaryRule {
    /// From operand, result and tangent.
    Tangent(for<'e> fn(&V<'e>, &V<'e>, &V<'e>) -> V<'e>),
    /// Linear, with its transpose: from the cotangent and the aval of the operand.
    Linear(for<'e> fn(&V<'e>, Aval) -> V<'e>),
    /// No derivative: integers, steps.
    Zero,
    /// Not written, and why.
    Missing(&'static str),
}

/// A member of the one-operand family.
pub trait UnaryOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// Dtypes of the operand.
    const ACCEPTS: DTypes;
    /// Operation of StableHLO.
    const HLO: Hlo<()>;
    /// Derivative.
    const RULE: UnaryRule;
    /// Interval of sample elements.
    const DOMAIN: (f64, f64);

    /// Dtype of the result for one of the operand.
    fn result(dtype: DType) -> DType {
        dtype
    }
    /// One element, of a real operand (half-width floats come as `float32`).
    fn real(loops: &mut Builder, x: ValueId) -> ValueId;
    /// One element, of a complex operand; `None` when not written.
    fn complex(_loops: &mut Builder, _re: ValueId, _im: ValueId) -> Option<Elem> {
        None
    }
}

/// The one-operand family.
pub struct Unary<T>(pub PhantomData<T>);

impl<T: UnaryOp> Prim for Unary<T> {
    type Params = ();
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        let x = one(T::NAME, ins)?;
        T::ACCEPTS.check(T::NAME, 0, x.dtype)?;
        let dtype = T::result(x.dtype);
        let weak_type = x.weak_type && dtype != DType::Bool;
        Ok(smallvec![Aval::with_weak_type(&x.shape, dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        match T::RULE {
            UnaryRule::Tangent(_) => Derivative::Jvp(unary_jvp::<T>),
            UnaryRule::Linear(_) => Derivative::Linear(super::zeros),
            UnaryRule::Zero => Derivative::Zero,
            UnaryRule::Missing(reason) => Derivative::Missing(reason),
        }
    }

    fn transpose(&self) -> Transpose<()> {
        match T::RULE {
            UnaryRule::Linear(_) => Transpose::Rule(unary_transpose::<T>),
            UnaryRule::Tangent(_) | UnaryRule::Zero => Transpose::NotLinear,
            UnaryRule::Missing(reason) => Transpose::Missing(reason),
        }
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        if !ins[0].dtype.is_complex() {
            return CpuForm::Scalar(Box::new(|loops, ins| Elem::One(T::real(loops, ins[0].one()))));
        }
        if !has_complex_form::<T>() {
            return CpuForm::Missing(format!("{} of complex numbers", T::NAME));
        }
        CpuForm::Scalar(Box::new(|loops, ins| {
            let Elem::Two(re, im) = ins[0] else { panic!("a complex element was expected") };
            T::complex(loops, re, im).expect("asked before")
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        T::HLO
    }

    fn samples(&self) -> Vec<Sample> {
        [DType::F32, DType::I32, DType::Bool, DType::C64]
            .into_iter()
            .filter(|&dtype| T::ACCEPTS.contains(dtype) && (dtype != DType::C64 || has_complex_form::<T>()))
            .map(|dtype| Sample::new(Params::NONE, dtype, T::DOMAIN, &[&[2, 3]]))
            .collect()
    }
}

fn has_complex_form<T: UnaryOp>() -> bool {
    let mut scratch = Builder::new("probe");
    let (re, im) = (scratch.fresh(DType::F32), scratch.fresh(DType::F32));
    T::complex(&mut scratch, re, im).is_some()
}

fn one(name: &str, ins: &[Aval]) -> Result<Aval> {
    match ins {
        [x] => Ok(*x),
        _ => Err(Error::type_error(format!("{name} takes 1 operand, got {}", ins.len()))),
    }
}

fn unary_jvp<T: UnaryOp>((): &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let UnaryRule::Tangent(rule) = T::RULE else { unreachable!("chosen by the rule") };
    let x = V::new(e, &xs[0]);
    let y = x.bind(PrimRef(&Unary::<T>(PhantomData)), &Params::NONE, &[]);
    let tangent = ts[0].as_ref().map(|x_dot| rule(&x, &y, &V::new(e, x_dot)).done()).transpose()?;
    Ok((smallvec![y.done()?], smallvec![tangent]))
}

fn unary_transpose<T: UnaryOp>((): &(), e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let UnaryRule::Linear(rule) = T::RULE else { unreachable!("chosen by the rule") };
    let ct = cts[0].as_ref().map(|ct| rule(&V::new(e, ct), ins[0].aval()).done()).transpose()?;
    Ok(smallvec![ct])
}

/// How a two-operand member is differentiated and transposed.
pub enum BinaryRule {
    /// Tangents by operand, from `(tangent, x, y, z)`.
    Partial {
        /// In the first operand.
        x: PartialFn,
        /// In the second operand.
        y: PartialFn,
    },
    /// As `Partial`, and linear in one operand at a time (`z = x·y`) or only in the first: cotangent of the linear
    /// operand from `(cotangent, other operand)`.
    Bilinear {
        /// Tangent in the first operand.
        x: PartialFn,
        /// Tangent in the second operand.
        y: PartialFn,
        /// Transpose in the first operand, with the second known.
        x_ct: for<'e> fn(&V<'e>, &V<'e>) -> V<'e>,
        /// Transpose in the second operand, with the first known; `None` when it is not linear there.
        y_ct: Option<for<'e> fn(&V<'e>, &V<'e>) -> V<'e>>,
    },
    /// Linear in both together: the tangents' factors are 1 and `y_sign`.
    Additive {
        /// Whether the second operand is subtracted.
        negates_y: bool,
    },
    /// No derivative.
    Zero,
    /// Not written, and why.
    Missing(&'static str),
}

/// Tangent of the result from `(tangent of the operand, x, y, z)`.
pub type PartialFn = for<'e> fn(&V<'e>, &V<'e>, &V<'e>, &V<'e>) -> V<'e>;

/// A member of the two-operand family.
pub trait BinaryOp: Send + Sync + 'static {
    /// JAX's name.
    const NAME: &'static str;
    /// Dtypes of the operands, which are equal.
    const ACCEPTS: DTypes;
    /// Operation of StableHLO.
    const HLO: Hlo<()>;
    /// Derivative.
    const RULE: BinaryRule;
    /// Interval of sample elements.
    const DOMAIN: (f64, f64);

    /// Dtype of the result for one of the operands.
    fn result(dtype: DType) -> DType {
        dtype
    }
    /// One element, of real operands.
    fn real(loops: &mut Builder, x: ValueId, y: ValueId) -> ValueId;
    /// One element, of complex operands (real and imaginary part); `None` when not written.
    fn complex(_loops: &mut Builder, _x: [ValueId; 2], _y: [ValueId; 2]) -> Option<Elem> {
        None
    }
}

/// The two-operand family.
pub struct Binary<T>(pub PhantomData<T>);

impl<T: BinaryOp> Prim for Binary<T> {
    type Params = ();
    const NAME: &'static str = T::NAME;

    fn abstract_eval(&self, (): &(), ins: &[Aval]) -> Result<Avals> {
        if ins.len() != 2 {
            bail!(Type, "{} takes 2 operands, got {}", T::NAME, ins.len());
        }
        check_same_dtypes(T::NAME, ins)?;
        T::ACCEPTS.check(T::NAME, 0, ins[0].dtype)?;
        let shape = broadcast_shapes(T::NAME, ins)?;
        let dtype = T::result(ins[0].dtype);
        let weak_type = ins.iter().all(|x| x.weak_type) && dtype == ins[0].dtype;
        Ok(smallvec![Aval::with_weak_type(&shape, dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<()> {
        match T::RULE {
            BinaryRule::Partial { .. } | BinaryRule::Bilinear { .. } | BinaryRule::Additive { .. } => {
                Derivative::Jvp(binary_jvp::<T>)
            }
            BinaryRule::Zero => Derivative::Zero,
            BinaryRule::Missing(reason) => Derivative::Missing(reason),
        }
    }

    fn transpose(&self) -> Transpose<()> {
        match T::RULE {
            BinaryRule::Bilinear { .. } | BinaryRule::Additive { .. } => Transpose::Rule(binary_transpose::<T>),
            BinaryRule::Partial { .. } | BinaryRule::Zero => Transpose::NotLinear,
            BinaryRule::Missing(reason) => Transpose::Missing(reason),
        }
    }

    fn batching(&self) -> Batching<()> {
        Batching::Pointwise
    }

    fn cpu(&self, (): &(), ins: &[Aval], _outs: &[Aval]) -> CpuForm {
        if !ins[0].dtype.is_complex() {
            return CpuForm::Scalar(Box::new(|loops, ins| Elem::One(T::real(loops, ins[0].one(), ins[1].one()))));
        }
        if !has_complex_binary::<T>() {
            return CpuForm::Missing(format!("{} of complex numbers", T::NAME));
        }
        CpuForm::Scalar(Box::new(|loops, ins| {
            let (Elem::Two(a, b), Elem::Two(c, d)) = (ins[0], ins[1]) else { panic!("complex elements were expected") };
            T::complex(loops, [a, b], [c, d]).expect("asked before")
        }))
    }

    fn hlo(&self) -> Hlo<()> {
        T::HLO
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples = vec![];
        for dtype in [DType::F32, DType::I32, DType::Bool, DType::C64] {
            if !T::ACCEPTS.contains(dtype) || dtype == DType::C64 && !has_complex_binary::<T>() {
                continue;
            }
            for shapes in [[&[2, 3][..], &[2, 3]], [&[2, 3], &[]], [&[1, 3], &[2, 1]]] {
                samples.push(Sample::new(Params::NONE, dtype, T::DOMAIN, &shapes));
            }
        }
        samples
    }
}

fn has_complex_binary<T: BinaryOp>() -> bool {
    let mut scratch = Builder::new("probe");
    let parts = [scratch.fresh(DType::F32), scratch.fresh(DType::F32)];
    T::complex(&mut scratch, parts, parts).is_some()
}

fn binary_jvp<T: BinaryOp>((): &(), e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (x, y) = (V::new(e, &xs[0]), V::new(e, &xs[1]));
    let z = x.bind(PrimRef(&Binary::<T>(PhantomData)), &Params::NONE, &[&y]);
    let (x_dot, y_dot) = (ts[0].as_ref().map(|t| V::new(e, t)), ts[1].as_ref().map(|t| V::new(e, t)));
    let (dx, dy) = match T::RULE {
        BinaryRule::Partial { x: in_x, y: in_y } | BinaryRule::Bilinear { x: in_x, y: in_y, .. } => {
            (x_dot.map(|t| in_x(&t, &x, &y, &z)), y_dot.map(|t| in_y(&t, &x, &y, &z)))
        }
        BinaryRule::Additive { negates_y } => (x_dot, y_dot.map(|t| if negates_y { -t } else { t })),
        BinaryRule::Zero | BinaryRule::Missing(_) => unreachable!("chosen by the rule"),
    };
    let shape = &z.aval().shape;
    let full = |t: V<'_>| t.broadcast_to(shape).done();
    let tangent = add_any(e, dx.map(full).transpose()?, dy.map(full).transpose()?)?;
    Ok((smallvec![z.done()?], smallvec![tangent]))
}

fn binary_transpose<T: BinaryOp>((): &(), e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let Some(ct) = &cts[0] else { return Ok(smallvec![None, None]) };
    let ct = V::new(e, ct);
    let known = |i: usize| ins[i].known().map(|val| V::new(e, val));
    let not_linear = || Error::internal(format!("{} is not linear in those operands", T::NAME));
    let (x_ct, y_ct) = match T::RULE {
        BinaryRule::Additive { negates_y } => {
            let y_ct = if negates_y { -&ct } else { ct.clone() };
            (ins[0].is_linear().then(|| ct.clone()), ins[1].is_linear().then_some(y_ct))
        }
        BinaryRule::Bilinear { x_ct, y_ct, .. } => match (known(0), known(1)) {
            (None, Some(y)) => (Some(x_ct(&ct, &y)), None),
            (Some(x), None) => (None, Some(y_ct.ok_or_else(not_linear)?(&ct, &x))),
            _ => return Err(not_linear()),
        },
        BinaryRule::Partial { .. } | BinaryRule::Zero | BinaryRule::Missing(_) => unreachable!("chosen by the rule"),
    };
    let back = |ct: Option<V<'_>>, i: usize| ct.map(|ct| unbroadcast(&ct, ins[i].aval()).done()).transpose();
    Ok(smallvec![back(x_ct, 0)?, back(y_ct, 1)?])
}

/// The cotangent of an operand that was repeated to the shape of `ct`: the sum over what was repeated.
pub fn unbroadcast<'e>(ct: &V<'e>, operand: Aval) -> V<'e> {
    let shape = ct.aval().data().shape.clone();
    if shape == operand.shape {
        return ct.clone();
    }
    if operand.rank() == 0 {
        let axes: Vec<usize> = (0..shape.len()).collect();
        return ct.reduce_sum(&axes);
    }
    let repeated: Vec<usize> = (0..shape.len()).filter(|&axis| operand.shape[axis] != shape[axis]).collect();
    ct.reduce_sum(&repeated).reshape(&operand.shape)
}

/// The shape of an elementwise result: axes of size 1 and scalars repeat.
///
/// # Errors
/// A `Type` error with all shapes when they do not go together.
pub fn broadcast_shapes(name: &str, ins: &[Aval]) -> Result<Shape> {
    let rank = ins.iter().map(|x| x.rank()).max().unwrap_or(0);
    let incompatible = || {
        let shapes: Vec<String> = ins.iter().map(|x| tuple_text(&x.shape)).collect();
        Error::type_error(format!("{name} got incompatible shapes for broadcasting: {}.", shapes.join(", ")))
    };
    let mut shape = Shape::from_elem(1, rank);
    for x in ins.iter().filter(|x| x.rank() > 0) {
        if x.rank() != rank {
            return Err(incompatible());
        }
        for (size, &other) in shape.iter_mut().zip(&x.shape) {
            match (*size, other) {
                (a, b) if a == b || b == 1 => {}
                (1, b) => *size = b,
                _ => return Err(incompatible()),
            }
        }
    }
    Ok(shape)
}

/// Checks that all operands have one dtype.
///
/// # Errors
/// A `Type` error with all dtypes.
pub fn check_same_dtypes(name: &str, ins: &[Aval]) -> Result<()> {
    if ins.iter().all(|x| x.dtype == ins[0].dtype) {
        return Ok(());
    }
    let names: Vec<&str> = ins.iter().map(|x| x.dtype.name()).collect();
    bail!(
        Type,
        "lax.{name} requires arguments to have the same dtypes, got {}. (Tip: jnp.{name} is a similar function that does \
         automatic type promotion on inputs).",
        names.join(", ")
    )
}
