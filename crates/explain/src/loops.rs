//! How loops are followed.
//!
//! A short loop is its steps, one after the other. A long one is cut into stretches that are one operation each and run as
//! fast as the loop does; a stretch that turns out to hold a trouble is opened, and followed in the next pass as a loop of
//! its own. So a trouble in one of a million steps is found in a few passes over some dozens of operations.

use std::cell::RefCell;
use std::rc::Rc;

use pullback_base::{Array, Aval, Result};
use pullback_core::control::{Scan, While};
use pullback_ir::{Eqn, Params, PrimRef, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::numbers::array_of;
use crate::report::Trouble;
use crate::tape::{Context, Doing, Followed, Id, Stop, Tape, inside};

/// A trouble is followed into loops of loops so often.
const MOST_PASSES: usize = 24;

/// A loop of one run of the program: the loops around it with their iterations, its equation by address, and how often that
/// ran there before, as a function may be called twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Loop {
    around: Vec<(usize, usize)>,
    eqn: usize,
    before: usize,
}

/// Some iterations of a loop, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stretch {
    pub(crate) of: Loop,
    pub(crate) first: usize,
    pub(crate) length: usize,
}

impl Stretch {
    /// Whether it lies inside of another.
    pub(crate) fn is_inside(&self, outer: &Stretch) -> bool {
        self.of == outer.of && outer.first <= self.first && self.first + self.length <= outer.first + outer.length
    }
}

/// What closed stretches gave on the way forward and on the way back. The next pass, which opens one of them, asks the same
/// of the others.
#[derive(Default)]
pub(crate) struct Given {
    forward: RefCell<FxHashMap<Stretch, Vec<Val>>>,
    back: RefCell<FxHashMap<Stretch, (Vec<Option<Val>>, Vec<Val>)>>,
    /// Arrays that were cut into pieces of so many rows, by their address. Who holds an array keeps its address.
    pieces: RefCell<FxHashMap<(usize, usize), (Array, Vec<Array>)>>,
}

impl Given {
    /// What a stretch gives for cotangents of its results: `pull` is asked unless it was for the same before.
    pub(crate) fn back(
        &self,
        stretch: &Stretch,
        cotangents: &[Option<Val>],
        pull: impl FnOnce() -> Result<Vec<Val>>,
    ) -> Result<Vec<Val>> {
        if let Some((before, found)) = self.back.borrow().get(stretch)
            && are_alike(before, cotangents)?
        {
            return Ok(found.clone());
        }
        let found = pull()?;
        self.back.borrow_mut().insert(stretch.clone(), (cotangents.to_vec(), found.clone()));
        Ok(found)
    }

    fn pieces(&self, array: &Array, rows: usize) -> Result<Vec<Array>> {
        let key = (array.buffer()?.bytes().as_ptr() as usize, rows);
        if let Some((known, pieces)) = self.pieces.borrow().get(&key)
            && known.aval() == array.aval()
        {
            return Ok(pieces.clone());
        }
        let pieces = pieces_of(array, rows)?;
        self.pieces.borrow_mut().insert(key, (array.clone(), pieces.clone()));
        Ok(pieces)
    }
}

