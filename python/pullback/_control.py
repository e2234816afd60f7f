"""Control flow that is traced once: what `pullback.lax` exports of it."""

import operator as _operator
import weakref as _weakref

from pullback._core import user_error as _user_error
from pullback import _core
from pullback.tree_util import tree_leaves, tree_map

# Functions that loops make around a body, for each of these; found again, they need no new trace.
_made = {}


def _around(body, make):
    """`make(call)`, the same for the same body while it lives; `call` calls the body."""
    known = _made.setdefault(make, _weakref.WeakKeyDictionary())
    try:
        found = known.get(body)
        if found is None:
            # Held weakly: the body would otherwise keep itself alive through the table.
            alive = _weakref.ref(body)
            found = known[body] = make(lambda *args: alive()(*args))
        return found
    except TypeError:
        # Neither hashable nor to be held weakly.
        return make(body)


def _is_jit_disabled():
    return _core.is_setting_on("DisableJit")


def _scan_in_python(f, carry, xs, length, reverse):
    """`scan` op by op: `f` sees concrete values."""
    from pullback import numpy as jnp
    from pullback.tree_util import tree_flatten, tree_unflatten

    leaves, tree = tree_flatten(xs)
    sizes = {x.shape[0] for x in leaves} | ({length} if length is not None else set())
    if len(sizes) != 1:
        # The traced scan says what is wrong.
        return _core.scan(f, carry, xs, length, reverse, 1)
    (length,) = sizes
    if length == 0:
        raise _user_error(ValueError, "zero-length scan is not supported in disable_jit() mode because the output type is unknown.")
    ys = []
    for i in reversed(range(length)) if reverse else range(length):
        carry, y = f(carry, tree_unflatten(tree, [jnp.asarray(x)[i] for x in leaves]))
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, tree_map(lambda *parts: jnp.stack(parts), *ys)


def _while_in_python(cond_fun, body_fun, value):
    while cond_fun(value):
        value = body_fun(value)
    return value


def _known_length(length):
    if isinstance(length, _core.Tracer):
        from pullback.core import concrete_or_error

        why = "The `length` argument to `scan` expects a concrete `int` value. For scan-like iteration with a dynamic length, use"
        return concrete_or_error(int, length, f"{why} `while_loop` or `fori_loop`.")
    # As the reference does, which takes the whole part of a float.
    return int(length)


def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """Carries a value over the slices of `xs` along their first axis and stacks what each step gives.

    scan : (c, x -> (c, y)), c, xs[n, ...] -> (c, ys[n, ...])

    Args:
      f: a function of the carry and one slice of each array of `xs`; gives the next carry and an output, both trees.
        It is traced once.
      init: the first carry, a tree of arrays or numbers.
      xs: a tree of arrays with a common first size, or None.
      length: number of steps; needed when `xs` holds no arrays.
      reverse: go from the last slice to the first; outputs stay at their places.
      unroll: a hint how many steps to take together, not below 0; True for all.
      _split_transpose: taken for compatibility and ignored.
    Returns: the last carry and the stacked outputs.
    Raises:
      TypeError: `f` gives no pair, or changes structure, shapes or dtypes of the carry.
      ValueError: the arrays of `xs` differ in their first size or lack one, or no length is known.
    Differentiable: forward and in reverse, if `f` is; reverse mode keeps what each step needs.
    Example:
      >>> total, partial = jax.lax.scan(lambda c, x: (c + x, c), 0, jnp.array([1, 2, 3]))
      >>> total, partial
      (Array(6, dtype=int32), Array([0, 1, 3], dtype=int32, weak_type=True))
    """
    if not callable(f):
        raise _user_error(TypeError, "lax.scan: f argument should be a callable.")
    if length is not None:
        length = _known_length(length)
        if length < 0:
            sizes = [leaf.shape[0] for leaf in tree_leaves(xs)]
            raise _user_error(ValueError, f"scan got `length` argument of {length} which disagrees with leading axis sizes {sizes}.")
    if not isinstance(unroll, bool) and (not hasattr(unroll, "__index__") or unroll < 0):
        raise _user_error(ValueError, "`unroll` must be a `bool` or a non-negative `int`.")
    if unroll is True:
        unroll = max(length or 1, 1)
    if _is_jit_disabled():
        return _scan_in_python(f, init, xs, length, bool(reverse))
    return _core.scan(f, init, xs, length, bool(reverse), max(int(unroll), 1))


