//! From a bad gradient back to the operation that made it.

use std::collections::VecDeque;

use pullback_base::Result;
use pullback_ir::Val;
use rustc_hash::FxHashSet;

use crate::back::{Back, Part};
use crate::loops::Stretch;
use crate::numbers::{Sort, array_of, coincide, first_bad, list, position, shape_of, shown_at};
use crate::report::{Kind, Step, Trouble};
use crate::source::{Sources, is_rust};
use crate::tape::{Id, Node, Tape, Value, context_texts, iteration};
use crate::words;

const MOST_ELEMENTS: usize = 16;
/// Operations between a count and what it is divided into.
const COUNTS: &[&str] = &["reduce_sum", "convert_element_type", "broadcast_in_dim", "reshape", "squeeze"];
/// Operations that move elements, though operand and result have one shape.
const MOVING: &[&str] = &["rev", "transpose", "sort", "gather", "cumsum"];

/// What is looked for in cotangents.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    Bad,
    Zero,
}

impl Wanted {
    fn fits(self, value: &Value) -> Result<bool> {
        let seen = value.seen()?;
        Ok(if self == Wanted::Bad { seen.is_bad() } else { seen.is_zero() })
    }
}

/// One operation of a way, and the number of the one before it, which is nearer to the leaf.
struct Stage {
    node: usize,
    before: Option<usize>,
}

/// An operation that made what was looked for: the end of a way, and the part of a cotangent that it gave.
struct Maker<'b> {
    stage: usize,
    part: &'b Value,
}

/// Parts of cotangents from a leaf toward the result, as long as they are of one kind; each maker with the way to it.
struct Walk<'b> {
    back: &'b Back<'b>,
    wanted: Wanted,
    seen: FxHashSet<Id>,
    stages: Vec<Stage>,
    makers: Vec<Maker<'b>>,
}

enum Task<'b> {
    /// To look at what gave the cotangent of a value.
    Up(Id, Option<usize>),
    /// To look at what is above an operation that gave a part.
    Node(usize, &'b Value),
}

impl<'b> Walk<'b> {
    fn from(back: &'b Back<'b>, wanted: Wanted, leaf: Id) -> Result<Walk<'b>> {
        let mut walk = Walk { back, wanted, seen: FxHashSet::default(), stages: vec![], makers: vec![] };
        let mut tasks = vec![Task::Up(leaf, None)];
        while let Some(task) = tasks.pop() {
            let mut next = match task {
                Task::Up(value, stage) => walk.up(value, stage)?,
                Task::Node(stage, part) => walk.node(stage, part)?,
            };
            // The first is to be looked at first, and whatever is above it before the second.
            next.reverse();
            tasks.append(&mut next);
        }
        Ok(walk)
    }

    fn up(&mut self, value: Id, before: Option<usize>) -> Result<Vec<Task<'b>>> {
        if !self.seen.insert(value) {
            return Ok(vec![]);
        }
        let mut tasks = vec![];
        for Part { node, value: part } in &self.back.parts[value] {
            if let (Some(node), true) = (*node, self.wanted.fits(part)?) {
                self.stages.push(Stage { node, before });
                tasks.push(Task::Node(self.stages.len() - 1, part));
            }
        }
        if let (true, Some(stage), Some(part)) = (tasks.is_empty(), before, self.back.cotangent(value)) {
            self.makers.push(Maker { stage, part });
        }
        Ok(tasks)
    }

    fn node(&mut self, stage: usize, part: &'b Value) -> Result<Vec<Task<'b>>> {
        let node = &self.back.tape.nodes[self.stages[stage].node];
        let mut above = vec![];
        for &out in &node.outs {
            if let Some(cotangent) = self.back.cotangent(out)
                && self.wanted.fits(cotangent)?
            {
                above.push((out, cotangent));
            }
        }
        if above.is_empty() || self.is_made_here(node, part, above[0].1)? {
            self.makers.push(Maker { stage, part });
            return Ok(vec![]);
        }
        Ok(above.into_iter().map(|(out, _)| Task::Up(out, Some(stage))).collect())
    }

    /// Elementwise, the element that is bad here may have been fine above.
    fn is_made_here(&self, node: &Node, part: &Value, above: &Value) -> Result<bool> {
        let shape = shape_of(&part.val);
        let is_other = |val: &Val| shape_of(val) != shape;
        let has_other = is_other(&above.val) || node.ins.iter().any(|&id| is_other(self.back.tape.val(id)));
        if has_other || self.wanted == Wanted::Zero || MOVING.contains(&node.primitive()) {
            return Ok(false);
        }
        Ok(!coincide((&part.val, Sort::Bad), (&above.val, Sort::Bad))?)
    }

    /// Operations from the end of a way to the leaf.
    fn way(&self, stage: usize) -> Vec<usize> {
        std::iter::successors(Some(stage), |&at| self.stages[at].before).map(|at| self.stages[at].node).collect()
    }
}

