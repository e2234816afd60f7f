//! What passes in silence otherwise, as errors with the line: each operation is looked at before and after.

use pullback_base::{Aval, DType, Error, ErrorKind, Result, Scalar, Span};
use pullback_core::control::Jit;
use pullback_core::prims::{ConvertElementType, DynamicSlice, Gather, Scatter};
use pullback_ir::{Builder, Params, PrimRef, Val, Vals};
use pullback_trace::settings::{Setting, is_on, set_on_thread};
use rustc_hash::FxHashMap;

use crate::numbers::{array_of, first_bad, list, position, shape_of, shown_at};
use crate::tape::{Context, Id, Stop, Tape, Value, context_texts};

const MOST_NODES: usize = 1_000_000;
/// Operations that use up a key of random numbers.
const CONSUMERS: &[&str] = &["random_bits", "random_split", "random_gamma", "random_unwrap"];
/// Operations whose results may be infinite for finite operands: those are written so, or stand for nothing.
const FILLING: &[&str] = &["pad", "broadcast_in_dim", "reduce_max", "reduce_min"];

/// Functions of the library that give integers a harmless divisor in place of 0, so that no `rem` inside sees it.
const GUARDED_DIVISIONS: &[&str] = &["remainder", "fmod"];

/// What kind of mistake an error of [`checked`] is, where the class of the error does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A whole number is divided by 0.
    ZeroDivision,
    /// A key of random numbers is used twice.
    KeyReuse,
    /// A matrix that an algorithm of linear algebra cannot work with.
    Matrix,
}

/// A mistake before it has a place.
struct Problem {
    kind: ErrorKind,
    fault: Option<Fault>,
    text: String,
}

impl Problem {
    fn new(kind: ErrorKind, text: impl Into<String>) -> Problem {
        Problem { kind, fault: None, text: text.into() }
    }

    fn of(fault: Fault, text: impl Into<String>) -> Problem {
        Problem { kind: ErrorKind::Value, fault: Some(fault), text: text.into() }
    }

    fn at(self, operation: &str, span: Span, context: &Context) -> Error {
        let text = format!("{}: {operation}{}", self.text, place(span, context));
        match self.fault {
            Some(fault) => Error::about(self.kind, text, std::sync::Arc::new(fault)),
            None => Error::new(self.kind, text),
        }
    }
}

/// Where an operation stands, for the end of a text.
fn place(span: Span, context: &Context) -> String {
    let mut text = span.resolve().map_or_else(String::new, |place| match place.function.is_empty() {
        true => format!(" at {}:{}", place.file, place.line),
        false => format!(" at {}:{}, in {}", place.file, place.line, place.function),
    });
    for part in context_texts(context) {
        text += &format!(", in {part}");
    }
    text
}

/// What is remembered between operations: which keys were used, and where.
#[derive(Default)]
pub(crate) struct Checks {
    consumed: FxHashMap<Id, String>,
}

impl Checks {
    pub(crate) fn before(
        &mut self,
        prim: PrimRef,
        params: &Params,
        operands: &[Val],
        ins: &[Id],
        span: Span,
        context: &Context,
    ) -> Result<()> {
        if let Some(problem) = fault_of(prim, params, operands)? {
            let name = params.get::<Jit>().map_or(prim.name(), |jit| &jit.name);
            return Err(problem.at(name, span, context));
        }
        if CONSUMERS.contains(&prim.name()) {
            let here = format!("{}{}", prim.name(), place(span, context));
            if let Some(before) = self.consumed.insert(ins[0], here.clone()) {
                let text = format!("a key is used again by {here}; it was used before by {before}; split it");
                return Err(Error::about(ErrorKind::Value, text, std::sync::Arc::new(Fault::KeyReuse)));
            }
        }
        Ok(())
    }
}

