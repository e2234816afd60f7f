"""Arrays as other libraries and Python's own protocols see them."""

import copy
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp

NAMES = (
    "bool int8 int16 int32 uint8 uint16 uint32 float16 bfloat16 float32 complex64".split()
)


def aligned(n, dtype, offset=0):
    """A NumPy vector whose first element is `offset` bytes after an address that 64 divides."""
    raw = np.zeros(n * np.dtype(dtype).itemsize + 128, np.uint8)
    start = -raw.ctypes.data % 64 + offset
    out = raw[start : start + n * np.dtype(dtype).itemsize].view(dtype)
    out[:] = np.arange(n).astype(dtype)
    return out


# The members that JAX documents


MEMBERS = """
T __abs__ __add__ __and__ __array_namespace__ __contains__ __copy__ __deepcopy__ __divmod__ __eq__ __floordiv__ __getitem__
__hash__ __invert__ __lshift__ __matmul__ __mod__ __mul__ __neg__ __numpy_dtype__ __or__ __pos__ __pow__ __radd__ __rand__
__rdivmod__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __round__ __rpow__ __rrshift__ __rshift__ __rsub__
__rtruediv__ __rxor__ __setitem__ __sub__ __truediv__ __xor__ addressable_data addressable_shards all any argmax argmin
argpartition argsort astype at byteswap choose clip committed compress conj conjugate copy copy_to_host_async cumprod cumsum
device diagonal dot dtype flat flatten global_shards imag is_fully_addressable is_fully_replicated item itemsize mT max mean min
nbytes ndim nonzero prod ptp ravel real repeat reshape round searchsorted shape sharding size sort squeeze std sum swapaxes take
to_device trace transpose var view
""".split()


@pytest.mark.parametrize("name", MEMBERS)
def test_every_documented_member_is_there_with_its_signature(name, jax_oracle):
    ours, theirs = getattr(jax.Array, name), getattr(type(jax_oracle.numpy.ones(3)), name)
    if not callable(theirs) or name.startswith("__"):
        assert callable(ours) == callable(theirs) or name == "__hash__"
        return

    def parameters(function):
        return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()][1:]

    assert parameters(ours) == parameters(theirs)


# Calls of members on `x` (2, 3), `v` (3,), `c` complex, whose results must equal JAX's.
CALLS = """
x.T | x.mT | x.real | c.imag | x.all() | x.any(axis=0) | x.argmax(1) | x.argmin() | v.argsort(descending=True) | x.astype(int)
v.astype(jnp.int16).byteswap() | v.byteswap() | x.clip(1, 3) | v.compress(jnp.array([True, False, True])) | c.conj()
c.conjugate() | x.copy() | x.cumprod(0) | x.cumsum(1) | x.diagonal() | v.dot(v) | x.flatten() | x.item(1, 2) | x.max(0) | x.mean(1)
x.min(initial=-5.0) | x.nonzero() | x.prod(1) | x.ptp() | x.ravel() | v.repeat(2) | x.reshape(3, 2) | x.reshape((6,)) | v.round(1)
v.sort().searchsorted(1.0) | v.sort() | x[None].squeeze(0) | x.std() | x.sum(1, keepdims=True) | x.swapaxes(0, 1)
x.take(jnp.array([0, 5])) | x.trace() | x.transpose(1, 0) | x.var(ddof=1) | x.view(jnp.int32) | x.tolist() | round(v, 1) | v[::-1]
divmod(v, 2) | abs(v) | 2.0 in v | list(reversed(v)) | x.itemsize | x.nbytes | x.ndim | x.size | x.shape | len(x) | x.clone()
x.on_device_size_in_bytes() | x.is_fully_addressable | x.is_fully_replicated | x.committed | x.is_deleted() | x.tobytes()
"""


def check_same(ours, theirs, what):
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs), what
        for one, other in zip(ours, theirs):
            check_same(one, other, what)
    elif hasattr(theirs, "dtype"):
        assert (ours.shape, str(ours.dtype)) == (theirs.shape, str(theirs.dtype)), what
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-6, err_msg=what)
    else:
        assert ours == theirs and type(ours) is type(theirs), what


@pytest.mark.parametrize("call", [call.strip() for line in CALLS.strip().splitlines() for call in line.split("|")])
def test_members_give_what_jax_gives(call, jax_oracle):
    def result(j):
        names = dict(j=j, jnp=j.numpy, x=j.numpy.arange(6.0).reshape(2, 3), v=j.numpy.array([2.25, -1.5, 0.75]))
        names["c"] = names["v"] * (1 + 2j)
        return eval(call, names)

    check_same(result(jax), result(jax_oracle), call)


def test_jax_documents_no_other_member(jax_oracle):
    public = {name for name in vars(jax_oracle.Array) if not name.startswith("_")}
    assert public <= {*MEMBERS, *dir(jax.Array)}


# DLPack


