//! Gradients that explain themselves, and evaluation with checks: what both fronts share of `explain_grad` and `checked`.
//!
//! A program is followed operation by operation ([`tape`]), then back ([`back`]); from a gradient that is NaN, infinite or
//! zero the operation that made it is found ([`find`]), zeros without a differentiable path from the program alone
//! ([`structure`]), and both are said in the user's words ([`words`], [`source`]). The result is data and text ([`report`]).
//!
//! Fronts run the function: they give the recorded program, the point, the gradient and the names of its leaves, and a way
//! to read the user's files. This crate knows no language of a host but the look of its calls and operators.
#![forbid(unsafe_code)]

mod back;
mod checked;
mod find;
mod loops;
mod numbers;
mod picture;
mod report;
mod source;
mod structure;
mod tape;
mod words;

use std::panic::{AssertUnwindSafe, catch_unwind};

use pullback_base::{Error, Result, Span};
use pullback_core::control::{Cond, Scan, While};
use pullback_ir::{Eqn, Jaxpr, Val};

pub use checked::{Fault, checked, look_for_mistakes, strict};
pub use report::{Kind, Leaf, Report, Step, Trouble};
pub use source::Read;

use back::Back;
use find::Finder;
use loops::{Opened, Walking};
use source::{Sources, is_rust};
use tape::{Id, Stop, Tape};

/// Longer programs are followed with shorter stretches of their loops, and not at all if they have no loops.
const MOST_NODES: usize = 20_000;
/// Loops of no more steps are followed step by step from the start.
const SHORT_LOOP: usize = 16;
const UNUSED: &str = "no operation uses it: it is unused, or was replaced by numbers of NumPy or of Python on the way";
const REDUCTIONS: &[&str] =
    &["reduce_max", "reduce_min", "reduce_sum", "reduce_prod", "argmax", "argmin", "reduce_and", "reduce_or"];

/// A gradient that is to be explained.
pub struct Question<'a> {
    /// Name of the function.
    pub name: &'a str,
    /// What it does at the point, recorded; its first inputs have the values `captured`, the others are the leaves.
    pub jaxpr: &'a Jaxpr,
    /// Those values.
    pub captured: &'a [Val],
    /// The differentiated arrays.
    pub points: &'a [Val],
    /// Their gradients.
    pub gradients: &'a [Val],
    /// Their names.
    pub names: &'a [String],
    /// Reads a file of the user's.
    pub read: Read<'a>,
}

/// How many elements of each kind the gradients have.
///
/// # Errors
/// When a gradient is a tracer: its elements are not known.
pub fn leaves(names: &[String], gradients: &[Val]) -> Result<Vec<Leaf>> {
    let leaf = |(name, gradient): (&String, &Val)| {
        if gradient.is_tracer() {
            return Err(Error::type_error(
                "explain_grad looks at values, so it cannot be inside of jit, grad or vmap; call it on arrays",
            ));
        }
        let (seen, aval) = (numbers::look(gradient)?, gradient.aval());
        let shape: Vec<String> = aval.shape.iter().map(ToString::to_string).collect();
        Ok(Leaf {
            name: name.clone(),
            type_text: format!("{}[{}]", aval.dtype, shape.join(",")),
            finite: seen.finite,
            zero: seen.zero,
            nan: seen.nan,
            infinite: seen.infinite,
        })
    };
    names.iter().zip(gradients).map(leaf).collect()
}

/// What is wrong with a gradient, which operation made it, and what to do. Whatever the program is, there is a report: what
/// could not be followed is a note.
///
/// # Errors
/// As [`leaves`].
pub fn explain(question: &Question<'_>) -> Result<Report> {
    let leaves = leaves(question.names, question.gradients)?;
    let follow = || pullback_trace::with_current(pullback_backend::eval(), || question.answer(&leaves));
    let asked = || pullback_backend::unchecked(follow);
    let (troubles, notes) = match catch_unwind(AssertUnwindSafe(asked)) {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => (vec![], vec![not_followed(&error)]),
        Err(_) => (vec![], vec!["the program could not be followed: an internal error of Pullback".into()]),
    };
    Ok(Report { name: question.name.into(), leaves, troubles, notes })
}

