"""`checked`: one switch for development, under which what passes silently is an error that names its line."""

import functools

import numpy as np

import pullback
from pullback._config import checks
from pullback.tree_util import tree_flatten, tree_unflatten

_ARRAYS = (pullback.Array, np.ndarray, np.generic, int, float, complex)


def checked(fun=None):
    """The function with checks of everything that otherwise passes in silence; for development, as it runs operation by operation.

    Without a function it is a context in which all that runs is checked so, operations and compiled functions alike. The setting is
    `pullback_checked`.

    An error names the operation, the values and the line. It is

    - IndexError for an index outside of its array, with both;
    - FloatingPointError for a NaN or an infinity that an operation makes of finite numbers;
    - ZeroDivisionError for a division of whole numbers by 0;
    - OverflowError for a conversion to whole numbers that do not hold the value;
    - `jax.errors.KeyReuseError` for a key of random numbers that is used twice;
    - `numpy.linalg.LinAlgError` for a matrix that is singular or not positive definite, and an iteration that does not converge;
    - ValueError for a column and a row of one length that broadcast to a square without being told to, as in `y[:, None] - y`;
    - TypeError for an asked-for dtype that would be truncated.

    Args:
      fun: a function of trees of arrays. It is called once to see what it does and then followed, through `jit`, branches and loops.
    Returns: a function with the arguments and results of `fun`; a context if there is none.
    Raises:
      TypeError: when called inside of another transformation: it looks at values. In a context, what is traced is checked when it runs.
    Differentiable: no; write `checked(jax.grad(f))` to check a gradient.
    Example:
      >>> jax.checked(lambda x, i: x[i])(jnp.arange(3.0), 1)
      Array(1., dtype=float32)
      >>> try:
      ...     jax.checked(lambda x, i: x[i])(jnp.arange(3.0), 3)
      ... except IndexError as error:
      ...     print(str(error).split(":")[0])
      index 3 is out of bounds for axis 0 with size 3
      >>> try:
      ...     with jax.checked():
      ...         jax.jit(jnp.log)(jnp.arange(2.0))
      ... except FloatingPointError as error:
      ...     print(str(error).split(" at ")[0])
      log gave an infinity of finite operands (0.0)
    """
    if fun is None:
        return checks()

    @functools.wraps(fun)
    def checked_f(*args, **kwargs):
        leaves, tree = tree_flatten((args, kwargs))
        arrays = [at for at, leaf in enumerate(leaves) if isinstance(leaf, _ARRAYS) and not isinstance(leaf, bool)]
        if any(isinstance(leaves[at], pullback.core.Tracer) for at in arrays):
            raise TypeError("checked looks at values, so it cannot be inside of jit, grad or vmap; write checked(jax.jit(f))")
        out_tree = None

        def flat(*points):
            nonlocal out_tree
            filled = dict(zip(arrays, points))
            own_args, own_kwargs = tree_unflatten(tree, [filled.get(at, leaf) for at, leaf in enumerate(leaves)])
            out, out_tree = tree_flatten(fun(*own_args, **own_kwargs))
            return tuple(out)

        outs = pullback._core.checked_call(flat, tuple(pullback.numpy.asarray(leaves[at]) for at in arrays))
        return tree_unflatten(out_tree, outs)
    return checked_f
