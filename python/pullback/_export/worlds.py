"""Tracing over symbolic shapes: the function is traced at several sizes, and what changed is named by expressions.

The core knows sizes as integers. A world gives each dimension variable an integer, unlike any size that a program is likely to
hold; within it, the shape of a tracer shows those integers as the expressions that they stand for, so that the user's code
computes with symbols and cannot branch on a size. The texts of the worlds must then agree but for numbers, and each number
that differs must be the value of one expression in all of them: a program whose structure follows a size is refused, never
guessed. The last world is small, since a library may choose another algorithm there.
"""

import contextlib
import functools
import itertools
import math
import re
import struct
import threading

from pullback import _core
from pullback._core import user_error as _user_error
from pullback._export import dims
from pullback._export.program import NUMBER, Program, plain_text
from pullback.errors import InconclusiveDimensionOperation

# For the first variables of each world. In the first they are primes, so that nothing divides them by accident; the others have
# other remainders, since a division that rounds must be told from its neighbours; the last is small.
_SIZES = (
    (7919, 15053, 24593, 49157, 98317, 196613, 393241, 786433),
    (8840, 17384, 30010, 55334, 110505, 220008, 440012, 880003),
    (12600, 21022, 41161, 66124, 123453, 230016, 450020, 890011),
    (11, 16, 23, 30, 41, 52, 67, 84),
)
_REVERSED = 2
_LARGEST_COEFFICIENT = 64
_VARIANTS = 3
_state = threading.local()


class World:
    """Values of the variables, and the expressions of the integers that are known."""

    def __init__(self, env, scope, decodes, variant):
        self.env, self.scope, self.decodes, self.variant = env, scope, decodes, variant
        self.known, self.tracers = {}, {}
        for name in env:
            self.learn(dims.variable(name, scope))

    def learn(self, value):
        """The integer of an expression, which stands for it from now on."""
        size = dims.evaluate(value, self.env)
        if isinstance(value, dims.DimExpr):
            self.known.setdefault(size, value)
        return size

    def decode(self, size):
        """The expression that an integer stands for; the integer itself where it stands for none."""
        if size in self.known:
            return self.known[size]
        if not self.decodes or size < min(self.env.values()) // 8:
            return size
        value = self._sum(size)
        if value is None:
            value = next(self._divisions(size), None)
        if value is None:
            return size
        self.known[size] = value
        return value

    @functools.cached_property
    def _monomials(self):
        """Products of variables with their values, the largest first."""
        names = sorted(self.env)
        degrees = (1, 2, 3) if len(names) <= 3 else (1, 2)
        products = {}
        for degree in degrees:
            for monomial in itertools.combinations_with_replacement(names, degree):
                products[math.prod(map(self.env.__getitem__, monomial))] = monomial
        return sorted(products.items(), reverse=True)

    def _sum(self, size):
        """The simplest sum of monomials with small coefficients and a small constant that has this value; None without."""
        found = min(self._sums(0, size), key=lambda times: sum(map(abs, times.values())), default=None)
        if not found or not any(monomial for monomial in found):
            return None
        value = dims.made(found, self.scope)
        return value if isinstance(value, dims.DimExpr) else None

    def _sums(self, at, rest):
        monomials = self._monomials
        if at == len(monomials):
            if abs(rest) <= _LARGEST_COEFFICIENT:
                yield {(): rest} if rest else {}
            return
        reach = _LARGEST_COEFFICIENT * (1 + sum(value for value, _ in monomials[at + 1 :]))
        value, monomial = monomials[at]
        times = rest // value
        for k in dict.fromkeys((0, times, times + 1)):
            if abs(k) <= _LARGEST_COEFFICIENT and abs(rest - k * value) <= min(reach, max(2 * value, abs(rest))):
                for others in self._sums(at + 1, rest - k * value):
                    yield {monomial: k, **others} if k else others

    def _divisions(self, size):
        """Sums of that kind divided by a small number, rounded down, that have this value."""
        for divisor in range(2, 17):
            for rest in _in_order(range(divisor), self.variant):
                value = self._sum(size * divisor + rest)
                if value is not None:
                    quotient = dims.operation("floordiv", value, divisor)
                    if dims.evaluate(quotient, self.env) == size:
                        yield quotient


def _in_order(items, variant):
    """The items, beginning with the one that a variant prefers."""
    items = list(items)
    return items[variant % len(items) :] + items[: variant % len(items)]


def current():
    """The world that is traced in; None elsewhere."""
    return getattr(_state, "world", None)


def value_in_world(value):
    """The integer that stands for an expression; TypeError where nothing is traced over symbolic shapes."""
    world = current()
    if world is None or world.scope is not value.scope:
        raise _user_error(TypeError, "'_DimExpr' object cannot be interpreted as an integer")
    return world.learn(value)


