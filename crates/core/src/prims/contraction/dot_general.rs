//! Sum of products over contracted axes: matrix product, with batch axes.
//!
//! dot_general : x[...] y[...] -> [batch, free of x, free of y]
//! Linear in each operand.

use pullback_base::array::place::Spec;
use pullback_base::aval::tuple_text;
use pullback_base::dtype::{Typed, promote};
use pullback_base::sharding::entries_text;
use pullback_base::{Aval, DType, Result, bail};
use pullback_ir::hlo::element_type;
use pullback_ir::lower::{Contraction, CpuForm};
use pullback_ir::{
    Avals, AxisName, Batch, BatchDims, Batching, Derivative, Emit, Hlo, Operand, OutSharding, ParamField, ParamValue,
    Params, Passing, Prim, PrimRef, Sample, Splits, Tangents, Transpose, Val, Vals, not_linear,
};
use smallvec::smallvec;

use super::precision::{Algorithm, DotPrecision};
use crate::prims::{DTypes, V, add_any, cotangent_type};

/// Which axes are contracted and which are batch, for both operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct DotDimensions {
    /// Contracted axes of the left and of the right operand.
    pub contract: [Vec<usize>; 2],
    /// Batch axes of the left and of the right operand.
    pub batch: [Vec<usize>; 2],
}

impl ParamField for DotDimensions {
    fn to_value(&self) -> ParamValue {
        let list = |axes: &[usize]| ParamValue::List(axes.iter().map(ParamField::to_value).collect());
        let pair = |pair: &[Vec<usize>; 2]| ParamValue::Tuple(vec![list(&pair[0]), list(&pair[1])]);
        ParamValue::Tuple(vec![pair(&self.contract), pair(&self.batch)])
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let pairs = Vec::<Vec<Vec<usize>>>::from_value(value)?;
        let [contract, batch] = <[_; 2]>::try_from(pairs).ok()?;
        Some(DotDimensions { contract: contract.try_into().ok()?, batch: batch.try_into().ok()? })
    }
}

/// Params of `dot_general`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct DotGeneral {
    /// Contracted and batch axes.
    pub dimension_numbers: DotDimensions,
    /// How exactly it is asked to compute.
    pub precision: Option<DotPrecision>,
    /// Dtype of the result.
    pub preferred_element_type: Option<DType>,
    /// How the result is asked to be split.
    #[param(hidden)]
    pub out_sharding: Option<OutSharding>,
}

struct Dot;

/// The primitive `dot_general`.
pub static DOT_GENERAL: PrimRef = PrimRef(&Dot);

impl<'e> V<'e> {
    /// The contraction with `other`.
    pub fn dot_general(&self, other: &V<'e>, dims: DotDimensions, dtype: Option<DType>) -> V<'e> {
        self.contract(
            other,
            DotGeneral { dimension_numbers: dims, precision: None, preferred_element_type: dtype, out_sharding: None },
        )
    }

    /// The contraction with `other` that the params say.
    pub fn contract(&self, other: &V<'e>, params: DotGeneral) -> V<'e> {
        self.bind(DOT_GENERAL, &Params::new(params), &[other])
    }
}

impl DotGeneral {
    /// The same contraction over other axes.
    fn over(&self, dims: DotDimensions) -> DotGeneral {
        DotGeneral { dimension_numbers: dims, ..self.clone() }
    }

    fn algorithm(&self) -> Option<&'static Algorithm> {
        match self.precision {
            Some(DotPrecision::Algorithm(algorithm)) => algorithm,
            _ => None,
        }
    }

    /// Attributes of the StableHLO operation.
    fn attributes(&self) -> String {
        let DotDimensions { contract, batch } = &self.dimension_numbers;
        let pair = |pair: &[Vec<usize>; 2]| format!("{:?} x {:?}", pair[0], pair[1]);
        let batching = if batch[0].is_empty() { String::new() } else { format!("batching_dims = {}, ", pair(batch)) };
        let [x, y] = DotPrecision::levels(self.precision);
        format!("{batching}contracting_dims = {}, precision = [{x}, {y}]", pair(contract))
    }
}

fn free_axes(rank: usize, dims: &DotDimensions, side: usize) -> Vec<usize> {
    (0..rank).filter(|axis| !dims.contract[side].contains(axis) && !dims.batch[side].contains(axis)).collect()
}

fn check_pairs(what: &str, ins: &[Aval], pairs: &[Vec<usize>; 2]) -> Result<()> {
    let [left, right] = pairs;
    let in_range = |side: usize| pairs[side].iter().all(|&axis| axis < ins[side].rank());
    if left.len() != right.len() || !in_range(0) || !in_range(1) {
        bail!(
            Type,
            "dot_general requires as many {what} axes on both sides, each in range; got {} for shape {} and {} for shape {}.",
            tuple_text(left),
            tuple_text(&ins[0].shape),
            tuple_text(right),
            tuple_text(&ins[1].shape)
        );
    }
    for side in pairs {
        if (1..side.len()).any(|i| side[..i].contains(&side[i])) {
            bail!(Type, "dot_general requires {what} dimensions to be distinct, got {}.", tuple_text(side));
        }
    }
    let sizes = |side: usize| pairs[side].iter().map(|&axis| ins[side].shape[axis]).collect::<Vec<_>>();
    if sizes(0) != sizes(1) {
        bail!(
            Type,
            "dot_general requires {what} dimensions to have the same shape, got {} and {}.",
            tuple_text(&sizes(0)),
            tuple_text(&sizes(1))
        );
    }
    Ok(())
}

impl Prim for Dot {
    type Params = DotGeneral;
    const NAME: &'static str = "dot_general";