fn not_followed(error: &Error) -> String {
    let line = error.message().lines().next().unwrap_or("").to_string();
    format!("the program could not be followed: {:?}: {line}", error.kind())
}

type Answer = (Vec<Trouble>, Vec<String>);

impl Question<'_> {
    fn answer(&self, leaves: &[Leaf]) -> Result<Answer> {
        let is_bad = |leaf: &Leaf| leaf.nan + leaf.infinite > 0;
        let is_zero = |leaf: &Leaf| leaf.zero > 0 && leaf.finite == 0 && !is_bad(leaf);
        let bad: Vec<usize> = (0..leaves.len()).filter(|&at| is_bad(&leaves[at])).collect();
        let zero: Vec<usize> = (0..leaves.len()).filter(|&at| is_zero(&leaves[at])).collect();
        let mut troubles = vec![];
        empties(self.jaxpr, &mut troubles);
        let numeric = self.structural(&zero, &mut troubles);
        if bad.is_empty() && numeric.is_empty() {
            return Ok((troubles, vec![]));
        }
        let (found, notes) = self.follow(&bad, &numeric)?;
        troubles.extend(found);
        Ok((troubles, notes))
    }

    /// Adds the zeros that the program alone explains; gives the leaves that it does not.
    fn structural(&self, zero: &[usize], troubles: &mut Vec<Trouble>) -> Vec<usize> {
        let mut numeric = vec![];
        for &at in zero {
            let (cuts, reaches) = structure::paths_of(self.jaxpr, self.captured.len() + at);
            if reaches {
                numeric.push(at);
                continue;
            }
            if cuts.is_empty() {
                let cure = "use it, or compute with jax.numpy";
                troubles.push(self.structural_trouble(at, "none", Span::UNKNOWN, UNUSED.into(), cure));
            }
            for cut in cuts {
                let name = cut.primitive.as_str();
                let cause = format!("{name} has no derivative but 0, and no other path leads to the result");
                troubles.push(self.structural_trouble(at, name, cut.span, cause, words::flat_cure(name)));
            }
        }
        numeric
    }

    fn structural_trouble(&self, at: usize, primitive: &str, span: Span, cause: String, cure: &str) -> Trouble {
        let place = span.resolve();
        let in_rust = place.as_ref().is_some_and(|place| is_rust(&place.file));
        let cure = if in_rust { words::in_rust(cure) } else { cure.into() };
        let step = Step {
            name: primitive.into(),
            detail: place.map_or_else(String::new, |place| format!("line {}", place.line)),
            is_trouble: true,
            cotangent: "no path".into(),
        };
        Trouble {
            chain: vec![primitive.into()],
            steps: vec![step],
            ..Trouble::new(Kind::StructuralZero, &self.names[at], primitive, span, cause, cure)
        }
    }

    fn run(&self, walking: Walking) -> std::result::Result<(Tape, Vec<Id>), Stop> {
        let mut tape = Tape::new(walking, MOST_NODES);
        let points: Vec<Id> = self.points.iter().map(|val| tape.add(val.clone(), None)).collect();
        tape.names = self.names.to_vec();
        let mut ins: Vec<Id> = self.captured.iter().map(|val| tape.add(val.clone(), None)).collect();
        ins.extend(points);
        let outs = tape.run(self.jaxpr, &ins, &None)?;
        Ok((tape, outs))
    }

    /// Follows the program, with ever more of its loops opened, until each trouble is at an operation of the user's.
    fn follow(&self, bad: &[usize], zero: &[usize]) -> Result<Answer> {
        let mut opened = Opened::default();
        let mut short = SHORT_LOOP;
        let mut before: Option<(Tape, Id)> = None;
        let wanted = Wanted { bad, zero, sources: &Sources::new(self.read) };
        loop {
            let (stretches, given) = (opened.stretches.clone(), opened.given.clone());
            let walking = Walking::Stretches { short, opened: stretches, given };
            let (tape, outs) = match self.run(walking) {
                Ok(found) => found,
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::TooLong) if short > 1 => {
                    short /= 8;
                    continue;
                }
                Err(Stop::TooLong) => {
                    let too_long = || Ok((vec![], vec!["the program has too many operations to be followed".into()]));
                    return before.map_or_else(too_long, |(tape, out)| self.told(&tape, out, &wanted));
                }
            };
            let back = self.way_back(&tape, outs[0], &wanted);
            if tape.closed.is_empty() || !opened.open(&self.troubles_of(&back, &wanted, true)?.0) {
                let (troubles, notes) = self.troubles_of(&back, &wanted, false)?;
                return Ok(Opened::answer(troubles, notes));
            }
            before = Some((tape, outs[0]));
        }
    }

    /// What is told of the troubles of one run.
    fn told(&self, tape: &Tape, out: Id, wanted: &Wanted<'_>) -> Result<Answer> {
        self.troubles_of(&self.way_back(tape, out, wanted), wanted, false)
    }

    fn way_back<'t>(&self, tape: &'t Tape, out: Id, wanted: &Wanted<'_>) -> Result<Back<'t>> {
        let leaves: Vec<Id> = wanted.bad.iter().chain(wanted.zero).copied().collect();
        back::back(tape, &leaves, out)
    }

    fn troubles_of(&self, back: &Result<Back<'_>>, wanted: &Wanted<'_>, is_brief: bool) -> Result<Answer> {
        let mut notes = vec![];
        let back = match back {
            Ok(back) => back,
            Err(error) => {
                let line = error.message().lines().next().unwrap_or("").to_string();
                notes.push(format!("the way back could not be followed: {line}"));
                return Ok((vec![], notes));
            }
        };
        let finder = Finder { back, sources: wanted.sources, is_brief };
        let mut troubles = vec![];
        for &at in wanted.bad {
            let found = finder.bad(at, &self.names[at])?;
            if found.is_empty() {
                let text = "the operations one by one give a finite gradient, the program as a whole does not";
                notes.push(format!("{}: {text}", self.names[at]));
            }
            troubles.extend(found);
        }
        for &at in wanted.zero {
            troubles.extend(finder.zero(at, &self.names[at])?);
        }
        Ok((troubles, notes))
    }
}

