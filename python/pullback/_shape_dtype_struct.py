"""`ShapeDtypeStruct`: what stands for an array where only its type matters.

It owns what such a type says and how it prints; what is staged for one is decided where functions are traced, which narrows
64-bit dtypes there.
"""

from pullback._core import user_error as _user_error
from pullback import _core


def _exact_dtype(dtype):
    """The dtype as it was asked for: 64-bit ones stay, unlike those of arrays."""
    import numpy as np

    try:
        return np.dtype(dtype)
    except TypeError:
        return _core.as_dtype(dtype)


def _placed(sharding):
    """The layout and the sharding that a `Format`, sharding or spec asks for."""
    from pullback.experimental.layout import Format
    from pullback.sharding import NamedSharding, PartitionSpec, Sharding, get_mesh

    if isinstance(sharding, Format):
        return sharding.layout, sharding.sharding
    if isinstance(sharding, PartitionSpec):
        mesh = get_mesh()
        if mesh.empty:
            raise _user_error(
                TypeError,
                "When specifying PartitionSpec to `ShapeDtypeStruct`, the context mesh cannot be empty. Please use `jax.set_mesh` "
                "to set the mesh context."
            )
        return None, NamedSharding(mesh, sharding)
    if not isinstance(sharding, Sharding):
        raise _user_error(
            ValueError,
            "sharding should be an instance of `jax.sharding.Sharding`, `jax.sharding.PartitionSpec` or "
            f"`jax.experimental.layout.Format`. Got {sharding} of type {type(sharding)}."
        )
    return None, sharding


def _check_manual_axis_type(kind):
    from pullback.sharding import ManualAxisType

    if kind is not None and not isinstance(kind, ManualAxisType):
        raise _user_error(
            TypeError,
            "`manual_axis_type` argument passed to ShapeDtypeStruct should be of type `jax.sharding.ManualAxisType`. Got type "
            f"{type(kind)}"
        )


class ShapeDtypeStruct:
    """Shape and dtype of an array, without its elements: what `eval_shape` gives, and stands for an array in `jit(f).lower`.

    It cannot be changed; `update` gives a changed copy.

    Attributes:
      shape: a tuple of sizes. `ndim` is their number and `size` their product.
      dtype: the NumPy dtype.
      sharding: how the array is divided over devices, or None. A `PartitionSpec` is taken with the mesh in context, and of a
        `Format` its two parts.
      weak_type: whether the dtype gives way to others in promotion, as that of a Python number does.
      manual_axis_type: a `jax.sharding.ManualAxisType`: along which mesh axes values differ inside `shard_map`; or None.
      is_ref: whether a reference to such an array is meant.
    Raises:
      ValueError: there is no dtype, or a sharding of another kind or for more axes.
      TypeError: `manual_axis_type` is something else; a `PartitionSpec` without a mesh in context.
      RuntimeError: an attribute is assigned.

    Example:
      >>> jax.ShapeDtypeStruct((2, 3), jnp.float32).size
      6
    """

    __slots__ = (
        "shape", "dtype", "_sharding", "_layout", "weak_type", "manual_axis_type", "is_ref", "_memory_space", "__weakref__"
    )

    def __init__(
        self, shape, dtype, *, sharding=None, weak_type=False, manual_axis_type=None, is_ref=False, _memory_space=None
    ):
        if dtype is None:
            raise _user_error(ValueError, "ShapeDtypeStruct: dtype must be specified.")
        layout = None
        if sharding is not None:
            layout, sharding = _placed(sharding)
        set_once = object.__setattr__
        set_once(self, "shape", tuple(shape))
        set_once(self, "dtype", _exact_dtype(dtype))
        if sharding is not None:
            sharding.check_compatible_aval(self.shape)
        _check_manual_axis_type(manual_axis_type)
        set_once(self, "_sharding", sharding)
        set_once(self, "_layout", layout)
        set_once(self, "weak_type", weak_type)
        set_once(self, "manual_axis_type", manual_axis_type)
        set_once(self, "is_ref", is_ref)
        set_once(self, "_memory_space", _memory_space)

    def __setattr__(self, name, value):
        if name in self.__slots__:
            raise _user_error(RuntimeError, f"Cannot reassign attributes ({name}) of immutable ShapeDtypeStruct objects; use update")
        object.__setattr__(self, name, value)

    @classmethod
    def like(cls, x):
        """The shape, dtype and weak type of `x`, an array, a number or another struct.

        Raises TypeError when `x` has no type.
        """
        if isinstance(x, ShapeDtypeStruct):
            return x
        aval = _core.typeof(x)
        return cls(aval.shape, aval.dtype, weak_type=aval.weak_type)

    @property
    def sharding(self):
        """How the array is divided over devices, or None."""
        return self._sharding

    @property
    def format(self):
        """The layout and the sharding together."""
        from pullback.experimental.layout import Format

        return Format(self._layout, self._sharding)

    @property
    def size(self):
        """Number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def ndim(self):
        """Number of axes."""
        return len(self.shape)

    def __len__(self):
        try:
            return self.shape[0]
        except IndexError as error:
            raise _user_error(TypeError, "len() of unsized object") from error

    def _options(self):
        return {
            "sharding": self.sharding if self._layout is None else self.format, "weak_type": self.weak_type,
            "manual_axis_type": self.manual_axis_type, "is_ref": self.is_ref, "_memory_space": self._memory_space,
        }

    def update(self, **kwargs):
        """The same with some attributes replaced; what else the constructor does not know is ignored."""
        given = {"shape": self.shape, "dtype": self.dtype, **self._options()}
        return ShapeDtypeStruct(**{name: kwargs.get(name, value) for name, value in given.items()})

    def __repr__(self):
        parts = [f"shape={self.shape}", f"dtype={getattr(self.dtype, 'name', self.dtype)}"]
        if self.sharding is not None:
            parts.append(f"sharding={self.sharding}")
        if self._layout is not None:
            parts.append(f"format={self._layout}")
        if self.weak_type:
            parts.append("weak_type=True")
        if self.manual_axis_type is not None:
            parts.append(f"manual_axis_type={self.manual_axis_type}")
        if self.is_ref:
            parts.append("is_ref=True")
        return f"ShapeDtypeStruct({', '.join(parts)})"

    __str__ = __repr__

    def __eq__(self, other):
        if not isinstance(other, ShapeDtypeStruct):
            return False
        return self._key() == other._key()

    def _key(self):
        return (
            self.shape, self.dtype, self.sharding, self._layout, self.weak_type, self.manual_axis_type, self.is_ref,
            self._memory_space,
        )

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        # A plain dtype goes by its name: NumPy takes the state of a pickled one as it comes.
        is_plain = getattr(self.dtype, "names", "") is None
        return _restored, (self.shape, self.dtype.name if is_plain else self.dtype, self._options())


def _restored(shape, dtype, options):
    return ShapeDtypeStruct(shape, dtype, **options)


ShapeDtypeStruct.__module__ = "pullback"
