//! How exactly a contraction is asked to compute: a level for each operand, or an algorithm by name.
//!
//! It owns the names and what each one asks for; `dot_general` and `conv_general_dilated` carry them, and the lowerings
//! obey. Levels are for devices that multiply in fewer bits than their operands have: the CPU never does, so that every
//! level gives the same numbers there. Names and operand types are those of StableHLO's dot algorithms.

use std::sync::{Mutex, PoisonError};

use pullback_base::DType;
use pullback_ir::{ParamField, ParamValue};

/// A level of exactness, of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Precision {
    /// The fastest way of the device.
    Default,
    /// More passes than the fastest way.
    High,
    /// Products in the operands' own dtype.
    Highest,
}

impl Precision {
    const ALL: [Precision; 3] = [Precision::Default, Precision::High, Precision::Highest];

    /// The level that users mean by a word such as `"highest"` or `"tensorfloat32"`.
    pub fn of_word(word: &str) -> Option<Precision> {
        match word {
            "default" | "fastest" | "bfloat16" => Some(Precision::Default),
            "high" | "tensorfloat32" | "bfloat16_3x" => Some(Precision::High),
            "highest" | "float32" => Some(Precision::Highest),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Precision::Default => "DEFAULT",
            Precision::High => "HIGH",
            Precision::Highest => "HIGHEST",
        }
    }
}

impl ParamField for Precision {
    fn to_value(&self) -> ParamValue {
        ParamValue::Name(format!("Precision.{}", self.name()).into())
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        let ParamValue::Name(name) = value else { return None };
        let name = name.strip_prefix("Precision.")?;
        Precision::ALL.into_iter().find(|precision| precision.name() == name)
    }
}

/// What an algorithm does: in which types it multiplies and adds.
#[derive(Debug, PartialEq)]
pub struct Algorithm {
    /// Its name.
    pub name: &'static str,
    /// Dtypes that operands may have; others are converted to the first. None: any 8-bit floats, and nothing else.
    pub operands: &'static [DType],
    /// The type of the multiplied numbers as StableHLO spells it; empty for that of the operands.
    pub multiplied: &'static str,
    /// Dtype of sums.
    pub summed: DType,
    /// Number of parts that each operand is split into.
    pub components: [u8; 2],
    /// Number of products of parts that make up a product.
    pub passes: u8,
    /// Whether sums may lose places.
    pub is_imprecise: bool,
    /// Whether the CPU has it.
    pub on_cpu: bool,
    /// What a user spelled out, if it has no name of its own.
    pub custom: Option<CustomAlgorithm>,
}

/// An algorithm as a user spells it out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomAlgorithm {
    /// Dtypes of the operands and of the sums.
    pub types: [DType; 3],
    /// Numbers of parts of the operands, and of products of parts.
    pub counts: [u8; 3],
    /// Whether sums may lose places.
    pub is_imprecise: bool,
}

/// The fields of an algorithm that is spelled out, in order.
const FIELDS: [&str; 7] = [
    "lhs_precision_type",
    "rhs_precision_type",
    "accumulation_type",
    "lhs_component_count",
    "rhs_component_count",
    "num_primitive_operations",
    "allow_imprecise_accumulation",
];

impl CustomAlgorithm {
    fn values(&self) -> Vec<ParamValue> {
        let types = self.types.into_iter().map(ParamValue::DType);
        let counts = self.counts.into_iter().map(|count| ParamValue::Int(count.into()));
        types.chain(counts).chain([ParamValue::Bool(self.is_imprecise)]).collect()
    }

    /// The algorithm of the fields of a record, in their order.
    pub fn of_values(values: &[ParamValue]) -> Option<CustomAlgorithm> {
        let dtype = |at: usize| match values.get(at)? {
            ParamValue::DType(dtype) => Some(*dtype),
            _ => None,
        };
        let count = |at: usize| match values.get(at)? {
            ParamValue::Int(count) => u8::try_from(*count).ok(),
            _ => None,
        };
        let Some(ParamValue::Bool(is_imprecise)) = values.get(6) else { return None };
        Some(CustomAlgorithm {
            types: [dtype(0)?, dtype(1)?, dtype(2)?],
            counts: [count(3)?, count(4)?, count(5)?],
            is_imprecise: *is_imprecise,
        })
    }

