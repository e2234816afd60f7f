//! The types of the loop IR and their meaning.
//!
//! Values are SSA, scalar, and typed: `bool`, integers of 8 to 64 bits, `float32`, `float64`. Half-width floats exist
//! only in memory: loading `float16` or `bfloat16` gives `float32`, storing rounds to nearest even; [`Op::Round`]
//! rounds a value in between. Complex elements are two adjacent reals; buffers of complex are declared by their real
//! type with twice the length. Integers wrap. Shifts by the width or more give 0 (or the sign). Integer division by
//! zero gives -1 and its remainder the dividend; the least integer divided by -1 gives itself, remainder 0.
//!
//! Subnormals are flushed by the mode in which programs run, in the interpreter and natively alike.

use std::sync::Arc;

use pullback_base::{Array, DType, Result, Scalar};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::body::Body;

/// Virtual lanes of a reducing [`LoopKind::Lanes`] loop.
pub const N_LANES: usize = 16;

macro_rules! ids {
    ($($name:ident $doc:literal)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index into the program's table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
ids! {
    BufferId "A buffer of a program."
    ValueId "An SSA value of a program."
    LoopId "A loop of a program; its counter is [`Op::Index`]."
}

/// A number that is known when the program is made, or a size parameter given when it runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extent {
    /// Known.
    Const(i64),
    /// The size parameter with this number.
    Size(u32),
}

/// What a buffer is for.
#[derive(Clone, Debug)]
pub enum Role {
    /// Argument number of the program; read only.
    Input(u32),
    /// Result number of the program; every element is written before it is read.
    Output(u32),
    /// Scratch memory of one run. Temporaries with disjoint lifetimes may share memory (`offset` in the arena).
    Temp,
    /// Elements known when the program is made.
    Const(Array),
}

/// Declaration of a buffer.
#[derive(Clone, Debug)]
pub struct BufferDecl {
    /// Element type in memory.
    pub dtype: DType,
    /// Number of elements.
    pub len: Extent,
    /// What it is for.
    pub role: Role,
}

/// A position in a buffer, in elements: `base + Σ loop counter · stride + offset`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Addr {
    /// Constant part.
    pub base: i64,
    /// Loop counters with their strides.
    pub terms: SmallVec<[(LoopId, Extent); 4]>,
    /// A computed part, `int64`.
    pub offset: Option<ValueId>,
}

/// Operations of one operand. Those from `Exp` on are symbolic and expanded to the others before code is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Abs,
    Not,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// Rounds half to even.
    RoundEven,
    /// Rounds half away from zero.
    RoundAway,
    /// -1, 0 (with its sign) or 1; NaN stays.
    Sign,
    IsFinite,
    PopCount,
    LeadingZeros,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log2,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Asinh,
    Acosh,
    Atanh,
    Tanh,
    Logistic,
    Erf,
    Erfc,
    ErfInv,
    Rsqrt,
    Cbrt,
    Lgamma,
    Digamma,
}

/// Operations of two operands of one type. `Pow` and `Atan2` are symbolic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// Remainder with the sign of the dividend.
    Rem,
    /// NaN if either is; of two zeros the negative one.
    Min,
    /// NaN if either is; of two zeros the positive one.
    Max,
    And,
    Or,
    Xor,
    /// Shift left; zero for amounts at or above the width, as unsigned.
    ShiftLeft,
    ShiftRightLogical,
    /// The sign fills; amounts at or above the width give all sign bits.
    ShiftRightArithmetic,
    /// `x · 2^n` of floats for a whole `n` of at most 252 (`float64`: 2044) either way. Like the place of a load, `n` is
    /// the program's to keep in bounds; it is NaN only where `x` is.
    Scale,
    Pow,
    Atan2,
}

/// Comparisons; of floats ordered ones, so NaN compares false except with `Ne`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// How a reducing loop combines; associative and commutative up to rounding, with an identity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Combine {
    Add,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
}

