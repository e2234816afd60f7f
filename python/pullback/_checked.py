"""`checked`: one switch for development, under which what passes silently is an error that names its line."""

import contextlib
import functools
import re
import warnings

import numpy as np

import pullback
from pullback._explain._tape import _CALLS, _RULES, Tape, TooLong
from pullback.errors import KeyReuseError
from pullback.tree_util import tree_flatten, tree_unflatten

_CONSUMERS = {"random_bits", "random_split", "random_gamma", "random_unwrap"}
_FACTORIZATIONS = {
    "cholesky": "the matrix is not positive definite", "eigh": "the iteration did not converge, or the matrix is not finite",
    "svd": "the iteration did not converge, or the matrix is not finite", "eig": "the iteration did not converge, or the matrix is not finite",
    "triangular_solve": "the matrix is singular", "custom_linear_solve": "the matrix is singular", "schur": "the iteration did not converge",
}


def checked(fun):
    """The function with checks of everything that otherwise passes in silence; for development, as it runs operation by operation.

    An error names the operation, the values and the line. It is

    - IndexError for an index outside of its array, with both;
    - FloatingPointError for a NaN or an infinity that an operation makes of finite numbers;
    - ZeroDivisionError for a division of whole numbers by 0;
    - OverflowError for a conversion to whole numbers that do not hold the value;
    - `jax.errors.KeyReuseError` for a key of random numbers that is used twice;
    - `numpy.linalg.LinAlgError` for a matrix that is singular or not positive definite, and an iteration that does not converge;
    - ValueError for a column and a row of one length that broadcast to a square without being told to, as in `y[:, None] - y`;
    - TypeError for an asked-for dtype that would be truncated.

    Args:
      fun: a function of trees of arrays. It is called once to see what it does and then followed, through `jit`, branches and loops.
    Returns: a function with the arguments and results of `fun`.
    Raises:
      TypeError: when called inside of another transformation: it looks at values.
    Differentiable: no; write `checked(jax.grad(f))` to check a gradient.
    Example:
      >>> jax.checked(lambda x, i: x[i])(jnp.arange(3.0), 1)
      Array(1., dtype=float32)
      >>> try:
      ...     jax.checked(lambda x, i: x[i])(jnp.arange(3.0), 3)
      ... except IndexError as error:
      ...     print(str(error).split(":")[0])
      index 3 is out of bounds for axis 0 with size 3
    """

    @functools.wraps(fun)
    def checked_f(*args, **kwargs):
        leaves, tree = tree_flatten((args, kwargs))
        arrays = [at for at, leaf in enumerate(leaves) if _is_array(leaf)]
        if any(isinstance(leaves[at], pullback.core.Tracer) for at in arrays):
            raise TypeError("checked looks at values, so it cannot be inside of jit, grad or vmap; write checked(jax.jit(f))")
        out_tree = None

        def flat(*points):
            nonlocal out_tree
            filled = list(leaves)
            for at, point in zip(arrays, points):
                filled[at] = point
            own_args, own_kwargs = tree_unflatten(tree, filled)
            out, out_tree = tree_flatten(fun(*own_args, **own_kwargs))
            return tuple(out)

        points = [pullback.numpy.asarray(leaves[at]) for at in arrays]
        with _strict():
            closed = pullback._core.record_call(flat, tuple(points))
        tape = _Checker()
        try:
            outs = tape.run(closed.jaxpr, closed.consts, [tape.new(point) for point in points])
        except TooLong:
            raise NotImplementedError("checked follows programs of at most a million operations") from None
        return tree_unflatten(out_tree, [tape.values[out] for out in outs])

    return checked_f


def _is_array(leaf):
    return isinstance(leaf, (pullback.Array, np.ndarray, np.generic, int, float, complex)) and not isinstance(leaf, bool)


_PROMOTION = re.compile(r"rank promotion for (\w+) on shapes \(([\d, ]*)\)[ ,]*\(([\d, ]*)\)")


@contextlib.contextmanager
def _strict():
    """While the function is recorded, some of what it only warns of, or is silent about, is an error."""
    with pullback.numpy_rank_promotion("warn"), warnings.catch_warnings():
        warnings.filterwarnings("always", message=".*automatic rank promotion")
        warnings.filterwarnings("error", message=".*will be truncated to dtype")
        before = warnings.showwarning

        def show(message, *args, **kwargs):
            promotion = _PROMOTION.search(str(message))
            if promotion is None:
                before(message, *args, **kwargs)
            else:
                _look_at_shapes(*promotion.groups())

        warnings.showwarning = show
        try:
            yield
        except UserWarning as warning:
            raise TypeError(str(warning)) from warning
        finally:
            warnings.showwarning = before


def _look_at_shapes(name, *texts):
    """A column and a vector of one length make a square, mostly by mistake."""
    short, long = sorted((tuple(int(size) for size in text.replace(",", " ").split()) for text in texts), key=len)
    if len(short) == 1 and short[0] > 1 and long[-2:] == (short[0], 1):
        raise ValueError(f"{name} of shapes {long} and {short} broadcasts to a square; give both one shape, or write the axis: x[None, :]")