    fn algorithm(&self) -> Algorithm {
        let [lhs, rhs, summed] = self.types;
        let fields = [lhs.name(), rhs.name(), summed.name()].map(str::to_string).into_iter();
        let fields = fields.chain(self.counts.map(|count| count.to_string()));
        let fields = fields.chain([if self.is_imprecise { "True".into() } else { "False".into() }]);
        let text: Vec<String> = FIELDS.iter().zip(fields).map(|(name, value)| format!("{name}={value}")).collect();
        Algorithm {
            name: Box::leak(format!("DotAlgorithm({})", text.join(", ")).into_boxed_str()),
            operands: Box::leak(Box::new([lhs])),
            multiplied: pullback_ir::hlo::element_type(lhs),
            summed,
            components: [self.counts[0], self.counts[1]],
            passes: self.counts[2],
            is_imprecise: self.is_imprecise,
            on_cpu: false,
            custom: Some(*self),
        }
    }
}

macro_rules! algorithms {
    ($($name:ident [$($operand:ident)*] $multiplied:literal $summed:ident $passes:literal $imprecise:literal $cpu:literal;)*) => {
        &[$(Algorithm {
            name: stringify!($name), operands: &[$(DType::$operand),*], multiplied: $multiplied, summed: DType::$summed,
            components: [1, 1], passes: $passes, is_imprecise: $imprecise, on_cpu: $cpu, custom: None,
        }),*]
    };
}
/// All algorithms but `DEFAULT`, which leaves the choice to the device.
#[rustfmt::skip]
const ALGORITHMS: &[Algorithm] = algorithms! {
    ANY_F8_ANY_F8_F32            []         ""     F32  1 false false;
    ANY_F8_ANY_F8_F32_FAST_ACCUM []         ""     F32  1 true  false;
    ANY_F8_ANY_F8_ANY            []         ""     F32  1 false false;
    ANY_F8_ANY_F8_ANY_FAST_ACCUM []         ""     F32  1 true  false;
    F16_F16_F16                  [F16]      "f16"  F16  1 false true;
    F16_F16_F32                  [F16]      "f16"  F32  1 false false;
    BF16_BF16_BF16               [BF16 F32] "bf16" BF16 1 false false;
    BF16_BF16_F32                [BF16 F32] "bf16" F32  1 false true;
    BF16_BF16_F32_X3             [F32]      "bf16" F32  3 false true;
    BF16_BF16_F32_X6             [F32]      "bf16" F32  6 false true;
    BF16_BF16_F32_X9             [F32]      "bf16" F32  9 false false;
    TF32_TF32_F32                [F32]      "tf32" F32  1 false false;
    TF32_TF32_F32_X3             [F32]      "tf32" F32  3 false false;
    F32_F32_F32                  [F32]      "f32"  F32  1 false true;
    F64_F64_F64                  [F64]      "f64"  F64  1 false true;
};

/// What is asked of a contraction.
#[derive(Clone, Copy, Debug)]
pub enum DotPrecision {
    /// A level for each operand.
    Levels(Precision, Precision),
    /// An algorithm; `None` leaves the choice to the device.
    Algorithm(Option<&'static Algorithm>),
}

const DEFAULT: &str = "DEFAULT";

impl DotPrecision {
    /// One level for both operands.
    pub fn level(level: Precision) -> DotPrecision {
        DotPrecision::Levels(level, level)
    }

    /// The algorithm of a name.
    pub fn algorithm(name: &str) -> Option<DotPrecision> {
        if name == DEFAULT {
            return Some(DotPrecision::Algorithm(None));
        }
        ALGORITHMS.iter().find(|known| known.name == name).map(|known| DotPrecision::Algorithm(Some(known)))
    }

    /// The algorithm that a user spells out by its parts.
    pub fn custom(custom: CustomAlgorithm) -> DotPrecision {
        static KNOWN: Mutex<Vec<&'static Algorithm>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|known| known.custom == Some(custom)) {
            return DotPrecision::Algorithm(Some(found));
        }
        // Programs spell few of them, and parameters hold them for ever.
        let made: &'static Algorithm = Box::leak(Box::new(custom.algorithm()));
        known.push(made);
        DotPrecision::Algorithm(Some(made))
    }

