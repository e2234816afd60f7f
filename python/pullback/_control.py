"""Control flow of traced programs: `cond`, `switch`, `scan`, `while_loop` and what is made of them."""

import weakref as _weakref

from pullback import _core
from pullback._core import tree_flatten as _flatten, tree_leaves as _leaves, tree_unflatten as _unflatten

_staged = _weakref.WeakKeyDictionary()


def _stage(fun, avals, tree, transform):
    """`fun` traced at avals in the structure of a tuple of arguments; remembered while `fun` lives."""
    key = (transform, tree, tuple(avals), _core.settings_word())
    try:
        known = _staged.setdefault(fun, {})
    except TypeError:
        known = {}
    if key not in known:
        staged = _core.stage_call(fun, tree.unflatten(avals), {}, transform=transform)
        if staged.captures:
            return staged
        known[key] = staged
    return known[key]


def _avals(leaves):
    return [_core.typeof(leaf) for leaf in leaves]


def _long(aval):
    return str(aval)


def _same(a, b):
    return (a.shape, a.dtype) == (b.shape, b.dtype)


def _difference(a, b):
    what = []
    if a.dtype != b.dtype:
        what.append("dtypes")
    if a.shape != b.shape:
        what.append("shapes")
    return " and ".join(what) if what else "types"


def _mismatch_of_trees(tree, other):
    """The first difference of two structures, as text after the names of both."""
    def kind(t):
        data = t.node_data()
        return None if data is None else data[0]

    def describe(t):
        return "a pytree leaf" if kind(t) is None else f"a {kind(t)}"

    a, b = kind(tree), kind(other)
    if a is not b:
        return describe(tree), describe(other), "so their Python types differ"
    n, m = len(tree.children()), len(other.children())
    if n != m:
        name = a.__name__
        return f"a {name} of length {n}", f"a {name} of length {m}", "so the lengths do not match"
    for child, other_child in zip(tree.children(), other.children()):
        if child != other_child:
            return _mismatch_of_trees(child, other_child)
    return repr(tree), repr(other), "so the structures do not match"


def _carry_name(fun, init, path):
    import inspect

    try:
        name = next(iter(inspect.signature(fun).parameters))
    except (ValueError, TypeError, StopIteration):
        name = "carry"
    return name if not path else f"component {name}{path}"


def _check_carry(what, fun, init, in_tree, out_tree, in_avals, out_avals):
    """Errors of a carry that comes out other than it went in."""
    if in_tree != out_tree:
        a, b, why = _mismatch_of_trees(in_tree, out_tree)
        if a == "a pytree leaf":
            a = f"a {_core.ShapedArray}"
        if b == "a pytree leaf":
            b = f"a {_core.ShapedArray}"
        raise TypeError(
            f"{what} carry input and carry output must have the same pytree structure, but they differ:\n\n"
            f"The input carry {_carry_name(fun, init, '')} is {a} but the corresponding component of the carry output is {b}, "
            f"{why}.\n\nRevise the function so that the carry output has the same pytree structure as the carry input."
        )
    paths = [_core.keystr(path) for path, _ in _core.tree_flatten_with_path(init)[0]]
    wrong = []
    for path, a, b in zip(paths, in_avals, out_avals):
        if not _same(a, b):
            wrong.append(
                f"the input carry {_carry_name(fun, init, path)} has type {_long(a)} but the corresponding output carry component "
                f"has type {_long(b)}, so the {_difference(a, b)} do not match"
            )
    if not wrong:
        return
    body = wrong[0][0].upper() + wrong[0][1:] + "." if len(wrong) == 1 else ";\n".join(f"  * {line}" for line in wrong)
    if len(wrong) > 1:
        body = "\n".join(f"  * {line}{';' if i < len(wrong) - 1 else '.'}" for i, line in enumerate(wrong))
    raise TypeError(
        f"{what} carry input and carry output must have equal types, but they differ:\n\n{body}\n\n"
        "Revise the function so that all output types match the corresponding input types."
    )


def _strengthen(init, in_avals, out_avals):
    """Weakly typed values of `init` in the types that come out, or `None` when nothing changes."""
    changed, leaves = False, []
    for leaf, a, b in zip(init, in_avals, out_avals):
        if a.weak_type and (a.dtype != b.dtype or not b.weak_type) and a.shape == b.shape:
            leaf = _core.convert_weak(leaf, b)
            changed = True
        leaves.append(leaf)
    return leaves if changed else None


# scan


