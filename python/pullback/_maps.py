"""Maps over devices: `shard_map`, which gives each device its part of whole arrays, and `pmap`, a map over a first axis."""

from __future__ import annotations

import functools as _functools

from pullback._core import user_error as _user_error
from pullback import _core
from pullback._jit import _check_callable, _wraps
from pullback.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, _context, _names, use_abstract_mesh
from pullback._device import _spread


class _Infer:
    """The default of `in_specs`: the shardings of the arguments."""

    def __repr__(self):
        return "jax.sharding.Infer"


Infer = _Infer()


def _function_name(fun):
    return getattr(fun, "__name__", None) or getattr(getattr(fun, "func", None), "__name__", None) or "<unnamed function>"


def _check_axes(specs, manual, what):
    """Refuses specs that name an axis that the map does not bind."""
    for spec in specs:
        for name in (name for partition in spec for name in _names(partition)):
            if name not in manual:
                raise _user_error(
                    ValueError,
                    f"shard_map {what} argument must refer to an axis marked as manual ({frozenset(manual)!r}), but:\n\n  {what} refers "
                    f"to {name!r}\n\nCheck the {what} values passed to shard_map."
                )


def _is_spec(spec):
    if not isinstance(spec, PartitionSpec):
        raise _user_error(TypeError, f"shard_map specs are PartitionSpec instances, got {spec!r} of type {type(spec).__name__}")
    return spec


def _factor(mesh, partition):
    factor = 1
    for name in _names(partition):
        factor *= mesh.shape[name]
    return factor


def _bound_to(fun, number):
    """The name of the parameter that a positional argument goes to."""
    import inspect

    try:
        names = list(inspect.signature(fun).parameters)
    except (ValueError, TypeError):
        return None
    return names[number] if number < len(names) else None


