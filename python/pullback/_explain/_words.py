"""What makes each kind of trouble, and its cure, in words and in the user's own expressions."""

import ast
import functools
import linecache

# Operations that pass on some of their operands' elements and drop the others.
DROPPING = {
    "select_n": "where", "max": "maximum", "min": "minimum", "clamp": "clip", "slice": "a slice", "dynamic_slice": "an index",
    "gather": "an index", "reduce_max": "max", "reduce_min": "min", "pad": "a pad", "scatter": "an update", "sort": "a sort",
    "dynamic_update_slice": "an update", "slice of scan": "a slice",
}

# How users write each operation.
_CALLED = {
    "log": {"log", "xlogy", "entr"}, "sqrt": {"sqrt", "norm", "std", "hypot"}, "exp": {"exp", "softmax", "logsumexp"},
    "log1p": {"log1p"}, "rsqrt": {"rsqrt"}, "acos": {"arccos", "acos"}, "asin": {"arcsin", "asin"}, "atanh": {"arctanh", "atanh"},
    "acosh": {"arccosh", "acosh"}, "pow": {"power", "pow", "float_power"}, "div": {"divide", "true_divide", "mean", "average", "var", "softmax"},
    "cbrt": {"cbrt"}, "tan": {"tan"}, "integer_pow": {"power", "pow"}, "lgamma": {"lgamma", "gammaln"}, "erf_inv": {"erfinv", "erf_inv"},
}
_OPERATORS = {"div": ast.Div, "pow": ast.Pow, "integer_pow": ast.Pow, "sqrt": ast.Pow, "mul": ast.Mult}
_WHY = {
    "log": "the slope of log(x) is 1/x, infinite at 0",
    "log2": "the slope of log2(x) is infinite at 0",
    "log1p": "the slope of log1p(x) is 1/(1 + x), infinite at -1",
    "sqrt": "the slope of sqrt(x) is 0.5/sqrt(x), infinite at 0 and not a number below it",
    "rsqrt": "rsqrt(x) and its slope are infinite at 0",
    "cbrt": "the slope of cbrt(x) is infinite at 0",
    "div": "a division by 0, whose slopes are infinite",
    "pow": "the slope of x**p is p * x**(p - 1), infinite at 0 for p < 1 and not a number for negative x",
    "integer_pow": "a negative power of 0 is infinite, and so is its slope",
    "exp": "exp(x) overflows to infinity, and so does its slope",
    "acos": "the slope of arccos is infinite at -1 and 1",
    "asin": "the slope of arcsin is infinite at -1 and 1",
    "atanh": "the slope of arctanh is infinite at -1 and 1",
    "acosh": "the slope of arccosh is infinite at 1",
    "erf_inv": "the slope of erfinv is infinite at -1 and 1",
    "mul": "a factor is not finite, or the product overflows",
    "tan": "tan is infinite near odd multiples of pi/2",
    "sub": "the difference of two infinities is not a number",
    "eigh": "eigenvectors of a repeated eigenvalue have no derivative",
    "eig": "eigenvectors of a repeated eigenvalue have no derivative",
    "svd": "singular vectors of repeated or zero singular values have no derivative",
    "qr": "the matrix has dependent columns",
    "cholesky": "the matrix is not positive definite",
    "lu": "the matrix is singular",
    "triangular_solve": "the matrix is singular",
    "custom_linear_solve": "the matrix is singular, or the solver did not converge",
    "lgamma": "lgamma is infinite at 0 and at negative integers",
}
_FLAT_CURES = {
    "floor": "round", "ceil": "round", "round": "round", "sign": "sign", "stop_gradient": "stop", "argmax": "argmax", "argmin": "argmax",
    "top_k": "argmax", "sort": "argmax", "convert_element_type": "cast", "gt": "compare", "ge": "compare", "lt": "compare", "le": "compare",
    "eq": "compare", "ne": "compare", "select_n": "compare", "cond": "compare",
}
_SMOOTH = {
    "round": "x + lax.stop_gradient(jnp.round(x) - x) passes the gradient straight through",
    "sign": "jnp.tanh(x / temperature) is a smooth sign",
    "stop": "remove stop_gradient, if its zero is not what you want",
    "argmax": "jax.nn.softmax(x / temperature) weighs instead of choosing",
    "cast": "keep the value floating; an integer has no derivative",
    "compare": "jax.nn.sigmoid((a - b) / temperature) is a smooth comparison",
}
_SATURATED = {
    "logistic": ("the sigmoid is saturated: its slope is below the smallest number", "scale its input down, or compute the loss from logits with jax.nn.log_sigmoid"),
    "tanh": ("tanh is saturated: its slope rounds to 0", "scale its input down"),
    "max": ("maximum took its other operand everywhere, as relu does for what is negative", "jax.nn.softplus, jax.nn.leaky_relu or jnp.logaddexp in place of maximum"),
    "min": ("minimum took its other operand everywhere", "-jnp.logaddexp(-a, -b) is a smooth minimum"),
    "clamp": ("clip cut every element off", "a wider range, or a * jnp.tanh(x / a)"),
    "select_n": ("where took its other case everywhere", "look at the condition; jax.nn.sigmoid weighs instead of choosing"),
    "exp": ("exp underflows to 0, and so does its slope", "work with logarithms: jax.nn.logsumexp, jax.nn.log_softmax"),
    "mul": ("a factor is 0, or the product underflows", "look at the other factor"),
    "dot_general": ("the other factor is 0", "look at the other factor"),
    "integer_pow": ("the slope of a power is 0 at 0", "start from another point"),
    "square": ("the slope of a square is 0 at 0", "start from another point"),
    "abs": ("abs has slope 0 at 0 here", "start from another point"),
    "erf": ("erf is saturated", "scale its input down"),
    "div": ("the quotient underflows, or its numerator is 0", "look at the operands"),
    "sin": ("the slope of sin is 0 there", "start from another point"),
    "cos": ("the slope of cos is 0 there", "start from another point"),
    "gather": ("the index takes other elements", "look at the index"),
    "slice": ("the slice takes other elements", "look at its bounds"),
}