    fn abstract_eval(&self, p: &DotGeneral, ins: &[Aval]) -> Result<Avals> {
        let dims = &p.dimension_numbers;
        check_pairs("batch", ins, &dims.batch)?;
        check_pairs("contracting", ins, &dims.contract)?;
        for (batch, contract) in dims.batch.iter().zip(&dims.contract) {
            if batch.iter().any(|axis| contract.contains(axis)) {
                bail!(
                    Type,
                    "dot_general requires batch dimensions to be disjoint from contracting dimensions, got {} and {}.",
                    tuple_text(batch),
                    tuple_text(contract)
                );
            }
        }
        DTypes::ANY.check("dot_general", 0, ins[0].dtype)?;
        let mut shape: Vec<usize> = dims.batch[0].iter().map(|&axis| ins[0].shape[axis]).collect();
        for (side, x) in ins.iter().enumerate() {
            shape.extend(free_axes(x.rank(), dims, side).into_iter().map(|axis| x.shape[axis]));
        }
        let weak_type = ins.iter().all(|x| x.weak_type);
        let strong = |dtype| Typed { dtype, weak_type: false };
        let dtype = match p.preferred_element_type {
            Some(dtype) => dtype,
            None => promote(strong(ins[0].dtype), strong(ins[1].dtype), true)?.dtype,
        };
        Ok(smallvec![Aval::with_weak_type(&shape, dtype, weak_type)])
    }

    fn derivative(&self) -> Derivative<DotGeneral> {
        Derivative::Jvp(jvp)
    }

    fn transpose(&self) -> Transpose<DotGeneral> {
        Transpose::Rule(transpose)
    }

