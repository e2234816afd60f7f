//! Axes as users write them: negative from the end, one or several, none for all.

use pullback_base::{Result, bail};
use pullback_ir::AxisName;

/// Which axes a reduction takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Axes {
    /// All of them.
    All,
    /// One.
    One(i64),
    /// Several.
    Many(Vec<i64>),
    /// Axes of maps around the program, and some of the operand.
    Named(Vec<AxisName>, Vec<i64>),
}

macro_rules! axes_of_integers {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Axes {
            fn from(axis: $integer) -> Axes {
                Axes::One(axis as i64)
            }
        }
        impl<const N: usize> From<[$integer; N]> for Axes {
            fn from(axes: [$integer; N]) -> Axes {
                Axes::Many(axes.iter().map(|&axis| axis as i64).collect())
            }
        }
        impl From<&[$integer]> for Axes {
            fn from(axes: &[$integer]) -> Axes {
                Axes::Many(axes.iter().map(|&axis| axis as i64).collect())
            }
        }
    )*};
}
axes_of_integers!(i32 i64 usize);

/// The axis counted from the front.
///
/// # Errors
/// A `Value` error when it is out of range.
pub fn canonical_axis(axis: i64, rank: usize) -> Result<usize> {
    let signed = rank as i64;
    if axis < -signed || axis >= signed {
        bail!(Value, "axis {axis} is out of bounds for array of dimension {rank}");
    }
    Ok(if axis < 0 { axis + signed } else { axis } as usize)
}

/// Several axes counted from the front, in the given order.
///
/// # Errors
/// A `Value` error when one is out of range or occurs twice.
pub fn canonical_axes(axes: &[i64], rank: usize) -> Result<Vec<usize>> {
    let found: Vec<usize> = axes.iter().map(|&axis| canonical_axis(axis, rank)).collect::<Result<_>>()?;
    let mut seen = std::collections::HashSet::new();
    if !found.iter().all(|axis| seen.insert(axis)) {
        let given: Vec<String> = axes.iter().map(i64::to_string).collect();
        bail!(Value, "duplicate value in 'axis': ({})", given.join(", "));
    }
    Ok(found)
}

impl Axes {
    /// The axes counted from the front, sorted.
    ///
    /// # Errors
    /// As [`canonical_axes`].
    pub fn resolve(&self, rank: usize) -> Result<Vec<usize>> {
        let mut axes = match self {
            Axes::All => return Ok((0..rank).collect()),
            Axes::One(axis) => vec![canonical_axis(*axis, rank)?],
            Axes::Many(axes) => canonical_axes(axes, rank)?,
            Axes::Named(names, _) => bail!(
                Type,
                "axis {:?} is a name; only sum, max, min, mean, var and std reduce over named axes.",
                names[0]
            ),
        };
        axes.sort_unstable();
        Ok(axes)
    }
}

impl Axes {
    /// The named axes, and the others.
    pub fn split_names(&self) -> (&[AxisName], Axes) {
        match self {
            Axes::Named(names, axes) => (names, Axes::Many(axes.clone())),
            Axes::All | Axes::One(_) | Axes::Many(_) => (&[], self.clone()),
        }
    }

    /// Numbers that tell axes apart in caches of traces.
    pub fn statics(&self) -> Vec<i64> {
        match self {
            Axes::All => vec![-1],
            Axes::One(axis) => vec![1, *axis],
            Axes::Many(axes) => [&[-2], &axes[..]].concat(),
            Axes::Named(names, axes) => {
                let letters = names.iter().flat_map(|name| name.bytes().map(i64::from).chain([-1]));
                [-3].into_iter().chain(letters).chain([-2]).chain(axes.iter().copied()).collect()
            }
        }
    }
}

/// Sizes as integers that users gave: none may be negative.
///
/// # Errors
/// A `Type` error that shows the shape.
pub fn shape_of(sizes: &[i64]) -> Result<Vec<usize>> {
    if sizes.iter().any(|&size| size < 0) {
        bail!(Type, "broadcast_in_dim shape must have every element be nonnegative, got {}.", signed_tuple_text(sizes));
    }
    Ok(sizes.iter().map(|&size| size as usize).collect())
}

/// As Python prints a tuple of integers.
pub fn signed_tuple_text(values: &[i64]) -> String {
    let texts: Vec<String> = values.iter().map(i64::to_string).collect();
    if texts.len() == 1 { format!("({},)", texts[0]) } else { format!("({})", texts.join(", ")) }
}

/// The shape of a reduction's result with the reduced axes kept at size 1.
pub fn keepdims_shape(shape: &[usize], axes: &[usize]) -> Vec<usize> {
    shape.iter().enumerate().map(|(axis, &size)| if axes.contains(&axis) { 1 } else { size }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_resolve() {
        let check = |axes: Axes, rank: usize, want: &[usize]| assert_eq!(axes.resolve(rank).expect("in range"), want);
        check(Axes::All, 3, &[0, 1, 2]);
        check(Axes::One(-1), 3, &[2]);
        check(Axes::Many(vec![2, 0]), 3, &[0, 2]);
        assert_eq!(
            Axes::One(1).resolve(1).expect_err("out of range").message(),
            "axis 1 is out of bounds for array of dimension 1"
        );
        assert!(Axes::Many(vec![0, -1]).resolve(1).is_err());
    }
}