def map(f, xs, *, batch_size=None):
    """Applies `f` to each slice of `xs` along the first axis, one after the other, and stacks the results.

    Args:
      f: a function of one slice of each array of `xs`, traced once.
      xs: a tree of arrays with a common first size.
      batch_size: how many slices to take together through `vmap`, at least 1; None takes one at a time.
    Returns: what `f` gives, with a first axis more.
    Raises:
      TypeError: `f` cannot be called.
      ValueError: the arrays of `xs` differ in their first size or lack one.
    Differentiable: forward and in reverse, if `f` is.
    Example:
      >>> jax.lax.map(lambda x: x * x, jnp.array([1, 2, 3]))
      Array([1, 4, 9], dtype=int32)
    """
    if batch_size:
        from pullback import vmap

        sizes = {leaf.shape[0] for leaf in tree_leaves(xs)}
        (n,) = sizes
        whole = n - n % batch_size
        head = tree_map(lambda x: x[:whole].reshape((-1, batch_size, *x.shape[1:])), xs)
        tail = tree_map(lambda x: x[whole:], xs)
        mapped = map(vmap(f), head)
        mapped = tree_map(lambda y: y.reshape((whole, *y.shape[2:])), mapped)
        if whole == n:
            return mapped
        from pullback import numpy as jnp

        return tree_map(lambda a, b: jnp.concatenate([a, b]), mapped, vmap(f)(tail))
    if not callable(f):
        raise _user_error(TypeError, "lax.map: f argument should be a callable.")
    _, ys = scan(_around(f, _mapping), (), xs)
    return ys


def _mapping(call):
    return lambda _, x: ((), call(x))


def while_loop(cond_fun, body_fun, init_val):
    """Repeats `body_fun` while `cond_fun` holds.

    while_loop : (c -> bool), (c -> c), c -> c

    Args:
      cond_fun: a function of the carried tree that gives a boolean scalar.
      body_fun: a function of the carried tree that gives one of the same structure and types.
      init_val: the first carried tree.
    Returns: the last carried tree.
    Raises:
      TypeError: the condition is not a boolean scalar, or the body changes structure, shapes or dtypes.
      ValueError: a reverse derivative is taken.
    Differentiable: forward only: the number of steps is not known, so use `scan` for reverse mode.
    Example:
      >>> jax.lax.while_loop(lambda x: x < 10, lambda x: x * 2, jnp.array(1))
      Array(16, dtype=int32, weak_type=True)
    """
    if not (callable(cond_fun) and callable(body_fun)):
        raise _user_error(TypeError, "lax.while_loop: body_fun and cond_fun arguments should be callable.")
    if _is_jit_disabled():
        from pullback.errors import ConcretizationTypeError

        try:
            return _while_in_python(cond_fun, body_fun, tree_map(_core.to_array, init_val))
        except ConcretizationTypeError:
            # The condition is not known, under `vmap` for one: only the traced loop can run.
            pass
    return _core.while_loop(cond_fun, body_fun, init_val)


def _concrete_int(value):
    """The value of a known bound, of a floating one its whole part; None of one that is traced."""
    try:
        return int(value) if _core.typeof(value).dtype.kind == "f" else _operator.index(value)
    except TypeError:
        return None


