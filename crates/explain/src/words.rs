//! What makes each kind of trouble, and its cure, in words and in the user's own expressions.

use crate::source::{Found, Program, Sources, What, is_rust};
use crate::tape::Node;

/// Operations that pass on some of their operands' elements and drop the others, as users call them.
pub(crate) fn dropping(primitive: &str) -> Option<&'static str> {
    Some(match primitive {
        "select_n" => "where",
        "max" => "maximum",
        "min" => "minimum",
        "clamp" => "clip",
        "slice" | "slice of scan" => "a slice",
        "dynamic_slice" | "gather" => "an index",
        "reduce_max" => "max",
        "reduce_min" => "min",
        "pad" => "a pad",
        "scatter" | "dynamic_update_slice" => "an update",
        "sort" => "a sort",
        _ => return None,
    })
}

/// The functions by which users ask for a primitive.
fn called(primitive: &str) -> &'static [&'static str] {
    match primitive {
        "log" => &["log", "xlogy", "entr", "ln"],
        "sqrt" => &["sqrt", "norm", "std", "hypot"],
        "exp" => &["exp", "softmax", "logsumexp"],
        "log1p" => &["log1p"],
        "rsqrt" => &["rsqrt"],
        "acos" => &["arccos", "acos"],
        "asin" => &["arcsin", "asin"],
        "atanh" => &["arctanh", "atanh"],
        "acosh" => &["arccosh", "acosh"],
        "pow" => &["power", "pow", "float_power", "powf"],
        "div" => &["divide", "true_divide", "mean", "average", "var", "softmax"],
        "cbrt" => &["cbrt"],
        "tan" => &["tan"],
        "integer_pow" => &["power", "pow", "powi"],
        "lgamma" => &["lgamma", "gammaln"],
        "erf_inv" => &["erfinv", "erf_inv"],
        _ => &[],
    }
}

fn operator(primitive: &str) -> &'static str {
    match primitive {
        "div" => "/",
        "pow" | "integer_pow" | "sqrt" => "**",
        "mul" => "*",
        _ => "",
    }
}

/// Why the derivative of an operation is no finite number.
pub(crate) fn why(node: &Node) -> String {
    if node.has_rule() {
        return format!("the rule of {} gives no finite derivative there", node.name());
    }
    let text = match node.primitive() {
        "log" => "the slope of log(x) is 1/x, infinite at 0",
        "log2" => "the slope of log2(x) is infinite at 0",
        "log1p" => "the slope of log1p(x) is 1/(1 + x), infinite at -1",
        "sqrt" => "the slope of sqrt(x) is 0.5/sqrt(x), infinite at 0 and not a number below it",
        "rsqrt" => "rsqrt(x) and its slope are infinite at 0",
        "cbrt" => "the slope of cbrt(x) is infinite at 0",
        "div" => "a division by 0, whose slopes are infinite",
        "pow" => "the slope of x**p is p * x**(p - 1), infinite at 0 for p < 1 and not a number for negative x",
        "integer_pow" => "a negative power of 0 is infinite, and so is its slope",
        "exp" => "exp(x) overflows to infinity, and so does its slope",
        "acos" => "the slope of arccos is infinite at -1 and 1",
        "asin" => "the slope of arcsin is infinite at -1 and 1",
        "atanh" => "the slope of arctanh is infinite at -1 and 1",
        "acosh" => "the slope of arccosh is infinite at 1",
        "erf_inv" => "the slope of erfinv is infinite at -1 and 1",
        "mul" => "a factor is not finite, or the product overflows",
        "tan" => "tan is infinite near odd multiples of pi/2",
        "sub" => "the difference of two infinities is not a number",
        "eigh" | "eig" => "eigenvectors of a repeated eigenvalue have no derivative",
        "svd" => "singular vectors of repeated or zero singular values have no derivative",
        "qr" => "the matrix has dependent columns",
        "cholesky" => "the matrix is not positive definite",
        "lu" | "triangular_solve" => "the matrix is singular",
        "custom_linear_solve" => "the matrix is singular, or the solver did not converge",
        "lgamma" => "lgamma is infinite at 0 and at negative integers",
        other => return format!("{other} has no finite slope there"),
    };
    text.into()
}

