"""Counting over jaxprs: what each operation asks for by its rule, and what is alive at once."""

import functools as _functools
import logging as _logging

from pullback import _core
from pullback.experimental.roofline._results import (
    RooflineResult as RooflineResult,
    RooflineRuleContext as RooflineRuleContext,
    RooflineShape as RooflineShape,
)

_rooflines = {}
_log = _logging.getLogger(__name__)


def register_roofline(prim):
    """Sets the rule of a primitive: a decorator of `rule(ctx, *args, **params)` that gives a `RooflineResult`.

    Args:
      prim: a primitive.
    Returns: a decorator that gives the rule back.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import roofline
      >>> p = jax.extend.core.Primitive("mine")
      >>> @roofline.register_roofline(p)
      ... def rule(ctx, x):
      ...     return roofline.RooflineResult(unfused_flops=3)
    """
    def register(rule):
        _rooflines[prim] = rule
        return rule

    return register


def register_standard_roofline(prim):
    """Says that a primitive asks for nothing.

    Args:
      prim: a primitive.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import roofline
      >>> roofline.register_standard_roofline(jax.extend.core.Primitive("free"))
    """
    _rooflines[prim] = lambda ctx, *args, **params: RooflineResult.zeros()


def _inner(eqn):
    """The jaxpr that an equation stands for, counted once; None for an operation."""
    params = eqn.params
    for name in ("jaxpr", "call_jaxpr", "body_jaxpr", "fun_jaxpr"):
        if isinstance(params.get(name), _core.Jaxpr):
            return params[name]
    return None


def _bytes(atom):
    from pullback.core import Literal

    return 0 if isinstance(atom, Literal) else RooflineShape.from_aval(atom.aval).bytes


class _Count:
    """A count with a mesh and the options of the call."""

    def __init__(self, mesh, **pinned):
        self.mesh, self.pinned = mesh, pinned

    def jaxpr(self, jaxpr):
        """What a jaxpr asks for; only what its results need counts."""
        jaxpr, _ = _core.dce_jaxpr(jaxpr, [True] * len(jaxpr.out_avals), [False] * len(jaxpr.in_avals))
        return self._living(jaxpr)

    def _living(self, jaxpr):
        from pullback.core import DropVar, Literal

        last = {}
        for k, eqn in enumerate(jaxpr.eqns):
            last.update((atom, k) for atom in eqn.invars if not isinstance(atom, Literal))
        last.update((atom, len(jaxpr.eqns)) for atom in jaxpr.outvars if not isinstance(atom, Literal))
        alive = {var for var in (*jaxpr.constvars, *jaxpr.invars) if var in last}
        now = peak = sum(map(_bytes, alive))
        total = RooflineResult.zeros()
        for k, eqn in enumerate(jaxpr.eqns):
            total = total + self._eqn(eqn)
            for var in [var for var in alive if last[var] == k]:
                alive.discard(var)
                now -= _bytes(var)
            for var in eqn.outvars:
                if not isinstance(var, DropVar) and var in last:
                    alive.add(var)
                    now += _bytes(var)
            peak = max(peak, now)
        return total + RooflineResult(peak_hbm_bytes=peak)

    def _eqn(self, eqn):
        inner = _inner(eqn)
        if inner is not None:
            return self.jaxpr(inner)
        rule = _rooflines.get(eqn.primitive)
        if rule is None:
            _log.warning("No roofline rule for %s, skipping...", eqn.primitive)
            return RooflineResult.zeros()
        avals = [[atom.aval for atom in atoms] for atoms in (eqn.invars, eqn.outvars)]
        ctx = RooflineRuleContext(
            name_stack=None, primitive=eqn.primitive, avals_in=avals[0], avals_out=avals[1], jaxpr_eqn_ctx=None, mesh=self.mesh, **self.pinned
        )
        found = rule(ctx, *map(RooflineShape.from_aval, avals[0]), **eqn.params)
        # What lives at once is counted here.
        return found + RooflineResult() if found.peak_hbm_bytes == 0 else found


