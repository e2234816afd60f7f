"""Waiting for effects under JAX's private path."""


def wait_for_tokens():
    """Returns when all effects so far have happened."""
    import pullback

    pullback.effects_barrier()