    fn asked<'a>(&self, p: &'a DotGeneral) -> Option<&'a OutSharding> {
        p.out_sharding.as_ref()
    }

    fn splits(&self) -> Splits<DotGeneral> {
        Splits::Rule(pass)
    }

    fn batching(&self) -> Batching<DotGeneral> {
        Batching::Rule(batch)
    }

    fn unprinted(&self, p: &DotGeneral) -> Vec<&'static str> {
        let silent =
            [(p.precision.is_none(), "precision"), (p.preferred_element_type.is_none(), "preferred_element_type")];
        silent.into_iter().filter(|(is_silent, _)| *is_silent).map(|(_, name)| name).collect()
    }

    fn cpu(&self, p: &DotGeneral, ins: &[Aval], outs: &[Aval]) -> CpuForm {
        if ins[0].dtype.is_complex() != ins[1].dtype.is_complex() {
            let p = p.clone();
            return CpuForm::Decompose(Box::new(move |e, ins| both_complex(&p, e, ins)));
        }
        let is_rounded = outs[0].dtype.is_integer() && ins[0].dtype.is_inexact() | ins[1].dtype.is_inexact();
        if is_rounded || outs[0].dtype.is_complex() != ins[0].dtype.is_complex() {
            let (p, dtype) = (DotGeneral { preferred_element_type: None, ..p.clone() }, outs[0].dtype);
            return CpuForm::Decompose(Box::new(move |e, ins| {
                let [x, y] = [0, 1].map(|side| V::new(e, &ins[side]));
                Ok(smallvec![x.contract(&y, p.clone()).convert(dtype).done()?])
            }));
        }
        if let Some(algorithm) = p.algorithm() {
            let (p, dtype) = (p.clone(), outs[0].dtype);
            return CpuForm::Decompose(Box::new(move |e, ins| by_algorithm(&p, algorithm, e, ins, dtype)));
        }
        let DotDimensions { contract, batch } = p.dimension_numbers.clone();
        CpuForm::Contract(Contraction { contract, batch })
    }

    fn hlo(&self) -> Hlo<DotGeneral> {
        Hlo::Rule(|p, cx, ins, outs| {
            let name = "stablehlo.dot_general";
            let Some(algorithm) = p.algorithm() else { return Ok(cx.op(name, &p.attributes(), ins, outs)) };
            let dtypes = [ins[0].aval.dtype, ins[1].aval.dtype];
            let converted = algorithm.converts(dtypes)?;
            let [x, y] = [0, 1].map(|side| cx.convert(ins[side], converted.unwrap_or(dtypes[side])));
            // Where the operands are taken as they are, so is the result, unless sums are in another type.
            let made =
                if converted.is_none() && algorithm.summed == DType::F32 { outs[0].dtype } else { algorithm.summed };
            let spelled = [x, y].map(|operand| element_type(operand.aval.dtype));
            let attributes = format!("{}, {}", p.attributes(), algorithm.attribute(spelled));
            let product = cx.one(name, &attributes, &[x, y], outs[0].with_dtype(made));
            Ok(smallvec![cx.convert(product, outs[0].dtype)])
        })
    }

    fn samples(&self) -> Vec<Sample> {
        let sample = |contract: [&[usize]; 2], batch: [&[usize]; 2], shapes: &[&[usize]], dtype| {
            let dims = DotDimensions { contract: contract.map(<[_]>::to_vec), batch: batch.map(<[_]>::to_vec) };
            let params = DotGeneral {
                dimension_numbers: dims,
                precision: None,
                preferred_element_type: None,
                out_sharding: None,
            };
            Sample::new(Params::new(params), dtype, (-2.0, 2.0), shapes)
        };
        vec![
            sample([&[1], &[0]], [&[], &[]], &[&[3, 4], &[4, 5]], DType::F32),
            sample([&[0], &[1]], [&[], &[]], &[&[4, 3], &[5, 4]], DType::F32),
            sample([&[2], &[1]], [&[0], &[0]], &[&[2, 3, 4], &[2, 4, 5]], DType::F32),
            sample([&[0], &[0]], [&[], &[]], &[&[4], &[4]], DType::F32),
            sample([&[], &[]], [&[], &[]], &[&[2], &[3]], DType::F32),
            sample([&[0, 2], &[2, 0]], [&[1], &[1]], &[&[2, 3, 4], &[4, 3, 2]], DType::F32),
            sample([&[1], &[0]], [&[], &[]], &[&[3, 0], &[0, 5]], DType::F32),
            sample([&[1], &[0]], [&[], &[]], &[&[3, 4], &[4, 5]], DType::I32),
            sample([&[1], &[0]], [&[], &[]], &[&[3, 4], &[4, 5]], DType::C64),
        ]
    }
}

/// Batch axes agree; contracted axes may be split on one side alone; free axes stay split.
fn pass(p: &DotGeneral, x: &Passing<'_>) -> Result<Vec<Spec>> {
    let dims = &p.dimension_numbers;
    let of = |side: usize, axes: &[usize]| -> Spec { axes.iter().map(|&axis| x.specs[side][axis].clone()).collect() };
    let [left, right] = [0, 1].map(|side| of(side, &dims.contract[side]));
    let is_both = |(a, b): (&Vec<AxisName>, &Vec<AxisName>)| !a.is_empty() && !b.is_empty();
    if x.is_strict && left.iter().zip(&right).any(is_both) {
        let shown = [&left, &right].map(entries_text);
        if left.iter().zip(&right).any(|(a, b)| is_both((a, b)) && a != b) {
            return x.refuse(|| {
                format!(
                    "dot_general requires contracting dimensions to have consistent sharding, got {} and {}.",
                    shown[0], shown[1]
                )
            });
        }
        return x.refuse(|| {
            format!(
                "Contracting dimensions are sharded and it is ambiguous how the output should be sharded. Please specify the \
                 output sharding via the `out_sharding` parameter. Got lhs_contracting_spec={} and rhs_contracting_spec={}",
                shown[0], shown[1]
            )
        });
    }
    let [batch, other] = [0, 1].map(|side| of(side, &dims.batch[side]));
    if x.is_strict && batch != other {
        return x.refuse(|| {
            format!(
                "dot_general requires lhs batch dimensions and rhs batch dimensions to have the consistent sharding, got {} and {}.",
                entries_text(&batch),
                entries_text(&other)
            )
        });
    }
    let mut spec: Spec = batch.into_iter().zip(other).map(|(a, b)| if a.is_empty() { b } else { a }).collect();
    for side in 0..2 {
        for axis in free_axes(x.ins[side].rank(), dims, side) {
            let names = &x.specs[side][axis];
            let is_taken = names.iter().any(|name| spec.iter().flatten().any(|other| other == name));
            spec.push(if is_taken && !x.is_strict { vec![] } else { names.clone() });
        }
    }
    Ok(vec![spec])
}

