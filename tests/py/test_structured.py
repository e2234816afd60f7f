"""Convolutions, windows, generic reductions and the like give what `jax.lax` gives."""

import numpy as np
import pytest
from differential import Asked, check_equal, lines_of, names_of, run

import pullback

jax = pytest.importorskip("jax")
import jax.numpy  # noqa: E402


def names(system):
    jnp = system.numpy
    rng = np.random.RandomState(0)

    def a(*shape):
        return jnp.asarray(rng.randn(*shape).astype("float32"))

    return names_of(system) | {
        "X1": a(2, 4, 7), "W1": a(6, 4, 3), "W1g": a(6, 2, 3), "X2": a(2, 3, 6, 5), "W2": a(4, 3, 3, 2), "XL": a(2, 6, 5, 3),
        "WL": a(3, 2, 3, 4), "X3": a(1, 2, 4, 5, 3), "W3": a(3, 2, 2, 2, 2), "I1": jnp.asarray(rng.randint(-5, 5, (2, 4, 7))),
        "J1": jnp.asarray(rng.randint(-5, 5, (6, 4, 3))), "C1": a(2, 4, 7) + 1j * a(2, 4, 7), "D1": a(6, 4, 3) + 1j * a(6, 4, 3),
        "XB": a(3, 2, 4, 7), "WB": a(3, 6, 4, 3), "WBg": a(3, 6, 2, 3), "P": a(2, 6, 6), "Q": a(5), "S": a(7),
        "G": jnp.asarray([1, 3, 2]), "R": a(6, 3), "K": a(3, 3, 4), "F": a(2, 3, 4), "FC": a(2, 3, 4) + 1j * a(2, 3, 4),
        "conv": lambda *args, **kw: system.lax.conv_general_dilated(*args, **kw),
        "both": lambda f: lambda x, w: system.grad(lambda x, w: (f(x, w) * system.numpy.cos(f(x, w))).sum(), (0, 1))(x, w),
        "sq": lambda f: lambda x: system.grad(lambda x: (f(x) ** 2).sum())(x),
    }


OURS, THEIRS = names(pullback), Asked("structured", names(jax))

