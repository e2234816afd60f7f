"""Notes for XLA at operations. This engine reads none: values are as without them, and jaxprs show those of values."""

import contextlib as _contextlib
import functools as _functools

from pullback._core import user_error as _user_error


@_functools.cache
def _value_p():
    """The primitive that marks a value."""
    from pullback.core import Primitive
    from pullback.interpreters import ad, batching, mlir

    prim = Primitive("xla_metadata_value")
    prim.def_impl(lambda x, *, xla_metadata_kvs: x)
    prim.def_abstract_eval(lambda x, *, xla_metadata_kvs: x)
    ad.deflinear2(prim, lambda ct, x, *, xla_metadata_kvs: [ct])
    batching.defvectorized(prim)
    mlir.register_lowering(prim, mlir.lower_fun(lambda x, *, xla_metadata_kvs: x, multiple_results=False))
    return prim


def _pairs(metadata):
    """Notes in the order of their names, as texts."""
    found = []
    for name in sorted(metadata):
        value = metadata[name]
        if not isinstance(value, (str, int, float, bool)):
            raise _user_error(ValueError, f"the metadata {name!r} must be a text or a number, got {value!r}")
        found.append((name, str(value).lower() if isinstance(value, bool) else str(value)))
    return tuple(found)


class _Within(_contextlib.ContextDecorator):
    """The context in which operations get notes: nothing reads them."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def _recreate_cm(self):
        return self


def set_xla_metadata(x=None, **kwargs):
    """Notes for XLA: at a value, or without one as a context or decorator at all operations within.

    Args:
      x: a tree of arrays; None for the context.
      **kwargs: the notes, texts or numbers by name.
    Returns: a tree like `x`; the context without it, in which nothing changes here.
    Raises:
      ValueError: a note is no text or number.
    Differentiable: yes; values pass unchanged.
    Example:
      >>> from pullback.experimental.xla_metadata import set_xla_metadata
      >>> with set_xla_metadata(key="value"):
      ...     y = set_xla_metadata(jnp.float32(2.0), note=1)
      >>> float(y)
      2.0
    """
    from pullback import numpy as jnp, tree

    pairs = _pairs(kwargs)
    if x is None:
        return _Within()
    return tree.map(lambda leaf: _value_p().bind(jnp.asarray(leaf), xla_metadata_kvs=pairs), x)


def xla_metadata_call(f=None, /, **meta):
    """A function whose call has notes for XLA.

    Args:
      f: a function; a decorator is returned without it.
      **meta: the notes, texts or numbers by name.
    Returns: the function, compiled by itself.
    Raises:
      ValueError: a note is no text or number.
    Differentiable: as `f` is.
    Example:
      >>> from pullback.experimental.xla_metadata import xla_metadata_call
      >>> float(xla_metadata_call(lambda x: 3 * x, note="mine")(2.0))
      6.0
    """
    return xla_metadata_call2(f, metadata=meta)


def xla_metadata_call2(f=None, /, metadata=None, *, ad_metadata="same"):
    """A function whose call has notes for XLA, given as a dict.

    Args:
      f: a function; a decorator is returned without it.
      metadata: the notes by name.
      ad_metadata: `"same"`, `"drop"`, or notes for the call's derivative.
    Returns: the function, compiled by itself.
    Raises:
      ValueError: a note is no text or number.
    Differentiable: as `f` is.
    Example:
      >>> from pullback.experimental.xla_metadata import xla_metadata_call2
      >>> float(xla_metadata_call2(lambda x: 3 * x, {"note": "mine"})(2.0))
      6.0
    """
    from pullback import jit

    _pairs(metadata or {})
    if f is None:
        return _functools.partial(xla_metadata_call2, metadata=metadata, ad_metadata=ad_metadata)
    return jit(f)


def fuse_limit():
    """The context whose operations XLA keeps out of fusions: nothing changes here.

    Returns: a context, or decorator.
    Differentiable: yes; values are as without it.
    Example:
      >>> from pullback.experimental.xla_metadata import fuse_limit
      >>> with fuse_limit():
      ...     y = jnp.float32(1.0) + 1
    """
    return set_xla_metadata(FUSE_LIMIT=True)


def must_fuse_call(identifier):
    """A decorator of functions whose operations XLA is to fuse.

    Args:
      identifier: a text that names the fusion.
    Returns: a decorator; the function is compiled by itself.
    Differentiable: as the function is.
    Example:
      >>> from pullback.experimental.xla_metadata import must_fuse_call
      >>> float(must_fuse_call("one")(lambda x: 3 * x)(2.0))
      6.0
    """
    return xla_metadata_call(MUST_FUSE=identifier)
