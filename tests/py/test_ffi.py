"""`jax.ffi`: handlers that a C++ compiler built with XLA's headers, called by both systems; and what is refused."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import pullback

jax = pytest.importorskip("jax")
NAMES = ("ScaleHandler", "TwoHandler", "FailHandler", "BumpHandler")


@pytest.fixture(scope="module")
def handlers(tmp_path_factory):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    library = tmp_path_factory.mktemp("ffi") / "handlers.so"
    source = Path(__file__).parent / "handlers.cc"
    command = [compiler, "-std=c++17", "-O0", "-shared", "-fPIC", f"-I{pullback.ffi.include_dir()}", str(source), "-o", str(library)]
    subprocess.run(command, check=True, capture_output=True)
    loaded = ctypes.cdll.LoadLibrary(str(library))
    for system in (pullback, jax):
        for name in NAMES:
            system.ffi.register_ffi_target(name, system.ffi.pycapsule(getattr(loaded, name)), platform="cpu")


X = np.arange(6, dtype="f").reshape(2, 3)


def scale(j, x, method=None):
    call = j.ffi.ffi_call("ScaleHandler", j.ShapeDtypeStruct(x.shape, np.float32), vmap_method=method)
    return call(x, factor=np.float32(2), shift=np.int64(3))


def own_slope(j):
    @j.custom_jvp
    def f(x):
        return scale(j, x)

    f.defjvp(lambda primals, tangents: (f(*primals), 2 * tangents[0]))
    return j.grad(lambda x: f(x).sum())


CASES = {
    "called": lambda j: scale(j, X), "compiled": lambda j: j.jit(lambda x: scale(j, x) + 1)(X), "own slope": lambda j: own_slope(j)(X),
    "two results": lambda j: j.ffi.ffi_call("TwoHandler", [j.ShapeDtypeStruct((), np.int32)] * 2)(np.arange(5, dtype="i")),
    **{f"batch {m}": lambda j, m=m: j.vmap(lambda x: scale(j, x, m))(X) for m in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")},
    "batch of another axis": lambda j: j.vmap(lambda x: scale(j, x, "sequential"), in_axes=1, out_axes=1)(X),
    "alias": lambda j: j.ffi.ffi_call("BumpHandler", j.ShapeDtypeStruct((2, 3), np.float32), input_output_aliases={0: 0})(X),
    "scan": lambda j: j.lax.scan(lambda c, x: (c, scale(j, x)), 0, X)[1],
    "failure": lambda j: j.ffi.ffi_call("FailHandler", j.ShapeDtypeStruct((3,), np.float32))(X[0], text="no", numbers=np.array([1, 7], "i")),
    "no attribute": lambda j: j.ffi.ffi_call("ScaleHandler", j.ShapeDtypeStruct((3,), np.float32))(X[0]),
    "another dtype": lambda j: j.ffi.ffi_call("ScaleHandler", j.ShapeDtypeStruct((3,), np.float32))(X[0].astype("i"), factor=np.float32(2), shift=np.int64(3)),
    "another name": lambda j: j.ffi.ffi_call("absent", j.ShapeDtypeStruct((3,), np.float32))(X[0]),
    "slope": lambda j: j.grad(lambda x: scale(j, x).sum())(X), "batch": lambda j: j.vmap(lambda x: scale(j, x))(X), "method": lambda j: scale(j, X, "bad"),
    "list": lambda j: j.ffi.ffi_call("ScaleHandler", j.ShapeDtypeStruct((3,), np.float32))(X[0], factor=[1]),
    "no handler": lambda j: j.ffi.register_ffi_target("x", 3), "no handlers": lambda j: j.ffi.register_ffi_target("x", {"execute": 3}),
    "equations": lambda j: str([(e.primitive.name, e.params["target_name"]) for e in j.make_jaxpr(lambda x: scale(j, x))(X).eqns]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_handlers_do_what_they_do_in_jax(name, handlers):
    def outcome(system):
        try:
            result = CASES[name](system)
            return result if isinstance(result, str) else [np.asarray(x) for x in system.tree.leaves(result)]
        except Exception as error:
            return type(error).__name__

    wanted, found = outcome(jax), outcome(pullback)
    if isinstance(wanted, str):
        assert found == wanted
        return
    for x, y in zip(found, wanted, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)


def test_the_text_of_a_failure_is_the_handlers(handlers):
    with pytest.raises(pullback.errors.JaxRuntimeError, match="no 7"):
        CASES["failure"](pullback)
