//! The user's own expressions: which calls and operators stand on a line of a file, and what their operands are.
//!
//! This is no parser of a language. Brackets, calls, operators and commas are what a cure needs; everything else (keywords,
//! colons, assignments) only ends an expression. The same walk reads Python and Rust, which differ in words and comments.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::FxHashMap;

/// The text of a file; `None` where it has none.
pub type Read<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A call or an operator.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) range: Range<usize>,
    pub(crate) what: What,
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A call: the last name of what is called, what stands before its point, and the arguments without a name.
    Call { name: String, receiver: Option<Range<usize>>, args: Vec<Range<usize>> },
    /// An operator between two operands.
    Binary { operator: String, left: Range<usize>, right: Range<usize> },
}

/// The calls and operators of one file.
pub(crate) struct Program {
    text: String,
    found: Vec<Found>,
}

impl Program {
    pub(crate) fn new(text: String, is_rust: bool) -> Program {
        let tokens = tokens(&text, is_rust);
        let mut walk = Walk { text: &text, tokens, at: 0, is_rust, found: vec![] };
        walk.all();
        let found = walk.found;
        Program { text, found }
    }

    pub(crate) fn text(&self, range: &Range<usize>) -> &str {
        &self.text[range.clone()]
    }

    /// What stands on a line, counted from one, or around it.
    pub(crate) fn on_line(&self, line: u32) -> impl Iterator<Item = &Found> {
        let starts = std::iter::once(0).chain(self.text.match_indices('\n').map(|(at, _)| at + 1));
        let first = starts.clone().nth((line as usize).saturating_sub(1)).unwrap_or(usize::MAX);
        let end = starts.clone().nth(line as usize).unwrap_or(usize::MAX);
        self.found.iter().filter(move |found| found.range.start < end && found.range.end > first)
    }
}

thread_local! {
    /// Files that were read for earlier questions, as long as their text stays.
    static PARSED: RefCell<FxHashMap<String, Rc<Program>>> = RefCell::default();
}
const MOST_PARSED: usize = 16;

fn parsed(file: &str, text: String) -> Rc<Program> {
    PARSED.with_borrow_mut(|known| {
        if let Some(program) = known.get(file).filter(|program| program.text == text) {
            return program.clone();
        }
        if known.len() >= MOST_PARSED {
            known.clear();
        }
        let program = Rc::new(Program::new(text, is_rust(file)));
        known.insert(file.to_string(), program.clone());
        program
    })
}

/// The programs of the files that were asked for.
pub(crate) struct Sources<'a> {
    read: Read<'a>,
    known: RefCell<FxHashMap<String, Option<Rc<Program>>>>,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(read: Read<'a>) -> Sources<'a> {
        Sources { read, known: RefCell::default() }
    }

    pub(crate) fn program(&self, file: &str) -> Option<Rc<Program>> {
        if let Some(known) = self.known.borrow().get(file) {
            return known.clone();
        }
        let program = (self.read)(file).map(|text| parsed(file, text));
        self.known.borrow_mut().insert(file.to_string(), program.clone());
        program
    }
}

/// Whether a file is written in Rust.
pub(crate) fn is_rust(file: &str) -> bool {
    std::path::Path::new(file).extension().is_some_and(|extension| extension == "rs")
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Name,
    Number,
    Text,
    Operator,
    /// The end of a line outside of brackets.
    End,
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    range: Range<usize>,
}

const OPERATORS: &[&str] = &[
    "**=", "//=", ">>=", "<<=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=", "=>", "::", "&&",
    "||", "..", "+=", "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=",
];

fn tokens(text: &str, is_rust: bool) -> Vec<Token> {
    let bytes = text.as_bytes();
    let (mut all, mut at, mut depth) = (vec![], 0, 0usize);
    while at < bytes.len() {
        let start = at;
        let rest = &text[at..];
        let first = rest.chars().next().expect("not at the end");
        let comment = if is_rust { rest.starts_with("//") } else { first == '#' };
        let kind = if comment {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if is_rust && rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            continue;
        } else if first == '\n' {
            at += 1;
            if is_rust || depth > 0 || text[..start].ends_with('\\') {
                continue;
            }
            Kind::End
        } else if first.is_whitespace() || first == '\\' {
            at += first.len_utf8();
            continue;
        } else if let Some(length) = string_length(rest, is_rust) {
            at += length;
            Kind::Text
        } else if first.is_alphabetic() || first == '_' {
            at += rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            Kind::Name
        } else if first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
            at += number_length(rest, is_rust);
            Kind::Number
        } else {
            at += OPERATORS.iter().find(|op| rest.starts_with(**op)).map_or(first.len_utf8(), |op| op.len());
            match first {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            Kind::Operator
        };
        all.push(Token { kind, range: start..at });
    }
    all
}

