//! Bytes against a disassembler that knows nothing of ours.

use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};

use super::encode::*;
use super::ops;

/// The text of the one instruction that `make` writes.
fn text(make: impl FnOnce(&mut Encoder)) -> String {
    let mut encoder = Encoder::default();
    make(&mut encoder);
    encoder.resolve(&[0x100]);
    let mut decoder = Decoder::with_ip(64, &encoder.bytes, 0, DecoderOptions::NONE);
    let instruction = decoder.decode();
    assert!(!instruction.is_invalid(), "{:x?}", encoder.bytes);
    assert_eq!(instruction.len(), encoder.bytes.len(), "{:x?}", encoder.bytes);
    let mut text = String::new();
    NasmFormatter::new().format(&instruction, &mut text);
    text
}

/// Both the disassembler and our own listing say the text; where two names mean one thing, ours is the plain one.
fn check(make: impl Fn(&mut Encoder), want: &str) {
    assert_eq!(text(&make), want);
    let mut encoder = Encoder::default();
    encoder.listing = Some(vec![]);
    make(&mut encoder);
    let listing = encoder.listing.expect("it was asked for");
    let ours = listing[0]
        .1
        .replace("[constant 0]", "[rel 100h]")
        .replace("vcmpps k5,zmm9,zmm31,11h", "vcmplt_oqps k5,zmm9,zmm31");
    assert_eq!(ours, want);
}

fn at(base: u8, disp: i32) -> Rm {
    Rm::Mem(Place::at(base, disp))
}

fn indexed(base: u8, index: u8, scale: u8, disp: i32) -> Rm {
    Rm::Mem(Place { base: Base::Reg(base), index: Some((index, scale)), disp })
}

#[test]
fn general_instructions() {
    check(|e| e.mov(true, 9, &at(12, 8)), "mov r9,[r12+8]");
    check(|e| e.mov(false, 3, &indexed(5, 13, 3, 0)), "mov ebx,[rbp+r13*8]");
    check(|e| e.mov_store(1, Place::at(4, 1), 6), "mov [rsp+1],sil");
    check(|e| e.mov_store(2, Place::at(7, 400), 8), "mov [rdi+190h],r8w");
    check(|e| e.mov_narrow(1, true, 10, &at(13, 0)), "movsx r10d,byte [r13]");
    check(|e| e.mov_narrow(1, false, 2, &Rm::Reg(7)), "movzx edx,dil");
    check(|e| e.mov_narrow(2, false, 2, &Rm::Reg(15)), "movzx edx,r15w");
    check(|e| e.movsxd(8, &Rm::Reg(1)), "movsxd r8,ecx");
    check(|e| e.mov_imm(8, 7), "mov r8d,7");
    check(|e| e.mov_imm(1, -7), "mov rcx,0FFFFFFFFFFFFFFF9h");
    check(|e| e.mov_imm(9, 1 << 40), "mov r9,10000000000h");
    check(|e| e.alu(Alu::Sub, true, 3, &Rm::Reg(11)), "sub rbx,r11");
    check(|e| e.alu(Alu::Xor, false, 3, &at(11, -4)), "xor ebx,[r11-4]");
    check(|e| e.alu_imm(Alu::Cmp, true, &Rm::Reg(14), 1000), "cmp r14,3E8h");
    check(|e| e.alu_imm(Alu::And, true, &Rm::Reg(4), -64), "and rsp,0FFFFFFFFFFFFFFC0h");
    check(|e| e.is_byte_zero(Place::at(0, 0)), "cmp byte [rax],0");
    check(|e| e.imul(true, 9, &Rm::Reg(3)), "imul r9,rbx");
    check(|e| e.imul_imm(false, 9, &Rm::Reg(3), 1000), "imul r9d,ebx,3E8h");
    check(|e| e.lea(12, Place { base: Base::Reg(3), index: Some((14, 2)), disp: 5 }), "lea r12,[rbx+r14*4+5]");
    check(|e| e.divide(true, true, &Rm::Reg(9)), "idiv r9");
    check(|e| e.shift_imm(7, false, 9, 3), "sar r9d,3");
    check(|e| e.shift_by(4, true, 9, 3, 14), "shlx r9,rbx,r14");
    check(|e| e.shift_by(7, false, 1, 12, 2), "sarx ecx,r12d,edx");
    check(|e| e.popcnt(true, 9, &Rm::Reg(1)), "popcnt r9,rcx");
    check(|e| e.lzcnt(false, 1, &Rm::Reg(9)), "lzcnt ecx,r9d");
    check(|e| e.setcc(Cond::Less, 6), "setl sil");
    check(|e| e.cmov(Cond::Above, true, 8, &Rm::Reg(1)), "cmova r8,rcx");
    check(|e| e.push(&at(4, 16)), "push qword [rsp+10h]");
    check(|e| e.pop(12), "pop r12");
    check(|e| e.call_reg(0), "call rax");
    check(|e| e.neg(true, 11), "neg r11");
    check(|e| e.not(false, 1), "not ecx");
    check(|e| e.test(false, 0, 0), "test eax,eax");
}

