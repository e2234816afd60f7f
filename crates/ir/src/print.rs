//! The text of jaxprs, in two dialects: JAX's form for people, and the full form that parses back.
//!
//! JAX's form leaves out weak types and some params, names variables a, b, …, z, ba, … over the whole text, and lets
//! inner jaxprs of some primitives share names with the operands outside. The full form marks weak types with `~` and
//! prints every param.

use std::collections::HashMap;
use std::fmt;

use pullback_base::pretty::Doc;
use pullback_base::scalar::{Number, complex_text, float_text};
use pullback_base::{Aval, DType, Scalar, Span};

use crate::jaxpr::{Atom, Eqn, Jaxpr, JaxprRef, VarId};
use crate::params::ParamValue;

/// Columns of a line.
const WIDTH: usize = 80;
/// Inner jaxprs with more equations print apart, under a name.
const LONG: usize = 10;

/// Which text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    /// As JAX prints.
    Jax,
    /// Everything, to be parsed again.
    Full,
}

/// The text of a jaxpr.
pub fn jaxpr_text(jaxpr: &Jaxpr, dialect: Dialect) -> String {
    let mut printer = Printer { dialect, next: 0, shared: vec![], notes: None };
    printer.shared = hoisted_jaxprs(jaxpr);
    let hoisted: Vec<(String, JaxprRef)> = printer.shared.clone();
    let mut text = String::new();
    for (name, inner) in &hoisted {
        let doc = printer.jaxpr(inner, Names::default(), false);
        text += &Doc::Concat(vec![Doc::text(format!("let {name} = ")), doc, Doc::text(" in\n")]).render(WIDTH);
    }
    text + &printer.jaxpr(jaxpr, Names::default(), true).render(WIDTH)
}

/// The text in JAX's form, each equation on a line of its own with what `note` says of it.
pub fn annotated_text(jaxpr: &Jaxpr, note: &dyn Fn(Span) -> String) -> String {
    let mut printer = Printer { dialect: Dialect::Jax, next: 0, shared: vec![], notes: Some((note, vec![])) };
    let text = printer.jaxpr(jaxpr, Names::default(), true).render(WIDTH);
    let (_, notes) = printer.notes.take().expect("set above");
    let lines: Vec<(&str, &str)> = text.lines().map(|line| line.split_once(MARK).unwrap_or((line, ""))).collect();
    let width = lines.iter().filter(|(_, mark)| !mark.is_empty()).map(|(line, _)| line.chars().count()).max();
    let line = |(line, marks): &(&str, &str)| {
        let texts = marks.split(MARK).filter_map(|mark| notes.get(mark.parse::<usize>().ok()?));
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        let pad = width.unwrap_or(0);
        if texts.is_empty() { line.to_string() } else { format!("{line:pad$} # {}", texts.join(", ")) }
    };
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The jaxprs that are printed by name: long ones, and those that occur more than once. Outer ones come first.
fn hoisted_jaxprs(jaxpr: &Jaxpr) -> Vec<(String, JaxprRef)> {
    let mut found: Vec<(String, JaxprRef, usize)> = vec![];
    let mut level = inner_jaxprs(jaxpr);
    while !level.is_empty() {
        let mut next = vec![];
        for (name, inner) in level {
            if let Some((_, _, count)) = found.iter_mut().find(|(_, known, _)| *known == inner) {
                *count += 1;
            } else {
                next.extend(inner_jaxprs(&inner));
                found.push((name, inner, 1));
            }
        }
        level = next;
    }
    let mut hoisted: Vec<(String, JaxprRef)> = vec![];
    let mut n_same: HashMap<String, usize> = HashMap::new();
    for (base, inner, _) in found.into_iter().filter(|(_, inner, count)| *count > 1 || inner.eqns.len() > LONG) {
        let n_before = n_same.entry(base.clone()).or_default();
        hoisted.push((if *n_before == 0 { base } else { format!("{base}{n_before}") }, inner));
        *n_before += 1;
    }
    hoisted
}

fn inner_jaxprs(jaxpr: &Jaxpr) -> Vec<(String, JaxprRef)> {
    let inner = |eqn: &Eqn| {
        let name = if eqn.prim.is("jit") { function_name(eqn) } else { None };
        let name = name.unwrap_or_else(|| "jaxpr".into());
        eqn.params.jaxprs().into_iter().map(move |inner| (name.clone(), inner))
    };
    jaxpr.eqns.iter().flat_map(inner).collect()
}

type Names = HashMap<VarId, String>;

/// Stands before the number of a note, at the end of an equation.
const MARK: char = '\u{1}';

/// What is to be said of equations, and what was.
type Notes<'a> = (&'a dyn Fn(Span) -> String, Vec<String>);

struct Printer<'a> {
    dialect: Dialect,
    next: usize,
    shared: Vec<(String, JaxprRef)>,
    notes: Option<Notes<'a>>,
}

