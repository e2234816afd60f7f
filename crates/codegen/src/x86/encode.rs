//! Bytes of instructions on machine registers.
//!
//! Vector instructions come from the table in [`ops`](super::ops) and take VEX where it can say the operands, else
//! EVEX. Jumps to labels and references to the constant pool are filled in at the end. Which registers to use is not
//! decided here.

use super::ops::{Coding, Form, Tuple, VecOp};
use super::text;
use crate::host::{HostAddress, Relocation};

/// How much of a vector register an instruction uses; scalars count as 128 bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Len {
    L128,
    L256,
    L512,
}

impl Len {
    pub(crate) fn bytes(self) -> usize {
        16 << self as usize
    }
}

/// What an address starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Base {
    /// A general register.
    Reg(u8),
    /// An entry of the constant pool.
    Pool(u32),
}

/// A memory operand: base, index with the logarithm of its scale, displacement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) base: Base,
    pub(crate) index: Option<(u8, u8)>,
    pub(crate) disp: i32,
}

impl Place {
    pub(crate) fn at(base: u8, disp: i32) -> Place {
        Place { base: Base::Reg(base), index: None, disp }
    }
}

/// A register or memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rm {
    Reg(u8),
    Mem(Place),
}

/// The operands of a vector instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vector {
    pub(crate) len: Len,
    /// The register in the operand that is never memory.
    pub(crate) reg: u8,
    /// The register in between; 0 where the form has none.
    pub(crate) middle: u8,
    pub(crate) rm: Rm,
    /// The mask register under which lanes are written; 0 is none.
    pub(crate) mask: u8,
    /// Whether lanes that the mask leaves out become zero.
    pub(crate) zeroing: bool,
    /// Whether one element of memory stands for all lanes.
    pub(crate) broadcast: bool,
    pub(crate) imm: u8,
    /// Whether the index of the address is a vector register.
    pub(crate) vector_index: bool,
}

impl Vector {
    pub(crate) fn new(len: Len, reg: u8, middle: u8, rm: Rm) -> Vector {
        let (mask, zeroing, broadcast, imm, vector_index) = (0, false, false, 0, false);
        Vector { len, reg, middle, rm, mask, zeroing, broadcast, imm, vector_index }
    }
}

/// Conditions of jumps, sets and moves, by their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cond {
    Below = 2,
    AboveEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowEqual = 6,
    Above = 7,
    Parity = 10,
    NoParity = 11,
    Less = 12,
    GreaterEqual = 13,
    LessEqual = 14,
    Greater = 15,
}

impl Cond {
    /// Its name after `j`, `set` or `cmov`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cond::Below => "b",
            Cond::AboveEqual => "ae",
            Cond::Equal => "e",
            Cond::NotEqual => "ne",
            Cond::BelowEqual => "be",
            Cond::Above => "a",
            Cond::Parity => "p",
            Cond::NoParity => "np",
            Cond::Less => "l",
            Cond::GreaterEqual => "ge",
            Cond::LessEqual => "le",
            Cond::Greater => "g",
        }
    }
}

/// Two-operand integer instructions, by the number that their immediate form has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

impl Alu {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Alu::Add => "add",
            Alu::Or => "or",
            Alu::And => "and",
            Alu::Sub => "sub",
            Alu::Xor => "xor",
            Alu::Cmp => "cmp",
        }
    }

    pub(crate) fn commutes(self) -> bool {
        !matches!(self, Alu::Sub | Alu::Cmp)
    }
}

/// A place in the code that jumps name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Label(pub(crate) u32);

/// Where four bytes are filled in once the target's place is known; they count from `end`.
struct Fixup {
    at: usize,
    end: usize,
    target: Target,
}

enum Target {
    Label(Label),
    Pool(u32),
}

/// Code in the making.
#[derive(Default)]
pub(crate) struct Encoder {
    pub(crate) bytes: Vec<u8>,
    fixups: Vec<Fixup>,
    /// Addresses of the host in the code.
    pub(crate) relocations: Vec<Relocation>,
    /// Places of labels, once bound.
    labels: Vec<Option<usize>>,
    /// The text of each instruction with its place, if it is asked for.
    pub(crate) listing: Option<Vec<(usize, String)>>,
}