class _ShardMap:
    """One map: its mesh and specs, and what it says when they do not fit."""

    def __init__(self, fun, mesh, in_specs, out_specs, axis_names, check_vma, name=None):
        self.fun, self.mesh, self.in_specs, self.out_specs = fun, mesh, in_specs, out_specs
        self.manual = tuple(name for name in mesh.axis_names if not axis_names or name in axis_names)
        self.check_vma, self.name = check_vma, name or _function_name(fun)

    def local(self, aval, spec, argument):
        """The aval of a device's part."""
        shape = tuple(aval.shape)
        number, path = argument
        bound = _bound_to(self.fun, number)
        bound = f", where args[{number}] is bound to {self.name}'s parameter '{bound}'," if bound else ""
        if len(spec) > len(shape):
            raise _user_error(
                ValueError,
                f"shard_map applied to the function '{self.name}' was given an in_specs entry which is too long to be compatible with "
                f"the corresponding input value from the function:\n\nin_specs is {spec} which has length {len(spec)}, but the passed "
                f"{path}{bound} has shape {aval.str_short()}, which has rank {len(shape)} (and {len(shape)} < {len(spec)})\n\nEntries in "
                "in_specs must be of length no greater than the number of axes in the corresponding input value.\n\nEither revise the "
                f"spec to be shorter, or modify '{self.name}' so that its inputs have sufficient rank."
            )
        parts = list(shape)
        for axis, partition in enumerate(spec):
            factor = _factor(self.mesh, partition)
            if shape[axis] % factor:
                raise _user_error(
                    ValueError,
                    f"shard_map applied to the function '{self.name}' was given argument arrays with axis sizes that are not evenly "
                    f"divisible by the corresponding mesh axis sizes:\n\nThe mesh given has shape {self.mesh.axis_sizes} with "
                    f"corresponding axis names {self.mesh.axis_names}.\n\nthe passed {path} of shape {aval.str_short()}{bound} "
                    f"corresponds to in_specs of value {spec}, which maps array axis {axis} (of size {shape[axis]}) to mesh axis "
                    f"{partition!r} (of size {factor}), but {factor} does not evenly divide {shape[axis]}\n\nArray arguments' axis sizes "
                    "must be evenly divisible by the mesh axis or axes indicated by the corresponding elements of the argument's "
                    "in_specs entry. Consider checking that in_specs are correct, and if so consider changing the mesh axis sizes or "
                    "else padding the input and adapting the function appropriately."
                )
            parts[axis] = shape[axis] // factor
        varying = {str(name) for partition in spec for name in _names(partition)} if self.check_vma else set()
        part = aval.update(shape=tuple(parts), vma=varying)
        return part if not self.mesh.explicit_axes else part.update(sharding=self.inside(aval))

    def inside(self, aval):
        """How the type of an argument says that a part is split: by the axes that are not bound."""
        entries = [tuple(name for name in _names(entry) if name not in self.manual) for entry in aval.sharding.spec]
        return NamedSharding(self.inner_mesh, PartitionSpec(*entries))

    @property
    def inner_mesh(self):
        """The mesh inside: axes that are bound are manual."""
        return self.mesh.abstract_mesh.update_axis_types({name: AxisType.Manual for name in self.manual})

    def check_split(self, aval, spec):
        """Refuses an argument whose type says another split than its spec, along axes that are bound."""
        explicit = set(self.mesh.explicit_axes)
        bound = lambda entry: tuple(name for name in _names(entry) if name in self.manual and name in explicit)  # noqa: E731
        own, wanted = [[bound(entry) for entry in entries] for entries in (aval.sharding.spec, spec)]
        wanted += [()] * (len(own) - len(wanted))
        if own != wanted:
            raise _user_error(
                ValueError,
                f"in_specs passed to shard_map: {spec} does not match the specs of the input: {aval.sharding.spec} for arg: "
                f"{aval.str_short()}. `in_specs` is an optional argument so you can omit specifying it and shard_map will infer the "
                "in_specs from the arguments. If you want to reshard your inputs, you can use `jax.reshard` on the arguments and then "
                "pass those args to shard_map."
            )

    def specs_of_results(self, staged):
        """One spec for each leaf of the result."""
        avals = list(staged.flat_out_avals)
        out_specs = self.out_specs(staged.out_tree) if callable(self.out_specs) else self.out_specs
        full = staged.out_tree.unflatten([0] * len(avals))
        specs = [_is_spec(spec) for spec in _spread(out_specs, full, "shard_map out_specs")] if not isinstance(
            out_specs, _Leaves
        ) else list(out_specs.specs)
        _check_axes(specs, self.manual, "out_specs")
        for aval, spec in zip(avals, specs):
            if len(spec) > len(aval.shape):
                raise _user_error(
                    ValueError,
                    f"shard_map applied to the function '{self.name}' was given an out_specs entry which is too long to be compatible "
                    f"with the corresponding output value from the function:\n\nout_specs is {spec} which has length {len(spec)}, but "
                    f"{self.name}(*args) has shape {aval.str_short()}, which has rank {len(aval.shape)} (and {len(aval.shape)} < "
                    f"{len(spec)})\n\nEntries in out_specs must be of length no greater than the number of axes in the corresponding "
                    f"output value.\n\nEither revise the spec to be shorter, or modify '{self.name}' so that its outputs have sufficient "
                    "rank."
                    + ("\n\nFor scalar values (rank 0), consider using an out_specs entry of `P()`, where `P = "
                       "jax.sharding.PartitionSpec`. In particular, for rank 0 outputs which are not constant over the mesh, add at "
                       "least one (singleton) axis to them so that they can be concatenated using out_specs." if not aval.shape else "")
                )
        if self.check_vma:
            for aval, spec in zip(avals, specs):
                self.check_agreement(aval, spec)
        return specs

    def check_agreement(self, aval, spec):
        """Refuses a result that differs between devices that the spec takes to agree."""
        split = {name for partition in spec for name in _names(partition)}
        differing = sorted(aval.vma - set(map(str, split)))
        if not differing:
            return
        text = lambda names: "{" + ",".join(sorted(map(str, names))) + "}"  # noqa: E731
        raise _user_error(
            ValueError,
            f"shard_map applied to the function '{self.name}' was given out_specs which require replication which can't be statically "
            f"inferred given the mesh:\n\nThe mesh given has shape {self.mesh.axis_sizes} with corresponding axis names "
            f"{self.mesh.axis_names}.\n\nout_specs is {spec} which implies that the corresponding output value is only varying across "
            f"mesh axes {text(split)} and not {text(differing)}, but it was inferred to be possibly varying over {text(aval.vma)}\n\n"
            "Check if these output values are meant to be replicated over those mesh axes. If not, consider revising the corresponding "
            "out_specs entries. If so, consider disabling the check by passing the check_vma=False argument to `jax.shard_map`."
        )

    def stage(self, local_args):
        """The program of one device."""
        if _context.maps:
            outer = _context.maps[-1]
            if outer == self.mesh:
                raise _user_error(NotImplementedError, "shard_map inside of shard_map over the same mesh; bind all axes in the outer one")
            types = {name: AxisType.Manual for name in outer.axis_names}
            raise _user_error(
                ValueError,
                f"The context mesh {outer.abstract_mesh.update_axis_types(types)} should match the mesh passed to shard_map {self.mesh}"
            )
        axes = [(name, self.mesh.shape[name]) for name in self.manual]
        _context.maps.append(self.mesh)
        try:
            if self.mesh.explicit_axes:
                with use_abstract_mesh(self.inner_mesh):
                    return self.staged(axes, local_args)
            return self.staged(axes, local_args)
        finally:
            _context.maps.pop()

    def staged(self, axes, local_args):
        """The program of one device, traced."""
        stage = lambda: _core.stage_call(self.fun, local_args, {}, transform="shard_map")  # noqa: E731
        return _core.lax._call_with_axes(axes, stage, self.check_vma)

    def __call__(self, args):
        from pullback.tree_util import keystr, tree_flatten, tree_flatten_with_path

        leaves, treedef = tree_flatten(args)
        if self.in_specs is Infer:
            specs = [_spec_of(leaf, self.mesh) for leaf in leaves]
        else:
            specs = [_is_spec(spec) for spec in _spread(self.in_specs, args, "shard_map in_specs")]
        _check_axes(specs, self.manual, "in_specs")
        paths = [("args" + keystr(path), path[0].idx) for path, _ in tree_flatten_with_path(args)[0]]
        locals_ = []
        for leaf, spec, (path, number) in zip(leaves, specs, paths):
            aval = _core.typeof(leaf)
            locals_.append(self.local(aval, spec, (number, path)))
            if self.in_specs is not Infer and isinstance(leaf, _core.Array) and self.mesh.explicit_axes:
                self.check_split(aval, spec)
        staged = self.stage(treedef.unflatten(locals_))
        results = self.specs_of_results(staged)
        entries = lambda specs: [[list(_names(partition)) for partition in spec] for spec in specs]  # noqa: E731
        options = {
            "in_specs": entries(specs), "out_specs": entries(results), "check_vma": self.check_vma, "manual": list(map(str, self.manual)),
        }
        return _core.bind_shard_map(staged, tuple(leaves), self.mesh._handle, options)


