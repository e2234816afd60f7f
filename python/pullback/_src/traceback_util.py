"""Which files belong to libraries rather than to the user.

Errors here never show frames of the framework, so the hooks only remember what they are told.
"""

_exclude_paths = []


def register_exclusion(path):
    """Counts a file as part of a library: errors and source lines are not said to come from there.

    Args:
      path: the file.
    Returns: None.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.extend import source_info_util
      >>> source_info_util.register_exclusion("library.py")
    """
    _exclude_paths.append(path)


def include_frame(frame):
    """Whether a frame is the user's."""
    return not any(frame.f_code.co_filename.startswith(path) for path in _exclude_paths)


def api_boundary(fun, **_):
    """Marks a function as an entry from user code; it already is one."""
    return fun


from pullback._tracebacks import UnfilteredStackTrace as UnfilteredStackTrace  # noqa: E402
