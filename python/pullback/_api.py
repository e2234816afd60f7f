"""Transformations of functions other than `jit`, and what stands for arrays while programs are made."""

import functools
import sys

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._jit import _check_callable, _resolve_arguments, _wraps, jit
from pullback._shape_dtype_struct import ShapeDtypeStruct
from pullback.tree_util import Partial, tree_map, tree_structure


# Derivatives


def _argnums(argnums, n_args, has_words=False):
    """Positions of the arguments that `argnums` names; `has_words` for the functions that say themselves what is missing."""
    import operator

    is_single = not isinstance(argnums, (tuple, list))
    numbers = [operator.index(k) for k in ((argnums,) if is_single else argnums)]
    shown = numbers[0] if is_single else tuple(numbers)
    for number in numbers:
        if has_words and number >= n_args:
            raise _user_error(
                TypeError,
                f"differentiating with respect to argnums={shown} requires at least {number + 1} positional arguments to be "
                f"passed by the caller, but got only {n_args} positional arguments."
            )
        if not -n_args <= number < n_args:
            raise _user_error(
                ValueError,
                f"argnums={shown}: positions must have value greater than or equal to -len(args) and less than len(args), but got "
                f"value {number} for len(args) == {n_args}."
            )
    places = [number % n_args for number in numbers]
    if len(set(places)) < len(places):
        raise _user_error(TypeError, f"argnums={shown} names an argument twice; name it once, and use its derivative twice")
    return places, is_single


def _index_argnums(argnums):
    import operator

    if isinstance(argnums, (tuple, list)):
        if not argnums:
            raise _user_error(ValueError, "argnums is empty: name at least one argument to differentiate")
        return tuple(operator.index(k) for k in argnums)
    return operator.index(argnums)


def value_and_grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    """A function that gives the value of `fun` and its gradient, in one pass forward and one back.

    Args:
      fun: a function whose result is a scalar; with `has_aux`, a pair of it and of any tree.
      argnums: position, or positions, of the arguments to differentiate: trees of floating arrays. Negative ones count
        from the end.
      has_aux: whether `fun` gives a pair whose second part is passed through.
      holomorphic: whether `fun` is a holomorphic function of complex numbers, so that the gradient is its derivative.
      allow_int: whether integer arguments are allowed; their gradients have dtype `float0`.
      reduce_axes: must be empty; the reference has dropped it.
    Returns: a function of the arguments of `fun` that gives `(value, gradient)`, with `has_aux` `((value, aux), gradient)`.
      A gradient has the structure, shapes and dtypes of its argument; for several positions it is a tuple. For a real
      function of a complex argument it is the conjugate of the direction of steepest ascent.
    Raises:
      TypeError: `fun` is not callable; when called: the result is no real scalar, an argument is missing, or its dtype is
        neither floating nor allowed.
    Differentiable: yes, to any order; in forward mode too.
    Example:
      >>> value, gradient = jax.value_and_grad(lambda x: jnp.sum(x**2))(jnp.array([1.0, 2.0]))
      >>> print(value, gradient)
      5.0 [2. 4.]
    """
    _check_callable(fun)
    _no_reduce_axes("value_and_grad", reduce_axes)
    argnums = _index_argnums(argnums)

    @_wraps(fun, doc="Value and gradient of {fun}.\n\n{doc}")
    def value_and_grad_f(*args, **kwargs):
        numbers, single = _argnums(argnums, len(args), has_words=True)
        value, aux, grads = _core.value_and_grad(
            fun, args, kwargs, numbers, single, has_aux, holomorphic, allow_int, "value_and_grad"
        )
        return ((value, aux), grads) if has_aux else (value, grads)

    return value_and_grad_f