class _Leaves:
    """Specs of results leaf by leaf."""

    def __init__(self, specs):
        self.specs = specs


def _spec_of(leaf, mesh):
    if mesh.explicit_axes and isinstance(leaf, _core.Array):
        return _core.typeof(leaf).sharding.spec
    sharding = getattr(leaf, "sharding", None)
    return sharding.spec if isinstance(sharding, NamedSharding) and sharding.mesh == mesh else PartitionSpec()


def shard_map(f=None, /, *, out_specs, in_specs=Infer, mesh=None, axis_names=frozenset(), check_vma=True):
    """A version of `f` that runs on every device of a mesh, each on its parts of the arguments.

    Inside, collectives over the mesh's axes communicate between the devices, which run on threads of their own.

    Args:
      f: a function of the parts. Without it, a decorator is returned.
      out_specs: how the parts of the results make whole arrays: specs, in a tree that is a prefix of the result.
      in_specs: how the arguments are divided: specs, in a tree that is a prefix of the tuple of arguments; by default as
        they are.
      mesh: the devices; by default those of the context.
      axis_names: the mesh axes that are bound inside; by default all.
      check_vma: whether types inside are to say along which axes values differ.
    Returns: a function of whole arrays with the positional arguments of `f`.
    Raises:
      TypeError: `f` is not callable, or a spec is no `PartitionSpec`.
      ValueError: a spec does not fit its value or names an axis that is not bound; there is no mesh; a result differs
        between devices that its spec takes to agree.
    Differentiable: as `f` is; what several devices share gets the sum of their cotangents.
    Example:
      >>> mesh = jax.sharding.Mesh(jax.devices()[:1], ("x",))
      >>> total = jax.shard_map(lambda v: jax.lax.psum(v.sum(), "x"), mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P())
      >>> float(total(jnp.arange(4.0)))
      6.0
    """
    if f is None:
        return _functools.partial(
            shard_map, out_specs=out_specs, in_specs=in_specs, mesh=mesh, axis_names=axis_names, check_vma=check_vma
        )
    _check_callable(f)

    @_wraps(f)
    def sharded(*args):
        over = mesh
        if not isinstance(over, Mesh):
            if not _context.meshes:
                raise _user_error(ValueError, "The context mesh cannot be empty. Use `jax.set_mesh(mesh)` to enter into a mesh context")
            over = _context.meshes[-1]
        missing = set(axis_names) - set(over.axis_names)
        if missing:
            raise _user_error(ValueError, f"jax.shard_map requires axis_names={axis_names} to be a subset of mesh.axis_names={over.axis_names}")
        specs = tuple(in_specs) if isinstance(in_specs, list) else in_specs
        return _ShardMap(f, over, specs, out_specs, axis_names, check_vma)(args)

    return sharded