fn number_length(rest: &str, is_rust: bool) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_sign = matches!(bytes[at], b'+' | b'-')
            && at > 0
            && matches!(bytes[at - 1], b'e' | b'E')
            && !rest.starts_with("0x");
        // In Rust a point before a name calls a method.
        let is_method =
            is_rust && bytes[at] == b'.' && rest[at + 1..].starts_with(|c: char| c.is_alphabetic() || c == '.');
        if is_method || !(bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'.' | b'_') || is_sign) {
            break;
        }
        at += 1;
    }
    at
}

/// The length of the text literal at the beginning; `None` if there is none.
fn string_length(rest: &str, is_rust: bool) -> Option<usize> {
    let prefix = rest.find(|c: char| !matches!(c, 'r' | 'b' | 'f' | 'u' | 'R' | 'B' | 'F' | 'U' | 'c'))?;
    let body = &rest[prefix..];
    let quote = body.chars().next().filter(|c| matches!(c, '"' | '\'') && prefix <= 2)?;
    if is_rust && quote == '\'' {
        return character_length(body).map(|length| prefix + length);
    }
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let (open, close) = if !is_rust && body.starts_with(&triple) { (3, triple.as_str()) } else { (1, &body[..1]) };
    let is_raw = rest[..prefix].contains(['r', 'R']);
    let mut at = open;
    while at < body.len() && !body[at..].starts_with(close) {
        let escaped = if body.as_bytes()[at] == b'\\' && !(is_raw && is_rust) { 1 } else { 0 };
        if open == 1 && !is_rust && body.as_bytes()[at] == b'\n' {
            return Some(prefix + at);
        }
        at += escaped;
        at += body.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
    }
    Some((prefix + at + close.len()).min(rest.len()))
}

/// The length of the character of Rust at the beginning; `None` for a lifetime, which begins alike.
fn character_length(body: &str) -> Option<usize> {
    let mut inside = body.chars().skip(1);
    match (inside.next()?, inside.next()) {
        ('\\', Some(escaped)) => {
            let after = 2 + escaped.len_utf8();
            Some(body[after..].find('\'').map_or(body.len(), |end| after + end + 1))
        }
        (character, Some('\'')) => Some(character.len_utf8() + 2),
        _ => None,
    }
}

/// Words that are no operand.
const WORDS: &[&str] = &[
    "and", "or", "not", "in", "is", "if", "else", "elif", "for", "while", "lambda", "return", "yield", "await",
    "assert", "del", "from", "import", "as", "with", "raise", "def", "class", "global", "nonlocal", "try", "except",
    "finally", "pass", "let", "mut", "match", "loop", "fn", "move", "pub", "use", "struct", "impl", "where", "enum",
    "const", "static", "break", "continue",
];

/// An expression: from its first bracket to its last, and without brackets around it.
struct Expression {
    outer: Range<usize>,
    inner: Range<usize>,
}

/// One entry between commas.
struct Entry {
    range: Range<usize>,
    /// Whether it is given by name.
    is_named: bool,
}

struct Walk<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    is_rust: bool,
    found: Vec<Found>,
}

const UNARY: u8 = 7;

fn precedence(operator: &str, is_rust: bool) -> Option<u8> {
    Some(match operator {
        "|" => 1,
        "^" => 2,
        "&" => 3,
        "<<" | ">>" => 4,
        "+" | "-" => 5,
        "*" | "/" | "%" => 6,
        "//" | "@" if !is_rust => 6,
        "**" if !is_rust => 8,
        _ => return None,
    })
}

