//! Primitives that combine the elements of windows, and what they share.
//!
//! Windows lie on an array with padding and strides; the array's elements and the window's may lie apart (dilation).
//! Places outside of the array do not count, so nothing here takes an initial value.

mod reduce_window_extreme;
mod reduce_window_sum;
mod select_and_gather_add;
mod select_and_scatter_add;

use pullback_base::aval::tuple_text;
use pullback_base::{Aval, DType, Error, ErrorKind, Result, Scalar, bail};
use pullback_ir::hlo::{HloCx, HloRegion, HloValue, HloValues, int_array};
use pullback_ir::lower::CpuForm;
use pullback_ir::{Emit, Params, PrimRef, Val, Vals};
use pullback_loops::WindowAxis;
use smallvec::{SmallVec, smallvec};

use super::PadPair;
use super::value::V;

pub use reduce_window_extreme::{REDUCE_WINDOW_MAX, REDUCE_WINDOW_MIN};
pub use reduce_window_sum::REDUCE_WINDOW_SUM;
pub use select_and_gather_add::{SELECT_AND_GATHER_ADD, SelectAndGatherAdd};
pub use select_and_scatter_add::{SELECT_AND_SCATTER_ADD, SelectAndScatterAdd};

/// How windows lie, and params of the reductions over them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Params)]
pub struct ReduceWindow {
    /// Sizes of the window.
    pub window_dimensions: Vec<usize>,
    /// Steps of the window.
    pub window_strides: Vec<usize>,
    /// Elements before and after, negative to crop.
    pub padding: Vec<PadPair>,
    /// Distance of the array's elements.
    pub base_dilation: Vec<usize>,
    /// Distance of the window's elements.
    pub window_dilation: Vec<usize>,
}

impl ReduceWindow {
    /// Windows without dilation.
    pub fn plain(sizes: &[usize], strides: &[usize], padding: &[PadPair]) -> ReduceWindow {
        let ones = vec![1; sizes.len()];
        ReduceWindow {
            window_dimensions: sizes.to_vec(),
            window_strides: strides.to_vec(),
            padding: padding.to_vec(),
            base_dilation: ones.clone(),
            window_dilation: ones,
        }
    }

    /// With one more axis, along which windows are single elements.
    #[must_use]
    pub fn with_batch_axis(&self, dim: usize) -> ReduceWindow {
        let mut new = self.clone();
        for list in
            [&mut new.window_dimensions, &mut new.window_strides, &mut new.base_dilation, &mut new.window_dilation]
        {
            list.insert(dim, 1);
        }
        new.padding.insert(dim, PadPair(0, 0));
        new
    }

    /// One entry for each axis.
    pub fn axes(&self) -> Vec<WindowAxis> {
        let axis = |i: usize| WindowAxis {
            size: self.window_dimensions[i],
            stride: self.window_strides[i],
            padding: (self.padding[i].0, self.padding[i].1),
            base_dilation: self.base_dilation[i],
            window_dilation: self.window_dilation[i],
        };
        (0..self.window_dimensions.len()).map(axis).collect()
    }

    /// The shape of the array of windows.
    ///
    /// # Errors
    /// A `Value` or `Type` error when the windows do not fit the shape.
    pub fn result_shape(&self, name: &str, shape: &[usize]) -> Result<Vec<usize>> {
        let lens = [
            self.window_dimensions.len(),
            self.window_strides.len(),
            self.padding.len(),
            self.base_dilation.len(),
            self.window_dilation.len(),
        ];
        if lens != [shape.len(); 5] {
            bail!(
                Type,
                "{name} requires window_dimensions, window_strides, padding, base_dilation and window_dilation of length {}, one \
                 entry for each axis of the operand of shape {}, got lengths {}.",
                shape.len(),
                tuple_text(shape),
                tuple_text(&lens)
            );
        }
        let all = [&self.window_dimensions, &self.window_strides, &self.base_dilation, &self.window_dilation];
        if all.iter().any(|list| list.contains(&0)) {
            bail!(Type, "{name} requires window sizes, strides and dilations of at least 1.");
        }
        (0..shape.len()).map(|axis| self.n_places(name, axis, shape)).collect()
    }

    fn n_places(&self, name: &str, axis: usize, shape: &[usize]) -> Result<usize> {
        let dilated = |size: usize, by: usize| if size == 0 { 0 } else { (size as i128 - 1) * by as i128 + 1 };
        let padding = i128::from(self.padding[axis].0) + i128::from(self.padding[axis].1);
        let padded = dilated(shape[axis], self.base_dilation[axis]) + padding;
        if padded < 0 {
            bail!(Value, "{name} padding crops more than there is along axis {axis} of shape {}.", tuple_text(shape));
        }
        let room = padded - dilated(self.window_dimensions[axis], self.window_dilation[axis]);
        let n_places = if room < 0 { 0 } else { room / self.window_strides[axis] as i128 + 1 };
        usize::try_from(n_places).map_err(|_| {
            let text = format!("{name} has more places along axis {axis} than can be counted: {n_places}.");
            Error::new(ErrorKind::Value, text)
        })
    }

