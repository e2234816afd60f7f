//! A program followed operation by operation, with the values between them.
//!
//! Calls and checkpoints are walked into, a branch is the one that was taken, and loops are followed as [`crate::loops`] says.
//! A function with a rule of the user is one operation, as its inside has no part in the derivative; unless checks are
//! made, which look at everything that runs.

use std::cell::OnceCell;
use std::fmt;
use std::rc::Rc;

use pullback_base::span::Place;
use pullback_base::{Error, Result, Span};
use pullback_core::control::{Checkpoint, Cond, CustomJvpCall, CustomVjpCall, Jit, Scan, While};
use pullback_ir::{Atom, Eqn, Jaxpr, JaxprRef, Params, PrimRef, Val};

use rustc_hash::FxHashMap;

use crate::checked::Checks;
use crate::loops::{Loop, Stretch, Walking};
use crate::numbers::{Seen, array_of, look};

/// The number of a value.
pub(crate) type Id = usize;

/// Why a program was not followed to its end.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It has more operations than are followed one by one.
    TooLong,
    /// An operation failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

pub(crate) type Followed<T> = std::result::Result<T, Stop>;

/// A loop or branch around an operation.
pub(crate) struct Frame {
    what: &'static str,
    number: usize,
    of: &'static str,
    span: Span,
    outer: Context,
}

/// The loops and branches around an operation, the innermost first.
pub(crate) type Context = Option<Rc<Frame>>;

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} of {}", self.what, self.number, self.of)?;
        self.span.resolve().map_or(Ok(()), |place| write!(f, " at line {}", place.line))
    }
}

pub(crate) fn inside(outer: &Context, what: &'static str, number: usize, of: &'static str, span: Span) -> Context {
    Some(Rc::new(Frame { what, number, of, span, outer: outer.clone() }))
}

/// The frames as texts, the outermost first.
pub(crate) fn context_texts(context: &Context) -> Vec<String> {
    let frames = std::iter::successors(context.as_deref(), |frame| frame.outer.as_deref());
    let mut texts: Vec<String> = frames.map(ToString::to_string).collect();
    texts.reverse();
    texts
}

/// The iteration of the innermost loop.
pub(crate) fn iteration(context: &Context) -> Option<usize> {
    let mut frames = std::iter::successors(context.as_deref(), |frame| frame.outer.as_deref());
    frames.find(|frame| frame.what == "iteration").map(|frame| frame.number)
}

/// A value, and what was seen of it when it was first looked at.
pub(crate) struct Value {
    pub(crate) val: Val,
    seen: OnceCell<Seen>,
}

impl Value {
    pub(crate) fn new(val: Val) -> Value {
        Value { val, seen: OnceCell::new() }
    }

    pub(crate) fn seen(&self) -> Result<Seen> {
        if let Some(&seen) = self.seen.get() {
            return Ok(seen);
        }
        let seen = look(&self.val)?;
        Ok(*self.seen.get_or_init(|| seen))
    }

    pub(crate) fn is_bad(&self) -> Result<bool> {
        Ok(self.seen()?.is_bad())
    }
}

/// What an operation does.
#[derive(Clone)]
pub(crate) enum Doing {
    /// It performs a primitive.
    Bind(PrimRef, Params),
    /// It takes an array apart into what the steps of a loop see, one result for each.
    Slices,
    /// It puts together what the steps of a loop gave.
    Stack,
    /// It takes an array apart into what stretches of a loop see.
    Cut,
    /// It puts together what stretches of a loop gave.
    Join,
}

/// One operation: what it does, where the user wrote it, and its operands and results by number.
pub(crate) struct Node {
    pub(crate) doing: Doing,
    pub(crate) span: Span,
    pub(crate) ins: Vec<Id>,
    pub(crate) outs: Vec<Id>,
    pub(crate) context: Context,
}

impl Node {
    /// The name of what it does.
    pub(crate) fn primitive(&self) -> &str {
        match &self.doing {
            Doing::Bind(prim, _) => prim.name(),
            Doing::Slices | Doing::Cut => "slice of scan",
            Doing::Stack | Doing::Join => "stack of scan",
        }
    }