    /// Names of all algorithms.
    pub fn algorithms() -> impl Iterator<Item = &'static str> {
        std::iter::once(DEFAULT).chain(ALGORITHMS.iter().map(|known| known.name))
    }

    /// The level or algorithm that users mean by a word.
    pub fn of_word(word: &str) -> Option<DotPrecision> {
        Precision::of_word(word).map(DotPrecision::level).or_else(|| DotPrecision::algorithm(word))
    }

    /// The two levels as StableHLO spells them.
    pub fn levels(precision: Option<DotPrecision>) -> [&'static str; 2] {
        match precision {
            Some(DotPrecision::Levels(x, y)) => [x.name(), y.name()],
            _ => [DEFAULT, DEFAULT],
        }
    }

    /// What tells it from others.
    fn name_pair(self) -> [&'static str; 2] {
        match self {
            DotPrecision::Levels(x, y) => [x.name(), y.name()],
            DotPrecision::Algorithm(algorithm) => [algorithm.map_or(DEFAULT, |known| known.name), "algorithm"],
        }
    }
}

impl PartialEq for DotPrecision {
    fn eq(&self, other: &DotPrecision) -> bool {
        self.name_pair() == other.name_pair()
    }
}

impl Eq for DotPrecision {}

impl std::hash::Hash for DotPrecision {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name_pair().hash(state);
    }
}

impl ParamField for DotPrecision {
    fn to_value(&self) -> ParamValue {
        match self {
            DotPrecision::Levels(x, y) => ParamValue::Tuple(vec![x.to_value(), y.to_value()]),
            DotPrecision::Algorithm(Some(Algorithm { custom: Some(custom), .. })) => {
                ParamValue::Record("DotAlgorithm", FIELDS.into_iter().zip(custom.values()).collect())
            }
            DotPrecision::Algorithm(_) => ParamValue::Name(self.name_pair()[0].into()),
        }
    }

    fn from_value(value: &ParamValue) -> Option<Self> {
        match value {
            ParamValue::Name(name) => DotPrecision::algorithm(name),
            ParamValue::Record("DotAlgorithm", fields) => {
                let values: Vec<ParamValue> = fields.iter().map(|(_, value)| value.clone()).collect();
                CustomAlgorithm::of_values(&values).map(DotPrecision::custom)
            }
            ParamValue::Tuple(pair) => {
                let [x, y] = &pair[..] else { return None };
                Some(DotPrecision::Levels(Precision::from_value(x)?, Precision::from_value(y)?))
            }
            _ => None,
        }
    }
}

impl Algorithm {
    /// As an attribute of a StableHLO operation on operands of these dtypes, as it spells them.
    pub fn attribute(&self, operands: [&str; 2]) -> String {
        let multiplied = |side: usize| if self.multiplied.is_empty() { operands[side] } else { self.multiplied };
        format!(
            "algorithm = <lhs_precision_type = {}, rhs_precision_type = {}, accumulation_type = {}, lhs_component_count = {}, \
             rhs_component_count = {}, num_primitive_operations = {}, allow_imprecise_accumulation = {}>",
            multiplied(0),
            multiplied(1),
            pullback_ir::hlo::element_type(self.summed),
            self.components[0],
            self.components[1],
            self.passes,
            self.is_imprecise
        )
    }

    /// The dtype that operands of these dtypes are converted to, `None` when they are taken as they are.
    ///
    /// # Errors
    /// A `Value` error for operands that the algorithm does not take.
    pub fn converts(&self, operands: [DType; 2]) -> pullback_base::Result<Option<DType>> {
        if let Some(CustomAlgorithm { types: [lhs, rhs, _], .. }) = self.custom
            && lhs != rhs
        {
            pullback_base::bail!(
                Value,
                "no device is known to have the algorithm '{}': its operands have two dtypes",
                self.name
            );
        }
        let Some(&first) = self.operands.first() else {
            if operands.iter().all(|dtype| dtype.is_float() && dtype.bits() == 8) {
                return Ok(None);
            }
            let [x, y] = operands;
            pullback_base::bail!(
                Value,
                "The dot algorithm '{}' requires both inputs to have float8 dtypes. Got {x} and {y} instead.",
                self.name
            );
        };
        let fits = operands[0] == operands[1] && self.operands.contains(&operands[0]);
        Ok((!fits).then_some(first))
    }
}
