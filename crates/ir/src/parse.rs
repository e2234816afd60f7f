//! The parser of the full dialect: what [`crate::Dialect::Full`] prints comes back as the same jaxpr.
//!
//! It reads JAX's form too, as far as that holds everything. Opaque params (functions of a host language) do not parse.

use std::collections::HashMap;

use pullback_base::{Aval, DType, Error, Result, Scalar};

use crate::builder::Builder;
use crate::jaxpr::{Jaxpr, JaxprRef};
use crate::params::ParamValue;
use crate::prim::PrimRef;
use crate::val::Val;

/// Finds a primitive by its name.
pub type Finder<'a> = &'a dyn Fn(&str) -> Option<PrimRef>;

/// The jaxpr of a text.
///
/// # Errors
/// A `Value` error that names the place of the first character that does not fit.
pub fn parse_jaxpr(text: &str, find: Finder<'_>) -> Result<Jaxpr> {
    let mut parser = Parser { text, at: 0, find, named: HashMap::new() };
    while parser.take("let ") {
        let name = parser.word()?.to_string();
        parser.expect("=")?;
        let jaxpr = JaxprRef::new(parser.jaxpr()?);
        parser.expect("in")?;
        parser.named.insert(name, jaxpr);
    }
    let jaxpr = parser.jaxpr()?;
    parser.space();
    if parser.at < text.len() { Err(parser.error("the end")) } else { Ok(jaxpr) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    find: Finder<'a>,
    named: HashMap<String, JaxprRef>,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn error(&self, wanted: &str) -> Error {
        let seen: String = self.rest().chars().take(24).collect();
        Error::value_error(format!("jaxpr text: expected {wanted} at character {}, found {seen:?}", self.at))
    }

    fn take(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(self.error(&format!("{token:?}"))) }
    }

    fn while_chars(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn word(&mut self) -> Result<&'a str> {
        self.space();
        let word = self.while_chars(|c| c.is_alphanumeric() || "_-.<>".contains(c));
        if word.is_empty() { Err(self.error("a name")) } else { Ok(word) }
    }

    fn aval(&mut self) -> Result<Aval> {
        let weak_type = self.take("~");
        let name = self.while_chars(|c| c.is_alphanumeric() || "_<>".contains(c));
        let Some(dtype) = DType::parse(name) else { return Err(self.error("an element type")) };
        self.expect("[")?;
        let sizes = self.while_chars(|c| c.is_ascii_digit() || c == ',');
        let shape: Result<Vec<usize>, _> = sizes.split(',').filter(|size| !size.is_empty()).map(str::parse).collect();
        self.expect("]")?;
        Ok(Aval::with_weak_type(&shape.map_err(|_| self.error("sizes"))?, dtype, weak_type))
    }

    fn jaxpr(&mut self) -> Result<Jaxpr> {
        self.expect("{")?;
        self.expect("lambda")?;
        let builder = Builder::new();
        let mut env: HashMap<String, Val> = HashMap::new();
        if !self.take(";") {
            return Err(self.error("\";\" (jaxprs with consts do not parse: their values are not in the text)"));
        }
        while !self.take(".") {
            let name = self.word()?.to_string();
            self.expect(":")?;
            let aval = self.aval()?;
            env.insert(name, builder.input(aval));
        }
        self.expect("let")?;
        while !self.take("in (") && !self.take("in(") {
            self.eqn(&builder, &mut env)?;
            self.take(";");
        }
        let mut outs = vec![];
        while !self.take(")") {
            outs.push(self.operand(&env)?);
            self.take(",");
        }
        self.expect("}")?;
        Ok(builder.finish(&outs, None).0)
    }

    fn eqn(&mut self, builder: &Builder, env: &mut HashMap<String, Val>) -> Result<()> {
        let mut outs: Vec<(String, Aval)> = vec![];
        let start = self.at;
        while !self.take("=") {
            let name = self.word()?.to_string();
            if !self.take(":") {
                // No results: what was read is the primitive.
                self.at = start;
                outs.clear();
                break;
            }
            outs.push((name, self.aval()?));
        }
        let name = self.word()?;
        let Some(prim) = (self.find)(name) else { return Err(self.error(&format!("a primitive, not {name:?},"))) };
        let fields = if self.rest().starts_with('[') { self.params()? } else { vec![] };
        let params = prim.params_from_fields(&fields)?;
        let mut ins = vec![];
        while let Some(operand) = self.try_operand(env)? {
            ins.push(operand);
        }
        let avals: Vec<Aval> = outs.iter().map(|(_, aval)| *aval).collect();
        let vals = builder.record(prim, &params, &ins, &avals);
        env.extend(outs.into_iter().map(|(name, _)| name).zip(vals));
        Ok(())
    }

    /// An operand on the same line, or on the next when it is not the start of an equation.
    fn try_operand(&mut self, env: &HashMap<String, Val>) -> Result<Option<Val>> {
        let start = self.at;
        self.space();
        if self.rest().starts_with([';', '}', ')']) || self.rest().starts_with("in (") {
            return Ok(None);
        }
        if self.rest().starts_with('(') {
            return self.operand(env).map(Some);
        }
        let word = self.while_chars(|c| c.is_alphanumeric() || "_-+.<>".contains(c));
        if self.text[start..self.at].contains('\n') && !self.rest().starts_with([' ', '\n', ';']) || word == "in" {
            // A binder on a new line: `name:type … =`. Literals have a digit or sign in front.
            let is_literal = word.starts_with(|c: char| c.is_ascii_digit() || c == '-') || is_number_word(word);
            if !is_literal {
                self.at = start;
                return Ok(None);
            }
        }
        if !self.rest().starts_with(':') && !env.contains_key(word) {
            // A primitive without results.
            self.at = start;
            return Ok(None);
        }
        self.at = start;
        self.operand(env).map(Some)
    }

    fn operand(&mut self, env: &HashMap<String, Val>) -> Result<Val> {
        self.space();
        if self.rest().starts_with('(') {
            return self.literal().map(Val::Literal);
        }
        let start = self.at;
        let word = self.while_chars(|c| c.is_alphanumeric() || "_-+.<>".contains(c));
        if self.rest().starts_with(':') {
            self.at = start;
            return self.literal().map(Val::Literal);
        }
        env.get(word).cloned().ok_or_else(|| self.error(&format!("a known variable, not {word:?},")))
    }

    fn literal(&mut self) -> Result<Scalar> {
        self.space();
        let text = if self.rest().starts_with('(') {
            let end = self.rest().find(')').ok_or_else(|| self.error("\")\""))? + 1;
            self.at += end;
            &self.text[self.at - end..self.at]
        } else {
            self.while_chars(|c| c.is_alphanumeric() || "_-+.".contains(c))
        };
        self.expect(":")?;
        let aval = self.aval()?;
        scalar_of(text, aval).ok_or_else(|| self.error(&format!("a number, not {text:?},")))
    }

    fn params(&mut self) -> Result<Vec<(String, ParamValue)>> {
        self.expect("[")?;
        let mut fields = vec![];
        while !self.take("]") {
            let name = self.word()?.to_string();
            self.expect("=")?;
            fields.push((name, self.value()?));
        }
        Ok(fields)
    }

    fn value(&mut self) -> Result<ParamValue> {
        self.space();
        let rest = self.rest();
        if rest.starts_with('{') {
            return Ok(ParamValue::Jaxpr(JaxprRef::new(self.jaxpr()?)));
        }
        if self.take("'") {
            let text = self.while_chars(|c| c != '\'').into();
            self.expect("'")?;
            return Ok(ParamValue::Text(text));
        }
        if self.take("(") {
            return Ok(ParamValue::Tuple(self.items(")")?));
        }
        if self.take("[") {
            return Ok(ParamValue::List(self.items("]")?));
        }
        let start = self.at;
        let word = self.while_chars(|c| c.is_alphanumeric() || "_-+.<>~".contains(c));
        if self.rest().starts_with(':') {
            self.at = start;
            return self.literal().map(ParamValue::Scalar);
        }
        if self.rest().starts_with('[') {
            self.at = start;
            return self.aval().map(ParamValue::Aval);
        }
        if self.rest().starts_with('(') {
            return self.record(word);
        }
        self.word_value(word)
    }

    fn word_value(&self, word: &str) -> Result<ParamValue> {
        if let Some(jaxpr) = self.named.get(word) {
            return Ok(ParamValue::Jaxpr(jaxpr.clone()));
        }
        Ok(match word {
            "" => return Err(self.error("a value")),
            "None" => ParamValue::None,
            "True" => ParamValue::Bool(true),
            "False" => ParamValue::Bool(false),
            _ => match (word.parse::<i64>(), DType::parse(word)) {
                (Ok(int), _) => ParamValue::Int(int),
                (_, Some(dtype)) => ParamValue::DType(dtype),
                _ => ParamValue::Name(word.into()),
            },
        })
    }

    fn items(&mut self, close: &str) -> Result<Vec<ParamValue>> {
        let mut items = vec![];
        while !self.take(close) {
            items.push(self.value()?);
            self.take(",");
        }
        Ok(items)
    }

    /// A named tuple comes back as the tuple of its values, named by position; typed params know their fields.
    fn record(&mut self, name: &str) -> Result<ParamValue> {
        self.expect("(")?;
        let mut fields = vec![];
        while !self.take(")") {
            let start = self.at;
            let field = match self.word() {
                Ok(word) if self.take("=") => leak(word),
                // A value without a name.
                _ => {
                    self.at = start;
                    ""
                }
            };
            fields.push((field, self.value()?));
            self.take(",");
        }
        Ok(ParamValue::Record(leak(name), fields))
    }
}