def grad(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False, reduce_axes=()):
    """A function that gives the gradient of `fun`, by reverse accumulation.

    Args:
      fun: a function whose result is a scalar; with `has_aux`, a pair of it and of any tree.
      argnums: position, or positions, of the arguments to differentiate: trees of floating arrays. Negative ones count
        from the end.
      has_aux: whether `fun` gives a pair whose second part is passed through.
      holomorphic: whether `fun` is a holomorphic function of complex numbers, so that the gradient is its derivative.
      allow_int: whether integer arguments are allowed; their gradients have dtype `float0`.
      reduce_axes: must be empty; the reference has dropped it.
    Returns: a function of the arguments of `fun` that gives the gradient, with `has_aux` `(gradient, aux)`. A gradient has the
      structure, shapes and dtypes of its argument; for several positions it is a tuple.
    Raises:
      TypeError: `fun` is not callable; when called: the result is no real scalar, an argument is missing, or its dtype is
        neither floating nor allowed.
    Differentiable: yes, to any order; in forward mode too.
    Example:
      >>> print(jax.grad(lambda x: jnp.sum(x**3))(jnp.array([1.0, 2.0])))
      [ 3. 12.]
      >>> float(jax.grad(jax.grad(lambda x: x**3))(2.0))
      12.0
    """
    _check_callable(fun)
    _no_reduce_axes("grad", reduce_axes)
    argnums = _index_argnums(argnums)

    @_wraps(fun, doc="Gradient of {fun}.\n\n{doc}")
    def grad_f(*args, **kwargs):
        numbers, single = _argnums(argnums, len(args), has_words=True)
        _, aux, grads = _core.value_and_grad(fun, args, kwargs, numbers, single, has_aux, holomorphic, allow_int, "grad")
        return (grads, aux) if has_aux else grads

    return grad_f


def vjp(fun, *primals, has_aux=False, reduce_axes=(), saveable_args=True, in_nzs=None):
    """The value of `fun` at `primals`, and the function from cotangents of the results to those of the primals.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      primals: where it is differentiated: one tree for each argument. Integers and booleans get cotangents of dtype `float0`.
      has_aux: whether `fun` gives such a pair; then the result is `(value, pull_back, aux)`.
      reduce_axes: must be empty; the reference has dropped it.
      saveable_args: accepted for compatibility; arguments are kept where the derivative needs them.
      in_nzs: must be None: all primals are differentiated.
    Returns: `(value, pull_back)`. `pull_back` takes a tree with the structure, shapes and dtypes of the value and gives a tuple
      of cotangents, one like each primal. It is a tree itself, of the residuals, so it can be passed to and from `jit`;
      its method `with_refs` adds cotangents to references.
    Raises:
      TypeError: a primal is no array, or `fun` gives no pair with `has_aux`.
      ValueError: `pull_back` is called with another structure, shape or dtype than that of the results.
      NotImplementedError: `in_nzs` is given.
    Differentiable: yes, to any order and in both modes.
    Example:
      >>> value, pull_back = jax.vjp(lambda x, y: x * y, 2.0, 3.0)
      >>> [float(ct) for ct in pull_back(1.0)]
      [3.0, 2.0]
    """
    from pullback._gradients import PullBack

    _no_reduce_axes("vjp", reduce_axes)
    _no_marks(in_nzs)
    out, aux, rule, residuals = _core.linearize_at(fun, primals, has_aux, True)
    pull_back = PullBack.of(rule, residuals, primals, _core.tree_structure(out))
    return (out, pull_back, aux) if has_aux else (out, pull_back)


def _no_reduce_axes(name, reduce_axes):
    if reduce_axes:
        raise _user_error(NotImplementedError, f"reduce_axes argument to {name} is deprecated")


def _no_marks(in_nzs):
    if in_nzs is not None:
        raise _user_error(NotImplementedError, "in_nzs is not supported; close over the arguments that are not differentiated")


def linearize(fun, *primals, has_aux=False, in_nzs=None):
    """The value of `fun` at `primals`, and its derivative there as a function of tangents.

    The work that depends on the primals alone is done once; each call of the function given back does the linear rest.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      primals: where it is differentiated: one tree for each argument.
      has_aux: whether `fun` gives such a pair; then the result is `(value, push_forward, aux)`.
      in_nzs: must be None: all primals are differentiated.
    Returns: `(value, push_forward)`. `push_forward` takes one tangent like each primal and gives one like the value.
    Raises:
      TypeError: a primal is no array, or tangents have another structure than the primals.
      ValueError: a tangent has another shape or dtype than its primal.
      NotImplementedError: `in_nzs` is given.
    Differentiable: yes, to any order and in both modes.
    Example:
      >>> value, push_forward = jax.linearize(lambda x: x * x, 3.0)
      >>> float(push_forward(1.0))
      6.0
    """
    _no_marks(in_nzs)
    out, aux, rule, residuals = _core.linearize_at(fun, primals, has_aux, False)
    push_forward = Partial(rule, *residuals)
    return (out, push_forward, aux) if has_aux else (out, push_forward)