def dim_as_value(value):
    """The value of an expression as a traced integer."""
    world = current()
    if world is None or world.scope is not value.scope:
        raise _user_error(
            NotImplementedError,
            "Evaluation rule for 'dim_as_value' is not implemented. It seems that you are using shape polymorphism outside jax.export."
        )
    return _traced(value, world)


def _traced(value, world):
    from pullback import numpy as jnp

    rules = {"floordiv": jnp.floor_divide, "mod": jnp.mod, "max": jnp.maximum, "min": jnp.minimum}
    total = None
    for monomial, coefficient in dims.terms_of(value).items():
        term = None
        for factor in monomial:
            one = world.tracers[factor] if isinstance(factor, str) else rules[factor.name](*(_traced(x, world) for x in factor.operands))
            term = one if term is None else term * one
        term = jnp.asarray(coefficient, jnp.int32) if term is None else term if coefficient == 1 else term * coefficient
        total = term if total is None else total + term
    return jnp.asarray(0, jnp.int32) if total is None else total


def _shape(self):
    world, shape = current(), _plain_shape(self)
    return shape if world is None else tuple(map(world.decode, shape))


def _size(self):
    world = current()
    if world is None:
        return _plain_size(self)
    total = 1
    for size in map(world.decode, _plain_shape(self)):
        total = total * size
    return total


def _length(self):
    world = current()
    if world is not None and _plain_shape(self) and isinstance(world.decode(_plain_shape(self)[0]), dims.DimExpr):
        raise _user_error(TypeError, "'_DimExpr' object cannot be interpreted as an integer")
    return _plain_length(self)


def _arange(start, stop=None, step=None, *args, **kwargs):
    """`numpy.arange` in a world: sizes are bounds as integers are."""
    bounds = (value_in_world(x) if isinstance(x, dims.DimExpr) else x for x in (start, stop, step))
    return _plain_arange(*bounds, *args, **kwargs)


_plain_arange = _core.numpy.arange
_plain_length = _core.Array.__len__
_plain_shape, _plain_size = _core.Array.shape.__get__, _core.Array.size.__get__
_lock, _users = threading.Lock(), 0


@contextlib.contextmanager
def _within(world):
    """Traces in a world: meanwhile tracers show its expressions, in this thread alone."""
    from pullback import numpy

    global _users
    with _lock:
        _users += 1
        _core.Tracer.shape, _core.Tracer.size, _core.Tracer.__len__ = property(_shape), property(_size), _length
        numpy.arange = _core.numpy.arange = _arange
    outer, _state.world = current(), world
    try:
        yield
    finally:
        _state.world = outer
        with _lock:
            _users -= 1
            if not _users:
                del _core.Tracer.shape, _core.Tracer.size, _core.Tracer.__len__
                numpy.arange = _core.numpy.arange = _plain_arange


