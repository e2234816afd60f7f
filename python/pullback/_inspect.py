"""Looking into compiled functions."""

from pullback import _core


def inspect(fun):
    """A function that shows, for given arguments, what `fun` becomes: its jaxpr, fused program and machine code.

    The attribute ``kernels`` of the result runs each kernel by itself and gives its µs, bytes, operations and part of the
    machine's measured roof.
    """

    def inspect_f(*args, **kwargs):
        return _core.inspect(_core.stage_call(fun, args, kwargs))

    return inspect_f


def print_environment_info(return_string=False):
    """Versions of what is in use."""
    import platform
    import sys

    import numpy

    import pullback

    text = f"pullback: {pullback.__version__}\nnumpy: {numpy.__version__}\npython: {sys.version}\nplatform: {platform.platform()}"
    if return_string:
        return text
    print(text)
