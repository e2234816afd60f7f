"""Random numbers from a generator with a state, as NumPy's: a key and a reference that counts the draws."""

import dataclasses as _dataclasses
import operator as _operator
import typing as _typing

from pullback._core import user_error as _user_error
from pullback.tree_util import register_dataclass as _register_dataclass


def _shape(size):
    if size is None:
        return ()
    try:
        return (_operator.index(size),)
    except TypeError:
        return tuple(size)


def _drawn_shape(size, *operands):
    """The shape that is asked for; of the operands where none is."""
    from pullback import numpy as jnp

    return jnp.broadcast_shapes(*map(jnp.shape, operands)) if size is None else _shape(size)


@_register_dataclass
@_dataclasses.dataclass(frozen=True, slots=True)
class StatefulPRNG:
    """A generator of random numbers that remembers what it gave. A tree: it may be an argument of transformed functions.

    Made by `stateful_rng`.
    """

    _base_key: _typing.Any
    _counter: _typing.Any

    def key(self, shape=()):
        """A new key, or an array of them."""
        from pullback import numpy as jnp, random

        if self._base_key.shape:
            raise _user_error(ValueError, "cannot operate on split stateful generator: use it within vmap, or index it")
        count = self._counter[...]
        self._counter[...] = count + jnp.ones_like(count)
        key = random.fold_in(self._base_key, count)
        return random.split(key, _shape(shape)) if _shape(shape) else key

    def split(self, num):
        """A generator with a leading axis of `num` independent ones, for `vmap`."""
        from pullback import new_ref, numpy as jnp

        keys = self.key(num)
        return StatefulPRNG(keys, new_ref(jnp.zeros(keys.shape, jnp.int32)))

    def spawn(self, n_children):
        """A list of independent generators."""
        from pullback import new_ref, numpy as jnp

        keys = self.key(n_children)
        return [StatefulPRNG(keys[k], new_ref(jnp.zeros((), jnp.int32))) for k in range(n_children)]

    def random(self, size=None, *, dtype=float):
        """Numbers between 0 and 1."""
        from pullback import random

        return random.uniform(self.key(), _shape(size), dtype)

    def uniform(self, low=0, high=1, size=None, *, dtype=float):
        """Numbers between `low` and `high`."""
        from pullback import random

        return random.uniform(self.key(), _drawn_shape(size, low, high), dtype, minval=low, maxval=high)

    def normal(self, loc=0, scale=1, size=None, *, dtype=float):
        """Normal numbers of mean `loc` and standard deviation `scale`."""
        from pullback import numpy as jnp, random

        drawn = random.normal(self.key(), _drawn_shape(size, loc, scale), dtype)
        return jnp.asarray(loc, drawn.dtype) + jnp.asarray(scale, drawn.dtype) * drawn

    def integers(self, low, high=None, size=None, *, dtype=int):
        """Integers from `low` to `high`, exclusive; from 0 to `low` without `high`."""
        from pullback import random

        low, high = (0, low) if high is None else (low, high)
        return random.randint(self.key(), _drawn_shape(size, low, high), low, high, dtype)


def stateful_rng(seed=None, *, impl=None):
    """A generator of random numbers with a state.

    Args:
      seed: an integer; from the system's source of randomness when None.
      impl: the generator of bits, as for `jax.random.key`.
    Returns: a `StatefulPRNG`.
    Raises:
      TypeError: there is no seed inside of a transformation; the seed is no integer.
    Differentiable: no; numbers that it draws are constants.
    Example:
      >>> from pullback.experimental.random import stateful_rng
      >>> rng = stateful_rng(0)
      >>> print(rng.uniform(size=(2,)))
      [0.8423141  0.18237865]
    """
    import pullback
    from pullback import numpy as jnp, random

    if seed is None:
        if not pullback.core.trace_state_clean():
            raise _user_error(
                TypeError, "When used within transformed code, jax.experimental.random.stateful_rng() requires an explicit seed to be set."
            )
        import os

        seed = int.from_bytes(os.urandom(4), "little") >> 1
    return StatefulPRNG(random.key(seed, impl=impl), pullback.new_ref(jnp.zeros((), jnp.int32)))
