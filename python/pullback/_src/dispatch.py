"""Applying one primitive, and waiting for effects, under JAX's private path."""


def apply_primitive(prim, *args, **params):
    """The results of one primitive, compiled by itself: what many a primitive defined in Python has for its evaluation.

    Args:
      prim: the primitive.
      args: arrays or numbers.
      params: its parameters.
    Returns: what `prim.bind` gives.
    Raises: what its rules raise.
    Differentiable: no; the primitive's rules say how it is.
    Example:
      >>> from pullback._src import dispatch
      >>> float(dispatch.apply_primitive(jax.lax.neg_p, 2.0))
      -2.0
    """
    import pullback

    return pullback.jit(lambda *args: prim.bind(*args, **params))(*args)


def wait_for_tokens():
    """Returns when all effects so far have happened."""
    import pullback

    pullback.effects_barrier()