impl Walk<'_> {
    fn word(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| &self.text[token.range.clone()])
    }

    fn kind(&self) -> Option<Kind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn take(&mut self) -> Range<usize> {
        self.at += 1;
        self.tokens[self.at - 1].range.clone()
    }

    fn all(&mut self) {
        while self.at < self.tokens.len() {
            if self.expression(0).is_none() {
                self.at += 1;
            }
        }
    }

    /// The entries up to a closing bracket, and where that ends.
    fn entries(&mut self, closer: &str) -> (Vec<Entry>, usize) {
        let mut entries = vec![];
        let (mut first, mut begin, mut single) = (self.at, None, None);
        loop {
            let word = self.word(0);
            let is_closed = matches!(word, ")" | "]" | "}") || self.at >= self.tokens.len();
            if is_closed || word == "," {
                if self.at > first {
                    let whole = self.tokens[first].range.start..self.tokens[self.at - 1].range.end;
                    let range = single.take().flatten().unwrap_or(whole);
                    entries.push(Entry { range, is_named: begin.take().unwrap_or(false) });
                }
                let is_end = is_closed && (word == closer || self.at >= self.tokens.len());
                let end = self.tokens.get(self.at).map_or(self.text.len(), |token| token.range.end);
                if is_closed {
                    self.at += usize::from(is_end && self.at < self.tokens.len());
                    return (entries, end);
                }
                self.at += 1;
                (first, begin, single) = (self.at, None, None);
                continue;
            }
            if begin.is_none() {
                begin = Some(self.kind() == Some(Kind::Name) && self.word(1) == "=");
            }
            let is_first = self.at == first;
            match self.expression(0) {
                // An entry that is one expression counts without the brackets around it.
                Some(expression) if is_first && matches!(self.word(0), "," | ")" | "]" | "}") => {
                    single = Some(Some(expression.inner));
                }
                Some(_) => {}
                None => self.at += usize::from(self.at < self.tokens.len()),
            }
        }
    }

    /// An expression whose operators bind at least as tightly as `least`; `None` where none begins.
    fn expression(&mut self, least: u8) -> Option<Expression> {
        let mut left = self.operand()?;
        loop {
            if self.kind() != Some(Kind::Operator) {
                return Some(left);
            }
            let operator = self.word(0).to_string();
            let Some(level) = precedence(&operator, self.is_rust).filter(|&level| level >= least) else {
                return Some(left);
            };
            let before = self.at;
            self.at += 1;
            // A power binds what is at its right first.
            let Some(right) = self.expression(if level == 8 { UNARY } else { level + 1 }) else {
                self.at = before;
                return Some(left);
            };
            let range = left.outer.start..right.outer.end;
            self.found.push(Found {
                range: range.clone(),
                what: What::Binary { operator, left: left.inner, right: right.inner },
            });
            left = Expression { outer: range.clone(), inner: range };
        }
    }

    fn operand(&mut self) -> Option<Expression> {
        let start = self.tokens.get(self.at)?.range.start;
        let word = self.word(0).to_string();
        let plain = |walk: &mut Self| {
            let range = walk.take();
            Expression { outer: range.clone(), inner: range }
        };
        let (expression, name) = match self.kind()? {
            Kind::End => return None,
            Kind::Name if WORDS.contains(&word.as_str()) => {
                // `where` is a word of Rust and a function of Python.
                if word != "where" || self.is_rust {
                    return None;
                }
                (plain(self), Some(word))
            }
            Kind::Name => {
                let expression = plain(self);
                if self.is_rust && self.word(0) == "!" && matches!(self.word(1), "(" | "[") {
                    self.at += 1;
                }
                (expression, Some(word))
            }
            Kind::Number | Kind::Text => (plain(self), None),
            Kind::Operator => match word.as_str() {
                "(" | "[" | "{" => (self.bracket(&word), None),
                "-" | "+" | "~" | "&" | "*" | "**" | "!" => {
                    self.at += 1;
                    let inner = self.expression(UNARY)?;
                    let range = start..inner.outer.end;
                    return Some(Expression { outer: range.clone(), inner: range });
                }
                _ => return None,
            },
        };
        Some(self.postfix(expression, name))
    }

    fn bracket(&mut self, open: &str) -> Expression {
        let start = self.take().start;
        let closer = match open {
            "(" => ")",
            "[" => "]",
            _ => "}",
        };
        let (entries, end) = self.entries(closer);
        let outer = start..end;
        let is_tuple = self.text[..end].trim_end_matches(')').trim_end().ends_with(',');
        let inner = match &entries[..] {
            [only] if open == "(" && !is_tuple => only.range.clone(),
            _ => outer.clone(),
        };
        Expression { outer, inner }
    }

    fn postfix(&mut self, mut expression: Expression, mut name: Option<String>) -> Expression {
        let mut receiver = None;
        loop {
            let word = self.word(0);
            if self.kind() != Some(Kind::Operator) {
                return expression;
            }
            let start = expression.outer.start;
            let end = match word {
                "." | "::" if self.tokens.get(self.at + 1).is_some_and(|token| token.kind != Kind::Operator) => {
                    receiver = (word == ".").then_some(expression.inner);
                    self.at += 1;
                    let range = self.take();
                    name = Some(self.text[range.clone()].to_string());
                    range.end
                }
                "?" if self.is_rust => self.take().end,
                "(" => {
                    self.at += 1;
                    let (entries, end) = self.entries(")");
                    let args = entries.into_iter().filter(|entry| !entry.is_named).map(|entry| entry.range).collect();
                    let (name, receiver) = (name.take().unwrap_or_default(), receiver.take());
                    self.found.push(Found { range: start..end, what: What::Call { name, receiver, args } });
                    end
                }
                "[" => {
                    self.at += 1;
                    name = None;
                    self.entries("]").1
                }
                _ => return expression,
            };
            expression = Expression { outer: start..end, inner: start..end };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(text: &str, line: u32, is_rust: bool) -> Vec<String> {
        let program = Program::new(text.into(), is_rust);
        let part = |range: &Range<usize>| program.text(range).to_string();
        let describe = |found: &Found| match &found.what {
            What::Call { name, args, .. } => {
                format!("{name}({})", args.iter().map(part).collect::<Vec<_>>().join("; "))
            }
            What::Binary { operator, left, right } => format!("{} {operator} {}", part(left), part(right)),
        };
        program.on_line(line).map(describe).collect()
    }

    #[test]
    fn expressions_of_python() {
        for (text, wanted) in [
            ("y = jnp.log(x)", vec!["log(x)"]),
            ("return (2 * x) ** 0.5", vec!["2 * x", "2 * x ** 0.5"]),
            ("-x**-2 + 1", vec!["x ** -2", "-x**-2 + 1"]),
            ("jnp.where(x > 0, f(x), 0.)", vec!["f(x)", "where(x > 0; f(x); 0.)"]),
            ("jnp.mean(x, axis=1, where=a == b)", vec!["mean(x)"]),
            ("f = lambda x: jnp.sin(x) / x  # x / y", vec!["sin(x)", "jnp.sin(x) / x"]),
            ("f('a / b', \"\"\"log(x)\"\"\")", vec!["f('a / b'; \"\"\"log(x)\"\"\")"]),
            ("g((a, b), *rest)[0].sqrt()", vec!["g((a, b); *rest)", "sqrt()"]),
            ("x if jnp.all(m) else y / z", vec!["all(m)", "y / z"]),
            (")) ] a / b", vec!["a / b"]),
            ("f(a / b", vec!["a / b", "f(a / b)"]),
            ("(x.", vec![]),
            ("x[", vec![]),
        ] {
            assert_eq!(described(text, 1, false), wanted, "{text}");
        }
    }

    #[test]
    fn lines_of_python() {
        let text = "a = f(x,\n      y / z)\nb = 1 / w\n";
        assert_eq!(described(text, 1, false), ["f(x; y / z)"]);
        assert_eq!(described(text, 2, false), ["y / z", "f(x; y / z)"]);
        assert_eq!(described(text, 3, false), ["1 / w"]);
        assert!(described(text, 9, false).is_empty());
    }

    #[test]
    fn expressions_of_rust() {
        for (text, wanted) in [
            ("let f = |x: &Array| x.sqrt().sum();", vec!["sqrt()", "sum()"]),
            (
                "select(&x.greater(&z), &(&x / &y), &z)?",
                vec!["greater(&z)", "&x / &y", "select(&x.greater(&z); &(&x / &y); &z)"],
            ),
            ("numpy::log(&x) // a / b", vec!["log(&x)"]),
            // A lifetime opens no text, and a character ends where it ends.
            ("fn f<'a>(x: &'a str) -> char { g('c', ')') / x }", vec!["g('c'; ')')", "g('c', ')') / x"]),
            (r"g('\'', 'é', '\u{e9}') + h(b'\\')", vec![r"g('\''; 'é'; '\u{e9}')", r"h(b'\\')"]),
            ("'", vec![]),
            ("'\\", vec![]),
        ] {
            let found: Vec<String> =
                described(text, 1, true).into_iter().filter(|text| !text.contains(" | ")).collect();
            // A pattern between bars reads as an operator, which no cure asks for.
            assert!(wanted.iter().all(|part| found.iter().any(|found| found == part)), "{text}: {found:?}");
        }
    }
}
