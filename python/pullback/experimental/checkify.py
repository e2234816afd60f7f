"""Run-time checks that survive staging: `checkify(f)` gives the results of `f` and the first error that occurred.

The transformation interprets the jaxpr of `f` with an error state beside the values: whether something failed, a number that
says what and where, and the values that belong in the text. Loops carry the state, branches give it back, so the result
works under `jit`, `vmap` and `grad`. Which checks are added is the caller's choice; those that the user wrote with `check`
are primitives of the jaxpr.

Custom derivative rules of functions that contain checks are not kept: their bodies are interpreted.
"""

import dataclasses as _dataclasses
import functools as _functools
import threading as _threading
import typing as _typing

import numpy as _np

from pullback._core import user_error as _user_error
from pullback import _core, random as _random, tree_util as _tree_util
from pullback.core import Literal as _Literal, Primitive as _Primitive, eval_jaxpr as _eval_jaxpr, jaxprs_in_params as _jaxprs_in_params
from pullback.interpreters import ad as _ad, batching as _batching, mlir as _mlir


class JaxRuntimeError(ValueError):
    """A check failed."""


class JaxException(Exception):
    """What a check that failed says."""


class FailedCheckError(JaxException):
    """A check that the user wrote failed."""


class NaNError(JaxException):
    """An operation gave a NaN."""


class DivisionByZeroError(JaxException):
    """A divisor was zero."""


class OOBError(JaxException):
    """An index lay outside of its axis."""


ErrorCategory = type[JaxException]

user_checks = frozenset({FailedCheckError})
nan_checks = frozenset({NaNError})
div_checks = frozenset({DivisionByZeroError})
index_checks = frozenset({OOBError})
float_checks = nan_checks | div_checks
automatic_checks = float_checks | index_checks
all_checks = automatic_checks | user_checks


# --- places of checks -------------------------------------------------------------------------------------------------

# Shapes and element types of the values in a text.
_Signature = tuple[tuple[tuple[int, ...], str], ...]


@_dataclasses.dataclass(frozen=True)
class _Site:
    """What to say when one check fails: a template, and the structure of the values that it names."""

    kind: ErrorCategory
    template: str
    tree: _typing.Any
    signature: _Signature

    def exception(self, values):
        """The error with its values."""
        args, kwargs = self.tree.unflatten([_core.to_array(value) for value in values])
        return self.kind(self.template.format(*args, **kwargs))


_sites: list[_Site] = []
_numbers: dict[_Site, int] = {}
_lock = _threading.Lock()


def _number(site):
    """The number of a site in this process."""
    with _lock:
        if site not in _numbers:
            _numbers[site] = len(_sites)
            _sites.append(site)
        return _numbers[site]


def _signature(leaves):
    return tuple((tuple(leaf.shape), str(_np.dtype(leaf.dtype))) for leaf in leaves)


_INDEX = (((3,), "int32"),)


def _plain_site(kind, text):
    """A site whose text names no values."""
    return _Site(kind, text.replace("{", "{{").replace("}", "}}"), _tree_util.tree_structure(((), {})), ())


# --- the error as a value ---------------------------------------------------------------------------------------------


