//! How splits over a mesh pass through a primitive: the cell beside its batching.
//!
//! One rule serves two readers. Types with explicit axes take it strictly: what leaves open how a result is split is an
//! error of kind `ShardingType`. Where the system decides, the same rule is followed freely: what is not clear is whole.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use pullback_base::array::place::{Mesh, Spec};
use pullback_base::aval::tuple_text;
use pullback_base::sharding::{AxisKind, MeshAxis, entries_text, spec_text};
use pullback_base::{Aval, Error, ErrorKind, Result, Sharding};

use crate::jaxpr::AxisName;
use crate::params::{Opaque, ParamField, ParamValue};

/// The splits of the results, each with an entry for every axis.
pub type PassRule<P> = fn(&P, &Passing<'_>) -> Result<Vec<Spec>>;

/// How splits pass through a primitive.
pub enum Splits<P> {
    /// Axis by axis from operands to results of one shape, up to axes of size 1 and scalars, which repeat.
    Pointwise,
    /// By a rule.
    Rule(PassRule<P>),
    /// As its abstract evaluation says, which sees them.
    Inside,
    /// Not written, and why.
    Missing(&'static str),
}

/// One application whose operands are split.
pub struct Passing<'a> {
    /// The primitive.
    pub name: &'a str,
    /// Types of the operands.
    pub ins: &'a [Aval],
    /// How each operand is split, with an entry for every axis.
    pub specs: &'a [Spec],
    /// Types of the results.
    pub outs: &'a [Aval],
    /// Whether an open question is an error.
    pub is_strict: bool,
    /// Number of devices along a mesh axis.
    pub size_of: &'a dyn Fn(&str) -> usize,
}

/// An error of shardings in types.
pub fn sharding_error(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::ShardingType, text)
}

impl Passing<'_> {
    /// Results that nothing splits.
    pub fn whole(&self) -> Vec<Spec> {
        self.outs.iter().map(|aval| vec![vec![]; aval.rank()]).collect()
    }

    /// The error, or where the system decides, whole results.
    ///
    /// # Errors
    /// `ShardingType` where the user decides.
    pub fn refuse(&self, text: impl FnOnce() -> String) -> Result<Vec<Spec>> {
        if self.is_strict { Err(sharding_error(text())) } else { Ok(self.whole()) }
    }

    /// In how many parts mesh axes split.
    pub fn factor(&self, names: &[AxisName]) -> usize {
        names.iter().map(|name| (self.size_of)(name)).product()
    }

    /// Whether an operand is split at all.
    pub fn is_split(&self, operand: usize) -> bool {
        self.specs[operand].iter().any(|names| !names.is_empty())
    }

    /// All results split as the first operand without some axes.
    pub fn without(&self, axes: &[usize]) -> Vec<Spec> {
        let kept =
            |spec: &Spec| (0..spec.len()).filter(|axis| !axes.contains(axis)).map(|axis| spec[axis].clone()).collect();
        vec![kept(&self.specs[0]); self.outs.len()]
    }

    /// An operand with its split: `float32[8@x,2]`.
    pub fn shown(&self, operand: usize) -> String {
        self.ins[operand].weak(false).long()
    }

    /// The first operand's split where axes keep their size or stay divisible.
    ///
    /// # Errors
    /// `ShardingType` where an axis cannot stay split.
    pub fn divisible(&self, what: &str) -> Result<Vec<Spec>> {
        let out = self.outs[0];
        let mut spec = self.specs[0].clone();
        for (axis, names) in spec.iter_mut().enumerate() {
            let size = out.shape[axis];
            if size == self.ins[0].shape[axis] || names.is_empty() {
                continue;
            }
            if self.is_strict && !size.is_multiple_of(self.factor(names)) {
                let (parts, names) = (self.factor(names), names.join(","));
                return Err(sharding_error(format!(
                    "{what} on sharded dims where out dim ({size}) is not divisible by mesh axes ({parts}) with spec ({names}) is not \
                     implemented. Got input type={} and output shape={}",
                    self.ins[0].short(),
                    tuple_text(&out.shape)
                )));
            }
            if !self.is_strict {
                names.clear();
            }
        }
        Ok(vec![spec; self.outs.len()])
    }

    /// Axis by axis, as [`Splits::Pointwise`] says.
    ///
    /// # Errors
    /// `ShardingType` where operands are split differently.
    pub fn pointwise(&self) -> Result<Vec<Spec>> {
        self.outs.iter().map(|out| self.joined(*out)).collect()
    }

    /// Axis by axis for operands of one rank, whatever their sizes.
    ///
    /// # Errors
    /// None; the result is that of other rules.
    pub fn pointwise_by_rank(&self) -> Result<Vec<Spec>> {
        let mut joined: Spec = vec![vec![]; self.outs[0].rank()];
        for (axis, names) in self.specs.iter().flat_map(|spec| spec.iter().enumerate()) {
            let is_taken = names.iter().any(|name| joined.iter().flatten().any(|other| other == name));
            if joined[axis].is_empty() && !is_taken {
                joined[axis].clone_from(names);
            }
        }
        Ok(vec![joined])
    }

    fn joined(&self, out: Aval) -> Result<Spec> {
        let mut joined: Spec = vec![vec![]; out.rank()];
        let fits = |operand: &usize| {
            let shape = &self.ins[*operand].shape;
            shape.len() == out.rank()
                && shape.iter().zip(&out.shape).all(|(&size, &wanted)| size == wanted || size == 1)
        };
        for operand in (0..self.ins.len()).filter(fits) {
            for (axis, names) in self.specs[operand].iter().enumerate() {
                let is_taken = names.iter().any(|name| joined.iter().flatten().any(|other| other == name));
                if names.is_empty() || joined[axis] == *names {
                    continue;
                }
                if joined[axis].is_empty() && (self.is_strict || !is_taken) {
                    joined[axis].clone_from(names);
                } else if self.is_strict && !joined[axis].is_empty() {
                    return Err(self.incompatible());
                }
            }
        }
        Ok(joined)
    }

    fn incompatible(&self) -> Error {
        let mut texts: Vec<String> = vec![];
        for spec in self.specs.iter().filter(|spec| !spec.is_empty()) {
            let text = entries_text(spec);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        sharding_error(format!("{} got incompatible shardings for broadcasting: {}.", self.name, texts.join(", ")))
    }

    /// No mesh axis may split two axes of a result.
    ///
    /// # Errors
    /// `ShardingType` for one that does.
    fn check_distinct(&self, spec: &Spec, out: Aval, sharding: Sharding) -> Result<()> {
        let mut names: Vec<&AxisName> = spec.iter().flatten().collect();
        let n = names.len();
        names.sort();
        names.dedup();
        if names.len() == n {
            return Ok(());
        }
        let ins: Vec<String> = self.ins.iter().map(|aval| aval.short()).collect();
        let shown = out.sharded(sharding.with_entries(spec.clone())).short();
        Err(sharding_error(format!(
            "{} operation with inputs: {} produces an illegally sharded result: {shown}",
            self.name,
            ins.join(", ")
        )))
    }
}