def _environments(names, scope):
    """For each world the values of the variables: the primes where the constraints allow them, else what they allow."""
    for number, sizes in enumerate(_SIZES):
        choices = [sizes[k % len(sizes)] + 2 * (k // len(sizes)) for k in range(len(names))]
        # In one world the variables are in another order, so that a minimum or maximum of two is told from either.
        if number == _REVERSED:
            choices.reverse()
        if env := next(_allowed(names, choices, scope), None):
            yield env
    # Constraints may leave fewer sizes than worlds; what is left is compared.


def _allowed(names, choices, scope):
    candidates = [
        [size * factor for factor in (1, 2, 3, 4, 5, 6, 8, 10, 12)] + [other * 2 for other in choices] + list(range(1, 13)) for size in choices
    ]
    orders = itertools.islice(itertools.permutations(choices), 50_000)
    yield from filter(scope.holds, (dict(zip(names, order)) for order in orders))
    tried = 0
    for values in itertools.product(*candidates):
        tried += 1
        if tried > 50_000:
            return
        env = dict(zip(names, values))
        if len(set(values)) == len(values) and scope.holds(env):
            yield env


def _renamed(text, world):
    """A text in which integers of the world are the expressions that they stand for."""
    def shown(found):
        value = world.decode(int(found.group()))
        return str(value)

    return re.sub(r"(?<![\w.])\d{4,}(?![\w.])", shown, text)


def _trace_in(world, trace):
    try:
        with _within(world):
            return trace(world)
    except InconclusiveDimensionOperation:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        text = str(error)
        shown = _renamed(text, world)
        if shown == text:
            raise
        indivisible = isinstance(error, (TypeError, ValueError)) and "reshape" in text
        raise _user_error(InconclusiveDimensionOperation if indivisible else type(error), shown) from None


def trace(names, scope, trace_one):
    """The program of a function over the variables, and its result's types in the first world.

    Args:
      names: the variables.
      scope: their scope.
      trace_one: a function of a world that gives the jaxpr, whose first inputs are the values of the variables, and more.
    Returns: a `Program`, what `trace_one` gave besides in the first world, and the symbolic shapes of the results.
    """
    refusal = None
    # Which of two sums is divided cannot be told from one size: where the worlds disagree, the next is tried.
    for variant in range(_VARIANTS):
        try:
            return _traced_in_worlds(names, scope, trace_one, variant)
        except NotImplementedError as error:
            refusal = refusal or error
    raise refusal


def _traced_in_worlds(names, scope, trace_one, variant):
    found = []
    for env in _environments(names, scope):
        world = World(env, scope, min(env.values()) > 1000 or not found, variant)
        if found:
            for value in found[0][0].known.values():
                world.learn(value)
        found.append((world, *_trace_in(world, trace_one)))
    if not found:
        raise _user_error(ValueError, f"no sizes were found that satisfy the constraints of symbolic scope {scope}")
    worlds = [world for world, *_ in found]
    pieces, expressions = _template(worlds, [jaxpr for _, jaxpr, _ in found])
    consts = _equal_consts([jaxpr.consts for _, jaxpr, _ in found])
    shapes = [[aval.shape for aval in traced._staged.flat_out_avals] for *_, traced in found]
    return Program(names, pieces, expressions, consts), found[0][2], [_shape_in(worlds, sizes) for sizes in zip(*shapes)]


def _shape_in(worlds, shapes):
    """The symbolic shape of what has these shapes in the worlds."""
    return tuple(size[0] if len(set(size)) == 1 else _expression(list(map(str, size)), worlds)[0] for size in zip(*shapes))


def _refused(why):
    return _user_error(
        NotImplementedError,
        f"the function cannot be exported over symbolic shapes: {why}. Export it for constant shapes, or write it so that the traced "
        "operations are the same for all sizes"
    )


def _equal_consts(all_consts):
    import numpy as np

    first = all_consts[0]
    for consts in all_consts[1:]:
        same = len(consts) == len(first) and all(x.shape == y.shape and x.dtype == y.dtype for x, y in zip(consts, first))
        if not same or not all(_bits(np, x) == _bits(np, y) for x, y in zip(consts, first)):
            raise _refused("a constant array in it depends on the value of a dimension variable")
    return first


def _bits(np, x):
    from pullback import dtypes, random

    return np.asarray(random.key_data(x) if dtypes.issubdtype(x.dtype, dtypes.prng_key) else x).tobytes()


def _template(worlds, jaxprs):
    """Pieces of text and the expressions between them."""
    texts = [NUMBER.split(plain_text(_core.open_constvars(jaxpr)._full_text())) for jaxpr in jaxprs]
    if any(len(text) != len(texts[0]) or text[::2] != texts[0][::2] for text in texts[1:]):
        raise _refused("the operations themselves depend on the value of a dimension variable")
    pieces, expressions, open_piece = [], [], texts[0][0]
    for at in range(1, len(texts[0]), 2):
        tokens = [text[at] for text in texts]
        if len(set(tokens)) == 1:
            open_piece += tokens[0]
        else:
            pieces.append(open_piece)
            expressions.append(_expression(tokens, worlds))
            open_piece = ""
        open_piece += texts[0][at + 1]
    return [*pieces, open_piece], expressions


def _expression(tokens, worlds):
    """The expression whose values in the worlds are the numbers, and whether they are written as real ones."""
    is_real = any("." in token or "e" in token for token in tokens)
    values = [float(token) for token in tokens]
    if all(value.is_integer() and abs(value) < 2**53 for value in values):
        numbers = [int(value) for value in values]
        for candidate in _candidates(numbers, worlds[0], is_real):
            if all(_is_value(dims.evaluate(candidate, world.env), number, is_real) for world, number in zip(worlds, numbers)):
                return candidate, is_real
    raise _refused(f"the numbers {', '.join(tokens)} that it holds for the sizes {[world.env for world in worlds]} follow no expression of them")


def _is_value(size, number, is_real):
    """Whether a literal holds a size: exactly, or as a float32 rounds it."""
    return size == number or is_real and struct.unpack("f", struct.pack("f", size)) == struct.unpack("f", struct.pack("f", number))


def _candidates(numbers, world, is_real):
    """Expressions that may have these values."""
    size = numbers[0]
    if size in world.known:
        known = world.known[size]
        yield known
        others = [other for other in world.known.values() if other is not known]
        pairs = [sorted((known, other), key=str) for other in others]
        yield from (dims.operation(name, *pair) for pair in pairs for name in ("min", "max"))
    if size < 0:
        yield from (dims.multiply(value, -1) for value in _candidates([-number for number in numbers], world, is_real))
        return
    if (value := world._sum(size)) is not None:
        yield value
    yield from world._divisions(size)
    if is_real:
        # Large integers are rounded where a real literal holds them.
        yield from (dims.made({monomial: 1}, world.scope) for _, monomial in world._monomials)
    yield from (value for value in list(world.known.values()) if dims.evaluate(value, world.env) == size)