def scan(f, init, xs=None, length=None, reverse=False, unroll=1, _split_transpose=False):
    """Runs `f(carry, x) -> (carry, y)` over the first axis of `xs`.

    Args:
      f: the step.
      init: the first carry.
      xs: a tree of arrays with a common size of the first axis; `None` to run `length` times.
      length: the number of steps, where `xs` does not tell.
      reverse: whether to go from the last slice to the first.
      unroll: accepted as a hint.

    Returns:
      The last carry, and the tree of all `y` stacked.
    """
    if not callable(f):
        raise TypeError("lax.scan: f argument should be a callable.")
    init_leaves, init_tree = _flatten(init)
    xs_leaves, xs_tree = _flatten(xs)
    xs_avals = _avals(xs_leaves)
    n = _scan_length(xs_leaves, xs_avals, length)
    if _core.is_setting_on("DisableJit"):
        return _scan_in_python(f, init, xs_leaves, xs_tree, n, reverse)
    slices = [aval.update(shape=aval.shape[1:], weak_type=False) for aval in xs_avals]
    tree = _core.treedef_tuple((init_tree, xs_tree))
    for _ in range(2):
        in_avals = _avals(init_leaves)
        staged = _stage(f, in_avals + slices, tree, "scan")
        out_tree = staged.out_tree
        parts = out_tree.children()
        if len(parts) != 2 or out_tree.node_data()[0] not in (tuple, list):
            out = out_tree.unflatten(staged.flat_out_avals)
            shown = _core.long_type(out) if isinstance(out, _core.ShapedArray) else out
            raise TypeError(f"scan body output must be a pair, got {shown}.")
        out_avals = staged.flat_out_avals[: parts[0].num_leaves]
        stronger = _strengthen(init_leaves, in_avals, out_avals) if parts[0] == init_tree else None
        if stronger is None:
            break
        init_leaves = stronger
    _check_carry("scan body function", f, init, init_tree, parts[0], in_avals, out_avals)
    unroll = n if unroll is True else max(int(unroll), 1)
    outs = _core.bind_scan(staged, init_leaves, xs_leaves, n, bool(reverse), unroll)
    k = len(init_leaves)
    return _unflatten(init_tree, outs[:k]), _unflatten(parts[1], outs[k:])


def _scan_length(leaves, avals, length):
    for leaf, aval in zip(leaves, avals):
        if not aval.shape:
            raise ValueError(f"scan got value with no leading axis to scan over: {leaf}.")
    sizes = [aval.shape[0] for aval in avals]
    if length is not None:
        import operator

        try:
            n = operator.index(length)
        except TypeError:
            raise TypeError(f"scan got `length` argument of {length} which is not an integer") from None
        if any(size != n for size in sizes):
            raise ValueError(f"scan got `length` argument of {n} which disagrees with leading axis sizes {sizes}.")
        return n
    unique = list(dict.fromkeys(sizes))
    if len(unique) > 1:
        raise ValueError(f"scan got values with different leading axis sizes: {', '.join(map(str, sizes))}.")
    if not unique:
        raise ValueError("scan got no values to scan over and `length` not provided.")
    return unique[0]


def _scan_in_python(f, init, xs_leaves, xs_tree, n, reverse):
    import pullback.numpy as jnp

    carry, ys = init, []
    for i in reversed(range(n)) if reverse else range(n):
        carry, y = f(carry, _unflatten(xs_tree, [leaf[i] for leaf in xs_leaves]))
        ys.append(y)
    if reverse:
        ys.reverse()
    stacked = _core.tree_map(lambda *parts: jnp.stack([jnp.asarray(part) for part in parts]), *ys) if ys else None
    return carry, stacked


# while


def while_loop(cond_fun, body_fun, init_val):
    """Runs `body_fun` on the carry while `cond_fun` of it holds."""
    if not (callable(cond_fun) and callable(body_fun)):
        raise TypeError("lax.while_loop: body_fun and cond_fun arguments should be callable.")
    if _core.is_setting_on("DisableJit"):
        val = init_val
        while cond_fun(val):
            val = body_fun(val)
        return val
    init_leaves, init_tree = _flatten(init_val)
    tree = _core.treedef_tuple((init_tree,))
    for _ in range(2):
        in_avals = _avals(init_leaves)
        cond = _stage(cond_fun, in_avals, tree, "while_loop")
        if not _core.treedef_is_leaf(cond.out_tree):
            raise TypeError(f"cond_fun must return a boolean scalar, but got pytree {cond.out_tree}.")
        (pred,) = cond.flat_out_avals
        if pred.shape != () or pred.dtype != bool:
            raise TypeError(f"cond_fun must return a boolean scalar, but got output type(s) {cond.flat_out_avals}.")
        body = _stage(body_fun, in_avals, tree, "while_loop")
        same_tree = body.out_tree == init_tree
        stronger = _strengthen(init_leaves, in_avals, body.flat_out_avals) if same_tree else None
        if stronger is None:
            break
        init_leaves = stronger
    _check_carry("while_loop body function", body_fun, init_val, init_tree, body.out_tree, in_avals, body.flat_out_avals)
    return _unflatten(init_tree, _core.bind_while(cond, body, init_leaves))


