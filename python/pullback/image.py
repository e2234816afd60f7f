"""Images of other sizes and places."""

import enum as _enum

from pullback import _core
from pullback._core import user_error as _user_error

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]

resize, scale_and_translate = _core.image.resize, _core.image.scale_and_translate

_METHODS = {
    "nearest": 0, "linear": 1, "bilinear": 1, "trilinear": 1, "triangle": 1, "lanczos3": 2, "lanczos5": 3, "cubic": 4, "bicubic": 4,
    "tricubic": 4, "cubic-pytorch": 5, "bicubic-pytorch": 5, "area": 6,
}  # fmt: skip


class ResizeMethod(_enum.Enum):
    """How an image is resampled; `resize` says what each member does."""

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s):
        """The member of a name.

        Args:
          s: a name: 'nearest', 'linear', 'bilinear', 'trilinear', 'triangle', 'lanczos3', 'lanczos5', 'cubic', 'bicubic', 'tricubic',
            'cubic-pytorch', 'bicubic-pytorch' or 'area'.
        Returns: a member of `ResizeMethod`.
        Raises:
          ValueError: no method has this name.
        Differentiable: no; it takes no arrays.
        Example:
          >>> jax.image.ResizeMethod.from_string("bilinear")
          <ResizeMethod.LINEAR: 1>
        """
        if s not in _METHODS:
            raise _user_error(ValueError, f'Unknown resize method "{s}"')
        return ResizeMethod(_METHODS[s])