/// Names of records are few (classes of params), so keeping them costs nothing.
fn leak(name: &str) -> &'static str {
    use std::sync::Mutex;
    static KNOWN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().expect("the table of names is never poisoned");
    if let Some(found) = known.iter().find(|found| **found == name) {
        return found;
    }
    let name: &'static str = Box::leak(name.to_string().into_boxed_str());
    known.push(name);
    name
}

fn is_number_word(word: &str) -> bool {
    matches!(word, "inf" | "-inf" | "nan" | "True" | "False")
}

fn scalar_of(text: &str, aval: Aval) -> Option<Scalar> {
    use pullback_base::scalar::Number;
    let number = match text {
        "True" => Number::Int(1),
        "False" => Number::Int(0),
        _ if text.starts_with('(') => complex_of(text)?,
        _ if text.ends_with('j') => Number::Complex(0.0, text.trim_end_matches('j').parse().ok()?),
        _ => match text.parse::<i128>() {
            Ok(int) => Number::Int(int),
            Err(_) => Number::Real(text.parse().ok()?),
        },
    };
    Some(Scalar::new(aval.dtype, number).weak(aval.weak_type))
}

fn complex_of(text: &str) -> Option<pullback_base::scalar::Number> {
    let inner = text.strip_prefix('(')?.strip_suffix("j)")?;
    let is_sign = |(i, c): &(usize, char)| *i > 0 && "+-".contains(*c) && !inner[..*i].ends_with('e');
    let (split, _) = inner.char_indices().rfind(is_sign)?;
    let im = inner[split..].trim_start_matches('+');
    Some(pullback_base::scalar::Number::Complex(inner[..split].parse().ok()?, im.parse().ok()?))
}