CASES = lines_of("""
    lax.conv(X1, W1, (1,), "SAME")
    lax.conv(X1, W1, (2,), "VALID")
    lax.conv(X2, W2, (2, 1), "SAME")
    lax.conv(X2, W2, (1, 1), "FOO")
    lax.conv(X2, W2, (1,), "SAME")
    conv(X1, W1, (1,), "SAME_LOWER")
    conv(X1, W1, (1,), [(2, -1)])
    conv(X1, W1, (2,), [(3, 4)], (3,), (2,))
    conv(X1, W1g, (1,), "SAME", feature_group_count=2)
    conv(X1, W1, (1,), "SAME", batch_group_count=2)
    conv(X1, W1, (1,), "SAME", feature_group_count=3)
    conv(X1, W1, (1,), [(0, 0), (0, 0)])
    conv(X1, W1, (1,), 3)
    conv(X1, W2, (1,), "SAME")
    conv(X1, J1, (1,), "SAME")
    conv(I1, J1, (1,), "SAME")
    conv(I1.astype("int8"), J1.astype("int8"), (1,), "SAME", preferred_element_type="int32")
    conv(C1, D1, (1,), "SAME")
    conv(X1.astype("bfloat16"), W1.astype("bfloat16"), (1,), "SAME")
    conv(X1.astype("float16"), W1.astype("float16"), (1,), "SAME", preferred_element_type="float32")
    conv(XL, WL, (1, 1), "SAME", dimension_numbers=("NHWC", "HWOI", "NHWC"))
    conv(XL, jnp.moveaxis(WL, 3, 2)[:, :, :3], (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "CNHW"))
    conv(X2, W2, (1, 1), "SAME", dimension_numbers=("NCWH", "OIHW", "NCHW"))
    conv(X2, W2, (1, 1), "SAME", dimension_numbers=("NCHH", "OIHW", "NCHW"))
    conv(X3, W3, (1, 2, 1), "SAME")
    conv(X1[:, :, 0], W1[:, :, 0], (), ())
    conv(X1[:0], W1, (1,), "SAME")
    both(lambda x, w: conv(x, w, (1,), "SAME"))(X1, W1)
    both(lambda x, w: conv(x, w, (2,), [(3, 4)], (3,), (2,)))(X1, W1)
    both(lambda x, w: conv(x, w, (2,), [(1, -2)]))(X1, W1)
    both(lambda x, w: conv(x, w, (2,), "SAME", feature_group_count=2))(X1, W1g)
    both(lambda x, w: conv(x, w, (2,), "SAME", batch_group_count=2))(X1, W1)
    both(lambda x, w: conv(x, w, (2, 1), "SAME"))(X2, W2)
    both(lambda x, w: conv(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))(XL, jnp.moveaxis(WL, 3, 2)[:, :, :3])
    jax.vmap(lambda x, w: lax.conv(x, w, (2,), "SAME"))(XB, WB)
    jax.vmap(lambda x: lax.conv(x, W1, (2,), "SAME"), 1, 2)(jnp.moveaxis(XB, 0, 1))
    jax.vmap(lambda w: lax.conv(X1, w, (2,), "SAME"))(WB)
    jax.vmap(lambda x, w: conv(x, w, (2,), "SAME", feature_group_count=2))(XB, WBg)
    jax.vmap(lambda x: conv(x, W1g, (2,), "SAME", feature_group_count=2))(XB)
    jax.vmap(lambda w: conv(X1, w, (2,), "SAME", feature_group_count=2))(WBg)
    jax.vmap(lambda x, w: conv(x, w, (2,), "SAME", batch_group_count=2))(XB, WB)
    jax.vmap(lambda x: conv(x, W1, (2,), "SAME", batch_group_count=2))(XB)
    jax.vmap(lambda w: conv(X1, w, (2,), "SAME", batch_group_count=2))(WB)
    jax.vmap(both(lambda x, w: lax.conv(x, w, (2,), "SAME")))(XB, WB)
    jax.jit(lambda x, w: lax.conv(x, w, (1,), "SAME") + 1)(X1, W1)
    jax.jvp(lambda x, w: lax.conv(x, w, (1,), "SAME"), (X1, W1), (X1, W1))
    lax.conv_with_general_padding(X1, W1, (1,), [(1, 1)], (2,), (1,))
    lax.conv_transpose(XL, jnp.moveaxis(WL, 3, 2)[:, :, :3], (2, 2), "SAME")
    lax.conv_transpose(XL, jnp.moveaxis(WL, 3, 2)[:, :, :3], (2, 3), "VALID")
    lax.conv_transpose(XL, jnp.moveaxis(WL, 2, 3)[:, :, :2], (2, 2), "SAME", transpose_kernel=True)
    lax.conv_transpose(XL, jnp.moveaxis(WL, 3, 2)[:, :, :3], (2, 2), [(1, 1), (0, 1)])
    lax.conv_general_dilated_patches(X2, (2, 3), (1, 2), "SAME")
    lax.conv_general_dilated_patches(XL, (2, 3), (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    lax.conv_general_dilated_local(X1, jnp.ones((5, 12, 5)), (1,), "VALID", (3,))
    lax.conv_dimension_numbers((1, 2, 3, 4), (1, 2, 3, 4), ("NHWC", "HWIO", "NHWC")) == ((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    lax.conv_general_permutations(("NHWC", "WHIO", "NHWC"))
    tuple(map(int, lax.conv_general_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (1, 1), "SAME", ("NHWC", "HWIO", "NHWC"))))
    tuple(map(int, lax.conv_shape_tuple((1, 3, 8), (4, 3, 3), (2,), "SAME")))
    tuple(map(int, lax.conv_transpose_shape_tuple((1, 8, 8, 3), (3, 3, 3, 4), (2, 2), "SAME", ("NHWC", "HWIO", "NHWC"))))
    lax.padtype_to_pads((5, 6), (3, 2), (2, 1), "SAME")
    lax.padtype_to_pads((5, 6), (3, 2), (2, 1), "VALID")
    lax.padtype_to_pads((5, 6), (3, 2), (2, 1), "X")
    jnp.convolve(S, Q)
    jnp.convolve(Q, S, mode="same")
    jnp.convolve(S, Q, "valid")
    jnp.convolve(i, i)
    jnp.convolve(c, x)
    jnp.convolve(m, x)
    jnp.convolve(x[:0], x)
    jnp.convolve(x, x, mode="foo")
    jnp.correlate(S, Q)
    jnp.correlate(Q, S, "full")
    jnp.correlate(Q, S, "same")
    jnp.correlate(c, c * 2j, "full")
    jax.grad(lambda s: jnp.convolve(s, s).sum())(S)
    lax.reduce_window(P, 0.0, lax.add, (1, 2, 2), (1, 2, 1), "SAME")
    lax.reduce_window(P, -jnp.inf, lax.max, (1, 2, 3), (1, 1, 2), "VALID")
    lax.reduce_window(P, jnp.inf, lax.min, (1, 2, 3), (1, 1, 2), "SAME")
    lax.reduce_window(P, 0.0, lax.max, (1, 2, 3), (1, 1, 2), "SAME")
    lax.reduce_window(P, 1.0, lax.mul, (1, 2, 3), (1, 1, 2), "SAME")
    lax.reduce_window(P, 0.0, lax.add, (1, 2, 2), None, [(0, 0), (1, 2), (-1, 0)], (1, 2, 1), (1, 1, 2))
    lax.reduce_window(P, -jnp.inf, lax.max, (1, 2, 2), None, "VALID", (1, 2, 1), (1, 1, 2))
    sq(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2), None, "VALID", None, (1, 1, 2)))(P)
    lax.reduce_window(i, 0, lax.add, (2,), (1,), "SAME")
    lax.reduce_window(i, -2147483648, lax.max, (2,), (1,), "SAME")
    lax.reduce_window(h, 0.0, lax.add, (2,), (1,), "SAME")
    lax.reduce_window(n, -jnp.inf, lax.max, (2,), (1,), "VALID")
    lax.reduce_window(b, False, lax.bitwise_or, (2,), (1,), "VALID")
    lax.reduce_window((x, i), (0.0, 1), lambda s, t: (s[0] + t[0], s[1] * t[1]), (2,), (1,), "VALID")
    lax.reduce_window(P, 0.0, lax.add, (1, 0, 2), (1, 1, 1), "SAME")
    lax.reduce_window(P, 0.0, lax.add, (1, 2), (1, 1, 1), "SAME")
    lax.reduce_window_shape_tuple((5, 6), (2, 3), (1, 2), [(0, 1), (1, 1)])
    sq(lambda y: lax.reduce_window(y, 0.0, lax.add, (1, 2, 2), (1, 2, 1), "SAME"))(P)
    sq(lambda y: lax.reduce_window(y, 0.0, lax.add, (1, 2, 2), (1, 1, 2), "VALID", (1, 2, 1), (1, 2, 1)))(P)
    sq(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID"))(P)
    sq(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 3, 3), (1, 2, 2), "SAME"))(P)
    sq(lambda y: lax.reduce_window(y, jnp.inf, lax.min, (1, 3, 3), (1, 2, 1), "VALID"))(P)
    jax.grad(lambda y: jax.grad(lambda y: (lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID") ** 3).sum())(y).sum())(P)
    jax.jvp(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID"), (P,), (P * 2,))
    jax.vmap(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID"))(P)
    jax.vmap(lambda y: lax.reduce_window(y, 0.0, lax.add, (2, 2), (2, 2), "VALID"), 2, 1)(P)
    jax.vmap(sq(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")))(P)
    jax.vmap(lambda y: lax.reduce_window(y, 1.0, lax.mul, (2, 2), (2, 2), "VALID"))(P)
    jax.jit(lambda y: lax.reduce_window(y * 2, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID") + 1)(P)
    lax.reduce(P, 0.0, lax.add, (0, 2))
    lax.reduce(P, 1.0, lax.add, (0, 2))
    lax.reduce(P, -jnp.inf, lax.max, (1,))
    lax.reduce(P, 1.0, lax.mul, (1,))
    lax.reduce(i, 0, lax.bitwise_or, (0,))
    lax.reduce(b, True, lax.bitwise_and, (0,))
    lax.reduce(P, 0.0, lambda s, t: s + 2 * t, (1,))
    lax.reduce(P, 0.5, lambda s, t: s * 0.5 + t, (2, 0))
    lax.reduce((x, i), (0.0, 1), lambda s, t: (s[0] + t[0], s[1] * t[1]), (0,))
    lax.reduce(P, 0.0, lax.add, (7,))
    lax.reduce(P, 0.0, lax.add, (1, 1))
    lax.reduce(x[:0], 2.0, lambda s, t: s + 2 * t, (0,))
    jax.vmap(lambda y: lax.reduce(y, 0.0, lambda s, t: s + 2 * t, (1,)))(P)
    jax.jit(lambda y: lax.reduce(y, 0.0, lambda s, t: s + 2 * t, (1,)))(P)
    lax.top_k(P, 2)
    lax.top_k(P, 3, axis=1)
    lax.top_k(i8, 2)
    lax.top_k(n, 3)
    lax.top_k(P, 9)
    jax.vmap(lambda y: lax.top_k(y, 2)[1], 2)(P)
    sq(lambda y: lax.top_k(y, 2)[0])(P)
    sq(lambda y: lax.top_k(y, 2, axis=1)[0])(P)
    lax.approx_max_k(P, 2)
    lax.approx_min_k(P, 2)
    lax.approx_max_k(P, 2, reduction_dimension=1)
    lax.ragged_dot(R, K, G)
    lax.ragged_dot(R, K, jnp.array([1, 0, 3]))
    jax.grad(lambda r, k: (lax.ragged_dot(r, k, G) ** 2).sum(), (0, 1))(R, K)
    lax.scatter_apply(x, i[:2, None], lambda v: v * 10, lax.ScatterDimensionNumbers((), (0,), (0,)), update_shape=(2,))
    lax.scatter_apply(x, i[:1, None].repeat(2, 0), lambda v: v * 10, lax.ScatterDimensionNumbers((), (0,), (0,)), update_shape=(2,))
    lax.index_take(P, (jnp.array([0, 1]), jnp.array([2, 3])), (0, 2))
    lax.platform_dependent(x, cpu=lambda v: v + 1, default=lambda v: v)
    lax.shape_as_value((2, 3))
    lax.fft(F, "fft", (4,))
    lax.fft(FC, lax.FftType.IFFT, (3, 4))
    lax.fft(F, lax.FftType.RFFT, (3, 4))
    lax.fft(FC, "irfft", (3, 6))
    lax.fft(FC, "irfft", (3, 7))
    lax.fft(F, lax.FftType.RFFT, (5,))
    lax.fft(F, "foo", (4,))
    lax.fft(h, "rfft", (3,))
    lax.fft(FC, "rfft", (4,))
    lax.fft(F, "fft", (2, 2, 3, 4))
    jax.grad(lambda y: jnp.abs(lax.fft(y, "rfft", (3, 4))).sum())(F)
    jax.grad(lambda y: (lax.fft(y, "irfft", (3, 6)) ** 2).sum())(FC)
    jax.grad(lambda y: (lax.fft(y, "irfft", (7,)) ** 2).sum())(FC)
    jax.grad(lambda y: jnp.abs(lax.fft(y, "ifft", (3, 4))).sum())(FC)
    jax.vmap(lambda y: lax.fft(y, "fft", (2,)), 1)(FC)
    jax.jit(lambda y: lax.fft(y * 2, "fft", (4,)))(FC)
    jnp.fft.fft(F)
    jnp.fft.fft(F, n=6, axis=1, norm="ortho")
    jnp.fft.fft(F, n=2)
    jnp.fft.ifft(FC, norm="forward")
    jnp.fft.rfft(F, n=5)
    jnp.fft.rfft(i)
    jnp.fft.rfft(c)
    jnp.fft.irfft(FC)
    jnp.fft.irfft(FC, n=5, norm="forward")
    jnp.fft.hfft(FC, norm="ortho")
    jnp.fft.hfft(FC)
    jnp.fft.ihfft(F)
    jnp.fft.fft2(F)
    jnp.fft.fft2(F, axes=(0, 1))
    jnp.fft.fft2(x)
    jnp.fft.ifft2(F)
    jnp.fft.rfft2(F)
    jnp.fft.irfft2(FC)
    jnp.fft.fftn(F)
    jnp.fft.fftn(F, s=(2, 3))
    jnp.fft.fftn(F, s=(2,), axes=(0, 1))
    jnp.fft.fftn(F, axes=(1, 1))
    jnp.fft.ifftn(F, axes=(0, 2))
    jnp.fft.rfftn(F)
    jnp.fft.irfftn(FC, s=(2, 3, 5))
    jnp.fft.fft(F, norm="foo")
    jnp.fft.fft(F, n=0)
    jnp.fft.fft(F, axis=(0,))
    jnp.fft.fft(F, axis=5)
    jnp.fft.fft(jnp.ones(3, "float16"))
    jnp.fft.fftfreq(5)
    jnp.fft.fftfreq(6, 0.5)
    jnp.fft.rfftfreq(6)
    jnp.fft.fftshift(F)
    jnp.fft.ifftshift(F, axes=1)
""")


