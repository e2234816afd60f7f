"""What functions do with keys, read from their jaxprs: which they consume, make and pass on.

A key may be consumed once. A signature says of a function which parts of its arguments it consumes (`Sink`), which results are
new keys (`Source`) and which are its arguments (`Forward`). A jaxpr's follows from those of its equations, and one that consumes
a key twice is an error.
"""

import functools as _functools

from pullback import _core
from pullback._core import user_error as _user_error
from pullback.errors import KeyReuseError as KeyReuseError


def _mask_text(mask):
    import numpy as np

    if isinstance(mask, np.ndarray) and mask.all():
        return ""
    return "" if mask is True else f", {mask}"


class _Use:
    """A use of keys at a position; the mask says which of an array of them."""

    def __init__(self, idx, mask=True):
        import numpy as np

        if isinstance(mask, np.bool_):
            mask = bool(mask)
        elif isinstance(mask, np.ndarray) and mask.ndim == 0:
            mask = bool(mask)
        if isinstance(mask, np.ndarray) and mask.size and (mask == mask.flat[0]).all():
            mask = bool(mask.flat[0])
        self.idx, self.mask = idx, mask

    def _key(self):
        import numpy as np

        return type(self).__name__, self.idx, (self.mask.shape, self.mask.tobytes()) if isinstance(self.mask, np.ndarray) else self.mask

    def __eq__(self, other):
        return isinstance(other, _Use) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return f"{type(self).__name__}({self.idx}{_mask_text(self.mask)})"


class Sink(_Use):
    """An argument that is consumed."""


class Source(_Use):
    """A result that is a new key."""


class Forward:
    """A result that is an argument."""

    def __init__(self, in_idx, out_idx):
        self.in_idx, self.out_idx = in_idx, out_idx

    def __eq__(self, other):
        return isinstance(other, Forward) and (self.in_idx, self.out_idx) == (other.in_idx, other.out_idx)

    def __hash__(self):
        return hash((self.in_idx, self.out_idx))

    def __repr__(self):
        return f"Forward({self.in_idx}, {self.out_idx})"


class KeyReuseSignature:
    """What a function does with keys: a set of `Sink`, `Source` and `Forward`."""

    def __init__(self, *args):
        self._args = args

    def __repr__(self):
        return f"KeyReuseSignature{self._args}"

    def __eq__(self, other):
        return isinstance(other, KeyReuseSignature) and set(self._args) == set(other._args)

    def __hash__(self):
        return hash(frozenset(self._args))

    @property
    def sinks(self):
        """The arguments that are consumed."""
        return (x for x in self._args if isinstance(x, Sink))

    @property
    def sources(self):
        """The results that are new keys."""
        return (x for x in self._args if isinstance(x, Source))

    @property
    def forwards(self):
        """The results that are arguments."""
        return (x for x in self._args if isinstance(x, Forward))


def _is_key(aval):
    from pullback import dtypes

    return hasattr(aval, "dtype") and dtypes.issubdtype(aval.dtype, dtypes.prng_key)


def unknown_signature(eqn):
    """The signature of an operation without a rule: it consumes the keys it gets, and its results are new ones.

    Args:
      eqn: an equation.
    Returns: a `KeyReuseSignature`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> eqn = jax.make_jaxpr(lambda k: jax.lax.rev(k, (0,)))(jax.random.split(jax.random.key(0))).eqns[0]
      >>> _core.unknown_signature(eqn)
      KeyReuseSignature(Sink(0),)
    """
    return KeyReuseSignature(*(Sink(i) for i, var in enumerate(eqn.invars) if _is_key(var.aval)))


_FORWARDS = (
    "broadcast_in_dim copy convert_element_type reshape squeeze layout_constraint sharding_constraint reshard device_put dynamic_slice gather copy_p "
    "expand_dims stage assert_consumed_value"
).split()
_SIGNATURES = {
    "random_clone": (Source(0),), "random_bits": (Sink(0),), "random_fold_in": (Source(0),), "random_seed": (Source(0),),
    "random_split": (Sink(0), Source(0)), "random_gamma": (Sink(0),), "random_wrap": (Source(0),), "random_unwrap": (), "debug_callback": (),
    "debug_print": (), "eq": (), "ne": (), "dynamic_update_slice": (Sink(1), Forward(0, 0)), "scatter": (Sink(2), Forward(0, 0)),
    "consume": (Sink(0), Forward(0, 0)), **{name: (Forward(0, 0),) for name in _FORWARDS},
}  # fmt: skip