def fori_loop(lower, upper, body_fun, init_val, *, unroll=None):
    """Repeats `body_fun(i, val)` for `i` from `lower` to `upper`, exclusive.

    fori_loop : int, int, (int, c -> c), c -> c

    Bounds that are known make a `scan`; traced bounds make a `while_loop`.

    Args:
      lower: the first index, a scalar. Of known floating bounds the whole parts count.
      upper: the index after the last, a scalar of the same dtype; none are taken if it is not above `lower`.
      body_fun: a function of the index and the carried tree that gives one of the same structure and types.
      init_val: the first carried tree.
      unroll: a hint how many steps to take together, for bounds that are known.
    Returns: the last carried tree.
    Raises:
      TypeError: the body changes structure, shapes or dtypes of what it carries, or the bounds are not integers of
        one dtype.
      ValueError: `unroll` is given for traced bounds, or a reverse derivative is taken with them.
    Differentiable: forward; in reverse too if the bounds are known.
    Example:
      >>> jax.lax.fori_loop(0, 4, lambda i, x: x + i, jnp.array(0))
      Array(6, dtype=int32, weak_type=True)
    """
    if not callable(body_fun):
        raise _user_error(TypeError, "lax.fori_loop: body_fun argument should be callable.")
    lower, upper = (x.__jax_array__() if hasattr(x, "__jax_array__") else x for x in (lower, upper))
    low, high = _core.typeof(lower), _core.typeof(upper)
    is_mixed = not low.weak_type and not high.weak_type and low.dtype != high.dtype
    is_mixed = is_mixed or (low.dtype.kind == "f") != (high.dtype.kind == "f")
    if low.shape or high.shape or low.dtype.kind not in "iubf" or high.dtype.kind not in "iubf" or is_mixed:
        raise _user_error(
            TypeError,
            f"lower and upper arguments to fori_loop must have equal types, got {low.dtype.name} and {high.dtype.name}"
        )
    first, last = _concrete_int(lower), _concrete_int(upper)
    if first is not None and last is not None:
        from pullback.core import Tracer

        if _is_jit_disabled():
            for i in range(first, last):
                init_val = body_fun(_core.to_array(i), init_val)
            return init_val
        keeps_type = low.dtype.kind != "f" and (isinstance(lower, Tracer) or not isinstance(lower, int))
        start = lower if keeps_type else first
        length = max(last - first, 0)
        unroll = 1 if unroll is None or unroll is False else int(unroll)
        (_, result), _ = _core.scan(_around(body_fun, _counting), (start, init_val), None, length, False, max(unroll, 1))
        return result
    if unroll is not None:
        raise _user_error(ValueError, "Can only use `unroll` in `fori_loop` if the loop bounds are statically known.")
    _, _, result = while_loop(_is_below, _around(body_fun, _counting_below), (lower, upper, init_val))
    return result


def _counting(call):
    # The name shows in errors about what the body changes.
    def step(loop_carry, _):
        i, val = loop_carry
        return (i + 1, call(i, val)), None

    return step


def _is_below(carry):
    return carry[0] < carry[1]


def _counting_below(call):
    return lambda carry: (carry[0] + 1, carry[1], call(carry[0], carry[2]))


_NO_OPERAND = object()


def _of_first(fun):
    return lambda first, second: fun(first)


def _of_second(fun):
    return lambda first, second: fun(second)


