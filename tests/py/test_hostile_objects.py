"""Objects that lie, raise, recurse or change while they are read: an exception, never a crash, a hang or foreign memory.

What once ended the process runs in a process of its own.
"""

import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import pullback as jax
import pullback.numpy as jnp


def run(program, timeout=60, **environment):
    """The output of a program in a process of its own; a crash or hang of it is a failure here."""
    program = "import numpy as np, pullback as jax, pullback.numpy as jnp\n" + program
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout, env=environment, check=False)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stderr[-2000:]}"
    return done.stdout


# --- arrays of NumPy -----------------------------------------------------------------------------------------------


def test_methods_of_subclasses_of_ndarray_are_not_asked():
    class Lying(np.ndarray):
        def copy(self, *args, **kwargs):
            return b"A" * 64

        def astype(self, *args, **kwargs):
            return self

        view = reshape = __array__ = ravel = copy

    plain = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    for array in (plain.T, plain[::2, ::3], plain.astype(">f4"), plain.astype(">i8"), np.asfortranarray(plain)):
        expected = np.array(array, array.dtype.newbyteorder("="))
        assert np.array_equal(jnp.asarray(array.view(Lying)), expected)
        assert np.array_equal(jax.jit(lambda x: x)(array.view(Lying)), expected)


def test_a_class_is_not_believed_from_an_attribute():
    for claimed in (np.ndarray, np.float32, np.generic):
        liar = type("Liar", (), {"__class__": claimed})()
        for call in (jnp.asarray, jnp.sin, jax.jit(lambda x: x), lambda x: jnp.ones(2) + x, jax.device_put, jnp.array):
            with pytest.raises(TypeError):
                call(liar)


def test_an_array_is_rebuilt_from_an_array_only():
    rebuild = jnp.ones(2).__reduce__()[0]
    for state in (b"A" * 64, None, 3, [1.0], "text", object(), np.float32(1.0)):
        with pytest.raises(TypeError):
            rebuild(state, False)


def test_a_copy_of_an_array_that_is_written_meanwhile_stays_as_it_is():
    shared, is_over = np.zeros(1 << 16, np.float32), threading.Event()

    def write():
        while not is_over.is_set():
            np.add(shared, 1.0, out=shared)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(50):
            taken = jnp.asarray(shared)
            assert np.array_equal(np.array(taken), np.array(taken))
    finally:
        is_over.set()
        thread.join()


@pytest.mark.parametrize("flags", [0, 2, 4, 6, 8, 12, 0x18, 0x1C, 0x38, 0x58, 0x98, 0x9C, 0x118, 0x11C])
def test_buffers_for_all_flags(flags):
    for make in (lambda: jnp.arange(6.0).reshape(2, 3), lambda: jnp.ones(()), lambda: jnp.zeros((0, 3)), lambda: jnp.ones((1, 4, 1))):
        x = make()
        try:
            view = x.__buffer__(flags)
        except BufferError:
            assert flags & 0x58 == 0x58 and x.shape == (2, 3), "only the order of columns is refused"
            continue
        assert view.nbytes == x.nbytes and view.readonly
        assert bytes(view) == np.asarray(x).tobytes()
        view.release()


def test_writable_buffers_are_refused():
    for flags in (1, 9, 0x1D, -1, 2**31 - 1):
        with pytest.raises(BufferError):
            jnp.ones((2, 3)).__buffer__(flags)


# --- recursion -----------------------------------------------------------------------------------------------------


def nested(depth, kind=list):
    tree = 1.0
    for _ in range(depth):
        tree = {"a": tree} if kind is dict else kind((tree,))
    return tree


def inside_itself(kind):
    tree = kind()
    tree.update(a=tree, b=1.0) if kind is dict else tree.extend([1.0, tree])
    return tree


@jax.tree_util.register_pytree_node_class
class Endless:
    def tree_flatten(self):
        return (self, self), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls()


