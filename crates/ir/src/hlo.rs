//! How a primitive tells a StableHLO program what it does: operations written one after the other.
//!
//! A primitive states one [`Hlo`] in its file. Choose the first that fits:
//!
//! 1. [`Hlo::Op`], [`Hlo::RealOp`]: one elementwise operation; operands of fewer elements are repeated.
//! 2. [`Hlo::Attributes`]: one operation of the operands as they are, with attributes.
//! 3. [`Hlo::AsCpu`]: what the CPU form says, when that is a decomposition, a scalar form (loops included) or a call of
//!    a jaxpr. Nothing else to write.
//! 4. [`Hlo::Composition`]: other primitives, bound on an emitter.
//! 5. [`Hlo::Rule`]: operations, regions, constants and calls, made through [`HloCx`].
//!
//! Values have the shapes and dtypes of jaxprs, with two exceptions that nobody but the writer of programs sees: a key
//! is one `ui64` (its first word low), and a `float0` is an `i1`. Weak types mean nothing here. The text itself is not
//! made here, and no accelerator is known.

use std::sync::Arc;

use pullback_base::array::place::{Mesh, Spec};
use pullback_base::dtype::Kind;
use pullback_base::{Array, Aval, DType, Error, Result, Scalar};
use pullback_loops::{Builder, HostCall};
use smallvec::{SmallVec, smallvec};

use crate::builder::Builder as JaxprBuilder;
use crate::emit::Emit;
use crate::jaxpr::{Effects, JaxprRef};
use crate::lower::Elem;
use crate::params::Params;
use crate::prim::PrimRef;
use crate::val::{Val, Vals};

/// A value of a StableHLO program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HloValue {
    /// Its shape and dtype.
    pub aval: Aval,
    /// Its name in the function.
    pub name: HloName,
}

/// The name of a value; numbers are those of its function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HloName {
    /// An argument of a function or region.
    Argument(u32),
    /// An argument of the regions of a loop.
    Carried(u32),
    /// A constant.
    Constant(u32),
    /// The only result of an operation.
    Result(u32),
    /// One of several results of an operation.
    Part(u32, u32),
}

/// Values of a StableHLO program.
pub type HloValues = SmallVec<[HloValue; 1]>;

/// Makes operations from values; what ends a region or a function comes from the values it gives.
pub type HloBody<'a> = &'a mut dyn FnMut(&mut dyn HloCx, &[HloValue]) -> Result<HloValues>;

/// A region of an operation.
pub struct HloRegion<'a> {
    /// Types of its arguments.
    pub args: Vec<Aval>,
    /// Its operations.
    pub body: HloBody<'a>,
}

/// A rule that makes the operations of one application.
pub type HloRule<P> = fn(&P, &mut dyn HloCx, &[HloValue], &[Aval]) -> Result<HloValues>;