/// Looks at the results of an operation.
pub(crate) fn after(prim: PrimRef, ins: &[&Value], outs: &[&Value], span: Span, context: &Context) -> Result<()> {
    for operand in ins {
        if operand.is_bad()? {
            return Ok(());
        }
    }
    let name = prim.name();
    if name == "lu" && has_zero_pivot(&outs[0].val)? {
        return Err(Problem::of(Fault::Matrix, "the matrix is singular").at(name, span, context));
    }
    if ins.is_empty() || FILLING.contains(&name) {
        return Ok(());
    }
    for out in outs {
        if !out.is_bad()? {
            continue;
        }
        if let Some(text) = factorization(name) {
            return Err(Problem::of(Fault::Matrix, text).at(name, span, context));
        }
        let kind = if out.seen()?.nan > 0 { "NaN" } else { "an infinity" };
        let (shown, place) = (operands_text(ins, &out.val)?, place(span, context));
        let text = format!("{name} gave {kind} of finite operands {shown}{place}");
        return Err(Error::new(ErrorKind::FloatingPoint, text));
    }
    Ok(())
}

fn factorization(primitive: &str) -> Option<&'static str> {
    Some(match primitive {
        "cholesky" => "the matrix is not positive definite",
        "eigh" | "svd" | "eig" => "the iteration did not converge, or the matrix is not finite",
        "triangular_solve" | "custom_linear_solve" => "the matrix is singular",
        "schur" => "the iteration did not converge",
        _ => return None,
    })
}

fn has_zero_pivot(factors: &Val) -> Result<bool> {
    let aval = factors.aval();
    let [.., rows, columns] = aval.shape[..] else { return Ok(false) };
    let elements = array_of(factors)?.elements()?;
    Ok(elements
        .chunks_exact((rows * columns).max(1))
        .any(|matrix| (0..rows.min(columns)).any(|i| !matrix[i * columns + i].is_nonzero())))
}

/// Operands at the first element of a result that is no finite number.
fn operands_text(ins: &[&Value], out: &Val) -> Result<String> {
    let shape = shape_of(out);
    let at = first_bad(out, 1)?.first().copied();
    let mut shown = vec![];
    for operand in ins.iter().take(4) {
        let aval = operand.val.aval();
        let text = match at {
            Some(at) if aval.shape[..] == *shape => array_of(&operand.val)?.element(at)?.to_string(),
            _ if aval.size() < 4 => shown_at(&operand.val, &[], None)?,
            _ => format!("{}{}", aval.dtype, list(&aval.shape)),
        };
        shown.push(text);
    }
    let at = at.map(|at| position(shape, at)).filter(|at| !at.is_empty());
    Ok(format!("({}){}", shown.join(", "), at.map_or_else(String::new, |at| format!(" at {}", list(&at)))))
}

/// What is wrong with the operands of an operation.
fn fault_of(prim: PrimRef, params: &Params, operands: &[Val]) -> Result<Option<Problem>> {
    match prim.name() {
        "rem" | "div" => by_zero(&operands[1]),
        "convert_element_type" => match params.get::<ConvertElementType>() {
            Some(to) => conversion(&operands[0], to.new_dtype),
            None => Ok(None),
        },
        "dynamic_slice" => {
            let Some(slice) = params.get::<DynamicSlice>() else { return Ok(None) };
            starts_outside(&operands[0], &operands[1..], &slice.slice_sizes)
        }
        "dynamic_update_slice" => starts_outside(&operands[0], &operands[2..], &operands[1].aval().shape),
        _ => {
            if let (Some(jit), [_, divisor]) = (params.get::<Jit>(), operands)
                && GUARDED_DIVISIONS.contains(&&*jit.name)
            {
                return by_zero(divisor);
            }
            if let Some(gather) = params.get::<Gather>() {
                let axes = &gather.dimension_numbers.start_index_map;
                return indices_outside(&operands[0], &operands[1], axes, &gather.slice_sizes);
            }
            params.get::<Scatter>().map_or(Ok(None), |scatter| scattered(scatter, operands))
        }
    }
}