/// Each row of the table, with registers low and high, memory, masks and broadcasts, says its own name.
#[test]
fn every_vector_instruction_has_its_name() {
    for op in ops::all() {
        let lens: &[Len] = match (op.coding, op.tuple) {
            (_, ops::Tuple::Bytes(4 | 8)) => &[Len::L128],
            (Coding::Vex, _) => &[Len::L128, Len::L256],
            // Parts of 256 bits are those of 512.
            (_, ops::Tuple::Bytes(32)) => &[Len::L512],
            _ => &[Len::L128, Len::L256, Len::L512],
        };
        let is_mask = op.name.starts_with('k');
        for &len in lens {
            for reg in [3, 11, 19, 30] {
                let writes_mask = op.coding == Coding::Evex && op.name.contains("cmp");
                // General registers end at 15, masks at 7.
                let only_low = op.coding == Coding::Vex || is_general(op.name);
                if reg > 15 && only_low || is_mask || reg > 7 && writes_mask {
                    continue;
                }
                check_vector(op, len, reg, Rm::Reg(reg - 2));
                if !matches!(op.form, ops::Form::Vmi(_)) {
                    for disp in [0, 16, 64, 640, -128] {
                        check_vector(op, len, reg, at(9, disp));
                        check_vector(op, len, reg, indexed(13, 14, 2, disp));
                    }
                }
            }
        }
    }
}

use ops::Coding;

fn check_vector(op: &ops::VecOp, len: Len, reg: u8, rm: Rm) {
    let is_gather = op.name.contains("gather") || op.name.contains("scatter");
    let only_registers = ["vmovmskps", "vpbroadcastd", "vpbroadcastq", "vpmovm2d"].contains(&op.name);
    // Scalars move through memory only.
    let only_memory = op.name.starts_with("vmovs") && matches!(rm, Rm::Reg(_));
    if is_gather || only_registers || only_memory || len == Len::L128 && needs_more(op.name) {
        return;
    }
    let middle = if op.form == ops::Form::Rvm { reg - 1 } else { 0 };
    let vector = Vector { imm: 1, ..Vector::new(len, reg, middle, rm) };
    let text = text(|encoder| encoder.vector(op, &vector));
    let name = text.split(' ').next().expect("a name");
    let names = [op.name, &op.name.replace("vcmp", "vcmplt"), &op.name.replace("vpcmp", "vpcmplt")];
    assert!(names.contains(&name), "{text} instead of {}", op.name);
    // Comparisons have a name for each predicate; the disassembler says how wide ambiguous memory is.
    let plain = ["dword ", "qword ", "oword ", "yword ", "zword "]
        .iter()
        .fold(text.clone(), |text, size| text.replace(size, ""));
    assert!(op.name.contains("cmp") || super::text::vector(op, &vector) == plain, "{plain} is listed otherwise");
}

/// Instructions with a general register.
fn is_general(name: &str) -> bool {
    name.contains("2si") || name.contains("cvtsi") || name == "vmovd" || name == "vmovq"
}

/// Instructions without a form of 128 bits.
fn needs_more(name: &str) -> bool {
    ["vextract", "vinsert", "vbroadcastsd", "vpermp"].iter().any(|start| name.starts_with(start))
}