/// What to write in place of an operation that is flat.
pub(crate) fn flat_cure(primitive: &str) -> &'static str {
    match primitive {
        "floor" | "ceil" | "round" => "x + lax.stop_gradient(jnp.round(x) - x) passes the gradient straight through",
        "sign" => "jnp.tanh(x / temperature) is a smooth sign",
        "stop_gradient" => "remove stop_gradient, if its zero is not what you want",
        "argmax" | "argmin" | "top_k" | "sort" => "jax.nn.softmax(x / temperature) weighs instead of choosing",
        "convert_element_type" => "keep the value floating; an integer has no derivative",
        "gt" | "ge" | "lt" | "le" | "eq" | "ne" | "select_n" | "cond" => {
            "jax.nn.sigmoid((a - b) / temperature) is a smooth comparison"
        }
        _ => "a smooth function in its place",
    }
}

/// Why an operation passes zeros back, and what to do.
pub(crate) fn saturation(node: &Node) -> (String, String) {
    if node.has_rule() {
        return (
            format!("the rule of {} gives 0 here", node.name()),
            "look at its input: jax.nn.softplus and jax.nn.leaky_relu have slopes everywhere".into(),
        );
    }
    let (cause, cure) = match node.primitive() {
        "logistic" => (
            "the sigmoid is saturated: its slope is below the smallest number",
            "scale its input down, or compute the loss from logits with jax.nn.log_sigmoid",
        ),
        "tanh" => ("tanh is saturated: its slope rounds to 0", "scale its input down"),
        "max" => (
            "maximum took its other operand everywhere, as relu does for what is negative",
            "jax.nn.softplus, jax.nn.leaky_relu or jnp.logaddexp in place of maximum",
        ),
        "min" => ("minimum took its other operand everywhere", "-jnp.logaddexp(-a, -b) is a smooth minimum"),
        "clamp" => ("clip cut every element off", "a wider range, or a * jnp.tanh(x / a)"),
        "select_n" => {
            ("where took its other case everywhere", "look at the condition; jax.nn.sigmoid weighs instead of choosing")
        }
        "exp" => {
            ("exp underflows to 0, and so does its slope", "work with logarithms: jax.nn.logsumexp, jax.nn.log_softmax")
        }
        "mul" => ("a factor is 0, or the product underflows", "look at the other factor"),
        "dot_general" => ("the other factor is 0", "look at the other factor"),
        "integer_pow" => ("the slope of a power is 0 at 0", "start from another point"),
        "square" => ("the slope of a square is 0 at 0", "start from another point"),
        "abs" => ("abs has slope 0 at 0 here", "start from another point"),
        "erf" => ("erf is saturated", "scale its input down"),
        "div" => ("the quotient underflows, or its numerator is 0", "look at the operands"),
        "sin" => ("the slope of sin is 0 there", "start from another point"),
        "cos" => ("the slope of cos is 0 there", "start from another point"),
        "gather" => ("the index takes other elements", "look at the index"),
        "slice" => ("the slice takes other elements", "look at its bounds"),
        other => return (format!("{other} passes nothing back here"), "look at its operands".into()),
    };
    (cause.into(), cure.into())
}

/// The user's expression for an operation, and the operand of it that is in the way.
pub(crate) struct Expression {
    /// All of it.
    pub(crate) whole: String,
    /// The operand.
    pub(crate) operand: String,
    /// The function that is called; `None` for an operator.
    pub(crate) name: Option<String>,
    /// The expression with `safe` as its operand.
    filtered: Option<String>,
    is_rust: bool,
}