def fori_loop(lower, upper, body_fun, init_val, *, unroll=None):
    """Runs `body_fun(i, carry)` for `i` from `lower` to `upper`; a scan when both are known, else a while loop."""
    if not callable(body_fun):
        raise TypeError("lax.fori_loop: body_fun argument should be callable.")
    low, high = _core.typeof(lower), _core.typeof(upper)
    if low.shape or high.shape or low.dtype.kind not in "iub" or high.dtype.kind not in "iub":
        raise TypeError(f"lower and upper arguments to fori_loop must have equal types, got {low.dtype.name} and {high.dtype.name}")
    if not low.weak_type and not high.weak_type and low.dtype != high.dtype:
        raise TypeError(f"lower and upper arguments to fori_loop must have equal types, got {low.dtype.name} and {high.dtype.name}")
    dtype = high.dtype if low.weak_type else low.dtype
    aval = _core.ShapedArray((), dtype, low.weak_type and high.weak_type)
    known = [_core.concrete_or_none(bound) for bound in (lower, upper)]
    if _core.is_setting_on("DisableJit") and None not in known:
        val = init_val
        for i in range(int(known[0]), int(known[1])):
            val = body_fun(i, val)
        return val
    if None not in known:
        first, last = int(known[0]), int(known[1])
        step = _by_fun(_scan_step, body_fun)
        try:
            start = _core.convert_weak(first, aval)
            (_, result), _ = scan(step, (start, init_val), None, length=max(last - first, 0), unroll=unroll or 1)
        except TypeError as error:
            raise TypeError(str(error).replace("the input carry c", "the input carry loop_carry")) from None
        return result
    cond, body = _by_fun(_while_cond, body_fun), _by_fun(_while_step, body_fun)
    start, stop = _core.convert_weak(lower, aval), _core.convert_weak(upper, aval)
    return while_loop(cond, body, (start, stop, init_val))[2]


_made = _weakref.WeakKeyDictionary()


def _by_fun(make, fun):
    """`make(fun)`, one for each function, so that what is traced of it is remembered."""
    try:
        known = _made.setdefault(fun, {})
    except TypeError:
        return make(fun)
    if make not in known:
        known[make] = make(_weakref.ref(fun))
    return known[make]


def _scan_step(fun):
    get = fun if isinstance(fun, _weakref.ref) else lambda: fun

    def step(loop_carry, _):
        i, carry = loop_carry
        return (i + 1, get()(i, carry)), None

    return step


def _while_cond(fun):
    def cond(loop_carry):
        i, stop, _ = loop_carry
        return i < stop

    return cond


def _while_step(fun):
    get = fun if isinstance(fun, _weakref.ref) else lambda: fun

    def step(loop_carry):
        i, stop, carry = loop_carry
        return i + 1, stop, get()(i, carry)

    return step


# cond


