//! The vector instructions that the emitter uses, with what their encodings are made of.
//!
//! Source of the numbers: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. The test of
//! [`encode`](super::encode) reads every row back through a disassembler.

/// How many bytes an instruction's memory operand has, by which EVEX scales one-byte displacements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tuple {
    /// The whole register, or one broadcast element.
    Full,
    /// The whole register.
    Whole,
    /// A half, a quarter of the register.
    Half,
    Quarter,
    /// So many bytes.
    Bytes(u8),
}

/// Where the operands stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Destination, register or memory.
    Rm,
    /// Destination, first operand, register or memory.
    Rvm,
    /// Register or memory as destination, source.
    Mr,
    /// Destination in the middle, register or memory, an operation number in place of a register.
    Vmi(u8),
}

/// Encodings that exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Coding {
    /// Both: VEX where it can say the operands.
    Any,
    Vex,
    Evex,
}

/// A vector instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VecOp {
    pub(crate) name: &'static str,
    /// Opcode map: 1 is 0F, 2 is 0F38, 3 is 0F3A.
    pub(crate) map: u8,
    /// Prefix: 0 none, 1 is 66, 2 is F3, 3 is F2.
    pub(crate) prefix: u8,
    pub(crate) code: u8,
    /// The W bit; in VEX only where `vex_wide` says so too.
    pub(crate) wide: bool,
    pub(crate) vex_wide: bool,
    pub(crate) tuple: Tuple,
    pub(crate) form: Form,
    pub(crate) coding: Coding,
    /// Whether an immediate byte follows.
    pub(crate) immediate: bool,
}

const NONE: u8 = 0;
const P66: u8 = 1;
const PF3: u8 = 2;
const PF2: u8 = 3;

/// A row of the table; the methods below change what is not as usual.
const fn op(name: &'static str, prefix: u8, map: u8, code: u8, form: Form, tuple: Tuple) -> VecOp {
    let coding = Coding::Any;
    VecOp { name, map, prefix, code, wide: false, vex_wide: false, tuple, form, coding, immediate: false }
}

const fn rvm(name: &'static str, prefix: u8, map: u8, code: u8) -> VecOp {
    op(name, prefix, map, code, Form::Rvm, Tuple::Full)
}

const fn rm(name: &'static str, prefix: u8, map: u8, code: u8) -> VecOp {
    op(name, prefix, map, code, Form::Rm, Tuple::Full)
}

const fn mr(name: &'static str, prefix: u8, map: u8, code: u8) -> VecOp {
    op(name, prefix, map, code, Form::Mr, Tuple::Whole)
}

const fn shift(name: &'static str, code: u8, number: u8) -> VecOp {
    op(name, P66, 1, code, Form::Vmi(number), Tuple::Full).imm()
}

impl VecOp {
    /// With the W bit in EVEX.
    const fn w(self) -> VecOp {
        VecOp { wide: true, ..self }
    }

    /// With the W bit in both encodings.
    const fn ww(self) -> VecOp {
        VecOp { wide: true, vex_wide: true, ..self }
    }

    const fn imm(self) -> VecOp {
        VecOp { immediate: true, ..self }
    }

    const fn vex(self) -> VecOp {
        VecOp { coding: Coding::Vex, ..self }
    }

    const fn evex(self) -> VecOp {
        VecOp { coding: Coding::Evex, ..self }
    }

    const fn tuple(self, tuple: Tuple) -> VecOp {
        VecOp { tuple, ..self }
    }

    /// Bytes of one element that memory broadcasts.
    pub(crate) fn element(&self) -> u8 {
        if self.wide { 8 } else { 4 }
    }
}

/// The formats of a float operation: lanes of `float32`, of `float64`, one `float32`, one `float64`.
pub(crate) type Formats = [VecOp; 4];

