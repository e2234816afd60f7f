"""Which frames count as the user's, and the names that the user gives to parts of a program."""

from pullback._core import NameStack as NameStack
from pullback._core import SourceInfo as SourceInfo
from pullback._core import current_name_stack as current_name_stack
from pullback._src.traceback_util import register_exclusion as register_exclusion


def new_name_stack(name=""):
    """A stack of one name, or none.

    Args:
      name: the name; empty for none.
    Returns: a `NameStack`.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import source_info_util
      >>> print(source_info_util.new_name_stack("a"))
      a
    """
    return NameStack().extend(name) if name else NameStack()
