"""Transformations of functions: what `pullback` itself exports."""

import functools as _functools

from pullback import _core
from pullback.tree_util import Partial, tree_map, tree_structure

_UNSET = object()


def _check_callable(fun):
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun}")


def _wraps(fun, name="{fun}", doc=None):
    """`functools.wraps` that tolerates objects without names."""

    def decorate(wrapper):
        try:
            _functools.update_wrapper(wrapper, fun)
        except AttributeError:
            pass
        original = getattr(fun, "__name__", None)
        if original is not None:
            wrapper.__name__ = name.format(fun=original)
        if doc is not None and getattr(fun, "__doc__", None):
            wrapper.__doc__ = doc.format(fun=original, doc=fun.__doc__)
        wrapper.__wrapped__ = fun
        return wrapper

    return decorate


# jit


def _as_tuple(value):
    if value is None:
        return ()
    if isinstance(value, (str, int)):
        return (value,)
    return tuple(value)


def _parameters(fun):
    import inspect

    try:
        return inspect.signature(fun).parameters
    except (ValueError, TypeError):
        return None


def _resolve_arguments(fun, argnums, argnames, option):
    """Positions and names that `argnums` and `argnames` ask for, each completed from the other by the signature."""
    if argnums is None and argnames is None:
        return [], []
    numbers, names = _as_tuple(argnums), _as_tuple(argnames)
    if bad := [name for name in names if not isinstance(name, str)]:
        raise TypeError(f"{option}_argnames must be a str or a collection of strs; got {bad[0]!r}")
    for number in numbers:
        if not isinstance(number, int) and not hasattr(number, "__index__"):
            raise TypeError(f"{option}_argnums must be an int or a collection of ints; got {argnums!r}")
    parameters = _parameters(fun)
    if parameters is None:
        return sorted(n for n in numbers if n >= 0), sorted(names)
    positional = [p.name for p in parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    has_args = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
    has_kwargs = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    n = len(positional)
    if not has_args and (bad := [k for k in numbers if not -n <= k < n]):
        raise ValueError(f"Jitted function has {option}_argnums={numbers}, but only accepts {n} positional arguments.")
    if not has_kwargs and (unknown := {k for k in names if k not in parameters}):
        raise ValueError(
            f"Jitted function has invalid argnames {unknown} in {option}_argnames. Function does not take these args."
        )
    numbers = {k % n if k < 0 and n else k for k in numbers}
    if argnums is None:
        numbers |= {positional.index(name) for name in names if name in positional}
    if argnames is None:
        names = {positional[k] for k in numbers if k < n and parameters[positional[k]].kind.value == 1}
    return sorted(numbers), sorted(names)


_caches = None


def _cache_of(fun, options):
    """The cache of what was traced, shared by all `jit` of the same function with the same options."""
    global _caches
    if _caches is None:
        import weakref

        _caches = weakref.WeakKeyDictionary()
    try:
        known = _caches.setdefault(fun, {})
    except TypeError:
        return _core.JitCache()
    if options not in known:
        known[options] = _core.JitCache()
    return known[options]


def clear_caches():
    """Forgets all that was traced and compiled; what is needed again is made again.

    >>> import pullback as jax
    >>> f = jax.jit(lambda x: x + 1)
    >>> _ = f(1.0)
    >>> jax.clear_caches()
    >>> f._cache_size()
    0
    """
    for known in list((_caches or {}).values()):
        for cache in known.values():
            cache.clear()
    _core.clear_bodies()
    _core.clear_executables()


def jit(
    fun=_UNSET,
    /,
    *,
    in_shardings=None,
    out_shardings=None,
    static_argnums=None,
    static_argnames=None,
    donate_argnums=None,
    donate_argnames=None,
    keep_unused=False,
    device=None,
    backend=None,
    inline=False,
    compiler_options=None,
):
    """A version of `fun` that is traced once for each signature of its arguments and then runs as a compiled program.

    Args:
      fun: a pure function of trees of arrays. Without it, a decorator with the options is returned.
      in_shardings: where the arguments are put: shardings, in a tree that is a prefix of the arguments.
      out_shardings: where the results are put: shardings, in a tree that is a prefix of the result.
      static_argnums: positions of arguments that are part of the signature: hashable Python values.
      static_argnames: names of such arguments.
      donate_argnums: positions of arguments whose memory results may take over; they are deleted.
      donate_argnames: names of such arguments.
      keep_unused: keep arguments that the program does not use.
      device: where the arguments are put, and the program runs.
      backend: accepted; there is one backend.
      inline: inside another trace, leave the equations instead of a call.
      compiler_options: accepted.
    """
    if device is not None or backend is not None:
        import warnings

        from pullback._device import devices

        warnings.warn("backend and device argument on jit is deprecated; put the arguments on a device with jax.device_put.", DeprecationWarning, stacklevel=2)
        devices(backend)
    options = dict(
        static_argnums=static_argnums, static_argnames=static_argnames, donate_argnums=donate_argnums,
        donate_argnames=donate_argnames, keep_unused=keep_unused, inline=inline, in_shardings=in_shardings,
        out_shardings=out_shardings, device=device,
    )
    if fun is _UNSET:
        return _functools.partial(_jit, **options)
    return _jit(fun, **options)


def _jit(
    fun, *, static_argnums, static_argnames, donate_argnums, donate_argnames, keep_unused, inline, in_shardings, out_shardings, device
):
    _check_callable(fun)
    if getattr(getattr(fun, "__code__", None), "co_flags", 0) & 0x20:
        raise TypeError(f"Expected a function, got a generator function: {fun}")
    if out_shardings is not None:
        from pullback._sharded_jit import constrained

        fun = constrained(fun, out_shardings, _wraps)
    static = _resolve_arguments(fun, static_argnums, static_argnames, "static")
    donate = _resolve_arguments(fun, donate_argnums, donate_argnames, "donate")
    for kind, both in (("nums", {*static[0]} & {*donate[0]}), ("names", {*static[1]} & {*donate[1]})):
        if both:
            raise ValueError(f"static_arg{kind} and donate_arg{kind} cannot intersect: {sorted(both)} are in both")
    key = (*map(tuple, static), *map(tuple, donate), bool(keep_unused), bool(inline))
    name = getattr(fun, "__name__", None) or getattr(getattr(fun, "func", None), "__name__", None) or "<unnamed function>"
    parts = fun, _cache_of(fun, key), name, *static, *donate, bool(keep_unused), bool(inline)
    if in_shardings is None and device is None:
        jitted = _core.PjitFunction(*parts)
    else:
        from pullback._sharded_jit import ShardedJit

        jitted = ShardedJit.of(in_shardings, device, *parts)
    return _wraps(fun)(jitted)


# Derivatives


def _argnums(argnums, n_args):
    import operator

    is_single = not isinstance(argnums, (tuple, list))
    numbers = [operator.index(k) for k in ((argnums,) if is_single else argnums)]
    for number in numbers:
        if not -n_args <= number < n_args:
            needed = number + 1 if number >= 0 else -number
            shown = numbers[0] if is_single else tuple(numbers)
            raise TypeError(
                f"differentiating with respect to argnums={shown} requires at least {needed} positional arguments to be "
                f"passed by the caller, but got only {n_args} positional arguments."
            )
    return [number % n_args for number in numbers], is_single


def _index_argnums(argnums):
    import operator

    if isinstance(argnums, (tuple, list)):
        return tuple(operator.index(k) for k in argnums)
    return operator.index(argnums)


def value_and_grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    """A function that gives the value of `fun` and its gradient.

    Args:
      fun: a function with a scalar result; with `has_aux`, a pair of it and of any tree.
      argnums: position, or positions, of the arguments to differentiate.
      has_aux: whether `fun` gives a pair whose second part is passed through.
      holomorphic: whether `fun` is a holomorphic function of complex numbers.
      allow_int: whether integer arguments are allowed; their gradients have dtype `float0`.
      reduce_axes: accepted.
    """
    _check_callable(fun)
    argnums = _index_argnums(argnums)

    @_wraps(fun, doc="Value and gradient of {fun}.\n\n{doc}")
    def value_and_grad_f(*args, **kwargs):
        numbers, single = _argnums(argnums, len(args))
        value, aux, grads = _core.value_and_grad(
            fun, args, kwargs, numbers, single, has_aux, holomorphic, allow_int, "value_and_grad"
        )
        return ((value, aux), grads) if has_aux else (value, grads)

    return value_and_grad_f


def grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    """A function that gives the gradient of `fun`; see `value_and_grad`."""
    _check_callable(fun)
    argnums = _index_argnums(argnums)

    @_wraps(fun, doc="Gradient of {fun}.\n\n{doc}")
    def grad_f(*args, **kwargs):
        numbers, single = _argnums(argnums, len(args))
        _, aux, grads = _core.value_and_grad(fun, args, kwargs, numbers, single, has_aux, holomorphic, allow_int, "grad")
        return (grads, aux) if has_aux else grads

    return grad_f


def vjp(fun, *primals, has_aux=False, reduce_axes=(), saveable_args=True, in_nzs=None):
    """The value of `fun` at `primals`, and the function from cotangents of the results to those of the primals.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      primals: where it is differentiated. Integers and booleans get cotangents of dtype `float0`.
      has_aux: whether `fun` gives such a pair; then the result is `(value, pull_back, aux)`.
      reduce_axes: accepted.
      saveable_args: accepted; arguments are kept where the derivative needs them.
      in_nzs: not supported: all primals are differentiated.
    Raises:
      TypeError: a primal is no array, or `fun` gives no pair with `has_aux`.
      ValueError: the function given back is called with another structure, shape or dtype than that of the results.

    >>> import pullback as jax
    >>> value, pull_back = jax.vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> [float(ct) for ct in pull_back(1.0)]
    [3.0, 2.0]
    """
    _no_marks(in_nzs)
    out, aux, rule, residuals = _core.linearize_at(fun, primals, has_aux, True)
    pull_back = Partial(rule, *residuals)
    return (out, pull_back, aux) if has_aux else (out, pull_back)


def _no_marks(in_nzs):
    if in_nzs is not None:
        raise NotImplementedError("in_nzs is not supported; close over the arguments that are not differentiated")


def linearize(fun, *primals, has_aux=False, in_nzs=None):
    """The value of `fun` at `primals`, and its derivative there as a function of tangents.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      primals: where it is differentiated.
      has_aux: whether `fun` gives such a pair; then the result is `(value, push_forward, aux)`.
      in_nzs: not supported: all primals are differentiated.
    Raises:
      TypeError: a primal is no array, or tangents have another structure than the primals.
      ValueError: a tangent has another shape or dtype than its primal.

    >>> import pullback as jax
    >>> value, push_forward = jax.linearize(lambda x: x * x, 3.0)
    >>> float(push_forward(1.0))
    6.0
    """
    _no_marks(in_nzs)
    out, aux, rule, residuals = _core.linearize_at(fun, primals, has_aux, False)
    push_forward = Partial(rule, *residuals)
    return (out, push_forward, aux) if has_aux else (out, push_forward)


def jvp(fun, primals, tangents, has_aux=False):
    """The value of `fun` at `primals`, and its directional derivative along `tangents`.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      primals: a tuple or list of arguments.
      tangents: trees like them; integers and booleans have tangents of dtype `float0`.
      has_aux: whether `fun` gives such a pair; then the result is `(value, tangent, aux)`.
    Raises:
      TypeError: primals and tangents differ in structure or dtypes, or are neither tuples nor lists.
      ValueError: their shapes differ.

    >>> import pullback as jax
    >>> [float(x) for x in jax.jvp(lambda x: x * x, (3.0,), (1.0,))]
    [9.0, 6.0]
    """
    out, tangent, aux = _core.jvp(fun, primals, tangents, has_aux)
    return (out, tangent, aux) if has_aux else (out, tangent)


def fwd_and_bwd(fun, argnums, has_aux=False, jitted=True):
    """Two functions: the forward pass of `fun`, which gives its value and what the backward pass needs, and that one.

    fwd(*args) -> (value, residuals), with `has_aux` (value, residuals, aux); bwd(residuals, cotangent) -> cotangents of
    the arguments in `argnums`: one for a number, a tuple for several.

    Args:
      fun: a function of trees of arrays.
      argnums: position, or positions, of the arguments to differentiate.
      has_aux: whether `fun` gives a pair whose second part is passed through.
      jitted: whether the two functions are compiled.
    Raises TypeError when an argument of `argnums` is missing.

    >>> import pullback as jax
    >>> fwd, bwd = jax.fwd_and_bwd(lambda x, y: x * y, argnums=0)
    >>> value, residuals = fwd(2.0, 3.0)
    >>> float(bwd(residuals, 1.0))
    3.0
    """
    _check_callable(fun)
    argnums = _index_argnums(argnums)

    def fwd(*args, **kwargs):
        numbers, single = _argnums(argnums, len(args))

        def partial(*targets):
            given = list(args)
            for k, value in zip(numbers, targets):
                given[k] = value
            return fun(*given, **kwargs)

        return vjp(partial, *(args[k] for k in numbers), has_aux=has_aux)

    def bwd(residuals, out_cotangent):
        cts = residuals(out_cotangent)
        return cts[0] if isinstance(argnums, int) else cts

    return (jit(fwd), jit(bwd)) if jitted else (fwd, bwd)


def linear_transpose(fun, *primals, reduce_axes=()):
    """The transpose of a linear function; `primals` give shapes and dtypes only.

    Raises TypeError when the cotangents have another structure than the results, or the function is not linear.

    >>> import pullback as jax
    >>> float(jax.linear_transpose(lambda x: 3 * x, 1.0)(2.0)[0])
    6.0
    """
    staged = _core.stage_call(fun, primals, {})

    def transposed(out_cotangent):
        return _core.linear_transpose(staged, out_cotangent)

    return transposed


def _basis(tree):
    """The unit vectors of a tree of arrays, stacked along a new first axis, and the sizes of its leaves."""
    import pullback.numpy as jnp

    from pullback.tree_util import tree_flatten, tree_unflatten

    leaves, treedef = tree_flatten(tree)
    avals = [typeof(leaf) for leaf in leaves]
    total = sum(aval.size for aval in avals)
    rows, start = [], 0
    for aval in avals:
        block = jnp.eye(total, aval.size, k=-start, dtype=aval.dtype).reshape((total, *aval.shape))
        if aval.weak_type:
            block = _core.find_primitive("convert_element_type").bind(
                block, new_dtype=aval.dtype, weak_type=True, sharding=None
            )
        rows.append(block)
        start += aval.size
    return tree_unflatten(treedef, rows)


def _split_axis(tree, axis, array):
    """A tree like `tree` whose leaves are the parts of `array` along `axis`, with that axis given their shapes."""
    from pullback.tree_util import tree_flatten, tree_unflatten

    leaves, treedef = tree_flatten(tree)
    parts, start = [], 0
    shape = array.shape
    axis = axis % array.ndim
    for leaf in leaves:
        leaf_shape = tuple(getattr(leaf, "shape", ()))
        size = 1
        for n in leaf_shape:
            size *= n
        index = (slice(None),) * axis + (slice(start, start + size),)
        parts.append(array[index].reshape(shape[:axis] + leaf_shape + shape[axis + 1 :]))
        start += size
    return tree_unflatten(treedef, parts)


def _check_inexact(name, tree, holomorphic, allow_int):
    import numpy as np

    from pullback.tree_util import tree_leaves

    for leaf in tree_leaves(tree):
        aval = typeof(leaf)
        if holomorphic and not np.issubdtype(aval.dtype, np.complexfloating):
            raise TypeError(f"{name} with holomorphic=True requires inputs with complex dtype, but got {aval.dtype}.")
        if not allow_int and _core.tangent_dtype_is_float0(aval):
            raise TypeError(
                f"{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got "
                f"{aval.dtype}. If you want to use Boolean- or integer-valued inputs, use vjp or set allow_int to True."
            )


def jacfwd(fun, argnums=0, has_aux=False, holomorphic=False):
    """A function that gives the Jacobian of `fun`, column by column in forward mode."""
    _check_callable(fun)
    argnums = _index_argnums(argnums)

    @_wraps(fun, doc="Jacobian of {fun}.\n\n{doc}")
    def jacfun(*args, **kwargs):
        numbers, single = _argnums(argnums, len(args))
        target = args[numbers[0]] if single else tuple(args[k] for k in numbers)
        _check_inexact("jacfwd", target, holomorphic, False)

        def partial(target):
            given = list(args)
            for k, value in zip(numbers, (target,) if single else target):
                given[k] = value
            return fun(*given, **kwargs)

        def push(tangent):
            return jvp(partial, (target,), (tangent,), has_aux=has_aux)

        if has_aux:
            columns, aux = vmap(lambda t: (lambda out: (out[1], out[2]))(push(t)), out_axes=(-1, None))(_basis(target))
        else:
            columns = vmap(lambda t: push(t)[1], out_axes=-1)(_basis(target))
        jacobian = tree_map(lambda column: _split_axis(target, -1, column), columns)
        return (jacobian, aux) if has_aux else jacobian

    return jacfun


def jacrev(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """A function that gives the Jacobian of `fun`, row by row in reverse mode."""
    _check_callable(fun)
    argnums = _index_argnums(argnums)

    @_wraps(fun, doc="Jacobian of {fun}.\n\n{doc}")
    def jacfun(*args, **kwargs):
        numbers, single = _argnums(argnums, len(args))
        target = args[numbers[0]] if single else tuple(args[k] for k in numbers)
        _check_inexact("jacrev", target, holomorphic, allow_int)

        def partial(target):
            given = list(args)
            for k, value in zip(numbers, (target,) if single else target):
                given[k] = value
            return fun(*given, **kwargs)

        out, pull_back, *aux = vjp(partial, target, has_aux=has_aux)
        (rows,) = vmap(pull_back)(_basis(out))
        by_input = tree_map(lambda row: _split_axis(out, 0, row), rows)
        jacobian = tree_structure(target).compose(tree_structure(out))
        from pullback.tree_util import tree_leaves, tree_transpose

        by_input = jacobian.unflatten(tree_leaves(by_input))
        jacobian = tree_transpose(tree_structure(target), tree_structure(out), by_input)
        return (jacobian, aux[0]) if has_aux else jacobian

    return jacfun


jacobian = jacrev


def hessian(fun, argnums=0, has_aux=False, holomorphic=False):
    """A function that gives the Hessian of `fun`."""
    return jacfwd(
        jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic), argnums, has_aux=has_aux, holomorphic=holomorphic
    )


# Batching


def vmap(fun, in_axes=0, out_axes=0, axis_name=None, axis_size=None, spmd_axis_name=None, sum_match=False):
    """A version of `fun` that maps over an axis of its arguments.

    Args:
      fun: the function of one example.
      in_axes: the axis to map of each argument: a number, `None`, or trees of them that are a prefix of the arguments.
      out_axes: where the mapped axis goes in the results.
      axis_name: a name of the axis, for collectives.
      axis_size: the number of examples, where no argument tells.
      spmd_axis_name: accepted.
      sum_match: accepted.
    """
    _check_callable(fun)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if not (in_axes is None or isinstance(in_axes, tuple) or isinstance(in_axes, int)):
        raise TypeError(
            "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed to the "
            f"function, but got {in_axes}."
        )

    @_wraps(fun, doc="Vectorized version of {fun}.\n\n{doc}")
    def vmap_f(*args, **kwargs):
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(
                "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed to "
                f"the function, but got {len(in_axes)=}, {len(args)=}."
            )
        return _core.vmap_call(fun, args, kwargs, in_axes, out_axes, axis_name, axis_size)

    return vmap_f


# Programs


class ShapeDtypeStruct:
    """Shape and dtype of an array, without its elements."""

    __slots__ = ("shape", "dtype", "sharding", "weak_type", "is_ref", "_vma", "__weakref__")

    def __init__(self, shape, dtype, *, sharding=None, weak_type=False, vma=None, is_ref=False):
        if dtype is None:
            raise ValueError("ShapeDtypeStruct: dtype must be specified.")
        self.shape = tuple(shape)
        self.dtype = _core.as_dtype(dtype)
        self.sharding = sharding
        self.weak_type = weak_type
        self.is_ref = is_ref
        self._vma = vma

    @property
    def size(self):
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def vma(self):
        return self._vma

    def __len__(self):
        try:
            return self.shape[0]
        except IndexError as error:
            raise TypeError("len() of unsized object") from error

    def update(self, **changes):
        given = dict(shape=self.shape, dtype=self.dtype, sharding=self.sharding, weak_type=self.weak_type)
        return ShapeDtypeStruct(**{**given, **changes})

    def __repr__(self):
        name = getattr(self.dtype, "name", str(self.dtype))
        weak = ", weak_type=True" if self.weak_type else ""
        sharding = f", sharding={self.sharding}" if self.sharding is not None else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={name}{weak}{sharding})"

    __str__ = __repr__

    def __eq__(self, other):
        if not isinstance(other, ShapeDtypeStruct):
            return False
        return self._key() == other._key()

    def _key(self):
        return self.shape, self.dtype, self.sharding, self.weak_type, self.is_ref

    def __hash__(self):
        return hash(self._key())