def smap(f=None, /, *, in_axes=Infer, out_axes, axis_name):
    """A map over one axis of the mesh of the context: `shard_map` with array axes in place of specs.

    Args:
      f: a function of the parts. Without it, a decorator is returned.
      in_axes: the axis along which each argument is divided: numbers or `None`, in a tree that is a prefix of the arguments;
        by default as they are.
      out_axes: the axis along which the parts of each result are joined; `None` where devices agree.
      axis_name: the mesh axis, for collectives inside too.
    Returns: a function of whole arrays with the positional arguments of `f`.
    Raises:
      TypeError: `f` is not callable, or `axis_name` is no string.
      ValueError: there is no mesh in the context or it lacks the axis; an axis does not fit its value.
    Differentiable: as `f` is; what several devices share gets the sum of their cotangents.
    Example:
      >>> with jax.set_mesh(jax.sharding.Mesh(jax.devices()[:1], ("x",))):
      ...     print(jax.smap(lambda v: 2 * v, in_axes=0, out_axes=0, axis_name="x")(jnp.arange(3)))
      [0 2 4]
    """
    if f is None:
        return _functools.partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    from pullback.tree_util import tree_map

    if not isinstance(axis_name, str):
        raise _user_error(TypeError, f"smap axis_name should be a `str`, got {axis_name!r}")
    spec = lambda axis: PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, axis_name)  # noqa: E731
    specs = lambda axes: tree_map(spec, axes, is_leaf=lambda axis: axis is None)  # noqa: E731
    in_specs = in_axes if in_axes is Infer else specs(in_axes)
    return shard_map(f, in_specs=in_specs, out_specs=specs(out_axes), axis_names={axis_name})


# pmap


