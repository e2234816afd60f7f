//! How collectives say which axes they run over: named ones of maps around the program, and positional ones.

use pullback_base::{Error, Result};
use pullback_ir::{AxisName, ParamField, ParamValue};

/// An axis of a reduction over examples, devices and elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Axis {
    /// An axis of a map around the program.
    Named(AxisName),
    /// An axis of the operand.
    Positional(usize),
}

impl Axis {
    /// The name, if it has one.
    pub fn name(&self) -> Option<&AxisName> {
        match self {
            Axis::Named(name) => Some(name),
            Axis::Positional(_) => None,
        }
    }

    /// The position, if it has one.
    pub fn position(&self) -> Option<usize> {
        match self {
            Axis::Named(_) => None,
            Axis::Positional(axis) => Some(*axis),
        }
    }
}

fn name_of(value: &ParamValue) -> Option<AxisName> {
    match value {
        ParamValue::Name(name) | ParamValue::Text(name) => Some(name.clone()),
        _ => None,
    }
}

impl ParamField for Axis {
    fn to_value(&self) -> ParamValue {
        match self {
            Axis::Named(name) => ParamValue::Text(name.clone()),
            Axis::Positional(axis) => axis.to_value(),
        }
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        name_of(value).map(Axis::Named).or_else(|| usize::from_value(value).map(Axis::Positional))
    }
}

/// Names of axes, the first the slowest; prints as a tuple.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AxisNames(pub Vec<AxisName>);

impl ParamField for AxisNames {
    fn to_value(&self) -> ParamValue {
        ParamValue::Tuple(self.0.iter().map(|name| ParamValue::Text(name.clone())).collect())
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Tuple(items) | ParamValue::List(items) => items.iter().map(name_of).collect(),
            single => name_of(single).map(|name| vec![name]),
        }
        .map(AxisNames)
    }
}

/// As [`AxisNames`], but a single name prints bare.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BareNames(pub Vec<AxisName>);

impl ParamField for BareNames {
    fn to_value(&self) -> ParamValue {
        match &self.0[..] {
            [name] => ParamValue::Name(name.clone()),
            names => AxisNames(names.to_vec()).to_value(),
        }
    }
    fn from_value(value: &ParamValue) -> Option<Self> {
        AxisNames::from_value(value).map(|names| BareNames(names.0))
    }
}

/// Disjoint groups of indices along the named axes, each of which communicates by itself; `None` is one group of all.
pub type Groups = Option<Vec<Vec<usize>>>;

/// Refuses what batching cannot express: groups, and several names of which one is the batch.
///
/// # Errors
/// `NotImplemented`, as in the reference.
pub(super) fn only_name(prim: &str, names: &[AxisName], groups: &Groups) -> Result<()> {
    if groups.is_some() {
        return Err(Error::not_implemented(format!(
            "axis_index_groups not supported in vmap: {prim} over {names:?}. Name the groups by an axis of their own."
        )));
    }
    if names.len() > 1 {
        return Err(Error::not_implemented(format!(
            "{prim} over the axes {names:?} together, one of which is mapped by vmap. Call it for one axis after the other."
        )));
    }
    Ok(())
}
