//! The primitives that user functions bind, by name.
//!
//! One place holds the way from a user function to a primitive, so that params have one spelling here.

use std::sync::OnceLock;

use pullback_base::{Error, Result};
use pullback_ir::{ParamField, ParamValue, Params, PrimRef, Val, Vals};

/// A primitive found by its name at first use.
pub(crate) struct Named {
    name: &'static str,
    found: OnceLock<Option<PrimRef>>,
}

impl Named {
    pub(crate) const fn new(name: &'static str) -> Named {
        Named { name, found: OnceLock::new() }
    }

    /// The name in jaxprs.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The primitive.
    pub(crate) fn get(&self) -> Result<PrimRef> {
        let found = *self.found.get_or_init(|| pullback_core::find_primitive(self.name));
        found.ok_or_else(|| Error::not_implemented(format!("primitive '{}' is not implemented", self.name)))
    }

    /// Whether there is such a primitive.
    pub(crate) fn exists(&self) -> bool {
        self.get().is_ok()
    }

    /// Binds without params; one result.
    pub(crate) fn call(&self, ins: &[Val]) -> Result<Val> {
        pullback_trace::bind_one(self.get()?, &Params::NONE, ins)
    }

    /// Binds with the given params; one result.
    pub(crate) fn call_with(&self, params: Fields, ins: &[Val]) -> Result<Val> {
        Ok(self.call_many(params, ins)?.swap_remove(0))
    }

    /// As [`Named::call_with`], with the operands checked first: a map around the call may leave nothing to check.
    pub(crate) fn checked_call(&self, params: Fields, ins: &[Val]) -> Result<Val> {
        let prim = self.get()?;
        let avals: Vec<_> = ins.iter().map(Val::aval).collect();
        let params = prim.params_from_fields(&params.0)?;
        prim.abstract_eval(&params, &avals)?;
        pullback_trace::bind_one(prim, &params, ins)
    }

    /// Binds with the given params; all results.
    pub(crate) fn call_many(&self, params: Fields, ins: &[Val]) -> Result<Vals> {
        let prim = self.get()?;
        let params = prim.params_from_fields(&params.0)?;
        pullback_trace::bind(prim, &params, ins)
    }
}

/// Params by name.
#[derive(Default)]
pub(crate) struct Fields(Vec<(String, ParamValue)>);

impl Fields {
    pub(crate) fn new() -> Fields {
        Fields::default()
    }

    pub(crate) fn with(mut self, name: &str, value: &impl ParamField) -> Fields {
        self.0.push((name.to_string(), value.to_value()));
        self
    }

    pub(crate) fn none(mut self, name: &str) -> Fields {
        self.0.push((name.to_string(), ParamValue::None));
        self
    }

    pub(crate) fn value(mut self, name: &str, value: ParamValue) -> Fields {
        self.0.push((name.to_string(), value));
        self
    }
}