    /// The name with that of the function whose rule it is.
    pub(crate) fn name(&self) -> String {
        let Doing::Bind(prim, params) = &self.doing else { return self.primitive().into() };
        let jvp = params.get::<CustomJvpCall>().map(|call| &call.name);
        let rule = jvp.or_else(|| params.get::<CustomVjpCall>().map(|call| &call.name));
        rule.map_or_else(|| prim.name().into(), |rule| format!("{}[{rule}]", prim.name()))
    }

    /// Whether it is a function with a rule of the user.
    pub(crate) fn has_rule(&self) -> bool {
        matches!(self.primitive(), "custom_jvp_call" | "custom_vjp_call")
    }

    pub(crate) fn place(&self) -> Option<Place> {
        self.span.resolve()
    }

    pub(crate) fn line(&self) -> Option<u32> {
        self.place().map(|place| place.line)
    }

    /// File and line.
    pub(crate) fn short_place(&self) -> String {
        self.place().map_or_else(|| "(no line known)".into(), |place| format!("{}:{}", place.file, place.line))
    }
}

/// The operations of one run, and the values between them.
pub(crate) struct Tape {
    pub(crate) nodes: Vec<Node>,
    pub(crate) values: Vec<Value>,
    /// Which operation gave a value; `None` for what was given from outside.
    pub(crate) producer: Vec<Option<usize>>,
    /// Names of the values of the user's arguments, which are the first.
    pub(crate) names: Vec<String>,
    /// How loops are followed.
    pub(crate) walking: Walking,
    /// Stretches of loops that are one operation, by its index.
    pub(crate) closed: FxHashMap<usize, Stretch>,
    /// The loops around: each equation by its address, and the iteration.
    pub(crate) around_loops: Vec<(usize, usize)>,
    /// How often each loop ran so far.
    pub(crate) runs: FxHashMap<Loop, usize>,
    pub(crate) most_nodes: usize,
    /// Where the innermost call with a known line stands: for the operations of functions that are not the user's.
    around: Span,
    checks: Option<Checks>,
}

/// The jaxpr of a call that is walked into.
pub(crate) fn called(params: &Params) -> Option<&JaxprRef> {
    params.get::<Jit>().map(|p| &p.jaxpr).or_else(|| params.get::<Checkpoint>().map(|p| &p.jaxpr))
}

fn ruled(params: &Params) -> Option<&JaxprRef> {
    let jvp = params.get::<CustomJvpCall>().map(|p| &p.call_jaxpr);
    jvp.or_else(|| params.get::<CustomVjpCall>().map(|p| &p.call_jaxpr))
}

impl Tape {
    pub(crate) fn new(walking: Walking, most_nodes: usize) -> Tape {
        Tape {
            nodes: vec![],
            values: vec![],
            producer: vec![],
            names: vec![],
            walking,
            closed: FxHashMap::default(),
            around_loops: vec![],
            runs: FxHashMap::default(),
            most_nodes,
            around: Span::UNKNOWN,
            checks: None,
        }
    }

    /// A tape that looks at operands before each operation and at results after it.
    pub(crate) fn checking(checks: Checks, most_nodes: usize) -> Tape {
        Tape { checks: Some(checks), ..Tape::new(Walking::Whole, most_nodes) }
    }

    pub(crate) fn add(&mut self, val: Val, producer: Option<usize>) -> Id {
        self.values.push(Value::new(val));
        self.producer.push(producer);
        self.values.len() - 1
    }

    pub(crate) fn val(&self, id: Id) -> &Val {
        &self.values[id].val
    }

    pub(crate) fn vals(&self, ids: &[Id]) -> Vec<Val> {
        ids.iter().map(|&id| self.val(id).clone()).collect()
    }

    /// The operation that gave a value.
    pub(crate) fn maker(&self, id: Id) -> Option<&Node> {
        self.producer[id].map(|index| &self.nodes[index])
    }