WALKS = {
    "flatten": jax.tree_util.tree_flatten, "leaves": jax.tree_util.tree_leaves, "structure": jax.tree_util.tree_structure,
    "map": lambda tree: jax.tree.map(lambda x: x, tree), "paths": jax.tree_util.tree_flatten_with_path,
    "jit": jax.jit(lambda tree: 0), "grad": jax.grad(lambda tree: 0.0), "result": lambda tree: jax.jit(lambda: tree)(),
    "vmap": jax.vmap(lambda tree: tree), "scan": lambda tree: jax.lax.scan(lambda c, x: (c, x), tree, jnp.ones(2)),
    "device_put": jax.device_put, "map of two": lambda tree: jax.tree.map(lambda x, y: x, tree, tree),
}


@pytest.mark.parametrize("walk", WALKS)
def test_trees_without_end_raise(walk):
    for tree in (inside_itself(list), inside_itself(dict), nested(100_000), nested(100_000, tuple), nested(100_000, dict), Endless()):
        with pytest.raises(RecursionError):
            WALKS[walk](tree)


def test_lists_without_end_are_no_arrays():
    for convert in (jnp.asarray, jnp.array):
        with pytest.raises(RecursionError):
            convert(inside_itself(list))
        with pytest.raises(ValueError):
            convert(nested(1000))


def test_trees_of_some_depth_work():
    tree = nested(1500)
    leaves, structure = jax.tree_util.tree_flatten(tree)
    assert leaves == [1.0] and structure == jax.tree_util.tree_structure(nested(1500))
    assert jax.jit(lambda tree: 0)(tree) == 0


def test_trees_in_a_thread_with_a_small_stack_raise():
    found = []

    def walk():
        for tree in (nested(100_000), inside_itself(dict)):
            try:
                jax.tree_util.tree_flatten(tree)
            except RecursionError as error:
                found.append(error)

    before = threading.stack_size(512 << 10)
    try:
        thread = threading.Thread(target=walk)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(found) == 2


def test_structures_deeper_than_the_stack():
    def deep():
        structure = jax.tree_util.tree_structure(0)
        for _ in range(100_000):
            structure = jax.tree_util.treedef_tuple([structure])
        return structure

    one, other = deep(), deep()
    assert one == other and hash(one) == hash(other) and len(repr(one)) == 3 * 100_000 + len("PyTreeDef(*)")
    for use in (pickle.dumps, lambda t: t.unflatten([1]), lambda t: t.compose(t), lambda t: t.flatten_up_to(nested(100_000, tuple))):
        with pytest.raises(RecursionError):
            use(one)


def test_jax_array_that_gives_itself():
    class Same:
        def __jax_array__(self):
            return self

    for call in (jnp.asarray, jnp.sin, lambda x: jnp.ones(2) + x, lambda x: jnp.stack([x])):
        with pytest.raises(TypeError):
            call(Same())


# --- code of the user that runs where it should not -----------------------------------------------------------------


def test_static_arguments_may_call_the_function_when_they_go():
    run("""
f = jax.jit(lambda s, x: x + 1, static_argnums=0)
class Static:
    def __init__(self, n): self.n = n
    def __hash__(self): return hash(self.n)
    def __eq__(self, other): return type(other) is Static and self.n == other.n
    def __del__(self): f(None, 1.0)
for n in range(8300):
    f(Static(n), 1.0)
assert f._cache_size() < 8300
""", timeout=300)


def test_static_arguments_of_one_hash_are_let_go():
    run("""
f = jax.jit(lambda s, x: x, static_argnums=0)
class Static:
    def __init__(self, n): self.n = n
    def __hash__(self): return 7
    def __eq__(self, other): return self.n == other.n
for n in range(300): assert f(Static(n), 1.0) == 1.0
assert f._cache_size() == 300
""")