@_tree_util.register_pytree_node_class
class Error:
    """The first error of a checked function, or none; a tree of arrays that goes through transformations.

    `get()` gives the text or None, `throw()` raises it.

    Example:
      >>> error, _ = jax.experimental.checkify.checkify(lambda x: x)(1.0)
      >>> error.get() is None
      True
    """

    def __init__(self, failed, code, payloads):
        self._failed = failed
        self._code = code
        self._payloads = payloads

    def tree_flatten(self):
        """Arrays, and what they stand for."""
        return (self._failed, self._code, tuple(self._payloads.values())), tuple(self._payloads)

    @classmethod
    def tree_unflatten(cls, signatures, children):
        """The error of arrays."""
        failed, code, payloads = children
        return cls(failed, code, dict(zip(signatures, payloads)))

    def _exception_at(self, index):
        site = _sites[int(_np.asarray(self._code)[index])]
        values = [_np.asarray(value)[index] for value in self._payloads.get(site.signature, ())]
        return site.exception(values)

    def get_exception(self):
        """The exception of the first error, not raised; None without error. Of a batch, of all errors together."""
        failed = _np.asarray(self._failed)
        if not failed.any():
            return None
        if failed.ndim == 0:
            return self._exception_at(())
        found = [(index, self._exception_at(tuple(index))) for index in _np.argwhere(failed)]
        lines = [f"at mapped index {', '.join(map(str, index))}: {exception}" for index, exception in found]
        return type(found[0][1])("\n".join(lines))

    def get(self):
        """The text of the first error; None without error."""
        exception = self.get_exception()
        return None if exception is None else str(exception)

    def throw(self):
        """Raises JaxRuntimeError if there is an error; under `checkify` makes it an error of the function around."""
        check_error(self)

    def __str__(self):
        return f"Error({self.get()})"

    __repr__ = __str__


def _no_error(signatures=()):
    def zeros(signature):
        return tuple(_np.zeros(shape, dtype) for shape, dtype in signature)

    return Error(_np.False_, _np.int32(0), {signature: zeros(signature) for signature in sorted(signatures)})


init_error = _no_error()


# --- the primitive ----------------------------------------------------------------------------------------------------

# check[signatures] failed code *values : the values of all signatures, one after the other. It has no results.
check_p = _Primitive("check")
check_p.multiple_results = True
check_p.has_effects = True


@check_p.def_impl
def _check_impl(failed, code, *values, signatures):
    if _np.asarray(failed).any():
        raise JaxRuntimeError(str(_error_of(failed, code, values, signatures).get_exception()))
    return []


@check_p.def_abstract_eval
def _check_abstract(*_, signatures):
    return []


def _check_jvp(primals, _, **params):
    return check_p.bind(*primals, **params), []


def _check_batch(axis, args, dims, **params):
    args = [_batching.bdim_at_front(x, dim, axis.size) for x, dim in zip(args, dims)]
    return check_p.bind(*args, **params), []


_ad.primitive_jvps[check_p] = _check_jvp
_batching.fancy_primitive_batchers[check_p] = _check_batch


def _refuse_to_stage(*_, **__):
    raise _user_error(
        ValueError,
        "Cannot abstractly evaluate a checkify.check which was not functionalized. This probably means you tried to stage "
        "(jit/scan/pmap/...) a `check` without functionalizing it through `checkify.checkify`."
    )


_mlir.register_lowering(check_p, _mlir.lower_fun(_refuse_to_stage))


def _error_of(failed, code, values, signatures):
    values = iter(values)
    return Error(failed, code, {signature: tuple(next(values) for _ in signature) for signature in signatures})


def _is_scalar_bool(pred):
    return _np.shape(pred) == () and (isinstance(pred, (bool, _np.bool_)) or str(getattr(pred, "dtype", "")) == "bool")