impl Expression {
    fn new(program: &Program, found: &Found, is_rust: bool) -> Option<Expression> {
        let (range, name) = match &found.what {
            What::Call { name, receiver: Some(receiver), args } if is_rust && args.len() <= 1 => (receiver, Some(name)),
            What::Call { name, args, .. } => (args.first()?, Some(name)),
            What::Binary { operator, left, right } => (if operator == "/" { right } else { left }, None),
        };
        let whole = program.text(&found.range);
        let operand = program.text(range);
        let bare = if is_rust { operand.trim_start_matches('&') } else { operand };
        let begin = range.start - found.range.start + (operand.len() - bare.len());
        let filtered = format!("{}safe{}", &whole[..begin], &whole[begin + bare.len()..]);
        let is_on_one_line = !whole.contains('\n');
        Some(Expression {
            whole: whole.into(),
            operand: bare.into(),
            name: name.cloned(),
            filtered: is_on_one_line.then_some(filtered),
            is_rust,
        })
    }
}

/// The user's expression for an operation; `None` where there is none on the line, or several.
pub(crate) fn expression_of(sources: &Sources<'_>, node: &Node) -> Option<Expression> {
    let place = node.place()?;
    let program = sources.program(&place.file)?;
    let (primitive, is_rust) = (node.primitive(), is_rust(&place.file));
    let (mut operators, mut calls) = (vec![], vec![]);
    for found in program.on_line(place.line) {
        match &found.what {
            What::Binary { operator: found_operator, .. } if found_operator == operator(primitive) => {
                operators.push(found)
            }
            What::Call { name, receiver, args }
                if called(primitive).contains(&name.as_str())
                    && (!args.is_empty() || is_rust && receiver.is_some()) =>
            {
                calls.push(found);
            }
            _ => {}
        }
    }
    // A root is mostly called, and a power on its line another operation.
    let calls_first = primitive == "sqrt" || operators.is_empty();
    let found = if calls_first && !calls.is_empty() { calls } else { operators };
    match found[..] {
        [only] => Expression::new(&program, only, is_rust),
        _ => None,
    }
}

/// The condition of the only `where` on the line of an operation.
fn condition_of(sources: &Sources<'_>, node: &Node) -> Option<String> {
    let place = node.place()?;
    let program = sources.program(&place.file)?;
    let wanted = if is_rust(&place.file) { "select" } else { "where" };
    let choices = program.on_line(place.line).filter_map(|found| match &found.what {
        What::Call { name, args, .. } if (name == wanted || name == "where") && args.len() == 3 => Some(&args[0]),
        _ => None,
    });
    match choices.collect::<Vec<_>>()[..] {
        [only] => Some(program.text(only).to_string()),
        _ => None,
    }
}

/// A number at which an operation and its slope are finite.
fn harmless(primitive: &str) -> &'static str {
    match primitive {
        "acos" | "asin" | "atanh" | "erf_inv" | "exp" | "log1p" => "0.",
        "acosh" => "2.",
        _ => "1.",
    }
}

/// The cure of what a choice drops: the operand filtered before. `case` is the operand of the choice that it was.
pub(crate) fn double_where(sources: &Sources<'_>, node: &Node, dropper: &Node, case: usize) -> String {
    let in_rust = node.place().is_some_and(|place| is_rust(&place.file));
    let setting = if in_rust { "pullback::safe_grads(|| …)" } else { "pullback.safe_grads()" };
    let Some(expression) = expression_of(sources, node) else {
        let primitive = node.primitive();
        return format!(
            "filter the operand of {primitive} before (a second where), or take the gradient under {setting}"
        );
    };
    let (x, safe) = (&expression.operand, harmless(node.primitive()));
    let condition = if dropper.primitive() == "select_n" { condition_of(sources, dropper) } else { None };
    let guard = match (condition, case == 2, expression.is_rust) {
        (None, _, false) => format!("jnp.where(<{x} is fine>, {x}, {safe})"),
        (Some(condition), true, false) => format!("jnp.where({condition}, {x}, {safe})"),
        (Some(condition), false, false) => format!("jnp.where({condition}, {safe}, {x})"),
        (None, _, true) => format!("select(&(<{x} is fine>), &{x}, &full({x}.shape(), {safe}0))"),
        (Some(condition), true, true) => format!("select({condition}, &{x}, &full({x}.shape(), {safe}0))"),
        (Some(condition), false, true) => format!("select({condition}, &full({x}.shape(), {safe}0), &{x})"),
    };
    let instead = expression.filtered.unwrap_or_else(|| format!("{} with safe in place of {x}", expression.whole));
    let binding = if expression.is_rust { "let safe" } else { "safe" };
    format!("{binding} = {guard}; then {instead} — or take the gradient under {setting}")
}