def jvp(fun, primals, tangents, has_aux=False):
    """The value of `fun` at `primals`, and its directional derivative along `tangents`, by forward accumulation.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      primals: a tuple or list of arguments.
      tangents: trees like them, of the same shapes and dtypes; integers and booleans have tangents of dtype `float0`.
      has_aux: whether `fun` gives such a pair; then the result is `(value, tangent, aux)`.
    Returns: `(value, tangent)`, two trees of the same structure, shapes and dtypes.
    Raises:
      TypeError: primals and tangents differ in structure or dtypes, or are neither tuples nor lists.
      ValueError: their shapes differ.
    Differentiable: yes, to any order and in both modes.
    Example:
      >>> value, tangent = jax.jvp(lambda x: x * x, (3.0,), (1.0,))
      >>> float(value), float(tangent)
      (9.0, 6.0)
    """
    out, tangent, aux = _core.jvp(fun, primals, tangents, has_aux)
    return (out, tangent, aux) if has_aux else (out, tangent)


def fwd_and_bwd(fun, argnums, has_aux=False, jitted=True):
    """Two functions: the forward pass of `fun`, which gives its value and what the backward pass needs, and that one.

    Args:
      fun: a function of trees of arrays.
      argnums: position, or positions, of the arguments to differentiate.
      has_aux: whether `fun` gives a pair whose second part is passed through.
      jitted: whether the two functions are compiled.
    Returns: `fwd(*args) -> (value, residuals)`, with `has_aux` `(value, residuals, aux)`; `bwd(residuals, cotangent)`, the
      cotangents of the arguments in `argnums`: one for a number, a tuple for several.
    Raises:
      TypeError: `fun` is not callable; in `fwd`, when an argument of `argnums` is missing.
    Differentiable: as `vjp`.
    Example:
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


def _check_transposable(given, made):
    import numpy as np

    from pullback.dtypes import float0, issubdtype

    def are(kind):
        return all(issubdtype(dtype, kind) for dtype in (*given, *made) if dtype != float0)

    if not are(np.inexact) and not are(np.integer):
        raise _user_error(
            TypeError,
            "linear_transpose only supports [float, complex, or float0] -> [float, complex, or float0], and integer -> integer "
            f"functions, but got {given} -> {made}.",
        )


def linear_transpose(fun, *primals, reduce_axes=()):
    """The transpose of a linear function: from cotangents of its results to those of its arguments.

    Args:
      fun: a linear function of trees of arrays.
      primals: trees of arrays, or of anything with `shape` and `dtype`; only these two are used.
      reduce_axes: must be empty; the reference has dropped it.
    Returns: a function of one tree like the result of `fun` that gives a tuple of cotangents, one like each primal.
    Raises:
      TypeError: when the transpose is called with another structure or other shapes than the results have.
      TypeError: when arguments or results are neither all inexact nor all integers.
      NotImplementedError: when `fun` is not linear in its arguments.
    Differentiable: yes; the transpose is linear.
    Example:
      >>> float(jax.linear_transpose(lambda x: 3 * x, 1.0)(2.0)[0])
      6.0
    """
    _no_reduce_axes("linear_transpose", reduce_axes)
    staged = _core.stage_call(fun, primals, {})
    _check_transposable([aval.dtype for aval in staged.flat_in_avals], [aval.dtype for aval in staged.flat_out_avals])

    def transposed(out_cotangent):
        return _core.linear_transpose(staged, out_cotangent)

    return transposed


def _basis(tree):
    """The unit vectors of a tree of arrays, stacked along a new first axis, and the sizes of its leaves."""
    import pullback.numpy as jnp

    from pullback.tree_util import tree_flatten, tree_unflatten

    leaves, treedef = tree_flatten(tree)
    avals = [_core.typeof(leaf) for leaf in leaves]
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


def _check_inexact(name, tree, holomorphic, allow_int, real=False):
    """Refuses arguments that `jacfwd` (`real`) or `jacrev` has no Jacobian for."""
    import numpy as np

    from pullback.tree_util import tree_leaves

    for leaf in tree_leaves(tree):
        aval = _core.typeof(leaf)
        if real and not holomorphic and not np.issubdtype(aval.dtype, np.floating) and aval.dtype.kind in "biuc":
            raise _user_error(
                TypeError,
                f"{name} requires real-valued inputs (input dtype that is a sub-dtype of np.floating), but got {aval.dtype}. For "
                "holomorphic differentiation, pass holomorphic=True. For differentiation of non-holomorphic functions "
                "involving complex inputs or integer inputs, use jax.jvp directly."
            )
        if holomorphic and not np.issubdtype(aval.dtype, np.complexfloating):
            raise _user_error(TypeError, f"{name} with holomorphic=True requires inputs with complex dtype, but got {aval.dtype}.")
        if not allow_int and _core.tangent_dtype_is_float0(aval):
            raise _user_error(
                TypeError,
                f"{name} requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got "
                f"{aval.dtype}. If you want to use Boolean- or integer-valued inputs, use vjp or set allow_int to True."
            )


def _check_results(name, tree, holomorphic):
    import numpy as np

    from pullback.tree_util import tree_leaves

    for leaf in tree_leaves(tree):
        dtype = _core.typeof(leaf).dtype
        is_complex = np.issubdtype(dtype, np.complexfloating)
        if holomorphic and not is_complex:
            raise _user_error(TypeError, f"{name} with holomorphic=True requires outputs with complex dtype, but got {dtype}.")
        if not holomorphic and (is_complex or dtype.kind in "biu"):
            raise _user_error(
                TypeError,
                f"{name} requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got {dtype}. For "
                "holomorphic differentiation, pass holomorphic=True. For differentiation of non-holomorphic functions "
                "involving complex outputs, or of functions with integer outputs, use jax.vjp directly."
            )


def jacfwd(fun, argnums=0, has_aux=False, holomorphic=False):
    """A function that gives the Jacobian of `fun`, column by column in forward mode.

    It costs one `jvp` for each element of the argument, run together by `vmap`: the choice for functions with more results
    than arguments.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      argnums: position, or positions, of the arguments to differentiate.
      has_aux: whether `fun` gives such a pair; then the result is `(jacobian, aux)`.
      holomorphic: whether `fun` is a holomorphic function of complex numbers.
    Returns: a function of the arguments of `fun` that gives, for each leaf of the result, a tree like the argument whose
      leaves have the shape of the result followed by that of the argument.
    Raises:
      TypeError: `fun` is not callable; when called: an argument is missing, or its dtype is not floating (not complex, with
        `holomorphic`).
    Differentiable: yes, to any order and in both modes.
    Example:
      >>> print(jax.jacfwd(lambda x: jnp.array([x[0] * x[1], x[1]]))(jnp.array([2.0, 3.0])))
      [[3. 2.]
       [0. 1.]]
    """
    _check_callable(fun)
    argnums = _index_argnums(argnums)

    @_wraps(fun, doc="Jacobian of {fun}.\n\n{doc}")
    def jacfun(*args, **kwargs):
        numbers, single = _argnums(argnums, len(args))
        target = args[numbers[0]] if single else tuple(args[k] for k in numbers)
        _check_inexact("jacfwd", target, holomorphic, False, real=True)

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
        if holomorphic:
            _check_results("jacfwd", columns, holomorphic)
        jacobian = tree_map(lambda column: _split_axis(target, -1, column), columns)
        return (jacobian, aux) if has_aux else jacobian

    return jacfun


def jacrev(fun, argnums=0, has_aux=False, holomorphic=False, allow_int=False):
    """A function that gives the Jacobian of `fun`, row by row in reverse mode.

    It costs one pull-back for each element of the result, run together by `vmap`: the choice for functions with more
    arguments than results. `jax.jacobian` is the same function.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      argnums: position, or positions, of the arguments to differentiate.
      has_aux: whether `fun` gives such a pair; then the result is `(jacobian, aux)`.
      holomorphic: whether `fun` is a holomorphic function of complex numbers.
      allow_int: whether integer arguments are allowed; their derivatives have dtype `float0`.
    Returns: a function of the arguments of `fun` that gives, for each leaf of the result, a tree like the argument whose
      leaves have the shape of the result followed by that of the argument.
    Raises:
      TypeError: `fun` is not callable; when called: an argument is missing, or its dtype is neither floating nor allowed
        (not complex, with `holomorphic`).
    Differentiable: yes, to any order and in both modes.
    Example:
      >>> print(jax.jacrev(lambda x: jnp.array([x[0] * x[1], x[1]]))(jnp.array([2.0, 3.0])))
      [[3. 2.]
       [0. 1.]]
    """
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
        _check_results("jacrev", out, holomorphic)
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
    """A function that gives the Hessian of `fun`: `jacfwd` of `jacrev`.

    Args:
      fun: a function of trees of arrays; with `has_aux`, of a pair whose second part is passed through.
      argnums: position, or positions, of the arguments to differentiate.
      has_aux: whether `fun` gives such a pair; then the result is `(hessian, aux)`.
      holomorphic: whether `fun` is a holomorphic function of complex numbers.
    Returns: a function of the arguments of `fun` that gives a tree of trees, whose leaves have the shape of the result followed
      twice by that of the argument.
    Raises:
      TypeError: `fun` is not callable; when called: an argument is missing, or its dtype is not floating (not complex, with
        `holomorphic`).
    Differentiable: yes, to any order and in both modes.
    Example:
      >>> print(jax.hessian(lambda x: x[0] ** 2 * x[1])(jnp.array([1.0, 2.0])))
      [[4. 2.]
       [2. 0.]]
    """
    return jacfwd(
        jacrev(fun, argnums, has_aux=has_aux, holomorphic=holomorphic), argnums, has_aux=has_aux, holomorphic=holomorphic
    )


# Batching


def _vmappables():
    """The mappings that libraries registered for types of their own; None where there is none, which is what is usual."""
    batching = sys.modules.get("pullback.interpreters.batching")
    if batching is None or not batching._vmappables:
        return None
    from pullback import _vmappables

    return _vmappables


def vmap(fun, in_axes=0, out_axes=0, axis_name=None, axis_size=None, spmd_axis_name=None, sum_match=False):
    """A version of `fun` that maps over an axis of its arguments.

    It runs once on whole batches: each operation is replaced by one on arrays with a further axis.

    Args:
      fun: the function of one example.
      in_axes: the axis to map of each argument: a number, `None` for none, or trees of them that are a prefix of the arguments.
        Keyword arguments are always mapped along axis 0.
      out_axes: where the mapped axis goes in the results; `None` for results that do not depend on the example.
      axis_name: a name of the axis, for collectives such as `lax.psum`.
      axis_size: the number of examples, where no argument tells.
      spmd_axis_name: accepted for compatibility; without effect.
      sum_match: accepted for compatibility; without effect.
    Returns: a function with the signature of `fun` whose mapped arguments and results have one more axis.
    Raises:
      TypeError: `fun` is not callable; `in_axes` is neither a number, None nor a tuple.
      ValueError: when called: sizes of the mapped axes differ, nothing is mapped, an axis is out of bounds, `in_axes` does
        not fit the arguments, or `out_axes` is None for a result that depends on the example.
    Differentiable: as `fun` is, in both modes.
    Example:
      >>> print(jax.vmap(jnp.dot, in_axes=(0, None))(jnp.eye(2), jnp.array([3.0, 4.0])))
      [3. 4.]
    """
    _check_callable(fun)
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)
    if not (in_axes is None or isinstance(in_axes, tuple) or isinstance(in_axes, int)):
        raise _user_error(
            TypeError,
            "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed to the "
            f"function, but got {in_axes}."
        )

    @_wraps(fun, doc="Vectorized version of {fun}.\n\n{doc}")
    def vmap_f(*args, **kwargs):
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise _user_error(
                ValueError,
                "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed to "
                f"the function, but got {len(in_axes)=}, {len(args)=}."
            )
        own = _vmappables()
        if own is not None and own.has_registered((args, kwargs)):
            return own.call(fun, args, kwargs, in_axes, out_axes, axis_name, axis_size)
        out = _core.vmap_call(fun, args, kwargs, in_axes, out_axes, axis_name, axis_size)
        own = _vmappables()
        return out if own is None else own.of_batches(out, out_axes)

    return vmap_f


# Programs


def _struct(aval):
    # Only on a mesh whose axes are in types there is something to say of placement.
    sharding = aval.sharding
    is_said = not (sharding.mesh.empty or sharding.mesh.are_all_axes_auto)
    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type, sharding=sharding if is_said else None)


def eval_shape(fun, *args, **kwargs):
    """Shapes and dtypes of the results of `fun`, without computing them.

    Args:
      fun: a function of trees of arrays.
      args: trees of arrays, or of anything with `shape` and `dtype`, such as `ShapeDtypeStruct`.
      kwargs: as `args`.
    Returns: the tree of the results with a `ShapeDtypeStruct` for each leaf.
    Raises:
      TypeError: an argument is neither an array nor a tree of them; also what tracing `fun` raises.
    Differentiable: no; no array is computed.
    Example:
      >>> jax.eval_shape(jnp.dot, jax.ShapeDtypeStruct((2, 3), jnp.float32), jnp.ones(3))
      ShapeDtypeStruct(shape=(2,), dtype=float32)
    """
    staged = _core.stage_call(fun, args, kwargs, transform="eval_shape")
    return staged.out_tree.unflatten(map(_struct, staged.flat_out_avals))


def make_jaxpr(fun, static_argnums=(), axis_env=None, return_shape=False):
    """A function that gives the jaxpr of `fun` for arguments of given shapes and dtypes.

    Args:
      fun: a function of trees of arrays.
      static_argnums: positions of arguments that are passed on as they are.
      axis_env: pairs of name and size of axes that collectives inside may use.
      return_shape: whether to give, beside the jaxpr, the shapes and dtypes of the results.
    Returns: a function with the signature of `fun` that gives a `ClosedJaxpr`, or the pair with a tree of `ShapeDtypeStruct`.
      Arrays that `fun` closes over are the `consts` of the jaxpr, tracers of a trace around among them.
    Raises:
      TypeError: `fun` is not callable; when called, an argument is neither an array nor a tree of them.
    Differentiable: no; no array is computed.
    Example:
      >>> print(jax.make_jaxpr(lambda x: x + 1.0)(2.0))
      { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
      >>> print(jax.make_jaxpr(lambda x: jax.lax.psum(x, "i"), axis_env=[("i", 4)])(1.0))
      { lambda ; a:f32[]. let
          b:f32[] = psum[axes=('i',) axis_index_groups=None] a
        in (b,) }
    """
    _check_callable(fun)
    numbers, _ = _resolve_arguments(fun, static_argnums, None, "static")

    @_wraps(fun)
    def make_jaxpr_f(*args, **kwargs):
        for number in numbers:
            _check_hash(args[number] if number < len(args) else None)
        staged = _core.lax._call_with_axes(
            list(axis_env or ()), lambda: _core.stage_call(fun, args, kwargs, numbers, [], "make_jaxpr")
        )
        if not return_shape:
            return staged.closed_jaxpr
        return staged.closed_jaxpr, staged.out_tree.unflatten(map(_struct, staged.flat_out_avals))

    make_jaxpr_f.__module__ = "pullback"
    return make_jaxpr_f


def _check_hash(static):
    try:
        hash(static)
    except TypeError as error:
        raise _user_error(
            ValueError,
            "Non-hashable static arguments are not supported. An error occurred while trying to hash an object of type "
            f"{type(static)}, {static}. The error was:\nTypeError: {error}\n"
        ) from None


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
            raise _user_error(TypeError, f"named_scope name must be a string, got {type(name)}")
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
        @functools.wraps(fun)
        def named(*args, **kwargs):
            with named_scope(self.name):
                return fun(*args, **kwargs)

        return named


def block_until_ready(x):
    """Waits until all arrays of a tree are computed, and returns the tree.

    Args:
      x: a tree; tracers, and leaves that are no arrays, are passed through.
    Returns: the same tree.
    Differentiable: yes; values pass unchanged.
    Example:
      >>> print(jax.block_until_ready(jnp.arange(3)))
      [0 1 2]
    """
    def wait(leaf):
        is_tracer = isinstance(leaf, _core.Tracer)
        return leaf if is_tracer or not hasattr(leaf, "block_until_ready") else leaf.block_until_ready()

    return tree_map(wait, x)


def effects_barrier():
    """Waits for effects such as printing; they happen in order on this engine, so it returns at once.

    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.effects_barrier()
    """