impl Encoder {
    fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(listing) = &mut self.listing {
            listing.push((self.bytes.len(), text()));
        }
    }

    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    pub(crate) fn bind(&mut self, label: Label) {
        self.note(|| format!("L{}:", label.0));
        self.labels[label.0 as usize] = Some(self.bytes.len());
    }

    fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    fn word(&mut self, word: i32) {
        self.bytes.extend(word.to_le_bytes());
    }

    /// Fills in every reference; `pool` says where each entry of the constant pool stands in the same bytes.
    pub(crate) fn resolve(&mut self, pool: &[usize]) {
        for fixup in std::mem::take(&mut self.fixups) {
            let target = match fixup.target {
                Target::Label(label) => self.labels[label.0 as usize].expect("every label is bound"),
                Target::Pool(entry) => pool[entry as usize],
            };
            let distance = i32::try_from(target as i64 - fixup.end as i64).expect("code is below two gigabytes");
            self.bytes[fixup.at..fixup.at + 4].copy_from_slice(&distance.to_le_bytes());
        }
    }

    /// The bytes that name the operands. `scale` is what a one-byte displacement counts in, `rest` how many bytes of
    /// the instruction follow.
    fn modrm(&mut self, reg: u8, rm: &Rm, scale: i32, rest: usize) {
        let reg = (reg & 7) << 3;
        let place = match rm {
            Rm::Reg(number) => return self.byte(0xc0 | reg | number & 7),
            Rm::Mem(place) => place,
        };
        let base = match place.base {
            Base::Reg(base) => base & 7,
            Base::Pool(entry) => {
                self.byte(reg | 5);
                let at = self.bytes.len();
                self.fixups.push(Fixup { at, end: at + 4 + rest, target: Target::Pool(entry) });
                return self.word(0);
            }
        };
        let disp = place.disp;
        let (mode, short) = if disp == 0 && base != 5 {
            (0, 0)
        } else if disp % scale == 0 && i8::try_from(disp / scale).is_ok() {
            (1, disp / scale)
        } else {
            (2, 0)
        };
        match place.index {
            Some((index, by)) => {
                self.byte(mode << 6 | reg | 4);
                self.byte(by << 6 | (index & 7) << 3 | base);
            }
            None if base == 4 => {
                self.byte(mode << 6 | reg | 4);
                self.byte(0x24);
            }
            None => self.byte(mode << 6 | reg | base),
        }
        match mode {
            1 => self.byte(short as u8),
            2 => self.word(disp),
            _ => {}
        }
    }

    /// A vector instruction.
    pub(crate) fn vector(&mut self, op: &VecOp, v: &Vector) {
        self.note(|| text::vector(op, v));
        // The third operand of the shifts by a number is that number, and the destination stands in the middle.
        let (reg, middle) = match op.form {
            Form::Vmi(number) => (number, v.reg),
            Form::Rm | Form::Mr | Form::Rvm => (v.reg, v.middle),
        };
        let (x, b, high) = rm_bits(&v.rm);
        let is_high = reg > 15 || middle > 15 || high;
        let needs_evex = v.len == Len::L512 || is_high || v.mask != 0 || v.broadcast;
        if op.coding == Coding::Evex || op.coding == Coding::Any && needs_evex {
            self.evex(op, v, reg, middle, x, b);
        } else {
            debug_assert!(!needs_evex || op.coding == Coding::Vex && v.len != Len::L512 && !is_high, "{}", op.name);
            self.vex(op, v, reg, middle, x, b);
        }
    }

    fn vex(&mut self, op: &VecOp, v: &Vector, reg: u8, middle: u8, x: u8, b: u8) {
        let r = reg >> 3 & 1;
        let tail = (!middle & 15) << 3 | (v.len as u8) << 2 | op.prefix;
        let wide = u8::from(op.vex_wide) << 7;
        if op.map == 1 && wide == 0 && x == 0 && b == 0 {
            self.bytes.extend([0xc5, (r ^ 1) << 7 | tail]);
        } else {
            self.bytes.extend([0xc4, (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | op.map, wide | tail]);
        }
        self.byte(op.code);
        // A fourth register stands in the immediate, so that one comes through `imm` as well.
        let has_imm = op.immediate || matches!(op.code, 0x4a | 0x4b) && op.map == 3;
        self.modrm(reg, &v.rm, 1, usize::from(has_imm));
        if has_imm {
            self.byte(v.imm);
        }
    }

    fn evex(&mut self, op: &VecOp, v: &Vector, reg: u8, middle: u8, x: u8, b: u8) {
        let is_vector_rm = matches!(v.rm, Rm::Reg(_));
        let x = match v.rm {
            Rm::Reg(number) if is_vector_rm => number >> 4 & 1,
            _ => x,
        };
        let fifth = match v.rm {
            // The fifth bit of a vector index takes the place of that of the register in the middle.
            Rm::Mem(Place { index: Some((index, _)), .. }) if v.vector_index => index >> 4 & 1,
            _ => middle >> 4 & 1,
        };
        let bit = |number: u8, by: u8| (number >> by & 1) ^ 1;
        self.byte(0x62);
        self.byte(bit(reg, 3) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | bit(reg, 4) << 4 | op.map);
        self.byte(u8::from(op.wide) << 7 | (!middle & 15) << 3 | 4 | op.prefix);
        self.byte(
            u8::from(v.zeroing) << 7 | (v.len as u8) << 5 | u8::from(v.broadcast) << 4 | (fifth ^ 1) << 3 | v.mask,
        );
        self.byte(op.code);
        let whole = v.len.bytes() as i32;
        let scale = match op.tuple {
            Tuple::Full if v.broadcast => op.element().into(),
            Tuple::Half if v.broadcast => 4,
            Tuple::Full | Tuple::Whole => whole,
            Tuple::Half => whole / 2,
            Tuple::Quarter => whole / 4,
            Tuple::Bytes(n) => n.into(),
        };
        self.modrm(reg, &v.rm, scale, usize::from(op.immediate));
        if op.immediate {
            self.byte(v.imm);
        }
    }

    /// An instruction on general registers: opcode with register and register or memory.
    fn general(&mut self, wide: bool, opcode: &[u8], reg: u8, rm: &Rm, rest: usize) {
        self.general_with(wide, false, opcode, reg, rm, rest);
    }

    fn general_with(&mut self, wide: bool, force_rex: bool, opcode: &[u8], reg: u8, rm: &Rm, rest: usize) {
        let (x, b, _) = rm_bits(rm);
        // Prefixes come before REX.
        let (prefix, opcode) = match opcode {
            [prefix @ (0x66 | 0xf2 | 0xf3), rest @ ..] => (Some(*prefix), rest),
            opcode => (None, opcode),
        };
        self.bytes.extend(prefix);
        let rex = u8::from(wide) << 3 | (reg >> 3 & 1) << 2 | x << 1 | b;
        if rex != 0 || force_rex {
            self.byte(0x40 | rex);
        }
        self.bytes.extend(opcode);
        self.modrm(reg, rm, 1, rest);
    }

    pub(crate) fn mov(&mut self, wide: bool, dst: u8, src: &Rm) {
        self.note(|| format!("mov {},{}", text::general(dst, width(wide)), text::operand(src, width(wide))));
        self.general(wide, &[0x8b], dst, src, 0);
    }

    /// Stores the low bytes of a register.
    pub(crate) fn mov_store(&mut self, size_bytes: u8, place: Place, src: u8) {
        self.note(|| format!("mov {},{}", text::operand(&Rm::Mem(place), 8), text::general(src, size_bytes)));
        let rm = Rm::Mem(place);
        match size_bytes {
            1 => self.general_with(false, src > 3, &[0x88], src, &rm, 0),
            2 => self.general(false, &[0x66, 0x89], src, &rm, 0),
            4 => self.general(false, &[0x89], src, &rm, 0),
            _ => self.general(true, &[0x89], src, &rm, 0),
        }
    }

    /// Loads one or two bytes, widened to 32 bits.
    pub(crate) fn mov_narrow(&mut self, size_bytes: u8, is_signed: bool, dst: u8, src: &Rm) {
        self.note(|| {
            let (name, memory) =
                (if is_signed { "movsx" } else { "movzx" }, if size_bytes == 1 { "byte " } else { "word " });
            let memory = if matches!(src, Rm::Mem(_)) { memory } else { "" };
            format!("{name} {},{memory}{}", text::general(dst, 4), text::operand(src, size_bytes))
        });
        let code = match (size_bytes, is_signed) {
            (1, false) => 0xb6,
            (1, true) => 0xbe,
            (_, false) => 0xb7,
            (_, true) => 0xbf,
        };
        let force_rex = size_bytes == 1 && matches!(src, Rm::Reg(4..));
        self.general_with(false, force_rex, &[0x0f, code], dst, src, 0);
    }

    /// Sign extension from 32 to 64 bits.
    pub(crate) fn movsxd(&mut self, dst: u8, src: &Rm) {
        self.note(|| format!("movsxd {},{}", text::general(dst, 8), text::operand(src, 4)));
        self.general(true, &[0x63], dst, src, 0);
    }

    pub(crate) fn mov_imm(&mut self, dst: u8, value: i64) {
        self.note(|| {
            let size_bytes = if u32::try_from(value).is_ok() { 4 } else { 8 };
            format!("mov {},{}", text::general(dst, size_bytes), text::number(value as u64))
        });
        if let Ok(value) = u32::try_from(value) {
            if dst > 7 {
                self.byte(0x41);
            }
            self.byte(0xb8 | dst & 7);
            self.word(value as i32);
        } else if let Ok(value) = i32::try_from(value) {
            self.general(true, &[0xc7], 0, &Rm::Reg(dst), 4);
            self.word(value);
        } else {
            self.bytes.extend([0x48 | dst >> 3, 0xb8 | dst & 7]);
            self.bytes.extend(value.to_le_bytes());
        }
    }

    /// An address of the host, always in eight bytes, so that another process can put its own there.
    pub(crate) fn mov_host(&mut self, dst: u8, target: HostAddress) {
        self.note(|| format!("mov {},{}", text::general(dst, 8), text::number(target.value())));
        self.bytes.extend([0x48 | dst >> 3, 0xb8 | dst & 7]);
        self.relocations.push((self.bytes.len(), target));
        self.bytes.extend(target.value().to_le_bytes());
    }

    pub(crate) fn alu(&mut self, op: Alu, wide: bool, dst: u8, src: &Rm) {
        self.note(|| format!("{} {},{}", op.name(), text::general(dst, width(wide)), text::operand(src, width(wide))));
        self.general(wide, &[(op as u8) << 3 | 3], dst, src, 0);
    }

    pub(crate) fn alu_imm(&mut self, op: Alu, wide: bool, dst: &Rm, value: i32) {
        self.note(|| {
            let value = if wide { i64::from(value) as u64 } else { u64::from(value as u32) };
            format!("{} {},{}", op.name(), text::operand(dst, width(wide)), text::number(value))
        });
        if let Ok(short) = i8::try_from(value) {
            self.general(wide, &[0x83], op as u8, dst, 1);
            self.byte(short as u8);
        } else {
            self.general(wide, &[0x81], op as u8, dst, 4);
            self.word(value);
        }
    }

    /// Compares a byte of memory with zero.
    pub(crate) fn is_byte_zero(&mut self, place: Place) {
        self.note(|| format!("cmp byte {},0", text::operand(&Rm::Mem(place), 8)));
        self.general(false, &[0x80], Alu::Cmp as u8, &Rm::Mem(place), 1);
        self.byte(0);
    }

    pub(crate) fn test(&mut self, wide: bool, x: u8, y: u8) {
        self.note(|| format!("test {},{}", text::general(x, width(wide)), text::general(y, width(wide))));
        self.general(wide, &[0x85], y, &Rm::Reg(x), 0);
    }

    pub(crate) fn imul(&mut self, wide: bool, dst: u8, src: &Rm) {
        self.note(|| format!("imul {},{}", text::general(dst, width(wide)), text::operand(src, width(wide))));
        self.general(wide, &[0x0f, 0xaf], dst, src, 0);
    }

    pub(crate) fn imul_imm(&mut self, wide: bool, dst: u8, src: &Rm, value: i32) {
        self.note(|| {
            let value_bits = if wide { i64::from(value) as u64 } else { u64::from(value as u32) };
            let (dst, src) = (text::general(dst, width(wide)), text::operand(src, width(wide)));
            format!("imul {dst},{src},{}", text::number(value_bits))
        });
        if let Ok(short) = i8::try_from(value) {
            self.general(wide, &[0x6b], dst, src, 1);
            self.byte(short as u8);
        } else {
            self.general(wide, &[0x69], dst, src, 4);
            self.word(value);
        }
    }

    pub(crate) fn lea(&mut self, dst: u8, place: Place) {
        self.note(|| format!("lea {},{}", text::general(dst, 8), text::operand(&Rm::Mem(place), 8)));
        self.general(true, &[0x8d], dst, &Rm::Mem(place), 0);
    }

    pub(crate) fn neg(&mut self, wide: bool, dst: u8) {
        self.note(|| format!("neg {}", text::general(dst, width(wide))));
        self.general(wide, &[0xf7], 3, &Rm::Reg(dst), 0);
    }

    pub(crate) fn not(&mut self, wide: bool, dst: u8) {
        self.note(|| format!("not {}", text::general(dst, width(wide))));
        self.general(wide, &[0xf7], 2, &Rm::Reg(dst), 0);
    }

    /// Divides `rdx:rax`; quotient to `rax`, remainder to `rdx`.
    pub(crate) fn divide(&mut self, wide: bool, is_signed: bool, by: &Rm) {
        self.note(|| format!("{} {}", if is_signed { "idiv" } else { "div" }, text::operand(by, width(wide))));
        self.general(wide, &[0xf7], if is_signed { 7 } else { 6 }, by, 0);
    }

    /// Fills `rdx` with the sign of `rax`.
    pub(crate) fn sign_to_rdx(&mut self, wide: bool) {
        self.note(|| if wide { "cqo" } else { "cdq" }.into());
        if wide {
            self.byte(0x48);
        }
        self.byte(0x99);
    }

    /// Shift by a number: 4 left, 5 right, 7 right with the sign.
    pub(crate) fn shift_imm(&mut self, number: u8, wide: bool, dst: u8, by: u8) {
        self.note(|| {
            let name = shift_name(number);
            format!("{name} {},{}", text::general(dst, width(wide)), text::number(by.into()))
        });
        self.general(wide, &[0xc1], number, &Rm::Reg(dst), 1);
        self.byte(by);
    }

    /// Shift by a register, modulo the width: 4 left, 5 right, 7 right with the sign.
    pub(crate) fn shift_by(&mut self, number: u8, wide: bool, dst: u8, src: u8, by: u8) {
        self.note(|| {
            let [dst, src, by] = [dst, src, by].map(|number| text::general(number, width(wide)));
            format!("{}x {dst},{src},{by}", shift_name(number))
        });
        let prefix = match number {
            4 => 1,
            5 => 3,
            _ => 2,
        };
        let (r, b) = (dst >> 3 & 1, src >> 3 & 1);
        self.bytes.extend([0xc4, (r ^ 1) << 7 | 1 << 6 | (b ^ 1) << 5 | 2]);
        self.bytes.extend([u8::from(wide) << 7 | (!by & 15) << 3 | prefix, 0xf7]);
        self.modrm(dst, &Rm::Reg(src), 1, 0);
    }

    pub(crate) fn popcnt(&mut self, wide: bool, dst: u8, src: &Rm) {
        self.note(|| format!("popcnt {},{}", text::general(dst, width(wide)), text::operand(src, width(wide))));
        self.general(wide, &[0xf3, 0x0f, 0xb8], dst, src, 0);
    }

    pub(crate) fn lzcnt(&mut self, wide: bool, dst: u8, src: &Rm) {
        self.note(|| format!("lzcnt {},{}", text::general(dst, width(wide)), text::operand(src, width(wide))));
        self.general(wide, &[0xf3, 0x0f, 0xbd], dst, src, 0);
    }

    pub(crate) fn setcc(&mut self, cond: Cond, dst: u8) {
        self.note(|| format!("set{} {}", cond.name(), text::general(dst, 1)));
        self.general_with(false, dst > 3, &[0x0f, 0x90 | cond as u8], 0, &Rm::Reg(dst), 0);
    }

    pub(crate) fn cmov(&mut self, cond: Cond, wide: bool, dst: u8, src: &Rm) {
        self.note(|| {
            format!("cmov{} {},{}", cond.name(), text::general(dst, width(wide)), text::operand(src, width(wide)))
        });
        self.general(wide, &[0x0f, 0x40 | cond as u8], dst, src, 0);
    }

    pub(crate) fn push(&mut self, src: &Rm) {
        self.note(|| {
            let memory = if matches!(src, Rm::Mem(_)) { "qword " } else { "" };
            format!("push {memory}{}", text::operand(src, 8))
        });
        match *src {
            Rm::Reg(number) => {
                if number > 7 {
                    self.byte(0x41);
                }
                self.byte(0x50 | number & 7);
            }
            Rm::Mem(_) => self.general(false, &[0xff], 6, src, 0),
        }
    }

    pub(crate) fn pop(&mut self, dst: u8) {
        self.note(|| format!("pop {}", text::general(dst, 8)));
        if dst > 7 {
            self.byte(0x41);
        }
        self.byte(0x58 | dst & 7);
    }

    pub(crate) fn call_reg(&mut self, function: u8) {
        self.note(|| format!("call {}", text::general(function, 8)));
        self.general(false, &[0xff], 2, &Rm::Reg(function), 0);
    }

    fn jump_bytes(&mut self, opcode: &[u8], label: Label) {
        self.bytes.extend(opcode);
        let at = self.bytes.len();
        self.fixups.push(Fixup { at, end: at + 4, target: Target::Label(label) });
        self.word(0);
    }

    pub(crate) fn call(&mut self, label: Label) {
        self.note(|| format!("call L{}", label.0));
        self.jump_bytes(&[0xe8], label);
    }

    pub(crate) fn jump(&mut self, label: Label) {
        self.note(|| format!("jmp L{}", label.0));
        self.jump_bytes(&[0xe9], label);
    }

    pub(crate) fn jump_if(&mut self, cond: Cond, label: Label) {
        self.note(|| format!("j{} L{}", cond.name(), label.0));
        if let Some(target) = self.labels[label.0 as usize]
            && let Ok(distance) = i8::try_from(target as i64 - self.bytes.len() as i64 - 2)
        {
            return self.bytes.extend([0x70 | cond as u8, distance as u8]);
        }
        self.jump_bytes(&[0x0f, 0x80 | cond as u8], label);
    }

    /// The address of a label.
    pub(crate) fn lea_label(&mut self, dst: u8, label: Label) {
        self.note(|| format!("lea {},[L{}]", text::general(dst, 8), label.0));
        let opcode = [0x48 | (dst >> 3 & 1) << 2, 0x8d, (dst & 7) << 3 | 5];
        self.jump_bytes(&opcode, label);
    }

    pub(crate) fn ret(&mut self) {
        self.note(|| "ret".into());
        self.byte(0xc3);
    }

    pub(crate) fn vzeroupper(&mut self) {
        self.note(|| "vzeroupper".into());
        self.bytes.extend([0xc5, 0xf8, 0x77]);
    }

    /// Fills with instructions that do nothing up to a multiple of `n` bytes.
    pub(crate) fn align(&mut self, n: usize) {
        const NOPS: [&[u8]; 9] = [
            &[0x90],
            &[0x66, 0x90],
            &[0x0f, 0x1f, 0x00],
            &[0x0f, 0x1f, 0x40, 0x00],
            &[0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
            &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
            &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
            &[0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
        ];
        let mut missing = self.bytes.len().next_multiple_of(n) - self.bytes.len();
        while missing > 0 {
            let now = missing.min(9);
            self.bytes.extend(NOPS[now - 1]);
            missing -= now;
        }
    }
}

/// Bytes of a general register of 64 bits, or of 32.
fn width(wide: bool) -> u8 {
    if wide { 8 } else { 4 }
}

fn shift_name(number: u8) -> &'static str {
    match number {
        4 => "shl",
        5 => "shr",
        _ => "sar",
    }
}

/// The X and B bits of a register or memory operand, and whether it is a register above 15.
fn rm_bits(rm: &Rm) -> (u8, u8, bool) {
    match *rm {
        Rm::Reg(number) => (0, number >> 3 & 1, number > 15),
        Rm::Mem(place) => {
            let (x, high) = place.index.map_or((0, false), |(index, _)| (index >> 3 & 1, index > 15));
            let b = match place.base {
                Base::Reg(base) => base >> 3 & 1,
                Base::Pool(_) => 0,
            };
            (x, b, high)
        }
    }
}