/// The leaves whose gradients are to be explained, and where to read the user's words.
struct Wanted<'a> {
    bad: &'a [usize],
    zero: &'a [usize],
    sources: &'a Sources<'a>,
}

/// Adds the reductions that see no element.
fn empties(jaxpr: &Jaxpr, found: &mut Vec<Trouble>) {
    for eqn in &jaxpr.eqns {
        if is_walked_into(eqn) {
            eqn.params.jaxprs().iter().for_each(|inner| empties(inner, found));
        }
        let shape = eqn.ins.first().map(|&atom| &jaxpr.aval(atom).data().shape);
        let out = jaxpr.eqn_out_avals(eqn).first().map(|aval| &aval.data().shape);
        if let (Some(shape), Some(out)) = (shape, out)
            && REDUCTIONS.contains(&eqn.prim.name())
            && shape.contains(&0)
            && !out.contains(&0)
        {
            let name = eqn.prim.name();
            let shape = pullback_base::aval::tuple_text(shape);
            let cause = format!("{name} saw no element: its operand has the shape {shape}");
            let cure = "give the reduction an initial=, a where= of the mean or pullback.masked.mean, or leave the empty part out";
            let trouble = Trouble::new(Kind::Empty, "(the program)", name, eqn.span, cause, cure.into());
            found.push(Trouble { chain: vec![name.into()], ..trouble });
        }
    }
}

fn is_walked_into(eqn: &Eqn) -> bool {
    let params = &eqn.params;
    let is_loop = params.get::<Scan>().is_some() || params.get::<While>().is_some();
    tape::called(params).is_some() || params.get::<Cond>().is_some() || is_loop
}
