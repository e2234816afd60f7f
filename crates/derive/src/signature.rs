//! Signatures as Python shows them, read from text: `numpy.sum(a, axis=None, *, keepdims=False)`. A parameter may name the
//! reader of its argument: `shape: Sizes`.

/// A signature.
pub(crate) struct Signature {
    /// The name with its module.
    pub(crate) name: String,
    /// The parameters in parentheses, without readers.
    pub(crate) text: String,
    /// The parameters.
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) default: Option<Constant>,
    pub(crate) reader: Option<String>,
}

/// How a parameter may be given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    PositionalOnly,
    Either,
    KeywordOnly,
    Rest,
    Keywords,
}

/// A default.
pub(crate) enum Constant {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Empty,
    Ints(Vec<i64>),
}

impl Signature {
    /// Reads a signature.
    pub(crate) fn parse(text: &str) -> Result<Signature, String> {
        let (name, rest) = text.split_once('(').ok_or("a signature is NAME(PARAMETERS)")?;
        let inside = rest.trim_end().strip_suffix(')').ok_or("a signature ends with a parenthesis")?;
        let (mut parameters, mut shown, mut kind) = (vec![], vec![], Kind::Either);
        for part in parts(inside) {
            match part.as_str() {
                "/" => parameters.iter_mut().for_each(|one: &mut Parameter| one.kind = Kind::PositionalOnly),
                "*" => kind = Kind::KeywordOnly,
                other => {
                    let parameter = Parameter::parse(other, kind)?;
                    if parameter.kind == Kind::Rest {
                        kind = Kind::KeywordOnly;
                    }
                    shown.push(parameter.shown(other));
                    parameters.push(parameter);
                    continue;
                }
            }
            shown.push(part);
        }
        Ok(Signature { name: name.to_string(), text: format!("({})", shown.join(", ")), parameters })
    }
}

/// The parts between commas, but for those inside of brackets and quotes.
fn parts(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quoted, mut part) = (vec![], 0, false, String::new());
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            '(' | '[' if !quoted => depth += 1,
            ')' | ']' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(std::mem::take(&mut part));
                continue;
            }
            _ => {}
        }
        part.push(c);
    }
    parts.push(part);
    parts.iter().map(|part| part.trim().to_string()).filter(|part| !part.is_empty()).collect()
}

impl Parameter {
    fn parse(text: &str, kind: Kind) -> Result<Parameter, String> {
        let (left, default) = match text.split_once('=') {
            Some((left, default)) => (left.trim(), Some(Constant::parse(default.trim())?)),
            None => (text, None),
        };
        let (name, reader) = match left.split_once(':') {
            Some((name, reader)) => (name.trim(), Some(reader.trim().to_string())),
            None => (left, None),
        };
        let (name, kind) = match (name.strip_prefix("**"), name.strip_prefix('*')) {
            (Some(name), _) => (name, Kind::Keywords),
            (None, Some(name)) => (name, Kind::Rest),
            (None, None) => (name, kind),
        };
        Ok(Parameter { name: name.to_string(), kind, default, reader })
    }

    /// As the reader of a signature sees it.
    fn shown(&self, text: &str) -> String {
        let stars = match self.kind {
            Kind::Rest => "*",
            Kind::Keywords => "**",
            _ => "",
        };
        let default = text.split_once('=').map_or(String::new(), |(_, default)| format!("={}", default.trim()));
        format!("{stars}{}{default}", self.name)
    }
}

impl Constant {
    fn parse(text: &str) -> Result<Constant, String> {
        match text {
            "None" => return Ok(Constant::None),
            "True" => return Ok(Constant::Bool(true)),
            "False" => return Ok(Constant::Bool(false)),
            "()" => return Ok(Constant::Empty),
            _ => {}
        }
        if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Ok(Constant::Text(quoted.to_string()));
        }
        if let Some(inside) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            let numbers = inside.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::parse);
            return numbers.collect::<Result<_, _>>().map(Constant::Ints).map_err(|error| format!("`{text}`: {error}"));
        }
        if let Ok(number) = text.parse() {
            return Ok(Constant::Int(number));
        }
        text.parse().map(Constant::Float).map_err(|_| format!("`{text}` is no default that a signature may have"))
    }
}