@pytest.mark.parametrize("line", CASES)
def test_eager(line):
    check_equal(run(line, OURS), run(line, THEIRS), line, 3e-4)


JITTED = [line for line in CASES if line.startswith(("conv(", "lax.conv(", "lax.reduce", "lax.fft(", "lax.top_k", "both(", "sq("))]


@pytest.mark.parametrize("line", JITTED)
def test_jit_gives_the_bits_of_eager(line):
    eager = run(line, OURS)
    if isinstance(eager, Exception) or not hasattr(eager, "dtype"):
        return
    jitted = pullback.jit(lambda: eval(line, dict(OURS)))()
    np.testing.assert_array_equal(np.asarray(eager), np.asarray(jitted), err_msg=line)


PROGRAMS = lines_of("""
    lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME") @ X1, W1
    jax.grad(lambda x, w: lax.conv_general_dilated(x, w, (2,), "SAME").sum(), (0, 1)) @ X1, W1
    jax.grad(lambda x, w: lax.conv_general_dilated(x, w, (2,), [(3, 4)], (3,), (2,)).sum(), (0, 1)) @ X1, W1
    lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "SAME") @ P
    jax.grad(lambda y: lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2), (1, 2, 2), "SAME").sum()) @ P
    jax.grad(lambda y: lax.reduce_window(y, 0.0, lax.add, (1, 2, 2), (1, 2, 2), "SAME").sum()) @ P
    lambda y: lax.reduce_window(y, 1.0, lax.mul, (1, 2, 2), (1, 2, 2), "SAME") @ P
    lambda y: lax.top_k(y, 2) @ P
    lambda a: lax.linalg.lu(a) @ P
    lambda a: lax.linalg.qr(a) @ P
    lambda a: lax.linalg.svd(a) @ P
    lambda a: lax.linalg.eig(a) @ P
    lambda a: lax.linalg.hessenberg(a) @ P
    lambda a: lax.linalg.tridiagonal(a) @ P
    lambda a: lax.linalg.triangular_solve(a, a) @ P
    lambda a: lax.linalg.symmetric_product(a, a) @ P
    lambda a: lax.linalg.householder_product(a, a[..., 0]) @ P
""")


@pytest.mark.parametrize("line", PROGRAMS)
def test_jaxpr_prints_as_the_reference_prints_it(line):
    import re

    function, _, arguments = line.partition(" @ ")

    def text(system, env):
        made = system.make_jaxpr(eval(function, env))(*eval(f"({arguments},)", env))
        text = re.sub(r"np\.int64\((-?\d+)\)", r"\1", str(made))
        # Where lines break depends on how numbers print.
        return re.sub(r"\s+", " ", text).replace("[ ", "[").replace(" ]", "]")

    assert text(pullback, OURS) == text(jax, THEIRS)