_UNNAMED = "_internal_pmap_axis_name"


def _pmap_arguments(fun, args, kwargs, in_axes, static, axis_size):
    """Leaves of the mapped arguments with their axes, their structure, and the number of examples."""
    from pullback.tree_util import tree_flatten, tree_leaves

    for number in static:
        if number >= len(args):
            raise _user_error(
                ValueError,
                f"pmapped function has static_broadcasted_argnums={tuple(static)} but was called with only {len(args)} positional "
                "arguments. All static broadcasted arguments must be passed positionally."
            )
        try:
            hash(args[number])
        except TypeError:
            raise _user_error(
                ValueError,
                "Non-hashable static arguments are not supported, as this can lead to unexpected cache-misses. Static argument (index "
                f"{number}) of type {type(args[number])} for function {_function_name(fun)} is non-hashable."
            ) from None
    dynamic = tuple(arg for number, arg in enumerate(args) if number not in static)
    if isinstance(in_axes, (tuple, list)) and static:
        in_axes = tuple(axis for number, axis in enumerate(in_axes) if number not in static)
    in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    leaves, treedef = tree_flatten((dynamic, kwargs))
    axes = _spread(in_axes, dynamic, "pmap in_axes", "pmap in_axes specification must be a tree prefix of the corresponding value; \n  ")
    axes = [*axes, *[0] * len(tree_leaves(kwargs))]
    sizes = []
    for leaf, axis in zip(leaves, axes):
        shape = _core.typeof(leaf).shape
        if axis is not None and -len(shape) <= axis < len(shape):
            sizes.append(shape[axis])
    if not sizes:
        raise _user_error(ValueError, "pmap requires at least one argument with a mapped axis.")
    if axis_size is not None and axis_size != sizes[0]:
        raise _user_error(ValueError, f"Specified axis_size {axis_size} doesn't match received axis_size {sizes[0]}.")
    return leaves, treedef, axes, sizes[0]


def _check_sizes(leaves, axes, mesh, name):
    from pullback.sharding import IndivisibleError

    for number, (leaf, axis) in enumerate(zip(leaves, axes)):
        if axis is None:
            continue
        sharding = NamedSharding(mesh, PartitionSpec(*[None] * axis, name))
        aval = _core.typeof(leaf)
        sharding._check(aval.shape, f"pjit arguments with pytree key path flat_args[{number}]")
        if aval.shape[axis] != mesh.size:
            raise IndivisibleError(
                f"pmap maps axes of size {mesh.size}, but argument leaf {number} of type {aval.str_short()} has size "
                f"{aval.shape[axis]} along axis {axis}."
            )


