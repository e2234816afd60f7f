"""Key reuse where functions are called with concrete keys: while `jax_debug_key_reuse` is on, calls are looked at first.

What was consumed is known of each key array while it lives. A call's jaxpr tells what it consumes; the keys that a compiled
function closed over count as arguments.
"""

import threading as _threading
import weakref as _weakref

from pullback import _core
from pullback._core import user_error as _user_error
from pullback.errors import KeyReuseError as _KeyReuseError
from pullback.experimental.key_reuse import _core as _rules

# Of each key array that lives the mask of what was consumed: by identity, since arrays have no hash.
_consumed = {}
_closed_over = _weakref.WeakKeyDictionary()
_busy = _threading.local()
_kept = {}
_TRANSFORMS = ("vmap", "grad", "value_and_grad", "jacfwd", "jacrev", "hessian")
_CONTROL = ("scan", "while_loop", "fori_loop", "cond", "switch", "map")


def _mask(key):
    """What of a key array was consumed: one mask for all objects that share its elements and live."""
    number = id(key)
    if number not in _consumed:
        place = key.unsafe_buffer_pointer() if key.size else 0
        shared = next((mask for mask, _, other in _consumed.values() if place and other == place and mask.shape == key.shape), None)
        _share(key, _rules._full(key.shape) if shared is None else shared, place)
    return _consumed[number][0]


def _share(key, mask, place=0):
    number = id(key)
    _consumed[number] = (mask, _weakref.ref(key, lambda _: _consumed.pop(number, None)), place)


def assert_consumed(key, value):
    """AssertionError where the state of a concrete key is another, while reuse is looked for."""
    import numpy as np

    if _is_on() and not (_mask(key) == np.asarray(value)).all():
        raise _user_error(AssertionError, f"Expected key to {'' if np.all(value) else 'not '}be consumed")


def _is_on():
    from pullback._config import config

    return bool(config.jax_debug_key_reuse or config.pullback_checked) and not getattr(_busy, "now", False)


def _is_concrete_key(leaf):
    return isinstance(leaf, _core.Array) and not isinstance(leaf, _core.Tracer) and _rules._is_key(leaf)


def _checked(function, original, args, kwargs):
    """The result of a call, whose keys were looked at; `function` is what is traced, `original` what is called."""
    if not _is_on() or not _core.trace_state_clean() and not any(map(_is_concrete_key, _leaves((args, kwargs)))):
        return original(*args, **kwargs)
    leaves = _leaves((args, kwargs))
    is_looked_at = isinstance(function, _core.PjitFunction) or getattr(function, "__name__", "") in (*_CONTROL, "wrap_key_data")
    if not any(map(_is_concrete_key, leaves)) and not is_looked_at:
        return original(*args, **kwargs)
    _busy.now = True
    try:
        found = _keys_and_signature(function, args, kwargs)
    finally:
        _busy.now = False
    if found is None:
        return original(*args, **kwargs)
    keys, signature = found
    for sink in signature.sinks:
        key = keys[sink.idx]
        if _is_concrete_key(key) and (_mask(key) & sink.mask).any():
            what = "jit-compiled function" if isinstance(function, (_core.PjitFunction, _core.Function)) else getattr(function, "__name__", "function")
            raise _user_error(_KeyReuseError, f"Previously-consumed key passed to {what} at index {sink.idx}")
    for sink in signature.sinks:
        if _is_concrete_key(keys[sink.idx]):
            _mask(keys[sink.idx])[...] |= sink.mask
    result = original(*args, **kwargs)
    outs = _leaves(result)
    for out in outs:
        # What is no argument is new, even where it shares the elements of one.
        if _is_concrete_key(out) and not any(out is key for key in keys):
            _share(out, _rules._full(out.shape))
    for forward in signature.forwards:
        source = keys[forward.in_idx]
        if forward.out_idx < len(outs) and _is_concrete_key(source) and _is_concrete_key(out := outs[forward.out_idx]) and out is not source:
            mask = _mask(source)
            _share(out, mask if out.shape == source.shape else _rules._full(out.shape, bool(mask.any())))
    return result


def _leaves(tree):
    from pullback import tree_util

    return tree_util.tree_leaves(tree)