/// Whether values are equal bit by bit: a NaN is like itself.
fn are_alike(these: &[Option<Val>], others: &[Option<Val>]) -> Result<bool> {
    for pair in these.iter().zip(others) {
        let is_alike = match pair {
            (Some(this), Some(other)) => {
                this.aval() == other.aval() && array_of(this)?.buffer()?.bytes() == array_of(other)?.buffer()?.bytes()
            }
            (this, other) => this.is_none() && other.is_none(),
        };
        if !is_alike {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The stretches that are walked into, and the leaves for whose troubles.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) stretches: Rc<FxHashSet<Stretch>>,
    pub(crate) given: Rc<Given>,
    last: FxHashMap<(String, Loop), Stretch>,
    passes: usize,
}

impl Opened {
    /// Opens the stretches that troubles are in; false when there is nothing to open. Of each loop and leaf one stretch is
    /// followed to its end: the first that is found.
    pub(crate) fn open(&mut self, troubles: &[Trouble]) -> bool {
        self.passes += 1;
        if self.passes > MOST_PASSES {
            return false;
        }
        let mut is_new = false;
        for (leaf, stretch) in troubles.iter().filter_map(|trouble| Some((&trouble.leaf, trouble.stretch.as_ref()?))) {
            let key = (leaf.clone(), stretch.of.clone());
            let is_told = troubles.iter().any(|trouble| trouble.leaf == *leaf && trouble.stretch.is_none());
            if self.last.get(&key).is_none_or(|last| stretch.is_inside(last) || !is_told) {
                self.last.insert(key, stretch.clone());
                is_new |= Rc::make_mut(&mut self.stretches).insert(stretch.clone());
            }
        }
        is_new
    }

    /// What is told: not the stretches of a loop that stayed closed because another was followed to its end.
    pub(crate) fn answer(troubles: Vec<Trouble>, mut notes: Vec<String>) -> (Vec<Trouble>, Vec<String>) {
        let (mut told, closed): (Vec<Trouble>, _) = troubles.into_iter().partition(|trouble| trouble.stretch.is_none());
        for trouble in closed {
            if told.iter().any(|other| other.leaf == trouble.leaf) {
                let line = trouble.line.map_or_else(String::new, |line| format!(" at line {line}"));
                notes.push(format!("more iterations of the loop{line} are in trouble; one is told"));
            } else {
                told.push(trouble);
            }
        }
        notes.dedup();
        (told, notes)
    }
}

/// How loops are followed.
pub(crate) enum Walking {
    /// Each step of each loop.
    Whole,
    /// In stretches: loops of more than `short` steps in so many of them at most, and only the opened ones are walked into.
    Stretches { short: usize, opened: Rc<FxHashSet<Stretch>>, given: Rc<Given> },
}

impl Walking {
    fn is_unrolled(&self, length: usize) -> bool {
        match self {
            Walking::Whole => true,
            Walking::Stretches { short, .. } => length <= *short,
        }
    }

    fn is_open(&self, stretch: &Stretch) -> bool {
        match self {
            Walking::Whole => true,
            Walking::Stretches { opened, .. } => opened.contains(stretch),
        }
    }

    /// What is known of closed stretches.
    pub(crate) fn given(&self) -> Option<Rc<Given>> {
        match self {
            Walking::Whole => None,
            Walking::Stretches { given, .. } => Some(given.clone()),
        }
    }

    fn rows_of_a_stretch(&self, length: usize) -> usize {
        match self {
            Walking::Whole => length,
            Walking::Stretches { short, .. } => length.div_ceil(*short),
        }
    }
}

/// A scan that is being followed.
struct Scanned<'a> {
    of: Loop,
    scan: &'a Scan,
    eqn: &'a Eqn,
    consts: &'a [Id],
    context: &'a Context,
}

impl Tape {
    /// The loop that begins.
    fn begin_loop(&mut self, eqn: &Eqn) -> Loop {
        let mut of = Loop { around: self.around_loops.clone(), eqn: std::ptr::from_ref(eqn) as usize, before: 0 };
        let runs = self.runs.entry(of.clone()).or_insert(0);
        of.before = *runs;
        *runs += 1;
        of
    }

    pub(crate) fn scan(&mut self, scan: &Scan, eqn: &Eqn, ins: &[Id], context: &Context) -> Followed<Vec<Id>> {
        if scan.length == 0 {
            return self.operation(eqn.prim, &eqn.params, ins.to_vec(), context);
        }
        let (consts, rest) = ins.split_at(scan.ft_in.n_consts);
        let (carry, xs) = rest.split_at(scan.ft_in.n_carry);
        let of = self.begin_loop(eqn);
        self.iterations(&Scanned { of, scan, eqn, consts, context }, 0..scan.length, carry.to_vec(), xs)
    }

