//! Floating formats of four and eight bits, by table of their parameters.
//!
//! Sources: "FP8 Formats for Deep Learning" (Micikevicius et al. 2022) for E4M3FN and E5M2, and the names of the
//! `ml_dtypes` package, whose suffixes say: F finite (no infinities), N only one or two NaN codes, UZ no negative
//! zero. Rounding is to nearest even; values beyond the range become infinity, or NaN where there is none.

use crate::dtype::DType;

/// How a format spells what is not a finite number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// IEEE: exponent all ones holds infinity and NaN.
    Ieee,
    /// Only the codes with all bits one are NaN; no infinity.
    AllOnesNan,
    /// Only the code of negative zero is NaN; no infinity.
    NegativeZeroNan,
    /// Neither NaN nor infinity.
    None,
    /// E8M0: no sign, no zero, no mantissa; 255 is NaN.
    PowersOfTwo,
}

/// The parameters of a small floating format.
#[derive(Clone, Copy, Debug)]
pub struct MiniFloat {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the fraction.
    pub mantissa_bits: u32,
    /// What is taken off the exponent.
    pub bias: i32,
    /// How it spells infinities and NaN.
    pub special: Special,
}

impl MiniFloat {
    /// The format of `dtype`, if it is a float of four or eight bits.
    pub fn of(dtype: DType) -> Option<MiniFloat> {
        let (exponent_bits, mantissa_bits, bias, special) = match dtype {
            DType::F4E2M1FN => (2, 1, 1, Special::None),
            DType::F8E3M4 => (3, 4, 3, Special::Ieee),
            DType::F8E4M3 => (4, 3, 7, Special::Ieee),
            DType::F8E4M3B11FNUZ => (4, 3, 11, Special::NegativeZeroNan),
            DType::F8E4M3FN => (4, 3, 7, Special::AllOnesNan),
            DType::F8E4M3FNUZ => (4, 3, 8, Special::NegativeZeroNan),
            DType::F8E5M2 => (5, 2, 15, Special::Ieee),
            DType::F8E5M2FNUZ => (5, 2, 16, Special::NegativeZeroNan),
            DType::F8E8M0FNU => (8, 0, 127, Special::PowersOfTwo),
            _ => return None,
        };
        Some(MiniFloat { exponent_bits, mantissa_bits, bias, special })
    }

    fn sign_bit(self) -> u8 {
        1 << (self.exponent_bits + self.mantissa_bits)
    }

    /// The value of a code.
    pub fn decode(self, code: u8) -> f64 {
        if self.special == Special::PowersOfTwo {
            return if code == 255 { f64::NAN } else { 2f64.powi(i32::from(code) - self.bias) };
        }
        let sign = if code & self.sign_bit() != 0 { -1.0 } else { 1.0 };
        let magnitude = code & (self.sign_bit() - 1);
        if self.is_nan_magnitude(magnitude, sign < 0.0) {
            return f64::NAN;
        }
        let exponent = i32::from(magnitude >> self.mantissa_bits);
        let mantissa = f64::from(magnitude & ((1 << self.mantissa_bits) - 1));
        if self.special == Special::Ieee && exponent == (1 << self.exponent_bits) - 1 {
            return sign * f64::INFINITY;
        }
        let unit = 2f64.powi(-(self.mantissa_bits as i32));
        let value = if exponent == 0 {
            mantissa * unit * 2f64.powi(1 - self.bias)
        } else {
            (1.0 + mantissa * unit) * 2f64.powi(exponent - self.bias)
        };
        sign * value
    }

    fn is_nan_magnitude(self, magnitude: u8, negative: bool) -> bool {
        match self.special {
            Special::Ieee => {
                let infinity = ((1u8 << self.exponent_bits) - 1) << self.mantissa_bits;
                magnitude > infinity
            }
            Special::AllOnesNan => magnitude == self.sign_bit() - 1,
            Special::NegativeZeroNan => magnitude == 0 && negative,
            Special::None | Special::PowersOfTwo => false,
        }
    }