/// The contraction by an algorithm that the CPU has: of operands in its dtype, summed in its dtype.
fn by_algorithm(p: &DotGeneral, algorithm: &Algorithm, e: &dyn Emit, ins: &[Val], out: DType) -> Result<Vals> {
    if !algorithm.on_cpu {
        bail!(Value, "The precision '{}' is not supported by dot_general on CPU", algorithm.name);
    }
    let operands = [0, 1].map(|side| V::new(e, &ins[side]));
    let converted = algorithm.converts(operands.clone().map(|operand| operand.aval().dtype))?;
    let [x, y] = operands.map(|operand| converted.map_or(operand.clone(), |dtype| operand.convert(dtype)));
    let params = DotGeneral { precision: None, preferred_element_type: Some(algorithm.summed), ..p.clone() };
    Ok(smallvec![x.contract(&y, params).convert(out).done()?])
}

/// The contraction of a complex and a real operand, which is taken as complex.
fn both_complex(p: &DotGeneral, e: &dyn Emit, ins: &[Val]) -> Result<Vals> {
    let strong = |val: &Val| Typed { dtype: val.aval().dtype, weak_type: false };
    let dtype = promote(strong(&ins[0]), strong(&ins[1]), true)?.dtype;
    let [x, y] = [0, 1].map(|side| V::new(e, &ins[side]).convert(dtype));
    Ok(smallvec![x.contract(&y, p.clone()).done()?])
}

fn jvp(p: &DotGeneral, e: &dyn Emit, xs: &[Val], ts: &[Option<Val>]) -> Result<(Vals, Tangents)> {
    let (x, y) = (V::new(e, &xs[0]), V::new(e, &xs[1]));
    let dot = |a: &V<'_>, b: &V<'_>| a.contract(&V::new(e, &b.clone().done()?), p.clone()).done();
    let out = dot(&x, &y)?;
    let dx = ts[0].as_ref().map(|t| dot(&V::new(e, t), &y)).transpose()?;
    let dy = ts[1].as_ref().map(|t| dot(&x, &V::new(e, t))).transpose()?;
    Ok((smallvec![out], smallvec![add_any(e, dx, dy)?]))
}

fn transpose(p: &DotGeneral, e: &dyn Emit, cts: &[Option<Val>], ins: &[Operand]) -> Result<Tangents> {
    let mut result: Tangents = smallvec![None, None];
    let Some(ct) = &cts[0] else { return Ok(result) };
    if ins.iter().all(Operand::is_linear) {
        return Err(not_linear(Dot::NAME, " in both operands together"));
    }
    for side in 0..2 {
        if let (true, Some(other)) = (ins[side].is_linear(), ins[1 - side].known()) {
            let other = V::new(e, other);
            result[side] = Some(operand_ct(p, side, &V::new(e, ct), ins[side].aval(), &other).done()?);
        }
    }
    Ok(result)
}