/// The cure of what really reaches the result.
pub(crate) fn guard(node: &Node, expression: Option<&Expression>, is_norm: bool, is_count: bool) -> String {
    let x = expression.map_or("x", |expression| &expression.operand);
    if expression.is_some_and(|expression| expression.is_rust) {
        return guard_in_rust(node.primitive(), x, is_norm, is_count);
    }
    if is_norm {
        let name = expression.and_then(|expression| expression.name.as_deref());
        if name == Some("std") {
            return "pullback.masked.std, whose slope there is 0, or pullback.safe_grads()".into();
        }
        let is_whole = expression.is_none() || name == Some("norm");
        let square = if is_whole { format!("({x} * {x}).sum()") } else { x.into() };
        return format!(
            "square = {square}; jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.)), 0.) — or \
             pullback.safe_grads()"
        );
    }
    if is_count {
        return format!(
            "nothing is counted: divide by jnp.maximum({x}, 1), use where= of the mean, or pullback.masked.mean"
        );
    }
    match node.primitive() {
        "log" => {
            format!("jnp.log({x} + eps), jnp.log(jnp.maximum({x}, eps)), or jax.scipy.special.xlogy for x log x")
        }
        "sqrt" => format!("jnp.sqrt({x} + eps)"),
        "rsqrt" => format!("lax.rsqrt({x} + eps)"),
        "cbrt" => format!("jnp.cbrt({x} + eps)"),
        "div" => format!("jnp.where({x} == 0, 0., n / jnp.where({x} == 0, 1., {x})), or an eps in the divisor"),
        "pow" => format!("(jnp.abs({x}) + eps) ** p"),
        "integer_pow" => format!("a guard against {x} == 0"),
        "exp" => "stay in logarithms: jax.nn.logsumexp, jax.nn.softplus for log(1 + exp(x)), jnp.expm1; or clip the \
                  exponent before"
            .into(),
        "log1p" => format!("keep {x} above -1"),
        other => {
            let whole = expression.map_or_else(String::new, |expression| format!(": {}", expression.whole));
            format!("keep the operand of {other} where it is finite{whole}")
        }
    }
}

fn guard_in_rust(primitive: &str, x: &str, is_norm: bool, is_count: bool) -> String {
    match primitive {
        _ if is_norm => {
            format!("take the gradient under pullback::safe_grads(|| …), where the slope of {x}'s root at 0 is 0")
        }
        _ if is_count => format!("nothing is counted: divide by numpy::maximum(&{x}, 1.0)"),
        "log" => format!("(&{x} + eps).log()"),
        "sqrt" => format!("(&{x} + eps).sqrt()"),
        "pow" => format!("(&{x}.abs() + eps) to the power"),
        "div" => format!("an eps in the divisor: (&{x} + eps)"),
        "exp" => "stay in logarithms: nn::logsumexp, nn::softplus; or clip the exponent before".into(),
        other => format!("keep the operand of {other} where it is finite: {x}"),
    }
}

/// A text for users of Rust, whose modules have other names.
pub(crate) fn in_rust(text: &str) -> String {
    let names = [
        ("jax.nn.", "nn::"),
        ("jnp.linalg.", "numpy::"),
        ("jnp.", "numpy::"),
        ("lax.", "lax::"),
        ("jax.scipy.", "scipy::"),
    ];
    names.iter().fold(text.to_string(), |text, (python, rust)| text.replace(python, rust))
}