macro_rules! primitives {
    ($($constant:ident $name:literal;)*) => {
        $(pub(crate) static $constant: Named = Named::new($name);)*
    };
}
primitives! {
    ALL_GATHER "all_gather"; ALL_TO_ALL "all_to_all"; AXIS_INDEX "axis_index"; PBROADCAST "pbroadcast"; PMAX "pmax";
    PMIN "pmin"; PPERMUTE "ppermute"; PSUM "psum"; PSUM_INVARIANT "psum_invariant"; REDUCE_SCATTER "reduce_scatter";
    ABS "abs"; ACOS "acos"; ACOSH "acosh"; ADD "add"; AND "and"; ARGMAX "argmax"; ARGMIN "argmin"; ASIN "asin";
    ASINH "asinh"; ATAN "atan"; ATAN2 "atan2"; ATANH "atanh"; BESSEL_I0E "bessel_i0e"; BESSEL_I1E "bessel_i1e";
    BITCAST_CONVERT_TYPE "bitcast_convert_type"; BROADCAST_IN_DIM "broadcast_in_dim"; CBRT "cbrt"; CEIL "ceil";
    CLAMP "clamp"; CLZ "clz"; COMPLEX "complex"; CONCATENATE "concatenate"; CONJ "conj";
    CONVERT_ELEMENT_TYPE "convert_element_type"; COPY "copy"; COS "cos"; COSH "cosh"; CUMLOGSUMEXP "cumlogsumexp";
    CUMMAX "cummax"; CUMMIN "cummin"; CUMPROD "cumprod"; CUMSUM "cumsum"; DIGAMMA "digamma"; DIV "div";
    DYNAMIC_SLICE "dynamic_slice"; DYNAMIC_UPDATE_SLICE "dynamic_update_slice"; EQ "eq";
    ERF "erf"; ERFC "erfc"; ERF_INV "erf_inv"; EXP "exp"; EXP2 "exp2"; EXPM1 "expm1"; FLOOR "floor"; GATHER "gather";
    GE "ge"; GT "gt"; IGAMMA "igamma"; IGAMMA_GRAD_A "igamma_grad_a"; IGAMMAC "igammac"; IMAG "imag"; INTEGER_POW "integer_pow"; IOTA "iota";
    IS_FINITE "is_finite"; LE "le"; LGAMMA "lgamma"; LOG "log"; LOG1P "log1p"; LOG2 "log2"; LOGISTIC "logistic";
    LT "lt"; MAX "max"; MIN "min"; MUL "mul"; MULHI "mulhi"; NE "ne"; NEG "neg"; NEXTAFTER "nextafter"; NOT "not";
    ONE_MINUS_SQUARE "one_minus_square"; OPTIMIZATION_BARRIER "optimization_barrier"; OR "or"; PAD "pad";
    POLYGAMMA "polygamma"; POPULATION_COUNT "population_count"; POW "pow"; RANDOM_BITS "random_bits"; RANDOM_GAMMA_GRAD "random_gamma_grad";
    RANDOM_CLONE "random_clone"; RANDOM_FOLD_IN "random_fold_in"; RANDOM_GAMMA "random_gamma";
    RANDOM_SEED "random_seed"; RANDOM_SPLIT "random_split"; RANDOM_UNWRAP "random_unwrap"; RANDOM_WRAP "random_wrap";
    REAL "real"; REDUCE_AND "reduce_and"; REDUCE_MAX "reduce_max"; REDUCE_MIN "reduce_min"; REDUCE_OR "reduce_or";
    REDUCE_PRECISION "reduce_precision"; REDUCE_PROD "reduce_prod"; REDUCE_SUM "reduce_sum"; REDUCE_XOR "reduce_xor";
    REGULARIZED_INCOMPLETE_BETA "regularized_incomplete_beta"; REM "rem"; RESHAPE "reshape"; REV "rev";
    ROUND "round"; RSQRT "rsqrt"; SCATTER "scatter"; SCATTER_ADD "scatter-add"; SCATTER_MAX "scatter-max";
    SCATTER_MIN "scatter-min"; SCATTER_MUL "scatter-mul"; SCATTER_SUB "scatter-sub";
    SEARCH_SORTED "SearchSorted"; SELECT_N "select_n"; SHIFT_LEFT "shift_left";
    SHIFT_RIGHT_ARITHMETIC "shift_right_arithmetic"; SHIFT_RIGHT_LOGICAL "shift_right_logical"; SIGN "sign";
    SIN "sin"; SINH "sinh"; SLICE "slice"; SORT "sort"; SPLIT "split"; SQRT "sqrt"; SQUARE "square";
    SQUEEZE "squeeze"; STACK "stack"; STOP_GRADIENT "stop_gradient"; SUB "sub"; TAN "tan"; TANH "tanh"; TILE "tile";
    TOP_K "top_k"; TRANSPOSE "transpose"; UNSTACK "unstack"; XOR "xor"; ZETA "zeta";
}
