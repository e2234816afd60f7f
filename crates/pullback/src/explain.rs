//! Gradients that explain themselves, and evaluation with checks.

use std::fmt;
use std::panic::Location;

use pullback_base::{Error, Result, Span};
use pullback_explain::{Fault, Question, Report};

use crate::array::Array;
use crate::transforms::{Output, arrays, call_flat, rebuild, run_value_and_grad, vals};
use crate::tree::Tree;

/// What [`explain_grad`] found in a gradient. `Display` is for reading.
#[derive(Clone)]
pub struct Explanation<A> {
    /// The value of the function.
    pub value: Array,
    /// The gradient.
    pub gradient: A,
    report: Report,
}

impl<A> Explanation<A> {
    /// What is wrong, the operation that made each, its line, the cause and the cure.
    pub fn troubles(&self) -> &[pullback_explain::Trouble] {
        &self.report.troubles
    }

    /// How many elements of each kind the gradient of each leaf has.
    pub fn leaves(&self) -> &[pullback_explain::Leaf] {
        &self.report.leaves
    }

    /// What could not be followed.
    pub fn notes(&self) -> &[String] {
        &self.report.notes
    }

    /// The way back of a trouble as a drawing, the operation that made it in red.
    pub fn to_svg(&self, trouble: usize) -> String {
        self.report.to_svg(trouble)
    }

    /// The report as a page with its drawings.
    pub fn to_html(&self) -> String {
        self.report.to_html()
    }
}

impl<A> fmt::Display for Explanation<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.fmt(f)
    }
}

impl<A> fmt::Debug for Explanation<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.report.fmt(f)
    }
}

/// The name of a function, as its type shows it.
fn name_of<F>(_: &F) -> String {
    let name = std::any::type_name::<F>().trim_start_matches('&');
    let own = name.split("::").filter(|part| !part.starts_with('{')).last().unwrap_or("the function");
    if name.ends_with("{{closure}}") { format!("a closure in {own}") } else { own.to_string() }
}

/// The text of a file that the compiler named, which is relative to a folder around the current one.
fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().unwrap_or_default();
    here.ancestors().find_map(|folder| std::fs::read_to_string(folder.join(file)).ok())
}

fn leaf_names(n: usize) -> Vec<String> {
    if n == 1 { vec!["the argument".into()] } else { (0..n).map(|i| format!("leaf {i}")).collect() }
}

/// The function that tells what is wrong with the gradient of `f`: where NaN, infinity and zero come from, and the cure.
///
/// The program is followed operation by operation, through calls, branches and loops, to the operation that made the trouble
/// and its line. `docs/gradients.md` says what a report holds.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::{TroubleKind, explain_grad, select};
///
/// let f = |x: &Array| select(&x.greater(&(x * 0.0)), &x.log(), &(x * 0.0)).sum();
/// let report = explain_grad(f)(&arr![0.0, 2.0])?;
/// let trouble = &report.troubles()[0];
/// assert_eq!((trouble.kind, trouble.primitive.as_str()), (TroubleKind::Nan, "log"));
/// assert_eq!(trouble.elements, [[0]]);
/// assert!(report.to_string().contains("the slope of log(x) is 1/x, infinite at 0"));
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// The returned function gives those of [`grad`](crate::grad); none is of the report itself, which says in its notes what
/// could not be followed.
#[track_caller]
pub fn explain_grad<A: Tree, R: Output<Tree = Array>>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<Explanation<A>> {
    let span = Span::of(Location::caller());
    move |arg| span.scope(|| run_explain(&f, arg))
}

fn run_explain<A: Tree, R: Output<Tree = Array>>(f: &impl Fn(&A) -> R, arg: &A) -> Result<Explanation<A>> {
    let (value, gradient) = run_value_and_grad(f, arg)?;
    let (points, gradients, name) = (vals(arg)?, vals(&gradient)?, name_of(f));
    let names = leaf_names(points.len());
    let mut structure = None;
    let report = match pullback_trace::record(&mut |args| call_flat(f, arg, args, &mut structure), &points) {
        Ok(traced) => pullback_explain::explain(&Question {
            name: &name,
            jaxpr: &traced.jaxpr,
            captured: &traced.captured,
            points: &points,
            gradients: &gradients,
            names: &names,
            read: &source,
        })?,
        Err(error) => {
            let leaves = pullback_explain::leaves(&names, &gradients)?;
            let notes = vec![format!("the program could not be followed: {error}")];
            Report { name, leaves, troubles: vec![], notes }
        }
    };
    Ok(Explanation { value, gradient, report })
}

/// What kind of mistake an error of [`checked`] is, where its kind alone does not say it: a division of whole numbers by 0,
/// a key that is used twice, a matrix that an algorithm cannot work with.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::{Fault, checked, fault_of};
///
/// let found = checked(|x: &Array| pullback::numpy::floor_divide(x, arr![0]))(&arr![3]);
/// assert_eq!(fault_of(&found.expect_err("3 by 0")), Some(Fault::ZeroDivision));
/// ```
pub fn fault_of(error: &Error) -> Option<Fault> {
    error.payload()?.downcast_ref::<Fault>().copied()
}

/// The function with checks of what otherwise passes in silence; for development, as it runs operation by operation.
///
/// Errors name the operation, the values, the line and the iteration of a loop: an index outside of its array (`Index`), a NaN
/// or an infinity made of finite numbers (`FloatingPoint`), a conversion to whole numbers that do not hold the value
/// (`Overflow`), a division of whole numbers by 0, a key of random numbers that is used twice, a singular matrix, and a column
/// and a row of one length that broadcast to a square (`Value`).
///
/// ```
/// use pullback::prelude::*;
/// use pullback::checked;
///
/// let f = |x: &Array| (x - 1.0).sqrt().sum();
/// assert_eq!(checked(f)(&arr![1.0, 5.0])?.item::<f32>()?, 2.0);
/// let error = checked(f)(&arr![0.0, 5.0]).expect_err("the root of -1");
/// assert_eq!(error.kind(), ErrorKind::FloatingPoint);
/// assert!(error.message().starts_with("sqrt gave NaN of finite operands (-1.0) at [0]"));
/// # Ok::<(), pullback::Error>(())
/// ```
///
/// # Errors
/// The returned function gives these, and `Type` inside of another transformation, as it looks at values.
#[track_caller]
pub fn checked<A: Tree, R: Output>(f: impl Fn(&A) -> R) -> impl Fn(&A) -> Result<R::Tree> {
    let span = Span::of(Location::caller());
    move |arg| span.scope(|| run_checked(&f, arg))
}

fn run_checked<A: Tree, R: Output>(f: &impl Fn(&A) -> R, arg: &A) -> Result<R::Tree> {
    let args = vals(arg)?;
    if args.iter().any(pullback_ir::Val::is_tracer) {
        return Err(Error::type_error("checked looks at values, so it cannot be inside of jit, grad or vmap"));
    }
    let mut structure = None;
    let record = || pullback_trace::record(&mut |args| call_flat(f, arg, args, &mut structure), &args);
    let traced = pullback_explain::strict(record)?;
    let outs = pullback_explain::checked(&traced.jaxpr, &traced.captured, &args)?;
    let structure = structure.ok_or_else(|| Error::internal("the function ran"))?;
    Ok(rebuild(&structure, arrays(outs)))
}