fn by_zero(divisor: &Val) -> Result<Option<Problem>> {
    if !divisor.aval().dtype.is_integer() {
        return Ok(None);
    }
    let has_zero = array_of(divisor)?.elements()?.iter().any(|x| !x.is_nonzero());
    Ok(has_zero.then(|| Problem::of(Fault::ZeroDivision, "a whole number is divided by 0")))
}

fn conversion(value: &Val, new: DType) -> Result<Option<Problem>> {
    let old = value.aval().dtype;
    if !new.is_integer() || old == DType::Bool || old.is_complex() || !(old.is_integer() || old.is_float()) {
        return Ok(None);
    }
    let (least, greatest) = (Scalar::least(new).number().as_i128(), Scalar::greatest(new).number().as_i128());
    let fits = |x: &Scalar| {
        // Numbers with a fraction lose it; NaN and infinity are nowhere inside.
        let is_number = old.is_integer() || x.as_f64().is_finite();
        is_number && (least..=greatest).contains(&x.number().as_i128())
    };
    let outside = array_of(value)?.elements()?.into_iter().find(|x| !fits(x));
    let shown = |x: Scalar| if old.is_integer() { x.to_string() } else { x.convert(DType::F64).to_string() };
    Ok(outside.map(|x| Problem::new(ErrorKind::Overflow, format!("{} does not fit into {new}", shown(x)))))
}

/// What is wrong with the starts of windows along an axis.
fn outside(starts: impl Iterator<Item = i128>, axis: usize, size: usize, window: usize) -> Option<Problem> {
    let (size, last) = (size as i128, size as i128 - window as i128);
    let index = { starts }.find(|&start| start < 0 || start > last)?;
    let what = match window {
        1 => format!("index {}", if index >= 0 { index } else { index - size }),
        _ => format!("a slice of {window} from {index}"),
    };
    Some(Problem::new(ErrorKind::Index, format!("{what} is out of bounds for axis {axis} with size {size}")))
}

fn whole(val: &Val) -> Result<Vec<i128>> {
    Ok(array_of(val)?.elements()?.iter().map(|x| x.number().as_i128()).collect())
}

fn starts_outside(x: &Val, starts: &[Val], windows: &[usize]) -> Result<Option<Problem>> {
    for (axis, start) in starts.iter().enumerate() {
        let found = outside(whole(start)?.into_iter(), axis, x.aval().shape[axis], windows[axis]);
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Index vectors lie along the last axis of `indices`; their components start windows along `axes`.
fn indices_outside(x: &Val, indices: &Val, axes: &[usize], windows: &[usize]) -> Result<Option<Problem>> {
    let all = whole(indices)?;
    let found = axes.iter().enumerate().find_map(|(component, &axis)| {
        let starts = all.iter().skip(component).step_by(axes.len()).copied();
        outside(starts, axis, x.aval().shape[axis], windows[axis])
    });
    Ok(found)
}

fn scattered(scatter: &Scatter, operands: &[Val]) -> Result<Option<Problem>> {
    let numbers = &scatter.dimension_numbers;
    let shape = shape_of(&operands[2]);
    let mut windows = numbers.update_window_dims.iter().map(|&axis| shape[axis]);
    let is_absent =
        |axis: &usize| numbers.inserted_window_dims.contains(axis) || numbers.operand_batching_dims.contains(axis);
    let sizes: Vec<usize> = (0..operands[0].aval().rank())
        .map(|axis| if is_absent(&axis) { 1 } else { windows.next().unwrap_or(1) })
        .collect();
    indices_outside(&operands[0], &operands[1], &numbers.scatter_dims_to_operand_dims, &sizes)
}

/// Lets the setting [`Setting::Checked`] work: under it each operation on known values is performed with checks, as is each
/// compiled function, and some of what only warns otherwise is an error.
pub fn look_for_mistakes() {
    pullback_backend::set_checker(operation);
    pullback_trace::answer_warnings(answer_to_warning);
}

/// Runs `body`, which records a function, while mistakes are looked for that show there: a dtype that would be truncated,
/// and a column and a vector of one length, which make a square, mostly by mistake. Operations are looked at later.
///
/// # Errors
/// Those; and what `body` raises.
pub fn strict<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Restore(Option<bool>);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_on_thread(Setting::Checked, self.0);
        }
    }
    look_for_mistakes();
    let _restore = Restore(set_on_thread(Setting::Checked, Some(true)));
    pullback_backend::unchecked(body)
}