def check(pred, msg, *fmt_args, debug=False, **fmt_kwargs):
    """States that `pred` holds. Under `checkify` a failure is part of the result, elsewhere it raises.

    Args:
      pred: a scalar bool.
      msg: the error's text, a format string.
      fmt_args, fmt_kwargs: arrays that the text names.
      debug: drop the check where nothing checkifies it, instead of refusing to be staged.
    Returns: None.
    Raises:
      JaxRuntimeError: it does not hold, outside of any staging (a ValueError of this module).
      TypeError: `pred` is no scalar bool, or a value for the text is no array.
      ValueError: it is compiled, as in `jit`, without `checkify` around.
    Differentiable: yes, in that derivatives do not see it.
    Example:
      >>> from pullback.experimental.checkify import check, checkify
      >>> def f(x):
      ...     check(x > 0, "{x} is not positive", x=x)
      ...     return jnp.log(x)
      >>> err, out = jax.jit(checkify(f))(-1.0)
      >>> err.get()
      '-1.0 is not positive (`check` failed)'
    """
    if not _is_scalar_bool(pred):
        raise _user_error(TypeError, f"check takes a scalar pred as argument, got {pred}")
    for value in _tree_util.tree_leaves((fmt_args, fmt_kwargs)):
        if not isinstance(value, (_core.Array, _np.ndarray, _np.generic)):
            raise _user_error(
                TypeError,
                f"Formatting arguments to checkify.check need to be PyTrees of arrays, but got {value!r} of type {type(value)}."
            )
    leaves, tree = _tree_util.tree_flatten((fmt_args, fmt_kwargs))
    leaves = [_random.key_data(leaf) if _is_key(leaf) else leaf for leaf in leaves]
    signature = _signature(leaves)
    site = _Site(FailedCheckError, msg + " (`check` failed)", tree, signature)
    _bind(_not(pred), _np.int32(_number(site)), leaves, (signature,), debug)


def debug_check(pred, msg, *fmt_args, **fmt_kwargs):
    """A check that only `checkify` hears; elsewhere it does nothing.

    Args:
      pred: a scalar bool.
      msg: the error's text, a format string.
      fmt_args, fmt_kwargs: arrays that the text names.
    Returns: None.
    Raises:
      TypeError: `pred` is no scalar bool, or a value for the text is no array.
    Differentiable: yes, in that derivatives do not see it.
    Example:
      >>> from pullback.experimental.checkify import checkify, debug_check
      >>> debug_check(False, "not heard")
      >>> checkify(lambda x: debug_check(x > 0, "not positive"))(-1.0)[0].get()
      'not positive (`check` failed)'
    """
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def _bind(failed, code, values, signatures, debug=False):
    if debug and not _is_checking():
        return
    check_p.bind(failed, code, *values, signatures=signatures)


_checking = _threading.local()


def _is_checking():
    return getattr(_checking, "depth", 0) > 0


def check_error(error):
    """Raises the error if it is one; under `checkify` makes it an error of the function around.

    Args:
      error: an `Error`, as a function made by `checkify` gives.
    Returns: None.
    Raises:
      TypeError: `error` is no Error. ValueError: it is compiled, as in `jit`, without `checkify` around.
      JaxRuntimeError: there is an error, outside of any staging (a ValueError of this module).
    Differentiable: yes, in that derivatives do not see it.
    Example:
      >>> from pullback.experimental import checkify
      >>> checkify.check_error(checkify.checkify(lambda x: x)(1.0)[0])
    """
    if not isinstance(error, Error):
        raise _user_error(TypeError, f"check_error takes an Error as argument, got type {type(error)} instead.")
    signatures = tuple(error._payloads)
    _bind(error._failed, error._code, [value for values in error._payloads.values() for value in values], signatures)


def _not(pred):
    from pullback import lax

    return lax.bitwise_not(pred) if isinstance(pred, _core.Array) else _np.logical_not(pred)


# --- the transformation -----------------------------------------------------------------------------------------------