    /// Follows a jaxpr from the numbers of its arguments to those of its results.
    pub(crate) fn run(&mut self, jaxpr: &Jaxpr, args: &[Id], context: &Context) -> Followed<Vec<Id>> {
        let mut env: Vec<Option<Id>> = vec![None; jaxpr.vars.len()];
        for (var, array) in jaxpr.constvars.iter().zip(&jaxpr.consts) {
            env[var.index()] = Some(self.add(Val::Array(array.clone()), None));
        }
        for (var, &arg) in jaxpr.invars.iter().zip(args) {
            env[var.index()] = Some(arg);
        }
        for eqn in &jaxpr.eqns {
            let ins: Vec<Id> = eqn.ins.iter().map(|&atom| self.read(&env, atom)).collect();
            let before = self.around;
            self.around = if eqn.span.is_known() { eqn.span } else { before };
            let outs = self.step(eqn, ins, context);
            self.around = before;
            for (var, out) in eqn.outs().zip(outs?) {
                env[var.index()] = Some(out);
            }
        }
        Ok(jaxpr.outs.iter().map(|&out| self.read(&env, out)).collect())
    }

    fn read(&mut self, env: &[Option<Id>], atom: Atom) -> Id {
        match atom {
            Atom::Literal(scalar) => self.add(Val::Literal(scalar), None),
            Atom::Var(var) => env[var.index()].expect("equations come after those they use"),
        }
    }

    fn step(&mut self, eqn: &Eqn, ins: Vec<Id>, context: &Context) -> Followed<Vec<Id>> {
        let params = &eqn.params;
        if let Some(jaxpr) = called(params) {
            self.look_before(eqn.prim, params, &ins, context)?;
            return self.run(jaxpr, &ins, context);
        }
        if let (Some(jaxpr), true) = (ruled(params), self.checks.is_some()) {
            return self.run(jaxpr, &ins, context);
        }
        if let Some(cond) = params.get::<Cond>() {
            let index = array_of(self.val(ins[0]))?.element(0)?.number().as_i128();
            let chosen = index.clamp(0, cond.branches.len() as i128 - 1) as usize;
            let here = inside(context, "branch", chosen, "cond", eqn.span);
            return self.run(&cond.branches[chosen], &ins[1..], &here);
        }
        match (params.get::<Scan>(), params.get::<While>()) {
            (Some(scan), _) => self.scan(scan, eqn, &ins, context),
            (_, Some(repeat)) => self.repeat(repeat, eqn, ins, context),
            _ => self.operation(eqn.prim, params, ins, context),
        }
    }

    pub(crate) fn operation(
        &mut self,
        prim: PrimRef,
        params: &Params,
        ins: Vec<Id>,
        context: &Context,
    ) -> Followed<Vec<Id>> {
        self.look_before(prim, params, &ins, context)?;
        let operands = self.vals(&ins);
        let outs = self.around.scope(|| pullback_trace::bind(prim, params, &operands))?;
        let outs = self.push(Doing::Bind(prim, params.clone()), ins, outs.into_vec(), context)?;
        if self.checks.is_some() {
            let [ins, outs] = [&self.nodes[self.nodes.len() - 1].ins, &outs];
            let look = |ids: &[Id]| ids.iter().map(|&id| &self.values[id]).collect::<Vec<_>>();
            crate::checked::after(prim, &look(ins), &look(outs), self.around, context)?;
        }
        Ok(outs)
    }

    /// Checks the operands of an operation or a call, where checks are asked for.
    fn look_before(&mut self, prim: PrimRef, params: &Params, ins: &[Id], context: &Context) -> Followed<()> {
        let Some(mut checks) = self.checks.take() else { return Ok(()) };
        let operands = self.vals(ins);
        let looked = checks.before(prim, params, &operands, ins, self.around, context);
        self.checks = Some(checks);
        Ok(looked?)
    }

    /// Notes an operation and its results.
    pub(crate) fn push(&mut self, doing: Doing, ins: Vec<Id>, outs: Vec<Val>, context: &Context) -> Followed<Vec<Id>> {
        if self.nodes.len() >= self.most_nodes {
            return Err(Stop::TooLong);
        }
        let index = self.nodes.len();
        let outs: Vec<Id> = outs.into_iter().map(|out| self.add(out, Some(index))).collect();
        self.nodes.push(Node { doing, span: self.around, ins, outs: outs.clone(), context: context.clone() });
        Ok(outs)
    }
}
