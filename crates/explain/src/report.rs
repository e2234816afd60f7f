//! What was found: as data, and as text.

use std::fmt;

use pullback_base::Span;

use crate::loops::Stretch;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Elements of the gradient are not numbers.
    Nan,
    /// Elements of the gradient are infinite.
    Inf,
    /// The gradient is zero because no differentiable path leads to the result.
    StructuralZero,
    /// The gradient is zero because of the numbers at this point.
    NumericZero,
    /// A reduction saw no element.
    Empty,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Nan => "nan",
            Kind::Inf => "inf",
            Kind::StructuralZero => "zero (structural)",
            Kind::NumericZero => "zero (numeric)",
            Kind::Empty => "empty",
        })
    }
}

/// One differentiated array: how many of its gradient's elements are finite and not zero, zero, NaN and infinite.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// As the user names it.
    pub name: String,
    /// Its dtype and shape.
    pub type_text: String,
    /// Elements that are finite and not zero.
    pub finite: usize,
    /// Elements that are zero.
    pub zero: usize,
    /// Elements that are not numbers.
    pub nan: usize,
    /// Elements that are infinite.
    pub infinite: usize,
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.finite, "finite"), (self.zero, "zero"), (self.nan, "nan"), (self.infinite, "infinite")];
        let shown: Vec<String> = counts.iter().filter(|(n, _)| *n > 0).map(|(n, kind)| format!("{n} {kind}")).collect();
        let counts = if shown.is_empty() { "no elements".into() } else { shown.join(", ") };
        write!(f, "{}: {}: {counts}", self.name, self.type_text)
    }
}

/// One box of the picture, and the cotangent that leaves it.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operation.
    pub name: String,
    /// Its line and shape.
    pub detail: String,
    /// Whether it is the one that made the trouble.
    pub is_trouble: bool,
    /// What its cotangent is like.
    pub cotangent: String,
}

/// One thing that is wrong with a gradient, the operation that made it, and what to do.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// What is wrong.
    pub kind: Kind,
    /// Which array of the arguments.
    pub leaf: String,
    /// Positions of the elements, the first of them.
    pub elements: Vec<Vec<usize>>,
    /// The operation that made it.
    pub primitive: String,
    /// Where the user wrote it.
    pub file: Option<String>,
    /// The line there.
    pub line: Option<u32>,
    /// The function around the line.
    pub function: Option<String>,
    /// Why.
    pub cause: String,
    /// What to do.
    pub cure: String,
    /// The operations from the one that made it back to the leaf.
    pub chain: Vec<String>,
    /// Operands, result and cotangent there.
    pub values: Vec<(String, String)>,
    /// Which choice had dropped the value on the way to the result.
    pub dropped_by: Option<String>,
    /// Loops and branches around it.
    pub context: Vec<String>,
    /// The iteration of the innermost loop around it, from 0.
    pub iteration: Option<usize>,
    /// Where the first such element is in the values of that operation; in a mapped function this names the batch member.
    pub position: Option<Vec<usize>>,
    /// Boxes of the picture.
    pub steps: Vec<Step>,
    /// The part of a loop that it is in, as long as that is one operation.
    pub(crate) stretch: Option<Stretch>,
}

impl Trouble {
    /// A trouble with a cause and a cure at a place; the rest is empty.
    pub(crate) fn new(kind: Kind, leaf: &str, primitive: &str, span: Span, cause: String, cure: String) -> Trouble {
        let place = span.resolve();
        Trouble {
            kind,
            leaf: leaf.into(),
            elements: vec![],
            primitive: primitive.into(),
            file: place.as_ref().map(|place| place.file.clone()),
            line: place.as_ref().map(|place| place.line),
            function: place.map(|place| place.function).filter(|function| !function.is_empty()),
            cause,
            cure,
            chain: vec![],
            values: vec![],
            dropped_by: None,
            context: vec![],
            iteration: None,
            position: None,
            steps: vec![],
            stretch: None,
        }
    }

    /// File, line and function, for a text.
    pub fn place(&self) -> String {
        let (Some(file), Some(line)) = (&self.file, self.line) else { return "no line of yours".into() };
        let function = self.function.as_ref().map_or_else(String::new, |function| format!(", in {function}"));
        format!("{file}:{line}{function}")
    }
}

