"""Functions as artefacts: traced once, kept without Python, and called later, elsewhere, for other sizes.

`export(jit(f))(*types)` gives an `Exported`; `serialize` its bytes, `deserialize` it back. Shapes may be symbolic. The bytes
are of Pullback's own format: they hold a program that every Pullback of this version runs.
"""

import re as _re

from pullback._core import user_error as _user_error
from pullback._export import dims as _dims
from pullback._export import solve as _solve
from pullback._export import wire as _wire
from pullback._export.avals import aval as _aval
from pullback._export.scope import SymbolicScope as SymbolicScope
from pullback._export.scope import read_shape as _read_shape

maximum_supported_calling_convention_version = 10
minimum_supported_calling_convention_version = 9
_PLATFORMS = frozenset({"cpu", "cuda", "rocm", "tpu", "gpu", "metal", "oneapi", "neuron"})


class DisabledSafetyCheck:
    """A check of exporting that is left out: of the platform, or of a custom call by name."""

    def __init__(self, _impl):
        self._impl = _impl

    @classmethod
    def platform(cls):
        """The check that a call runs on a platform of the export."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name):
        """The check that a custom call is known to stay as it is."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self):
        """The name of the custom call, or None."""
        found = _re.match(r"custom_call:(.*)$", self._impl)
        return found and found.group(1)

    def __repr__(self):
        return self._impl

    def __eq__(self, other):
        return isinstance(other, DisabledSafetyCheck) and self._impl == other._impl

    def __hash__(self):
        return hash(self._impl)


class Exported:
    """An exported function: its program, and what is known of its arguments and results.

    Attributes:
      fun_name: the function's name, for errors.
      in_tree, out_tree: structures: of the pair of positional and keyword arguments, and of the result.
      in_avals, out_avals: types of the leaves; their sizes may be symbolic.
      platforms: where it may be called.
      nr_devices: how many devices it was exported for.
      in_shardings_hlo, out_shardings_hlo: None for each leaf.
      ordered_effects, unordered_effects: what it does besides.
      disabled_safety_checks: the checks that are left out.
      calling_convention_version: as in JAX.
      module_kept_var_idx: which leaves of the arguments the program takes.
      uses_global_constants: whether sizes or the platform are found at the call.
    """

    def __init__(self, **fields):
        self.__dict__.update(fields)
        leaves = len(self.in_avals), len(self.out_avals)
        self._in_named_shardings, self._out_named_shardings = ((None,) * n for n in leaves)
        self.in_shardings_hlo, self.out_shardings_hlo = ((None,) * n for n in leaves)
        self._calls = {}

    def __repr__(self):
        return f"Exported(fun_name={self.fun_name}, ...)"

    def in_shardings_jax(self, mesh):
        """How arguments are divided over a mesh: not said, None for each leaf."""
        return self.in_shardings_hlo

    def out_shardings_jax(self, mesh):
        """How results are divided over a mesh: not said, None for each leaf."""
        return self.out_shardings_hlo

    def mlir_module(self):
        """The program as a StableHLO module's text; NotImplementedError for symbolic shapes."""
        from pullback import _core

        if self._program.names:
            raise _user_error(NotImplementedError, "a program over symbolic shapes has no StableHLO text; export it for constant shapes")
        jaxpr = self._program.jaxpr({})
        return _core.stablehlo(jaxpr, self.fun_name, [False] * len(jaxpr.in_avals), keep_unused=False, debug_info=False).text

    @property
    def mlir_module_serialized(self):
        """The program's text as bytes, in Pullback's own form."""
        return "".join(self._program.pieces).encode()

    def has_vjp(self):
        """Whether the derivative is known."""
        return self._get_vjp is not None

    def vjp(self):
        """The exported function of arguments and cotangents of results that gives cotangents of arguments.

        Raises ValueError when it was serialized without.
        """
        if self._get_vjp is None:
            raise _user_error(ValueError, "No VJP is available")
        if "_vjp" not in self.__dict__:
            self._vjp = self._get_vjp(self)
        return self._vjp

    def serialize(self, vjp_order=0):
        """The function as bytes, with derivatives up to an order."""
        if self._program is None or self.ordered_effects:
            raise _user_error(ValueError, "serialization is not supported for a function with ordered effects")
        chunks, heads, one = [], [], self
        for order in range(vjp_order + 1):
            heads.append(_wire.head_of(one, one._program, one._scope, chunks))
            one = one.vjp() if order < vjp_order else one
        return _wire.written(heads, chunks)

    def call(self, *args, **kwargs):
        """The results for arguments of the exported types.

        Raises ValueError where structure, types, sizes or the platform do not fit.
        """
        from pullback import tree_util

        leaves, in_tree = tree_util.tree_flatten((args, kwargs))
        if in_tree != self.in_tree:
            _refuse_structure(self, (args, kwargs))
        env = self._checked(leaves)
        return tree_util.tree_unflatten(self.out_tree, self._function(env)(*leaves))

    def _names(self):
        paths = self.in_tree.unflatten(list(range(self.in_tree.num_leaves)))
        return _argument_names(paths)

    def _checked(self, leaves):
        """The values of the dimension variables for leaves of the arguments."""
        from pullback import _core, default_backend

        names, shapes = self._names(), []
        for name, leaf, wanted in zip(names, leaves, self.in_avals):
            found = _core.typeof(leaf) if not str(getattr(leaf, "dtype", "")).startswith("[('float0") else leaf
            _check_type(name, wanted, found, self._given(found.shape))
            shapes.append(self._given(found.shape))
        env = _solve.solved(list(zip(names, (aval.shape for aval in self.in_avals))), shapes, self._scope)
        here = default_backend()
        if here not in self.platforms and DisabledSafetyCheck.platform() not in self.disabled_safety_checks:
            raise _user_error(ValueError, f"Function '{self.fun_name}' was exported for platforms '{self.platforms}' but it is used on '{(here,)}'.")
        return env

    @staticmethod
    def _given(shape):
        return tuple(shape)

    def _function(self, env):
        """The function of leaves for values of the variables, with its derivative."""
        key = tuple(sorted(env.items()))
        if key not in self._calls:
            self._calls[key] = _differentiable(self, env)
        return self._calls[key]


