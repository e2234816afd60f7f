//! Parsing, by recursive descent over words and brackets.

use pullback_base::{Array, Aval, DType, Result, Scalar, bail};

use crate::program::*;

/// Reads a printed program.
///
/// # Errors
/// When the text is not one; the message names the line.
pub fn parse(text: &str) -> Result<Program> {
    let tokens = tokens(text);
    let mut parser = Parser { tokens: &tokens, at: 0, program: Program::default() };
    parser.program()?;
    Ok(parser.program)
}

/// A scalar from its text in a program.
pub(super) fn parse_scalar(dtype: DType, text: &str) -> Option<Scalar> {
    if let Some(bits) = text.strip_prefix('#') {
        return u128::from_str_radix(bits, 16).ok().map(|bits| Scalar::from_bits(dtype, bits));
    }
    match (text, dtype) {
        ("True", DType::Bool) => Some(Scalar::bool(true)),
        ("False", DType::Bool) => Some(Scalar::bool(false)),
        _ if dtype.is_integer() => text.parse().ok().map(|value| Scalar::int(dtype, value)),
        _ if dtype.is_float() => text.parse().ok().map(|value| Scalar::float(dtype, value)),
        _ => None,
    }
}

/// A word, a quoted text or a bracket, with its line.
struct Token {
    text: String,
    line: usize,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = vec![];
    for (number, line) in text.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let n = match first {
                '"' => quoted_len(rest),
                '{' | '}' | '(' | ')' | '[' | ']' | ',' | ':' | '*' => 1,
                _ => rest.find(|c: char| c.is_whitespace() || "{}()[],:*".contains(c)).unwrap_or(rest.len()),
            };
            tokens.push(Token { text: rest[..n].into(), line: number + 1 });
            rest = rest[n..].trim_start();
        }
    }
    tokens
}