fn elements_text(elements: &[Vec<usize>]) -> String {
    if elements.iter().all(Vec::is_empty) {
        return String::new();
    }
    let shown: Vec<String> = elements.iter().take(4).map(|at| crate::numbers::list(at)).collect();
    format!(" at {}{}", shown.join(", "), if elements.len() > 4 { " …" } else { "" })
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} in the gradient of {}{}", self.kind, self.leaf, elements_text(&self.elements))?;
        writeln!(f, "  made by  {} at {}", self.primitive, self.place())?;
        self.context.iter().try_for_each(|text| writeln!(f, "  in       {text}"))?;
        self.values.iter().try_for_each(|(name, value)| writeln!(f, "  {name:<8} {value}"))?;
        writeln!(f, "  because  {}", self.cause)?;
        self.dropped_by.iter().try_for_each(|text| writeln!(f, "  hidden   {text}"))?;
        if self.chain.len() > 1 {
            writeln!(f, "  path     {}", path(&self.chain))?;
        }
        write!(f, "  cure     {}", self.cure)
    }
}

/// What was found in one gradient. `Display` is for reading.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the function.
    pub name: String,
    /// The differentiated arrays.
    pub leaves: Vec<Leaf>,
    /// What is wrong.
    pub troubles: Vec<Trouble>,
    /// What could not be followed.
    pub notes: Vec<String>,
}

impl Report {
    /// Troubles that one operation made, together.
    fn by_cause(&self) -> Vec<(&Trouble, Vec<&Trouble>)> {
        let is_one = |a: &Trouble, b: &Trouble| {
            let is_alike = if a.file.is_some() { a.kind == b.kind } else { a.leaf == b.leaf };
            (&a.primitive, &a.file, a.line, &a.cause) == (&b.primitive, &b.file, b.line, &b.cause) && is_alike
        };
        let mut groups: Vec<(&Trouble, Vec<&Trouble>)> = vec![];
        for trouble in &self.troubles {
            match groups.iter_mut().find(|(first, _)| is_one(first, trouble)) {
                Some((_, others)) => others.push(trouble),
                None => groups.push((trouble, vec![])),
            }
        }
        groups
    }

    /// The way back of one trouble as a drawing, from the result to the leaf, the operation that made it in red.
    pub fn to_svg(&self, index: usize) -> String {
        crate::picture::draw(self, index)
    }

    /// The report for a notebook: leaves, and each trouble with its picture.
    pub fn to_html(&self) -> String {
        use crate::picture::escaped;
        let rows: String =
            self.leaves.iter().map(|leaf| format!("<tr><td>{}</td></tr>", escaped(&leaf.to_string()))).collect();
        let mut text = format!("<b>gradient of {}</b><table>{rows}</table>", escaped(&self.name));
        for (index, trouble) in self.troubles.iter().enumerate() {
            text += &format!("<pre>{}</pre>{}", escaped(&trouble.to_string()), self.to_svg(index));
        }
        for note in &self.notes {
            text += &format!("<p>note: {}</p>", escaped(note));
        }
        text
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = match self.troubles.len() {
            0 => "no trouble".into(),
            1 => "1 trouble".into(),
            n => format!("{n} troubles"),
        };
        write!(f, "gradient of {}: {found}", self.name)?;
        self.leaves.iter().try_for_each(|leaf| write!(f, "\n  {leaf}"))?;
        for (number, (trouble, others)) in self.by_cause().into_iter().enumerate() {
            write!(f, "\n\n[{}] {trouble}", number + 1)?;
            if !others.is_empty() {
                let leaves: Vec<&str> = others.iter().map(|other| other.leaf.as_str()).collect();
                write!(f, "\n  also     in the gradients of {}", leaves.join(", "))?;
            }
        }
        if !self.notes.is_empty() {
            f.write_str("\n")?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "\nnote: {note}"))
    }
}

/// A path as text; of a long one its two ends.
fn path(chain: &[String]) -> String {
    const ENDS: (usize, usize) = (8, 2);
    let Some(between) = chain.len().checked_sub(ENDS.0 + ENDS.1).filter(|&between| between > 1) else {
        return chain.join(" → ");
    };
    let (first, last) = (chain[..ENDS.0].join(" → "), chain[chain.len() - ENDS.1..].join(" → "));
    format!("{first} → {between} more → {last}")
}
