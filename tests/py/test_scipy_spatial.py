"""Rotations are those of JAX, and where JAX has none or NaN, what the mathematics says."""

import importlib

import numpy as np
import pytest
from differential import Asked, check_equal, lines_of, run

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402


def names(system):
    jnp, transform = system.numpy, importlib.import_module(f"{system.__name__}.scipy.spatial.transform")
    rng, R = np.random.RandomState(0), transform.Rotation
    q, Q, v, V = (jnp.asarray(rng.randn(*shape)) for shape in [(4,), (3, 4), (3,), (3, 3)])
    return {
        "jax": system, "jnp": jnp, "np": np, "R": R, "Slerp": transform.Slerp, "q": q, "Q": Q, "v": v, "V": V, "w": jnp.array([1.0, 2.0, 3.0]),
        "a": R.from_quat(q), "A": R.from_quat(Q), "b": R.from_rotvec(v), "B": R.from_rotvec(V), "I": R.identity(),
    }


OURS, THEIRS = names(pullback), Asked("scipy_spatial", names(jax))
WIDE_THEIRS = Asked("scipy_spatial_wide", lambda: names(jax))
CASES = lines_of("""
    a
    R.from_quat(q).as_quat()
    R.from_quat(Q).as_quat()
    R.from_quat(-Q).as_quat(canonical=True)
    R.from_quat(Q).as_quat(scalar_first=True)
    R.from_quat([0,0,0,1])
    R.from_quat(jnp.zeros(4))
    R.from_quat(jnp.arange(4))
    R.from_quat(jnp.ones((2,2,4)))
    R.from_rotvec(v).as_rotvec()
    R.from_rotvec(V).as_rotvec()
    R.from_rotvec(jnp.zeros(3)).as_rotvec()
    R.from_rotvec(jnp.array([90.,0,0]),degrees=True)
    R.from_rotvec(v).as_rotvec(degrees=True)
    R.from_rotvec(v*1e-4).as_rotvec()
    R.from_rotvec(v*5).as_rotvec()
    R.from_rotvec([1,2,3])
    R.from_rotvec(jnp.arange(3))
    R.from_mrp(v)
    R.from_mrp(V)
    a.as_mrp()
    A.as_mrp()
    R.from_mrp(v).as_mrp()
    a.as_matrix()
    A.as_matrix()
    R.from_matrix(a.as_matrix())
    R.from_matrix(A.as_matrix())
    R.from_matrix(jnp.eye(3))
    R.from_matrix(jnp.diag(jnp.array([1.,-1,-1])))
    R.from_matrix(jnp.diag(jnp.array([-1.,1,-1])))
    R.from_matrix(jnp.diag(jnp.array([-1.,-1,1])))
    R.from_matrix(V)
    R.from_matrix(np.eye(3))
    R.from_matrix(jnp.eye(3,dtype=int))
    R.from_euler("x",0.3)
    R.from_euler("x",90,degrees=True)
    R.from_euler("xyz",v)
    R.from_euler("XYZ",v)
    R.from_euler("zxz",V)
    R.from_euler("xy",v[:2])
    R.from_euler("xy",V[:,:2])
    R.from_euler("x",v)
    R.from_euler("x",v[:,None])
    R.from_euler("x",jnp.array([0.3]))
    R.from_euler("xYz",v)
    R.from_euler("abc",v)
    R.from_euler("",v)
    R.from_euler("xyzx",v)
    R.from_euler("xyz",v[:2])
    R.from_euler("xyz",[1,2,3])
    R.from_euler("xyz",jnp.arange(3))
    R.from_euler("xxz",v)
    a.as_euler("xyz")
    a.as_euler("XYZ")
    a.as_euler("zxz")
    a.as_euler("ZXZ",degrees=True)
    A.as_euler("zyx")
    A.as_euler("zyz")
    a.as_euler("xy")
    a.as_euler("xxz")
    a.as_euler("xYz")
    a.as_euler("abc")
    I.as_euler("zxz")
    R.from_euler("zxz",jnp.array([.3,0.,.4])).as_euler("zxz")
    R.identity(dtype=int)
    R.concatenate([A,B])
    R.concatenate([])
    a.apply(v)
    a.apply(V)
    A.apply(v)
    A.apply(V)
    A.apply(V,inverse=True)
    a.apply(v,inverse=True)
    a.apply([1,2,3])
    a.apply(jnp.ones(2))
    A.apply(jnp.ones((2,3)))
    a.inv()
    A.inv()
    a.magnitude()
    A.magnitude()
    a.mean()
    A.mean(jnp.ones(2))
    a.single
    A.single
    a*b
    a*B
    A*b
    A*B
    len(A)
    len(a)
    A[0]
    A[:2]
    A[jnp.array([0,1])]
    a[0]
    bool(a)
    a._fields
    list(A)
    tuple(a)
    jax.tree.leaves(a)
    jax.jit(lambda r: r*r)(a)
    jax.jit(lambda q: R.from_quat(q).as_matrix())(q)
    jax.vmap(lambda q: R.from_quat(q).as_rotvec())(Q)
    jax.vmap(lambda q: R.from_quat(q))(Q)
    jax.grad(lambda q: R.from_quat(q).as_matrix().sum())(q)
    jax.grad(lambda v: R.from_rotvec(v).apply(w)[0])(v)
    jax.grad(lambda v: R.from_euler("xyz",v).apply(w)[0])(v)
    jax.grad(lambda v: R.from_rotvec(v).as_rotvec()[0])(v)
    jax.grad(lambda v: R.from_rotvec(v).magnitude())(v)
    jax.jit(lambda v: R.from_matrix(v).as_quat())(a.as_matrix())
    jax.grad(lambda m: R.from_matrix(m).as_quat()[0])(a.as_matrix())
    jax.grad(lambda v: R.from_rotvec(v).as_mrp()[0])(v)
    jax.grad(lambda v: R.from_rotvec(v).as_euler("xyz")[0])(v)
    Slerp.init(jnp.arange(3.),A)
    Slerp.init(jnp.arange(3.),A)(1.5)
    Slerp.init(jnp.arange(3.),A)(jnp.array([0.,.5,1.,1.7,2.]))
    Slerp.init(jnp.arange(3.),A)([0.,.5])
    Slerp.init([0,1,2],A)(0.25)
    Slerp.init(jnp.array([0.,2.,1.]),A)
    Slerp.init(jnp.arange(2.),A)
    Slerp.init(jnp.arange(1.),A[:1])
    Slerp.init(jnp.arange(3.),a)
    Slerp.init(jnp.ones((3,1)),A)
    Slerp.init(jnp.arange(3.),A)(-1.)
    Slerp.init(jnp.arange(3.),A)(jnp.ones((2,2)))
    jax.jit(lambda t: Slerp.init(jnp.arange(3.),A)(t).as_quat())(.3)
    jax.grad(lambda t: Slerp.init(jnp.arange(3.),A)(t).as_quat()[0])(.3)
    R.from_quat(q.astype("float16")).as_matrix()
    I
""")
SEQUENCES = ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "yzy", "zxz", "XYZ", "ZYX", "YZX", "XZX", "YXY", "ZXZ"]
CASES += [f"A.as_euler({seq!r}, degrees=True)" for seq in SEQUENCES] + [f"R.from_euler({seq!r}, V)" for seq in SEQUENCES]