class _Checker(Tape):
    """A tape that looks at operands before each operation and at results after it."""

    most_nodes = 1_000_000

    def __init__(self):
        super().__init__()
        self.consumed = {}

    def _step(self, eqn, ins, context):
        if eqn.primitive.name in _RULES:
            return self.inner(eqn.params[_RULES[eqn.primitive.name]], ins, context)
        return super()._step(eqn, ins, context)

    def operation(self, eqn, ins, context):
        self._before(eqn, ins, context)
        outs = super().operation(eqn, ins, context)
        self._after(eqn, ins, outs, context)
        return outs

    def place(self, context):
        file, line, function = self.around
        where = f" at {file}:{line}, in {function}" if file else ""
        return where + "".join(f", in {part}" for part in context)

    def _before(self, eqn, ins, context):
        name = eqn.primitive.name
        look = _LOOKS.get(name)
        if look is not None:
            problem = look(eqn, [self.values[i] for i in ins])
            if problem is not None:
                error, text = problem
                raise error(f"{text}: {name}{self.place(context)}")
        if name in _CONSUMERS:
            key = ins[0]
            if key in self.consumed:
                raise KeyReuseError(f"a key is used again by {name}{self.place(context)}; it was used before by {self.consumed[key]}; split it")
            self.consumed[key] = f"{name}{self.place(context)}"

    def _after(self, eqn, ins, outs, context):
        name = eqn.primitive.name
        if not all(_finite(self.values[i]) for i in ins):
            return
        if name == "lu" and (np.diagonal(np.asarray(self.values[outs[0]]), axis1=-2, axis2=-1) == 0).any():
            raise np.linalg.LinAlgError(f"the matrix is singular: lu{self.place(context)}")
        if name in ("pad", "broadcast_in_dim", "reduce_max", "reduce_min") or not ins:
            return
        for out in outs:
            value = self.values[out]
            if _finite(value):
                continue
            if name in _FACTORIZATIONS:
                raise np.linalg.LinAlgError(f"{_FACTORIZATIONS[name]}: {name}{self.place(context)}")
            kind = "NaN" if np.isnan(np.asarray(value)).any() else "an infinity"
            raise FloatingPointError(f"{name} gave {kind} of finite operands {self._shown(ins, value)}{self.place(context)}")

    def _shown(self, ins, value):
        bad = np.argwhere(~np.isfinite(np.asarray(value)))[0]
        shown = []
        for i in ins[:4]:
            operand = np.asarray(self.values[i])
            shown.append(str(operand[tuple(bad)]) if operand.shape == np.shape(value) else str(operand) if operand.size < 4 else f"{operand.dtype}{list(operand.shape)}")
        return f"({', '.join(shown)})" + (f" at {[int(k) for k in bad]}" if len(bad) else "")


def _finite(value):
    dtype = np.dtype(value.dtype) if not pullback.dtypes.issubdtype(value.dtype, pullback.dtypes.extended) else None
    return dtype is None or not pullback.numpy.issubdtype(dtype, np.inexact) or bool(pullback.numpy.isfinite(value).all())


def _is_whole(value):
    return pullback.numpy.issubdtype(value.dtype, np.integer)


def _by_zero(eqn, operands):
    if _is_whole(operands[1]) and not np.asarray(operands[1]).all():
        return ZeroDivisionError, "a whole number is divided by 0"
    return None


def _conversion(eqn, operands):
    new, value = np.dtype(eqn.params["new_dtype"]), operands[0]
    if not np.issubdtype(new, np.integer) or value.dtype == bool or value.size == 0:
        return None
    numbers, limits = np.asarray(value), np.iinfo(new)
    if np.issubdtype(numbers.dtype, np.complexfloating):
        return None
    exact = numbers if np.issubdtype(numbers.dtype, np.integer) else numbers.astype(np.float64)
    # One more than the greatest is exact in float64 where the greatest is not.
    outside = ~((exact >= limits.min) & (exact < float(limits.max) + 1 if exact.dtype == np.float64 else exact <= limits.max))
    if not outside.any():
        return None
    return OverflowError, f"{exact[outside].flat[0]} does not fit into {new}"


def _outside(indices, axis, size, window):
    """What is wrong with starts of windows along an axis."""
    indices = np.asarray(indices)
    bad = (indices < 0) | (indices > size - window)
    if not bad.any():
        return None
    index = int(indices[bad].flat[0])
    what = f"index {index if index >= 0 else index - size}" if window == 1 else f"a slice of {window} from {index}"
    return IndexError, f"{what} is out of bounds for axis {axis} with size {size}"


def _dynamic_slice(eqn, operands):
    x, starts = operands[0], operands[1:]
    found = (_outside(start, axis, x.shape[axis], eqn.params["slice_sizes"][axis]) for axis, start in enumerate(starts))
    return next((problem for problem in found if problem), None)


def _dynamic_update(eqn, operands):
    x, update, starts = operands[0], operands[1], operands[2:]
    found = (_outside(start, axis, x.shape[axis], update.shape[axis]) for axis, start in enumerate(starts))
    return next((problem for problem in found if problem), None)


def _gather(eqn, operands):
    x, indices = operands[0], np.asarray(operands[1])
    axes, sizes = eqn.params["dimension_numbers"].start_index_map, eqn.params["slice_sizes"]
    found = (_outside(indices[..., at], axis, x.shape[axis], sizes[axis]) for at, axis in enumerate(axes))
    return next((problem for problem in found if problem), None)


def _scatter(eqn, operands):
    x, indices, updates = operands[0], np.asarray(operands[1]), operands[2]
    numbers = eqn.params["dimension_numbers"]
    absent = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    windows = iter(updates.shape[axis] for axis in numbers.update_window_dims)
    sizes = [1 if axis in absent else next(windows) for axis in range(x.ndim)]
    axes = numbers.scatter_dims_to_operand_dims
    found = (_outside(indices[..., at], axis, x.shape[axis], sizes[axis]) for at, axis in enumerate(axes))
    return next((problem for problem in found if problem), None)


_LOOKS = {
    "rem": _by_zero, "convert_element_type": _conversion, "gather": _gather, "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update, "div": _by_zero,
    **{f"scatter{suffix}": _scatter for suffix in ("", "-add", "-sub", "-mul", "-min", "-max")},
}
