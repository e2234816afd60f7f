"""Calls of colocated functions."""

import dataclasses as _dataclasses
import functools as _functools

from pullback._core import Array as _Array, Tracer as _Tracer, user_error as _user_error
from pullback.tree_util import tree_leaves as _tree_leaves


@_dataclasses.dataclass(frozen=True)
class Specialization:
    """What is known of a call before it."""

    in_specs: object = None
    out_specs_fn: object = None
    devices: object = None

    def update(self, **specified):
        """With more specified; nothing twice."""
        specified = {name: value for name, value in specified.items() if value is not None}
        for name in specified:
            if getattr(self, name) is not None:
                raise _user_error(ValueError, f"{name} already specified")
        return _dataclasses.replace(self, **specified)


def _check_arrays(tree):
    for leaf in _tree_leaves(tree):
        if isinstance(leaf, _Tracer):
            raise _user_error(NotImplementedError, "colocated_python functions cannot be traced; use jax.pure_callback or jax.experimental.io_callback")
        if not isinstance(leaf, _Array):
            raise _user_error(ValueError, f"colocated_python only supports jax.Array as input and output, but got {type(leaf)}.")


def specialized(fun, known):
    """The colocated function of which something is known."""

    @_functools.wraps(fun)
    def colocated(*args, **kwargs):
        if known.devices is None and not _tree_leaves((args, kwargs)):
            raise _user_error(
                ValueError, "No devices found. colocated_python function without input arguments must be first specialized with devices."
            )
        _check_arrays((args, kwargs))
        out = fun(*args, **kwargs)
        _check_arrays(out)
        return out

    def specialize(in_specs=None, out_specs_fn=None, devices=None):
        return specialized(fun, known.update(in_specs=in_specs, out_specs_fn=out_specs_fn, devices=devices))

    colocated.specialize = specialize
    return colocated