/// The cotangent of one operand: the result's cotangent contracted with the other operand over that one's free axes,
/// with the axes put back where the operand has them.
fn operand_ct<'e>(p: &DotGeneral, side: usize, ct: &V<'e>, x: Aval, other: &V<'e>) -> V<'e> {
    let dims = &p.dimension_numbers;
    let (n_batch, other_side) = (dims.batch[0].len(), 1 - side);
    let x_free = free_axes(x.rank(), dims, side);
    let other_free = free_axes(other.aval().rank(), dims, other_side);
    // Axes of the result: batch, free of the left, free of the right.
    let n_left_free = if side == 0 { x_free.len() } else { other_free.len() };
    let first_other = n_batch + if side == 0 { n_left_free } else { 0 };
    let ct_contract: Vec<usize> = (first_other..first_other + other_free.len()).collect();
    let ct_batch: Vec<usize> = (0..n_batch).collect();
    let ct_dims =
        DotDimensions { contract: [ct_contract, other_free], batch: [ct_batch, dims.batch[other_side].clone()] };
    let asks = [x, ct.aval(), other.aval()].iter().any(|aval| aval.sharding.is_some());
    let asked = asks.then(|| product_type(dims, side, x, &x_free));
    let product = ct.contract(other, DotGeneral { out_sharding: asked, ..p.over(ct_dims) });
    // Axes of the product: batch, free of x, then the contracted axes in the order of the other operand's axes.
    let x_axes = product_axes(dims, side, &x_free);
    let mut permutation = vec![0; x_axes.len()];
    for (i, &axis) in x_axes.iter().enumerate() {
        permutation[axis] = i;
    }
    let product = product.transpose(&permutation);
    if product.aval().dtype == x.dtype { product } else { product.convert(x.dtype) }
}

/// The axes of an operand in the order in which its cotangent comes as a product: batch, free, then the contracted axes in
/// the order of the other operand's.
fn product_axes(dims: &DotDimensions, side: usize, x_free: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..dims.contract[side].len()).collect();
    order.sort_by_key(|&i| dims.contract[1 - side][i]);
    let contracted = order.into_iter().map(|i| dims.contract[side][i]);
    dims.batch[side].iter().copied().chain(x_free.iter().copied()).chain(contracted).collect()
}

/// How that product is split, so that the cotangent is split as the operand.
fn product_type(dims: &DotDimensions, side: usize, x: Aval, x_free: &[usize]) -> OutSharding {
    let (axes, x) = (product_axes(dims, side, x_free), cotangent_type(x));
    let shape: Vec<usize> = axes.iter().map(|&axis| x.shape[axis]).collect();
    let entries = axes.iter().map(|&axis| x.entry(axis).to_vec()).collect();
    OutSharding::like(x.with_shape(&shape).sharded(x.sharding.and_then(|sharding| sharding.with_entries(entries))))
}

fn batch(p: &DotGeneral, e: &dyn Emit, _: &Batch, ins: &[Val], dims: &[Option<usize>]) -> Result<(Vals, BatchDims)> {
    let old = &p.dimension_numbers;
    let moved = |axes: &[usize], side: usize| -> Vec<usize> {
        axes.iter().map(|&axis| if dims[side].is_some_and(|dim| axis >= dim) { axis + 1 } else { axis }).collect()
    };
    let pair = |axes: &[Vec<usize>; 2]| [moved(&axes[0], 0), moved(&axes[1], 1)];
    let mut new = DotDimensions { contract: pair(&old.contract), batch: pair(&old.batch) };
    let n_batch = old.batch[0].len();
    let out_dim = match (dims[0], dims[1]) {
        (Some(left), Some(right)) => {
            new.batch[0].insert(0, left);
            new.batch[1].insert(0, right);
            0
        }
        // The batch axis of one operand is one more free axis of the result.
        (Some(left), None) => {
            n_batch + free_axes(ins[0].aval().rank(), &new, 0).iter().filter(|&&axis| axis < left).count()
        }
        (None, Some(right)) => {
            let n_left = free_axes(ins[0].aval().rank(), &new, 0).len();
            n_batch + n_left + free_axes(ins[1].aval().rank(), &new, 1).iter().filter(|&&axis| axis < right).count()
        }
        (None, None) => unreachable!("some operand is batched"),
    };
    let mapped = |side: usize| dims[side].map(|dim| (ins[side].aval(), ins[side].aval().entry(dim)));
    let (split, names) = mapped(0).or_else(|| mapped(1)).expect("some operand is batched");
    let rank =
        n_batch + free_axes(ins[0].aval().rank(), &new, 0).len() + free_axes(ins[1].aval().rank(), &new, 1).len();
    let rank = rank + usize::from(dims[0].is_some() && dims[1].is_some()) - 1;
    let out_sharding = p.out_sharding.as_ref().map(|asked| asked.with_axis(out_dim, names, rank, split));
    let params = DotGeneral { out_sharding, ..p.over(new) };
    let out = V::new(e, &ins[0]).contract(&V::new(e, &ins[1]), params).done()?;
    Ok((smallvec![out], smallvec![Some(out_dim)]))
}