def cond(pred, true_fun, false_fun, *operands, operand=None, **kwargs):
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`; both must give the same types."""
    if kwargs:
        raise TypeError(f"cond() got unexpected keyword arguments {sorted(kwargs)}")
    if operand is not None:
        if operands:
            raise TypeError(f"if 'operand' keyword is passed then no positional operands can be passed, got operand={operand!r} and positional operands {operands!r}")
        operands = (operand,)
    if not (callable(true_fun) and callable(false_fun)):
        raise TypeError("lax.cond: true_fun and false_fun arguments should be callable.")
    index = _predicate(pred)
    if _core.is_setting_on("DisableJit"):
        return true_fun(*operands) if index else false_fun(*operands)
    names = ("true_fun", "false_fun")
    return _branch("cond", index, (false_fun, true_fun), operands, (true_fun, false_fun), names)


def _predicate(pred):
    if isinstance(pred, (str, list, tuple)):
        raise TypeError(f"Pred must be a scalar, got {pred} of type {type(pred)}")
    try:
        aval = _core.typeof(pred)
    except TypeError:
        raise TypeError(f"Pred type must be either boolean or number, got {pred}.") from None
    if aval.shape:
        raise TypeError(f"Pred must be a scalar, got {pred} of shape {aval.shape}.")
    if aval.dtype != bool:
        return _core.to_array(pred) != 0
    return pred


def switch(index, branches, *operands, operand=None):
    """The result of the branch that `index`, clamped to their number, names."""
    branches = tuple(branches)
    if operand is not None:
        operands = (operand,)
    if not all(callable(branch) for branch in branches):
        raise TypeError("lax.switch: branches argument should be a sequence of callables.")
    if not branches:
        raise ValueError("Empty branch sequence")
    aval = _core.typeof(index)
    if aval.shape:
        raise TypeError(f"Branch index must be scalar, got {index} of shape {aval.shape}.")
    if aval.dtype.kind not in "iu":
        raise TypeError(f"Index type must be an integer, got {index} as {aval.dtype.name}")
    if len(branches) == 1:
        return branches[0](*operands)
    index = _core.clamp_index(index, len(branches))
    if _core.is_setting_on("DisableJit"):
        return branches[int(index)](*operands)
    names = ("branch 0", *(f"branch{i}" for i in range(1, len(branches))))
    return _branch("switch", index, branches, operands, branches, names)


def _branch(what, index, branches, operands, shown, names):
    leaves, tree = _flatten(operands)
    avals = _avals(leaves)
    staged = {id(branch): _stage(branch, avals, tree, what) for branch in branches}
    first = staged[id(shown[0])]
    promoted = False
    for branch, name in zip(shown[1:], names[1:]):
        promoted |= _check_branches(what, first, staged[id(branch)], (shown[0], branch), (names[0], name))
    ordered = [staged[id(branch)] for branch in branches]
    if promoted:
        wanted = _common_avals([s.flat_out_avals for s in ordered])
        branches = [_with_types(branch, wanted) for branch in branches]
        ordered = [_core.stage_call(branch, tree.unflatten(avals), {}, transform=what) for branch in branches]
    return _unflatten(first.out_tree, _core.bind_cond(_core.branch_index(index), ordered, leaves))


def _common_avals(columns):
    """For each result the type that is strong where any branch has a strong one."""
    return [next((aval for aval in row if not aval.weak_type), row[0]) for row in zip(*columns)]


def _with_types(branch, wanted):
    def typed(*operands):
        leaves, tree = _flatten(branch(*operands))
        return _unflatten(tree, [_core.convert_weak(leaf, aval) for leaf, aval in zip(leaves, wanted)])

    return typed


def _check_branches(what, a, b, funs, names):
    """Errors of branches that differ; whether they differ in weak types alone."""
    places = "\n".join(f"{name} is {_core.describe_function(fun)}" for name, fun in zip(names, funs))
    if a.out_tree != b.out_tree:
        one, other, why = _mismatch_of_trees(a.out_tree, b.out_tree)
        raise TypeError(
            f"{what} branch outputs must have the same pytree structure, but they differ:\n\n{places}\n\n{names[0]} output is "
            f"{one} but {names[1]} output is {other}, {why}.\n\nRevise {names[0]} and/or {names[1]} so that they have the same "
            "pytree structure."
        )
    skeleton = a.out_tree.unflatten(range(a.out_tree.num_leaves))
    paths = [_core.keystr(path) for path, _ in _core.tree_flatten_with_path(skeleton)[0]]
    wrong, promoted = [], False
    for path, x, y in zip(paths, a.flat_out_avals, b.flat_out_avals):
        if _same(x, y):
            promoted |= x.weak_type != y.weak_type
            continue
        at = f" at path {path}" if path else ""
        wrong.append(
            f"he output of {names[0]}{at} has type {_long(x)} but the corresponding output of {names[1]} has type {_long(y)}, so "
            f"the {_difference(x, y)} do not match"
        )
    if wrong:
        body = f"T{wrong[0]}." if len(wrong) == 1 else "\n".join(f"  * t{line};" for line in wrong)[:-1] + "."
        raise TypeError(
            f"{what} branches must have equal output types but they differ.\n\n{places}\n\n{body}\n\nRevise {names[0]} and/or "
            f"{names[1]} so that all output types match."
        )
    return promoted


# Made of the above


def map(f, xs, *, batch_size=None):
    """`f` of each slice along the first axis, stacked; `batch_size` of them at once when given."""
    from pullback._api import vmap

    if batch_size is None:
        _, ys = scan(_by_fun(_map_step, f), (), xs)
        return ys
    leaves, tree = _flatten(xs)
    n = leaves[0].shape[0]
    whole = n // batch_size
    blocks = [leaf[: whole * batch_size].reshape(whole, batch_size, *leaf.shape[1:]) for leaf in leaves]
    _, ys = scan(lambda _, block: ((), vmap(f)(block)), (), _unflatten(tree, blocks))
    ys = _core.tree_map(lambda y: y.reshape(-1, *y.shape[2:]), ys)
    if n == whole * batch_size:
        return ys
    import pullback.numpy as jnp

    rest = vmap(f)(_unflatten(tree, [leaf[whole * batch_size :] for leaf in leaves]))
    return _core.tree_map(lambda a, b: jnp.concatenate([a, b]), ys, rest)


def _map_step(fun):
    get = fun if isinstance(fun, _weakref.ref) else lambda: fun

    def step(_, x):
        return (), get()(x)

    return step


def associative_scan(fn, elems, reverse=False, axis=0):
    """All partial results of an associative operation along an axis, in a logarithmic number of steps."""
    if not callable(fn):
        raise TypeError("lax.associative_scan: fn argument should be callable.")
    import pullback.lax as lax

    leaves, tree = _flatten(elems)
    if reverse:
        leaves = [lax.rev(leaf, [axis % leaf.ndim]) for leaf in leaves]
    axes = [axis % leaf.ndim for leaf in leaves]
    n = leaves[0].shape[axes[0]]
    if any(leaf.shape[k] != n for leaf, k in zip(leaves[1:], axes[1:])):
        shapes = [leaf.shape for leaf in leaves]
        raise ValueError(f"Array inputs to associative_scan must have the same first dimension. (saw: {shapes})")

    def combine(a, b):
        return _leaves(fn(_unflatten(tree, a), _unflatten(tree, b)))

    outs = _prefix(combine, leaves, axis, lax)
    if reverse:
        outs = [lax.rev(out, [axis % out.ndim]) for out in outs]
    return _unflatten(tree, outs)


def _prefix(combine, leaves, axis, lax):
    """Pairs are combined, their prefixes found recursively, and those of even positions filled in between."""
    n = leaves[0].shape[axis % leaves[0].ndim]
    if n < 2:
        return leaves

    def part(xs, start, stop, step=1):
        return [lax.slice_in_dim(x, start, stop, stride=step, axis=axis) for x in xs]

    pairs = combine(part(leaves, 0, n - 1, 2), part(leaves, 1, n, 2))
    odd = _prefix(combine, pairs, axis, lax)
    half = odd[0].shape[axis % odd[0].ndim]
    if n % 2 == 0:
        even = combine(part(odd, 0, half - 1), part(leaves, 2, n, 2)) if half > 1 else part(leaves, 2, n, 2)
    else:
        even = combine(odd, part(leaves, 2, n, 2))
    even = [
        lax.concatenate([lax.slice_in_dim(x, 0, 1, axis=axis), e], dimension=axis % x.ndim) for x, e in zip(leaves, even)
    ]
    return [_interleave(a, b, axis, lax) for a, b in zip(even, odd)]


def _interleave(a, b, axis, lax):
    axis = axis % a.ndim
    n, m = a.shape[axis], b.shape[axis]

    def config(before, after):
        return [(before, after, 1) if k == axis else (0, 0, 0) for k in range(a.ndim)]

    zero = _core.convert_weak(0, _core.ShapedArray((), a.dtype))
    spread = lax.pad(a, zero, config(0, 0 if n > m else 1))
    other = lax.pad(b, zero, config(1, 1 if n > m else 0))
    return lax.bitwise_or(spread, other) if a.dtype == bool else lax.add(spread, other)


# checkpoint


def checkpoint(fun=None, *, prevent_cse=True, policy=None, static_argnums=(), concrete=False):
    """A function whose intermediate values are computed again for its reverse derivative, instead of kept."""
    if fun is None:
        return lambda fun: checkpoint(
            fun, prevent_cse=prevent_cse, policy=policy, static_argnums=static_argnums, concrete=concrete
        )
    from pullback._api import _check_callable, _wraps

    _check_callable(fun)
    static = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums)

    @_wraps(fun)
    def checkpointed(*args, **kwargs):
        numbers = [number % len(args) for number in static]
        staged = _core.stage_call(fun, args, kwargs, numbers, [], "checkpoint")
        leaves = _leaves((tuple(arg for i, arg in enumerate(args) if i not in numbers), kwargs))
        return _unflatten(staged.out_tree, _core.bind_checkpoint(staged, leaves, prevent_cse))

    return checkpointed