/// One primitive on known values, with checks of it and of all that is inside.
fn operation(prim: PrimRef, params: &Params, ins: &[Val]) -> Result<Vals> {
    if let Some(leak) = ins.iter().find(|val| val.is_tracer()) {
        let text = format!("{} outside of a trace was given a leaked tracer of type {}", prim.name(), leak.aval());
        return Err(Error::new(ErrorKind::UnexpectedTracer, text));
    }
    let avals: Vec<Aval> = ins.iter().map(Val::aval).collect();
    let outs = prim.abstract_eval(params, &avals)?;
    let builder = Builder::new();
    let inputs: Vec<Val> = avals.iter().map(|&aval| builder.input(aval)).collect();
    let results = builder.record(prim, params, &inputs, &outs);
    let jaxpr = builder.finish(&results, None).0;
    Ok(checked(&jaxpr, &[], ins)?.into())
}

/// The error in place of a warning, or whether the warning is to be shown all the same.
fn answer_to_warning(text: &str) -> Result<bool> {
    if text.contains("will be truncated to dtype") {
        return Err(Error::type_error(text));
    }
    let Some((_, promotion)) = text.split_once("rank promotion for ") else { return Ok(true) };
    let (name, rest) = promotion.split_once(" on shapes ").unwrap_or((promotion, ""));
    let (rest, _) = rest.split_once(". ").unwrap_or((rest, ""));
    let shapes: Vec<Vec<usize>> =
        rest.split('(').skip(1).map(|part| sizes(part.split(')').next().unwrap_or(""))).collect();
    let [a, b] = &shapes[..] else { return Ok(is_on(Setting::WarnRankPromotion)) };
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.len() == 1 && short[0] > 1 && long.ends_with(&[short[0], 1]) {
        let [long, short] = [long, short].map(|shape| pullback_base::aval::tuple_text(shape));
        let text = format!(
            "{name} of shapes {long} and {short} broadcasts to a square; give both one shape, or write the axis: x[None, :]"
        );
        return Err(Error::value_error(text));
    }
    Ok(is_on(Setting::WarnRankPromotion))
}

fn sizes(text: &str) -> Vec<usize> {
    text.split(',').filter_map(|size| size.trim().parse().ok()).collect()
}

/// The results of a recorded function at `args`, performed operation by operation with checks. The first inputs of the
/// jaxpr have the values `captured`.
///
/// # Errors
/// The first mistake that is found; `NotImplemented` for a program of more than a million operations.
pub fn checked(jaxpr: &pullback_ir::Jaxpr, captured: &[Val], args: &[Val]) -> Result<Vec<Val>> {
    let run = || {
        let mut tape = Tape::checking(Checks::default(), MOST_NODES);
        let ins: Vec<Id> = captured.iter().chain(args).map(|val| tape.add(val.clone(), None)).collect();
        match tape.run(jaxpr, &ins, &None) {
            Ok(outs) => Ok(tape.vals(&outs)),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::TooLong) => {
                Err(Error::not_implemented("checked follows programs of at most a million operations"))
            }
        }
    };
    pullback_backend::unchecked(|| pullback_trace::with_current(pullback_backend::eval(), run))
}