def _full(shape, value=False):
    import numpy as np

    return np.full(shape, value)


def _slice(eqn):
    start, limit, strides = (eqn.params[name] for name in ("start_indices", "limit_indices", "strides"))
    mask = _full(eqn.invars[0].aval.shape)
    mask[tuple(slice(*part) for part in zip(start, limit, strides or (1,) * len(start)))] = True
    return KeyReuseSignature(Sink(0, mask), Source(0))


def _concatenate(eqn):
    return KeyReuseSignature(*(Sink(i) for i in range(len(eqn.invars))), Source(0))


def _unstack(eqn):
    return KeyReuseSignature(Sink(0), *(Source(i) for i in range(len(eqn.outvars))))


def _cond(eqn):
    import numpy as np

    branches = [jaxpr_type_signature(branch) for branch in eqn.params["branches"]]
    sinks = {}
    for signature in branches:
        for sink in signature.sinks:
            mask = _full(eqn.invars[sink.idx + 1].aval.shape) | np.asarray(sink.mask)
            sinks[sink.idx + 1] = sinks.get(sink.idx + 1, False) | mask
    sources = [set(s.idx for s in signature.sources) for signature in branches]
    forwards = [set(signature.forwards) for signature in branches]
    shared = set.intersection(*forwards)
    return KeyReuseSignature(
        *(Sink(i, mask) for i, mask in sinks.items()), *(Source(i) for i in sorted(set.intersection(*sources))),
        *(Forward(f.in_idx + 1, f.out_idx) for f in shared),
    )


def _reused(what, signature, eqn):
    return _user_error(KeyReuseError, f"{what}\n  {signature=}\n  {eqn=}")


def _scan(eqn):
    jaxpr = eqn.params["jaxpr"]
    signature = jaxpr_type_signature(jaxpr)
    n_consts = len(eqn.params["ft_in"][0]) if "ft_in" in eqn.params else eqn.params["num_consts"]
    n_carry = len(eqn.params["ft_in"][1]) if "ft_in" in eqn.params else eqn.params["num_carry"]
    _check_repeats("scan body function", signature, eqn, n_consts, n_carry)
    return signature


def _check_repeats(name, signature, eqn, n_consts, n_carry):
    """A body that runs again must not consume what it gets again: constants, and carried keys that it passes on."""
    import numpy as np

    if any(np.any(sink.mask) for sink in signature.sinks if sink.idx < n_consts):
        raise _reused(f"{name} leads to key reuse when repeatedly executed, because key constants are repeatedly consumed:", signature, eqn)
    new = {source.idx for source in signature.sources}
    for sink in signature.sinks:
        carried = sink.idx - n_consts
        if np.any(sink.mask) and 0 <= carried < n_carry and carried not in new:
            raise _reused(f"{name} leads to key reuse when repeatedly executed:", signature, eqn)
    sunk = {sink.idx - n_consts for sink in signature.sinks if np.any(sink.mask)}
    for forward in signature.forwards:
        source, target = forward.in_idx - n_consts, forward.out_idx
        if target < n_carry and target in sunk and (source < 0 or source in sunk):
            raise _reused(f"{name} leads to key reuse when repeatedly executed:", signature, eqn)


def _while(eqn):
    params = eqn.params
    n_cond, n_body = params["cond_nconsts"], params["body_nconsts"]
    n_carry = len(eqn.invars) - n_cond - n_body
    cond, body = jaxpr_type_signature(params["cond_jaxpr"]), jaxpr_type_signature(params["body_jaxpr"])
    _check_repeats("while_loop body function", body, eqn, n_body, n_carry)
    if any(_any(sink.mask) for sink in cond.sinks):
        raise _reused("while_loop cond function leads to key reuse when repeatedly executed: ", cond, eqn)
    shift = lambda use: type(use)(use.idx + n_cond, use.mask)
    return KeyReuseSignature(
        *map(shift, body.sinks), *body.sources, *(Forward(f.in_idx + n_cond, f.out_idx) for f in body.forwards)
    )


