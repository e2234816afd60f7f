"""Virtual devices, shardings, `pmap` and `shard_map`, against JAX in processes with 8 CPU devices."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from differential import lines_of

HERE = pathlib.Path(__file__).parent

LINES = lines_of("""
    # Devices and places.
    d, str(d[2]), jax.device_count(), jax.local_device_count(), jax.local_devices() == d, jax.process_count()
    jax.devices('gpu')
    d[3].platform, d[3].device_kind, d[3].id, d[3].process_index, d[3].local_hardware_id, d[3].memory_stats()
    d[0].default_memory(), d[3].memory('device'), jax.default_backend(), isinstance(d[0], jax.Device)
    two.devices(), two.committed, two.device, two.sharding, two.weak_type, str(two.dtype)
    u.devices(), u.committed, u.device, u.sharding
    (two + u).devices(), (two + u).committed, (two + u).sharding
    one + two
    jnp.concatenate([one[None], two[None]])
    jax.jit(lambda p, q: p + q)(one, two)
    jax.jit(lambda p, q: {'s': p['u'] + q})({'u': one}, two)
    jax.device_put(u).committed, jax.device_put(one).committed, jax.device_put(np.arange(3)).committed
    jax.device_put(two, d[5]).devices()
    [x.devices() for x in jax.tree.leaves(jax.device_put({'a': 1, 'b': [u, 2.]}, d[1]))]
    [x.devices() for x in jax.tree.leaves(jax.device_put({'a': 1, 'b': [2, 3]}, {'a': d[1], 'b': d[2]}))]
    jax.device_put([1, 2], [d[1]])
    jax.device_put(1, 'cpu')
    jax.device_put('s', d[1])
    (lambda b: (jax.device_put(b, d[1], donate=True), b.is_deleted()))(jnp.ones(3))
    jax.jit(lambda v: v * 2)(one).sharding, jax.jit(lambda v: v * 2)(one).committed
    jax.jit(lambda v: jnp.ones(3))(one).sharding
    jnp.zeros((2,), device=d[4]).devices(), jnp.zeros((2,), device=d[4]).committed, jnp.asarray(np.ones(2), device=d[4]).sharding
    jnp.array(one).devices(), one.at[...].set(2.).devices(), one.astype(int).devices(), one[None][0].devices(), one.copy().devices()
    one.addressable_shards, one.is_fully_addressable, one.is_fully_replicated, one.global_shards, one.addressable_data(0)
    one.to_device(d[3]).devices(), u.on_device_size_in_bytes()
    jax.jit(lambda v: v * 2, device=d[1])(u).devices()
    jax.grad(lambda v: v ** 2)(one).devices(), jax.vmap(lambda v: v * 2)(jax.device_put(u, d[1])).devices()
    jax.device_get({'a': one})
    (lambda c: (c.__enter__(), jnp.ones(2).devices(), jnp.ones(2).committed, (u * 2).devices(), (one * 2).devices(), jax.jit(lambda v: v + 1)(u).devices(), jnp.asarray(np.ones(3)).devices(), jax.device_put(u).devices(), [] if c.__exit__(None, None, None) else [], jnp.ones(2).devices())[1:])(jax.default_device(d[3]))
    # Meshes and specs.
    mesh, str(mesh), list(mesh.shape.items()), mesh.axis_names, mesh.size, mesh.shape_tuple, mesh.empty, mesh.axis_sizes, mesh.axis_types
    mesh.device_ids, mesh.local_devices, mesh.abstract_mesh, hash(mesh) == hash(Mesh(np.array(d).reshape(4, 2), ('x', 'y')))
    Mesh(d, ('x', 'y'))
    Mesh(d, 'x'), Mesh(d[:1], ('x',)) == Mesh(d[:1], ('x',)), Mesh(d[:1], ('x',)) == Mesh(d[:1], ('y',))
    jax.make_mesh((4, 2), ('x', 'y')), jax.make_mesh((2,), ('x',)).local_devices, jax.make_mesh((8,), ('x',), devices=d)
    jax.make_mesh((4, 4), ('x', 'y'))
    P('x'), P(), P(None, 'x'), P(('x', 'y'), None), str(P('x')), P(('x',)), P([]), P(('x', 'y')).index(('x', 'y')), list(P('x', 'y'))
    P('x') == P('x'), P('x', None) == P('x'), P('x') == ('x',), P('x') + P('y'), len(P('x', None)), P('x')[0], isinstance(P('x'), tuple)
    P.UNCONSTRAINED, P(P.UNCONSTRAINED), P('x').partitions
    ns, ns.spec, ns.mesh is mesh, ns.memory_kind, ns.num_devices, ns.is_fully_addressable, ns.is_fully_replicated, ns.shard_shape((8, 4))
    ns.shard_shape((6, 4))
    ns.shard_shape((8,))
    ns.devices_indices_map((8, 4)), ns.addressable_devices_indices_map((8, 4)) == ns.devices_indices_map((8, 4))
    ns.is_equivalent_to(NamedSharding(mesh, P('x', 'y')), 2), ns.is_equivalent_to(NamedSharding(mesh, P('y', 'x')), 2)
    NamedSharding(mesh, P('x')).is_equivalent_to(NamedSharding(mesh, P('x', None)), 2), NamedSharding(mesh, P('x')) == NamedSharding(mesh, P('x', None))
    NamedSharding(mesh, P('z'))
    NamedSharding(mesh, P('x', 'x'))
    ns.with_memory_kind('device'), ns.update(spec=P('y')), ns.replicated_axes, NamedSharding(mesh, P()).is_fully_replicated
    ns.check_compatible_aval((3,))
    NamedSharding(mesh, P('x', None, 'y')).devices_indices_map((8, 3, 2))[d[3]], NamedSharding(mesh, P(('y', 'x'))).devices_indices_map((16,))
    (lambda s: (s, s.device_set, s.shard_shape((2, 3)), s.devices_indices_map((2, 3)), s.num_devices, s.is_fully_replicated))(SingleDeviceSharding(d[1]))
    SingleDeviceSharding(d[1]).is_equivalent_to(NamedSharding(Mesh(d[1:2], ('x',)), P()), 2)
    # Split arrays.
    z, z.sharding, z.committed, z.device, z.devices(), z.is_fully_replicated, z.is_fully_addressable, len(z.global_shards)
    z.addressable_shards, z.addressable_shards[3].data.devices(), z.addressable_data(2)
    jax.device_put(m, NamedSharding(mesh, P(None, 'y'))).addressable_shards
    [(z * 2).sharding, z.T.sharding, z.sum().sharding, z.sum(0).sharding, z.sum(1).sharding, (z @ z.T).sharding, jnp.sin(z).sharding]
    [(z + jnp.ones(4)).sharding, jnp.concatenate([z, z]).sharding, z[:, None].sharding, jnp.broadcast_to(z, (3, 8, 4)).sharding]
    [z.astype(int).sharding, (z > 1).sharding, jnp.where(z > 1, z, 0).sharding, jnp.cumsum(z, 0).sharding, jnp.sort(z, 0).sharding]
    [jnp.dot(z, jnp.ones(4)).sharding, z.mean(0).sharding, z.max(1, keepdims=True).sharding, jnp.expand_dims(z, 0).sharding]
    [jax.jit(lambda a: a * 2)(z).sharding, jax.jit(lambda a: (a @ a.T).sum())(z).sharding, jax.jit(lambda a: a @ a.T)(z).sharding]
    [jax.jit(lambda a: jnp.ones(3))(z).sharding, jax.jit(lambda a: a)(z).sharding, jax.grad(lambda a: (a ** 2).sum())(z).sharding]
    z * 2, z.T, z @ z.T, jnp.sort(z, 0), jax.jit(lambda a: (a @ a.T).sum())(z), jnp.concatenate([z, z])
    z + jax.device_put(1., d[0])
    jax.device_put(jnp.ones(6), NamedSharding(mesh, P('x')))
    jax.device_put(jnp.ones(()), NamedSharding(mesh, P('x')))
    (lambda y: (y, y.sharding))(jax.jit(lambda a: a * 2, out_shardings=NamedSharding(mesh, P('y')))(z))
    jax.jit(lambda a: a * 2, in_shardings=NamedSharding(mesh, P('y')))(np.ones((8, 4))).sharding
    jax.jit(lambda a: a * 2, in_shardings=NamedSharding(mesh, P('y')))(z)
    jax.jit(lambda a: lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P('y'))))(jnp.ones((8, 4))).sharding
    lax.with_sharding_constraint(jnp.ones((8, 4)), NamedSharding(mesh, P('y'))).sharding
    str(jax.make_jaxpr(lambda a: lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P('y'))))(jnp.ones((8, 4))))
    jax.grad(lambda a: lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P('y'))).sum())(m)
    jax.vmap(lambda a: lax.with_sharding_constraint(a * 2, NamedSharding(mesh, P('y'))))(m)
    lax.with_sharding_constraint(jnp.ones((8, 4)), P('y'))
    lax.with_sharding_constraint(jnp.ones((7, 4)), NamedSharding(mesh, P('y')))
    jax.jit(lambda a: a * 2, out_shardings=d[3])(jnp.ones(2))
    jax.jit(lambda a: a * 2, out_shardings=P('x'))(jnp.ones(8))
    jax.jit(lambda a, b: (a, b), out_shardings=(ns,))(z, z)
    jax.jit(lambda a: a * 2, in_shardings=(ns, ns))(z)
    jax.jit(lambda a: a, in_shardings=NamedSharding(mesh, P('x')))(jnp.ones(6))
    jax.make_array_from_callback((8, 4), ns, lambda i: np.arange(32.).reshape(8, 4)[i])
    (lambda a: (a, a.sharding))(jax.make_array_from_single_device_arrays((8, 4), ns, [s.data for s in z.addressable_shards]))
    jax.make_array_from_single_device_arrays((8, 4), ns, [s.data for s in z.addressable_shards][:3])
    jax.make_array_from_single_device_arrays((8, 4), ns, [np.ones((2, 2))] * 8)
    jax.make_array_from_callback((8, 4), ns, lambda i: np.ones((3, 3)))
    jax.make_array_from_process_local_data(ns, np.arange(32.).reshape(8, 4)).sharding
    (lambda c: (c.__enter__(), sharding.get_abstract_mesh(), sharding.get_mesh(), lax.with_sharding_constraint(jnp.ones((8, 4)), P('y')).sharding, jax.device_put(jnp.ones(8), P('x')).sharding, [] if c.__exit__(None, None, None) else [], sharding.get_abstract_mesh()))(jax.set_mesh(mesh))
    jax.device_put(z, d[0]).sharding, jnp.zeros((8, 4), device=ns).sharding, np.asarray(z), z.on_device_size_in_bytes()
    # pmap.
    jax.pmap(lambda v: v * 2)(v), jax.pmap(lambda v: v * 2)(v).sharding, jax.pmap(lambda v: lax.psum(v, 'i'), axis_name='i')(m).sharding
    jax.pmap(lambda v: v * 2)(v[:3]), jax.pmap(lambda v: v * 2)(v[:3]).sharding
    jax.pmap(lambda v: v * 2)(jnp.arange(9.))
    jax.pmap(lambda v, w: v * w)(v, v[:3])
    jax.pmap(lambda v, w: v * w, in_axes=(0, None))(v, 3.)
    jax.pmap(lambda v: v, in_axes=1)(jnp.arange(16.).reshape(2, 8)), jax.pmap(lambda v: v, in_axes=1, out_axes=1)(jnp.arange(16.).reshape(2, 8))
    jax.pmap(lambda v: lax.psum(v, 'i'), axis_name='i', out_axes=None)(v)
    jax.pmap(lambda a, *, b: a + b)(v, b=v)
    jax.pmap(lambda t: {'s': t['a'] + t['b'], 'k': 1})({'a': v, 'b': v})
    jax.pmap(lambda v: v)(3.)
    jax.pmap(lambda v: v)()
    jax.pmap(lambda v: v, in_axes=None)(v)
    jax.pmap(lambda v: v, axis_size=4)(v)
    jax.pmap(lambda v: v, devices=d[4:])(v[:2]).devices()
    jax.pmap(lambda v: v, devices=d[:2])(v[:4])
    jax.pmap(lambda v, k: v * k, static_broadcasted_argnums=1)(v, 3)
    jax.pmap(lambda v, k: v * k, static_broadcasted_argnums=(1,))(v, [3])
    jax.pmap(lambda v: jax.pmap(lambda w: w * 2)(v))(m)
    jax.pmap(jax.vmap(lambda w: lax.psum(w, ('i', 'j')), axis_name='j'), axis_name='i')(jnp.ones((2, 4)))
    jax.pmap(lambda v: (lax.axis_index('i'), lax.psum(v, 'i'), lax.pmax(v, 'i'), lax.pmin(v, 'i'), lax.pmean(v, 'i')), axis_name='i')(v)
    jax.pmap(lambda v: (lax.all_gather(v, 'i'), lax.ppermute(v, 'i', [(k, (k + 1) % 8) for k in range(8)])), axis_name='i')(v)
    jax.pmap(lambda v: lax.psum(v, 'i', axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]), axis_name='i')(v)
    jax.pmap(lambda v: lax.all_gather(v, 'i', axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]), axis_name='i')(v)
    jax.pmap(lambda v: lax.ppermute(v, 'i', [(3, 1)]), axis_name='i')(v)
    jax.pmap(lambda v: lax.psum_scatter(v, 'i'), axis_name='i')(jnp.arange(64.).reshape(8, 8))
    jax.pmap(lambda v: lax.all_to_all(v, 'i', 0, 0), axis_name='i')(jnp.arange(64.).reshape(8, 8))
    jax.pmap(lambda v: lax.all_to_all(v, 'i', 0, 1), axis_name='i')(jnp.arange(192.).reshape(8, 8, 3))
    jax.pmap(lambda v: lax.all_gather(v, 'i', axis=1, tiled=True), axis_name='i')(jnp.arange(32.).reshape(8, 2, 2))
    [jax.pmap(lambda v: lax.psum(v, 'i'), axis_name='i')(v.astype(t)) for t in ('int8', 'uint16', 'int32', 'float16', 'bfloat16', 'complex64')][:5]
    [jax.pmap(lambda v: lax.pmax(v, 'i'), axis_name='i')(v.astype(t)) for t in ('int8', 'uint16', 'int32', 'float16', 'bfloat16', 'float32')]
    jax.pmap(lambda v: lax.psum(v, 'j'), axis_name='i')(v)
    jax.grad(lambda v: jax.pmap(lambda w: jnp.sin(w))(v).sum())(v)
    jax.pmap(jax.grad(lambda w: w ** 2))(v), jax.pmap(jax.grad(lambda w: lax.psum(w ** 2, 'i')), axis_name='i')(v)
    jax.grad(lambda v: jax.pmap(lambda w: lax.psum(w ** 2, 'i'), axis_name='i')(v).sum())(v)
    jax.jvp(jax.pmap(lambda w: lax.psum(w ** 2, 'i'), axis_name='i'), (v,), (v,))
    jax.jit(jax.pmap(lambda v: v * 2))(v), jax.vmap(jax.pmap(lambda v: v * 2))(jnp.ones((3, 8)))
    jax.pmap(lambda v: v.shape[0])(m)
    jax.pmap(lambda v: 's')(v)
    jax.pmap(lambda v: 1 / 0)(v)
    jax.pmap(3)
    jax.pmap(lambda v: v * 2)(v)[2], jax.pmap(lambda v: v * 2)(v).addressable_shards[1]
    jax.pmap(lambda k: jax.random.normal(k, ()))(jax.random.split(jax.random.key(0), 8))
    str(jax.make_jaxpr(jax.pmap(lambda v: lax.psum(v, 'i'), axis_name='i'))(v))
    # shard_map.
    (lambda y: (y, y.sharding))(S(lambda b: lax.psum(b, 'x'), P('x', 'y'), P(None, 'y'))(z))
    S(lambda b: b * 2, P('x', 'y'), P('x', 'y'))(z).sharding
    S(lambda b: lax.psum(b.sum(), ('x', 'y')), P('x', 'y'), P())(z)
    S(lambda b: b, P('x', 'y'), P('x'), check_vma=False)(z)
    S(lambda b: b, P('x'), P('x'))(jnp.ones(6))
    S(lambda b: b, P('x', 'y'), P('x', 'y'))(v)
    S(lambda b: b, P('q'), P('x'))(v)
    S(lambda b: b, (P('x'), P('x')), P('x'))(v)
    S(lambda a, b: a + b, P('x'), P('x'))(v, v)
    S(lambda b: b[0], P('x'), P('x'))(v)
    S(lambda b: lax.all_gather(b, 'x', tiled=True), P('x'), P(None), check_vma=False)(v)
    S(lambda b: lax.axis_index('x') + b, P('x'), P('x'))(v)
    S(lambda b: lax.axis_index(('x', 'y')) + b, P(('x', 'y')), P(('x', 'y')))(v)
    str(jax.make_jaxpr(S(lambda b: lax.psum(b, 'x'), P('x', 'y'), P(None, 'y'), check_vma=False))(z))
    jax.grad(lambda z: S(lambda b: lax.psum(b ** 2, 'x'), P('x', 'y'), P(None, 'y'))(z).sum())(z)
    jax.grad(lambda z: S(lambda b: lax.psum(b ** 2, 'x'), P('x', 'y'), P(None, 'y'), check_vma=False)(z).sum())(z)
    jax.grad(lambda w: S(lambda w, b: lax.psum((w * b).sum(), ('x', 'y')), (P(), P('x', 'y')), P())(w, z))(2.)
    jax.grad(lambda z: S(lambda b: jnp.sin(b) * lax.pmean(b, 'y'), P('x', 'y'), P('x', 'y'))(z).sum())(z)
    jax.grad(jax.jit(lambda z: S(lambda b: lax.psum(jnp.sin(b).sum(), ('x', 'y')), P('x', 'y'), P())(z)))(z)
    jax.grad(lambda z: (S(lambda b: lax.all_gather(b, 'x', tiled=True) ** 2, P('x'), P(None, 'x'), check_vma=False)(z)).sum())(m)
    S(lambda w, b: jax.grad(lambda w: (w * b).sum())(w)[None, None], (P(), P('x', 'y')), P('x', 'y'), check_vma=False)(2., z)
    jax.jit(S(lambda b: lax.psum(b, 'x'), P('x', 'y'), P(None, 'y')))(z)
    S(lambda b: lax.scan(lambda c, t: (c + t, c), lax.pcast(jnp.zeros(4), 'x', to='varying'), b)[0], P('x'), P('x'))(z)
    S(lambda d: d['a'] + d['b'], (P('x'),), P('x'))({'a': v, 'b': v})
    S(lambda d: d['a'] + d['b'], ({'a': P('x'), 'b': P()},), P('x'))({'a': v, 'b': 1.})
    S(lambda a: (a, a), P('x'), (P('x'),))(v)
    S(lambda a: 1 / 0, P('x'), P('x'))(v)
    jax.shard_map(lambda a: a, in_specs=P('x'), out_specs=P('x'))(v)
    S(lambda b: lax.psum(b, 'y'), P('x'), P('x'))(v)
    S(lambda b: lax.psum(1, 'y') * b * lax.axis_size('x'), P('x'), P('x'))(v)
    jax.vmap(S(lambda b: lax.psum(b, 'x'), P('x'), P()))(m)
    jax.vmap(S(lambda b: lax.psum(b, 'x'), P('x'), P()), in_axes=1, out_axes=1)(m)
    S(lambda b: lax.ppermute(b, 'x', [(i, (i + 1) % 4) for i in range(4)]), P('x'), P('x'))(v)
    S(lambda b: lax.all_to_all(b, 'x', 1, 0, tiled=True), P('x'), P(None, 'x'))(z)
    S(lambda b: lax.psum_scatter(b, 'x', tiled=True), P(None), P('x'))(v)
    S(lambda b: lax.cond(lax.axis_index('x') > 1, lambda b: b * 2, lambda b: b, b), P('x'), P('x'))(v)
    S(lambda b: lax.while_loop(lambda c: c.sum() < 10 * (1 + lax.axis_index('x')), lambda c: c + 1, b), P('x'), P('x'))(v)
    S(lambda b: lax.fori_loop(0, 3, lambda i, c: c + lax.pmean(c, 'x'), b), P('x'), P('x'))(v)
    S(lambda b: (b if b.sum() > 0 else b), P('x'), P('x'))(z)
    S(lambda b: np.asarray(b), P('x'), P('x'))(z)
    (lambda w: S(lambda b: b * w, P('x'), P('x'))(v))(jnp.float32(3.))
    # Types that say along which axes values differ.
    S(lambda b: b.sum(), P('x', 'y'), P())(z)
    S(lambda b: b, P('x', 'y'), P('x'))(z)
    S(lambda b: lax.all_gather(b, 'x', tiled=True), P('x'), P(None))(v)
    S(lambda b: lax.pmax(b, 'x'), P('x'), P())(v)
    S(lambda b: lax.axis_index('x'), P('x'), P())(v)
    S(lambda w, b: jax.grad(lambda w: (w * b).sum())(w), (P(), P('x', 'y')), P())(2., z)
    S(lambda w, b: jax.grad(lambda w: lax.psum((w * b).sum(), ('x', 'y')))(w), (P(), P('x', 'y')), P())(2., z)
    S(lambda w, b: jax.grad(lambda b: lax.psum((w * b ** 2).sum(), ('x', 'y')))(b), (P(), P('x', 'y')), P('x', 'y'))(2., z)
    S(lambda w, b: jax.value_and_grad(lambda w: (jnp.tanh(b @ w)).sum())(w)[1], (P(), P('x')), P())(jnp.ones(4), z / 31)
    S(lambda b: lax.scan(lambda c, t: (c + t, c), jnp.zeros(4), b)[0], P('x'), P('x'))(z)
    S(lambda b: lax.cond(lax.axis_index('x') > 1, lambda: 1., lambda: 2.) + 0 * b, P('x'), P('x'))(v)
    S(jax.jit(lambda b: lax.psum(b * 2., 'x')), P('x'), P())(v)
    str(jax.make_jaxpr(S(lambda b: lax.psum(b, 'x'), P('x', 'y'), P(None, 'y')))(z))
    str(jax.make_jaxpr(S(lambda b: lax.psum(b, 'x') * b, P('x', 'y'), P('x', 'y')))(z))
    (lambda seen: (S(lambda b: (seen.append(str(jax.typeof(b))), b)[1], P('x', 'y'), P('x', 'y'))(z), seen)[1])([])
    (lambda seen: (S(lambda b: (seen.append(str(jax.typeof(lax.psum(b, 'x')))), b)[1], P('x', 'y'), P('x', 'y'))(z), seen)[1])([])
    jax.grad(lambda w: S(lambda b: b * w, P('x'), P('x'))(v).sum())(3.)