def roofline(
    f, mesh=None, in_specs=None, out_specs=None, *, pin_lhs_in_vmem=False, pin_rhs_in_vmem=False, vjp=False, print_jaxpr=False
):
    """A function that tells what `f` asks for, without running it.

    Args:
      f: a function of trees of arrays.
      mesh: a mesh that it is divided over, by `shard_map` with `in_specs` and `out_specs`.
      in_specs, out_specs: as for `shard_map`.
      pin_lhs_in_vmem, pin_rhs_in_vmem: whether the left or right operand of matrix products is in fast memory already.
      vjp: count the derivative in reverse in place of the function.
      print_jaxpr: print what is counted.
    Returns: a function of the arguments or their types that gives the type of the result and a `RooflineResult`. Bodies of loops
      count once, and branches of `cond` not at all.
    Differentiable: no; it counts.
    Example:
      >>> from pullback.experimental.roofline import roofline
      >>> shape, result = roofline(lambda x, y: x @ y)(jnp.ones((3, 4)), jnp.ones((4, 5)))
      >>> result.flops, result.hbm_bytes
      (120, 188)
    """
    counted = _pulled(f) if vjp else f
    if mesh is not None:
        from pullback import shard_map

        counted = shard_map(counted, mesh=_filled(mesh), in_specs=in_specs, out_specs=out_specs)

    @_functools.wraps(f)
    def wrapped(*args):
        import pullback

        args = pullback.tree.map(_struct, args)
        jaxpr, out = pullback.make_jaxpr(counted, return_shape=True)(*args)
        if print_jaxpr:
            print(jaxpr)
        return out, _Count(mesh, pin_lhs_in_vmem=pin_lhs_in_vmem, pin_rhs_in_vmem=pin_rhs_in_vmem).jaxpr(_divided(jaxpr))

    return wrapped


def _filled(mesh):
    """A mesh with devices: nothing is run, so that one may stand for all."""
    import numpy as np
    from pullback import devices
    from pullback.sharding import Mesh

    if isinstance(mesh, Mesh):
        return mesh
    places = np.empty(tuple(mesh.axis_sizes), dtype=object)
    places.fill(devices()[0])
    return Mesh(places, mesh.axis_names, axis_types=mesh.axis_types)


def _divided(jaxpr):
    """The body of the `shard_map` that a jaxpr is; the jaxpr itself without one."""
    while len(jaxpr.eqns) == 1 and jaxpr.eqns[0].primitive.name == "shard_map":
        jaxpr = jaxpr.eqns[0].params["jaxpr"]
    return jaxpr


def _struct(x):
    import pullback

    return pullback.ShapeDtypeStruct.like(x) if not isinstance(x, pullback.ShapeDtypeStruct) else x


def _pulled(f):
    """The derivative of `f` in reverse, for cotangents of ones in bfloat16's place: of the results' own dtypes."""
    def fun(*args):
        import pullback

        out, pull = pullback.vjp(f, *args)
        return pull(pullback.tree.map(pullback.numpy.ones_like, out))

    return fun


def roofline_and_grad(
    f, mesh, in_specs, out_specs, *, pin_lhs_in_vmem=False, pin_rhs_in_vmem=False, print_jaxpr=False
):
    """A function that tells what `f` and its derivative in reverse ask for, without running them.

    Args:
      f: a function of trees of arrays.
      mesh: a mesh that it is divided over.
      in_specs, out_specs: as for `shard_map`.
      pin_lhs_in_vmem, pin_rhs_in_vmem: whether the left or right operand of matrix products is in fast memory already.
      print_jaxpr: print what is counted.
    Returns: a function of the arguments or their types that gives the type of the result, the count of `f` and that of its derivative.
    Differentiable: no; it counts.
    Example:
      >>> from pullback.experimental.roofline import roofline_and_grad
      >>> mesh = jax.make_mesh((1,), ("x",))
      >>> shape, fwd, bwd = roofline_and_grad(lambda x: jnp.sin(x), mesh, jax.P(), jax.P())(jnp.ones(3))
      >>> fwd.unfused_flops
      3
    """
    options = {"pin_lhs_in_vmem": pin_lhs_in_vmem, "pin_rhs_in_vmem": pin_rhs_in_vmem, "print_jaxpr": print_jaxpr}

    @_functools.wraps(f)
    def wrapped(*args):
        out, forward = roofline(f, mesh, in_specs, out_specs, **options)(*args)
        _, backward = roofline(f, mesh, in_specs, in_specs, vjp=True, **options)(*args)
        return out, forward, backward

    return wrapped


from pullback.experimental.roofline import rooflines as _rules  # noqa: E402, F401