def pmap(
    fun, axis_name=None, *, in_axes=0, out_axes=0, static_broadcasted_argnums=(), devices=None, backend=None, axis_size=None,
    donate_argnums=(),
):
    """A version of `fun` that maps over an axis of its arguments, each example on a device of its own.

    Args:
      fun: the function of one example.
      axis_name: a name of the mapped axis, for collectives.
      in_axes: the mapped axis of each argument: numbers or `None`, in a tree that is a prefix of the arguments.
      out_axes: where the mapped axis goes in the results; `None` takes the result of the first device.
      static_broadcasted_argnums: positions of arguments that are Python values, the same for all.
      devices: which devices; by default the first ones.
      backend: None or "cpu".
      axis_size: the number of examples; by default the size of the mapped axes.
      donate_argnums: accepted for compatibility; results never take over the memory of arguments of a map.
    Returns: a function with the signature of `fun` whose mapped arguments and results have one more axis.
    Raises:
      TypeError: `fun` is not callable.
      ValueError: when called: no argument has a mapped axis, sizes differ, there are fewer devices than examples, or a static
        argument is missing or cannot be hashed.
    Differentiable: as `fun` is; arguments that are not mapped get the sum of the cotangents.
    Example:
      >>> print(jax.pmap(lambda v: v * 2)(jnp.ones((1, 2))))
      [[2. 2.]]
    """
    import numpy as np

    from pullback._jit import jit
    from pullback._device import devices as all_devices

    _check_callable(fun)
    static = static_broadcasted_argnums
    static = (static,) if isinstance(static, int) else tuple(static)
    name = _UNNAMED if axis_name is None else axis_name
    programs = {}

    def mesh_of(size):
        chosen = all_devices(backend) if devices is None else list(devices)
        if size > len(chosen) and size % len(chosen):
            # The words of the sharding that is refused below.
            size = len(chosen)
        if size > len(chosen):
            raise _user_error(
                ValueError,
                f"compiling computation that requires {size} logical devices, but only {len(chosen)} XLA devices are available "
                f"(num_replicas={size})"
            )
        return Mesh(np.array(chosen[:size], dtype=object), (name,))

    def mapped(treedef, axes, statics, mesh):
        """The jitted map of flat leaves for one structure."""
        out_tree = None

        def on_device(*flat):
            nonlocal out_tree
            from pullback.tree_util import tree_flatten

            parts = [leaf if axis is None else leaf.squeeze(axis) for leaf, axis in zip(flat, axes)]
            dynamic, kwargs = treedef.unflatten(parts)
            args, rest = [], iter(dynamic)
            for number in range(len(dynamic) + len(statics)):
                args.append(statics[number] if number in statics else next(rest))
            result = fun(*args, **kwargs)
            outs, out_tree = tree_flatten(result)
            found = _spread(out_axes, result, "pmap out_axes")
            specs.specs = [spec(axis, _core.typeof(out), "out_axes") for out, axis in zip(outs, found)]
            return [_expanded(out, axis) for out, axis in zip(outs, found)]

        def spec(axis, aval, what):
            return PartitionSpec() if axis is None else PartitionSpec(*[None] * (axis % (len(aval.shape) + 1)), name)

        specs = _Leaves(())
        in_specs = tuple(PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, name) for axis in axes)
        run = _ShardMap(on_device, mesh, in_specs, specs, (), False, _function_name(fun))

        def _fun(*flat):
            return run(flat)

        jitted = jit(_fun)
        return jitted, lambda outs: out_tree.unflatten(outs)

    def program_of(args, kwargs):
        leaves, treedef, axes, size = _pmap_arguments(fun, args, kwargs, in_axes, static, axis_size)
        axes = tuple(
            axis if axis is None or axis >= 0 else axis + len(_core.typeof(leaf).shape) for leaf, axis in zip(leaves, axes)
        )
        mesh = mesh_of(size)
        _check_sizes(leaves, axes, mesh, name)
        statics = {number: args[number] for number in static}
        key = (treedef, axes, tuple(statics.items()), mesh, tuple((a.shape, a.dtype, a.weak_type) for a in map(_core.typeof, leaves)))
        key = (*key, _core.settings_word())
        if key not in programs:
            programs[key] = mapped(treedef, axes, statics, mesh)
        jitted, rebuild = programs[key]
        leaves = [
            NamedSharding(mesh, PartitionSpec(*[] if axis is None else [*[None] * axis, name]))._put(leaf, "pmap arguments")
            if isinstance(leaf, _core.Array) and not isinstance(leaf, _core.Tracer) else leaf
            for leaf, axis in zip(leaves, axes)
        ]
        return jitted, rebuild, leaves

    @_wraps(fun)
    def pmapped(*args, **kwargs):
        jitted, rebuild, leaves = program_of(args, kwargs)
        return rebuild(jitted(*leaves))

    def lower(*args, **kwargs):
        """The lowered program of a call."""
        jitted, _, leaves = program_of(args, kwargs)
        return jitted.lower(*leaves)

    pmapped.lower = lower
    return pmapped


def _expanded(out, axis):
    import pullback.numpy as jnp

    return jnp.asarray(out) if axis is None else jnp.expand_dims(out, axis)