impl Combine {
    /// The operation on two values.
    pub fn binary(self) -> Binary {
        match self {
            Combine::Add => Binary::Add,
            Combine::Mul => Binary::Mul,
            Combine::Min => Binary::Min,
            Combine::Max => Binary::Max,
            Combine::And => Binary::And,
            Combine::Or => Binary::Or,
            Combine::Xor => Binary::Xor,
        }
    }

    /// The element that changes nothing.
    pub fn identity(self, dtype: DType) -> Scalar {
        match self {
            Combine::Add if dtype.is_float() => Scalar::float(dtype, -0.0),
            Combine::Add | Combine::Or | Combine::Xor => Scalar::zero(dtype),
            Combine::Mul => Scalar::one(dtype),
            Combine::Min => Scalar::greatest(dtype),
            Combine::Max => Scalar::least(dtype),
            Combine::And if dtype == DType::Bool => Scalar::bool(true),
            Combine::And => Scalar::int(dtype, -1),
        }
    }
}

/// In which order a loop runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LoopKind {
    /// One iteration after the other; any carries.
    Seq,
    /// Iterations are independent but for carries that name a combiner. Iteration `i` of a reducing loop combines
    /// into virtual lane `i mod 16`, each of which starts with the identity; at the end lane `l` takes in lane `l + s`
    /// for `s` = 8, 4, 2, 1, and the initial value is combined with lane 0 (initial value on the left).
    Lanes,
    /// Iterations are independent, have no carries, and may run on several threads.
    Parallel,
}

/// A value that goes from one iteration to the next.
#[derive(Clone, Debug)]
pub struct Carry {
    /// The value inside an iteration.
    pub phi: ValueId,
    /// The value before the first iteration.
    pub init: ValueId,
    /// The value that an iteration ends with.
    pub next: ValueId,
    /// The value after the loop.
    pub out: ValueId,
    /// For [`LoopKind::Lanes`]: how lanes combine; `next` must then be this operation of `phi` and something.
    pub combine: Option<Combine>,
}

/// A counted loop.
#[derive(Clone)]
pub struct For {
    /// Its counter, from 0.
    pub id: LoopId,
    /// Number of iterations.
    pub n: Extent,
    /// Order of iterations.
    pub kind: LoopKind,
    /// Values that go from iteration to iteration.
    pub carries: Vec<Carry>,
    /// The body.
    pub body: Vec<Inst>,
}

/// A loop that runs while `condition`, computed by `header` from the phis, holds.
#[derive(Clone)]
pub struct While {
    /// Values that go from iteration to iteration; `combine` is `None`.
    pub carries: Vec<Carry>,
    /// Computes the condition; runs before every iteration.
    pub header: Vec<Inst>,
    /// A boolean that the header computes.
    pub condition: ValueId,
    /// The body.
    pub body: Vec<Inst>,
}

/// A choice between blocks; they have no values of their own beyond what they store.
#[derive(Clone)]
pub struct Switch {
    /// `int64`; clamped to the branches.
    pub index: ValueId,
    /// The branches.
    pub branches: Vec<Vec<Inst>>,
}

/// A batched matrix product `c[b,i,j] = Σ_k a[b,i,k] · b[b,k,j]` of `float32`, `float64` or their complex.
/// Strides are in elements of the matrix dtype (a complex element is one).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gemm {
    /// Element type: F32, F64, C64 or C128.
    pub dtype: DType,
    /// Sizes: outer and inner batch, rows, columns, depth.
    pub sizes: [usize; 5],
    /// Strides of the left operand: outer and inner batch, row, depth.
    pub lhs_strides: [isize; 4],
    /// Strides of the right operand: outer and inner batch, depth, column.
    pub rhs_strides: [isize; 4],
    /// Strides of the result: outer and inner batch, row, column.
    pub out_strides: [isize; 4],
}

/// Sorting along the middle axis of `[outer, n, inner]` arrays of equal shape, all moved by the first `n_keys` of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sort {
    /// Element types of the operands.
    pub dtypes: Vec<DType>,
    /// Sizes: outer, n, inner.
    pub sizes: [usize; 3],
    /// How many of the operands are keys.
    pub n_keys: usize,
}

