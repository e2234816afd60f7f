//! Instructions as text, for people: in the notation of NASM, as disassemblers print it.

use super::encode::{Base, Len, Place, Rm, Vector};
use super::ops::{Form, Tuple, VecOp};

const NAMES: [&str; 8] = ["ax", "cx", "dx", "bx", "sp", "bp", "si", "di"];

/// The name of a general register, so many bytes of it.
pub(super) fn general(number: u8, size_bytes: u8) -> String {
    match (NAMES.get(number as usize), size_bytes) {
        (Some(name), 8) => format!("r{name}"),
        (Some(name), 4) => format!("e{name}"),
        (Some(name), 2) => (*name).into(),
        (Some(name), _) if number < 4 => format!("{}l", &name[..1]),
        (Some(name), _) => format!("{name}l"),
        (None, 8) => format!("r{number}"),
        (None, 4) => format!("r{number}d"),
        (None, 2) => format!("r{number}w"),
        (None, _) => format!("r{number}b"),
    }
}

/// A number: decimal digits alone, or hexadecimal ones with their mark.
pub(super) fn number(value: u64) -> String {
    match format!("{value:X}") {
        _ if value < 10 => format!("{value}"),
        text if text.starts_with(|c: char| c.is_ascii_alphabetic()) => format!("0{text}h"),
        text => format!("{text}h"),
    }
}

pub(super) fn place(place: &Place, index: impl Fn(u8) -> String) -> String {
    let base = match place.base {
        Base::Reg(base) => general(base, 8),
        Base::Pool(entry) => return format!("[constant {entry}]"),
    };
    let index = place.index.map_or(String::new(), |(number, scale)| match scale {
        0 => format!("+{}", index(number)),
        _ => format!("+{}*{}", index(number), 1 << scale),
    });
    let disp = match place.disp {
        0 => String::new(),
        disp if disp < 0 => format!("-{}", number(u64::from(disp.unsigned_abs()))),
        disp => format!("+{}", number(disp as u64)),
    };
    format!("[{base}{index}{disp}]")
}

/// A general register or memory.
pub(super) fn operand(rm: &Rm, size_bytes: u8) -> String {
    match rm {
        Rm::Reg(number) => general(*number, size_bytes),
        Rm::Mem(at) => place(at, |index| general(index, 8)),
    }
}

fn vector_register(number: u8, bytes: usize) -> String {
    let file = match bytes {
        64 => "z",
        32 => "y",
        _ => "x",
    };
    format!("{file}mm{number}")
}

/// What register an operand is.
enum File {
    Vector(usize),
    Mask,
    General(u8),
}

impl File {
    fn name(&self, number: u8) -> String {
        match *self {
            File::Vector(bytes) => vector_register(number, bytes),
            File::Mask => format!("k{number}"),
            File::General(size_bytes) => general(number, size_bytes),
        }
    }
}

/// The files of the operand that is never memory, of the one in the middle, and of the last one.
fn files(op: &VecOp, len: Len) -> [File; 3] {
    let whole = len.bytes();
    let vector = || File::Vector(whole);
    let integer = || File::General(if op.vex_wide { 8 } else { 4 });
    match op.name {
        "kmovw" if op.code == 0x92 => [File::Mask, File::Mask, File::General(4)],
        "kmovw" if op.code == 0x93 => [File::General(4), File::Mask, File::Mask],
        name if name.starts_with('k') => [File::Mask, File::Mask, File::Mask],
        "vpmovm2d" => [vector(), vector(), File::Mask],
        "vmovmskps" => [File::General(4), vector(), vector()],
        "vmovd" | "vmovq" => [vector(), vector(), integer()],
        "vcvtsi2ss" | "vcvtsi2sd" => [vector(), vector(), integer()],
        "vcvttss2si" | "vcvttsd2si" => [integer(), vector(), vector()],
        "vpbroadcastd" => [vector(), vector(), File::General(4)],
        "vpbroadcastq" => [vector(), vector(), File::General(8)],
        "vbroadcastss" | "vbroadcastsd" | "vextractf128" | "vextractf32x4" | "vinsertf128" => {
            [vector(), vector(), File::Vector(16)]
        }
        "vextractf64x4" | "vinsertf64x4" => [vector(), vector(), File::Vector(32)],
        "vcvtpd2ps" | "vcvttpd2dq" | "vcvttpd2udq" | "vcvtqq2ps" | "vcvtuqq2ps" => {
            [File::Vector(whole / 2), vector(), vector()]
        }
        name if name.contains("cmp") && op.coding == super::ops::Coding::Evex => [File::Mask, vector(), vector()],
        _ => match op.tuple {
            Tuple::Half => [vector(), vector(), File::Vector(whole / 2)],
            Tuple::Quarter => [vector(), vector(), File::Vector(whole / 4)],
            Tuple::Full | Tuple::Whole | Tuple::Bytes(_) => [vector(), vector(), vector()],
        },
    }
}

pub(super) fn vector(op: &VecOp, v: &Vector) -> String {
    let [first, middle, last] = files(op, v.len);
    let index = |number| match v.vector_index {
        // Indices have 32 bits.
        true => vector_register(number, v.len.bytes() / if op.wide { 2 } else { 1 }),
        false => general(number, 8),
    };
    let mut rm = match &v.rm {
        Rm::Reg(number) => last.name(*number),
        Rm::Mem(at) => place(at, index),
    };
    if v.broadcast {
        rm.push_str(&format!("{{1to{}}}", v.len.bytes() / op.element() as usize));
    }
    let reg = first.name(v.reg);
    let mut operands = match op.form {
        Form::Mr => vec![rm, reg],
        Form::Rm | Form::Vmi(_) => vec![reg, rm],
        Form::Rvm => vec![reg, middle.name(v.middle), rm],
    };
    if v.mask != 0 {
        let zeroing = if v.zeroing { "{z}" } else { "" };
        operands[0].push_str(&format!("{{k{}}}{zeroing}", v.mask));
    }
    if op.name.starts_with("vblendvp") {
        operands.push(vector_register(v.imm >> 4, v.len.bytes()));
    } else if v.vector_index && v.mask == 0 {
        operands.push(vector_register(v.middle, v.len.bytes()));
    } else if op.immediate {
        operands.push(number(v.imm.into()));
    }
    format!("{} {}", op.name, operands.join(","))
}
