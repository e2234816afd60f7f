//! Convolution: sums of products over windows of an array, with strides, padding, dilation and groups.
//!
//! conv_general_dilated : x[N, C, space...] w[O, C/groups, window...] -> [N, O, places...]        axes in any order
//! Linear in each operand. With `batch_group_count` groups of the batch have out features of their own.

mod rules;

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloValue, int_array};
use pullback_ir::lower::CpuForm;
use pullback_ir::{
    Avals, Batching, Derivative, Emit, Hlo, OutSharding, ParamField, ParamValue, Params, Passing, Prim, PrimRef,
    Sample, Splits, Transpose, Val, Vals,
};
use pullback_loops::{Body, Conv};
use smallvec::smallvec;

use super::precision::DotPrecision;
use crate::prims::{DTypes, V};

/// Which axes are batch (or out features), features and space.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ConvDimensions {
    /// Batch, features, space of the operand.
    pub lhs: Vec<usize>,
    /// Out features, in features, window of the kernel.
    pub rhs: Vec<usize>,
    /// Batch, features, space of the result.
    pub out: Vec<usize>,
}

impl ParamField for ConvDimensions {
    fn to_value(&self) -> ParamValue {
        let fields = [("lhs_spec", &self.lhs), ("rhs_spec", &self.rhs), ("out_spec", &self.out)];
        ParamValue::Record("ConvDimensionNumbers", fields.map(|(name, spec)| (name, spec.to_value())).to_vec())
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let specs: Vec<Vec<usize>> = match value {
            ParamValue::Record(_, fields) => {
                fields.iter().map(|(_, spec)| ParamField::from_value(spec)).collect::<Option<_>>()?
            }
            _ => ParamField::from_value(value)?,
        };
        let [lhs, rhs, out] = specs.try_into().ok()?;
        Some(ConvDimensions { lhs, rhs, out })
    }
}

/// Elements before the first and after the last of one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PadPair(pub i64, pub i64);

impl ParamField for PadPair {
    fn to_value(&self) -> ParamValue {
        ParamValue::Tuple(vec![ParamValue::Int(self.0), ParamValue::Int(self.1)])
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let [low, high] = Vec::<i64>::from_value(value)?[..] else { return None };
        Some(PadPair(low, high))
    }
}

/// Params of `conv_general_dilated`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ConvGeneralDilated {
    /// Steps of the window.
    pub window_strides: Vec<usize>,
    /// Elements before and after, negative to crop.
    pub padding: Vec<PadPair>,
    /// Distance of the operand's elements.
    pub lhs_dilation: Vec<usize>,
    /// Distance of the kernel's elements.
    pub rhs_dilation: Vec<usize>,
    /// Which axis is what.
    pub dimension_numbers: ConvDimensions,
    /// Groups of features that do not mix.
    pub feature_group_count: usize,
    /// Groups of the batch with out features of their own.
    pub batch_group_count: usize,
    /// How exactly it is asked to compute; algorithms are without effect.
    pub precision: Option<DotPrecision>,
    /// Dtype of the result.
    pub preferred_element_type: Option<DType>,
    /// How the result is asked to be split.
    pub out_sharding: Option<OutSharding>,
}

/// An axis order as StableHLO spells it: `[b, f, 0, 1]` with the names of the first two.
fn spec_text(spec: &[usize], [first, second]: [&str; 2]) -> String {
    let mut names = vec![String::new(); spec.len()];
    for (i, &axis) in spec.iter().enumerate() {
        names[axis] = match i {
            0 => first.into(),
            1 => second.into(),
            _ => (i - 2).to_string(),
        };
    }
    format!("[{}]", names.join(", "))
}

