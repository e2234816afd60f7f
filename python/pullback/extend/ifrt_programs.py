"""Programs of other runtimes; there is no other runtime."""

from pullback._core import user_error as _user_error


class _Programs:
    """The functions that would make them."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def missing(*args, **kwargs):
            raise _user_error(NotImplementedError, f"ifrt_programs.{name}: programs of other runtimes are not supported")

        return missing


ifrt_programs = _Programs()
