"""Generators of random numbers as objects, and the hash behind the default one."""

import functools as _functools

import numpy as _np

from pullback import _core
from pullback._core import user_error as _user_error

__all__ = [
    "define_prng_impl", "random_seed", "rbg_prng_impl", "seed_with_impl", "threefry2x32_p", "threefry_2x32", "threefry_prng_impl",
    "unsafe_rbg_prng_impl",
]


class _Generator(str):
    """A generator: its name, which the functions of `jax.random` take for `impl`, its tag and the shape of its keys."""

    __slots__ = ("key_shape", "name", "tag")

    def __new__(cls, name, tag, key_shape):
        found = super().__new__(cls, name)
        found.name, found.tag, found.key_shape = name, tag, key_shape
        return found

    def __repr__(self):
        return self.tag


threefry_prng_impl = _Generator("threefry2x32", "fry", (2,))
rbg_prng_impl = _Generator("rbg", "rbg", (4,))
unsafe_rbg_prng_impl = _Generator("unsafe_rbg", "urbg", (4,))


def define_prng_impl(*, key_shape, seed, split, random_bits, fold_in, name="<unnamed>", tag="?"):
    """Would make a generator of functions of words; not served.

    Args:
      key_shape, seed, split, random_bits, fold_in, name, tag: not looked at.
    Returns: nothing; it raises.
    Raises:
      NotImplementedError: always; the generators are threefry2x32, threefry4x32, philox2x32, philox4x32, rbg and unsafe_rbg.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import random
      >>> try:
      ...     random.define_prng_impl(key_shape=(1,), seed=None, split=None, random_bits=None, fold_in=None)
      ... except NotImplementedError:
      ...     print("no generators of one's own")
      no generators of one's own
    """
    raise _user_error(
        NotImplementedError,
        f"define_prng_impl is not implemented: the generator {name!r} cannot be made of Python functions; there are threefry2x32, "
        "threefry4x32, philox2x32, philox4x32, rbg and unsafe_rbg"
    )


def _checked(impl):
    if not isinstance(impl, _Generator):
        raise _user_error(TypeError, f"impl must be a generator such as threefry_prng_impl, got {impl!r}")
    return impl


def seed_with_impl(impl, seed):
    """A key of a generator from a seed.

    Args:
      impl: a generator, such as `threefry_prng_impl`.
      seed: an integer.
    Returns: a key.
    Raises:
      TypeError: `impl` is none, or the seed is no integer.
    Differentiable: no, keys have no tangents.
    Example:
      >>> from pullback.extend import random
      >>> jax.random.key_data(random.seed_with_impl(random.rbg_prng_impl, 3))
      Array([0, 3, 0, 3], dtype=uint32)
    """
    return random_seed(seed, _checked(impl))


def random_seed(seeds, impl):
    """Keys of a generator from seeds.

    Args:
      seeds: integers of any shape.
      impl: a generator, such as `threefry_prng_impl`.
    Returns: keys of the shape of `seeds`.
    Raises:
      TypeError: `impl` is none, or the seeds are no integers.
    Differentiable: no, keys have no tangents.
    Example:
      >>> from pullback.extend import random
      >>> random.random_seed(jnp.arange(3), random.threefry_prng_impl).shape
      (3,)
    """
    import pullback

    make = _functools.partial(_core.random.key, impl=_checked(impl).name)
    for _ in range(_core.numpy.ndim(seeds)):
        make = pullback.vmap(make)
    return make(seeds)


_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA


def _turned(x, distance):
    lax = _core.lax
    word = lambda value: lax.full_like(x, value)
    return lax.bitwise_or(lax.shift_left(x, word(distance)), lax.shift_right_logical(x, word(32 - distance)))


def _hash(key0, key1, x0, x1):
    """Threefry with two words and 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3, 2011)."""
    lax, n = _core.lax, _core.numpy
    key0, key1, x0, x1 = n.broadcast_arrays(key0, key1, x0, x1)
    keys = key0, key1, lax.bitwise_xor(lax.bitwise_xor(key0, key1), lax.full_like(key0, _PARITY))
    x0, x1 = lax.add(x0, keys[0]), lax.add(x1, keys[1])
    for group in range(5):
        for distance in _ROTATIONS[group % 2]:
            x0 = lax.add(x0, x1)
            x1 = lax.bitwise_xor(x0, _turned(x1, distance))
        x0 = lax.add(x0, keys[(group + 1) % 3])
        x1 = lax.add(lax.add(x1, keys[(group + 2) % 3]), lax.full_like(x1, group + 1))
    return x0, x1


@_functools.cache
def _compiled_hash():
    import pullback

    return pullback.jit(_hash)


@_functools.cache
def _primitive():
    from pullback.core import Primitive, ShapedArray
    from pullback.interpreters import batching, mlir

    prim = Primitive("threefry2x32")
    prim.multiple_results = True
    prim.def_impl(lambda *words: list(_compiled_hash()(*words)))

    def types(*words):
        shape = _np.broadcast_shapes(*(word.shape for word in words))
        return [ShapedArray(shape, _np.dtype("uint32"))] * 2

    prim.def_abstract_eval(types)
    batching.defbroadcasting(prim)
    mlir.register_lowering(prim, mlir.lower_fun(lambda *words: list(_hash(*words)), multiple_results=True))
    return prim


def threefry_2x32(keypair, count):
    """The words of threefry for counters: halves of `count` are hashed in pairs, a zero is added to an odd number.

    Args:
      keypair: uint32 `[2]`.
      count: uint32 of any shape.
    Returns: uint32 of the shape of `count`.
    Raises:
      TypeError: an argument is not uint32. ValueError: the key is not of two words.
    Differentiable: no, words have no tangents.
    Example:
      >>> from pullback.extend import random
      >>> random.threefry_2x32(jnp.array([1, 2], "uint32"), jnp.arange(2, dtype="uint32"))
      Array([ 629003988, 1317161160], dtype=uint32)
    """
    n = _core.numpy
    keypair, count = n.asarray(keypair), n.asarray(count)
    dtypes = [keypair.dtype, keypair.dtype, count.dtype]
    if any(dtype != _np.uint32 for dtype in dtypes):
        raise _user_error(TypeError, f"threefry_2x32 requires uint32 arguments, got {dtypes}")
    if keypair.shape != (2,):
        raise _user_error(ValueError, f"threefry_2x32 requires a key of two words, got shape {keypair.shape}")
    flat = count.ravel()
    padded = n.concatenate([flat, n.zeros(1, "uint32")]) if flat.size % 2 else flat
    half = padded.size // 2
    words = n.concatenate(_primitive().bind(keypair[0], keypair[1], padded[:half], padded[half:]))
    return words[: flat.size].reshape(count.shape)


def __getattr__(name):
    if name == "threefry2x32_p":
        return _primitive()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*__all__]