def _check_type(name, wanted, found, shape):
    if len(shape) != len(wanted.shape):
        raise _user_error(ValueError, f"Rank mismatch for {name}: expected {_shown(wanted.shape)} and called with {_shown(shape)}")
    if found.dtype != wanted.dtype:
        raise _user_error(ValueError, f"Dtype mismatch for {name}: expected {wanted.dtype} and called with {found.dtype}")
    for axis, (size, actual) in enumerate(zip(wanted.shape, shape)):
        if not isinstance(size, _dims.DimExpr) and size != actual:
            raise _user_error(
                ValueError,
                f"Shape mismatch for {name}.shape[{axis}] (expected same constant): expected {_shown(wanted.shape)} and called with {_shown(shape)}"
            )


def _shown(shape):
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


def _argument_names(arguments):
    """`args[0]['a']` and the like, for each leaf of arguments."""
    from pullback import tree_util

    args, kwargs = arguments
    leaves = tree_util.tree_flatten_with_path(args)[0]
    named = [f"args{tree_util.keystr(path)}" for path, _ in leaves]
    return named + [f"kwargs{tree_util.keystr(path)}" for path, _ in tree_util.tree_flatten_with_path(kwargs)[0]]


def _refuse_structure(exported, arguments):
    from pullback import tree_util

    wanted = exported.in_tree.unflatten([0] * exported.in_tree.num_leaves)
    lines = []
    for path, found, expected, why in _differences((), arguments, wanted):
        name = ("args", "kwargs")[path[0].idx] + tree_util.keystr(path[1:]) if path else "the whole"
        lines.append(f"   - {name} is {found} in the invocation and {expected} when exported, so {why}.\n")
    raise _user_error(
        ValueError,
        f"The invocation args and kwargs must have the same pytree structure as when the function '{exported.fun_name}' was exported, "
        f"but they have the following structural differences:\n{''.join(lines)}"
    )