def checkify(f, errors=user_checks):
    """A function that gives the first error of `f` and its results.

    Args:
      f: a function of trees.
      errors: which checks to make: `user_checks`, `nan_checks`, `div_checks`, `index_checks` or unions of them.
    Returns: a function with the arguments of `f` that gives `(Error, result)`. Where a check failed, the result is what `f`
      would give without it. `Error.get()` gives the text or None, `Error.throw()` raises it.
    Raises:
      TypeError: when called with what is no tree of arrays.
    Differentiable: as `f` is; rules of `custom_jvp` and `custom_vjp` functions that contain checks are not kept.
    Example:
      >>> from pullback.experimental.checkify import checkify, index_checks
      >>> err, _ = checkify(lambda x, i: x[i], errors=index_checks)(jnp.arange(3.0), 5)
      >>> print(err.get())
      out-of-bounds indexing for array of shape (3,): index 5 is out of bounds for axis 0 with size 3.
    """
    import pullback

    @_functools.wraps(f)
    def checked(*args, **kwargs):
        leaves, tree = _tree_util.tree_flatten((args, kwargs))
        trees = []

        def flat(*leaves):
            args, kwargs = tree.unflatten(leaves)
            outs, out_tree = _tree_util.tree_flatten(f(*args, **kwargs))
            trees.append(out_tree)
            return outs

        _checking.depth = getattr(_checking, "depth", 0) + 1
        try:
            jaxpr = pullback.make_jaxpr(flat)(*leaves)
        finally:
            _checking.depth -= 1
        errors_ = frozenset(errors)
        state = _no_error(_signatures(jaxpr, errors_))
        state, outs = _run(jaxpr, jaxpr.consts, leaves, state, errors_)
        return state, trees[-1].unflatten(outs)

    return checked


def _signatures(jaxpr, errors):
    """Signatures of all sites of a jaxpr, those of inner jaxprs too."""
    found = {()}
    for eqn in jaxpr.eqns:
        if eqn.primitive is check_p:
            found |= set(eqn.params["signatures"])
        if OOBError in errors and eqn.primitive.name in _INDEXING:
            found.add(_INDEX)
        for inner in _jaxprs_in_params(eqn.params):
            found |= _signatures(inner, errors)
    return found


def _has_sites(jaxpr, errors):
    """Whether anything in a jaxpr is checked."""

    def checked(eqn):
        name = eqn.primitive.name
        return (
            eqn.primitive is check_p
            or (name in _INDEXING and OOBError in errors)
            or (name in ("div", "rem") and DivisionByZeroError in errors)
            or NaNError in errors
            or any(_has_sites(inner, errors) for inner in _jaxprs_in_params(eqn.params))
        )

    return any(map(checked, jaxpr.eqns))


def _run(jaxpr, consts, args, state, errors):
    """Results of a jaxpr, and the state after it."""
    env = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))

    def read(atom):
        return atom.val if isinstance(atom, _Literal) else env[atom]

    for eqn in jaxpr.eqns:
        ins = [read(atom) for atom in eqn.invars]
        state, outs = _apply(eqn, ins, state, errors)
        env.update(zip(eqn.outvars, outs))
    return state, [read(atom) for atom in jaxpr.outvars]


def _apply(eqn, ins, state, errors):
    """Results of an equation, and the state after it."""
    name = eqn.primitive.name
    if eqn.primitive is check_p:
        return _stated_check(eqn, ins, state, errors), []
    inner = list(_jaxprs_in_params(eqn.params))
    if inner and any(_has_sites(jaxpr, errors) for jaxpr in inner):
        return _CONTROL.get(name, _inline)(eqn, ins, state, errors)
    if OOBError in errors and name in _INDEXING:
        state = _check_index(eqn, ins, state)
    if DivisionByZeroError in errors and name in ("div", "rem"):
        state = _update(state, (ins[1] == 0).any(), _plain_site(DivisionByZeroError, "division by zero"))
    outs = eqn.primitive.bind(*ins, **eqn.params)
    outs = list(outs) if eqn.primitive.multiple_results else [outs]
    if NaNError in errors:
        for out in outs:
            if not _is_key(out) and _np.dtype(out.dtype).kind in "fcV" and "float0" not in str(out.dtype) and _is_inexact(out):
                state = _update(state, (out != out).any(), _plain_site(NaNError, f"nan generated by primitive: {name}."))
    return state, outs


def _is_key(x):
    # Their words stand for random keys in an error, and no key is a number.
    return str(x.dtype).startswith("key<")


def _is_inexact(x):
    from pullback import dtypes

    return dtypes.issubdtype(x.dtype, _np.inexact)