def test_caches_are_cleared_while_others_trace():
    errors, is_over = [], threading.Event()

    def trace():
        while not is_over.is_set():
            try:
                jax.jit(lambda x: x + 1)(1.0)
            except Exception as error:  # noqa: BLE001
                errors.append(error)

    threads = [threading.Thread(target=trace) for _ in range(4)]
    [thread.start() for thread in threads]
    try:
        for _ in range(200):
            jax.clear_caches()
    finally:
        is_over.set()
        [thread.join() for thread in threads]
    assert not errors


class Raising:
    def __iter__(self):
        return self

    def __next__(self):
        raise ZeroDivisionError("asked for an item")


def test_iterators_that_always_raise():
    for call in (lambda it: jnp.reshape(jnp.ones(3), it), jnp.zeros, lambda it: jnp.ones(3).reshape(it), lambda it: jnp.broadcast_to(1.0, it)):
        with pytest.raises((TypeError, ZeroDivisionError)):
            call(Raising())


def lying(**methods):
    return type("Lying", (), methods)()


def raising(*_args, **_kwargs):
    raise ZeroDivisionError


LIARS = {
    "negative length": lambda: lying(__len__=lambda s: -1, __getitem__=lambda s, i: 1.0),
    "huge length": lambda: lying(__len__=lambda s: 2**62, __getitem__=raising),
    "raising length": lambda: lying(__len__=raising, __getitem__=raising, __iter__=raising),
    "raising index": lambda: lying(__index__=raising), "huge index": lambda: lying(__index__=lambda s: 2**100),
    "index of text": lambda: lying(__index__=lambda s: "1"), "raising float": lambda: lying(__float__=raising),
    "float of text": lambda: lying(__float__=lambda s: "1"), "raising bool": lambda: lying(__bool__=raising, __len__=raising),
    "raising hash": lambda: lying(__hash__=raising), "raising eq": lambda: lying(__eq__=raising, __hash__=lambda s: 1),
    "raising repr": lambda: lying(__repr__=raising, __str__=raising), "raising attribute": lambda: lying(__getattr__=raising),
    "raising array": lambda: lying(__array__=raising), "array of bytes": lambda: lying(__array__=lambda s, *a, **k: b"AAAA"),
    "array of itself": lambda: (lambda x: setattr(type(x), "__array__", lambda s, *a, **k: s) or x)(lying()),
    "array interface": lambda: lying(__array_interface__={"shape": (2**40,), "typestr": "<f4", "data": (0, True), "version": 3}),
    "raising interface": lambda: lying(__array_interface__=property(raising)),
    "raising jax_array": lambda: lying(__jax_array__=raising), "jax_array of text": lambda: lying(__jax_array__=lambda s: "text"),
    "shape and dtype": lambda: lying(shape=(2**70, -1), dtype="nothing"), "shape of text": lambda: lying(shape="ab", dtype=np.float32),
    "raising dtype": lambda: lying(dtype=property(raising), shape=()), "iterates itself": lambda: (lambda x: setattr(type(x), "__iter__", lambda s: iter([s])) or x)(lying()),
}
CALLS = {
    "asarray": jnp.asarray, "array": jnp.array, "sin": jnp.sin, "add": lambda x: jnp.ones(2) + x, "eq": lambda x: jnp.ones(2) == x,
    "zeros": jnp.zeros, "reshape": lambda x: jnp.ones(4).reshape(x), "index": lambda x: jnp.arange(4)[x], "axis": lambda x: jnp.sum(jnp.ones(2), axis=x),
    "dtype": lambda x: jnp.zeros(2, dtype=x), "jit": jax.jit(lambda x: 0), "static": jax.jit(lambda x: 0, static_argnums=0),
    "flatten": jax.tree_util.tree_flatten, "map": lambda x: jax.tree.map(lambda y: y, x), "grad": jax.grad(lambda x: 0.0),
    "vmap": lambda x: jax.vmap(lambda y: y)(x), "in_axes": lambda x: jax.vmap(lambda y: y, in_axes=x)(jnp.ones(2)),
    "stack": jnp.stack, "concatenate": jnp.concatenate, "argnums": lambda x: jax.grad(lambda y: y, argnums=x)(1.0), "key": jax.random.key,
    "eval_shape": lambda x: jax.eval_shape(lambda y: y, x), "full": lambda x: jnp.full((2,), x), "dict key": lambda x: jax.tree_util.tree_flatten({x: 1, 2: 3}),
    "scan": lambda x: jax.lax.scan(lambda c, y: (c, y), 0, None, length=x), "permutation": lambda x: jnp.transpose(jnp.ones((2, 3)), x),
    "returned": lambda x: jax.jit(lambda: x)(), "device_put": jax.device_put, "where": lambda x: jnp.where(x, 1, 2), "linspace": lambda x: jnp.linspace(0, 1, x),
}