def _differences(path, found, wanted):
    """Where two trees differ: path, what each has, and why they do not fit."""
    from pullback import tree_util

    def described(node, data):
        kind = "leaf" if data is None else data[0].__name__
        sized = f" of length {len(node)}" if kind in ("tuple", "list") else f" with keys {list(node)}" if kind == "dict" else ""
        return f"a {kind}{sized}"

    shallow = [tree_util.tree_flatten_with_path(x, is_leaf=lambda y, x=x: y is not x) for x in (found, wanted)]
    data = [tree_util.tree_structure(x).node_data() for x in (found, wanted)]
    kinds = [None if one is None else one[0] for one in data]
    shown = [described(x, one) for x, one in zip((found, wanted), data)]
    if kinds[0] is not kinds[1]:
        yield path, *shown, "their Python types differ"
    elif kinds[0] in (tuple, list) and len(found) != len(wanted):
        yield path, *shown, "the lengths do not match"
    elif kinds[0] is dict and set(found) != set(wanted):
        yield path, *shown, "the dictionary keys do not match"
    elif data[0] is not None and data[0][1] != data[1][1]:
        yield path, *shown, "the pytree node metadata does not match"
    elif data[0] is not None:
        for (key, left), (_, right) in zip(shallow[0][0], shallow[1][0]):
            yield from _differences((*path, *key), left, right)


def _is_float0(aval):
    from pullback.dtypes import float0

    return aval.dtype == float0


def _differentiable(exported, env):
    """The flat function: its program, and the exported derivative as its rule."""
    import numpy as np

    from pullback import custom_vjp, jit
    from pullback.dtypes import float0

    given = [not _is_float0(aval) for aval in exported.in_avals]
    kept = [not _is_float0(aval) for aval in exported.out_avals]
    shapes = [tuple(_dims.evaluate(size, env) for size in aval.shape) for aval in exported.out_avals]
    run = jit(lambda *args: exported._program.run(env, args))

    def f_flat(*leaves):
        found = iter(run(*(leaf for leaf, is_given in zip(leaves, given) if is_given)))
        return [next(found) if keep else np.zeros(shape, float0) for keep, shape in zip(kept, shapes)]

    if not all(kept) or not all(given):
        return f_flat
    function = custom_vjp(f_flat)

    def f_flat_vjp_fwd(*leaves):
        return f_flat(*leaves), leaves

    def f_flat_vjp_bwd(leaves, cts):
        vjp = exported.vjp()
        wanted = [_ct_aval(aval) for aval in exported.out_avals]
        cts = [np.zeros(shape, float0) if _is_float0(aval) else ct for ct, aval, shape in zip(cts, wanted, shapes)]
        return tuple(vjp.call(*leaves, *cts))

    function.defvjp(f_flat_vjp_fwd, f_flat_vjp_bwd)
    return function


def _ct_aval(aval):
    from pullback import _core
    from pullback.dtypes import float0

    is_float0 = _core.tangent_dtype_is_float0(_core.ShapedArray((), aval.dtype))
    return aval.update(dtype=float0, weak_type=False) if is_float0 else aval


def _struct(aval):
    from pullback import ShapeDtypeStruct

    return ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)


def _export_vjp(exported, function):
    """The export of the derivative of a flat function."""
    import pullback

    n = len(exported.in_avals)
    moving = [not _is_float0(_ct_aval(aval)) for aval in exported.in_avals]
    cts = [_ct_aval(aval) for aval in exported.out_avals]
    arriving = [not _is_float0(aval) for aval in cts]

    def fun_vjp_jax(*args_and_cts):
        args, given = args_and_cts[:n], iter(args_and_cts[n:])

        def moved(*some):
            some = iter(some)
            out = function(*(next(some) if moves else arg for arg, moves in zip(args, moving)))
            return [x for x, arrives in zip(out, arriving) if arrives]

        _, pulled = pullback.vjp(moved, *(arg for arg, moves in zip(args, moving) if moves))
        return list(pulled(list(given)))

    structs = [_struct(aval) for aval in (*exported.in_avals, *(ct for ct, arrives in zip(cts, arriving) if arrives))]
    made = export(pullback.jit(fun_vjp_jax), platforms=exported.platforms, disabled_checks=exported.disabled_safety_checks)(*structs)
    found = iter(made.out_avals)
    out_avals = [next(found) if moves else _ct_aval(aval) for aval, moves in zip(exported.in_avals, moving)]
    in_avals = (*exported.in_avals, *cts)
    trees = _tree_of(((0,) * len(in_avals), {})), _tree_of((0,) * n)
    kept = tuple(k for k, aval in enumerate(in_avals) if not _is_float0(aval))
    fields = {**made.__dict__, "in_avals": in_avals, "out_avals": tuple(out_avals), "in_tree": trees[0], "out_tree": trees[1], "module_kept_var_idx": kept}
    return Exported(**{name: value for name, value in fields.items() if name not in ("_calls", "_vjp")})