impl Printer<'_> {
    fn fresh(&mut self) -> String {
        let mut number = self.next;
        self.next += 1;
        let mut letters = vec![];
        loop {
            letters.push((b'a' + (number % 26) as u8) as char);
            number /= 26;
            if number == 0 {
                break;
            }
        }
        letters.iter().rev().collect()
    }

    fn ty(&self, aval: Aval) -> String {
        if self.dialect == Dialect::Full && aval.weak_type { format!("~{}", aval.short()) } else { aval.short() }
    }

    fn binder(&mut self, names: &mut Names, jaxpr: &Jaxpr, var: VarId) -> String {
        let name = names.entry(var).or_insert_with(|| self.fresh()).clone();
        format!("{name}:{}", self.ty(jaxpr.vars[var.index()]))
    }

    fn literal(&self, scalar: Scalar) -> String {
        // JAX shows a strong floating literal with all digits of its value, a weak one as the user wrote it.
        if self.dialect == Dialect::Jax && !scalar.weak_type() {
            let text = match scalar.number() {
                Number::Real(value) => float_text(value, DType::F64),
                Number::Complex(re, im) => complex_text(re, im, DType::F64),
                Number::Int(_) => scalar.to_string(),
            };
            return format!("{text}:{}", self.ty(scalar.aval()));
        }
        format!("{scalar}:{}", self.ty(scalar.aval()))
    }

    fn atom(&self, names: &Names, atom: Atom) -> String {
        match atom {
            Atom::Var(var) => names.get(&var).cloned().unwrap_or_else(|| format!("?{}", var.index())),
            Atom::Literal(scalar) => self.literal(scalar),
        }
    }

    fn jaxpr(&mut self, jaxpr: &Jaxpr, mut names: Names, is_outermost: bool) -> Doc {
        // Only the outermost jaxpr drops the names of unused results.
        let used = if is_outermost { used_vars(jaxpr) } else { vec![true; jaxpr.vars.len()] };
        let mut binders = |printer: &mut Printer<'_>, vars: &[VarId]| -> String {
            let texts: Vec<String> = vars.iter().map(|&var| printer.binder(&mut names, jaxpr, var)).collect();
            texts.join(" ")
        };
        let consts = binders(self, &jaxpr.constvars);
        let ins = binders(self, &jaxpr.invars);
        let eqns: Vec<Doc> = jaxpr.eqns.iter().map(|eqn| self.eqn(jaxpr, eqn, &mut names, &used)).collect();
        let outs: Vec<String> = jaxpr.outs.iter().map(|&out| self.atom(&names, out)).collect();
        let comma = if outs.len() == 1 { "," } else { "" };
        let ins = format!(" {ins}");
        // With notes, each equation has its line.
        let group = if self.notes.is_some() { |doc| doc } else { Doc::group };
        group(Doc::Concat(vec![
            Doc::text(format!("{{ lambda {consts};{ins}. let")),
            Doc::nest(4, Doc::Concat(vec![Doc::Break(" "), Doc::join(&Doc::Break("; "), eqns)])),
            Doc::nest(2, Doc::Concat(vec![Doc::Break(" "), Doc::text(format!("in ({}{comma}) }}", outs.join(", ")))])),
        ]))
    }

    fn eqn(&mut self, jaxpr: &Jaxpr, eqn: &Eqn, names: &mut Names, used: &[bool]) -> Doc {
        let inner_names = self.shared_names(eqn, names, used);
        let binders: Vec<String> = eqn.outs().map(|var| self.out_binder(jaxpr, var, names, used)).collect();
        let left = if binders.is_empty() { String::new() } else { format!("{} = ", binders.join(" ")) };
        let params = self.params(eqn, inner_names);
        let operands: Vec<Doc> = eqn.ins.iter().map(|&atom| Doc::text(self.atom(names, atom))).collect();
        let gap = Doc::group(Doc::Break(" "));
        let space = Doc::text(if operands.is_empty() && eqn.params.object().is_none() { "" } else { " " });
        let operands = Doc::nest(2, Doc::join(&gap, operands));
        let note = Doc::text(self.note(eqn));
        Doc::group(Doc::Concat(vec![Doc::text(left + eqn.prim.name()), params, space, operands, note]))
    }

    fn note(&mut self, eqn: &Eqn) -> String {
        let Some((note, notes)) = &mut self.notes else { return String::new() };
        notes.push(note(eqn.span));
        format!("{MARK}{}", notes.len() - 1)
    }

    fn out_binder(&mut self, jaxpr: &Jaxpr, var: VarId, names: &mut Names, used: &[bool]) -> String {
        if self.dialect == Dialect::Full || used[var.index()] {
            return self.binder(names, jaxpr, var);
        }
        format!("_:{}", self.ty(jaxpr.vars[var.index()]))
    }

    /// Names inside the jaxpr of a primitive that shares them: operands and results keep their outer names.
    fn shared_names(&mut self, eqn: &Eqn, names: &mut Names, used: &[bool]) -> Names {
        let mut inner_names = Names::default();
        let [inner] = &eqn.params.jaxprs()[..] else { return inner_names };
        let is_hoisted = self.shared.iter().any(|(_, known)| known == inner);
        if !eqn.prim.shares_names() || self.dialect == Dialect::Full || is_hoisted {
            return inner_names;
        }
        let mut taken: Vec<String> = vec![];
        for (&var, &atom) in inner.invars.iter().zip(&eqn.ins) {
            let Atom::Var(outer) = atom else { continue };
            let name = names[&outer].clone();
            if !taken.contains(&name) {
                taken.push(name.clone());
                inner_names.insert(var, name);
            }
        }
        for (outer, &atom) in eqn.outs().zip(&inner.outs) {
            let Atom::Var(var) = atom else { continue };
            if let std::collections::hash_map::Entry::Vacant(entry) = inner_names.entry(var) {
                let fresh = |printer: &mut Printer<'_>| if used[outer.index()] { printer.fresh() } else { "_".into() };
                let name = names.get(&outer).cloned().unwrap_or_else(|| fresh(self));
                names.insert(outer, name.clone());
                entry.insert(name);
            }
        }
        inner_names
    }

    fn params(&mut self, eqn: &Eqn, inner_names: Names) -> Doc {
        let Some(object) = eqn.params.object() else { return Doc::text("") };
        let mut fields = object.fields();
        if self.dialect == Dialect::Jax {
            let unprinted = eqn.prim.unprinted(&eqn.params);
            fields.retain(|(name, _)| !object.hidden().contains(&&**name) && !unprinted.contains(&&**name));
        }
        fields.sort_by(|(a, _), (b, _)| (a != "name", a).cmp(&(b != "name", b)));
        if fields.is_empty() {
            return Doc::text("");
        }
        let mut parts = vec![];
        for (name, value) in fields {
            let value = self.value(&value, &inner_names);
            parts.push(Doc::Concat(vec![Doc::text(format!("{name}=")), value]));
        }
        Doc::group(Doc::Concat(vec![
            Doc::text("["),
            Doc::nest(2, Doc::Concat(vec![Doc::Break(""), Doc::join(&Doc::Break(" "), parts)])),
            Doc::Break(""),
            Doc::text("]"),
        ]))
    }

    fn value(&mut self, value: &ParamValue, inner_names: &Names) -> Doc {
        if let ParamValue::Jaxpr(jaxpr) = value {
            return match self.shared.iter().find(|(_, known)| known == jaxpr) {
                Some((name, _)) => Doc::text(name.clone()),
                None => self.jaxpr(jaxpr, inner_names.clone(), false),
            };
        }
        match value {
            ParamValue::Tuple(items) if items.iter().any(|item| matches!(item, ParamValue::Jaxpr(_))) => {
                let items = items.iter().map(|item| self.value(item, &Names::default())).collect();
                Doc::group(Doc::Concat(vec![
                    Doc::text("("),
                    Doc::nest(2, Doc::Concat(vec![Doc::Break(" "), Doc::join(&Doc::Break(" "), items)])),
                    Doc::Break(" "),
                    Doc::text(")"),
                ]))
            }
            other => Doc::text(self.plain(other)),
        }
    }

    fn plain(&self, value: &ParamValue) -> String {
        let list = |items: &[ParamValue]| items.iter().map(|item| self.plain(item)).collect::<Vec<_>>().join(", ");
        match value {
            ParamValue::None => "None".into(),
            ParamValue::Bool(value) => if *value { "True" } else { "False" }.into(),
            ParamValue::Int(value) => value.to_string(),
            ParamValue::Scalar(scalar) if self.dialect == Dialect::Full => self.literal(*scalar),
            ParamValue::Scalar(scalar) => scalar.to_string(),
            ParamValue::Name(name) => name.to_string(),
            ParamValue::Text(text) => format!("'{text}'"),
            ParamValue::DType(dtype) => dtype.name().into(),
            ParamValue::Aval(aval) => self.ty(*aval),
            ParamValue::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
            ParamValue::Tuple(items) => format!("({})", list(items)),
            ParamValue::List(items) => format!("[{}]", list(items)),
            ParamValue::Record(name, fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name}={}", self.plain(value))).collect();
                format!("{name}({})", fields.join(", "))
            }
            ParamValue::Opaque(opaque) => opaque.text.to_string(),
            ParamValue::Jaxpr(jaxpr) => jaxpr_text(jaxpr, self.dialect),
        }
    }
}

fn function_name(eqn: &Eqn) -> Option<String> {
    let fields = eqn.params.fields();
    let (_, value) = fields.iter().find(|(name, _)| name == "name")?;
    match value {
        ParamValue::Name(name) => Some(name.to_string()),
        _ => None,
    }
}

fn used_vars(jaxpr: &Jaxpr) -> Vec<bool> {
    let mut used = vec![false; jaxpr.vars.len()];
    let operands = jaxpr.eqns.iter().flat_map(|eqn| &eqn.ins).chain(&jaxpr.outs);
    for atom in operands {
        if let Atom::Var(var) = atom {
            used[var.index()] = true;
        }
    }
    used
}

impl fmt::Display for Jaxpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&jaxpr_text(self, Dialect::Jax))
    }
}

impl fmt::Display for JaxprRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&jaxpr_text(self, Dialect::Jax))
    }
}
