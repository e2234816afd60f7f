"""Random numbers of the device's own generators, and the tokens that order effects.

It owns how both are called; what the bits are is the primitive's.
"""

import numpy as _np

from pullback import _core
from pullback._core import user_error as _user_error
from pullback.lax._records import RandomAlgorithm

__all__ = ["after_all", "create_token", "rng_bit_generator", "rng_uniform"]

_WORDS = ("uint8", "uint16", "uint32", "uint64")


def rng_bit_generator(key, shape, dtype=_np.uint32, algorithm=RandomAlgorithm.RNG_DEFAULT, *, out_sharding=None):
    """Random bits of the device's own generator, and its state after them.

    On the CPU the default is Philox-4x32 with ten rounds; both generators are those of Salmon et al., "Parallel random
    numbers: as easy as 1, 2, 3" (2011). Other devices have other bits. Under `vmap` a batch draws its bits at once, with the
    first state.

    Args:
      key: the state: `uint32[4]`, or `uint64[2]` with the low words first.
      shape: the shape of the bits.
      dtype: uint8, uint16, uint32 (the default) or uint64.
      algorithm: a `RandomAlgorithm`: RNG_DEFAULT, RNG_PHILOX or RNG_THREE_FRY.
      out_sharding: how the bits are split over devices: a `NamedSharding`, a spec on the mesh of the context, or None.
    Returns: a pair: the next state, like `key`; and an array of `shape` and `dtype`.
    Raises:
      TypeError: `key` is no state, another dtype or algorithm, or a size is negative.
    Differentiable: no; there are no tangents of integers.
    Example:
      >>> state, bits = jax.lax.rng_bit_generator(jnp.array([1, 2, 3, 4], jnp.uint32), (2,))
      >>> print(state, bits)
      [1 2 4 4] [ 512747620 1298009047]
    """
    dtype = _core.as_dtype(dtype)
    if dtype.name not in _WORDS:
        raise _user_error(TypeError, f"rng_bit_generator: unsupported dtype {dtype}")
    try:
        algorithm = RandomAlgorithm(algorithm)
    except ValueError:
        raise _user_error(TypeError, f"rng_bit_generator: algorithm must be a jax.lax.RandomAlgorithm, got {algorithm!r}") from None
    shape = tuple(int(size) for size in shape)
    if any(size < 0 for size in shape):
        raise _user_error(TypeError, f"rng_bit_generator shape must have every element be nonnegative, got {shape}.")
    primitive = _core.find_primitive("rng_bit_generator")
    state, bits = primitive.bind(key, shape=shape, dtype=dtype, algorithm=algorithm.name, out_sharding=None)
    return state, bits if out_sharding is None else _core.split_call("rng_bit_generator", out_sharding, lambda: bits)


def _drawn(low, high, shape):
    """Numbers of the host's generator, which is seeded by the system."""
    low, high = _np.asarray(low), _np.asarray(high)
    if low.dtype.kind in "iu":
        return _generator.integers(low, _np.maximum(high, low + 1), shape, low.dtype)
    parts = _generator.random(shape)
    wide = low.astype(_np.float64)
    return (wide + (high.astype(_np.float64) - wide) * parts).astype(low.dtype)


_generator = _np.random.default_rng()


def _define_rng_uniform():
    from pullback import ShapeDtypeStruct, pure_callback
    from pullback.core import Primitive, ShapedArray
    from pullback.interpreters import mlir

    def lowered(low, high, *, shape):
        like = ShapeDtypeStruct(shape, low.dtype)
        return pure_callback(lambda low, high: _drawn(low, high, shape), like, low, high)

    primitive = Primitive("rng_uniform")
    def drawn_at_once(low, high, *, shape):
        numbers = _core.numpy.asarray(_drawn(low, high, shape))
        if low.weak_type and high.weak_type:
            return _core.find_primitive("convert_element_type").bind(numbers, new_dtype=numbers.dtype, weak_type=True, sharding=None)
        return numbers

    primitive.def_impl(drawn_at_once)
    primitive.def_abstract_eval(
        lambda low, high, *, shape: ShapedArray(shape, low.dtype, weak_type=low.weak_type and high.weak_type)
    )
    mlir.register_lowering(primitive, mlir.lower_fun(lowered, multiple_results=False))
    return primitive


rng_uniform_p = _define_rng_uniform()


def rng_uniform(a, b, shape):
    """Uniform numbers of a generator that nobody seeds: other ones at each call. `jax.random` has those that can be had again.

    Args:
      a: the least number: a scalar, integer or floating.
      b: a scalar of the same dtype above all numbers.
      shape: the shape of the result.
    Returns: an array of `shape` and of the dtype of `a`. Where `b` is not above `a` the numbers mean nothing.
    Raises:
      ValueError: `a` and `b` are no scalars, or their dtypes differ. TypeError: a dtype that is neither integer nor floating, or
        a size is negative.
      NotImplementedError: a derivative is taken, or it is mapped by `vmap`.
    Differentiable: no.
    Example:
      >>> numbers = jax.lax.rng_uniform(0.0, 1.0, (3,))
      >>> bool(jnp.all((numbers >= 0) & (numbers < 1)))
      True
    """
    a, b = _core.numpy.asarray(a), _core.numpy.asarray(b)
    if a.dtype != b.dtype:
        raise _user_error(ValueError, f"Arguments to rng_uniform must have identical dtypes, got {a.dtype} and {b.dtype}.")
    if a.shape != () or b.shape != ():
        raise _user_error(ValueError, f"Arguments to rng_uniform must be scalars; got shapes {a.shape} and {b.shape}.")
    if a.dtype.kind in "bcV" and "float" not in a.dtype.name:
        raise _user_error(TypeError, f"rng_uniform takes integers or floating numbers, got {a.dtype}")
    shape = tuple(int(size) for size in shape)
    if any(size < 0 for size in shape):
        raise _user_error(TypeError, f"rng_uniform shape must have every element be nonnegative, got {shape}.")
    return rng_uniform_p.bind(a, b, shape=shape)


class Token:
    """What stands for an effect that has happened. Effects have an order of their own here, so it holds nothing but what
    `psend` sent."""

    def __init__(self, sent=None):
        self._sent = sent

    def block_until_ready(self):
        """The token itself: there is nothing to wait for."""
        return self


def create_token(_=None):
    """A token that stands for no effect yet.

    Effects run in the order of the program without tokens; they are there for programs that thread them through. A token
    is no array: it cannot enter or leave a traced function.

    Args:
      _: accepted for compatibility; without effect.
    Returns: a token.
    Differentiable: no; it holds no value.
    Example:
      >>> type(jax.lax.create_token()).__name__
      'Token'
    """
    return Token()


def after_all(*operands):
    """A token that stands for all effects of some tokens.

    Args:
      *operands: tokens.
    Returns: a token.
    Raises:
      TypeError: an operand is no token.
    Differentiable: no; it holds no value.
    Example:
      >>> token = jax.lax.after_all(jax.lax.create_token(), jax.lax.create_token())
      >>> type(token).__name__
      'Token'
    """
    for operand in operands:
        if not isinstance(operand, Token):
            raise _user_error(TypeError, f"Arguments to after_all must be tokens, got {type(operand)}")
    return Token()


for _name in __all__:
    globals()[_name].__module__ = "pullback.lax"