    /// Some iterations of a scan: from the carry before them and their rows to the carry after them and what they give.
    fn iterations(
        &mut self,
        scanned: &Scanned<'_>,
        range: std::ops::Range<usize>,
        carry: Vec<Id>,
        xs: &[Id],
    ) -> Followed<Vec<Id>> {
        if self.walking.is_unrolled(range.len()) {
            return self.steps(scanned, range, carry, xs);
        }
        let rows = self.walking.rows_of_a_stretch(range.len());
        let mut stretches: Vec<_> = range.clone().step_by(rows).map(|at| at..range.end.min(at + rows)).collect();
        let given = self.walking.given();
        let cut = |array: &Array| match &given {
            Some(given) => given.pieces(array, rows),
            None => pieces_of(array, rows),
        };
        let pieces = self.each(Doing::Cut, xs, scanned.context, cut)?;
        let mut given = vec![vec![]; stretches.len()];
        let mut carry = carry;
        for at in in_order(stretches.len(), scanned.scan.reverse) {
            let xs: Vec<Id> = pieces.iter().map(|pieces| pieces[at]).collect();
            carry = self.stretch(scanned, std::mem::take(&mut stretches[at]), carry, &xs)?;
            given[at] = carry.split_off(scanned.scan.ft_out.n_carry);
        }
        self.put_together(&Doing::Join, carry, &given, scanned.context)
    }

    fn stretch(
        &mut self,
        scanned: &Scanned<'_>,
        range: std::ops::Range<usize>,
        carry: Vec<Id>,
        xs: &[Id],
    ) -> Followed<Vec<Id>> {
        let stretch = Stretch { of: scanned.of.clone(), first: range.start, length: range.len() };
        if self.walking.is_open(&stretch) {
            return self.iterations(scanned, range, carry, xs);
        }
        let params = Params::new(Scan { length: range.len(), ..scanned.scan.clone() });
        let ins = [scanned.consts, &carry, xs].concat();
        self.closed(stretch, scanned.eqn.prim, &params, ins, scanned.context)
    }

    /// A stretch that is one operation.
    fn closed(
        &mut self,
        stretch: Stretch,
        prim: PrimRef,
        params: &Params,
        ins: Vec<Id>,
        context: &Context,
    ) -> Followed<Vec<Id>> {
        let given = self.walking.given();
        let known = given.as_ref().and_then(|given| given.forward.borrow().get(&stretch).cloned());
        self.closed.insert(self.nodes.len(), stretch.clone());
        let is_known = known.is_some();
        let outs = match known {
            Some(outs) => self.push(Doing::Bind(prim, params.clone()), ins, outs, context)?,
            None => self.operation(prim, params, ins, context)?,
        };
        if let (Some(given), false) = (given, is_known) {
            given.forward.borrow_mut().insert(stretch, self.vals(&outs));
        }
        Ok(outs)
    }

    /// The steps of a scan one after the other.
    fn steps(
        &mut self,
        scanned: &Scanned<'_>,
        range: std::ops::Range<usize>,
        mut carry: Vec<Id>,
        xs: &[Id],
    ) -> Followed<Vec<Id>> {
        let &Scanned { scan, eqn, consts, context, .. } = scanned;
        if range.len() > self.most_nodes {
            return Err(Stop::TooLong);
        }
        let slices = self.each(Doing::Slices, xs, context, rows_of)?;
        let mut rows = vec![vec![]; range.len()];
        for at in in_order(range.len(), scan.reverse) {
            let here = inside(context, "iteration", range.start + at, "scan", eqn.span);
            let args: Vec<Id> =
                consts.iter().chain(&carry).copied().chain(slices.iter().map(|slices| slices[at])).collect();
            self.around_loops.push((std::ptr::from_ref(eqn) as usize, range.start + at));
            let outs = self.run(&scan.jaxpr, &args, &here);
            self.around_loops.pop();
            carry = outs?;
            rows[at] = carry.split_off(scan.ft_out.n_carry);
        }
        self.put_together(&Doing::Stack, carry, &rows, context)
    }

    /// Takes arrays apart.
    fn each(
        &mut self,
        doing: Doing,
        xs: &[Id],
        context: &Context,
        apart: impl Fn(&Array) -> Result<Vec<Array>>,
    ) -> Followed<Vec<Vec<Id>>> {
        let mut all = vec![];
        for &x in xs {
            let parts = apart(&array_of(self.val(x))?)?.into_iter().map(Val::Array).collect();
            all.push(self.push(doing.clone(), vec![x], parts, context)?);
        }
        Ok(all)
    }

    /// The last carry, and behind it the columns of what was given, each as one array.
    fn put_together(
        &mut self,
        doing: &Doing,
        mut carry: Vec<Id>,
        rows: &[Vec<Id>],
        context: &Context,
    ) -> Followed<Vec<Id>> {
        for y in 0..rows[0].len() {
            let column: Vec<Id> = rows.iter().map(|row| row[y]).collect();
            let vals = self.vals(&column);
            let whole = if matches!(doing, Doing::Stack) { stack(&vals)? } else { join(&vals)? };
            carry.extend(self.push(doing.clone(), column, vec![whole], context)?);
        }
        Ok(carry)
    }