def _any(mask):
    import numpy as np

    return bool(np.any(mask))


def _call(eqn):
    inner = next(value for name in ("jaxpr", "call_jaxpr", "fun_jaxpr") if isinstance(value := eqn.params.get(name), _core.Jaxpr))
    return jaxpr_type_signature(inner)


_DYNAMIC = {
    "slice": _slice, "concatenate": _concatenate, "unstack": _unstack, "cond": _cond, "scan": _scan, "while": _while, "jit": _call,
    "checkpoint": _call, "custom_jvp_call": _call, "custom_vjp_call": _call, "closed_call": _call, "shard_map": _call,
}  # fmt: skip


def key_reuse_signature_from_eqn(eqn):
    """The signature of an equation.

    Args:
      eqn: an equation.
    Returns: a `KeyReuseSignature`.
    Raises:
      KeyReuseError: a function within consumes a key twice.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> _core.key_reuse_signature_from_eqn(jax.make_jaxpr(jax.random.split)(jax.random.key(0)).eqns[0])
      KeyReuseSignature(Sink(0), Source(0))
    """
    name = eqn.primitive.name
    if name in _DYNAMIC:
        return _DYNAMIC[name](eqn)
    if name in _SIGNATURES:
        return KeyReuseSignature(*_SIGNATURES[name])
    return unknown_signature(eqn)


class _Keys:
    """The keys of a jaxpr: what of each variable is consumed. Variables that are one key share it."""

    def __init__(self):
        self._cells = {}

    def cell(self, var):
        """What of a variable is consumed, in a list of one; shared with its forwards."""
        return self._cells.setdefault(var, [_full(var.aval.shape)])

    def consume(self, var, mask, where):
        """Consumes a part; KeyReuseError where some of it is consumed already."""
        cell = self.cell(var)
        if cell[0].shape != var.aval.shape:
            mask = _any(mask)
        part = _full(cell[0].shape) | mask
        if (cell[0] & part).any():
            raise _user_error(KeyReuseError, where)
        cell[0] |= part

    def forward(self, source, target):
        """One key under another name."""
        self._cells[target] = self.cell(source)


@_functools.lru_cache(maxsize=1024)
def jaxpr_type_signature(jaxpr):
    """The signature of a jaxpr.

    Args:
      jaxpr: a jaxpr.
    Returns: a `KeyReuseSignature`.
    Raises:
      KeyReuseError: a key is consumed twice.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> _core.jaxpr_type_signature(jax.make_jaxpr(jax.random.normal)(jax.random.key(0)))
      KeyReuseSignature(Sink(0),)
    """
    from pullback.core import DropVar, Literal

    keys, made, alias = _Keys(), set(), {}
    for var in jaxpr.constvars:
        keys.cell(var)
    is_key = lambda atom: not isinstance(atom, (Literal, DropVar)) and _is_key(atom.aval)
    for eqn in jaxpr.eqns:
        if not any(_is_key(var.aval) for var in (*eqn.invars, *eqn.outvars)):
            continue
        _check_assertions(eqn, keys)
        signature = key_reuse_signature_from_eqn(eqn)
        for sink in signature.sinks:
            if is_key(var := eqn.invars[sink.idx]) and _any(sink.mask):
                where = f"In {eqn.primitive}, argument {sink.idx} is already consumed."
                keys.consume(var, sink.mask, where)
        made.update(eqn.outvars[source.idx] for source in signature.sources if source.idx < len(eqn.outvars) and is_key(eqn.outvars[source.idx]))
        for forward in signature.forwards:
            if forward.in_idx < len(eqn.invars) and is_key(eqn.invars[forward.in_idx]) and is_key(eqn.outvars[forward.out_idx]):
                source, target = eqn.invars[forward.in_idx], eqn.outvars[forward.out_idx]
                keys.forward(source, target)
                alias[target] = alias.get(source, source)
                if source in made:
                    made.add(target)
    positions = {var: i for i, var in enumerate(jaxpr.invars)}
    sinks = [Sink(i, keys.cell(var)[0]) for i, var in enumerate(jaxpr.invars) if _is_key(var.aval) and keys.cell(var)[0].any()]
    sources = [Source(i) for i, var in enumerate(jaxpr.outvars) if is_key(var) and var in made and not keys.cell(var)[0].any()]
    outs = [(alias.get(var, var), i) for i, var in enumerate(jaxpr.outvars) if is_key(var)]
    return KeyReuseSignature(*sinks, *sources, *(Forward(positions[var], i) for var, i in outs if var in positions))