@pytest.mark.parametrize("line", CASES)
def test_as_jax(line):
    check_equal(run(line, OURS), run(line, THEIRS), line, 5e-5)


@pytest.mark.parametrize("line", ["a", "A.as_rotvec()", "R.from_matrix(A.as_matrix())", "(a * B).as_euler('zyx')", "Slerp.init([0, 1, 2], A)(0.3)"])
def test_as_jax_in_double_precision(line):
    with pullback.enable_x64(True), jax.enable_x64(True):
        check_equal(run(line, names(pullback)), run(line, WIDE_THEIRS), line, 1e-6)


def same(one, other, atol=1e-12):
    """Whether rotations are equal, whatever the signs of their quaternions."""
    np.testing.assert_allclose(one.as_matrix(), other.as_matrix(), atol=atol)


@pytest.fixture
def wide():
    with pullback.enable_x64(True):
        yield names(pullback)


@pytest.mark.parametrize("seq", SEQUENCES)
def test_angles_lead_back(wide, seq):
    same(wide["R"].from_euler(seq, wide["A"].as_euler(seq)), wide["A"])


@pytest.mark.parametrize("seq", SEQUENCES)
def test_angles_of_aligned_axes_lead_back(wide, seq):
    for middle in (0.0, np.pi) if seq[0] == seq[2] else (-np.pi / 2, np.pi / 2):
        aligned = wide["R"].from_euler(seq, np.array([0.3, middle, 0.4]))
        angles = aligned.as_euler(seq)
        assert float(angles[2]) == 0.0
        same(wide["R"].from_euler(seq, angles), aligned, 1e-7)