impl ConvGeneralDilated {
    /// The properties of the operation of StableHLO.
    fn properties(&self) -> String {
        let dims = &self.dimension_numbers;
        format!(
            "batch_group_count = {} : i64, dimension_numbers = #stablehlo.conv<{}x{}->{}>, feature_group_count = {} : i64, \
             lhs_dilation = {}, padding = {}, precision_config = [{}], rhs_dilation = {}, window_strides = {}",
            self.batch_group_count,
            spec_text(&dims.lhs, ["b", "f"]),
            spec_text(&dims.rhs, ["o", "i"]),
            spec_text(&dims.out, ["b", "f"]),
            self.feature_group_count,
            int_array(&self.lhs_dilation),
            crate::prims::windowed::pairs_text(&self.padding),
            DotPrecision::levels(self.precision).map(|level| format!("#stablehlo<precision {level}>")).join(", "),
            int_array(&self.rhs_dilation),
            int_array(&self.window_strides)
        )
    }
}

struct ConvPrim;

/// The primitive `conv_general_dilated`.
pub static CONV_GENERAL_DILATED: PrimRef = PrimRef(&ConvPrim);

/// The number of windows, `None` when a size is impossible.
fn n_places(p: &ConvGeneralDilated, axis: usize, x: usize, window: usize) -> Option<usize> {
    let dilated = |size: usize, by: usize| if size == 0 { 0 } else { (size as i64 - 1) * by as i64 + 1 };
    let PadPair(low, high) = p.padding[axis];
    let padded = dilated(x, p.lhs_dilation[axis]) + low + high;
    let room = padded - dilated(window, p.rhs_dilation[axis]);
    match room {
        _ if padded < 0 => None,
        ..0 => Some(0),
        room => Some((room / p.window_strides[axis] as i64) as usize + 1),
    }
}

fn of(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|&axis| shape[axis]).collect()
}

fn check_lengths(p: &ConvGeneralDilated, n: usize) -> Result<()> {
    let lens = [p.window_strides.len(), p.padding.len(), p.lhs_dilation.len(), p.rhs_dilation.len()];
    if lens != [n; 4] {
        bail!(
            Value,
            "conv_general_dilated requires {n} window_strides, padding pairs and dilations, one for each spatial axis, got {}, {}, \
             {} and {}.",
            lens[0],
            lens[1],
            lens[2],
            lens[3]
        );
    }
    if p.window_strides.contains(&0) || p.lhs_dilation.contains(&0) || p.rhs_dilation.contains(&0) {
        bail!(Value, "conv_general_dilated strides and dilations must be positive.");
    }
    Ok(())
}

fn check_groups(p: &ConvGeneralDilated, lhs: &[usize], rhs: &[usize]) -> Result<()> {
    let (features, batches) = (p.feature_group_count, p.batch_group_count);
    if features == 0 || batches == 0 {
        bail!(
            Value,
            "conv_general_dilated feature_group_count and batch_group_count must be positive integers, got {features} and {batches}."
        );
    }
    if features > 1 && batches > 1 {
        bail!(
            Value,
            "At most one of batch_group_count and feature_group_count may be > 1, got batch_group_count={batches} and \
             feature_group_count={features}"
        );
    }
    if lhs[1] != rhs[1] * features {
        bail!(
            Value,
            "conv_general_dilated lhs feature dimension size divided by feature_group_count must equal the rhs input feature \
             dimension size, but {} // {features} != {}.",
            lhs[1],
            rhs[1]
        );
    }
    if !rhs[0].is_multiple_of(features) {
        bail!(
            Value,
            "conv_general_dilated rhs output feature dimension size must be a multiple of feature_group_count, but {} is not a \
             multiple of {features}.",
            rhs[0]
        );
    }
    if !lhs[0].is_multiple_of(batches) || !rhs[0].is_multiple_of(batches) {
        bail!(
            Value,
            "conv_general_dilated lhs batch dimension size and rhs output feature dimension size must be multiples of \
             batch_group_count, but {} or {} is not a multiple of {batches}.",
            lhs[0],
            rhs[0]
        );
    }
    Ok(())
}