def _tree_of(tree):
    from pullback import tree_util

    return tree_util.tree_structure(tree)


def default_export_platform():
    """The platform that functions are exported for when none is named.

    Returns: a name, `"cpu"` here.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import export
      >>> export.default_export_platform()
      'cpu'
    """
    from pullback import default_backend

    return default_backend()


def _checked_platforms(platforms):
    if platforms is None:
        return (default_export_platform(),)
    if unknown := [name for name in platforms if name not in _PLATFORMS]:
        raise _user_error(ValueError, f"Unknown platform {unknown[0]!r} to export for; known ones are {sorted(_PLATFORMS)}")
    return tuple(platforms)


def export(fun_jit, *, platforms=None, disabled_checks=(), _override_lowering_rules=None):
    """A function of example arguments or their types that exports a jitted function.

    Args:
      fun_jit: what `jit` gave.
      platforms: names of platforms; the program is the same for all, and runs here on `"cpu"`.
      disabled_checks: `DisabledSafetyCheck`s.
      _override_lowering_rules: refused; lowerings cannot be replaced.
    Returns: a function of arguments, or of `ShapeDtypeStruct`s with sizes that may be symbolic, that gives an `Exported`. Over
      symbolic shapes it traces `fun_jit` at several sizes.
    Raises:
      ValueError: `fun_jit` is no result of `jit`; symbolic sizes cannot be found from the shapes of the arguments.
      InconclusiveDimensionOperation: the function asks something of a symbolic size that has no one answer.
      NotImplementedError: what is traced depends on the value of a symbolic size.
    Differentiable: the exported function is, by its `vjp`; not forward.
    Example:
      >>> from pullback import export
      >>> exported = export.export(jax.jit(lambda x: 2 * x))(jax.ShapeDtypeStruct(export.symbolic_shape("n"), jnp.float32))
      >>> exported.out_avals
      (ShapedArray(float32[n]),)
      >>> exported.call(jnp.arange(3.0))
      Array([0., 2., 4.], dtype=float32)
    """
    if not hasattr(fun_jit, "trace") or not hasattr(fun_jit, "lower"):
        raise _user_error(ValueError, f"Function to be exported must be the result of `jit` but is: {fun_jit}")
    if _override_lowering_rules is not None:
        raise _user_error(NotImplementedError, "lowering rules cannot be overridden: programs are kept as jaxprs, not lowered")
    platforms = _checked_platforms(platforms)

    def do_export(*args_specs, **kwargs_specs):
        return _exported(fun_jit, platforms, tuple(disabled_checks), args_specs, kwargs_specs)

    return do_export


def _symbolic_scope(leaves):
    sizes = [size for leaf in leaves for size in getattr(leaf, "shape", ()) if isinstance(size, _dims.DimExpr)]
    return _dims.scope_of(*sizes), sorted(set().union(*map(_dims.variables, sizes))) if sizes else []


def _exported(fun_jit, platforms, disabled, args, kwargs):
    from pullback import tree_util

    leaves = tree_util.tree_leaves((args, kwargs))
    scope, names = _symbolic_scope(leaves)
    traced, program, flat_in, out_avals, kept = (_over_symbols if names else _over_sizes)(fun_jit, args, kwargs, scope, names)
    if names:
        listed = list(zip(_argument_names((args, kwargs)), (aval.shape for aval in flat_in)))
        _check_solvable(listed)
    effects = tuple(sorted(map(str, traced.jaxpr.effects)))
    fields = {
        "fun_name": traced.fun_name, "in_tree": traced.in_tree, "in_avals": tuple(flat_in), "out_tree": traced.out_tree,
        "out_avals": tuple(out_avals), "nr_devices": 1, "platforms": platforms,
        "ordered_effects": tuple(e for e in effects if "Ordered" in e), "unordered_effects": tuple(e for e in effects if "Ordered" not in e),
        "disabled_safety_checks": disabled, "calling_convention_version": maximum_supported_calling_convention_version,
        "module_kept_var_idx": kept, "uses_global_constants": bool(names) or len(platforms) > 1, "_program": program, "_scope": scope,
    }
    return Exported(**fields, _get_vjp=lambda exported: _export_vjp(exported, _flat(fun_jit, args, kwargs, traced)))