def why(node):
    if node.primitive in ("custom_jvp_call", "custom_vjp_call"):
        return f"the rule of {node.name} gives no finite derivative there"
    return _WHY.get(node.primitive, f"{node.primitive} has no finite slope there")


@functools.lru_cache(maxsize=64)
def _parsed(text):
    try:
        return ast.parse(text)
    except SyntaxError:
        return None


def _nodes_at(file, line):
    text = "".join(linecache.getlines(file)) if file else ""
    tree = _parsed(text)
    if tree is None:
        return text, []
    spans = lambda node: getattr(node, "lineno", -1) <= (line or -2) <= getattr(node, "end_lineno", -1)
    return text, [node for node in ast.walk(tree) if isinstance(node, (ast.Call, ast.BinOp)) and spans(node)]


def _name(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)


class Expression:
    """The user's expression for an operation, and the operand of it that is in the way."""

    def __init__(self, text, node, operand):
        self.whole, self.operand = (ast.get_source_segment(text, part) for part in (node, operand))
        self.name = _name(node) if isinstance(node, ast.Call) else None
        start = operand.col_offset - node.col_offset
        is_on_one_line = node.lineno == node.end_lineno and self.whole.isascii()
        self.filtered = self.whole[:start] + "safe" + self.whole[start + len(self.operand) :] if is_on_one_line else None


def expression_of(primitive, file, line):
    """The user's expression for an operation; None where there is none on the line, or several."""
    text, nodes = _nodes_at(file, line)
    operators = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS.get(primitive, ()))]
    calls = [node for node in nodes if isinstance(node, ast.Call) and _name(node) in _CALLED.get(primitive, ()) and node.args]
    found = [(node, node.right if isinstance(node.op, ast.Div) else node.left) for node in operators]
    named = [(node, node.args[0]) for node in calls]
    # A root is mostly called, and a power on its line another operation.
    found = named or found if primitive == "sqrt" else found or named
    return Expression(text, *found[0]) if len(found) == 1 else None