fn check_dtypes(p: &ConvGeneralDilated, ins: &[Aval]) -> Result<()> {
    for (position, x) in ins.iter().enumerate() {
        DTypes::NUMBER.check("conv_general_dilated", position, x.dtype)?;
    }
    if ins[0].dtype != ins[1].dtype && p.preferred_element_type.is_none() {
        bail!(
            Type,
            "lax.conv_general_dilated requires arguments to have the same dtypes, got {}, {}. (Tip: jnp.convolve does automatic \
             type promotion on inputs).",
            ins[0].dtype,
            ins[1].dtype
        );
    }
    // Derivatives join cotangents of the wider dtype with operands of the narrow one, and give the narrow one.
    match p.preferred_element_type {
        Some(dtype) if ins[0].dtype == ins[1].dtype => check_preferred(ins[0].dtype, dtype),
        _ => Ok(()),
    }
}

/// A convolution adds in a wider dtype of the same kind only.
fn check_preferred(input: DType, preferred: DType) -> Result<()> {
    let same = |is: fn(DType) -> bool| is(input) && is(preferred);
    let is_real = |dtype: DType| dtype.is_inexact() && !dtype.is_complex();
    let is_known = same(DType::is_integer) || same(is_real) || same(DType::is_complex);
    if !(is_known || input.is_integer() && is_real(preferred)) {
        bail!(
            Type,
            "Input type is incompatible with `preferred_element_type`. The compatible combinations of (input_type, \
             preferred_element_type) are (integral, integral), (integral, floating), (floating, floating), (complex, complex)."
        );
    }
    if input.is_integer() && preferred.is_integer() && input.kind() != preferred.kind() {
        bail!(Type, "`preferred_element_type` must have the same signedness as the original type.");
    }
    if preferred.size_bytes() < input.size_bytes() {
        bail!(Type, "`preferred_element_type` must not be narrower than the original type.");
    }
    Ok(())
}

/// The same convolution with edges cut off before it, where some are negative: XLA's plugin for CPUs of 0.115 reads the
/// next example there instead of zeros.
fn without_negative_padding(p: &ConvGeneralDilated, cx: &mut dyn HloCx, x: HloValue) -> (ConvGeneralDilated, HloValue) {
    let mut p = p.clone();
    if p.padding.iter().all(|pair| pair.0 >= 0 && pair.1 >= 0) {
        return (p, x);
    }
    let rank = x.aval.rank();
    let (mut low, mut high, mut interior) = (vec![0i64; rank], vec![0i64; rank], vec![0i64; rank]);
    let mut shape = x.aval.shape.to_vec();
    for (i, pair) in p.padding.iter_mut().enumerate() {
        let axis = p.dimension_numbers.lhs[2 + i];
        // What is cut is counted after the dilation, so that goes before it too.
        interior[axis] = p.lhs_dilation[i] as i64 - 1;
        (low[axis], high[axis]) = (pair.0.min(0), pair.1.min(0));
        let dilated = (shape[axis] as i64 - 1).max(0) * interior[axis] + shape[axis] as i64;
        shape[axis] = (dilated + low[axis] + high[axis]).max(0) as usize;
        p.lhs_dilation[i] = 1;
        (pair.0, pair.1) = (pair.0.max(0), pair.1.max(0));
    }
    let zero = cx.constant(Scalar::zero(x.aval.dtype));
    let attributes = format!("low = {low:?}, high = {high:?}, interior = {interior:?}");
    let cut = cx.one("stablehlo.pad", &attributes, &[x, zero], Aval::new(&shape, x.aval.dtype));
    (p, cut)
}

impl Prim for ConvPrim {
    type Params = ConvGeneralDilated;
    const NAME: &'static str = "conv_general_dilated";