def cond(pred, true_fun, false_fun, *operands, operand=_NO_OPERAND):
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`; only the chosen one runs.

    Under `vmap` with a predicate for each example both run, and their results are selected.

    Args:
      pred: a scalar; numbers hold when they are not zero.
      true_fun: a function of the operands.
      false_fun: a function of the operands with results of the same structure and types.
      operands: trees of arrays.
      operand: the only operand, by name, as older programs give it. Those that give an operand before each function,
        `cond(pred, true_operand, true_fun, false_operand, false_fun)`, are understood too.
    Returns: what the chosen function gives.
    Raises:
      TypeError: `pred` is not a scalar, the functions differ in structure or types of their results, or operands are
        given in both ways.
    Differentiable: in the operands and in what the functions close over, forward and in reverse.
    Example:
      >>> jax.lax.cond(True, lambda x: x + 1, lambda x: x - 1, jnp.array(1))
      Array(2, dtype=int32, weak_type=True)
    """
    if operand is not _NO_OPERAND:
        if operands:
            raise _user_error(
                TypeError,
                "if 'operand' keyword is passed then no positional operands can be passed, got "
                f"operand={operand} and positional operands {operands}"
            )
        operands = (operand,)
    if len(operands) == 2 and not callable(true_fun) and callable(false_fun) and callable(operands[1]) and not callable(operands[0]):
        # As programs of old give it, with an operand before each function.
        true_fun, false_fun, operands = _of_first(false_fun), _of_second(operands[1]), (true_fun, operands[0])
    if not (callable(true_fun) and callable(false_fun)):
        raise _user_error(TypeError, "lax.cond: true_fun and false_fun arguments should be callable.")
    if _is_jit_disabled() and _core.is_concrete(pred):
        return (true_fun if pred else false_fun)(*operands)
    return _core.cond(pred, [false_fun, true_fun], operands, True)


def switch(index, branches, *operands, operand=_NO_OPERAND):
    """`branches[index](*operands)`, with the index moved into range; only the chosen branch runs.

    Under `vmap` with an index for each example all run, and their results are selected.

    Args:
      index: an integer scalar.
      branches: functions of the operands with results of the same structure and types.
      operands: trees of arrays.
      operand: the only operand, by name, as older programs give it.
    Returns: what the chosen branch gives.
    Raises:
      ValueError: there are no branches.
      TypeError: the index is not an integer scalar, the branches differ in structure or types of their results, or
        operands are given in both ways.
    Differentiable: in the operands and in what the branches close over, forward and in reverse.
    Example:
      >>> jax.lax.switch(7, [lambda x: x, lambda x: -x], jnp.array(3))
      Array(-3, dtype=int32, weak_type=True)
    """
    if operand is not _NO_OPERAND:
        if operands:
            raise _user_error(
                TypeError,
                "if 'operand' keyword is passed then no positional operands can be passed, got "
                f"operand={operand} and positional operands {operands}"
            )
        operands = (operand,)
    branches = tuple(branches)
    if not all(callable(branch) for branch in branches):
        raise _user_error(TypeError, "lax.switch: branches argument should be a sequence of callables.")
    if not branches:
        raise _user_error(ValueError, "Empty branch sequence")
    if len(branches) == 1 and _core.typeof(index).dtype.kind not in "fc":
        return branches[0](*operands)
    if _is_jit_disabled() and _core.is_concrete(index):
        return branches[min(max(int(index), 0), len(branches) - 1)](*operands)
    return _core.cond(index, list(branches), operands, False)


def associative_scan(fn, elems, reverse=False, axis=0):
    """Running combinations along an axis by an associative function, in logarithmic depth: the recursive prefix sum of
    Blelloch, "Prefix sums and their applications" (1990).

    Args:
      fn: an associative function of two trees like `elems`, elementwise along `axis`.
      elems: a tree of arrays of one size along `axis`.
      reverse: from the last element to the first.
      axis: along which axis.
    Returns: a tree like `elems`.
    Raises:
      TypeError: `fn` cannot be called.
      ValueError: sizes along the axis differ, or it is out of bounds.
    Differentiable: forward and in reverse, if `fn` is.
    Example:
      >>> jax.lax.associative_scan(jnp.multiply, jnp.array([1, 2, 3, 4]))
      Array([ 1,  2,  6, 24], dtype=int32)
    """
    from pullback import numpy as jnp
    from pullback.tree_util import tree_flatten, tree_unflatten

    if not callable(fn):
        raise _user_error(TypeError, "lax.associative_scan: fn argument should be callable.")
    flat, tree = tree_flatten(elems)
    flat = [jnp.asarray(x) for x in flat]
    for x in flat:
        if not -x.ndim <= axis < x.ndim:
            raise _user_error(ValueError, f"axis {axis} is out of bounds for array of dimension {x.ndim}")
    if reverse:
        flat = [jnp.flip(x, axis) for x in flat]
    sizes = {x.shape[axis] for x in flat}
    if len(sizes) > 1:
        raise _user_error(ValueError, f"Array inputs to associative_scan must have the same first dimension. (saw: {[x.shape for x in flat]})")

    def part(x, start, stop, step=1):
        index = [slice(None)] * x.ndim
        index[axis] = slice(start, stop, step)
        return x[tuple(index)]

    def combine(a, b):
        return tree_flatten(fn(tree_unflatten(tree, a), tree_unflatten(tree, b)))[0]

    def run(xs):
        n = xs[0].shape[axis]
        if n < 2:
            return xs
        pairs = combine([part(x, 0, n - 1, 2) for x in xs], [part(x, 1, None, 2) for x in xs])
        odd = run(pairs)
        before = [part(x, 0, -1) for x in odd] if n % 2 == 0 else odd
        even = combine(before, [part(x, 2, None, 2) for x in xs])
        even = [jnp.concatenate([part(x, 0, 1), e], axis) for x, e in zip(xs, even)]
        return [_interleave(e, o, axis, jnp) for e, o in zip(even, odd)]

    result = run(flat) if flat and flat[0].shape[axis] else flat
    if reverse:
        result = [jnp.flip(x, axis) for x in result]
    return tree_unflatten(tree, result)


def _interleave(even, odd, axis, jnp):
    """Elements of two arrays in turn along an axis; the first may have one more."""
    if even.shape[axis] == odd.shape[axis]:
        stacked = jnp.stack([even, odd], axis=axis + 1 if axis >= 0 else even.ndim + axis + 1)
        return stacked.reshape(*_sizes_with(even, axis, 2 * even.shape[axis]))
    index = [slice(None)] * even.ndim
    index[axis] = slice(0, -1)
    joined = _interleave(even[tuple(index)], odd, axis, jnp) if odd.shape[axis] else odd
    index[axis] = slice(-1, None)
    return jnp.concatenate([joined, even[tuple(index)]], axis)


def _sizes_with(x, axis, size):
    sizes = list(x.shape)
    sizes[axis] = size
    return sizes
