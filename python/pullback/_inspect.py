"""Looking into compiled functions."""

from pullback import _core


def inspect(fun):
    """A function that shows, for given arguments, what `fun` becomes: its jaxpr, fused program and machine code.

    What it gives prints as a summary that fits a screen, and unfolds stage by stage in a notebook.

    Args:
      fun: a function of trees of arrays.
    Returns: a function with the arguments of `fun` that gives an object with the texts `jaxpr`, `simplified`, `before` and `after`
      fusion, `report`, `machine_code`, and `details` (all of them). Its attribute `kernels` runs each kernel by itself and gives its
      µs, bytes, operations and part of the machine's measured roof (that of the caches for arrays that fit there).
    Raises:
      TypeError: when called with what is no tree of arrays.
    Differentiable: no; nothing is computed.
    Example:
      >>> shown = str(jax.inspect(lambda x: x + 1.0)(2.0))
      >>> "add" in shown
      True
    """

    def inspect_f(*args, **kwargs):
        return _core.inspect(_core.stage_call(fun, args, kwargs))

    return inspect_f


def print_environment_info(return_string=False):
    """Prints the versions of what is in use.

    Args:
      return_string: give the text instead of printing it.
    Returns: None, or the text.
    Differentiable: no; it takes no arrays.
    Example:
      >>> jax.print_environment_info(return_string=True).splitlines()[0].startswith("pullback: ")
      True
    """
    import platform
    import sys

    import numpy

    import pullback

    text = f"pullback: {pullback.__version__}\nnumpy: {numpy.__version__}\npython: {sys.version}\nplatform: {platform.platform()}"
    if return_string:
        return text
    print(text)