#[test]
fn masks_broadcasts_and_the_pool() {
    let vector = |reg, middle, rm| Vector::new(Len::L512, reg, middle, rm);
    let pool = Rm::Mem(Place { base: Base::Pool(0), index: None, disp: 0 });
    check(
        |e| e.vector(&ops::ADD[0], &Vector { broadcast: true, ..vector(3, 20, pool) }),
        "vaddps zmm3,zmm20,[rel 100h]{1to16}",
    );
    check(
        |e| e.vector(&ops::MOVUPS, &Vector { mask: 3, zeroing: true, ..vector(17, 0, indexed(6, 9, 2, 128)) }),
        "vmovups zmm17{k3}{z},[rsi+r9*4+80h]",
    );
    check(|e| e.vector(&ops::MOVUPS_STORE, &Vector { mask: 1, ..vector(17, 0, at(6, 0)) }), "vmovups [rsi]{k1},zmm17");
    check(|e| e.vector(&ops::PMOVDB, &Vector { mask: 1, ..vector(17, 0, at(6, 32)) }), "vpmovdb [rsi+20h]{k1},zmm17");
    check(
        |e| e.vector(&ops::BLENDM[1], &Vector { mask: 7, ..vector(2, 9, Rm::Reg(31)) }),
        "vblendmpd zmm2{k7},zmm9,zmm31",
    );
    check(
        |e| e.vector(&ops::COMPARE_MASK[0], &Vector { imm: 0x11, ..vector(5, 9, Rm::Reg(31)) }),
        "vcmplt_oqps k5,zmm9,zmm31",
    );
    check(
        |e| e.vector(&ops::BLENDV[0], &Vector { imm: 4 << 4, ..Vector::new(Len::L256, 1, 2, Rm::Reg(12)) }),
        "vblendvps ymm1,ymm2,ymm12,ymm4",
    );
    let gather = Vector { vector_index: true, mask: 7, ..vector(20, 0, indexed(9, 29, 2, 0)) };
    let evex = ops::VecOp { coding: Coding::Evex, ..ops::GATHER[0] };
    check(|e| e.vector(&evex, &gather), "vgatherdps zmm20{k7},[r9+zmm29*4]");
    let gather = Vector { vector_index: true, ..Vector::new(Len::L256, 4, 1, indexed(9, 13, 3, 0)) };
    check(|e| e.vector(&ops::GATHER[1], &gather), "vgatherdpd ymm4,[r9+xmm13*8],ymm1");
    let scatter = Vector { vector_index: true, mask: 7, ..vector(20, 0, indexed(9, 13, 3, 0)) };
    check(|e| e.vector(&ops::SCATTER[1], &scatter), "vscatterdpd [r9+ymm13*8]{k7},zmm20");
    check(|e| e.vector(&ops::KAND, &Vector::new(Len::L256, 3, 5, Rm::Reg(6))), "kandw k3,k5,k6");
    check(|e| e.vector(&ops::KNOT, &Vector::new(Len::L128, 3, 0, Rm::Reg(6))), "knotw k3,k6");
    check(|e| e.vector(&ops::KUNPCK, &Vector::new(Len::L256, 3, 5, Rm::Reg(6))), "kunpckbw k3,k5,k6");
    check(
        |e| e.vector(&ops::KSHIFTR, &Vector { imm: 8, ..Vector::new(Len::L128, 3, 0, Rm::Reg(6)) }),
        "kshiftrw k3,k6,8",
    );
    check(|e| e.vector(&ops::KMOV_FROM_R, &Vector::new(Len::L128, 3, 0, Rm::Reg(14))), "kmovw k3,r14d");
    check(|e| e.vector(&ops::KMOV_TO_R, &Vector::new(Len::L128, 14, 0, Rm::Reg(3))), "kmovw r14d,k3");
    check(|e| e.vector(&ops::KMOV, &Vector::new(Len::L128, 3, 0, at(4, 8))), "kmovw k3,[rsp+8]");
    check(|e| e.vector(&ops::KMOV_STORE, &Vector::new(Len::L128, 3, 0, at(4, 8))), "kmovw [rsp+8],k3");
    check(|e| e.vector(&ops::MOVMSK, &Vector::new(Len::L256, 9, 0, Rm::Reg(3))), "vmovmskps r9d,ymm3");
    check(|e| e.vector(&ops::PMOVM2D, &vector(22, 0, Rm::Reg(3))), "vpmovm2d zmm22,k3");
    check(|e| e.vector(&ops::PBROADCAST_R[1], &vector(22, 0, Rm::Reg(13))), "vpbroadcastq zmm22,r13");
    check(|e| e.vector(&ops::CVTSI2[1], &Vector::new(Len::L128, 22, 3, Rm::Reg(13))), "vcvtsi2ss xmm22,xmm3,r13");
    check(|e| e.vector(&ops::CVTT2SI[3], &Vector::new(Len::L128, 9, 0, Rm::Reg(13))), "vcvttsd2si r9,xmm13");
    check(|e| e.vector(&ops::MOVD_R[1], &Vector::new(Len::L128, 22, 0, Rm::Reg(13))), "vmovq r13,xmm22");
    check(|e| e.vector(&ops::PSRLI[1], &Vector { imm: 32, ..vector(22, 0, Rm::Reg(13)) }), "vpsrlq zmm22,zmm13,20h");
}
