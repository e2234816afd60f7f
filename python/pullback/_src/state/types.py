"""Avals of references."""


class AbstractRef:
    """The aval of a mutable reference; no value here has it."""