    fn nan(self) -> u8 {
        match self.special {
            Special::Ieee => {
                (((1 << self.exponent_bits) - 1) << self.mantissa_bits) | 1 << (self.mantissa_bits.max(1) - 1)
            }
            Special::AllOnesNan => self.sign_bit() - 1,
            Special::NegativeZeroNan => self.sign_bit(),
            // A format without NaN keeps the sign of nothing: ml_dtypes gives negative zero.
            Special::None => self.sign_bit(),
            Special::PowersOfTwo => 255,
        }
    }

    /// The code nearest to `value`, ties to even.
    pub fn encode(self, value: f64) -> u8 {
        if value.is_nan() {
            return self.nan();
        }
        if self.special == Special::PowersOfTwo {
            return self.encode_power_of_two(value);
        }
        let sign = if value.is_sign_negative() { self.sign_bit() } else { 0 };
        let magnitude = value.abs();
        if magnitude.is_infinite() {
            return self.finish(i64::from(u8::MAX), sign);
        }
        let exponent =
            if magnitude == 0.0 { 1 - self.bias } else { (magnitude.log2().floor() as i32).max(1 - self.bias) };
        // Correct log2's own rounding next to powers of two.
        let exponent = if magnitude >= 2f64.powi(exponent + 1) { exponent + 1 } else { exponent };
        let exponent =
            if exponent > 1 - self.bias && magnitude < 2f64.powi(exponent) { exponent - 1 } else { exponent };
        let unit = 2f64.powi(exponent - self.mantissa_bits as i32);
        let steps = (magnitude / unit).round_ties_even();
        let base = i64::from(exponent + self.bias - 1) << self.mantissa_bits;
        self.finish(base + steps as i64, sign)
    }

    fn finish(self, code: i64, sign: u8) -> u8 {
        let all = i64::from(self.sign_bit() - 1);
        match self.special {
            Special::Ieee => {
                let infinity = i64::from(((1u8 << self.exponent_bits) - 1) << self.mantissa_bits);
                sign | code.min(infinity) as u8
            }
            Special::AllOnesNan => sign | code.min(all) as u8,
            Special::NegativeZeroNan if code == 0 => 0,
            Special::NegativeZeroNan if code > all => self.nan(),
            Special::NegativeZeroNan => sign | code as u8,
            Special::None => sign | code.min(all) as u8,
            Special::PowersOfTwo => unreachable!("encoded apart"),
        }
    }

    fn encode_power_of_two(self, value: f64) -> u8 {
        if value <= 0.0 || value.is_infinite() {
            return 255;
        }
        // In steps of the power below; half way goes up.
        let exponent = ((value.to_bits() + (1 << 51)) >> 52) as i32 - 1023 + self.bias;
        if exponent > 254 { 255 } else { exponent.max(0) as u8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_a_round_trip() {
        for dtype in DType::ALL {
            let Some(format) = MiniFloat::of(dtype) else { continue };
            let codes = if dtype == DType::F4E2M1FN { 0..=15u8 } else { 0..=255 };
            for code in codes {
                let value = format.decode(code);
                let back = format.encode(value);
                assert!(
                    back == code || value.is_nan() && format.decode(back).is_nan(),
                    "{dtype} {code} {value} {back}"
                );
            }
        }
    }

    #[test]
    fn ends_of_the_range() {
        let check = |dtype, value: f64, want: f64| {
            let format = MiniFloat::of(dtype).expect("a small float");
            let got = format.decode(format.encode(value));
            assert!(got == want || got.is_nan() && want.is_nan(), "{dtype}({value}) is {got}, not {want}");
        };
        check(DType::F8E4M3FN, 448.0, 448.0);
        check(DType::F8E4M3FN, 1e4, f64::NAN);
        check(DType::F8E5M2, 1e6, f64::INFINITY);
        check(DType::F8E5M2, 57344.0, 57344.0);
        check(DType::F4E2M1FN, 100.0, 6.0);
        check(DType::F8E4M3FNUZ, -0.0, 0.0);
    }
}