def _keys_and_signature(function, args, kwargs):
    """The flat operands of a call, first what it closed over, and its signature; None where it cannot be traced."""
    import pullback

    try:
        if isinstance(function, _core.PjitFunction):
            traced = function.trace(*args, **kwargs)
            jaxpr = traced.jaxpr
            leaves = _leaves((args, kwargs))
            if len(leaves) != len(jaxpr.invars):
                leaves = [leaf for leaf in leaves if hasattr(leaf, "dtype")]
        else:
            dynamic, tree = pullback.tree_util.tree_flatten((args, kwargs))
            places = [k for k, leaf in enumerate(dynamic) if isinstance(leaf, _core.Array)]

            def flat(*some):
                whole = list(dynamic)
                for place, leaf in zip(places, some):
                    whole[place] = leaf
                found, named = tree.unflatten(whole)
                return function(*found, **named)

            leaves = [dynamic[place] for place in places]
            jaxpr = pullback.make_jaxpr(flat)(*leaves)
    except _KeyReuseError:
        raise
    except Exception:
        # The call itself says what is wrong with it.
        return None
    opened = _core.open_constvars(jaxpr)
    keys = [*jaxpr.consts, *leaves]
    if isinstance(function, _core.PjitFunction):
        # What a function closed over lives as long as it: so its state does.
        _closed_over.setdefault(function, []).extend(const for const in jaxpr.consts if _is_concrete_key(const))
    if len(keys) != len(opened.invars):
        return None
    return keys, _rules.jaxpr_type_signature(opened)


def _wrapped(original):
    def __call__(self, *args, **kwargs):
        return _checked(self, lambda *a, **k: original(self, *a, **k), args, kwargs)

    return __call__


def _wrapped_control(function):
    import functools

    @functools.wraps(function)
    def call(*args, **kwargs):
        return _checked(function, function, args, kwargs)

    return call


def _wrapped_transform(transform):
    """The transformation, whose functions are looked at."""
    import functools

    @functools.wraps(transform)
    def transformed(*args, **kwargs):
        return _wrapped_control(transform(*args, **kwargs))

    return transformed


def _wrapped_make_jaxpr(make_jaxpr):
    import functools

    @functools.wraps(make_jaxpr)
    def making(*options, **named):
        make = make_jaxpr(*options, **named)

        @functools.wraps(make)
        def made(*args, **kwargs):
            found = make(*args, **kwargs)
            if _is_on():
                _rules.check_key_reuse_jaxpr(found[0] if isinstance(found, tuple) else found)
            return found

        return made

    return making


def follow(is_on):
    """Begins or ends looking at calls; between, they are as they were."""
    import pullback
    from pullback import lax, numpy

    if is_on and not _kept:
        getitem = _core.Array.__getitem__
        _kept.update(function=_core.Function.__call__, jit=_core.PjitFunction.__call__, getitem=getitem)
        _kept.update({name: getattr(lax, name) for name in _CONTROL})
        _core.Function.__call__, _core.PjitFunction.__call__ = _wrapped(_kept["function"]), _wrapped(_kept["jit"])
        _core.Array.__getitem__ = lambda self, index: _checked(lambda x: getitem(x, index), lambda x: getitem(x, index), (self,), {})
        for name in _CONTROL:
            setattr(lax, name, _wrapped_control(_kept[name]))
        _kept["where"] = numpy.where
        numpy.where = _wrapped_control(numpy.where)
        _kept.update({name: getattr(pullback, name) for name in (*_TRANSFORMS, "make_jaxpr")})
        for name in _TRANSFORMS:
            setattr(pullback, name, _wrapped_transform(_kept[name]))
        pullback.make_jaxpr = _wrapped_make_jaxpr(_kept["make_jaxpr"])
    elif not is_on and _kept:
        _core.Function.__call__, _core.PjitFunction.__call__ = _kept["function"], _kept["jit"]
        _core.Array.__getitem__ = _kept["getitem"]
        for name in _CONTROL:
            setattr(lax, name, _kept[name])
        for name in (*_TRANSFORMS, "make_jaxpr"):
            setattr(pullback, name, _kept[name])
        numpy.where = _kept["where"]
        _kept.clear()
