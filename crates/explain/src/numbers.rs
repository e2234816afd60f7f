//! What is seen when one looks at the elements of a value: NaN, infinities, zeros, and how they print.

use pullback_base::scalar::float_text;
use pullback_base::{Array, DType, Result, Scalar};
use pullback_ir::Val;

/// Arrays up to this size are shown whole.
const SMALL: usize = 6;

/// Which kinds of elements a value has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) finite: usize,
    pub(crate) zero: usize,
    pub(crate) nan: usize,
    pub(crate) infinite: usize,
}

impl Seen {
    /// Whether an element is no finite number.
    pub(crate) fn is_bad(self) -> bool {
        self.nan + self.infinite > 0
    }

    /// Whether every element is zero, as where there is none.
    pub(crate) fn is_zero(self) -> bool {
        self.finite + self.nan + self.infinite == 0
    }
}

/// Calls `f` with the parts of each element, in row-major order; what has no numbers has no elements here.
fn visit(array: &Array, mut f: impl FnMut(f64, f64)) -> Result<()> {
    let dtype = array.dtype();
    if dtype == DType::Float0 || dtype.is_key() {
        return Ok(());
    }
    let buffer = array.buffer()?;
    let bytes = &buffer.bytes()[..array.aval().size_bytes()];
    let single = |b: &[u8]| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let double = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    match dtype {
        DType::F32 => bytes.chunks_exact(4).for_each(|b| f(single(b), 0.0)),
        DType::F64 => bytes.chunks_exact(8).for_each(|b| f(double(b), 0.0)),
        DType::C64 => bytes.chunks_exact(8).for_each(|b| f(single(b), single(&b[4..]))),
        DType::C128 => bytes.chunks_exact(16).for_each(|b| f(double(b), double(&b[8..]))),
        _ => array.elements()?.into_iter().for_each(|x| f(x.as_f64(), 0.0)),
    }
    Ok(())
}

/// The array of a known value. A tracer here is a bug of ours: programs are followed on known values.
pub(crate) fn array_of(val: &Val) -> Result<Array> {
    val.to_array()
        .ok_or_else(|| pullback_base::Error::internal("a tracer among the values of a program that is followed"))
}

/// The shape of a value.
pub(crate) fn shape_of(val: &Val) -> &'static [usize] {
    &val.aval().data().shape
}

/// The kinds of elements of a value. Looks at nothing that is not floating.
pub(crate) fn look(val: &Val) -> Result<Seen> {
    let mut seen = Seen::default();
    if !val.aval().dtype.is_inexact() {
        seen.finite = val.aval().size();
        return Ok(seen);
    }
    let array = array_of(val)?;
    if array.dtype() == DType::F32 {
        return look_at_words(&array);
    }
    visit(&array, |re, im| {
        if re.is_finite() && im.is_finite() {
            if re == 0.0 && im == 0.0 { seen.zero += 1 } else { seen.finite += 1 }
        } else if re.is_nan() || im.is_nan() {
            seen.nan += 1;
        } else {
            seen.infinite += 1;
        }
    })?;
    Ok(seen)
}

/// The bits of an infinity of `float32`; NaN has more of them, all else fewer.
const INFINITY: i32 = 0x7f80_0000;

/// The elements of `float32` but for their signs, as bits.
fn magnitudes(bytes: &[u8]) -> impl Iterator<Item = i32> {
    bytes.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]) & i32::MAX)
}

/// As [`look`], of `float32`: counted without branches, so that processors look at many at once.
fn look_at_words(array: &Array) -> Result<Seen> {
    let buffer = array.buffer()?;
    let mut seen = Seen::default();
    for block in buffer.bytes()[..array.aval().size_bytes()].chunks(1 << 14) {
        let (mut zero, mut nan, mut infinite) = (0u32, 0u32, 0u32);
        for magnitude in magnitudes(block) {
            zero += u32::from(magnitude == 0);
            nan += u32::from(magnitude > INFINITY);
            infinite += u32::from(magnitude == INFINITY);
        }
        seen.zero += zero as usize;
        seen.nan += nan as usize;
        seen.infinite += infinite as usize;
    }
    seen.finite = array.aval().size() - seen.zero - seen.nan - seen.infinite;
    Ok(seen)
}

/// Elements that are looked at together.
const BLOCK: usize = 1 << 10;

/// What elements are looked for.
#[derive(Clone, Copy)]
pub(crate) enum Sort {
    /// No finite numbers.
    Bad,
    /// All but zeros.
    NotZero,
}

impl Sort {
    fn has(self, magnitude: i32) -> bool {
        match self {
            Sort::Bad => magnitude >= INFINITY,
            Sort::NotZero => magnitude != 0,
        }
    }

    /// Which elements are of this sort.
    fn elements(self, val: &Val) -> Result<Vec<bool>> {
        let mut found = vec![];
        visit(&array_of(val)?, |re, im| {
            found.push(match self {
                Sort::Bad => !(re.is_finite() && im.is_finite()),
                Sort::NotZero => re != 0.0 || im != 0.0,
            });
        })?;
        Ok(found)
    }
}