/// Finds troubles of one program.
pub(crate) struct Finder<'a> {
    pub(crate) back: &'a Back<'a>,
    pub(crate) sources: &'a Sources<'a>,
    /// Whether only the place of a trouble and its stretch are asked for, and no words.
    pub(crate) is_brief: bool,
}

impl<'a> Finder<'a> {
    fn tape(&self) -> &'a Tape {
        self.back.tape
    }

    /// What made the NaN or the infinities in the cotangent of a leaf.
    pub(crate) fn bad(&self, leaf: Id, name: &str) -> Result<Vec<Trouble>> {
        let Some(total) = self.back.cotangent(leaf) else { return Ok(vec![]) };
        if !total.is_bad()? {
            return Ok(vec![]);
        }
        let kind = if total.seen()?.nan > 0 { Kind::Nan } else { Kind::Inf };
        let walk = Walk::from(self.back, Wanted::Bad, leaf)?;
        let mut troubles: Vec<Trouble> = vec![];
        for maker in &walk.makers {
            let mut trouble = self.trouble(kind, name, &walk, maker)?;
            // Steps of a loop have one line and one trouble: the first that is found is told.
            let is_known = |known: &Trouble| {
                (&known.primitive, &known.file, known.line) == (&trouble.primitive, &trouble.file, trouble.line)
            };
            if !troubles.iter().any(is_known) {
                trouble.elements = if self.is_brief { vec![] } else { positions(&total.val)? };
                troubles.push(trouble);
            }
        }
        if troubles.is_empty() {
            let cause = "cotangents of several uses add up to no finite number".into();
            let cure = "look at the sizes of the terms".into();
            let span = pullback_base::Span::UNKNOWN;
            let trouble = Trouble::new(kind, name, "add_any", span, cause, cure);
            troubles.push(Trouble { elements: positions(&total.val)?, ..trouble });
        }
        Ok(troubles)
    }

    fn trouble(&self, kind: Kind, name: &str, walk: &Walk<'_>, maker: &Maker<'_>) -> Result<Trouble> {
        let way = walk.way(maker.stage);
        let node = &self.tape().nodes[way[0]];
        let (origin, input) = self.origin(node)?;
        if self.is_brief {
            return Ok(self.place_of(kind, name, origin.unwrap_or(node), node));
        }
        if let (Some(reader), Some(input)) = (origin, input) {
            return self.given(kind, name, node, reader, &way, input);
        }
        let dropper = if self.is_alive(node, maker.part)? { None } else { self.dropper(node)? };
        let made_by = origin.unwrap_or(node);
        let expression = words::expression_of(self.sources, made_by);
        let is_norm = self.is_norm(made_by);
        let is_count = self.is_count(made_by, expression.as_ref());
        let cause = cause(made_by, node, dropper.is_some(), is_norm, is_count);
        let cure = match dropper {
            Some((dropper, case)) => words::double_where(self.sources, made_by, dropper, case),
            None => words::guard(made_by, expression.as_ref(), is_norm, is_count),
        };
        let hidden = dropper.map(|(dropper, _)| {
            let what = words::dropping(dropper.primitive()).unwrap_or("a choice");
            format!("by {what} at {}, which dropped the value", dropper.short_place())
        });
        Ok(Trouble {
            chain: self.chain(&way),
            values: self.values(made_by, &maker.part.val)?,
            dropped_by: hidden,
            context: context_texts(&made_by.context),
            iteration: iteration(&made_by.context),
            position: bad_position(&maker.part.val)?,
            steps: self.steps(node, dropper.map(|(dropper, _)| dropper), &way)?,
            stretch: self.stretch(made_by).or_else(|| self.stretch(node)),
            ..Trouble::new(kind, name, made_by.primitive(), made_by.span, cause, cure)
        })
    }

    /// Where a trouble is, and nothing more.
    fn place_of(&self, kind: Kind, name: &str, made_by: &Node, node: &Node) -> Trouble {
        let stretch = self.stretch(made_by).or_else(|| self.stretch(node));
        Trouble { stretch, ..Trouble::new(kind, name, made_by.primitive(), made_by.span, String::new(), String::new()) }
    }

    /// A number that was not finite from the start, and the operation that reads it first.
    fn given(&self, kind: Kind, name: &str, node: &Node, reader: &Node, way: &[usize], input: Id) -> Result<Trouble> {
        let value = &self.tape().values[input];
        let given =
            self.tape().names.get(input).map_or("a constant or another argument of the program", String::as_str);
        let what = if value.seen()?.nan > 0 { "NaN" } else { "an infinity" };
        let at: Vec<String> = positions(&value.val)?.iter().take(4).map(|at| list(at)).collect();
        let cause = format!("{given} holds {what} at {}, which {} reads", at.join(", "), reader.primitive());
        let dropper = self.dropper(node)?.map(|(dropper, _)| dropper);
        let hidden = dropper.map(|dropper| {
            let what = words::dropping(dropper.primitive()).unwrap_or("a choice");
            format!("in part by {what} at {}", dropper.short_place())
        });
        let cure = match dropper {
            Some(_) => "fill that array where it is dropped later, or take the gradient under pullback.safe_grads()",
            None => "look at where that array comes from",
        };
        Ok(Trouble {
            chain: self.chain(way),
            values: self.values(reader, &value.val)?,
            dropped_by: hidden,
            context: context_texts(&reader.context),
            iteration: iteration(&reader.context),
            position: bad_position(&value.val)?,
            steps: self.steps(node, dropper, way)?,
            stretch: self.stretch(reader).or_else(|| self.stretch(node)),
            ..Trouble::new(kind, name, reader.primitive(), reader.span, cause, self.in_language(reader, cure))
        })
    }

    /// The part of a loop that an operation stands for.
    fn stretch(&self, node: &Node) -> Option<Stretch> {
        let tape = self.tape();
        let index = node.outs.first().and_then(|&out| tape.producer[out])?;
        tape.closed.get(&index).cloned()
    }

    fn in_language(&self, node: &Node, text: &str) -> String {
        let in_rust = node.place().is_some_and(|place| is_rust(&place.file));
        if in_rust { words::in_rust(text) } else { text.into() }
    }

    /// The first operation before this one whose results are not finite though its operands are; or the operation that
    /// reads an input that is not, with the input. Nothing when all operands of this one are finite.
    fn origin(&self, mut node: &'a Node) -> Result<(Option<&'a Node>, Option<Id>)> {
        let mut is_later = false;
        loop {
            let mut bad = vec![];
            for &id in &node.ins {
                if self.tape().values[id].is_bad()? {
                    bad.push(id);
                }
            }
            let Some(&first) = bad.first() else { return Ok((is_later.then_some(node), None)) };
            let Some(before) = bad.iter().find_map(|&id| self.tape().maker(id)) else {
                return Ok((Some(node), Some(first)));
            };
            (node, is_later) = (before, true);
        }
    }

    /// Whether the bad elements reach the result: their cotangents are not zero above.
    fn is_alive(&self, node: &Node, part: &Value) -> Result<bool> {
        let shape = shape_of(&part.val);
        for above in node.outs.iter().filter_map(|&out| self.back.cotangent(out)) {
            if shape_of(&above.val) == shape && coincide((&part.val, Sort::Bad), (&above.val, Sort::NotZero))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first choice between an operation and the result that drops elements, and which operand of it they are.
    fn dropper(&self, node: &Node) -> Result<Option<(&'a Node, usize)>> {
        let mut frontier: VecDeque<Id> = node.outs.iter().copied().collect();
        let mut seen = FxHashSet::default();
        while let Some(value) = frontier.pop_front() {
            for part in &self.back.parts[value] {
                let Some(index) = part.node.filter(|&index| seen.insert(index)) else { continue };
                let other = &self.tape().nodes[index];
                if words::dropping(other.primitive()).is_some() && part.value.seen()?.zero > 0 {
                    let case = other.ins.iter().position(|&id| id == value).unwrap_or(0);
                    return Ok(Some((other, case)));
                }
                frontier.extend(&other.outs);
            }
        }
        Ok(None)
    }

    /// Whether an operation is the root of a sum of squares.
    fn is_norm(&self, node: &Node) -> bool {
        if node.primitive() != "sqrt" {
            return false;
        }
        let mut before = self.tape().maker(node.ins[0]);
        while let Some(node) = before {
            match node.primitive() {
                "reduce_sum" => {
                    let square = self.tape().maker(node.ins[0]);
                    return square.is_some_and(|square| matches!(square.primitive(), "mul" | "square" | "integer_pow"));
                }
                "select_n" => before = node.ins.last().and_then(|&id| self.tape().maker(id)),
                name if COUNTS.contains(&name) || name == "div" => before = self.tape().maker(node.ins[0]),
                _ => return false,
            }
        }
        false
    }

    /// Whether a divisor counts something.
    fn is_count(&self, node: &Node, expression: Option<&words::Expression>) -> bool {
        if node.primitive() != "div" {
            return false;
        }
        let mut before = self.tape().maker(node.ins[1]);
        while let Some(node) = before.filter(|node| COUNTS.contains(&node.primitive())) {
            if node.primitive() == "reduce_sum" {
                return true;
            }
            before = self.tape().maker(node.ins[0]);
        }
        // What does not depend on the leaves was computed before: the user's words say it.
        expression.is_some_and(|expression| expression.operand.contains("sum("))
    }

    /// Operands, result and cotangent of an operation at its first bad element.
    fn values(&self, node: &Node, part: &Val) -> Result<Vec<(String, String)>> {
        let (tape, shape) = (self.tape(), shape_of(part));
        let at = if part.aval().dtype.is_inexact() { first_bad(part, 1)?.first().copied() } else { None };
        let mut shown = vec![];
        for (number, &id) in node.ins.iter().enumerate() {
            let name = if node.ins.len() > 1 { format!("operand {number}") } else { "operand".into() };
            shown.push((name, shown_at(tape.val(id), shape, at)?));
        }
        if let Some(&out) = node.outs.first() {
            shown.push(("result".into(), shown_at(tape.val(out), shape, at)?));
            if let Some(cotangent) = self.back.cotangent(out) {
                shown.push(("cotangent".into(), shown_at(&cotangent.val, shape, at)?));
            }
        }
        Ok(shown)
    }

    fn chain(&self, way: &[usize]) -> Vec<String> {
        let nodes = way.iter().map(|&index| &self.tape().nodes[index]);
        nodes
            .map(|node| node.line().map_or_else(|| node.name(), |line| format!("{} (line {line})", node.name())))
            .collect()
    }

    /// Boxes of the picture, from the result to the leaf.
    fn steps(&self, trouble: &Node, dropper: Option<&Node>, way: &[usize]) -> Result<Vec<Step>> {
        let mut steps = vec![];
        if let Some(dropper) = dropper {
            steps.push(self.step(dropper, false)?);
        }
        for &index in way {
            let node = &self.tape().nodes[index];
            steps.push(self.step(node, std::ptr::eq(node, trouble))?);
        }
        Ok(steps)
    }

    fn step(&self, node: &Node, is_trouble: bool) -> Result<Step> {
        let shape = node.outs.first().map_or_else(|| "[]".into(), |&out| list(shape_of(self.tape().val(out))));
        let leaving = node.ins.iter().find_map(|&id| self.back.cotangent(id));
        let detail = node.line().map_or_else(|| shape.clone(), |line| format!("line {line}, {shape}"));
        let cotangent = leaving.map_or(Ok(String::new()), label)?;
        Ok(Step { name: node.name(), detail, is_trouble, cotangent })
    }

    /// What made the cotangent of a leaf zero though there is a path.
    pub(crate) fn zero(&self, leaf: Id, name: &str) -> Result<Vec<Trouble>> {
        let unplaced = |primitive: &str, cause: &str, cure: &str| {
            let span = pullback_base::Span::UNKNOWN;
            vec![Trouble::new(Kind::NumericZero, name, primitive, span, cause.into(), cure.into())]
        };
        for part in self.back.parts[leaf].iter().filter(|part| part.node.is_some()) {
            if !part.value.seen()?.is_zero() {
                let cure = "look at the uses: their sum does not depend on it";
                return Ok(unplaced("add_any", "the contributions of its uses cancel", cure));
            }
        }
        let walk = Walk::from(self.back, Wanted::Zero, leaf)?;
        if walk.makers.is_empty() {
            let cause = "the branch or the case that was taken does not use it";
            return Ok(unplaced("cond", cause, "another point may take another branch"));
        }
        let mut troubles: Vec<Trouble> = vec![];
        for maker in &walk.makers {
            let way = walk.way(maker.stage);
            let node = &self.tape().nodes[way[0]];
            if troubles.iter().any(|known| known.primitive == node.primitive() && known.line == node.line()) {
                continue;
            }
            troubles.push(self.zero_trouble(name, node, &way, maker.part)?);
        }
        Ok(troubles)
    }

    fn zero_trouble(&self, name: &str, node: &Node, way: &[usize], part: &Value) -> Result<Trouble> {
        if self.is_brief {
            return Ok(self.place_of(Kind::NumericZero, name, node, node));
        }
        let (mut cause, mut cure) = words::saturation(node);
        if node.ins.iter().any(|&id| self.tape().val(id).aval().size() == 0) {
            cause = format!("{} saw no element, so nothing flows back", node.primitive());
            cure = "look at the shapes: a part of the program is empty".into();
        }
        Ok(Trouble {
            chain: self.chain(way),
            values: self.values(node, &part.val)?,
            context: context_texts(&node.context),
            iteration: iteration(&node.context),
            steps: self.steps(node, None, way)?,
            stretch: self.stretch(node),
            ..Trouble::new(Kind::NumericZero, name, node.primitive(), node.span, cause, self.in_language(node, &cure))
        })
    }
}

fn cause(maker: &Node, node: &Node, is_dropped: bool, is_norm: bool, is_count: bool) -> String {
    let mut cause = match (is_norm, is_count) {
        (_, true) => "a sum is divided by a count that is 0".into(),
        (true, _) => "the root of a sum of squares that is 0 has no slope: infinity times 0 is not a number".into(),
        _ => words::why(maker),
    };
    if !std::ptr::eq(maker, node) {
        let line = node.line().map_or_else(String::new, |line| format!(" at line {line}"));
        cause = format!("{}; {}{line} then multiplies a cotangent with it", words::why(maker), node.primitive());
    }
    if is_dropped { format!("{cause}; the cotangent there is 0, and 0 times infinity is not a number") } else { cause }
}

/// The index of the first element that is no finite number.
fn bad_position(val: &Val) -> Result<Option<Vec<usize>>> {
    Ok(first_bad(val, 1)?.first().map(|&flat| position(shape_of(val), flat)))
}

fn positions(val: &Val) -> Result<Vec<Vec<usize>>> {
    let shape = shape_of(val);
    Ok(first_bad(val, MOST_ELEMENTS)?.into_iter().map(|flat| position(shape, flat)).collect())
}

/// What a cotangent is like, for the picture.
fn label(cotangent: &Value) -> Result<String> {
    let seen = cotangent.seen()?;
    if array_of(&cotangent.val)?.aval().size() == 0 {
        return Ok("empty".into());
    }
    let kinds = [("NaN", seen.nan), ("inf", seen.infinite), ("0", seen.zero)];
    let kinds: Vec<&str> = kinds.iter().filter(|(_, n)| *n > 0).map(|(kind, _)| *kind).collect();
    let shape = list(shape_of(&cotangent.val));
    Ok(if kinds.is_empty() { format!("{shape} finite") } else { format!("{shape} with {}", kinds.join(", ")) })
}