def _flat(fun_jit, args, kwargs, traced):
    """The function of the leaves of its traced arguments; static ones are as they were."""
    from pullback import tree_util

    n = traced.in_tree.num_leaves
    leaves, whole = tree_util.tree_flatten((args, kwargs))
    if len(leaves) != n:
        options = fun_jit._options if hasattr(fun_jit, "_options") else ""
        raise _user_error(NotImplementedError, f"the derivative of an exported function with static arguments is not supported {options}")

    def function(*flat):
        found, kw = whole.unflatten(flat)
        return tree_util.tree_leaves(fun_jit(*found, **kw))

    return function


def _over_sizes(fun_jit, args, kwargs, scope, names):
    """What is exported when every size is a number."""
    from pullback import _core
    from pullback._export.program import Program

    traced = fun_jit.trace(*args, **kwargs)
    jaxpr = traced.jaxpr
    flat_in = list(traced._staged.flat_in_avals)
    _, used = _core.dce_jaxpr(jaxpr, [True] * len(jaxpr.out_avals), [False] * len(flat_in))
    kept = tuple(k for k, is_used in enumerate(used) if is_used or traced._keep_unused)
    program = Program((), None, None, jaxpr.consts, _core.open_constvars(jaxpr))
    return traced, program, flat_in, list(traced._staged.flat_out_avals), kept


def _over_symbols(fun_jit, args, kwargs, scope, names):
    """What is exported when sizes are symbolic."""
    import pullback
    from pullback import _core, tree_util
    from pullback._export import worlds

    int32 = pullback.numpy.int32

    def sized(leaf, world):
        shape = getattr(leaf, "shape", None)
        if shape is None or not any(isinstance(size, _dims.DimExpr) for size in shape):
            return leaf
        return pullback.ShapeDtypeStruct(tuple(_dims.evaluate(size, world.env) for size in shape), leaf.dtype, weak_type=getattr(leaf, "weak_type", False))

    def trace_one(world):
        found_args, found_kwargs = tree_util.tree_map(lambda leaf: sized(leaf, world), (args, kwargs))
        kept = []

        def whole(sizes, *flat):
            world.tracers.update(zip(names, sizes))
            traced = fun_jit.trace(*found_args, **found_kwargs)
            kept.append(traced)
            return _core.eval_jaxpr(traced.jaxpr, list(traced.jaxpr.consts), list(flat))

        flat = [leaf if hasattr(leaf, "shape") else pullback.ShapeDtypeStruct.like(leaf) for leaf in tree_util.tree_leaves((found_args, found_kwargs))]
        jaxpr = pullback.make_jaxpr(whole)([pullback.ShapeDtypeStruct((), int32)] * len(names), *flat)
        return jaxpr, kept[-1]

    program, traced, shapes = worlds.trace(names, scope, trace_one)
    staged = traced._staged
    out_avals = [_aval(shape, aval.dtype, aval.weak_type) for shape, aval in zip(shapes, staged.flat_out_avals)]
    given = tree_util.tree_leaves((args, kwargs))
    if len(given) != len(staged.flat_in_avals):
        raise _user_error(NotImplementedError, "exporting over symbolic shapes with static arguments is not supported; close over them")
    flat_in = [_aval(getattr(leaf, "shape", ()), aval.dtype, aval.weak_type) for leaf, aval in zip(given, staged.flat_in_avals)]
    _check_results(program, out_avals, scope)
    return traced, program, flat_in, out_avals, tuple(range(len(flat_in)))


def _check_results(program, out_avals, scope):
    """The types of results must be what the program gives at other sizes; an expression that was guessed wrong is refused."""
    for start in (24, 31, 66):
        env = {name: start + 7 * k for k, name in enumerate(program.names)}
        if scope.holds(env):
            try:
                found = program.jaxpr(env).out_avals
            except ValueError as error:
                raise _user_error(NotImplementedError, f"the function cannot be exported over symbolic shapes: {error}") from error
            wanted = [tuple(_dims.evaluate(size, env) for size in aval.shape) for aval in out_avals]
            if [tuple(aval.shape) for aval in found] != wanted:
                raise _user_error(NotImplementedError, "the function cannot be exported over symbolic shapes: the shapes of its results follow no expression")