    fn abstract_eval(&self, p: &ConvGeneralDilated, ins: &[Aval]) -> Result<Avals> {
        let [x, w] = ins else { bail!(Type, "conv_general_dilated takes 2 operands, got {}", ins.len()) };
        let dims = &p.dimension_numbers;
        let fits = |spec: &[usize], rank: usize| spec.len() == rank && (0..rank).all(|axis| spec.contains(&axis));
        if x.rank() != w.rank()
            || x.rank() < 2
            || !fits(&dims.lhs, x.rank())
            || !fits(&dims.rhs, x.rank())
            || !fits(&dims.out, x.rank())
        {
            bail!(
                Type,
                "convolution dimension_numbers must be permutations of the axes of operands of one rank of at least 2, got \
                 lhs_spec={}, rhs_spec={}, out_spec={} for shapes {} and {}.",
                tuple_text(&dims.lhs),
                tuple_text(&dims.rhs),
                tuple_text(&dims.out),
                tuple_text(&x.shape),
                tuple_text(&w.shape)
            );
        }
        check_lengths(p, x.rank() - 2)?;
        let (lhs, rhs) = (of(&x.shape, &dims.lhs), of(&w.shape, &dims.rhs));
        check_groups(p, &lhs, &rhs)?;
        check_dtypes(p, ins)?;
        let mut shape = vec![0; x.rank()];
        (shape[dims.out[0]], shape[dims.out[1]]) = (lhs[0] / p.batch_group_count, rhs[0]);
        for axis in 0..x.rank() - 2 {
            let Some(n) = n_places(p, axis, lhs[axis + 2], rhs[axis + 2]) else {
                bail!(
                    Value,
                    "conv_general_dilated padding crops more than there is along spatial axis {axis} of shape {}.",
                    tuple_text(&x.shape)
                );
            };
            shape[dims.out[axis + 2]] = n;
        }
        let weak_type = ins.iter().all(|x| x.weak_type) && p.preferred_element_type.is_none();
        Ok(smallvec![Aval::with_weak_type(&shape, p.preferred_element_type.unwrap_or(x.dtype), weak_type)])
    }

    fn derivative(&self) -> Derivative<ConvGeneralDilated> {
        Derivative::Jvp(rules::jvp)
    }

    fn transpose(&self) -> Transpose<ConvGeneralDilated> {
        Transpose::Rule(rules::transpose)
    }

