//! Descriptions of dense array bodies: what a precompiled kernel is asked to do, beside matrix products and sorting.
//!
//! A description holds sizes, dtypes and static parameters, and no code: the bodies live in another crate. Arguments are
//! row-major arrays, operands first, then results; complex elements are two adjacent reals.

use std::fmt;

use pullback_base::DType;
use serde::{Deserialize, Serialize};

use crate::program::Combine;

/// What a dense kernel does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Body {
    /// Convolution: operand, kernel; result.
    Conv(Conv),
    /// Combination over windows: operand; result.
    Window(Window),
    /// Elements of another array where a window's extreme lies: values, operand; result of one value a window.
    WindowGather(WindowPick),
    /// Values added where a window's extreme lies: values, operand; result of the operand's shape.
    WindowScatter(WindowPick),
    /// Fourier transform: operand; result.
    Fft(Fft),
    /// Factorizations and solutions of batches of matrices.
    Matrix(Matrix),
    /// The greatest elements along an axis, greatest first: operand; values, positions in int32.
    Greatest(Greatest),
}

/// Which elements are wanted: floating numbers in the total order of IEEE 754, and of equal elements the first ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Greatest {
    /// Element type, of whole bytes.
    pub dtype: DType,
    /// Sizes: outer, n, inner.
    pub sizes: [usize; 3],
    /// How many of the n.
    pub k: usize,
}

/// A convolution. Axes of each array are given as batch, features, space; of the kernel as out features, in features,
/// space.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Conv {
    /// Element type of all three arrays.
    pub dtype: DType,
    /// Sizes of operand, kernel and result.
    pub shapes: [Vec<usize>; 3],
    /// Axes of operand, kernel and result.
    pub specs: [Vec<usize>; 3],
    /// Steps of the window.
    pub window_strides: Vec<usize>,
    /// Elements before the first and after the last, negative to crop.
    pub padding: Vec<(i64, i64)>,
    /// Distance of the operand's elements.
    pub lhs_dilation: Vec<usize>,
    /// Distance of the kernel's elements.
    pub rhs_dilation: Vec<usize>,
    /// Groups of features that do not mix.
    pub feature_groups: usize,
    /// Groups of the batch, each with features of its own.
    pub batch_groups: usize,
}

/// How windows lie on an array; one entry for each axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WindowAxis {
    /// Elements in the window.
    pub size: usize,
    /// Steps of the window.
    pub stride: usize,
    /// Elements before the first and after the last, negative to crop.
    pub padding: (i64, i64),
    /// Distance of the array's elements.
    pub base_dilation: usize,
    /// Distance of the window's elements.
    pub window_dilation: usize,
}

/// Combination over windows; places outside of the array do not count.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Window {
    /// Element type.
    pub dtype: DType,
    /// How elements combine.
    pub combine: Combine,
    /// Sizes of the array.
    pub shape: Vec<usize>,
    /// Windows.
    pub axes: Vec<WindowAxis>,
}

/// Choice of the extreme of each window: the first of equals.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WindowPick {
    /// Element type of both arrays.
    pub dtype: DType,
    /// Whether the greatest is chosen, else the least.
    pub greatest: bool,
    /// Sizes of the array that is searched.
    pub shape: Vec<usize>,
    /// Windows.
    pub axes: Vec<WindowAxis>,
}

/// Which Fourier transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FftKind {
    /// Complex to complex.
    Forward,
    /// Its inverse.
    Inverse,
    /// Real to complex, half of it.
    RealForward,
    /// Half of a symmetric complex to real.
    RealInverse,
}

/// A Fourier transform over the last axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fft {
    /// Which one.
    pub kind: FftKind,
    /// Complex element type.
    pub dtype: DType,
    /// Product of the axes in front.
    pub batch: usize,
    /// Sizes of the transformed axes in the longer array.
    pub lengths: Vec<usize>,
}

/// Factorizations and solutions of `batch` matrices of `rows` by `columns`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Matrix {
    /// What is computed.
    pub task: MatrixTask,
    /// Element type of the first operand.
    pub dtype: DType,
    /// Number of matrices.
    pub batch: usize,
    /// Rows of the first operand.
    pub rows: usize,
    /// Columns of the first operand.
    pub columns: usize,
}

/// What is computed of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MatrixTask {
    /// Lower Cholesky factor; NaN where there is none.
    Cholesky,
    /// Packed LU factors, `int32` pivots, `int32` permutation.
    Lu,
    /// Of `rows` exchanges, `int32`: the permutation of `columns` that they lead to.
    PivotsToPermutation,
    /// Householder vectors under R, and their scales.
    Geqrf,
    /// Packed QR, `int32` places of columns counted from 1, scales; columns are exchanged.
    Geqp3,
    /// Of vectors and scales: the product of their reflections, first columns.
    HouseholderProduct {
        /// Number of reflections.
        reflections: usize,
    },
    /// Of vectors, scales and another matrix: the product of the reflections with it.
    Ormqr {
        /// Number of reflections.
        reflections: usize,
        /// Rows and columns of the other matrix.
        other: [usize; 2],
        /// Whether the reflections stand on the left.
        left: bool,
        /// Whether their product is transposed (conjugated).
        transpose: bool,
    },
    /// Eigenvectors and ascending eigenvalues of a Hermitian matrix.
    Eigh {
        /// Which triangle is read.
        lower: bool,
    },
    /// Eigenvalues, then left and right eigenvectors as asked.
    Eig {
        /// Whether left ones are asked for.
        left: bool,
        /// Whether right ones are asked for.
        right: bool,
    },
    /// Singular values, then U and Vᴴ if asked.
    Svd {
        /// Whether U and Vᴴ are asked for.
        vectors: bool,
        /// Whether they are square.
        full: bool,
    },
    /// The Schur form, then vectors if asked.
    Schur {
        /// Whether vectors are asked for.
        vectors: bool,
    },
    /// Packed Hessenberg form and scales.
    Hessenberg,
    /// Packed tridiagonal form, diagonal, off-diagonal, scales.
    Tridiagonal {
        /// Which triangle is read.
        lower: bool,
    },
    /// Solution with a triangular first operand; the second has `other` rows and columns.
    TriangularSolve {
        /// Rows and columns of the right-hand side.
        other: [usize; 2],
        /// Whether the triangular matrix stands on the left of the unknown.
        left: bool,
        /// Which triangle is read.
        lower: bool,
        /// Whether the matrix is transposed.
        transpose: bool,
        /// Whether the matrix is conjugated.
        conjugate: bool,
        /// Whether the diagonal is taken as ones.
        unit: bool,
    },
    /// Solution of tridiagonal systems: lower, main and upper diagonal of `rows`, right-hand sides of `columns`.
    TridiagonalSolve {
        /// Whether pivots that are zero become the least number.
        perturb: bool,
    },
}

impl Body {
    /// Its name in printed programs.
    pub fn name(&self) -> &'static str {
        match self {
            Body::Conv(_) => "conv",
            Body::Window(_) => "window",
            Body::WindowGather(_) => "window_gather",
            Body::WindowScatter(_) => "window_scatter",
            Body::Fft(_) => "fft",
            Body::Matrix(_) => "matrix",
            Body::Greatest(_) => "greatest",
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}