def test_forms_lead_back(wide):
    R, A = wide["R"], wide["A"]
    for back in (R.from_matrix(A.as_matrix()), R.from_mrp(A.as_mrp()), R.from_rotvec(A.as_rotvec()), A.inv().inv(), A * A.inv() * A):
        same(back, A)
    tiny = np.array([1e-9, -2e-9, 3e-10])
    np.testing.assert_allclose(R.from_rotvec(tiny).as_rotvec(), tiny, rtol=1e-14)


def test_rotation_vectors_have_derivatives_at_zero(wide):
    R, zero = wide["R"], np.zeros(3)
    turned = pullback.jacobian(lambda v: R.from_rotvec(v).apply(wide["w"]))(zero)
    np.testing.assert_allclose(turned, -np.cross(np.eye(3), wide["w"]).T * -1, atol=1e-15)
    np.testing.assert_allclose(pullback.jacobian(lambda v: R.from_rotvec(v).as_rotvec())(zero), np.eye(3), atol=1e-15)


def test_several_at_once(wide):
    R, a, b, A = (wide[name] for name in ("R", "a", "b", "A"))
    joined = R.concatenate([a, b, A])
    assert len(joined) == 5 and not R.concatenate([a]).single
    same(joined[1], b)
    np.testing.assert_array_equal(R.identity(3).quat, [[0, 0, 0, 1]] * 3)


def test_the_mean_is_nearest(wide):
    R, vectors = wide["R"], 1e-3 * wide["V"]
    weights = np.array([1.0, 2.0, 5.0])
    # Of small rotations it is that of the mean vector.
    np.testing.assert_allclose(R.from_rotvec(vectors).mean(weights).as_rotvec(), weights @ vectors / 8, atol=1e-8)
    same(R.concatenate([wide["a"], wide["a"]]).mean(), wide["a"])


def test_random_rotations_are_uniform():
    rotations = pullback.scipy.spatial.transform.Rotation.random(pullback.random.key(0), 20_000)
    assert rotations.quat.shape == (20_000, 4) and pullback.scipy.spatial.transform.Rotation.random(pullback.random.key(0)).single
    matrices = np.asarray(rotations.as_matrix())
    np.testing.assert_allclose(matrices.mean(0), np.zeros((3, 3)), atol=0.02)
    np.testing.assert_allclose((matrices**2).mean(0), np.full((3, 3), 1 / 3), atol=0.02)


def test_interpolation_turns_evenly_and_on(wide):
    R, Slerp = wide["R"], wide["Slerp"]
    ends = R.from_euler("z", np.array([[0.0], [10.0], [40.0]]), degrees=True)
    angles = Slerp.init(np.array([0.0, 1.0, 3.0]), ends)(np.array([-1.0, 0.5, 2.0, 5.0])).as_euler("xyz", degrees=True)[:, 2]
    np.testing.assert_allclose(angles, [-10.0, 5.0, 25.0, 70.0], atol=1e-12)


@pytest.mark.parametrize("call", ["R.from_quat(np.ones(3))", "R.from_matrix(np.ones((2, 2)))", "R.from_rotvec(np.ones(4))", "a.apply(np.ones(2))"])
def test_shapes_are_checked(call):
    assert isinstance(run(call, OURS), ValueError)