/// Positions of the first elements that are no finite numbers, at most so many, in row-major order.
pub(crate) fn first_bad(val: &Val, most: usize) -> Result<Vec<usize>> {
    let array = array_of(val)?;
    if array.dtype() != DType::F32 {
        let bad = Sort::Bad.elements(val)?.into_iter().enumerate();
        return Ok(bad.filter(|(_, is_bad)| *is_bad).map(|(at, _)| at).take(most).collect());
    }
    let buffer = array.buffer()?;
    let mut found = vec![];
    for (number, block) in buffer.bytes()[..array.aval().size_bytes()].chunks(4 * BLOCK).enumerate() {
        // Without branches first: most blocks have none.
        if magnitudes(block).fold(false, |any, x| any | Sort::Bad.has(x)) {
            let bad = magnitudes(block).enumerate().filter(|&(_, x)| Sort::Bad.has(x));
            found.extend(bad.map(|(at, _)| number * BLOCK + at).take(most - found.len()));
        }
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}

/// Whether an element is of one sort in one value and of another in another value of the same shape.
pub(crate) fn coincide(one: (&Val, Sort), other: (&Val, Sort)) -> Result<bool> {
    let (these, those) = (array_of(one.0)?, array_of(other.0)?);
    if these.dtype() != DType::F32 || those.dtype() != DType::F32 {
        let (these, those) = (one.1.elements(one.0)?, other.1.elements(other.0)?);
        return Ok(these.iter().zip(&those).any(|(&this, &that)| this && that));
    }
    let (size, these, those) = (these.aval().size_bytes(), these.buffer()?, those.buffer()?);
    let mut blocks = these.bytes()[..size].chunks(4 * BLOCK).zip(those.bytes()[..size].chunks(4 * BLOCK));
    Ok(blocks.any(|(these, those)| {
        let pairs = magnitudes(these).zip(magnitudes(those));
        pairs.fold(false, |any, (this, that)| any | (one.1.has(this) & other.1.has(that)))
    }))
}

/// The index of an element from its row-major position.
pub(crate) fn position(shape: &[usize], mut flat: usize) -> Vec<usize> {
    let mut at = vec![0; shape.len()];
    for (i, &size) in at.iter_mut().zip(shape).rev() {
        *i = flat % size;
        flat /= size;
    }
    at
}

/// An index or a shape, as Python prints a list.
pub(crate) fn list(numbers: &[usize]) -> String {
    format!("[{}]", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// An element inside of brackets, as NumPy prints it: without the last zero of a whole number.
fn element_text(scalar: Scalar) -> String {
    let text = scalar.to_string();
    if scalar.dtype().is_float() {
        text.strip_suffix(".0").map_or(text.clone(), |whole| format!("{whole}."))
    } else {
        text
    }
}

fn nested(shape: &[usize], elements: &[Scalar]) -> String {
    let Some((&n, inner)) = shape.split_first() else { return elements[0].to_string() };
    let step: usize = inner.iter().product();
    let entry = |i: usize| match inner {
        [] => element_text(elements[i]),
        _ => nested(inner, &elements[i * step..][..step]),
    };
    format!("[{}]", (0..n).map(entry).collect::<Vec<_>>().join(" "))
}

/// A value in a line: whole when it is small, else its type and between which numbers it is.
pub(crate) fn shown(val: &Val) -> Result<String> {
    let (array, aval) = (array_of(val)?, val.aval());
    if aval.dtype == DType::Float0 || aval.dtype.is_key() {
        return Ok(aval.weak(false).long());
    }
    if aval.size() <= SMALL {
        return Ok(nested(&aval.shape, &array.elements()?));
    }
    let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut has_nan = false;
    visit(&array, |re, im| {
        has_nan |= re.is_nan() || im.is_nan();
        (least, greatest) = (least.min(re), greatest.max(re));
    })?;
    let kind = format!("{}{}", aval.dtype, list(&aval.shape));
    if aval.dtype.is_complex() {
        return Ok(kind);
    }
    let (least, greatest) = if has_nan { (f64::NAN, f64::NAN) } else { (least, greatest) };
    let text = |x: f64| match aval.dtype.is_float() {
        true => float_text(x, aval.dtype),
        false => Scalar::float(DType::F64, x).convert(aval.dtype).to_string(),
    };
    Ok(format!("{kind} from {} to {}", text(least), text(greatest)))
}

/// The element of a value at a position of arrays of a shape, or the value if it has another.
pub(crate) fn shown_at(val: &Val, shape: &[usize], flat: Option<usize>) -> Result<String> {
    match flat {
        Some(flat) if val.aval().shape[..] == *shape && !shape.is_empty() => {
            Ok(format!("{} at {}", array_of(val)?.element(flat)?, list(&position(shape, flat))))
        }
        _ => shown(val),
    }
}
