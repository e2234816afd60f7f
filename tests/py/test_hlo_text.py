"""Programs as the text of HLO: XLA itself reads what is written, and the words that people look for are there."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import pullback
import pullback.numpy as jnp
from pullback import lax

sys.path.insert(0, str(Path(__file__).parent / "golden"))

CASES = {
    "slices": (lambda x: jnp.pad(x, 1)[::2].T, np.ones((2, 3), "f"), ("pad(", "slice={[0:4:2], [0:5]}", "transpose(")),
    "updates": (lambda x: x.at[jnp.array([0, 1])].add(1.0)[jnp.array([1, 2])], np.ones(4, "f"), ("scatter(", "gather(")),
    "cholesky": (lambda x: jnp.linalg.cholesky(x), np.eye(4, dtype="f"), ("cholesky(", "lower=true")),
    "fft": (lambda x: jnp.fft.fft(x), np.ones(4, "f"), ("fft_type=FFT", "fft_length={4}", "c64[4]{0}")),
    "top_k": (lambda x: lax.top_k(x, 2), np.ones(4, "f"), ("sort(",)),
    "argmax": (lambda x: jnp.argmax(x) + jnp.arange(3), np.ones(4, "f"), ("reduce(", "iota_dimension=0")),
    "barrier": (lambda x: lax.optimization_barrier((x, x)), np.ones(4, "f"), ("opt-barrier(",)),
    "bits": (lambda x: lax.clamp(0.0, lax.bitcast_convert_type(x, jnp.float32), 1.0), np.ones(4, "i"), ("bitcast-convert(", "clamp(")),
    "precision of elements": (lambda x: lax.reduce_precision(x, 5, 2), np.float32(1), ("exponent_bits=5, mantissa_bits=2",)),
    "triangles": (lambda x: lax.linalg.triangular_solve(x, x, left_side=True), np.eye(3, dtype="f"), ("triangular-solve(",)),
    "normal numbers": (lambda x: pullback.random.normal(pullback.random.key(0), (3,)) + x, np.float32(1), ("call(", "chlo.erf_inv")),
    "device's own bits": (lambda x: pullback.random.bits(pullback.random.key(x, impl="rbg"), (3,)), np.int32(1), ("rng-bit-generator(",)),
    "sort": (lambda x: jnp.sort(x), np.ones(3, "f"), ("sort(", "to_apply=")),
    "windows": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 2), "SAME"), np.ones((3, 3), "f"), ("window={size=2x2 stride=1x2",)),
    "selection": (
        pullback.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 2), "SAME").sum()),
        np.ones((3, 3), "f"), ("select-and-scatter(", "select=", "scatter="),
    ),
    "batched product": (lambda x: jnp.einsum("bij,bjk->bik", x, x), np.ones((2, 3, 3), "f"), ("lhs_batch_dims={0}", "rhs_contracting_dims={1}")),
    "precision": (lambda x: jnp.dot(x, x, precision="highest"), np.ones((3, 3), "f"), ("operand_precision={highest,highest}",)),
    "convolution": (
        lambda x: lax.conv_general_dilated(
            x, jnp.ones((3, 3, 2, 4)), (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        np.ones((1, 5, 5, 2), "f"), ("dim_labels=b01f_01io->b01f", "rhs_dilate=1x2"),
    ),
    "numbers": (lambda x: jnp.array([jnp.inf, jnp.nan, 1.5, -0.0]) * x, np.float32(1), ("{inf, nan, 1.5, -0}",)),
    "complex numbers": (lambda x: x * (1 + 2j), np.ones(3, "f"), ("constant((1, 2))",)),
    "half widths": (lambda x: x.astype(jnp.bfloat16) * jnp.bfloat16(1.5), np.ones(2, "f"), ("bf16[2]{0} convert(",)),
    "loop": (lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * x), (0, x)), np.float32(2), ("while(", "condition=", "body=")),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c * y), 0.0, x), np.ones(3, "f"), ("while(", "dynamic-update-slice(")),
    "branches": (
        lambda x: lax.switch(1, [jnp.sin, jnp.cos], x) + lax.cond(x > 0, lambda: (x, x * 2), lambda: (x, x))[1],
        np.float32(2), ("conditional(", "branch_computations={"),
    ),
    "large constants": (lambda x: jnp.arange(100.0) * np.arange(100, dtype="f") + x, np.float32(1), ("constant({...})",)),
    "host calls": (lambda x: pullback.pure_callback(np.sin, x, x), np.float32(1), ("custom_call_target=",)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_xla_reads_it_and_the_words_are_there(name):
    function, x, words = CASES[name]
    text = pullback.jit(function).lower(x).as_text("hlo")
    assert text.startswith("HloModule jit_") and "ENTRY " in text and "ROOT " in text
    assert not [word for word in words if word not in text], text
    if "{...}" not in text:
        _parsed(text)


def _parsed(text):
    hlo = pytest.importorskip("jaxlib._hlo")
    return hlo.hlo_module_from_text(text)


def test_the_layout_and_the_root_are_those_of_xla():
    """Names are ours; types, opcodes and attributes of a program without choices are XLA's."""
    jax = pytest.importorskip("jax")

    def lines(system):
        f = lambda x, y: system.numpy.sin(x) * y + 1  # noqa: E731
        text = system.jit(f).lower(np.ones((2, 3), "f"), np.float32(2)).as_text("hlo")
        shapes = re.findall(r"= (\S+) ([\w-]+)\(", text)
        return text.splitlines()[0].split(", ", 1)[1], sorted(shapes)

    assert lines(pullback) == lines(jax)


def test_compiler_ir_is_the_same_text():
    lowered = pullback.jit(jnp.sin).lower(1.0)
    assert lowered.compiler_ir("hlo").as_hlo_text() == lowered.compiler_ir(dialect="hlo").as_hlo_text() == lowered.as_text("hlo")
    assert lowered.compiler_ir("hlo").name() == "jit_sin"
    with pytest.raises(ValueError, match="unknown dialect: mhlo"):
        lowered.as_text("mhlo")