    fn is_dilated(&self) -> bool {
        self.base_dilation.iter().chain(&self.window_dilation).any(|&dilation| dilation != 1)
    }

    /// Padding of the cotangent so that its windows without strides give that of the operand.
    fn ct_padding(&self, x: &[usize], out: &[usize]) -> Vec<PadPair> {
        let dilated = |size: usize, by: usize| if size == 0 { 0 } else { (size as i64 - 1) * by as i64 + 1 };
        let pair = |axis: usize| {
            let window = dilated(self.window_dimensions[axis], self.window_dilation[axis]);
            let (x, out) = (dilated(x[axis], self.base_dilation[axis]), dilated(out[axis], self.window_strides[axis]));
            let low = window - self.padding[axis].0 - 1;
            PadPair(low, x + window - 1 - out - low)
        };
        (0..x.len()).map(pair).collect()
    }
}

/// `[[1, 2], [0, 0]]` as an attribute: one pair for each axis.
pub(crate) fn pairs_text(pairs: &[PadPair]) -> String {
    if pairs.is_empty() {
        return "dense<> : tensor<0x2xi64>".into();
    }
    let list: Vec<String> = pairs.iter().map(|pair| format!("[{}, {}]", pair.0, pair.1)).collect();
    format!("dense<[{}]> : tensor<{}x2xi64>", list.join(", "), pairs.len())
}

impl ReduceWindow {
    /// The properties of the operation of StableHLO.
    pub fn properties(&self) -> String {
        format!(
            "base_dilations = {}, padding = {}, window_dilations = {}, window_dimensions = {}, window_strides = {}",
            int_array(&self.base_dilation),
            pairs_text(&self.padding),
            int_array(&self.window_dilation),
            int_array(&self.window_dimensions),
            int_array(&self.window_strides)
        )
    }
}

/// A reduction over windows by one operation of two scalars.
fn reduce_window_hlo(
    p: &ReduceWindow,
    cx: &mut dyn HloCx,
    x: HloValue,
    (init, name): (Scalar, &str),
    outs: &[Aval],
) -> Result<HloValues> {
    let init = cx.constant(init);
    let mut body = |cx: &mut dyn HloCx, args: &[HloValue]| Ok(smallvec![cx.binary(name, args[0], args[1])]);
    let region = HloRegion { args: vec![init.aval; 2], body: &mut body };
    cx.generic("stablehlo.reduce_window", &p.properties(), &[x, init], &mut [region], outs)
}

/// A primitive on operands of half-width floats in terms of itself in single precision; `None` for other dtypes.
pub(super) fn in_single(prim: PrimRef, params: &Params, dtype: DType) -> Option<CpuForm> {
    if !matches!(dtype, DType::F16 | DType::BF16) {
        return None;
    }
    let params = params.clone();
    Some(CpuForm::Decompose(Box::new(move |e: &dyn Emit, ins: &[Val]| -> Result<Vals> {
        let wide: Result<SmallVec<[Val; 4]>> = ins.iter().map(|x| V::new(e, x).convert(DType::F32).done()).collect();
        let outs = e.bind(prim, &params, &wide?)?;
        let narrow = |out: &Val| match out.aval().dtype {
            DType::F32 => V::new(e, out).convert(dtype).done(),
            _ => Ok(out.clone()),
        };
        outs.iter().map(narrow).collect()
    })))
}

/// Batching of a primitive whose operands all have windows: the batch axes go to the front.
fn batch_in_front(
    prim: PrimRef,
    params: Params,
    e: &dyn Emit,
    size: usize,
    ins: &[Val],
    dims: &[Option<usize>],
) -> Result<(Vals, SmallVec<[Option<usize>; 1]>)> {
    let front = |(x, &dim): (&Val, &Option<usize>)| super::batch_to_front(e, x, dim, size);
    let ins = ins.iter().zip(dims).map(front).collect::<Result<Vec<Val>>>()?;
    Ok((e.bind(prim, &params, &ins)?, smallvec![Some(0)]))
}

fn one_operand(name: &str, ins: &[Aval]) -> Result<Aval> {
    match ins {
        [x] => Ok(*x),
        _ => bail!(Type, "{name} takes 1 operand, got {}", ins.len()),
    }
}
