"""Scopes of dimension variables, the constraints between them, and the texts that name symbolic shapes."""

import re
import sys

from pullback._core import user_error as _user_error
from pullback._export import dims

_TOKEN = re.compile(r"\s*(?:(\d+)|([^\W\d]\w*)|(\.\.\.|>=|<=|==|[-+*^(),]))")
_OPERATIONS = ("floordiv", "mod", "max", "min")
_NAMES = {"(": "LPAR", ")": "RPAR", ",": "COMMA", "*": "STAR", "+": "PLUS", "-": "MINUS", "^": "CIRCUMFLEX", "...": "ELLIPSIS"}


class SymbolicScope:
    """Where dimension variables of one name are one variable, with constraints that hold between them.

    Dimensions of two scopes do not mix: an operation on them is a ValueError.

    Args:
      constraints_str: texts as `"a >= b"`, `"a <= 8"` or `"mod(a, 2) == 0"`.
    Raises ValueError for a constraint that cannot be read, or never holds.

    Example:
      >>> from pullback import export
      >>> scope = export.SymbolicScope(["a >= 4"])
      >>> a, = export.symbolic_shape("a", scope=scope)
      >>> a >= 4
      True
    """

    def __init__(self, constraints_str=()):
        self._texts, self._nonnegative, self._equal, self._bounds, self.given = [], [], {}, {}, tuple(constraints_str)
        if isinstance(constraints_str, str):
            raise _user_error(ValueError, "The symbolic constraints should be a sequence of strings. Got " + repr(constraints_str))
        caller = sys._getframe(1)
        while caller.f_back is not None and "pullback" in caller.f_globals.get("__name__", ""):
            caller = caller.f_back
        self._place = f"{caller.f_code.co_filename}:{caller.f_lineno} ({caller.f_code.co_name})"
        for text in constraints_str:
            self._add(text)

    def _add(self, text):
        if not isinstance(text, str):
            raise _user_error(ValueError, f"Symbolic constraint must be a string: {text!r}")
        found = re.search(r"==|>=|<=", text)
        if found is None:
            raise _user_error(ValueError, "Constraint parsing error: must contain one of '==' or '>=' or '<='")
        left = Reader(text[: found.start()], self, text).whole()
        right = Reader(text[found.end() :], self, text).whole()
        self._texts.append(text if found.group() != "==" else f"{left}=={right}")
        if found.group() == "==":
            self._add_equality(left, right, text)
        else:
            self._add_bound(dims.add(left, right, -1) if found.group() == ">=" else dims.add(right, left, -1), text)
        self._bounds.clear()

    def _add_bound(self, difference, text):
        low, high = dims.bounds(difference)
        if high < 0:
            raise _user_error(ValueError, f"Unsatisfiable constraint: {text}")
        if low < 0:
            self._nonnegative.append(difference)
            self._bounds.clear()

    def _add_equality(self, left, right, text):
        difference = dims.add(left, right, -1)
        if not isinstance(difference, dims.DimExpr):
            if difference != 0:
                raise _user_error(ValueError, f"Unsatisfiable constraint: {text}")
            return
        terms = dims.terms_of(left)
        if len(terms) != 1 or () in terms:
            raise _user_error(
                ValueError,
                f"Invalid equality constraint: {text}. The left-hand-side must be of the form `term * coefficient`."
            )
        (monomial, coefficient), = terms.items()
        if len(monomial) == 1 and not isinstance(monomial[0], str) and monomial[0].name == "mod" and right == 0:
            # A multiple: the division by the same number is exact, so k * floordiv(e, k) is e.
            dividend, divisor = monomial[0].operands
            self._equal[monomial] = (coefficient, right)
            whole = dims.operation("floordiv", dividend, divisor)
            if isinstance(whole, dims.DimExpr) and isinstance(divisor, int):
                self._texts.append(f"{divisor}*{whole} == {dividend}")
                self._nonnegative += [dims.add(dims.multiply(whole, divisor), dividend, -1), dims.add(dividend, dims.multiply(whole, divisor), -1)]
            return
        self._equal[monomial] = (coefficient, right)

    def normal(self, terms):
        """Terms in which those that an equality gives another value are replaced."""
        if not self._equal:
            return terms
        for _ in range(16):
            for monomial, (coefficient, value) in self._equal.items():
                mine = terms.get(monomial)
                if mine and mine % coefficient == 0:
                    rest = {m: c for m, c in terms.items() if m != monomial}
                    for m, c in dims.terms_of(value).items():
                        rest[m] = rest.get(m, 0) + c * (mine // coefficient)
                    terms = {m: c for m, c in rest.items() if c}
                    break
            else:
                break
        return terms

    def known_nonnegative(self):
        """Expressions that the constraints say are at least 0."""
        return self._nonnegative

    def bounds_of(self, value, depth, compute):
        """The bounds of an expression, computed once."""
        key = value, depth
        if key not in self._bounds:
            self._bounds[key] = compute()
        return self._bounds[key]

    def has_constraints(self):
        """Whether there is any."""
        return bool(self._texts)

    def holds(self, env):
        """Whether values of variables satisfy every constraint that speaks of them alone."""
        return not any(self.violated(env))

    def violated(self, env):
        """The constraints that values of variables do not satisfy, as texts."""
        for known in self._nonnegative:
            if dims.variables(known) <= env.keys() and dims.evaluate(known, env) < 0:
                yield f"{known} >= 0", dims.evaluate(known, env)
        for monomial, (coefficient, value) in self._equal.items():
            left = dims.DimExpr({monomial: coefficient}, self)
            if dims.variables(left) | dims.variables(value) <= env.keys() and dims.evaluate(left, env) != dims.evaluate(value, env):
                yield f"{left} == {value}", dims.evaluate(left, env)

    def __str__(self):
        listed = "".join(f"\n  {text}" for text in self._texts)
        return f"{id(self)} created at {self._place}" + (f" with constraints:{listed}" if listed else "")

    __repr__ = __str__


class Reader:
    """Reads dimension expressions from a text."""

    def __init__(self, text, scope, whole=None, what=None, like=None):
        self.text, self.scope, self.at = text, scope, 0
        self._shown, self._what, self._like = whole or text, what or "symbolic constraint", like
        self.dimension = 0
        self._advance()

    def _advance(self):
        self.start = self.at
        found = _TOKEN.match(self.text, self.at)
        if found is None:
            rest = self.text[self.at :].strip()
            self.token = (None, None)
            if rest:
                raise self.error(f"unexpected character {rest[0]!r}")
            return
        self.at = found.end()
        number, name, sign = found.groups()
        self.token = ("NUMBER", number) if number else ("NAME", name) if name else ("OP", sign)

    def error(self, text):
        """The error of what cannot be read here."""
        shown = f"symbolic shape '{self._shown}' in dimension {self.dimension}" if self._what == "symbolic shape" else f"{self._what} '{self._shown}'"
        return _user_error(ValueError, f"syntax error in {shown}: {text}. Parsed '{self.text[: self.at]}', remaining '{self.text[self.at :]}'.")

    def _expect(self, sign):
        if self.token != ("OP", sign):
            raise self.error(f"expecting one of {{{_NAMES.get(sign, sign)}}} but found {self._kind()}")
        self._advance()

    def _kind(self):
        kind, value = self.token
        return "ENDMARKER" if kind is None else _NAMES.get(value, value) if kind == "OP" else kind

    def _take(self, sign):
        if self.token == ("OP", sign):
            self._advance()
            return True
        return False

    def whole(self):
        """The one expression that the text is."""
        value = self.expression()
        if self.token[0] is not None:
            raise self.error(f"expecting the end but found {self._kind()}")
        return value

    def expression(self):
        """A sum."""
        factor = -1 if self._take("-") else 1
        total = dims.multiply(self._product(), factor)
        while self.token in (("OP", "+"), ("OP", "-")):
            factor = -1 if self.token[1] == "-" else 1
            self._advance()
            total = dims.add(total, self._product(), factor)
        return total

    def _product(self):
        total = self._power()
        while self._take("*"):
            total = dims.multiply(total, self._power())
        if self.token[0] in ("NAME", "NUMBER"):
            raise self.error(f"expecting one of {{STAR}} but found {self.token[0]}")
        return total

    def _power(self):
        value = self._atom()
        if self._take("^"):
            if self.token[0] != "NUMBER":
                raise self.error(f"expecting one of {{NUMBER}} but found {self._kind()}")
            times = int(self.token[1])
            self._advance()
            value, base = 1, value
            for _ in range(times):
                value = dims.multiply(value, base)
        return value

    def _atom(self):
        kind, text = self.token
        if kind == "NUMBER":
            self._advance()
            return int(text)
        if kind == "NAME":
            self._advance()
            if text in _OPERATIONS and self.token == ("OP", "("):
                return self._operation(text)
            return dims.variable(text, self.scope)
        if self._take("("):
            value = self.expression()
            self._expect(")")
            return value
        if self._take("-"):
            return dims.multiply(self._atom(), -1)
        raise self.error(f"expecting one of {{NAME, NUMBER, LPAR}} but found {self._kind()}")

    def _operation(self, name):
        self._expect("(")
        left = self.expression()
        self._expect(",")
        right = self.expression()
        self._expect(")")
        return dims.operation(name, left, right)

    def _known(self, why):
        if self._like is None:
            raise self.error(f"{why} used, but like=None")
        if self.dimension >= len(self._like):
            raise self.error(f"cannot resolve {why} in dimension {self.dimension}; like={self._like}")
        if self._like[self.dimension] is None:
            raise self.error(f"{why} used for an unknown dimension; like={self._like}")
        return self._like[self.dimension]

    def shape(self):
        """A shape: expressions with commas between them, in parentheses or not."""
        wrapped = self.text.lstrip().startswith("(") and _closes_at_end(self.text.strip())
        if wrapped:
            self._advance()
        sizes = []
        while self.token[0] is not None and not (wrapped and self.token == ("OP", ")")):
            self.dimension = len(sizes)
            if self._take("..."):
                if self._like is None:
                    raise self.error("spec with '...' requires like")
                sizes += self._like[len(sizes) :]
                break
            sizes.append(self._size())
            if not self._take(","):
                break
        if wrapped:
            self._expect(")")
        if self.token[0] is not None:
            raise self.error(f"expecting one of {{COMMA}} but found {self._kind()}")
        if self._like is not None and len(sizes) != len(self._like):
            raise self.error(f"different number of dimensions in the spec and in like={self._like}")
        return tuple(sizes)

    def _size(self):
        if self.token == ("NAME", "_"):
            self._advance()
            return self._known("placeholder '_'")
        size = self.expression()
        if self._like is not None and isinstance(size, int) and self.dimension < len(self._like):
            known = self._like[self.dimension]
            if known is not None and known != size:
                raise self.error(f"different size {size} for known dimension; like={self._like}")
        return size


def _closes_at_end(text):
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return at == len(text) - 1
    return False


def read_shape(text, scope, like):
    """The sizes that a text names; those that it leaves open are of `like`."""
    return Reader(text, scope, what="symbolic shape", like=like).shape()
