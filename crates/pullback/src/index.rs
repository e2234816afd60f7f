//! Indexing by several axes: what is read, and arrays with some of their elements changed.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use pullback_base::{Error, Result};
use pullback_lib::indexing::{self, IndexItem, Update, UpdateOptions};

use crate::array::Array;
use crate::call::Operand;

/// An index of one axis; [`s!`](crate::s) makes them.
#[derive(Clone, Debug)]
pub struct Index(Result<IndexItem>);

/// A new axis of size 1, as an index.
#[derive(Clone, Copy, Debug)]
pub struct NewAxis;

/// All axes that no other index names, as an index.
#[derive(Clone, Copy, Debug)]
pub struct Ellipsis;

impl Index {
    fn range(start: Option<i64>, stop: Option<i64>) -> Index {
        Index(Ok(IndexItem::Slice { start, stop, step: None }))
    }

    /// The range with a step, which goes down when negative.
    #[must_use]
    pub fn step(self, by: i64) -> Index {
        Index(self.0.and_then(|item| match item {
            // A range that goes down runs from its last position to its first: `4..1;-1` is written as it is read.
            IndexItem::Slice { start, stop, .. } => Ok(IndexItem::Slice { start, stop, step: Some(by) }),
            _ => Err(Error::index_error("only a range has a step")),
        }))
    }
}

/// The position after an inclusive end; after the last one there is none.
fn after(last: i64) -> Option<i64> {
    if last == -1 { None } else { last.checked_add(1) }
}

macro_rules! positions {
    ($($integer:ty)*) => {$(
        impl From<$integer> for Index {
            fn from(position: $integer) -> Index {
                let position = i64::try_from(position);
                Index(position.map(IndexItem::Int).map_err(|_| Error::index_error("an index is beyond 64 bits")))
            }
        }
        impl From<Range<$integer>> for Index {
            fn from(range: Range<$integer>) -> Index {
                Index::range(Some(range.start as i64), Some(range.end as i64))
            }
        }
        impl From<RangeFrom<$integer>> for Index {
            fn from(range: RangeFrom<$integer>) -> Index { Index::range(Some(range.start as i64), None) }
        }
        impl From<RangeTo<$integer>> for Index {
            fn from(range: RangeTo<$integer>) -> Index { Index::range(None, Some(range.end as i64)) }
        }
        impl From<RangeInclusive<$integer>> for Index {
            fn from(range: RangeInclusive<$integer>) -> Index {
                Index::range(Some(*range.start() as i64), after(*range.end() as i64))
            }
        }
        impl From<RangeToInclusive<$integer>> for Index {
            fn from(range: RangeToInclusive<$integer>) -> Index { Index::range(None, after(range.end as i64)) }
        }
    )*};
}
positions!(i32 i64 usize);

impl From<RangeFull> for Index {
    fn from(_: RangeFull) -> Index {
        Index(Ok(IndexItem::ALL))
    }
}

impl From<&Array> for Index {
    /// Positions, or a mask.
    fn from(array: &Array) -> Index {
        Index(array.val().map(IndexItem::Array))
    }
}

impl From<Array> for Index {
    fn from(array: Array) -> Index {
        Index::from(&array)
    }
}

impl From<NewAxis> for Index {
    fn from(_: NewAxis) -> Index {
        Index(Ok(IndexItem::NewAxis))
    }
}

impl From<Ellipsis> for Index {
    fn from(_: Ellipsis) -> Index {
        Index(Ok(IndexItem::Ellipsis))
    }
}

impl Array {
    /// The elements at indices, one for each axis from the first; see [`s!`](crate::s).
    ///
    /// # Panics
    /// In eager mode, when a position is out of bounds or there are more indices than axes.
    #[track_caller]
    #[must_use]
    pub fn slice(&self, indices: impl IntoIterator<Item = Index>) -> Array {
        self.at(indices).get()
    }

    /// A place in the array, of which [`At`] gives arrays with other elements there.
    ///
    /// ```
    /// use pullback::prelude::*;
    ///
    /// let x = arr![[1.0, 2.0], [3.0, 4.0]];
    /// assert_eq!(x.at(s![0]).set(9.0), arr![[9.0, 9.0], [3.0, 4.0]]);
    /// assert_eq!(x.at(s![.., 1]).add(arr![10.0, 20.0]), arr![[1.0, 12.0], [3.0, 24.0]]);
    /// ```
    #[must_use]
    pub fn at(&self, indices: impl IntoIterator<Item = Index>) -> At {
        At { array: self.clone(), indices: indices.into_iter().map(|index| index.0).collect() }
    }
}

/// A place in an array. Its methods give arrays; that in which the place is stays as it is.
#[derive(Clone, Debug)]
pub struct At {
    array: Array,
    indices: Result<Vec<IndexItem>>,
}

impl At {
    /// The elements there.
    ///
    /// # Panics
    /// As [`Array::slice`].
    #[track_caller]
    #[must_use]
    pub fn get(&self) -> Array {
        self.array.unary(|x| {
            let items = self.indices.clone()?;
            check_bounds(&x.aval().shape, &items)?;
            indexing::getitem(x, &items)
        })
    }

    #[track_caller]
    fn update(&self, kind: &Update, values: impl Operand) -> Array {
        let values = values.into_array();
        self.array.binary(&values, |x, y| {
            let items = self.indices.clone()?;
            check_bounds(&x.aval().shape, &items)?;
            indexing::update(kind, x, &items, y, &UpdateOptions::default())
        })
    }
}

/// A fixed position that is out of bounds is a mistake; computed ones are clamped or dropped.
fn check_bounds(shape: &[usize], items: &[IndexItem]) -> Result<()> {
    let takes = |item: &IndexItem| !matches!(item, IndexItem::NewAxis | IndexItem::Ellipsis | IndexItem::Bool(_));
    let is_plain = items.iter().all(|item| !matches!(item, IndexItem::Array(_)));
    let named = items.iter().filter(|item| takes(item)).count();
    let mut axis = 0;
    for item in items.iter().filter(|_| is_plain) {
        if let (IndexItem::Int(position), Some(&size)) = (item, shape.get(axis)) {
            let size = size as i64;
            if *position >= size || *position < -size {
                let text = format!("index {position} is out of bounds for axis {axis} with size {size}");
                return Err(Error::index_error(text));
            }
        }
        axis += match item {
            IndexItem::Ellipsis => shape.len().saturating_sub(named),
            item => usize::from(takes(item)),
        };
    }
    Ok(())
}

macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident $kind:ident;)*) => {
        impl At {$(
            $(#[$doc])*
            ///
            /// # Panics
            /// In eager mode, when the values do not broadcast to the place, or a fixed position is out of bounds.
            #[track_caller]
            #[must_use]
            pub fn $name(&self, values: impl Operand) -> Array { self.update(&Update::$kind, values) }
        )*}
    };
}
updates! {
    /// The array with other elements there.
    set Set;
    /// The array with something added there; a position that occurs twice is added to twice.
    add Add;
    /// The array with something subtracted there.
    subtract Subtract;
    /// The array with the elements there multiplied.
    multiply Multiply;
    /// The array with the elements there divided.
    divide Divide;
    /// The array with the elements there raised to a power.
    power Power;
    /// The array with the smaller of the elements there and other ones.
    min Min;
    /// The array with the greater of the elements there and other ones.
    max Max;
}
