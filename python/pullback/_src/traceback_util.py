"""Which files belong to libraries rather than to the user.

Errors here never show frames of the framework, so the hooks only remember what they are told.
"""

_exclude_paths = []


def register_exclusion(path):
    """Counts a file as part of a library."""
    _exclude_paths.append(path)


def include_frame(frame):
    """Whether a frame is the user's."""
    return not any(frame.f_code.co_filename.startswith(path) for path in _exclude_paths)


def api_boundary(fun, **_):
    """Marks a function as an entry from user code; it already is one."""
    return fun