def _update(state, failed, site, values=()):
    """The state after a check: the first failure stays."""
    return _merge(state, Error(failed, _np.int32(_number(site)), {site.signature: tuple(values)}))


def _merge(state, new):
    from pullback import numpy as jnp

    first = jnp.logical_and(new._failed, jnp.logical_not(state._failed))
    keep = lambda old, new: jnp.where(first, new, old)
    payloads = {
        signature: tuple(map(keep, old, new._payloads[signature])) if signature in new._payloads else old
        for signature, old in state._payloads.items()
    }
    return Error(jnp.logical_or(state._failed, new._failed), keep(state._code, new._code), payloads)


def _stated_check(eqn, ins, state, errors):
    failed, code, *values = map(_last_failure(ins[0]), ins)
    others = [number for number, site in enumerate(_sites) if site.kind not in errors]
    if others:
        failed = failed & ~(code == _np.asarray(others, _np.int32)).any()
    return _merge(state, _error_of(failed, code, values, eqn.params["signatures"]))


def _last_failure(failed):
    """A function from batched values of a check to those of one example: the last that failed."""
    from pullback import numpy as jnp

    rank = _np.ndim(failed)
    if rank == 0:
        return lambda x: x
    flat = jnp.reshape(failed, (-1,))
    at = flat.size - 1 - jnp.argmax(flat[::-1])
    return lambda x: jnp.reshape(x, (flat.size, *_np.shape(x)[rank:]))[at]


# --- indices ----------------------------------------------------------------------------------------------------------


def _check_index(eqn, ins, state):
    """Checks that the slices that an equation reads or writes lie inside the operand."""
    from pullback import numpy as jnp

    starts, axes, room = _INDEXING[eqn.primitive.name](eqn, ins)
    if starts.size == 0:
        return state
    shape = tuple(ins[0].shape)
    outside = jnp.logical_or(starts < 0, starts > _np.asarray(room, _np.int32))
    at = jnp.argmax(outside.reshape(-1))
    axis = jnp.asarray(axes, _np.int32)[at % len(axes)]
    size = jnp.asarray(shape, _np.int32)[axis]
    payload = jnp.stack([starts.reshape(-1)[at].astype(_np.int32), axis, size])
    return _update(state, outside.any(), _index_site(shape), [payload])


class _IndexTree:
    """Makes the values of an index error's text from its payload."""

    def unflatten(self, values):
        index, axis, size = map(int, values[0])
        return (index, axis, size), {}


_index_tree = _IndexTree()


def _index_site(shape):
    text = f"out-of-bounds indexing for array of shape {shape}: index {{}} is out of bounds for axis {{}} with size {{}}. "
    return _Site(OOBError, text, _index_tree, _INDEX)


def _stacked(starts):
    from pullback import numpy as jnp

    return jnp.stack([jnp.asarray(start, _np.int32) for start in starts]) if starts else jnp.zeros(0, _np.int32)


def _dynamic_slice(eqn, ins):
    sizes, shape = eqn.params["slice_sizes"], ins[0].shape
    return _stacked(ins[1:]), range(len(shape)), [n - size for n, size in zip(shape, sizes)]


def _dynamic_update_slice(eqn, ins):
    sizes, shape = ins[1].shape, ins[0].shape
    return _stacked(ins[2:]), range(len(shape)), [n - size for n, size in zip(shape, sizes)]


def _gather(eqn, ins):
    axes = eqn.params["dimension_numbers"].start_index_map
    sizes = eqn.params["slice_sizes"]
    return ins[1], axes, [ins[0].shape[axis] - sizes[axis] for axis in axes]


def _scatter(eqn, ins):
    numbers = eqn.params["dimension_numbers"]
    axes = numbers.scatter_dims_to_operand_dims
    hidden = {*numbers.inserted_window_dims, *getattr(numbers, "operand_batching_dims", ())}
    window = iter([ins[2].shape[axis] for axis in sorted(numbers.update_window_dims)])
    sizes = [1 if axis in hidden else next(window) for axis in range(len(ins[0].shape))]
    return ins[1], axes, [ins[0].shape[axis] - sizes[axis] for axis in axes]