def _struct(aval):
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def eval_shape(fun, *args, **kwargs):
    """Shapes and dtypes of the results of `fun`, without computing them."""
    staged = _core.stage_call(fun, args, kwargs, transform="eval_shape")
    return staged.out_tree.unflatten(map(_struct, staged.flat_out_avals))


def make_jaxpr(fun, static_argnums=(), axis_env=None, return_shape=False):
    """A function that gives the jaxpr of `fun` for arguments of given shapes and dtypes.

    Args:
      fun: a function of trees of arrays.
      static_argnums: positions of arguments that are passed on as they are.
      axis_env: not supported: name axes with `vmap` or `shard_map`.
      return_shape: whether to give, beside the jaxpr, the shapes and dtypes of the results.

    >>> import pullback as jax
    >>> print(jax.make_jaxpr(lambda x: x + 1.0)(2.0))
    { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """
    _check_callable(fun)
    numbers, _ = _resolve_arguments(fun, static_argnums, None, "static")

    @_wraps(fun)
    def make_jaxpr_f(*args, **kwargs):
        staged = _core.lax._call_with_axes(
            list(axis_env or ()), lambda: _core.stage_call(fun, args, kwargs, numbers, [], "make_jaxpr")
        )
        if not return_shape:
            return staged.jaxpr
        return staged.jaxpr, staged.out_tree.unflatten(map(_struct, staged.flat_out_avals))

    make_jaxpr_f.__module__ = "pullback"
    return make_jaxpr_f