def _check_solvable(listed):
    """Raises where no call could tell the values of the variables."""
    known, left, moved = {}, [(value, f"{name}.shape[{axis}]") for name, shape in listed for axis, value in enumerate(shape) if isinstance(value, _dims.DimExpr)], True
    while left and moved:
        rest = []
        for value, place in left:
            if not _dims.variables(value) <= known.keys():
                found = _solve._only_unknown(value, known)
                if found is None:
                    rest.append((value, place))
                    continue
                known[found[0]] = 2
        moved, left = len(rest) < len(left), rest
    if left:
        raise _solve.unsolvable(listed, left, known)


def deserialize(blob):
    """The exported function of bytes that `Exported.serialize` gave.

    Args:
      blob: bytes.
    Returns: an `Exported`.
    Raises:
      ValueError: the bytes are not of this format and version, were changed, or name node types that are not registered.
    Differentiable: as often as the order of derivatives that was serialized says.
    Example:
      >>> from pullback import export
      >>> blob = export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct((), jnp.float32)).serialize()
      >>> export.deserialize(blob).call(jnp.float32(0.0))
      Array(0., dtype=float32)
    """
    heads, blob = _wire.opened(blob)
    try:
        at, made = 0, []
        for head in heads:
            program, scope, at = _wire.program_of(head, blob, at)
            in_tree, out_tree, in_avals, out_avals = _wire.types_of(head, scope)
            fields = {name: tuple(head[name]) if isinstance(head[name], list) else head[name] for name in _wire.FIELDS}
            made.append({
                **fields, "in_tree": in_tree, "out_tree": out_tree, "in_avals": in_avals, "out_avals": out_avals, "_program": program,
                "_scope": scope, "disabled_safety_checks": tuple(map(DisabledSafetyCheck, head["disabled"])),
                "ordered_effects": (), "unordered_effects": (),
            })
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise _user_error(ValueError, f"the exported function cannot be read: {type(error).__name__} {error}") from error
    found = None
    for fields in reversed(made):
        following = found
        found = Exported(**fields, _get_vjp=following and (lambda _, following=following: following))
    return found


def register_pytree_node_serialization(nodetype, *, serialized_name, serialize_auxdata, deserialize_auxdata, from_children=None):
    """Says how nodes of a class are written in `Exported.serialize`.

    Args:
      nodetype: a class that is registered as a pytree node.
      serialized_name: the name under which it is written and found again.
      serialize_auxdata: a function from its auxiliary data to bytes; `deserialize_auxdata` the way back.
      deserialize_auxdata: a function from bytes to auxiliary data.
      from_children: a function of auxiliary data and children; what was registered with the class when None.
    Returns: `nodetype`.
    Raises:
      ValueError: the class or the name was registered before, or the class is no pytree node.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import export
      >>> class Pair: pass
      >>> _ = jax.tree_util.register_pytree_node(Pair, lambda p: ((), None), lambda aux, children: Pair())
      >>> _ = export.register_pytree_node_serialization(
      ...     Pair, serialized_name="a pair", serialize_auxdata=lambda aux: b"", deserialize_auxdata=lambda b: None)
    """
    if from_children is None:
        from_children = _registered_children(nodetype)
    _wire.register(nodetype, serialized_name, serialize_auxdata, deserialize_auxdata, from_children)
    return nodetype


def _registered_children(nodetype):
    from pullback.tree_util import PyTreeDef, all_leaves

    def is_leaf():
        try:
            return all_leaves([nodetype.__new__(nodetype)])
        except Exception:
            return False

    if is_leaf():
        raise _user_error(
            ValueError,
            f"If `from_children` is not present, you must call first`jax.tree_util.register_pytree_node` for `{nodetype}`"
        )

    def build(aux, children):
        from pullback import tree_util

        inner = [tree_util.tree_structure(child) for child in children]
        made = PyTreeDef.from_node_data_and_children(tree_util.default_registry, (nodetype, aux), inner)
        return made.unflatten([leaf for child in children for leaf in tree_util.tree_leaves(child)])

    return build


def register_namedtuple_serialization(nodetype, *, serialized_name):
    """Says under which name a named tuple is written in `Exported.serialize`.

    Args:
      nodetype: a class of named tuples.
      serialized_name: the name under which it is written and found again.
    Returns: `nodetype`.
    Raises:
      ValueError: the class or the name was registered before, or the class is no named tuple.
    Differentiable: no; it takes no arrays.
    Example:
      >>> import collections
      >>> from pullback import export
      >>> Pair = collections.namedtuple("Pair", "left right")
      >>> _ = export.register_namedtuple_serialization(Pair, serialized_name="Pair of the example")
    """
    if not (isinstance(nodetype, type) and issubclass(nodetype, tuple) and hasattr(nodetype, "_fields")):
        raise _user_error(ValueError, f"Use `register_pytree_node_serialization` for types other than `namedtuple`: {nodetype}")
    _wire.register(nodetype, serialized_name, lambda aux: b"", lambda data: None, lambda aux, children: nodetype(*children))
    return nodetype