/// A function of the host called with the bytes of its operands; fills the bytes of its results.
pub trait HostCall: Send + Sync {
    /// Runs the function.
    fn call(&self, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()>;
    /// Its name in printed programs.
    fn name(&self) -> String;
}

/// A precompiled body that a program calls.
#[derive(Clone, Serialize, Deserialize)]
pub enum Kernel {
    /// Matrix product: arguments lhs, rhs, out.
    Gemm(Gemm),
    /// Sort: arguments operands, then results.
    Sort(Sort),
    /// Copies `n` elements of one buffer to another of the same dtype.
    Copy(usize),
    /// A dense array body: `n_ins` inputs, then outputs; lengths in elements of each argument.
    Body(Box<Body>, usize, Vec<usize>),
    /// Host function: `n_ins` inputs, then outputs; lengths in elements of each argument. The last, as files number the others.
    #[serde(skip)]
    Host(Arc<dyn HostCall>, usize, Vec<usize>),
}

/// A call of a kernel.
#[derive(Clone)]
pub struct Call {
    /// What is called.
    pub kernel: Kernel,
    /// Buffers with the position of their first element.
    pub args: Vec<(BufferId, Addr)>,
}

/// Entries of a [`Table`].
pub const TABLE_LEN: usize = 16;

/// The bits of a few `float32`, as many as one register holds.
pub type Table = Arc<[u32; TABLE_LEN]>;

/// What an instruction does.
#[derive(Clone)]
#[allow(missing_docs)]
pub enum Op {
    Const(Scalar),
    /// The counter of an enclosing loop, `int64`.
    Index(LoopId),
    /// A size parameter, `int64`.
    Size(u32),
    Unary(Unary, ValueId),
    Binary(Binary, ValueId, ValueId),
    /// `a·b + c`, rounded once.
    Fma(ValueId, ValueId, ValueId),
    Compare(Comparison, ValueId, ValueId),
    /// The second if the boolean first holds, else the third.
    Select(ValueId, ValueId, ValueId),
    /// To another type by value: floats to integers saturate (NaN to 0), integers wrap, to `bool` is `!= 0`.
    Convert(DType, ValueId),
    /// To another type of the same width by bits.
    Bitcast(DType, ValueId),
    /// `float32` to the nearest value of a 16-bit float type, still as `float32`.
    Round(DType, ValueId),
    /// The entry of the table that the low four bits of an `int32` name.
    Lookup(Table, ValueId),
    Load(BufferId, Addr),
    Store(BufferId, Addr, ValueId),
    For(Box<For>),
    While(Box<While>),
    Switch(Box<Switch>),
    Call(Box<Call>),
    /// Exchanges the memory of two temporaries of equal declaration.
    Swap(BufferId, BufferId),
}

/// One instruction. `dst` is meaningful for operations that give a value ([`Op::has_value`]).
#[derive(Clone)]
pub struct Inst {
    /// The value it defines.
    pub dst: ValueId,
    /// What it does.
    pub op: Op,
}

impl Op {
    /// Whether the instruction defines its `dst`.
    pub fn has_value(&self) -> bool {
        match self {
            Op::Store(..) | Op::For(_) | Op::While(_) | Op::Switch(_) | Op::Call(_) | Op::Swap(..) => false,
            Op::Const(_)
            | Op::Index(_)
            | Op::Size(_)
            | Op::Unary(..)
            | Op::Binary(..)
            | Op::Fma(..)
            | Op::Compare(..)
            | Op::Select(..)
            | Op::Convert(..)
            | Op::Bitcast(..)
            | Op::Round(..)
            | Op::Lookup(..)
            | Op::Load(..) => true,
        }
    }
}

/// A program: buffers, and a block that fills the outputs from the inputs.
#[derive(Clone, Default)]
pub struct Program {
    /// Its name, for people.
    pub name: String,
    /// All buffers.
    pub buffers: Vec<BufferDecl>,
    /// Type of each value.
    pub values: Vec<DType>,
    /// Number of loops.
    pub n_loops: u32,
    /// Number of size parameters.
    pub n_sizes: u32,
    /// The instructions.
    pub body: Vec<Inst>,
}