/// How a primitive becomes StableHLO.
pub enum Hlo<P> {
    /// One elementwise operation of that name without attributes. Operands of fewer elements repeat.
    Op(&'static str),
    /// As `Op` for real operands; for complex ones as `AsCpu`.
    RealOp(&'static str),
    /// One operation, and the text of its attributes: the part of `stablehlo.transpose %0, dims = [1, 0]` after the
    /// operands.
    Attributes(&'static str, fn(&P, &[Aval]) -> String),
    /// What the CPU form says, which is a decomposition, a scalar form or a call of a jaxpr.
    AsCpu,
    /// Other primitives.
    Composition(fn(&P, &dyn Emit, &[Val]) -> Result<Vals>),
    /// Operations made by a rule.
    Rule(HloRule<P>),
    /// Not written, and why.
    Missing(&'static str),
}

/// A jaxpr that runs on every device of a mesh, each on its parts of the operands.
pub struct DeviceMap<'a> {
    /// The devices.
    pub mesh: &'a Arc<Mesh>,
    /// The axes along which the jaxpr sees one device.
    pub manual: Vec<Arc<str>>,
    /// How operands are split.
    pub in_specs: Vec<&'a Spec>,
    /// How results are split.
    pub out_specs: Vec<&'a Spec>,
    /// What each device runs.
    pub jaxpr: &'a JaxprRef,
}

/// A function of a StableHLO program in the making.
pub trait HloCx {
    /// An operation in its short form. `attributes` follow the operands.
    fn op(&mut self, name: &str, attributes: &str, ins: &[HloValue], outs: &[Aval]) -> HloValues;

    /// An operation in its generic form, with properties as written between `<{` and `}>`, and regions.
    ///
    /// # Errors
    /// What the regions raise.
    fn generic(
        &mut self,
        name: &str,
        properties: &str,
        ins: &[HloValue],
        regions: &mut [HloRegion<'_>],
        outs: &[Aval],
    ) -> Result<HloValues>;

    /// A loop that carries values while a condition of them holds. The regions see no other value. `length` is the
    /// number of steps where it is known, for estimates.
    ///
    /// # Errors
    /// What the regions raise.
    fn while_loop(
        &mut self,
        length: Option<usize>,
        inits: &[HloValue],
        condition: HloBody<'_>,
        body: HloBody<'_>,
    ) -> Result<HloValues>;

    /// A constant array of equal elements.
    fn full(&mut self, scalar: Scalar, shape: &[usize]) -> HloValue;

    /// A constant array.
    ///
    /// # Errors
    /// When its elements cannot be read.
    fn array(&mut self, array: &Array) -> Result<HloValue>;

    /// A call of a private function that holds the jaxpr, which is written once.
    ///
    /// # Errors
    /// What the primitives of the jaxpr raise.
    fn call(&mut self, name: &str, jaxpr: &JaxprRef, ins: &[HloValue]) -> Result<HloValues>;

    /// The equations of the jaxpr in place.
    ///
    /// # Errors
    /// What its primitives raise.
    fn inline(&mut self, jaxpr: &JaxprRef, ins: &[HloValue]) -> Result<HloValues>;

    /// What `body` makes, in a private function when it is long; it is made once for each name, params and operand
    /// types, so it must not depend on anything else.
    ///
    /// # Errors
    /// What `body` raises.
    fn outline(&mut self, name: &str, params: &Params, ins: &[HloValue], body: HloBody<'_>) -> Result<HloValues>;

    /// A scalar form of the CPU applied elementwise. Operands of fewer elements repeat.
    ///
    /// # Errors
    /// When the form has an operation that StableHLO cannot say.
    fn elementwise(
        &mut self,
        form: &dyn Fn(&mut Builder, &[Elem]) -> Elem,
        ins: &[HloValue],
        out: Aval,
    ) -> Result<HloValue>;

    /// The mesh on each of whose devices the operations being written run by themselves; none outside of such a map.
    fn devices(&self) -> Option<Arc<Mesh>>;

    /// The name of a mesh, which the module then declares.
    fn mesh_name(&mut self, mesh: &Mesh) -> String;

    /// A number of its own for an operation in which devices meet.
    fn channel(&mut self) -> u32;

    /// A primitive without operations of its own, done by the host where programs can call it; `None` where they cannot.
    ///
    /// # Errors
    /// When the host cannot do it.
    fn on_host(&mut self, prim: PrimRef, params: &Params, ins: &[HloValue], outs: &[Aval])
    -> Result<Option<HloValues>>;

    /// A call of a function of the host.
    ///
    /// # Errors
    /// For types that it cannot be given.
    fn host_call(
        &mut self,
        function: &Arc<dyn HostCall>,
        effects: Effects,
        ins: &[HloValue],
        outs: &[Aval],
    ) -> Result<HloValues>;

    /// A map over devices.
    ///
    /// # Errors
    /// What the primitives of the jaxpr raise.
    fn on_devices(&mut self, map: &DeviceMap<'_>, ins: &[HloValue], outs: &[Aval]) -> Result<HloValues>;
}

/// `[{"x"}, {}]`: the mesh axes that split each of so many axes.
pub fn spec_text(spec: &Spec, rank: usize) -> String {
    let axis = |at: usize| {
        let names = spec.get(at).map_or(&[][..], Vec::as_slice);
        let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    format!("[{}]", (0..rank).map(axis).collect::<Vec<_>>().join(", "))
}

/// Name of an element type. A key is its two words as one number; `float0` has no elements of interest.
pub fn element_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::Float0 => "i1",
        DType::I2 => "i2",
        DType::I4 => "i4",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::U2 => "ui2",
        DType::U4 => "ui4",
        DType::U8 => "ui8",
        DType::U16 => "ui16",
        DType::U32 => "ui32",
        DType::U64 | DType::KeyFry | DType::KeyPhilox2 | DType::KeyPhilox4 => "ui64",
        // An axis of its four words after those of the array.
        DType::KeyRbg | DType::KeyUnsafeRbg | DType::KeyFry4 => "4xui32",
        DType::F4E2M1FN => "f4E2M1FN",
        DType::F8E3M4 => "f8E3M4",
        DType::F8E4M3 => "f8E4M3",
        DType::F8E4M3B11FNUZ => "f8E4M3B11FNUZ",
        DType::F8E4M3FN => "f8E4M3FN",
        DType::F8E4M3FNUZ => "f8E4M3FNUZ",
        DType::F8E5M2 => "f8E5M2",
        DType::F8E5M2FNUZ => "f8E5M2FNUZ",
        DType::F8E8M0FNU => "f8E8M0FNU",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C64 => "complex<f32>",
        DType::C128 => "complex<f64>",
    }
}

/// An aval without weak type.
fn strong(shape: &[usize], dtype: DType) -> Aval {
    Aval::new(shape, dtype)
}

/// Operations that many rules make.
impl dyn HloCx + '_ {
    /// An operation with one result, in its short form.
    pub fn one(&mut self, name: &str, attributes: &str, ins: &[HloValue], out: Aval) -> HloValue {
        self.op(name, attributes, ins, &[out])[0]
    }

    /// An operation of one operand that keeps its type.
    pub fn unary(&mut self, name: &str, x: HloValue) -> HloValue {
        self.one(name, "", &[x], x.aval)
    }

    /// An operation of two operands of one type that keeps it.
    pub fn binary(&mut self, name: &str, x: HloValue, y: HloValue) -> HloValue {
        self.one(name, "", &[x, y], x.aval)
    }

    /// A comparison by direction (`LT`), of one type. Floats compare as numbers: NaN is false but for `NE`.
    pub fn compare(&mut self, direction: &str, x: HloValue, y: HloValue) -> HloValue {
        let attributes = format!("{direction}, {}", comparison_type(x.aval.dtype));
        self.one("stablehlo.compare", &attributes, &[x, y], strong(&x.aval.shape, DType::Bool))
    }

    /// A comparison of floats in the total order, where -0 is before 0 and NaNs are at the ends.
    pub fn compare_total(&mut self, direction: &str, x: HloValue, y: HloValue) -> HloValue {
        let kind = if x.aval.dtype.is_float() { "TOTALORDER" } else { comparison_type(x.aval.dtype) };
        let attributes = format!("{direction}, {kind}");
        self.one("stablehlo.compare", &attributes, &[x, y], strong(&x.aval.shape, DType::Bool))
    }

    /// `on_true` where `condition` holds, else `on_false`.
    pub fn select(&mut self, condition: HloValue, on_true: HloValue, on_false: HloValue) -> HloValue {
        self.one("stablehlo.select", "", &[condition, on_true, on_false], on_true.aval)
    }

    /// By value to another dtype; nothing when it is the same.
    pub fn convert(&mut self, x: HloValue, dtype: DType) -> HloValue {
        if x.aval.dtype == dtype {
            return x;
        }
        self.one("stablehlo.convert", "", &[x], strong(&x.aval.shape, dtype))
    }

    /// By bits to another dtype of the same or another width, as the shape says.
    pub fn bitcast(&mut self, x: HloValue, shape: &[usize], dtype: DType) -> HloValue {
        self.one("stablehlo.bitcast_convert", "", &[x], strong(shape, dtype))
    }

    /// Another shape of as many elements; nothing when it is the same.
    pub fn reshape(&mut self, x: HloValue, shape: &[usize]) -> HloValue {
        if x.aval.shape[..] == *shape {
            return x;
        }
        self.one("stablehlo.reshape", "", &[x], strong(shape, x.aval.dtype))
    }

    /// Axes of the operand at `dims` of the result.
    pub fn broadcast_in_dim(&mut self, x: HloValue, dims: &[usize], shape: &[usize]) -> HloValue {
        let attributes = format!("dims = {dims:?}");
        self.one("stablehlo.broadcast_in_dim", &attributes, &[x], strong(shape, x.aval.dtype))
    }

    /// Scalars and axes of size 1 repeated; nothing when the shape is the same.
    pub fn repeated(&mut self, x: HloValue, shape: &[usize]) -> HloValue {
        if x.aval.shape[..] == *shape {
            return x;
        }
        let dims: Vec<usize> = (0..x.aval.rank()).collect();
        self.broadcast_in_dim(x, &dims, shape)
    }

    /// A scalar everywhere.
    pub fn repeated_scalar(&mut self, x: HloValue, shape: &[usize]) -> HloValue {
        self.broadcast_in_dim(x, &[], shape)
    }

    /// A scalar constant.
    pub fn constant(&mut self, scalar: Scalar) -> HloValue {
        self.full(scalar, &[])
    }

    /// Positions along an axis.
    pub fn iota(&mut self, shape: &[usize], dtype: DType, axis: usize) -> HloValue {
        self.one("stablehlo.iota", &format!("dim = {axis}"), &[], strong(shape, dtype))
    }

    /// A box with steps.
    pub fn slice(&mut self, x: HloValue, start: &[usize], limit: &[usize], stride: &[usize]) -> HloValue {
        let size = |axis: usize| (limit[axis].max(start[axis]) - start[axis]).div_ceil(stride[axis]);
        let shape: Vec<usize> = (0..start.len()).map(size).collect();
        let attributes = slice_attributes(start, limit, stride);
        self.one("stablehlo.slice", &attributes, &[x], strong(&shape, x.aval.dtype))
    }

    /// A part of one axis.
    pub fn slice_axis(&mut self, x: HloValue, axis: usize, start: usize, limit: usize) -> HloValue {
        let mut starts = vec![0; x.aval.rank()];
        let mut limits = x.aval.shape.to_vec();
        (starts[axis], limits[axis]) = (start, limit);
        self.slice(x, &starts, &limits, &vec![1; x.aval.rank()])
    }

    /// Arrays one after the other along an axis.
    pub fn concatenate(&mut self, parts: &[HloValue], axis: usize) -> HloValue {
        let mut shape = parts[0].aval.shape.clone();
        shape[axis] = parts.iter().map(|part| part.aval.shape[axis]).sum();
        let out = strong(&shape, parts[0].aval.dtype);
        self.one("stablehlo.concatenate", &format!("dim = {axis}"), parts, out)
    }

    /// A combination over axes, from an initial value, by an operation of two scalars.
    ///
    /// # Errors
    /// None of its own.
    pub fn reduce(&mut self, x: HloValue, init: Scalar, combine: &str, axes: &[usize]) -> Result<HloValue> {
        let init = self.constant(init);
        let attributes = format!("applies {combine} across dimensions = {axes:?}");
        let shape: Vec<usize> =
            (0..x.aval.rank()).filter(|axis| !axes.contains(axis)).map(|axis| x.aval.shape[axis]).collect();
        Ok(self.one("stablehlo.reduce", &attributes, &[x, init], strong(&shape, x.aval.dtype)))
    }

    /// Other primitives in place.
    ///
    /// # Errors
    /// What `rule` and the primitives raise.
    pub fn compose(&mut self, rule: &dyn Fn(&dyn Emit, &[Val]) -> Result<Vals>, ins: &[HloValue]) -> Result<HloValues> {
        let builder = JaxprBuilder::new();
        let args: Vec<Val> = ins.iter().map(|x| builder.input(x.aval)).collect();
        let outs = rule(&builder, &args)?;
        self.inline(&JaxprRef::new(builder.finish(&outs, None).0), ins)
    }

    /// The operands unchanged, in a way that nothing is moved or merged across.
    pub fn barrier(&mut self, ins: &[HloValue]) -> HloValues {
        if ins.is_empty() {
            return smallvec![];
        }
        let avals: Vec<Aval> = ins.iter().map(|x| x.aval).collect();
        self.op("stablehlo.optimization_barrier", "", ins, &avals)
    }
}

/// How elements of a dtype are compared.
pub fn comparison_type(dtype: DType) -> &'static str {
    match dtype.kind() {
        Kind::Float | Kind::Complex => "FLOAT",
        Kind::Signed => "SIGNED",
        Kind::Unsigned | Kind::Bool | Kind::Float0 | Kind::Key => "UNSIGNED",
    }
}

/// `[0:4:2, 1:3]`; a step of one is left out.
pub fn slice_attributes(start: &[usize], limit: &[usize], stride: &[usize]) -> String {
    let axis = |axis: usize| match stride[axis] {
        1 => format!("{}:{}", start[axis], limit[axis]),
        step => format!("{}:{}:{step}", start[axis], limit[axis]),
    };
    format!("[{}]", (0..start.len()).map(axis).collect::<Vec<_>>().join(", "))
}

/// `array<i64: 1, 2>`.
pub fn int_array(numbers: &[impl std::fmt::Display]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    if numbers.is_empty() { "array<i64>".into() } else { format!("array<i64: {}>", numbers.join(", ")) }
}

/// A hole, named.
pub(crate) fn missing_hlo(name: &str, reason: &str) -> Error {
    Error::not_implemented(format!("StableHLO of primitive '{name}' is not implemented: {reason}"))
}