""")


def results(system, lines):
    paths = [str(HERE.parents[1] / "python"), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    environment.pop("XLA_FLAGS", None)
    program = [sys.executable, str(HERE / "device_program.py"), system]
    done = subprocess.run(program, input=json.dumps(lines), capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr
    return dict(zip(lines, json.loads(done.stdout.splitlines()[-1])))


@pytest.fixture(scope="module")
def both(jax_oracle):
    return results("pullback", LINES), results("jax", LINES)


def check_same(ours, theirs, line):
    if isinstance(theirs, dict) and "elements" in theirs:
        assert isinstance(ours, dict) and [ours.get(key) for key in ("dtype", "shape")] == [theirs["dtype"], theirs["shape"]], line
        np.testing.assert_allclose(ours["elements"], theirs["elements"], rtol=2e-6, atol=1e-6, err_msg=line)
    elif isinstance(theirs, list) and isinstance(ours, list):
        assert len(ours) == len(theirs), line
        for one, other in zip(ours, theirs):
            check_same(one, other, line)
    elif isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys():
        for key in theirs:
            check_same(ours[key], theirs[key], line)
    else:
        assert ours == theirs, f"{line}\n ours  {ours!r}\n JAX's {theirs!r}"


@pytest.mark.parametrize("line", LINES)
def test_devices_as_in_jax(line, both):
    check_same(both[0][line], both[1][line], line)


OURS = {
    # A NaN wins; JAX's CPU collectives lose it, depending on the order of the devices.
    "jax.pmap(lambda v: lax.pmax(jnp.where(v == 3, jnp.nan, v), 'i'), axis_name='i')(v).tolist()": repr([float("nan")] * 8),
    # A collective that not all devices reach is an error, not a wait without end.
    "S(lambda b: lax.cond(lax.axis_index('x') > 1, lambda b: lax.psum(b, 'x'), lambda b: b, b), P('x'), P('x'), check_vma=False)(v)": {
        "error": "RuntimeError"
    },
    # An exception on one device ends all of them.
    "S(lambda b: lax.psum(jax.pure_callback(lambda x: 1 // int(x[0]) + x, b, b), 'x'), P('x'), P('x'), check_vma=False)(v)": {
        "error": "RuntimeError"
    },
    # Axes of pmap count from the end too.
    "jax.pmap(lambda v: v, in_axes=-1)(jnp.arange(16.).reshape(2, 8)).shape": [8, 2],
}


@pytest.fixture(scope="module")
def alone():
    return results("pullback", list(OURS))


@pytest.mark.parametrize("line", OURS)
def test_devices_of_pullback(line, alone):
    found = alone[line]
    assert repr(found) == OURS[line] if isinstance(OURS[line], str) else found == OURS[line]


def test_one_device_without_flags():
    program = "import pullback as jax; print(jax.devices(), jax.numpy.ones(2).sharding)"
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "python")}
    environment.pop("XLA_FLAGS", None)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout.strip() == "[CpuDevice(id=0)] SingleDeviceSharding(device=CpuDevice(id=0), memory_kind=device)", done.stderr


@pytest.mark.parametrize("how", ["environment", "config"])
def test_a_setting_says_how_many_devices_there_are(how):
    update = "jax.config.update('jax_num_cpu_devices', 3);" if how == "config" else ""
    program = f"import pullback as jax; {update} print(jax.device_count())"
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "python")}
    environment.pop("XLA_FLAGS", None)
    if how == "environment":
        environment["JAX_NUM_CPU_DEVICES"] = "3"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout.strip() == "3", done.stderr


@pytest.mark.alone
def test_the_user_can_interrupt_devices():
    program = """
