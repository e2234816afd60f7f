"""Calls that XLA is to schedule together; this engine runs programs in order."""


from pullback.experimental.xla_metadata import xla_metadata_call as xla_metadata_call


def scheduling_group(name):
    """A decorator of functions whose calls are scheduled as one.

    Args:
      name: a text that names the group.
    Returns: a decorator; the function is compiled by itself.
    Differentiable: as the function is.
    Example:
      >>> from pullback.experimental.scheduling_groups import scheduling_group
      >>> float(scheduling_group("first")(lambda x: 3 * x)(2.0))
      6.0
    """
    return xla_metadata_call(scheduling_group=name)
