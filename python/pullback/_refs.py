"""References in transformed functions: what a reference holds goes in as an argument, and out as a result.

A traced function that reads or writes a reference of outside raises `Touched`; the transformation is then applied to a function
that takes the value of the reference and gives it back, and the reference gets that. References among the arguments are treated
alike. Transformations are wrapped while there are references, so that programs without references do not pay.
"""

import contextlib
import functools
import weakref

from pullback import _core
from pullback._core import user_error as _user_error

_MOST = 64
_plans = weakref.WeakKeyDictionary()
_n_alive = 0
# What was wrapped: its holder, its name and itself.
_plain = []


class Touched(NotImplementedError):
    """A reference was used in a trace that does not have its value."""

    def __init__(self, ref):
        super().__init__(
            "a Ref of another trace was used here in a transformation that does not carry references: pass the array in and out of the "
            "transformed function instead"
        )
        self.ref = ref


class _Hole:
    """Stands for a reference in a tree of arguments: a node without leaves."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, _Hole) and self.number == other.number

    def __hash__(self):
        return hash(self.number)


@functools.cache
def _ref_class():
    from pullback import tree_util
    from pullback.ref import Ref

    tree_util.register_static(_Hole)
    return Ref


def _is_hole(x):
    return isinstance(x, _Hole)


def _without(tree):
    """A tree with holes for its references, and these; ValueError when one occurs twice."""
    from pullback import tree_util

    found, Ref = [], _ref_class()

    def replaced(leaf):
        if not isinstance(leaf, Ref):
            return leaf
        if any(leaf is other for other in found):
            raise _user_error(
                ValueError,
                "only one reference to a mutable array may be passed as an argument to a function, but the mutable array reference of type "
                f"{leaf.aval.str_short()} appeared twice"
            )
        found.append(leaf)
        return _Hole(len(found) - 1)

    return tree_util.tree_map(replaced, tree), found


def _with(tree, refs):
    from pullback import tree_util

    return tree_util.tree_map(lambda x: refs[x.number] if _is_hole(x) else x, tree, is_leaf=_is_hole)


def _check_results(out):
    from pullback import tree_util

    if any(isinstance(leaf, _ref_class()) for leaf in tree_util.tree_leaves(out)):
        raise _user_error(
            ValueError, "the traced function returned a mutable array reference, but mutable array references cannot be returned; return ref[...]"
        )
    return out


@contextlib.contextmanager
def _holding(refs, values):
    """References hold other values in the current trace; afterwards those that they held."""
    for ref, value in zip(refs, values):
        ref._enter(value)
    try:
        yield
    finally:
        for ref in refs:
            ref._leave()


def _lifted(refs, fun, args, kwargs, values):
    """The results of a function, and what the references hold then."""
    with _holding(refs, values):
        out = _check_results(fun(*args, **kwargs))
        return out, [ref[...] for ref in refs]


def _check_unmixed(refs, after, args, how, whose):
    """Raises where a reference of outside got a value that depends on transformed arguments, which it could not keep."""
    from pullback import tree_util
    from pullback.core import find_top_trace

    inside = [find_top_trace([leaf]) for leaf in tree_util.tree_leaves(args) if isinstance(leaf, _core.Tracer)]
    for ref, value in zip(refs, after):
        if isinstance(value, _core.Tracer) and any(find_top_trace([value]) == trace for trace in inside):
            raise _user_error(
                Exception,
                f"performing a set/swap operation with {how} value on {whose} array reference of type {ref.aval.str_short()}. Move the "
                f"array reference to be an argument {'to' if 'vmap' in how else 'of'} the {'vmapped' if 'vmap' in how else 'differentiated'} function?"
            )


_DIFFERENTIATED = "a differentiated", "a non-differentiated"
_MAPPED = "vmapped", "an unbatched"


def _carried(attempt, plain, explicit=(), closed=()):
    """What `attempt(refs, values)` gives: with more references until all that are touched are there; `plain()` without any."""
    refs = [*explicit, *closed]
    if not refs:
        try:
            return plain()
        except Touched as touched:
            refs = [touched.ref]
    while True:
        try:
            out, after = attempt(refs, [ref[...] for ref in refs])
        except Touched as touched:
            if any(touched.ref is ref for ref in explicit):
                raise _user_error(
                    ValueError, f"a mutable array reference of type {touched.ref.aval.str_short()} was both closed over and passed as an argument"
                ) from None
            if len(refs) >= _MOST or any(touched.ref is ref for ref in refs):
                raise
            refs.append(touched.ref)
            continue
        for ref, value in zip(refs, after):
            ref[...] = value
        return out


def _call_jit(original, self, args, kwargs):
    def plain():
        try:
            return original(self, *args, **kwargs)
        except TypeError as error:
            if "returned a value of type <class 'pullback.ref.Ref'>" not in str(error):
                raise
            text = "traced for jit returned a mutable array reference, but mutable array references cannot be returned; return ref[...]"
            raise _user_error(ValueError, f"function {getattr(self, '__name__', self)} {text}") from None

    held, explicit = _without((args, kwargs))
    known = _plans.setdefault(self, {"closed": [], "made": {}})
    if not explicit and not known["closed"]:
        try:
            return plain()
        except Touched as touched:
            known["closed"].append(touched.ref)
    closed = known["closed"]

    def attempt(refs, values):
        closed[:] = refs[len(explicit) :]
        made = _jit_of(self, known["made"], tuple(map(id, closed)), len(explicit), closed)
        return original(made, values, *held[0], **held[1])

    for ref in explicit:
        if any(ref is other for other in closed):
            raise _user_error(ValueError, "a reference is both closed over and an argument of a traced function, so that it has two names in it")
    return _carried(attempt, plain, explicit, closed)


def _jit_of(self, made, names, n_explicit, closed):
    """The compiled function with values of references as its first argument."""
    key = names, n_explicit
    if key not in made:
        from pullback import jit

        static, static_names, _, _, keep_unused = self._options()
        closed = list(closed)

        def function(values, *args, **kwargs):
            explicit = [_ref_class()._local(value) for value in values[:n_explicit]]
            refs = explicit + closed
            args, kwargs = _with((args, kwargs), explicit)
            return _lifted(refs, self._fun, args, kwargs, values)

        functools.update_wrapper(function, self._fun, assigned=("__name__", "__qualname__"), updated=())
        del function.__wrapped__
        made[key] = jit(function, static_argnums=[k + 1 for k in static], static_argnames=static_names, keep_unused=keep_unused)
    return made[key]


def _wrapped_jit(original):
    def __call__(self, *args, **kwargs):
        return _call_jit(original, self, args, kwargs)

    return __call__


def _wrapped_scan(scan):
    @functools.wraps(scan)
    def wrapped(f, init, xs=None, *args, **kwargs):
        def attempt(refs, values):
            def body(carry, x):
                (out, y), values = _lifted(refs, f, (carry[1], x), {}, carry[0])
                return (values, out), y

            (values, carry), ys = scan(body, (values, init), xs, *args, **kwargs)
            return (carry, ys), values

        return _carried(attempt, lambda: scan(f, init, xs, *args, **kwargs))

    return wrapped


def _wrapped_while(while_loop):
    @functools.wraps(while_loop)
    def wrapped(cond_fun, body_fun, init_val):
        def attempt(refs, values):
            def cond(carry):
                return _lifted(refs, cond_fun, (carry[1],), {}, carry[0])[0]

            def body(carry):
                return _lifted(refs, body_fun, (carry[1],), {}, carry[0])[::-1]

            return while_loop(cond, body, (values, init_val))[::-1]

        return _carried(attempt, lambda: while_loop(cond_fun, body_fun, init_val))

    return wrapped


def _wrapped_fori(fori_loop):
    @functools.wraps(fori_loop)
    def wrapped(lower, upper, body_fun, init_val, **options):
        def attempt(refs, values):
            body = lambda i, carry: _lifted(refs, body_fun, (i, carry[1]), {}, carry[0])[::-1]
            return fori_loop(lower, upper, body, (values, init_val), **options)[::-1]

        return _carried(attempt, lambda: fori_loop(lower, upper, body_fun, init_val, **options))

    return wrapped


def _branch(refs, fun, explicit):
    def branch(values, *operands):
        return _lifted(refs, fun, _with(operands, explicit), {}, values)

    return branch


def _wrapped_cond(cond):
    @functools.wraps(cond)
    def wrapped(pred, true_fun, false_fun, *operands, **options):
        held, explicit = _without(operands)

        def attempt(refs, values):
            return cond(pred, *(_branch(refs, fun, explicit) for fun in (true_fun, false_fun)), values, *held)

        if options or not callable(true_fun):
            return cond(pred, true_fun, false_fun, *operands, **options)
        return _carried(attempt, lambda: cond(pred, true_fun, false_fun, *operands), explicit)

    return wrapped


def _wrapped_switch(switch):
    @functools.wraps(switch)
    def wrapped(index, branches, *operands, **options):
        held, explicit = _without(operands)

        def attempt(refs, values):
            return switch(index, [_branch(refs, fun, explicit) for fun in branches], values, *held)

        return switch(index, branches, *operands, **options) if options else _carried(attempt, lambda: switch(index, branches, *operands), explicit)

    return wrapped


def _wrapped_map(original):
    from pullback import lax

    @functools.wraps(original)
    def wrapped(f, xs, **options):
        if options.get("batch_size") is not None:
            return original(f, xs, **options)
        try:
            return original(f, xs, **options)
        except Touched:
            return lax.scan(lambda _, x: ((), f(x)), (), xs)[1]

    return wrapped


def _wrapped_gradient(transform, gives_value):
    """`grad` or `value_and_grad`: what references hold is passed beside the value."""
    @functools.wraps(transform)
    def wrapped(fun, argnums=0, has_aux=False, *options, **named):
        plain_transform = transform(fun, argnums, has_aux, *options, **named)

        @functools.wraps(plain_transform)
        def transformed(*args, **kwargs):
            held, explicit = _without((args, kwargs))

            def attempt(refs, values):
                def inner(*inner_args, **inner_kwargs):
                    whole_args, whole_kwargs = _with((inner_args, inner_kwargs), explicit)
                    out, after = _lifted(refs, fun, whole_args, whole_kwargs, values)
                    _check_unmixed(refs, after, inner_args, *_DIFFERENTIATED)
                    value, aux = out if has_aux else (out, None)
                    return value, (aux, after)

                result, grads = _parts(transform(inner, argnums, True, *options, **named)(*held[0], **held[1]), gives_value)
                (value, (aux, after)) = result
                out = ((value, aux) if has_aux else value, grads) if gives_value else (grads, aux) if has_aux else grads
                return out, after

            return _carried(attempt, lambda: plain_transform(*args, **kwargs), explicit)

        return transformed

    return wrapped


def _parts(result, gives_value):
    """`((value, aux), gradients)` of what either transformation gives with `has_aux`."""
    if gives_value:
        return result
    grads, aux = result
    return (None, aux), grads


def _wrapped_vjp(vjp):
    @functools.wraps(vjp)
    def wrapped(fun, *primals, has_aux=False, **options):
        def attempt(refs, values):
            def inner(*args):
                out, after = _lifted(refs, fun, args, {}, values)
                _check_unmixed(refs, after, args, *_DIFFERENTIATED)
                value, aux = out if has_aux else (out, None)
                return value, (aux, after)

            value, pull, (aux, after) = vjp(inner, *primals, has_aux=True, **options)
            return (value, pull, aux) if has_aux else (value, pull), after

        return _carried(attempt, lambda: vjp(fun, *primals, has_aux=has_aux, **options))

    return wrapped


def _wrapped_jvp(jvp):
    @functools.wraps(jvp)
    def wrapped(fun, primals, tangents, has_aux=False):
        def attempt(refs, values):
            def inner(*args):
                out, after = _lifted(refs, fun, args, {}, values)
                _check_unmixed(refs, after, args, *_DIFFERENTIATED)
                value, aux = out if has_aux else (out, None)
                return value, (aux, after)

            value, tangent, (aux, after) = jvp(inner, primals, tangents, has_aux=True)
            return (value, tangent, aux) if has_aux else (value, tangent), after

        return _carried(attempt, lambda: jvp(fun, primals, tangents, has_aux=has_aux))

    return wrapped


def _axis_of(refs, args, axes):
    """The batch axes of references among positional arguments: those of the arguments that they are in."""
    from pullback import tree_util

    listed = axes if isinstance(axes, (tuple, list)) else [axes] * len(args)
    found = {}
    for arg, axis in zip(args, listed):
        for leaf in tree_util.tree_leaves(arg):
            if isinstance(leaf, _ref_class()):
                if not (axis is None or isinstance(axis, int)):
                    raise _user_error(NotImplementedError, "in_axes of an argument that holds references must be an integer or None")
                found[id(leaf)] = axis
    return [found.get(id(ref)) for ref in refs]


def _wrapped_vmap(vmap):
    @functools.wraps(vmap)
    def wrapped(fun, in_axes=0, out_axes=0, *options, **named):
        plain_vmap = vmap(fun, in_axes, out_axes, *options, **named)

        @functools.wraps(plain_vmap)
        def mapped(*args, **kwargs):
            held, explicit = _without(args)

            def attempt(refs, values):
                ref_axes = _axis_of(refs, args, in_axes)
                axes = list(in_axes) if isinstance(in_axes, (tuple, list)) else [in_axes] * len(args)
                axes = [None if _is_hole(arg) else axis for arg, axis in zip(held, axes)]

                def inner(values, *inner_args):
                    explicit_here = [_ref_class()._local(value) for value in values[: len(explicit)]]
                    out, after = _lifted([*explicit_here, *refs[len(explicit) :]], fun, _with(inner_args, explicit_here), {}, values)
                    kept = [k for k, axis in enumerate(ref_axes) if axis is None]
                    _check_unmixed([refs[k] for k in kept], [after[k] for k in kept], inner_args, *_MAPPED)
                    return out, after

                return vmap(inner, (ref_axes, *axes), (out_axes, ref_axes), *options, **named)(values, *held)

            return _carried(attempt, lambda: plain_vmap(*args, **kwargs), explicit)

        return mapped

    return wrapped


def _wrapped_checkpoint(checkpoint):
    @functools.wraps(checkpoint)
    def wrapped(fun=None, **options):
        if fun is None:
            return functools.partial(wrapped, **options)
        plain_checkpoint = checkpoint(fun, **options)

        @functools.wraps(plain_checkpoint)
        def called(*args, **kwargs):
            held, explicit = _without((args, kwargs))

            def attempt(refs, values):
                def inner(values, *inner_args, **inner_kwargs):
                    whole_args, whole_kwargs = _with((inner_args, inner_kwargs), explicit)
                    return _lifted(refs, fun, whole_args, whole_kwargs, values)

                return checkpoint(inner, **{name: value for name, value in options.items() if "static" not in name})(values, *held[0], **held[1])

            return _carried(attempt, lambda: plain_checkpoint(*args, **kwargs), explicit)

        return called

    return wrapped


def install(ref):
    """Wraps the transformations while there is a reference: until the last one is gone."""
    global _n_alive
    _n_alive += 1
    weakref.finalize(ref, _release).atexit = False
    if _n_alive > 1:
        return
    import pullback
    from pullback import lax

    _replace(_core.PjitFunction, "__call__", _wrapped_jit)
    wrappers = {"scan": _wrapped_scan, "while_loop": _wrapped_while, "fori_loop": _wrapped_fori, "cond": _wrapped_cond, "switch": _wrapped_switch}
    for name, wrap in (*wrappers.items(), ("map", _wrapped_map)):
        _replace(lax, name, wrap)
    _replace(pullback, "grad", functools.partial(_wrapped_gradient, gives_value=False))
    _replace(pullback, "value_and_grad", functools.partial(_wrapped_gradient, gives_value=True))
    for name, wrap in (("vjp", _wrapped_vjp), ("jvp", _wrapped_jvp), ("vmap", _wrapped_vmap), ("checkpoint", _wrapped_checkpoint), ("remat", _wrapped_checkpoint)):
        _replace(pullback, name, wrap)


def _replace(holder, name, wrap):
    plain = getattr(holder, name)
    _plain.append((holder, name, plain))
    setattr(holder, name, wrap(plain))


def _release():
    global _n_alive
    _n_alive -= 1
    while _n_alive == 0 and _plain:
        setattr(*_plain.pop())