_INDEXING = {
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    **{name: _scatter for name in ("scatter", "scatter-add", "scatter-mul", "scatter-min", "scatter-max", "scatter-sub")},
}


# --- control flow -----------------------------------------------------------------------------------------------------


def _inline(eqn, ins, state, errors):
    """An equation that applies one jaxpr to its operands."""
    (jaxpr,) = _jaxprs_in_params(eqn.params)
    return _run(jaxpr, jaxpr.consts, ins, state, errors)


def _cond(eqn, ins, state, errors):
    from pullback import lax

    def branch(jaxpr):
        return lambda state, *args: _run(jaxpr, jaxpr.consts, args, state, errors)

    index, *operands = ins
    return lax.switch(index, [branch(jaxpr) for jaxpr in eqn.params["branches"]], _arrays(state), *operands)


def _while(eqn, ins, state, errors):
    from pullback import lax

    params = eqn.params
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    cond_consts, body_consts, init = ins[:n_cond], ins[n_cond : n_cond + n_body], ins[n_cond + n_body :]
    cond, body = params["cond_jaxpr"], params["body_jaxpr"]

    def test(state, carry):
        state, (going,) = _run(cond, cond.consts, [*cond_consts, *carry], state, errors)
        return _arrays(state), going

    def step(loop):
        state, _, carry = loop
        state, carry = _run(body, body.consts, [*body_consts, *carry], state, errors)
        return *test(state, carry), tuple(carry)

    state, _, outs = lax.while_loop(lambda loop: loop[1], step, (*test(state, init), tuple(init)))
    return state, outs


def _scan(eqn, ins, state, errors):
    from pullback import lax

    params = eqn.params
    consts_group, carry_group, _ = params["ft_in"]
    n_consts, n_carry = len(consts_group), len(carry_group)
    consts, init, xs = ins[:n_consts], ins[n_consts : n_consts + n_carry], ins[n_consts + n_carry :]
    body = params["jaxpr"]

    def step(loop, slices):
        state, carry = loop
        state, outs = _run(body, body.consts, [*consts, *carry, *slices], state, errors)
        return (_arrays(state), tuple(outs[:n_carry])), tuple(outs[n_carry:])

    (state, carry), ys = lax.scan(
        step, (_arrays(state), tuple(init)), tuple(xs), length=params["length"], reverse=params["reverse"], unroll=params["unroll"]
    )
    return state, [*carry, *ys]


def _shard_map(eqn, ins, state, errors):
    """Every device has a state of its own; that of the first one with an error is merged."""
    from pullback import numpy as jnp, shard_map
    from pullback.sharding import PartitionSpec

    params = eqn.params
    jaxpr, mesh = params["jaxpr"], params["mesh"]

    def on_device(*args):
        state_there, outs = _run(jaxpr, jaxpr.consts, args, start, errors)
        return _tree_util.tree_map(lambda leaf: jnp.asarray(leaf)[None], state_there), outs

    start = _no_error(tuple(state._payloads))
    specs = (PartitionSpec(tuple(mesh.axis_names)), list(params["out_specs"]))
    mapped = shard_map(on_device, mesh=mesh, in_specs=tuple(params["in_specs"]), out_specs=specs, check_vma=False)
    states, outs = mapped(*ins)
    first = jnp.argmax(states._failed)
    return _merge(state, _tree_util.tree_map(lambda leaf: leaf[first], states)), outs


def _arrays(state):
    """The state with arrays of strong types throughout, as loops carry it."""
    from pullback import numpy as jnp

    return _tree_util.tree_map(jnp.asarray, state)


_CONTROL = {"cond": _cond, "while": _while, "scan": _scan, "shard_map": _shard_map}
