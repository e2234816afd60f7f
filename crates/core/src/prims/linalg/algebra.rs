//! Words of linear algebra on values, so that derivatives read as formulas.

use pullback_base::{DType, Result, Scalar};
use pullback_ir::{Params, Val};

use super::{LU, TRIANGULAR_SOLVE, TriangularSolve};
use crate::prims::{DotDimensions, DotGeneral, DotPrecision, Gather, GatherDimensions, GatherMode, Precision, V, iota};

impl<'e> V<'e> {
    /// Whether this is a failure, which has no axes; it stays what it is.
    fn is_poisoned(&self) -> bool {
        self.aval().rank() < 2
    }

    /// With the last two axes exchanged.
    pub(super) fn transposed(&self) -> V<'e> {
        if self.is_poisoned() {
            return self.clone();
        }
        let rank = self.aval().rank();
        self.move_axis(rank - 1, rank - 2)
    }

    /// Transposed and conjugated.
    pub(super) fn adjoint(&self) -> V<'e> {
        if self.aval().dtype.is_complex() { self.transposed().conj() } else { self.transposed() }
    }

    /// The matrix product, batch by batch, as exactly as devices can: derivatives of factors lose digits otherwise.
    pub(super) fn times(&self, other: &V<'e>) -> V<'e> {
        self.product(other, Some(DotPrecision::Levels(Precision::Highest, Precision::Highest)))
    }

    /// The matrix product, batch by batch, as exactly as the user asks for.
    pub(super) fn times_quickly(&self, other: &V<'e>) -> V<'e> {
        self.product(other, None)
    }

    fn product(&self, other: &V<'e>, precision: Option<DotPrecision>) -> V<'e> {
        if self.is_poisoned() || other.is_poisoned() {
            return if self.is_poisoned() { self.clone() } else { other.clone() };
        }
        let rank = self.aval().rank();
        let batch: Vec<usize> = (0..rank - 2).collect();
        let dimension_numbers =
            DotDimensions { contract: [vec![rank - 1], vec![rank - 2]], batch: [batch.clone(), batch] };
        self.contract(
            other,
            DotGeneral { dimension_numbers, precision, preferred_element_type: None, out_sharding: None },
        )
    }

    /// Whether row `i` and column `j` are such that `i + shift >= j`.
    fn mask(&self, shift: i64) -> V<'e> {
        let shape = self.aval().shape.to_vec();
        let [.., rows, columns] = shape[..] else { return self.clone() };
        let made = || -> Result<V<'e>> {
            let i = iota(self.emit(), DType::I32, &[rows, columns], 0)?;
            let j = iota(self.emit(), DType::I32, &[rows, columns], 1)?;
            Ok((i + V::new(self.emit(), &Val::Literal(Scalar::int(DType::I32, shift.into())))).ge(&j))
        };
        match made() {
            Ok(mask) => mask.broadcast_in_dim(&shape, &[shape.len() - 2, shape.len() - 1]),
            Err(error) => self.poisoned(error),
        }
    }

    /// Zero where column - row > `k`.
    pub(super) fn tril(&self, k: i64) -> V<'e> {
        self.mask(k).select(&self.full(0.0), self)
    }

    /// Zero where column - row < `k`.
    pub(super) fn triu(&self, k: i64) -> V<'e> {
        self.mask(k - 1).select(self, &self.full(0.0))
    }

    /// The diagonal left, zero elsewhere.
    pub(super) fn only_diagonal(&self) -> V<'e> {
        self.tril(0).triu(0)
    }

    /// The diagonal as an axis.
    pub(super) fn diagonal(&self) -> V<'e> {
        if self.is_poisoned() {
            return self.clone();
        }
        let rank = self.aval().rank();
        self.only_diagonal().reduce_sum(&[rank - 1])
    }

    /// Ones on the diagonal of a matrix like this one.
    pub(super) fn eye(&self) -> V<'e> {
        self.full(1.0).only_diagonal()
    }

    /// The last axis as that of columns: `[..., n]` to `[..., 1, n]`.
    pub(super) fn as_row(&self) -> V<'e> {
        self.expand_dims(&[self.aval().rank().saturating_sub(1)])
    }

    /// The last axis as that of rows: `[..., n]` to `[..., n, 1]`.
    pub(super) fn as_column(&self) -> V<'e> {
        self.expand_dims(&[self.aval().rank()])
    }

    /// Elementwise product after repetition to the larger shape.
    pub(super) fn scaled(&self, by: &V<'e>) -> V<'e> {
        self * by.broadcast_to(&self.aval().shape).convert(self.aval().dtype)
    }

    /// `x` of `op(a) x = self`, or of `x op(a) = self`.
    pub(super) fn solved_by(&self, a: &V<'e>, params: TriangularSolve) -> V<'e> {
        a.bind(TRIANGULAR_SOLVE, &Params::new(params), &[self])
    }

    /// The rows at positions `indices[..., m]` of matrices `[..., n, k]`.
    pub(super) fn rows_at(&self, indices: &V<'e>) -> V<'e> {
        if self.is_poisoned() {
            return self.clone();
        }
        let rank = self.aval().rank();
        let batch: Vec<usize> = (0..rank - 2).collect();
        // One of each, where there is one.
        let mut slice_sizes: Vec<usize> = self.aval().shape.iter().map(|&size| size.min(1)).collect();
        slice_sizes[rank - 1] = self.aval().shape[rank - 1];
        let params = Gather {
            dimension_numbers: GatherDimensions {
                offset_dims: vec![rank - 1],
                collapsed_slice_dims: vec![rank - 2],
                start_index_map: vec![rank - 2],
                operand_batching_dims: batch.clone(),
                start_indices_batching_dims: batch,
            },
            slice_sizes,
            indices_are_sorted: false,
            unique_indices: true,
            mode: GatherMode::PromiseInBounds,
            fill_value: None,
        };
        self.gather(&indices.as_column(), params)
    }

    /// `x` of `a x = self` for square `a`.
    pub(super) fn solved_by_lu(&self, a: &V<'e>) -> V<'e> {
        let factors = || -> Result<[V<'e>; 2]> {
            let mut outs = self.emit().bind(LU, &Params::NONE, &[a.clone().done()?])?;
            let permutation = outs.pop().expect("three results");
            Ok([V::new(self.emit(), &outs[0]), V::new(self.emit(), &permutation)])
        };
        match factors() {
            Ok([lu, permutation]) => {
                let lower =
                    TriangularSolve { left_side: true, lower: true, unit_diagonal: true, ..TriangularSolve::default() };
                let upper = TriangularSolve { left_side: true, ..TriangularSolve::default() };
                self.rows_at(&permutation).solved_by(&lu, lower).solved_by(&lu, upper)
            }
            Err(error) => self.poisoned(error),
        }
    }
}
