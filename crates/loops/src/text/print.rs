//! Printing.

use std::fmt::{self, Display, Formatter, Write};

use pullback_base::{DType, Scalar};

use super::parse::parse_scalar;
use crate::program::*;

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "program {:?}", self.name)?;
        if self.n_sizes > 0 {
            write!(f, " sizes {}", self.n_sizes)?;
        }
        f.write_str(" {\n")?;
        for (number, decl) in self.buffers.iter().enumerate() {
            writeln!(f, "  b{number}: {decl}")?;
        }
        Printer { program: self, f, depth: 1 }.block(&self.body)?;
        f.write_str("}\n")
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl Display for Extent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Const(n) => write!(f, "{n}"),
            Extent::Size(number) => write!(f, "s{number}"),
        }
    }
}

impl Display for BufferDecl {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] ", self.dtype, self.len)?;
        match &self.role {
            Role::Input(number) => write!(f, "input {number}"),
            Role::Output(number) => write!(f, "output {number}"),
            Role::Temp => f.write_str("temp"),
            Role::Const(array) => {
                f.write_str("const #")?;
                let bytes = array.to_bytes().map_err(|_| fmt::Error)?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl Display for Addr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut parts = vec![];
        if self.base != 0 || self.terms.is_empty() && self.offset.is_none() {
            parts.push(self.base.to_string());
        }
        parts.extend(self.terms.iter().map(|(id, stride)| format!("i{}*{stride}", id.0)));
        parts.extend(self.offset.map(|offset| format!("v{}", offset.0)));
        write!(f, "[{}]", parts.join(" + "))
    }
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Kernel::Gemm(gemm) => {
                write!(f, "gemm {} sizes {}", gemm.dtype, list(&gemm.sizes))?;
                let (lhs, rhs, out) = (&gemm.lhs_strides, &gemm.rhs_strides, &gemm.out_strides);
                write!(f, " lhs {} rhs {} out {}", list(lhs), list(rhs), list(out))
            }
            Kernel::Sort(sort) => {
                write!(f, "sort {} sizes {} keys {}", list(&sort.dtypes), list(&sort.sizes), sort.n_keys)
            }
            Kernel::Copy(n) => write!(f, "copy {n}"),
            Kernel::Host(function, n_ins, lens) => {
                write!(f, "host {:?} ins {n_ins} lens {}", function.name(), list(lens))
            }
            Kernel::Body(body, n_ins, lens) => write!(f, "body {:?} ins {n_ins} lens {}", body.to_string(), list(lens)),
        }
    }
}

fn list<T: Display>(items: &[T]) -> String {
    let texts: Vec<String> = items.iter().map(T::to_string).collect();
    format!("[{}]", texts.join(" "))
}

/// The shortest text of a scalar that reads back the same: a number, else its bits.
fn scalar_text(scalar: Scalar) -> String {
    let text = scalar.to_string();
    if parse_scalar(scalar.dtype(), &text) == Some(scalar) {
        return text;
    }
    format!("#{:0width$x}", scalar.to_bits(), width = scalar.dtype().size_bytes() * 2)
}

struct Printer<'a, 'f> {
    program: &'a Program,
    f: &'a mut Formatter<'f>,
    depth: usize,
}

impl Printer<'_, '_> {
    fn block(&mut self, block: &[Inst]) -> fmt::Result {
        block.iter().try_for_each(|inst| self.inst(inst))
    }

    fn indent(&mut self) -> fmt::Result {
        (0..self.depth).try_for_each(|_| self.f.write_str("  "))
    }

    /// A block in braces; the opening one stands already.
    fn inner(&mut self, block: &[Inst]) -> fmt::Result {
        self.f.write_str("{\n")?;
        self.depth += 1;
        self.block(block)?;
        self.depth -= 1;
        self.indent()?;
        self.f.write_str("}")
    }

    fn inst(&mut self, inst: &Inst) -> fmt::Result {
        self.indent()?;
        if inst.op.has_value() {
            let dtype = self.program.values.get(inst.dst.index()).map_or("?", |dtype| DType::name(*dtype));
            write!(self.f, "v{}: {dtype} = ", inst.dst.0)?;
        }
        self.op(&inst.op)?;
        self.f.write_char('\n')
    }

    fn op(&mut self, op: &Op) -> fmt::Result {
        match op {
            Op::Const(scalar) => write!(self.f, "const {}", scalar_text(*scalar)),
            Op::Index(id) => write!(self.f, "index i{}", id.0),
            Op::Size(number) => write!(self.f, "size {number}"),
            Op::Unary(op, x) => write!(self.f, "{} v{}", op.name(), x.0),
            Op::Binary(op, x, y) => write!(self.f, "{} v{} v{}", op.name(), x.0, y.0),
            Op::Fma(x, y, z) => write!(self.f, "fma v{} v{} v{}", x.0, y.0, z.0),
            Op::Compare(op, x, y) => write!(self.f, "{} v{} v{}", op.name(), x.0, y.0),
            Op::Select(c, x, y) => write!(self.f, "select v{} v{} v{}", c.0, x.0, y.0),
            Op::Convert(_, x) => write!(self.f, "convert v{}", x.0),
            Op::Bitcast(_, x) => write!(self.f, "bitcast v{}", x.0),
            Op::Round(dtype, x) => write!(self.f, "round {dtype} v{}", x.0),
            Op::Lookup(table, x) => {
                let entry = |&bits: &u32| scalar_text(Scalar::from_bits(DType::F32, bits.into()));
                let entries: Vec<String> = table.iter().map(entry).collect();
                write!(self.f, "lookup v{} {}", x.0, list(&entries))
            }
            Op::Load(buffer, addr) => write!(self.f, "load b{}{addr}", buffer.0),
            Op::Store(buffer, addr, value) => write!(self.f, "store b{}{addr} v{}", buffer.0, value.0),
            Op::For(inner) => {
                write!(self.f, "for i{} < {} {} ", inner.id.0, inner.n, inner.kind.name())?;
                self.carries(&inner.carries)?;
                self.inner(&inner.body)
            }
            Op::While(inner) => {
                self.f.write_str("while ")?;
                self.carries(&inner.carries)?;
                self.inner(&inner.header)?;
                write!(self.f, " on v{} ", inner.condition.0)?;
                self.inner(&inner.body)
            }
            Op::Switch(inner) => {
                write!(self.f, "switch v{}", inner.index.0)?;
                inner.branches.iter().try_for_each(|branch| {
                    self.f.write_char(' ')?;
                    self.inner(branch)
                })
            }
            Op::Call(call) => {
                let args: Vec<String> = call.args.iter().map(|(buffer, addr)| format!("b{}{addr}", buffer.0)).collect();
                write!(self.f, "call {} ({})", call.kernel, args.join(" "))
            }
            Op::Swap(x, y) => write!(self.f, "swap b{} b{}", x.0, y.0),
        }
    }

    fn carries(&mut self, carries: &[Carry]) -> fmt::Result {
        if carries.is_empty() {
            return Ok(());
        }
        let text = |carry: &Carry| {
            let by = carry.combine.map_or(String::new(), |combine| format!(" by {}", combine.name()));
            format!("v{} from v{} next v{} out v{}{by}", carry.phi.0, carry.init.0, carry.next.0, carry.out.0)
        };
        let texts: Vec<String> = carries.iter().map(text).collect();
        write!(self.f, "carry ({}) ", texts.join(", "))
    }
}