    pub(crate) fn repeat(&mut self, repeat: &While, eqn: &Eqn, ins: Vec<Id>, context: &Context) -> Followed<Vec<Id>> {
        let stretch = Stretch { of: self.begin_loop(eqn), first: 0, length: usize::MAX };
        if !self.walking.is_open(&stretch) {
            return self.closed(stretch, eqn.prim, &eqn.params, ins, context);
        }
        let (cond, rest) = ins.split_at(repeat.cond_nconsts);
        let (body, carry) = rest.split_at(repeat.body_nconsts);
        let mut carry = carry.to_vec();
        for i in 0..self.most_nodes {
            let here = inside(context, "iteration", i, "while", eqn.span);
            self.around_loops.push((std::ptr::from_ref(eqn) as usize, i));
            let next = self.once(repeat, cond, body, &carry, &here);
            self.around_loops.pop();
            match next? {
                Some(next) => carry = next,
                None => return Ok(carry),
            }
        }
        Err(Stop::TooLong)
    }

    /// One step of a while loop; nothing when it has ended.
    fn once(
        &mut self,
        repeat: &While,
        cond: &[Id],
        body: &[Id],
        carry: &[Id],
        here: &Context,
    ) -> Followed<Option<Vec<Id>>> {
        let going = self.run(&repeat.cond_jaxpr, &[cond, carry].concat(), here)?[0];
        if !array_of(self.val(going))?.element(0)?.is_nonzero() {
            return Ok(None);
        }
        self.run(&repeat.body_jaxpr, &[body, carry].concat(), here).map(Some)
    }
}

fn in_order(n: usize, reverse: bool) -> impl Iterator<Item = usize> {
    (0..n).map(move |step| if reverse { n - 1 - step } else { step })
}

/// The entries of an array along its first axis.
pub(crate) fn rows_of(array: &Array) -> Result<Vec<Array>> {
    let row = array.aval().shape[1..].to_vec();
    parts_of(array, (0..array.aval().shape[0]).map(|_| row.clone()))
}

/// An array in pieces of so many rows, the last perhaps of fewer.
pub(crate) fn pieces_of(array: &Array, rows: usize) -> Result<Vec<Array>> {
    let shape = &array.aval().shape;
    let sizes = (0..shape[0]).step_by(rows).map(|at| rows.min(shape[0] - at));
    parts_of(array, sizes.map(|size| std::iter::once(size).chain(shape[1..].iter().copied()).collect()))
}

/// Arrays of these shapes, whose elements lie one after the other in the array.
fn parts_of(array: &Array, shapes: impl Iterator<Item = Vec<usize>>) -> Result<Vec<Array>> {
    let buffer = array.buffer()?;
    let mut rest = buffer.bytes();
    let take = |shape: Vec<usize>| {
        let aval = array.aval().with_shape(&shape);
        let (part, after) = rest.split_at(aval.size_bytes());
        rest = after;
        Array::from_bytes(aval, part)
    };
    shapes.map(take).collect()
}

/// Arrays of one type along a new first axis.
pub(crate) fn stack(rows: &[Val]) -> Result<Val> {
    let first = rows[0].aval();
    let shape: Vec<usize> = std::iter::once(rows.len()).chain(first.shape.iter().copied()).collect();
    one_after_the_other(rows, &shape)
}

/// Arrays one behind the other along their first axis.
pub(crate) fn join(pieces: &[Val]) -> Result<Val> {
    let mut shape = pieces[0].aval().shape.to_vec();
    shape[0] = pieces.iter().map(|piece| piece.aval().shape[0]).sum();
    one_after_the_other(pieces, &shape)
}

fn one_after_the_other(parts: &[Val], shape: &[usize]) -> Result<Val> {
    let mut bytes = vec![];
    for part in parts {
        bytes.extend(array_of(part)?.to_bytes()?);
    }
    Array::from_bytes(Aval::new(shape, parts[0].aval().dtype), &bytes).map(Val::Array)
}