def typeof(x, /):
    """The aval of an array or number."""
    return _core.typeof(x)


def named_call(fun, *, name=None):
    """The function with a name around all that it does: `named_scope` as a decorator.

    Args:
        fun: the function.
        name: the name; that of the function when it is not given.
    Returns:
        A function with the same arguments and results, whose equations are inside of the name.
    Raises:
        TypeError: `fun` is not callable, or the name is no string.
    Differentiable: as `fun`.
    Example:
        >>> print(jax.make_jaxpr(jax.named_call(lambda x: x + 1, name="step"))(0).eqns[0].source_info.name_stack)
        step
    """
    _check_callable(fun)
    return named_scope(getattr(fun, "__name__", "function") if name is None else name)(fun)


class named_scope:
    """A context, or decorator, that names what is traced inside.

    The equations traced inside remember the names, nested ones joined by `/` and wrapped by the transforms between:
    `jaxpr.eqns[0].source_info.name_stack`, `jaxpr.pretty_print(name_stack=True)`, and the locations of
    `jit(f).lower(...).as_text(debug_info=True)` show them.

    Args:
        name: the name.
    Raises:
        TypeError: the name is no string.
    Example:
        >>> def f(x):
        ...     with jax.named_scope("layer"):
        ...         return jnp.sin(x)
        >>> print(jax.make_jaxpr(jax.grad(f))(1.0).eqns[0].source_info.name_stack)
        jvp(layer)
    """

    def __init__(self, name):
        if not isinstance(name, str):
            raise TypeError(f"named_scope name must be a string, got {type(name)}")
        self.name = name
        self._before = []

    def __enter__(self):
        names = _core.current_name_stack()
        self._before.append(names)
        _core._set_name_stack(names.extend(self.name))
        return self

    def __exit__(self, *exception):
        _core._set_name_stack(self._before.pop())

    def __call__(self, fun):
        @_functools.wraps(fun)
        def named(*args, **kwargs):
            with named_scope(self.name):
                return fun(*args, **kwargs)

        return named


def block_until_ready(x):
    """Waits for all arrays of a tree, and returns it."""
    return tree_map(lambda leaf: leaf.block_until_ready() if hasattr(leaf, "block_until_ready") else leaf, x)


def effects_barrier():
    """Waits for effects such as printing; they happen in order on this engine."""
