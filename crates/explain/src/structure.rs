//! Which inputs have a differentiable path to the results, from the program alone.

use pullback_base::Span;
use pullback_core::control::{Cond, Scan, While};
use pullback_ir::{Atom, Eqn, Jaxpr};

use crate::tape::called;

/// Operations that are constant around almost every point, or are told to be.
const FLAT: &[&str] =
    &["floor", "ceil", "round", "sign", "stop_gradient", "nextafter", "is_finite", "population_count", "clz"];

/// How a value depends on the input that is asked about.
#[derive(Clone, Copy, PartialEq, PartialOrd, Eq, Ord, Debug)]
enum Mark {
    /// Not at all.
    None,
    /// In no differentiable way.
    Cut,
    /// Differentiably.
    Path,
}

/// An operation at which a path ends.
pub(crate) struct Cut {
    pub(crate) primitive: String,
    pub(crate) span: Span,
}

/// What depends on one input, and where dependence that is not differentiable ends.
struct Paths {
    cuts: Vec<Cut>,
    around: Span,
}

/// Where the paths of an input end that is not differentiable on the way; and whether one reaches a result.
pub(crate) fn paths_of(jaxpr: &Jaxpr, input: usize) -> (Vec<Cut>, bool) {
    let mut paths = Paths { cuts: vec![], around: Span::UNKNOWN };
    let mut marks = vec![Mark::None; jaxpr.invars.len()];
    marks[input] = Mark::Path;
    let outs = paths.follow(jaxpr, &marks);
    (paths.cuts, outs.contains(&Mark::Path))
}

fn wider(a: &[Mark], b: &[Mark]) -> Vec<Mark> {
    a.iter().zip(b).map(|(&a, &b)| a.max(b)).collect()
}

impl Paths {
    /// How results depend on the input, when the inputs of this jaxpr do as marked.
    fn follow(&mut self, jaxpr: &Jaxpr, marks: &[Mark]) -> Vec<Mark> {
        let mut env = vec![Mark::None; jaxpr.vars.len()];
        for (var, &mark) in jaxpr.invars.iter().zip(marks) {
            env[var.index()] = mark;
        }
        let read = |env: &[Mark], atom: Atom| atom.var().map_or(Mark::None, |var| env[var.index()]);
        for eqn in &jaxpr.eqns {
            let marks: Vec<Mark> = eqn.ins.iter().map(|&atom| read(&env, atom)).collect();
            if marks.iter().all(|&mark| mark == Mark::None) {
                continue;
            }
            let before = self.around;
            self.around = if eqn.span.is_known() { eqn.span } else { before };
            let outs = self.step(jaxpr, eqn, &marks);
            self.around = before;
            for (var, mark) in eqn.outs().zip(outs) {
                env[var.index()] = mark;
            }
        }
        jaxpr.outs.iter().map(|&out| read(&env, out)).collect()
    }

    fn step(&mut self, jaxpr: &Jaxpr, eqn: &Eqn, marks: &[Mark]) -> Vec<Mark> {
        let params = &eqn.params;
        if let Some(inner) = called(params) {
            return self.follow(inner, marks);
        }
        if let Some(cond) = params.get::<Cond>() {
            return self.cond(cond, eqn, marks);
        }
        if let Some(scan) = params.get::<Scan>() {
            return self.scan(scan, marks);
        }
        if let Some(repeat) = params.get::<While>() {
            let (body, carry) = marks[repeat.cond_nconsts..].split_at(repeat.body_nconsts);
            return self
                .until_stable(carry, |paths, carry| paths.follow(&repeat.body_jaxpr, &[body, carry].concat()))
                .0;
        }
        self.plain(jaxpr, eqn, marks)
    }

    fn cond(&mut self, cond: &Cond, eqn: &Eqn, marks: &[Mark]) -> Vec<Mark> {
        let outs: Vec<Vec<Mark>> = cond.branches.iter().map(|branch| self.follow(branch, &marks[1..])).collect();
        if marks[0] == Mark::Path {
            self.cut(eqn);
        }
        let least = if marks[0] == Mark::None { Mark::None } else { Mark::Cut };
        let n = outs.first().map_or(0, Vec::len);
        (0..n).map(|i| outs.iter().map(|out| out[i]).fold(least, Mark::max)).collect()
    }

    fn scan(&mut self, scan: &Scan, marks: &[Mark]) -> Vec<Mark> {
        let (consts, rest) = marks.split_at(scan.ft_in.n_consts);
        let (carry, xs) = rest.split_at(scan.ft_in.n_carry);
        let (carry, outs) =
            self.until_stable(carry, |paths, carry| paths.follow(&scan.jaxpr, &[consts, carry, xs].concat()));
        [&carry, &outs[carry.len()..]].concat()
    }

    /// The marks of a carry after any number of steps, and those of a step's results.
    fn until_stable(
        &mut self,
        carry: &[Mark],
        step: impl Fn(&mut Paths, &[Mark]) -> Vec<Mark>,
    ) -> (Vec<Mark>, Vec<Mark>) {
        let mut carry = carry.to_vec();
        loop {
            let outs = step(self, &carry);
            let next = wider(&carry, &outs);
            if next == carry {
                return (carry, outs);
            }
            carry = next;
        }
    }

    fn plain(&mut self, jaxpr: &Jaxpr, eqn: &Eqn, marks: &[Mark]) -> Vec<Mark> {
        let data = if eqn.prim.is("select_n") { &marks[1..] } else { marks };
        let has_path = data.contains(&Mark::Path);
        if marks.contains(&Mark::Path) && !has_path {
            self.cut(eqn);
        }
        let is_flat = FLAT.contains(&eqn.prim.name());
        let mut outs = vec![];
        for aval in jaxpr.eqn_out_avals(eqn) {
            if has_path && !is_flat && aval.dtype.is_inexact() {
                outs.push(Mark::Path);
            } else {
                if has_path {
                    self.cut(eqn);
                }
                outs.push(Mark::Cut);
            }
        }
        outs
    }

    fn cut(&mut self, eqn: &Eqn) {
        let is_known = |cut: &Cut| cut.primitive == eqn.prim.name() && cut.span.resolve() == self.around.resolve();
        if !self.cuts.iter().any(is_known) {
            self.cuts.push(Cut { primitive: eqn.prim.name().into(), span: self.around });
        }
    }
}