def condition_of(file, line):
    """The condition of the only `where` on a line."""
    text, nodes = _nodes_at(file, line)
    found = [node for node in nodes if isinstance(node, ast.Call) and _name(node) == "where" and len(node.args) == 3]
    return ast.get_source_segment(text, found[0].args[0]) if len(found) == 1 else None


_SAFE = {"acos": "0.", "asin": "0.", "atanh": "0.", "erf_inv": "0.", "exp": "0.", "log1p": "0.", "acosh": "2."}


def double_where(node, dropper, case):
    """The cure of what a choice drops: the operand filtered before. `case` is the operand of the choice that it was."""
    expression = expression_of(node.primitive, node.file, node.line)
    if expression is None:
        return f"filter the operand of {node.primitive} before (a second where), or take the gradient under pullback.safe_grads()"
    x, safe = expression.operand, _SAFE.get(node.primitive, "1.")
    condition = condition_of(dropper.file, dropper.line) if dropper.primitive == "select_n" else None
    guard = f"jnp.where(<{x} is fine>, {x}, {safe})"
    if condition is not None:
        guard = f"jnp.where({condition}, {x}, {safe})" if case == 2 else f"jnp.where({condition}, {safe}, {x})"
    instead = expression.filtered or f"{expression.whole} with safe in place of {x}"
    return f"safe = {guard}; then {instead} — or take the gradient under pullback.safe_grads()"


def guard(node, is_norm, is_count):
    """The cure of what really reaches the result."""
    expression = expression_of(node.primitive, node.file, node.line)
    x = expression.operand if expression else "x"
    if is_norm and expression and expression.name == "std":
        return "pullback.masked.std, whose slope there is 0, or pullback.safe_grads()"
    if is_norm:
        square = f"({x} * {x}).sum()" if expression is None or expression.name == "norm" else x
        return f"square = {square}; jnp.where(square > 0, jnp.sqrt(jnp.where(square > 0, square, 1.)), 0.) — or pullback.safe_grads()"
    if is_count:
        return f"nothing is counted: divide by jnp.maximum({x}, 1), use where= of the mean, or pullback.masked.mean"
    cures = {
        "log": f"jnp.log({x} + eps), jnp.log(jnp.maximum({x}, eps)), or jax.scipy.special.xlogy for x log x",
        "sqrt": f"jnp.sqrt({x} + eps)", "rsqrt": f"lax.rsqrt({x} + eps)", "cbrt": f"jnp.cbrt({x} + eps)",
        "div": f"jnp.where({x} == 0, 0., n / jnp.where({x} == 0, 1., {x})), or an eps in the divisor",
        "pow": f"(jnp.abs({x}) + eps) ** p", "integer_pow": f"a guard against {x} == 0",
        "exp": "stay in logarithms: jax.nn.logsumexp, jax.nn.softplus for log(1 + exp(x)), jnp.expm1; or clip the exponent before",
        "log1p": f"keep {x} above -1",
    }
    whole = f": {expression.whole}" if expression else ""
    return cures.get(node.primitive, f"keep the operand of {node.primitive} where it is finite{whole}")


def flat_cure(primitive):
    return _SMOOTH.get(_FLAT_CURES.get(primitive, ""), "a smooth function in its place")


def saturation(node):
    if node.primitive in ("custom_jvp_call", "custom_vjp_call"):
        return f"the rule of {node.name} gives 0 here", "look at its input: jax.nn.softplus and jax.nn.leaky_relu have slopes everywhere"
    return _SATURATED.get(node.primitive, (f"{node.primitive} passes nothing back here", "look at its operands"))