/// The length of the quoted text at the start, escapes included.
fn quoted_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    program: Program,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |token| &token.text)
    }

    fn next(&mut self) -> Result<String> {
        let Some(token) = self.tokens.get(self.at) else {
            bail!(Value, "the program misses something at the end of the text")
        };
        self.at += 1;
        Ok(token.text.clone())
    }

    fn wrong<T>(&self, what: &str) -> Result<T> {
        let token = &self.tokens[self.at.saturating_sub(1)];
        bail!(Value, "line {} of the program: {:?} is not {what}", token.line, token.text)
    }

    fn expect(&mut self, word: &str) -> Result<()> {
        if self.next()? == word { Ok(()) } else { self.wrong(&format!("{word:?}")) }
    }

    /// Takes the word if it is next.
    fn take(&mut self, word: &str) -> bool {
        let found = self.peek() == word;
        self.at += usize::from(found);
        found
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T> {
        match self.next()?.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.wrong("a number"),
        }
    }

    /// A number after a letter: `v3`.
    fn numbered(&mut self, letter: char) -> Result<u32> {
        let word = self.next()?;
        match word.strip_prefix(letter).and_then(|digits| digits.parse().ok()) {
            Some(number) => Ok(number),
            None => self.wrong(&format!("{letter} with a number")),
        }
    }

    fn value(&mut self) -> Result<ValueId> {
        self.numbered('v').map(ValueId)
    }

    fn buffer(&mut self) -> Result<BufferId> {
        self.numbered('b').map(BufferId)
    }

    fn loop_id(&mut self) -> Result<LoopId> {
        let id = self.numbered('i').map(LoopId)?;
        self.program.n_loops = self.program.n_loops.max(id.0 + 1);
        Ok(id)
    }

    fn dtype(&mut self) -> Result<DType> {
        match DType::parse(&self.next()?) {
            Some(dtype) => Ok(dtype),
            None => self.wrong("an element type"),
        }
    }

    fn extent(&mut self) -> Result<Extent> {
        if self.peek().starts_with('s') {
            self.numbered('s').map(Extent::Size)
        } else {
            self.number().map(Extent::Const)
        }
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect("[")?;
        let mut items = vec![];
        while !self.take("]") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn array<T: std::str::FromStr, const N: usize>(&mut self) -> Result<[T; N]> {
        match self.list(Self::number)?.try_into() {
            Ok(array) => Ok(array),
            Err(_) => self.wrong(&format!("the end of {N} numbers")),
        }
    }

    /// Notes the type of a value.
    fn define(&mut self, value: ValueId, dtype: DType) {
        if self.program.values.len() <= value.index() {
            self.program.values.resize(value.index() + 1, DType::Bool);
        }
        self.program.values[value.index()] = dtype;
    }

    fn program(&mut self) -> Result<()> {
        self.expect("program")?;
        let name = self.next()?;
        self.program.name = unquoted(&name);
        if self.take("sizes") {
            self.program.n_sizes = self.number()?;
        }
        self.expect("{")?;
        while self.peek().starts_with('b') {
            self.decl()?;
        }
        self.program.body = self.insts()?;
        Ok(())
    }

    fn decl(&mut self) -> Result<()> {
        let number = self.buffer()?;
        if number.index() != self.program.buffers.len() {
            return self.wrong("the next buffer");
        }
        self.expect(":")?;
        let dtype = self.dtype()?;
        self.expect("[")?;
        let len = self.extent()?;
        self.expect("]")?;
        let role = match self.next()?.as_str() {
            "input" => Role::Input(self.number()?),
            "output" => Role::Output(self.number()?),
            "temp" => Role::Temp,
            "const" => Role::Const(self.constant_array(dtype)?),
            _ => return self.wrong("a role of a buffer"),
        };
        self.program.buffers.push(BufferDecl { dtype, len, role });
        Ok(())
    }

    fn constant_array(&mut self, dtype: DType) -> Result<Array> {
        let word = self.next()?;
        let byte = |digits: &[u8]| std::str::from_utf8(digits).ok().and_then(|text| u8::from_str_radix(text, 16).ok());
        let bytes =
            word.strip_prefix('#').and_then(|hex| hex.as_bytes().chunks(2).map(byte).collect::<Option<Vec<u8>>>());
        let Some(bytes) = bytes.filter(|bytes| bytes.len() % dtype.size_bytes() == 0) else {
            return self.wrong("the bytes of a constant");
        };
        Array::from_bytes(Aval::new(&[bytes.len() / dtype.size_bytes()], dtype), &bytes)
    }

    /// Instructions up to and with the closing brace.
    fn insts(&mut self) -> Result<Vec<Inst>> {
        let mut insts = vec![];
        while !self.take("}") {
            insts.push(self.inst()?);
        }
        Ok(insts)
    }

    fn block(&mut self) -> Result<Vec<Inst>> {
        self.expect("{")?;
        self.insts()
    }

    fn inst(&mut self) -> Result<Inst> {
        if !self.peek().starts_with('v') {
            return Ok(Inst { dst: ValueId(u32::MAX), op: self.effect()? });
        }
        let dst = self.value()?;
        self.expect(":")?;
        let dtype = self.dtype()?;
        self.expect("=")?;
        self.define(dst, dtype);
        Ok(Inst { dst, op: self.pure(dtype)? })
    }

    fn pure(&mut self, dtype: DType) -> Result<Op> {
        let name = self.next()?;
        Ok(match name.as_str() {
            "const" => match parse_scalar(dtype, &self.next()?) {
                Some(scalar) => Op::Const(scalar),
                None => return self.wrong(&format!("a {dtype}")),
            },
            "index" => Op::Index(self.loop_id()?),
            "size" => Op::Size(self.number()?),
            "fma" => Op::Fma(self.value()?, self.value()?, self.value()?),
            "select" => Op::Select(self.value()?, self.value()?, self.value()?),
            "convert" => Op::Convert(dtype, self.value()?),
            "bitcast" => Op::Bitcast(dtype, self.value()?),
            "round" => Op::Round(self.dtype()?, self.value()?),
            "lookup" => {
                let index = self.value()?;
                Op::Lookup(self.table()?, index)
            }
            "load" => Op::Load(self.buffer()?, self.addr()?),
            name => {
                if let Some(op) = Unary::named(name) {
                    Op::Unary(op, self.value()?)
                } else if let Some(op) = Binary::named(name) {
                    Op::Binary(op, self.value()?, self.value()?)
                } else if let Some(op) = Comparison::named(name) {
                    Op::Compare(op, self.value()?, self.value()?)
                } else {
                    return self.wrong("an operation");
                }
            }
        })
    }

    fn table(&mut self) -> Result<Table> {
        let entries = self.list(|parser| match parse_scalar(DType::F32, &parser.next()?) {
            Some(entry) => Ok(entry.to_bits() as u32),
            None => parser.wrong("an entry of a table"),
        })?;
        match <[u32; TABLE_LEN]>::try_from(entries) {
            Ok(entries) => Ok(Table::new(entries)),
            Err(_) => self.wrong(&format!("the end of {TABLE_LEN} entries")),
        }
    }

    fn addr(&mut self) -> Result<Addr> {
        let mut addr = Addr::default();
        self.expect("[")?;
        loop {
            match self.peek().chars().next() {
                Some('i') => {
                    let id = self.loop_id()?;
                    self.expect("*")?;
                    addr.terms.push((id, self.extent()?));
                }
                Some('v') => addr.offset = Some(self.value()?),
                _ => addr.base = self.number()?,
            }
            if self.take("]") {
                return Ok(addr);
            }
            self.expect("+")?;
        }
    }

    fn effect(&mut self) -> Result<Op> {
        match self.next()?.as_str() {
            "store" => Ok(Op::Store(self.buffer()?, self.addr()?, self.value()?)),
            "swap" => Ok(Op::Swap(self.buffer()?, self.buffer()?)),
            "for" => self.for_loop(),
            "while" => self.while_loop(),
            "switch" => {
                let index = self.value()?;
                let mut branches = vec![];
                while self.peek() == "{" {
                    branches.push(self.block()?);
                }
                Ok(Op::Switch(Box::new(Switch { index, branches })))
            }
            "call" => {
                let kernel = self.kernel()?;
                self.expect("(")?;
                let mut args = vec![];
                while !self.take(")") {
                    args.push((self.buffer()?, self.addr()?));
                }
                Ok(Op::Call(Box::new(Call { kernel, args })))
            }
            _ => self.wrong("an instruction"),
        }
    }

    fn for_loop(&mut self) -> Result<Op> {
        let id = self.loop_id()?;
        self.expect("<")?;
        let n = self.extent()?;
        let Some(kind) = LoopKind::named(&self.next()?) else { return self.wrong("a kind of loop") };
        let carries = self.carries()?;
        let body = self.block()?;
        self.type_carries(&carries);
        Ok(Op::For(Box::new(For { id, n, kind, carries, body })))
    }

    fn while_loop(&mut self) -> Result<Op> {
        let carries = self.carries()?;
        let header = self.block()?;
        self.expect("on")?;
        let condition = self.value()?;
        let body = self.block()?;
        self.type_carries(&carries);
        Ok(Op::While(Box::new(While { carries, header, condition, body })))
    }

    /// Carries have the type of their initial value.
    fn type_carries(&mut self, carries: &[Carry]) {
        for carry in carries {
            let dtype = self.program.values.get(carry.init.index()).copied().unwrap_or(DType::Bool);
            self.define(carry.phi, dtype);
            self.define(carry.out, dtype);
        }
    }

    fn carries(&mut self) -> Result<Vec<Carry>> {
        let mut carries = vec![];
        if !self.take("carry") {
            return Ok(carries);
        }
        self.expect("(")?;
        loop {
            let phi = self.value()?;
            self.expect("from")?;
            let init = self.value()?;
            self.expect("next")?;
            let next = self.value()?;
            self.expect("out")?;
            let out = self.value()?;
            let combine = if self.take("by") {
                let Some(combine) = Combine::named(&self.next()?) else { return self.wrong("a combiner") };
                Some(combine)
            } else {
                None
            };
            carries.push(Carry { phi, init, next, out, combine });
            self.type_carries(&carries);
            if self.take(")") {
                return Ok(carries);
            }
            self.expect(",")?;
        }
    }

    fn kernel(&mut self) -> Result<Kernel> {
        match self.next()?.as_str() {
            "gemm" => {
                let dtype = self.dtype()?;
                self.expect("sizes")?;
                let sizes = self.array()?;
                self.expect("lhs")?;
                let lhs_strides = self.array()?;
                self.expect("rhs")?;
                let rhs_strides = self.array()?;
                self.expect("out")?;
                let out_strides = self.array()?;
                Ok(Kernel::Gemm(Gemm { dtype, sizes, lhs_strides, rhs_strides, out_strides }))
            }
            "sort" => {
                let dtypes = self.list(Self::dtype)?;
                self.expect("sizes")?;
                let sizes = self.array()?;
                self.expect("keys")?;
                Ok(Kernel::Sort(Sort { dtypes, sizes, n_keys: self.number()? }))
            }
            "copy" => Ok(Kernel::Copy(self.number()?)),
            _ => self.wrong("a kernel that text can name"),
        }
    }
}

fn unquoted(word: &str) -> String {
    let inner = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
    inner.replace("\\\"", "\"").replace("\\\\", "\\")
}