@pytest.mark.parametrize("call", CALLS)
def test_objects_that_lie_raise_an_exception(call):
    for name, make in LIARS.items():
        try:
            CALLS[call](make())
        except Exception as error:  # noqa: BLE001
            text = "" if name in ("raising repr", "raising attribute") else str(error)
            assert "internal error" not in text and type(error).__name__ != "PanicException", f"{name}: {text}"


def test_containers_that_change_while_they_are_flattened():
    @jax.tree_util.register_pytree_node_class
    class Clearing:
        def __init__(self, of):
            self.of = of

        def tree_flatten(self):
            self.of.clear()
            return (1.0,), None

        @classmethod
        def tree_unflatten(cls, _, children):
            return cls([])

    def tree(kind):
        of = kind()
        of.update({"a": Clearing(of), "b": [1.0] * 50, "c": 2.0}) if kind is dict else of.extend([Clearing(of), [1.0] * 50, 2.0])
        return of

    for kind in (list, dict):
        for walk in (jax.tree_util.tree_flatten, jax.jit(lambda tree: 0), lambda t: jax.tree.map(lambda x: x, t)):
            try:
                walk(tree(kind))
            except Exception as error:  # noqa: BLE001
                assert "internal error" not in str(error)


def test_keys_that_change_their_dictionary_when_compared():
    tree = {}

    class Key:
        def __lt__(self, other):
            tree.clear()
            return True

    tree.update({Key(): 1.0, Key(): 2.0, Key(): 3.0})
    with pytest.raises((KeyError, ValueError)):
        jax.tree_util.tree_flatten(tree)


# --- the environment ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, text", [
    ("PULLBACK_NUM_THREADS", "-1"), ("PULLBACK_NUM_THREADS", "many"), ("PULLBACK_NUM_THREADS", "100000000"),
    ("PULLBACK_AWAKE_US", "soon"), ("PULLBACK_POOL_BYTES", "-5"), ("PULLBACK_ENGINE", "steam"),
    ("JAX_ENABLE_X64", "perhaps"), ("JAX_NUM_CPU_DEVICES", "x"), ("JAX_NUM_CPU_DEVICES", "100000000"),
    ("XLA_FLAGS", "--xla_force_host_platform_device_count=100000000"), ("XLA_FLAGS", "--xla_force_host_platform_device_count=x"),
    ("JAX_NUMPY_RANK_PROMOTION", "never"), ("JAX_DEFAULT_PRNG_IMPL", "dice"),
])
def test_variables_that_mean_nothing_are_errors_that_name_them(name, text):
    program = "import pullback as jax; jax.devices()"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), name: text}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert done.returncode == 1 and "ValueError" in done.stderr
    assert name in done.stderr.upper(), done.stderr[-500:]


def test_variables_that_mean_something_are_read():
    environment = {"PULLBACK_NUM_THREADS": "2", "JAX_ENABLE_X64": "on", "XLA_FLAGS": "--a=b --xla_force_host_platform_device_count=3"}
    assert run("print(jnp.ones(1).dtype, len(jax.devices()))", **environment) == "float64 3\n"