def _check_assertions(eqn, keys):
    import numpy as np

    if eqn.primitive.name != "assert_consumed_value":
        return
    wanted = np.asarray(eqn.params["value"])
    if not (keys.cell(eqn.invars[0])[0] == wanted).all():
        state = "to be consumed" if wanted.all() else "to not be consumed" if not wanted.any() else f"to have consumption {wanted}"
        raise _user_error(AssertionError, f"Expected key {state} in {eqn}")


def function_type_signature(fun, *args):
    """The signature of a function for arguments.

    Args:
      fun: a function of trees of arrays.
      *args: its arguments.
    Returns: a `KeyReuseSignature` of the flat function.
    Raises:
      KeyReuseError: a key is consumed twice.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> _core.function_type_signature(jax.random.split, jax.random.key(0))
      KeyReuseSignature(Sink(0), Source(0))
    """
    import pullback

    return jaxpr_type_signature(pullback.make_jaxpr(fun)(*args))


def check_key_reuse_jaxpr(jaxpr):
    """Checks that a jaxpr consumes no key twice.

    Args:
      jaxpr: a jaxpr.
    Returns: None.
    Raises:
      KeyReuseError: it does.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> _core.check_key_reuse_jaxpr(jax.make_jaxpr(jax.random.normal)(jax.random.key(0)))
    """
    jaxpr_type_signature(jaxpr)


def check_key_reuse(fun, /, *args):
    """Checks that a function consumes no key twice.

    Args:
      fun: a function of trees of arrays.
      *args: its arguments.
    Returns: None.
    Raises:
      KeyReuseError: it does.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> _core.check_key_reuse(jax.random.normal, jax.random.key(0))
    """
    function_type_signature(fun, *args)


@_functools.cache
def _marker(name):
    """A primitive that gives its key back, and means something to the checks."""
    from pullback.core import Primitive
    from pullback.interpreters import batching, mlir

    prim = Primitive(name)
    prim.def_impl(lambda x, **params: x)
    prim.def_abstract_eval(lambda x, **params: x)
    batching.defvectorized(prim)
    mlir.register_lowering(prim, mlir.lower_fun(lambda x, **params: x, multiple_results=False))
    return prim


def consume(key):
    """A copy of a key that counts as used.

    Args:
      key: a key array.
    Returns: a key array.
    Differentiable: no; keys have no derivative.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> _core.consume(jax.random.key(0)).shape
      ()
    """
    return _marker("consume").bind(key)


def assert_consumed(key, value=True):
    """Says that a key, or the marked ones of an array, was used; checked where key reuse is.

    Args:
      key: a key array.
      value: a boolean, or an array of them.
    Returns: None.
    Raises:
      AssertionError: it was not, when the function is checked.
    Differentiable: no; keys have no derivative.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> _core.assert_consumed(jax.random.key(0))
    """
    from pullback.experimental.key_reuse import _eager

    if not isinstance(key, _core.Tracer):
        _eager.assert_consumed(key, value)
        return
    _marker("assert_consumed_value").bind(key, value=value if isinstance(value, bool) else _as_tuple(value))


def _as_tuple(value):
    import numpy as np

    listed = np.asarray(value).tolist()
    return tuple(map(_as_tuple, listed)) if isinstance(listed, list) and listed and isinstance(listed[0], list) else tuple(listed) if isinstance(listed, list) else listed


def assert_unconsumed(key):
    """Says that a key was not used; checked where key reuse is.

    Args:
      key: a key array.
    Returns: None.
    Raises:
      AssertionError: it was, when the function is checked.
    Differentiable: no; keys have no derivative.
    Example:
      >>> from pullback.experimental.key_reuse import _core
      >>> _core.assert_unconsumed(jax.random.key(0))
    """
    assert_consumed(key, False)
