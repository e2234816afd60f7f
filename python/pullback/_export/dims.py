"""Symbolic dimensions: polynomials over dimension variables, with `floordiv`, `mod`, `max` and `min` as further factors.

A `DimExpr` is a sum of terms: of each monomial, a sorted tuple of factors, the integer coefficient. A factor is the name of a
variable or an `Operation`. Operations give back an `int` when nothing symbolic is left. Comparison answers when the bounds of
the difference decide it, and raises `InconclusiveDimensionOperation` when they do not; equality that is not certain is False.
"""

import math

from pullback._core import user_error as _user_error
from pullback.errors import InconclusiveDimensionOperation

_COMPARISONS = 'pullback.help("InconclusiveDimensionOperation")'
_SCOPES = 'pullback.help("symbolic_shapes")'


class Operation:
    """A factor that is no variable: `floordiv`, `mod`, `max` or `min` of two expressions."""

    __slots__ = ("name", "operands")

    def __init__(self, name, *operands):
        self.name, self.operands = name, operands

    def __eq__(self, other):
        return type(other) is Operation and (self.name, self.operands) == (other.name, other.operands)

    def __hash__(self):
        return hash((self.name, self.operands))

    def __repr__(self):
        return f"{self.name}({', '.join(map(str, self.operands))})"