@pytest.mark.parametrize("name", NAMES)
def test_numpy_takes_arrays_and_gives_them_back(name):
    x = jnp.arange(12).reshape(3, 4).astype(name)
    if name != "bfloat16":
        seen = np.from_dlpack(x)
        assert seen.ctypes.data == x.unsafe_buffer_pointer() and not seen.flags.writeable
        np.testing.assert_array_equal(seen, np.asarray(x))
    back = jax.dlpack.from_dlpack(x)
    assert back.unsafe_buffer_pointer() == x.unsafe_buffer_pointer() and back.dtype == x.dtype and back.shape == x.shape
    assert bool((back == x).all())


def test_memory_is_shared_where_it_is_safe():
    source = aligned(5, np.float32)
    assert jax.dlpack.from_dlpack(source).unsafe_buffer_pointer() == source.ctypes.data
    assert jax.dlpack.from_dlpack(source, copy=True).unsafe_buffer_pointer() != source.ctypes.data
    # Not aligned, with steps, or narrowed: copied, and refused where a copy is forbidden.
    for strange in (aligned(5, np.float32, 4), source[::2], source[::-1], aligned(4, np.float32).reshape(2, 2).T, aligned(3, np.float64)):
        np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(strange)), strange.astype(np.float32))
        with pytest.raises(ValueError, match="needs a copy"):
            jax.dlpack.from_dlpack(strange, copy=False)
    assert jax.dlpack.from_dlpack(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert float(jax.dlpack.from_dlpack(np.array(3.0, np.float32))) == 3.0


def test_both_sides_keep_the_memory_alive():
    seen = np.from_dlpack(jnp.full(1000, 7.0))
    gc.collect()
    assert (seen == 7).all()
    taken = jax.dlpack.from_dlpack(aligned(1000, np.float32))
    gc.collect()
    assert float(taken.sum()) == 499500.0
    capsule = jnp.ones(3).__dlpack__()
    del capsule
    gc.collect()


def test_shared_memory_is_not_donated():
    f = jax.jit(lambda v: v + 1, donate_argnums=0)
    x = jnp.ones(4)
    f(x)
    assert x.is_deleted()
    for share in (np.from_dlpack, np.asarray, memoryview, jax.dlpack.from_dlpack):
        x = jnp.ones(4)
        view = share(x)
        f(x)
        assert not x.is_deleted() and np.asarray(view).tolist() == [1.0] * 4
    source = aligned(4, np.float32)
    x = jax.dlpack.from_dlpack(source)
    assert f(x).tolist() == [1.0, 2.0, 3.0, 4.0] and not x.is_deleted() and source.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_what_cannot_be_exchanged_says_so():
    x = jnp.ones(3)
    assert x.__dlpack_device__() == (1, 0)
    with pytest.raises(TypeError, match="must have __dlpack__ and __dlpack_device__"):
        jax.dlpack.from_dlpack(3)
    with pytest.raises(BufferError, match="type 2"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(AttributeError, match="only defined for GPU buffers"):
        x.__cuda_array_interface__
    with pytest.raises(jax.errors.ConcretizationTypeError, match="__dlpack__"):
        jax.jit(lambda v: v.__dlpack__())(x)
    with pytest.raises(TypeError, match="used already"):
        capsule = x.__dlpack__()
        jax._core.from_dlpack_capsule(capsule, None), jax._core.from_dlpack_capsule(capsule, None)
    with pytest.raises(NotImplementedError, match="flatten"):
        x.flat
    assert jax.dlpack.is_supported_dtype("bfloat16") and not jax.dlpack.is_supported_dtype("int4")


# Protocols of Python and NumPy


@pytest.mark.parametrize("name", NAMES)
def test_pickles_and_copies(name):
    x = jnp.arange(6).reshape(2, 3).astype(name)
    for made in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy({"a": [x]})["a"][0]):
        assert made is not x and made.dtype == x.dtype and made.shape == x.shape and bool((made == x).all())
        assert made.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    assert pickle.loads(pickle.dumps(jnp.asarray(1.0))).weak_type


def test_the_buffer_protocol():
    x = jnp.arange(6, dtype=jnp.int16).reshape(2, 3)
    view = memoryview(x)
    assert (view.shape, view.itemsize, view.readonly, view.tolist()) == ((2, 3), 2, True, [[0, 1, 2], [3, 4, 5]])
    assert bytes(jnp.arange(3, dtype=jnp.uint8)) == b"\0\1\2"
    del x
    gc.collect()
    assert view.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(BufferError):
        memoryview(jnp.ones(2, jnp.bfloat16))


def test_numpy_conversion():
    x = jnp.arange(3.0)
    assert not np.asarray(x).flags.writeable and np.array(x).flags.writeable
    assert np.asarray(x).ctypes.data == x.unsafe_buffer_pointer() == np.array(x, copy=False).ctypes.data
    assert np.asarray(x, np.float64).dtype == np.float64
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        np.array(x, dtype=np.int32, copy=False)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        x.__array__(np.int32, copy=False)
    assert x.__array__(np.float32, copy=True).ctypes.data != x.unsafe_buffer_pointer()


def test_arrays_are_held_weakly():
    x = jnp.ones(3)
    alive = weakref.ref(x)
    assert alive() is x
    del x
    assert alive() is None
