//! Parts of arrays, as the other functions of this area take and set them.

use pullback_base::Result;
use pullback_ir::Val;

use super::{Order, Reduction};
use crate::axes::Axes;
use crate::indexing::{IndexItem, Update, UpdateOptions, getitem, update};

/// A range of an axis, with negative ends counted from the end.
pub(crate) fn range(start: impl Into<Option<i64>>, stop: impl Into<Option<i64>>) -> IndexItem {
    IndexItem::Slice { start: start.into(), stop: stop.into(), step: None }
}

/// The part of an array from one position up to another along an axis.
pub(crate) fn part(x: &Val, axis: usize, start: impl Into<Option<i64>>, stop: impl Into<Option<i64>>) -> Result<Val> {
    getitem(x, &along(axis, range(start, stop)))
}

/// The slice at a position of an axis, without the axis.
pub(crate) fn slice_at(x: &Val, axis: usize, position: i64) -> Result<Val> {
    getitem(x, &along(axis, IndexItem::Int(position)))
}

/// An index of one axis, after those that are taken whole.
pub(crate) fn along(axis: usize, item: IndexItem) -> Vec<IndexItem> {
    std::iter::repeat_n(IndexItem::ALL, axis).chain([item]).collect()
}

/// Elements or slices at positions of the first axis.
pub(crate) fn pick(x: &Val, positions: &Val) -> Result<Val> {
    getitem(x, &[IndexItem::Array(positions.clone())])
}

/// The array after elements at positions of the first axis were changed.
pub(crate) fn changed(kind: &Update, x: &Val, positions: &Val, y: &Val) -> Result<Val> {
    update(kind, x, &[IndexItem::Array(positions.clone())], y, &UpdateOptions::default())
}

/// The elements in one axis.
pub(crate) fn flat(x: &Val) -> Result<Val> {
    super::ravel(x, Order::RowMajor)
}

/// The array in another shape.
pub(crate) fn shaped(x: &Val, shape: &[usize]) -> Result<Val> {
    let shape: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    super::reshape(x, &shape, Order::RowMajor)
}

/// The slices at positions of an axis.
pub(crate) fn taken(x: &Val, positions: &Val, axis: usize) -> Result<Val> {
    super::take(x, positions, Some(axis as i64), super::TakeOptions::default())
}

/// Integers from 0 up to a number, of the default dtype.
pub(crate) fn counted(size: usize) -> Result<Val> {
    crate::lax::iota(crate::convert::default_int(), size)
}

/// A reduction along one axis.
pub(crate) fn over(axis: i64, keepdims: bool) -> Reduction {
    Reduction::over(Axes::One(axis), keepdims)
}

/// An axis moved to another place.
pub(crate) fn moved(x: &Val, from: i64, to: i64) -> Result<Val> {
    super::moveaxis(x, &[from], &[to])
}

/// Arrays put together along an axis, of their common dtype.
pub(crate) fn joined(parts: &[Val], axis: usize) -> Result<Val> {
    super::concatenate(parts, Some(axis as i64), None)
}

/// A vector as a column.
pub(crate) fn column(x: &Val) -> Result<Val> {
    getitem(x, &[IndexItem::ALL, IndexItem::NewAxis])
}

/// A vector as a row.
pub(crate) fn row(x: &Val) -> Result<Val> {
    getitem(x, &[IndexItem::NewAxis, IndexItem::ALL])
}