    fn asked<'a>(&self, p: &'a ConvGeneralDilated) -> Option<&'a OutSharding> {
        p.out_sharding.as_ref()
    }

    fn splits(&self) -> Splits<ConvGeneralDilated> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<ConvGeneralDilated> {
        Batching::Rule(rules::batch)
    }

    fn cpu(&self, p: &ConvGeneralDilated, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        let dtype = computed_in(ins[0].dtype, outs[0].dtype);
        if ins.iter().chain(outs).any(|x| x.dtype != dtype) {
            let (p, out) = (p.clone(), outs[0].dtype);
            return CpuForm::Decompose(Box::new(move |e, ins| converted(&p, e, ins, dtype, out)));
        }
        let shape = |x: Aval| x.shape.to_vec();
        let dims = p.dimension_numbers.clone();
        CpuForm::Body(Box::new(Body::Conv(Conv {
            dtype,
            shapes: [shape(ins[0]), shape(ins[1]), shape(outs[0])],
            specs: [dims.lhs, dims.rhs, dims.out],
            window_strides: p.window_strides.clone(),
            padding: p.padding.iter().map(|pair| (pair.0, pair.1)).collect(),
            lhs_dilation: p.lhs_dilation.clone(),
            rhs_dilation: p.rhs_dilation.clone(),
            feature_groups: p.feature_group_count,
            batch_groups: p.batch_group_count,
        })))
    }

    fn hlo(&self) -> Hlo<ConvGeneralDilated> {
        Hlo::Rule(|p, cx, ins, outs| {
            // Both operands in the dtype of the result, as the CPU has it.
            let dtype = computed_in(ins[0].aval.dtype, outs[0].dtype);
            let (x, w) = (cx.convert(ins[0], dtype), cx.convert(ins[1], dtype));
            let wide = [outs[0].with_dtype(dtype)];
            let (p, x) = without_negative_padding(p, cx, x);
            let out = cx.generic("stablehlo.convolution", &p.properties(), &[x, w], &mut [], &wide)?[0];
            Ok(smallvec![cx.convert(out, outs[0].dtype)])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let dims = ConvDimensions { lhs: vec![0, 1, 2], rhs: vec![0, 1, 2], out: vec![0, 1, 2] };
        let last = ConvDimensions { lhs: vec![0, 2, 1], rhs: vec![2, 1, 0], out: vec![0, 2, 1] };
        let sample =
            |x: &[usize], w: &[usize], steps: [usize; 3], padding, groups: [usize; 2], dims: &ConvDimensions| {
                let params = ConvGeneralDilated {
                    window_strides: vec![steps[0]],
                    padding: vec![padding],
                    lhs_dilation: vec![steps[1]],
                    rhs_dilation: vec![steps[2]],
                    dimension_numbers: dims.clone(),
                    feature_group_count: groups[0],
                    batch_group_count: groups[1],
                    precision: None,
                    preferred_element_type: None,
                    out_sharding: None,
                };
                Sample::new(Params::new(params), DType::F32, (-2.0, 2.0), &[x, w])
            };
        vec![
            sample(&[2, 3, 5], &[4, 3, 2], [1, 1, 1], PadPair(0, 0), [1, 1], &dims),
            sample(&[2, 3, 7], &[4, 3, 3], [2, 1, 1], PadPair(1, 1), [1, 1], &dims),
            sample(&[1, 2, 4], &[3, 2, 2], [1, 3, 2], PadPair(1, 2), [1, 1], &dims),
            sample(&[1, 4, 4], &[6, 2, 2], [1, 1, 1], PadPair(0, 1), [2, 1], &dims),
            sample(&[4, 2, 4], &[6, 2, 2], [1, 1, 1], PadPair(0, 1), [1, 2], &dims),
            sample(&[2, 5, 3], &[2, 3, 4], [1, 1, 1], PadPair(-1, 1), [1, 1], &last),
            sample(&[0, 3, 5], &[4, 3, 2], [1, 1, 1], PadPair(0, 0), [1, 1], &dims),
        ]
    }
}

/// Only the batch of the operand may be split.
fn pass(p: &ConvGeneralDilated, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let (batch, out) = (p.dimension_numbers.lhs[0], p.dimension_numbers.out[0]);
    let is_other = (0..x.ins[0].rank()).any(|axis| axis != batch && !x.specs[0][axis].is_empty());
    if is_other || x.is_split(1) {
        return x.refuse(|| {
            "Please specify the output sharding via `out_sharding` parameter of `conv_general_dilated`".into()
        });
    }
    let mut spec = x.whole();
    spec[0][out].clone_from(&x.specs[0][batch]);
    Ok(spec)
}

/// The dtype of sums: halves are summed in single precision, integers in that of the result.
fn computed_in(x: DType, out: DType) -> DType {
    match (x, out) {
        (DType::F16 | DType::BF16, DType::F64) => DType::F64,
        (DType::F16 | DType::BF16, _) => DType::F32,
        (x, out) if x.is_integer() || out.bits() > x.bits() => out,
        (x, _) => x,
    }
}

/// The convolution of converted operands, converted to `out`.
fn converted(p: &ConvGeneralDilated, e: &dyn Emit, ins: &[Val], dtype: DType, out: DType) -> Result<Vals> {
    let [x, w] = [0, 1].map(|i| V::new(e, &ins[i]).convert(dtype));
    let params = ConvGeneralDilated { preferred_element_type: None, ..p.clone() };
    let y = x.bind(CONV_GENERAL_DILATED, &Params::new(params), &[&w]);
    Ok(smallvec![y.convert(out).done()?])
}