/// Primitives that are linear in their only array, through which partial sums pass.
const PASS_PARTS: &[&str] = &[
    "neg",
    "convert_element_type",
    "copy",
    "copy_p",
    "transpose",
    "reshape",
    "squeeze",
    "reduce_sum",
    "broadcast_in_dim",
    "real",
    "imag",
    "slice",
    "concatenate",
    "stack",
    "split",
    "unstack",
    "psum",
    "psum_invariant",
    "pvary",
    "dot_general",
    "rev",
    "name",
];

/// The partial sums of the results, from those of the operands: axes along which parts are still to be summed, and those along
/// which they were.
fn partial_sums(name: &str, ins: &[Aval]) -> Result<[Vec<AxisName>; 2]> {
    let parts: Vec<Vec<AxisName>> =
        ins.iter().map(|aval| aval.sharding.map_or_else(Vec::new, |own| own.unreduced.clone())).collect();
    let sums: Vec<Vec<AxisName>> =
        ins.iter().map(|aval| aval.sharding.map_or_else(Vec::new, |own| own.reduced.clone())).collect();
    let Some(first) = parts.iter().position(|names| !names.is_empty()) else {
        let reduced = sums.iter().find(|names| !names.is_empty()).cloned().unwrap_or_default();
        let is_same = sums.iter().zip(ins).all(|(own, aval)| aval.rank() == 0 || *own == reduced);
        return Ok([vec![], if is_same { reduced } else { vec![] }]);
    };
    let sides = ["lhs", "rhs"];
    match name {
        "add" | "add_any" | "sub" => {
            let Some(other) = parts.iter().position(|names| *names != parts[first]) else {
                return Ok([parts[first].clone(), vec![]]);
            };
            let [one, two] = [sides[first.min(1)], sides[other.min(1)]];
            Err(sharding_error(format!(
                "{one} is unreduced while {two} is not. `{name}` operation does not allow this because there will be implicit \
                 communication. Please reduce {one} via `reshard` before calling `{name}`."
            )))
        }
        "mul" | "div" => {
            let other = 1 - first.min(1);
            if sums[other] == parts[first] && (name == "mul" || first == 0) {
                return Ok([parts[first].clone(), vec![]]);
            }
            let [one, two] = [sides[first.min(1)], sides[other]].map(str::to_uppercase);
            let [a, b] = [0, 1].map(|at| ins[at].weak(false).long());
            Err(sharding_error(format!(
                "{two} should be reduced along the same axes {one} is unreduced on. Got lhs={a} and rhs={b}"
            )))
        }
        _ if PASS_PARTS.contains(&name) => Ok([parts[first].clone(), vec![]]),
        _ => Err(sharding_error(format!(
            "{name} is a non-linear operation and cannot accept input that is unreduced. Got {}",
            ins[first].weak(false).long()
        ))),
    }
}