_EVALUATE = {"floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "max": max, "min": min}


def _factor_order(factor):
    return (0, factor, "") if isinstance(factor, str) else (1, factor.name, str(factor))


def _monomial_order(monomial):
    return len(monomial), [_factor_order(factor) for factor in monomial]


def _times(left, right):
    return tuple(sorted(left + right, key=_factor_order))


def terms_of(value):
    """The terms of an expression or of an integer."""
    return value.terms if isinstance(value, DimExpr) else {(): int(value)} if value else {}


def scope_of(*values):
    """The scope that the expressions among the values share; ValueError where they are of several."""
    found = None
    for value in values:
        if isinstance(value, DimExpr):
            if found is not None and value.scope is not found:
                raise _user_error(
                    ValueError,
                    f"Invalid mixing of symbolic scopes for linear combination.\nExpected  scope {found}\nand found for '{value}' "
                    f"(unknown) scope {value.scope}\nSee {_SCOPES}."
                )
            found = value.scope
    return found


def made(terms, scope):
    """The expression of terms, in the normal form that the equalities of the scope give; an `int` if it is constant."""
    terms = scope.normal({m: c for m, c in terms.items() if c})
    if not terms:
        return 0
    if list(terms) == [()]:
        return terms[()]
    return DimExpr(terms, scope)


def variable(name, scope):
    """The variable of a name."""
    return made({(name,): 1}, scope)


def add(left, right, factor=1):
    """`left + factor * right`."""
    scope = scope_of(left, right)
    terms = dict(terms_of(left))
    for monomial, coefficient in terms_of(right).items():
        terms[monomial] = terms.get(monomial, 0) + factor * coefficient
    return made(terms, scope) if scope else terms.get((), 0)


def multiply(left, right):
    """The product."""
    scope = scope_of(left, right)
    terms = {}
    for m, c in terms_of(left).items():
        for n, d in terms_of(right).items():
            product = _times(m, n)
            terms[product] = terms.get(product, 0) + c * d
    return made(terms, scope) if scope else terms.get((), 0)


def operation(name, left, right):
    """`floordiv`, `mod`, `max` or `min` of two dimensions, simplified."""
    scope = scope_of(left, right)
    if scope is None:
        return _EVALUATE[name](left, right)
    if name in ("max", "min"):
        return _extreme(name, left, right, scope)
    return _division(name, left, right, scope)


def _extreme(name, left, right, scope):
    low, high = bounds(add(left, right, -1))
    if low >= 0 or high <= 0:
        return left if (low >= 0) == (name == "max") else right
    return made({(Operation(name, left, right),): 1}, scope)


def _division(name, left, right, scope):
    if not isinstance(right, DimExpr) and right == 0:
        raise _user_error(ZeroDivisionError, "integer division or modulo by zero" if name == "floordiv" else "integer modulo by zero")
    exact = quotient(left, right)
    if exact is not None:
        return exact if name == "floordiv" else 0
    whole, rest = {}, dict(terms_of(left))
    if not isinstance(right, DimExpr):
        # What the divisor divides leaves the division.
        for monomial, coefficient in terms_of(left).items():
            share = coefficient // right if monomial == () else coefficient // right if coefficient % right == 0 else 0
            if share:
                whole[monomial] = share
                rest[monomial] = coefficient - share * right
    rest = made(rest, scope)
    if name == "mod" and not isinstance(right, DimExpr):
        low, high = bounds(rest, 0)
        if 0 <= low and high < right:
            return rest
    left_over = made({(Operation(name, rest, right),): 1}, scope) if isinstance(rest, DimExpr) or isinstance(right, DimExpr) else _EVALUATE[name](rest, right)
    return left_over if name == "mod" else add(made(whole, scope), left_over)


def quotient(left, right):
    """`left / right` when it is exact for all values, else None."""
    scope = scope_of(left, right)
    divisor = terms_of(right)
    if not divisor:
        return None
    lead = max(divisor, key=_monomial_order)
    result, rest = 0, left
    for _ in range(64):
        terms = terms_of(rest)
        if not terms:
            return result
        top = max(terms, key=_monomial_order)
        remaining = list(top)
        for factor in lead:
            if factor not in remaining:
                return None
            remaining.remove(factor)
        if terms[top] % divisor[lead]:
            return None
        part = made({tuple(remaining): terms[top] // divisor[lead]}, scope) if scope else terms[top] // divisor[lead]
        result, rest = add(result, part), add(rest, multiply(part, right), -1)
    return None


def factor_value(factor, env):
    """The integer that a factor is."""
    if isinstance(factor, str):
        return env[factor]
    return _EVALUATE[factor.name](*(evaluate(x, env) for x in factor.operands))


def factor_variables(factor):
    """The names of the variables in a factor."""
    return {factor} if isinstance(factor, str) else set().union(*map(variables, factor.operands))


def evaluate(value, env):
    """The integer that an expression is when its variables have the values of `env`."""
    if not isinstance(value, DimExpr):
        return int(value)
    return sum(coefficient * math.prod(factor_value(factor, env) for factor in monomial) for monomial, coefficient in value.terms.items())


def variables(value):
    """The names of the variables in an expression."""
    return {name for monomial in terms_of(value) for factor in monomial for name in factor_variables(factor)}


def _times_bounds(left, right):
    products = [0 if 0 in (x, y) else x * y for x in left for y in right]
    return min(products), max(products)


def _factor_bounds(factor, scope, depth):
    if isinstance(factor, str):
        return 1, math.inf
    (low, high), (by_low, by_high) = (bounds(x, depth - 1) for x in factor.operands)
    if factor.name == "max":
        return max(low, by_low), max(high, by_high)
    if factor.name == "min":
        return min(low, by_low), min(high, by_high)
    if by_low <= 0 and by_high >= 0 or by_high < 0:
        return -math.inf, math.inf
    if factor.name == "mod":
        return 0, by_high - 1
    quotients = [x if math.isinf(x) else 0 if math.isinf(y) and x >= 0 else -1 if math.isinf(y) else x // y for x in (low, high) for y in (by_low, by_high)]
    return min(quotients), max(quotients)


def _interval(terms, scope, depth):
    low = high = 0
    for monomial, coefficient in terms.items():
        one = (coefficient, coefficient)
        for factor in monomial:
            one = _times_bounds(one, _factor_bounds(factor, scope, depth))
        low, high = low + one[0], high + one[1]
    return low, high


def _division_substituted(terms, scope):
    """The terms times `k` with one `floordiv(e, k)` replaced by `e - mod(e, k)` over `k`, and `k`; None where there is none."""
    for monomial, coefficient in terms.items():
        for factor in monomial:
            if isinstance(factor, Operation) and factor.name == "floordiv" and isinstance(factor.operands[1], int) and len(monomial) == 1:
                dividend, k = factor.operands
                rest = made({m: c * k for m, c in terms.items() if m != monomial}, scope)
                return add(add(rest, multiply(dividend, coefficient)), operation("mod", dividend, k), -coefficient), k
    return None


def _lower(value, depth):
    """A lower bound of an expression: of its terms, and of its terms with what constraints allow."""
    if not isinstance(value, DimExpr):
        return value
    best = _interval(value.terms, value.scope, depth)[0]
    if depth <= 0 or best >= 0:
        return best
    substituted = _division_substituted(value.terms, value.scope)
    if substituted is not None:
        bound = _lower(substituted[0], depth - 1)
        best = max(best, bound if math.isinf(bound) else -(-bound // substituted[1]))
    for known in value.scope.known_nonnegative():
        best = max(best, _lower_by(value, known, depth))
    return best


def _lower_by(value, known, depth):
    """The bound that one constraint `known >= 0` gives: a multiple of it that cancels one term is taken away."""
    best = -math.inf
    for monomial, coefficient in terms_of(known).items():
        mine = value.terms.get(monomial, 0)
        if monomial == () or mine == 0 or mine * coefficient < 0:
            continue
        # coefficient * value - mine * known has no such term; value >= that / coefficient.
        scale, share = abs(coefficient), abs(mine)
        bound = _lower(add(multiply(value, scale), known, -share), depth - 1)
        best = max(best, bound if math.isinf(bound) else -(-bound // scale))
    return best


def bounds(value, depth=3):
    """Integers between which an expression lies for all values of its variables; infinite where none is known."""
    if not isinstance(value, DimExpr):
        return value, value
    return value.scope.bounds_of(value, depth, lambda: (_lower(value, depth), -_lower(multiply(value, -1), depth)))


def inconclusive(text, scope=None):
    """The error of an operation whose answer depends on the values of dimension variables."""
    using = f"\nUsing symbolic scope {scope}" if scope is not None and scope.has_constraints() else ""
    return _user_error(
        InconclusiveDimensionOperation,
        f"{text}{using}\nThis error arises for comparison operations with shapes that\nare non-constant, and the result of the operation "
        f"cannot be represented as\na boolean value for all values of the symbolic dimensions involved.\n\nPlease see {_COMPARISONS}\nfor more details."
    )


def _is_dim(value):
    import operator

    if isinstance(value, DimExpr):
        return True
    try:
        operator.index(value)
    except TypeError:
        return False
    return not hasattr(value, "aval")


def _arithmetic(fun, name):
    def forward(self, other):
        if _is_dim(other):
            return fun(self, other if isinstance(other, DimExpr) else int(other))
        return getattr(_traced(self), name)(other)

    def backward(self, other):
        if _is_dim(other):
            return fun(int(other), self)
        return getattr(_traced(self), name.replace("__", "__r", 1))(other)

    return forward, backward


def _traced(value):
    """The value of a dimension as a traced number."""
    from pullback._export.worlds import dim_as_value

    return dim_as_value(value)


class DimExpr:
    """A symbolic dimension.

    Attributes:
      terms: of each monomial its coefficient.
      scope: the `SymbolicScope` whose variables it is made of.
    """

    __slots__ = ("_hash", "scope", "terms")
    __array_priority__ = 1000

    def __init__(self, terms, scope):
        self.terms, self.scope = terms, scope
        self._hash = hash(frozenset(terms.items()))

    def _is_var(self):
        return self._to_var() is not None

    def _to_var(self):
        if len(self.terms) == 1:
            (monomial, coefficient), = self.terms.items()
            if coefficient == 1 and len(monomial) == 1 and isinstance(monomial[0], str):
                return monomial[0]
        return None

    def _get_vars(self):
        return variables(self)

    __add__, __radd__ = _arithmetic(add, "__add__")
    __sub__, __rsub__ = _arithmetic(lambda a, b: add(a, b, -1), "__sub__")
    __mul__, __rmul__ = _arithmetic(multiply, "__mul__")
    __floordiv__, __rfloordiv__ = _arithmetic(lambda a, b: operation("floordiv", a, b), "__floordiv__")
    __mod__, __rmod__ = _arithmetic(lambda a, b: operation("mod", a, b), "__mod__")

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __truediv__(self, other):
        exact = quotient(self, other) if _is_dim(other) and not (isinstance(other, int) and other == 0) else None
        return exact if exact is not None and isinstance(other, DimExpr) else _traced(self) / _value(other)

    def __rtruediv__(self, other):
        return _value(other) / _traced(self)

    def __pow__(self, other, modulo=None):
        if isinstance(other, int) and not isinstance(other, bool) and other >= 0 and modulo is None:
            result = 1
            for _ in range(other):
                result = multiply(result, self)
            return result
        return _traced(self) ** _value(other)

    def __rpow__(self, other):
        return _value(other) ** _traced(self)

    def __neg__(self):
        return multiply(self, -1)

    def __pos__(self):
        return self

    def __abs__(self):
        low, high = bounds(self)
        if low < 0 < high:
            raise inconclusive(f"Symbolic dimension 'abs({self})' is inconclusive.", self.scope)
        return self if low >= 0 else -self

    def __eq__(self, other):
        if not _is_dim(other):
            return False
        if isinstance(other, DimExpr):
            if other.scope is not self.scope:
                return False
            return self.terms == other.terms
        return False

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return self._hash

    def _at_least(self, other, text):
        low, high = bounds(add(self, other, -1))
        if low >= 0:
            return True
        if high < 0:
            return False
        raise inconclusive(f"Symbolic dimension comparison {text} is inconclusive.", self.scope)

    def __ge__(self, other):
        return self._at_least(other, f"'{self}' >= '{other}'") if _is_dim(other) else NotImplemented

    def __gt__(self, other):
        return self._at_least(add(other, 1), f"'{self}' > '{other}'") if _is_dim(other) else NotImplemented

    def __le__(self, other):
        if not _is_dim(other):
            return NotImplemented
        return (-self)._at_least(-other if not isinstance(other, DimExpr) else multiply(other, -1), f"'{self}' <= '{other}'")

    def __lt__(self, other):
        if not _is_dim(other):
            return NotImplemented
        return (-self)._at_least(add(multiply(other, -1), 1), f"'{self}' < '{other}'")

    def __int__(self):
        raise inconclusive(f"Symbolic dimension '{self}' used in a context that requires a constant", self.scope)

    def __index__(self):
        from pullback._export.worlds import value_in_world

        return value_in_world(self)

    def __jax_array__(self):
        return _traced(self)

    def __bool__(self):
        return True

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __str__(self):
        return text_of(self.terms)

    __repr__ = __str__


def _value(x):
    return _traced(x) if isinstance(x, DimExpr) else x


def _monomial_text(monomial):
    parts = []
    for factor in dict.fromkeys(monomial):
        times = monomial.count(factor)
        parts.append(str(factor) if times == 1 else f"{factor}^{times}")
    return "*".join(parts)


def text_of(terms):
    """Terms as JAX writes them: the highest first."""
    parts = []
    for monomial in sorted(terms, key=_monomial_order, reverse=True):
        coefficient = terms[monomial]
        size, body = abs(coefficient), _monomial_text(monomial)
        shown = str(size) if not body else body if size == 1 else f"{size}*{body}"
        sign = "- " if coefficient < 0 else "+ " if parts else ""
        parts.append(sign + shown)
    return " ".join(parts) or "0"
