//! Params that say how operands and results of loops are grouped, printed in JAX's form.

use pullback_ir::{ParamField, ParamValue};

/// Numbers of consts, carried values and scanned arrays among the operands of `scan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanIns {
    /// Consts, the same in every iteration.
    pub n_consts: usize,
    /// Carried values.
    pub n_carry: usize,
    /// Arrays of which each iteration sees one slice.
    pub n_xs: usize,
}

/// Numbers of carried values and stacked results among the results of `scan`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanOuts {
    /// Carried values.
    pub n_carry: usize,
    /// Arrays of which each iteration makes one slice.
    pub n_ys: usize,
}

fn group(n: usize, text: &str) -> ParamValue {
    let entry = if text == "None" { ParamValue::None } else { ParamValue::Name(text.into()) };
    ParamValue::Tuple(vec![entry; n])
}

fn counts(value: &ParamValue) -> Option<Vec<usize>> {
    let ParamValue::Tuple(groups) = value else { return None };
    let count = |group: &ParamValue| match group {
        ParamValue::Tuple(entries) => Some(entries.len()),
        _ => None,
    };
    groups.iter().map(count).collect()
}

impl ParamField for ScanIns {
    fn to_value(&self) -> ParamValue {
        ParamValue::Tuple([self.n_consts, self.n_carry, self.n_xs].map(|n| group(n, "None")).to_vec())
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let [n_consts, n_carry, n_xs] = <[usize; 3]>::try_from(counts(value)?).ok()?;
        Some(ScanIns { n_consts, n_carry, n_xs })
    }
}

impl ParamField for ScanOuts {
    fn to_value(&self) -> ParamValue {
        ParamValue::Tuple(vec![group(self.n_carry, "None"), group(self.n_ys, "RightsOnly(Right(None))")])
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let [n_carry, n_ys] = <[usize; 2]>::try_from(counts(value)?).ok()?;
        Some(ScanOuts { n_carry, n_ys })
    }
}