/// The types of the results with their shardings, from typed operands.
///
/// # Errors
/// `ShardingType` where the rule refuses; `NotImplemented` where there is none.
pub fn typed_results<P>(
    name: &str,
    splits: &Splits<P>,
    params: &P,
    ins: &[Aval],
    outs: Vec<Aval>,
) -> Result<Vec<Aval>> {
    let Some(first) = ins.iter().find_map(|aval| aval.sharding) else { return Ok(outs) };
    let specs: Vec<Spec> = ins.iter().map(|aval| aval.entries()).collect();
    let size_of = |name: &str| first.size_of(name);
    let passing = Passing { name, ins, specs: &specs, outs: &outs, is_strict: true, size_of: &size_of };
    let found = match splits {
        Splits::Pointwise => passing.pointwise()?,
        Splits::Rule(rule) => rule(params, &passing)?,
        Splits::Inside => return Ok(outs),
        Splits::Missing(reason) => {
            let text = format!("sharding rule for {name} is not implemented: {reason}");
            return Err(Error::not_implemented(text));
        }
    };
    let [unreduced, reduced] = partial_sums(name, ins)?;
    let typed = |(spec, &aval): (Spec, &Aval)| {
        passing.check_distinct(&spec, aval, first)?;
        let data = pullback_base::sharding::ShardingData {
            mesh: first.mesh.clone(),
            entries: spec,
            unreduced: unreduced.clone(),
            reduced: reduced.clone(),
        };
        Ok(aval.sharded(Sharding::of(data)))
    };
    found.into_iter().zip(&outs).map(typed).collect()
}

/// How a result is to be split, as an operation asks for it.
#[derive(Clone)]
pub struct OutSharding {
    /// What the type of the result says.
    pub sharding: Option<Sharding>,
    /// The devices, where they are known.
    pub mesh: Option<Arc<Mesh>>,
    /// How it prints.
    pub text: Arc<str>,
}

impl OutSharding {
    /// What makes a result of this type.
    pub fn like(aval: Aval) -> OutSharding {
        OutSharding { sharding: aval.sharding, mesh: None, text: named_text(aval.sharding, aval.rank()).into() }
    }

    /// The same with one more axis of the result.
    #[must_use]
    pub fn with_axis(&self, axis: usize, names: &[AxisName], rank: usize, mesh_of: Aval) -> OutSharding {
        let mut entries = self.sharding.map_or_else(|| vec![vec![]; rank], |sharding| sharding.entries.clone());
        entries.insert(axis.min(entries.len()), names.to_vec());
        let sharding = match (self.sharding, mesh_of.sharding) {
            (Some(own), _) => own.with_entries(entries),
            (None, Some(other)) => {
                let whole = pullback_base::sharding::ShardingData {
                    unreduced: vec![],
                    reduced: vec![],
                    entries,
                    ..(*other).clone()
                };
                Sharding::of(whole)
            }
            (None, None) => None,
        };
        OutSharding { sharding, mesh: self.mesh.clone(), text: named_text(sharding, rank + 1).into() }
    }
}

/// How a sharding in types prints.
fn named_text(sharding: Option<Sharding>, rank: usize) -> String {
    let Some(sharding) = sharding else { return format!("NamedSharding(spec={})", spec_text(&vec![vec![]; rank])) };
    format!("NamedSharding(mesh={}, spec={})", abstract_mesh_text(&sharding.mesh), spec_text(&sharding.entries))
}

fn abstract_mesh_text(mesh: &[MeshAxis]) -> String {
    let axes: Vec<String> = mesh.iter().map(|axis| format!("'{}': {}", axis.name, axis.size)).collect();
    let kind = |axis: &MeshAxis| match axis.kind {
        AxisKind::Auto => "Auto",
        AxisKind::Explicit => "Explicit",
        AxisKind::Manual => "Manual",
    };
    let kinds: Vec<&str> = mesh.iter().map(kind).collect();
    let comma = if kinds.len() == 1 { "," } else { "" };
    format!(
        "AbstractMesh({}, axis_types=({}{comma}), device_kind=cpu, num_cores=None, platform=cpu)",
        axes.join(", "),
        kinds.join(", ")
    )
}

impl PartialEq for OutSharding {
    fn eq(&self, other: &OutSharding) -> bool {
        self.sharding == other.sharding
    }
}

impl Eq for OutSharding {}

impl Hash for OutSharding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sharding.hash(state);
    }
}

impl fmt::Debug for OutSharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ParamField for OutSharding {
    fn to_value(&self) -> ParamValue {
        ParamValue::Opaque(Opaque { text: self.text.clone(), value: Arc::new(self.clone()) })
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Opaque(opaque) => opaque.value.downcast_ref::<OutSharding>().cloned(),
            _ => None,
        }
    }
}