const fn float_formats(names: [&'static str; 4], code: u8) -> Formats {
    [
        rvm(names[0], NONE, 1, code),
        rvm(names[1], P66, 1, code).w(),
        rvm(names[2], PF3, 1, code).tuple(Tuple::Bytes(4)),
        rvm(names[3], PF2, 1, code).w().tuple(Tuple::Bytes(8)),
    ]
}

const fn fused_formats(names: [&'static str; 4], code: u8) -> Formats {
    [
        rvm(names[0], P66, 2, code),
        rvm(names[1], P66, 2, code).ww(),
        rvm(names[2], P66, 2, code + 1).tuple(Tuple::Bytes(4)),
        rvm(names[3], P66, 2, code + 1).ww().tuple(Tuple::Bytes(8)),
    ]
}

macro_rules! formats {
    ($make:ident $name:literal $code:literal) => {
        $make([concat!($name, "ps"), concat!($name, "pd"), concat!($name, "ss"), concat!($name, "sd")], $code)
    };
}

pub(crate) static ADD: Formats = formats!(float_formats "vadd" 0x58);
pub(crate) static MUL: Formats = formats!(float_formats "vmul" 0x59);
pub(crate) static SUB: Formats = formats!(float_formats "vsub" 0x5c);
pub(crate) static MIN: Formats = formats!(float_formats "vmin" 0x5d);
pub(crate) static DIV: Formats = formats!(float_formats "vdiv" 0x5e);
pub(crate) static MAX: Formats = formats!(float_formats "vmax" 0x5f);
/// Fused `a·b + c` into `a`, and `a·b` onto the destination.
pub(crate) static FMA213: Formats = formats!(fused_formats "vfmadd213" 0xa8);
pub(crate) static FMA231: Formats = formats!(fused_formats "vfmadd231" 0xb8);
pub(crate) static SQRT: Formats = [
    rm("vsqrtps", NONE, 1, 0x51),
    rm("vsqrtpd", P66, 1, 0x51).w(),
    rvm("vsqrtss", PF3, 1, 0x51).tuple(Tuple::Bytes(4)),
    rvm("vsqrtsd", PF2, 1, 0x51).w().tuple(Tuple::Bytes(8)),
];
/// Comparison into lanes of all or no bits (VEX), or into a mask (EVEX).
pub(crate) static COMPARE_LANES: Formats = compare(Coding::Vex);
pub(crate) static COMPARE_MASK: Formats = compare(Coding::Evex);

const fn compare(coding: Coding) -> Formats {
    let all = formats!(float_formats "vcmp" 0xc2);
    [
        VecOp { coding, ..all[0].imm() },
        VecOp { coding, ..all[1].imm() },
        VecOp { coding, ..all[2].imm() },
        VecOp { coding, ..all[3].imm() },
    ]
}

/// Rounding to whole numbers; both encodings read the low bits of the immediate alike.
pub(crate) static ROUND_VEX: Formats = [
    rm("vroundps", P66, 3, 0x08).imm().vex(),
    rm("vroundpd", P66, 3, 0x09).imm().vex(),
    rvm("vroundss", P66, 3, 0x0a).imm().vex().tuple(Tuple::Bytes(4)),
    rvm("vroundsd", P66, 3, 0x0b).imm().vex().tuple(Tuple::Bytes(8)),
];
pub(crate) static ROUND_EVEX: Formats = [
    rm("vrndscaleps", P66, 3, 0x08).imm().evex(),
    rm("vrndscalepd", P66, 3, 0x09).w().imm().evex(),
    rvm("vrndscaless", P66, 3, 0x0a).imm().evex().tuple(Tuple::Bytes(4)),
    rvm("vrndscalesd", P66, 3, 0x0b).w().imm().evex().tuple(Tuple::Bytes(8)),
];
/// Least and greatest with ordered zeros.
pub(crate) static RANGE: Formats = [
    rvm("vrangeps", P66, 3, 0x50).imm().evex(),
    rvm("vrangepd", P66, 3, 0x50).w().imm().evex(),
    rvm("vrangess", P66, 3, 0x51).imm().evex().tuple(Tuple::Bytes(4)),
    rvm("vrangesd", P66, 3, 0x51).w().imm().evex().tuple(Tuple::Bytes(8)),
];
/// The first operand times two to the power of the second.
pub(crate) static SCALE: Formats = [
    rvm("vscalefps", P66, 2, 0x2c).evex(),
    rvm("vscalefpd", P66, 2, 0x2c).w().evex(),
    rvm("vscalefss", P66, 2, 0x2d).evex().tuple(Tuple::Bytes(4)),
    rvm("vscalefsd", P66, 2, 0x2d).w().evex().tuple(Tuple::Bytes(8)),
];
/// Sets the flags by comparing scalars.
pub(crate) static UCOMISS: VecOp = rm("vucomiss", NONE, 1, 0x2e).tuple(Tuple::Bytes(4));
pub(crate) static UCOMISD: VecOp = rm("vucomisd", P66, 1, 0x2e).w().tuple(Tuple::Bytes(8));

pub(crate) static CVTPS2PD: VecOp = rm("vcvtps2pd", NONE, 1, 0x5a).tuple(Tuple::Half);
pub(crate) static CVTPD2PS: VecOp = rm("vcvtpd2ps", P66, 1, 0x5a).w();
pub(crate) static CVTSS2SD: VecOp = rvm("vcvtss2sd", PF3, 1, 0x5a).tuple(Tuple::Bytes(4));
pub(crate) static CVTSD2SS: VecOp = rvm("vcvtsd2ss", PF2, 1, 0x5a).w().tuple(Tuple::Bytes(8));
pub(crate) static CVTDQ2PS: VecOp = rm("vcvtdq2ps", NONE, 1, 0x5b);
pub(crate) static CVTTPS2DQ: VecOp = rm("vcvttps2dq", PF3, 1, 0x5b);
pub(crate) static CVTQQ2PS: VecOp = rm("vcvtqq2ps", NONE, 1, 0x5b).w().evex();
pub(crate) static CVTDQ2PD: VecOp = rm("vcvtdq2pd", PF3, 1, 0xe6).tuple(Tuple::Half);
pub(crate) static CVTTPD2DQ: VecOp = rm("vcvttpd2dq", P66, 1, 0xe6).w();
pub(crate) static CVTQQ2PD: VecOp = rm("vcvtqq2pd", PF3, 1, 0xe6).w().evex();
pub(crate) static CVTUDQ2PS: VecOp = rm("vcvtudq2ps", PF2, 1, 0x7a).evex();
pub(crate) static CVTUQQ2PS: VecOp = rm("vcvtuqq2ps", PF2, 1, 0x7a).w().evex();
pub(crate) static CVTUDQ2PD: VecOp = rm("vcvtudq2pd", PF3, 1, 0x7a).tuple(Tuple::Half).evex();
pub(crate) static CVTUQQ2PD: VecOp = rm("vcvtuqq2pd", PF3, 1, 0x7a).w().evex();
pub(crate) static CVTTPS2UDQ: VecOp = rm("vcvttps2udq", NONE, 1, 0x78).evex();
pub(crate) static CVTTPD2UDQ: VecOp = rm("vcvttpd2udq", NONE, 1, 0x78).w().evex();
pub(crate) static CVTTPS2UQQ: VecOp = rm("vcvttps2uqq", P66, 1, 0x78).tuple(Tuple::Half).evex();
pub(crate) static CVTTPD2UQQ: VecOp = rm("vcvttpd2uqq", P66, 1, 0x78).w().evex();
pub(crate) static CVTTPS2QQ: VecOp = rm("vcvttps2qq", P66, 1, 0x7a).tuple(Tuple::Half).evex();
pub(crate) static CVTTPD2QQ: VecOp = rm("vcvttpd2qq", P66, 1, 0x7a).w().evex();
pub(crate) static CVTPH2PS: VecOp = rm("vcvtph2ps", P66, 2, 0x13).tuple(Tuple::Half);
pub(crate) static CVTPS2PH: VecOp = mr("vcvtps2ph", P66, 3, 0x1d).imm().tuple(Tuple::Half);

pub(crate) static PADD: [VecOp; 2] = [rvm("vpaddd", P66, 1, 0xfe), rvm("vpaddq", P66, 1, 0xd4).w()];
pub(crate) static PSUB: [VecOp; 2] = [rvm("vpsubd", P66, 1, 0xfa), rvm("vpsubq", P66, 1, 0xfb).w()];
pub(crate) static PMULL: [VecOp; 2] = [rvm("vpmulld", P66, 2, 0x40), rvm("vpmullq", P66, 2, 0x40).w().evex()];
pub(crate) static PMULUDQ: VecOp = rvm("vpmuludq", P66, 1, 0xf4).w();
/// Bits of lanes; EVEX knows them by the width of lanes.
pub(crate) static PAND: [VecOp; 3] = bits(["vpand", "vpandd", "vpandq"], 0xdb);
pub(crate) static PANDN: [VecOp; 3] = bits(["vpandn", "vpandnd", "vpandnq"], 0xdf);
pub(crate) static POR: [VecOp; 3] = bits(["vpor", "vpord", "vporq"], 0xeb);
pub(crate) static PXOR: [VecOp; 3] = bits(["vpxor", "vpxord", "vpxorq"], 0xef);

const fn bits(names: [&'static str; 3], code: u8) -> [VecOp; 3] {
    [rvm(names[0], P66, 1, code).vex(), rvm(names[1], P66, 1, code).evex(), rvm(names[2], P66, 1, code).w().evex()]
}

pub(crate) static PMINS: [VecOp; 2] = [rvm("vpminsd", P66, 2, 0x39), rvm("vpminsq", P66, 2, 0x39).w().evex()];
pub(crate) static PMINU: [VecOp; 2] = [rvm("vpminud", P66, 2, 0x3b), rvm("vpminuq", P66, 2, 0x3b).w().evex()];
pub(crate) static PMAXS: [VecOp; 2] = [rvm("vpmaxsd", P66, 2, 0x3d), rvm("vpmaxsq", P66, 2, 0x3d).w().evex()];
pub(crate) static PMAXU: [VecOp; 2] = [rvm("vpmaxud", P66, 2, 0x3f), rvm("vpmaxuq", P66, 2, 0x3f).w().evex()];
pub(crate) static PABS: [VecOp; 2] = [rm("vpabsd", P66, 2, 0x1e), rm("vpabsq", P66, 2, 0x1f).w().evex()];
pub(crate) static PCMPEQ: [VecOp; 2] = [rvm("vpcmpeqd", P66, 1, 0x76).vex(), rvm("vpcmpeqq", P66, 2, 0x29).vex()];
pub(crate) static PCMPGT: [VecOp; 2] = [rvm("vpcmpgtd", P66, 1, 0x66).vex(), rvm("vpcmpgtq", P66, 2, 0x37).vex()];
pub(crate) static PCMP: [VecOp; 2] =
    [rvm("vpcmpd", P66, 3, 0x1f).imm().evex(), rvm("vpcmpq", P66, 3, 0x1f).w().imm().evex()];
pub(crate) static PCMPU: [VecOp; 2] =
    [rvm("vpcmpud", P66, 3, 0x1e).imm().evex(), rvm("vpcmpuq", P66, 3, 0x1e).w().imm().evex()];
pub(crate) static PSRLI: [VecOp; 2] = [shift("vpsrld", 0x72, 2), shift("vpsrlq", 0x73, 2).w()];
pub(crate) static PSRAI: [VecOp; 2] = [shift("vpsrad", 0x72, 4), shift("vpsraq", 0x72, 4).w().evex()];
pub(crate) static PSLLI: [VecOp; 2] = [shift("vpslld", 0x72, 6), shift("vpsllq", 0x73, 6).w()];
pub(crate) static PSRLV: [VecOp; 2] = [rvm("vpsrlvd", P66, 2, 0x45), rvm("vpsrlvq", P66, 2, 0x45).ww()];
pub(crate) static PSRAV: [VecOp; 2] = [rvm("vpsravd", P66, 2, 0x46), rvm("vpsravq", P66, 2, 0x46).w().evex()];
pub(crate) static PSLLV: [VecOp; 2] = [rvm("vpsllvd", P66, 2, 0x47), rvm("vpsllvq", P66, 2, 0x47).ww()];
pub(crate) static PLZCNT: [VecOp; 2] = [rm("vplzcntd", P66, 2, 0x44).evex(), rm("vplzcntq", P66, 2, 0x44).w().evex()];

pub(crate) static PSHUFB: VecOp = rvm("vpshufb", P66, 2, 0x00).vex();
pub(crate) static PUNPCKLDQ: VecOp = rvm("vpunpckldq", P66, 1, 0x62);
pub(crate) static PUNPCKLQDQ: VecOp = rvm("vpunpcklqdq", P66, 1, 0x6c).w();
pub(crate) static PSHUFD: VecOp = rm("vpshufd", P66, 1, 0x70).imm();
pub(crate) static SHUFPS: VecOp = rvm("vshufps", NONE, 1, 0xc6).imm();
pub(crate) static PERMPD: VecOp = rm("vpermpd", P66, 3, 0x01).ww().imm();
/// The lanes of the second operand that the first one's name.
pub(crate) static PERMPS: VecOp = rvm("vpermps", P66, 2, 0x16);
pub(crate) static PMOVSX: [VecOp; 3] = [
    rm("vpmovsxbd", P66, 2, 0x21).tuple(Tuple::Quarter),
    rm("vpmovsxwd", P66, 2, 0x23).tuple(Tuple::Half),
    rm("vpmovsxdq", P66, 2, 0x25).tuple(Tuple::Half),
];
pub(crate) static PMOVZX: [VecOp; 3] = [
    rm("vpmovzxbd", P66, 2, 0x31).tuple(Tuple::Quarter),
    rm("vpmovzxwd", P66, 2, 0x33).tuple(Tuple::Half),
    rm("vpmovzxdq", P66, 2, 0x35).tuple(Tuple::Half),
];
pub(crate) static PMOVDB: VecOp = mr("vpmovdb", PF3, 2, 0x31).tuple(Tuple::Quarter).evex();
pub(crate) static PMOVDW: VecOp = mr("vpmovdw", PF3, 2, 0x33).tuple(Tuple::Half).evex();
pub(crate) static PMOVQD: VecOp = mr("vpmovqd", PF3, 2, 0x35).tuple(Tuple::Half).evex();
pub(crate) static PMOVM2D: VecOp = rm("vpmovm2d", PF3, 2, 0x38).evex();

pub(crate) static BROADCASTSS: VecOp = rm("vbroadcastss", P66, 2, 0x18).tuple(Tuple::Bytes(4));
pub(crate) static BROADCASTSD: VecOp = rm("vbroadcastsd", P66, 2, 0x19).w().tuple(Tuple::Bytes(8));
/// From a general register.
pub(crate) static PBROADCAST_R: [VecOp; 2] =
    [rm("vpbroadcastd", P66, 2, 0x7c).evex(), rm("vpbroadcastq", P66, 2, 0x7c).w().evex()];
pub(crate) static EXTRACT128: VecOp = mr("vextractf128", P66, 3, 0x19).imm().vex();
pub(crate) static EXTRACT128_EVEX: VecOp = mr("vextractf32x4", P66, 3, 0x19).imm().evex().tuple(Tuple::Bytes(16));
pub(crate) static EXTRACT256: VecOp = mr("vextractf64x4", P66, 3, 0x1b).w().imm().evex().tuple(Tuple::Bytes(32));
pub(crate) static INSERT128: VecOp = rvm("vinsertf128", P66, 3, 0x18).imm().vex();
pub(crate) static INSERT256: VecOp = rvm("vinsertf64x4", P66, 3, 0x1a).w().imm().evex().tuple(Tuple::Bytes(32));

pub(crate) static MOVUPS: VecOp = rm("vmovups", NONE, 1, 0x10).tuple(Tuple::Whole);
pub(crate) static MOVUPS_STORE: VecOp = mr("vmovups", NONE, 1, 0x11);
pub(crate) static MOVUPD: VecOp = rm("vmovupd", P66, 1, 0x10).w().tuple(Tuple::Whole);
pub(crate) static MOVUPD_STORE: VecOp = mr("vmovupd", P66, 1, 0x11).w();
pub(crate) static MOVAPS: VecOp = rm("vmovaps", NONE, 1, 0x28).tuple(Tuple::Whole);
pub(crate) static MOVAPD: VecOp = rm("vmovapd", P66, 1, 0x28).w().tuple(Tuple::Whole);
pub(crate) static MOVSS: VecOp = rm("vmovss", PF3, 1, 0x10).tuple(Tuple::Bytes(4));
pub(crate) static MOVSS_STORE: VecOp = mr("vmovss", PF3, 1, 0x11).tuple(Tuple::Bytes(4));
pub(crate) static MOVSD: VecOp = rm("vmovsd", PF2, 1, 0x10).w().tuple(Tuple::Bytes(8));
pub(crate) static MOVSD_STORE: VecOp = mr("vmovsd", PF2, 1, 0x11).w().tuple(Tuple::Bytes(8));
/// Between general and vector registers.
pub(crate) static MOVD: [VecOp; 2] =
    [rm("vmovd", P66, 1, 0x6e).tuple(Tuple::Bytes(4)), rm("vmovq", P66, 1, 0x6e).ww().tuple(Tuple::Bytes(8))];
pub(crate) static MOVD_R: [VecOp; 2] =
    [mr("vmovd", P66, 1, 0x7e).tuple(Tuple::Bytes(4)), mr("vmovq", P66, 1, 0x7e).ww().tuple(Tuple::Bytes(8))];
/// Choice by a mask: the second operand where it is set.
pub(crate) static BLENDM: [VecOp; 2] =
    [rvm("vblendmps", P66, 2, 0x65).evex(), rvm("vblendmpd", P66, 2, 0x65).w().evex()];
/// Choice by sign bits of lanes in a fourth register.
pub(crate) static BLENDV: [VecOp; 2] = [rvm("vblendvps", P66, 3, 0x4a).vex(), rvm("vblendvpd", P66, 3, 0x4b).vex()];
pub(crate) static MOVMSK: VecOp = rm("vmovmskps", NONE, 1, 0x50).vex();
/// Elements of 4 and of 8 bytes by 32-bit offsets.
pub(crate) static GATHER: [VecOp; 2] =
    [rm("vgatherdps", P66, 2, 0x92).tuple(Tuple::Bytes(4)), rm("vgatherdpd", P66, 2, 0x92).ww().tuple(Tuple::Bytes(8))];
pub(crate) static SCATTER: [VecOp; 2] = [
    mr("vscatterdps", P66, 2, 0xa2).tuple(Tuple::Bytes(4)).evex(),
    mr("vscatterdpd", P66, 2, 0xa2).w().tuple(Tuple::Bytes(8)).evex(),
];

const fn mask(name: &'static str, code: u8) -> VecOp {
    rvm(name, NONE, 1, code).vex()
}

pub(crate) static KAND: VecOp = mask("kandw", 0x41);
pub(crate) static KANDN: VecOp = mask("kandnw", 0x42);
pub(crate) static KOR: VecOp = mask("korw", 0x45);
pub(crate) static KXNOR: VecOp = mask("kxnorw", 0x46);
pub(crate) static KXOR: VecOp = mask("kxorw", 0x47);
pub(crate) static KUNPCK: VecOp = rvm("kunpckbw", P66, 1, 0x4b).vex();
pub(crate) static KNOT: VecOp = rm("knotw", NONE, 1, 0x44).vex();
pub(crate) static KSHIFTR: VecOp = rm("kshiftrw", P66, 3, 0x30).ww().imm().vex();
pub(crate) static KMOV: VecOp = rm("kmovw", NONE, 1, 0x90).vex();
pub(crate) static KMOV_STORE: VecOp = mr("kmovw", NONE, 1, 0x91).vex();
pub(crate) static KMOV_FROM_R: VecOp = rm("kmovw", NONE, 1, 0x92).vex();
pub(crate) static KMOV_TO_R: VecOp = rm("kmovw", NONE, 1, 0x93).vex();

/// Between general registers and floats: by the width of the integer.
pub(crate) static CVTSI2: [VecOp; 4] = [
    rvm("vcvtsi2ss", PF3, 1, 0x2a).tuple(Tuple::Bytes(4)),
    rvm("vcvtsi2ss", PF3, 1, 0x2a).ww().tuple(Tuple::Bytes(8)),
    rvm("vcvtsi2sd", PF2, 1, 0x2a).tuple(Tuple::Bytes(4)),
    rvm("vcvtsi2sd", PF2, 1, 0x2a).ww().tuple(Tuple::Bytes(8)),
];
pub(crate) static CVTT2SI: [VecOp; 4] = [
    rm("vcvttss2si", PF3, 1, 0x2c).tuple(Tuple::Bytes(4)),
    rm("vcvttss2si", PF3, 1, 0x2c).ww().tuple(Tuple::Bytes(4)),
    rm("vcvttsd2si", PF2, 1, 0x2c).tuple(Tuple::Bytes(8)),
    rm("vcvttsd2si", PF2, 1, 0x2c).ww().tuple(Tuple::Bytes(8)),
];

/// Every row of the table.
#[cfg(test)]
pub(crate) fn all() -> impl Iterator<Item = &'static VecOp> {
    let rows: [&'static [VecOp]; 115] = [
        &ADD,
        &MUL,
        &SUB,
        &MIN,
        &DIV,
        &MAX,
        &FMA213,
        &FMA231,
        &SQRT,
        &COMPARE_LANES,
        &COMPARE_MASK,
        &ROUND_VEX,
        &ROUND_EVEX,
        &RANGE,
        &SCALE,
        std::slice::from_ref(&UCOMISS),
        std::slice::from_ref(&UCOMISD),
        std::slice::from_ref(&CVTPS2PD),
        std::slice::from_ref(&CVTPD2PS),
        std::slice::from_ref(&CVTSS2SD),
        std::slice::from_ref(&CVTSD2SS),
        std::slice::from_ref(&CVTDQ2PS),
        std::slice::from_ref(&CVTTPS2DQ),
        std::slice::from_ref(&CVTQQ2PS),
        std::slice::from_ref(&CVTDQ2PD),
        std::slice::from_ref(&CVTTPD2DQ),
        std::slice::from_ref(&CVTQQ2PD),
        std::slice::from_ref(&CVTUDQ2PS),
        std::slice::from_ref(&CVTUQQ2PS),
        std::slice::from_ref(&CVTUDQ2PD),
        std::slice::from_ref(&CVTUQQ2PD),
        std::slice::from_ref(&CVTTPS2UDQ),
        std::slice::from_ref(&CVTTPD2UDQ),
        std::slice::from_ref(&CVTTPS2UQQ),
        std::slice::from_ref(&CVTTPD2UQQ),
        std::slice::from_ref(&CVTTPS2QQ),
        std::slice::from_ref(&CVTTPD2QQ),
        std::slice::from_ref(&CVTPH2PS),
        std::slice::from_ref(&CVTPS2PH),
        &PADD,
        &PSUB,
        &PMULL,
        std::slice::from_ref(&PMULUDQ),
        &PAND,
        &PANDN,
        &POR,
        &PXOR,
        &PMINS,
        &PMINU,
        &PMAXS,
        &PMAXU,
        &PABS,
        &PCMPEQ,
        &PCMPGT,
        &PCMP,
        &PCMPU,
        &PSRLI,
        &PSRAI,
        &PSLLI,
        &PSRLV,
        &PSRAV,
        &PSLLV,
        &PLZCNT,
        std::slice::from_ref(&PSHUFB),
        std::slice::from_ref(&PUNPCKLDQ),
        std::slice::from_ref(&PUNPCKLQDQ),
        std::slice::from_ref(&PSHUFD),
        std::slice::from_ref(&SHUFPS),
        std::slice::from_ref(&PERMPD),
        std::slice::from_ref(&PERMPS),
        &PMOVSX,
        &PMOVZX,
        std::slice::from_ref(&PMOVDB),
        std::slice::from_ref(&PMOVDW),
        std::slice::from_ref(&PMOVQD),
        std::slice::from_ref(&PMOVM2D),
        std::slice::from_ref(&BROADCASTSS),
        std::slice::from_ref(&BROADCASTSD),
        &PBROADCAST_R,
        std::slice::from_ref(&EXTRACT128),
        std::slice::from_ref(&EXTRACT128_EVEX),
        std::slice::from_ref(&EXTRACT256),
        std::slice::from_ref(&INSERT128),
        std::slice::from_ref(&INSERT256),
        std::slice::from_ref(&MOVUPS),
        std::slice::from_ref(&MOVUPS_STORE),
        std::slice::from_ref(&MOVUPD),
        std::slice::from_ref(&MOVUPD_STORE),
        std::slice::from_ref(&MOVAPS),
        std::slice::from_ref(&MOVAPD),
        std::slice::from_ref(&MOVSS),
        std::slice::from_ref(&MOVSS_STORE),
        std::slice::from_ref(&MOVSD),
        std::slice::from_ref(&MOVSD_STORE),
        &MOVD,
        &MOVD_R,
        &BLENDM,
        &BLENDV,
        std::slice::from_ref(&MOVMSK),
        &GATHER,
        &SCATTER,
        std::slice::from_ref(&KAND),
        std::slice::from_ref(&KANDN),
        std::slice::from_ref(&KOR),
        std::slice::from_ref(&KXNOR),
        std::slice::from_ref(&KXOR),
        std::slice::from_ref(&KUNPCK),
        std::slice::from_ref(&KNOT),
        std::slice::from_ref(&KSHIFTR),
        std::slice::from_ref(&KMOV),
        std::slice::from_ref(&KMOV_STORE),
        std::slice::from_ref(&KMOV_FROM_R),
        std::slice::from_ref(&KMOV_TO_R),
        &CVTSI2,
        &CVTT2SI,
    ];
    rows.into_iter().flatten()
}