def is_symbolic_dim(p):
    """Whether a size is symbolic.

    Args:
      p: a size.
    Returns: a bool.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import export
      >>> [export.is_symbolic_dim(size) for size in (*export.symbolic_shape("n"), 3)]
      [True, False]
    """
    return isinstance(p, _dims.DimExpr)


def symbolic_dim_bounds(dimension):
    """Between which integers a size lies.

    Args:
      dimension: a size.
    Returns: a pair; `inf` and `-inf` where there is no bound.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import export
      >>> export.symbolic_dim_bounds(export.symbolic_shape("2 * n + 1")[0])
      (3, inf)
    """
    return _dims.bounds(dimension)


def symbolic_shape(shape_spec, *, constraints=(), scope=None, like=None):
    """The sizes that a text names.

    Args:
      shape_spec: a text as `"batch, 2 * n, 3"`; `_` and `...` stand for sizes of `like`.
      constraints: texts as `"n >= 4"`, of a new scope; not together with `scope`.
      scope: the `SymbolicScope` of the variables.
      like: sizes for `_` and `...`.
    Returns: a tuple of integers and symbolic sizes.
    Raises:
      ValueError: the text or a constraint cannot be read; both `scope` and `constraints` are given.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import export
      >>> n, size, _ = export.symbolic_shape("n, 2 * n + 1, 3")
      >>> size - n
      n + 1
    """
    if scope is not None and constraints:
        raise _user_error(ValueError, "Cannot specify both a `scope` and `constraints`.")
    scope = SymbolicScope(constraints) if scope is None else scope
    return _read_shape("..." if shape_spec is None else shape_spec, scope, None if like is None else tuple(like))


def symbolic_args_specs(args, shapes_specs, constraints=(), scope=None):
    """The types of arguments with symbolic sizes.

    Args:
      args: a tree of arrays or types.
      shapes_specs: a tree of texts that is a prefix of it; None where shapes stay as they are.
      constraints: texts as `"n >= 4"`, of a new scope; not together with `scope`.
      scope: the `SymbolicScope` of the variables.
    Returns: a tree of `ShapeDtypeStruct`s.
    Raises:
      ValueError: a text does not fit the shape; the trees differ; both `scope` and `constraints` are given.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback import export
      >>> export.symbolic_args_specs((jnp.ones((3, 4)),), "n, ...")[0].shape
      (n, 4)
    """
    import pullback
    from pullback import tree_util

    if scope is not None and constraints:
        raise _user_error(ValueError, "Cannot use both `scope` and `constraints`")
    scope = SymbolicScope(constraints) if scope is None else scope
    leaves, tree = tree_util.tree_flatten(args)
    is_spec = lambda x: x is None or isinstance(x, str)
    specs = _broadcast_specs(shapes_specs, args, is_spec)

    def struct(leaf, spec):
        shape = tuple(leaf.shape) if hasattr(leaf, "shape") else ()
        dtype = leaf.dtype if hasattr(leaf, "dtype") else pullback.typeof(leaf).dtype
        return pullback.ShapeDtypeStruct(symbolic_shape(spec, scope=scope, like=shape), dtype)

    return tree.unflatten([struct(leaf, spec) for leaf, spec in zip(leaves, specs)])


def _broadcast_specs(specs, args, is_spec):
    """For each leaf of the arguments its text."""
    from pullback import tree_util

    if is_spec(specs):
        return [specs] * len(tree_util.tree_leaves(args))
    heads, tree = tree_util.tree_flatten(specs, is_leaf=is_spec)
    try:
        parts = tree.flatten_up_to(args)
    except (ValueError, TypeError) as error:
        raise _user_error(ValueError, f"pytree structure error: shapes_specs is no prefix of args: {error}") from error
    return [spec for spec, part in zip(heads, parts) for _ in tree_util.tree_leaves(part)]


def __dir__():
    return sorted(name for name in globals() if not name.startswith("_"))


