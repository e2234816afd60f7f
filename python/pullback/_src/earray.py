"""Arrays of extended element types."""


class EArray:
    """An array of an extended element type; no value here is one."""
