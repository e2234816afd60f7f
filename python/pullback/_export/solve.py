"""Values of dimension variables from the shapes of a call."""

from pullback._core import user_error as _user_error
from pullback._export import dims

_ERRORS = 'pullback.help("symbolic_shapes")'
_SOLVABLE = _ERRORS


def _specifications(shapes):
    listed = [f"{name}.shape = {_shape_text(shape)}" for name, shape in shapes if any(isinstance(d, dims.DimExpr) for d in shape)]
    return "Using the following polymorphic shapes specifications: " + ",".join(listed) + ". "


def _shape_text(shape):
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _only_unknown(value, env):
    """The variable, its coefficient and the rest, when one unknown variable is left and occurs linearly; else None."""
    unknown = dims.variables(value) - env.keys()
    if len(unknown) != 1:
        return None
    name = next(iter(unknown))
    coefficient, rest = 0, 0
    for monomial, factor in dims.terms_of(value).items():
        others = [x for x in monomial if x != name]
        if len(monomial) - len(others) > 1 or any(name in dims.factor_variables(x) for x in others):
            return None
        for x in others:
            factor *= dims.factor_value(x, env)
        if len(others) < len(monomial):
            coefficient += factor
        else:
            rest += factor
    return (name, coefficient, rest) if coefficient else None


def solved(shapes, sizes, scope):
    """The values of the variables.

    Args:
      shapes: for each argument its name and symbolic shape.
      sizes: for each the integers of the call.
      scope: the scope of the variables, None when there are none.
    Raises ValueError where the sizes fit no values.
    """
    def failed(text):
        return _user_error(
            ValueError,
            f"Input shapes do not match the polymorphic shapes specification. {text} {_specifications(shapes)}"
            f"Obtained dimension variables: {''.join(obtained)}. Please see {_ERRORS} for more details."
        )

    env, obtained = {}, []
    open_ones = [
        (value, size, f"{name}.shape[{axis}]")
        for (name, shape), actual in zip(shapes, sizes)
        for axis, (value, size) in enumerate(zip(shape, actual)) if isinstance(value, dims.DimExpr)
    ]
    checks, moved = [], True
    while open_ones and moved:
        moved, later = False, []
        for value, size, place in open_ones:
            if dims.variables(value) <= env.keys():
                checks.append((value, size, place))
                moved = True
                continue
            found = _only_unknown(value, env)
            if found is None:
                later.append((value, size, place))
                continue
            name, coefficient, rest = found
            quotient, remainder = divmod(size - rest, coefficient)
            if remainder:
                raise failed(f"Division had remainder {remainder} when computing the value of '{name}'.")
            env[name], moved = quotient, True
            obtained.append(f"'{name}' = {quotient} from specification '{value}' for dimension {place} (= {size}), ")
            if quotient < 1:
                raise failed(f"Expected value >= 1 for dimension variable '{name}'.")
        open_ones = later
    if open_ones:
        raise unsolvable(shapes, [(value, place) for value, _, place in open_ones], env)
    for value, size, place in checks:
        if (wanted := dims.evaluate(value, env)) != size:
            raise failed(f"Found inconsistency between dimension size {place} (= {size}) and the specification '{value}' (= {wanted}).")
    for constraint, value in scope.violated(env) if scope else ():
        raise failed(f"Input shapes do not match the symbolic shape constraint {constraint}. Expected '{constraint}' to be true; the left side is {value}.")
    return env


def unsolvable(shapes, left, env):
    """The error of specifications that do not determine the variables."""
    names = set().union(*(dims.variables(value) for value, _ in left)) - env.keys()
    listed = ",".join(f"'{value}' for dimension size {place}" for value, place in left)
    return _user_error(
        ValueError,
        f"Cannot solve for values of dimension variables {names}. We can only solve linear uni-variate constraints. "
        f"{_specifications(shapes)}Unprocessed specifications: {listed}. Please see {_SOLVABLE} for more details."
    )