import os, signal, threading, time
import pullback as jax, pullback.numpy as jnp
from pullback import lax
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    jax.pmap(lambda v: lax.while_loop(lambda c: lax.psum(c, "i") > -1, lambda c: c + 1e-9, v), axis_name="i")(jnp.ones(2))
except KeyboardInterrupt:
    print("interrupted", float(jax.pmap(lambda v: v * 2)(jnp.ones(2)).sum()))
"""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "python"), "JAX_NUM_CPU_DEVICES": "2"}
    environment.pop("XLA_FLAGS", None)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    assert done.stdout.strip() == "interrupted 4.0", done.stderr


def test_kinds_of_memory_that_devices_do_not_read_are_refused():
    import pullback as jax

    device = jax.devices()[0]
    mesh = jax.make_mesh((1,), ("x",))
    P = jax.sharding.PartitionSpec
    for make in (
        lambda kind: jax.sharding.SingleDeviceSharding(device, memory_kind=kind),
        lambda kind: jax.sharding.NamedSharding(mesh, P("x"), memory_kind=kind),
        lambda kind: jax.sharding.NamedSharding(mesh, P("x")).with_memory_kind(kind),
    ):
        text = "Could not find memory addressable by device cpu. Device cpu can address the following memory kinds: device, pinned_host, unpinned_host. Got memory kind: moon"
        with pytest.raises(ValueError, match=text):
            make("moon")
        assert make("pinned_host") is not None
