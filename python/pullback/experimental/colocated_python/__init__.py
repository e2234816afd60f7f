"""Python functions that run on the host of their arguments' devices: this one."""

import functools as _functools

from pullback._core import user_error as _user_error
from pullback.experimental.colocated_python import func as _func


def colocated_cpu_devices(devices_or_mesh):
    """The CPU devices on the hosts of some devices.

    Args:
      devices_or_mesh: a sequence of devices, or a mesh.
    Returns: a sequence of devices or a mesh, in the same order; CPU devices are themselves.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import colocated_python
      >>> len(colocated_python.colocated_cpu_devices(jax.devices()[:1]))
      1
    """
    from pullback.sharding import Mesh

    return devices_or_mesh if isinstance(devices_or_mesh, Mesh) else list(devices_or_mesh)


def colocated_python(fun):
    """A version of a Python function that runs on the host of its arguments' devices.

    Args:
      fun: a function of trees of arrays that gives trees of arrays.
    Returns: a function with the same signature, and a method `specialize(in_specs=None, out_specs_fn=None, devices=None)`,
      which gives one that runs on devices of its own.
    Raises:
      ValueError: when called: there is no argument and no device, or an argument or result is no array. When specialized:
        something is specified again.
    Differentiable: no; the arguments must be known.
    Example:
      >>> from pullback.experimental.colocated_python import colocated_python
      >>> colocated_python(lambda x: x + 1)(jnp.ones(2))
      Array([2., 2.], dtype=float32)
    """
    return _func.specialized(fun, _func.Specialization())


def colocated_python_class(cls):
    """A class whose methods run on the host of their arguments' devices, on an object that is made at the first call.

    Args:
      cls: the class.
    Returns: a class with the same methods.
    Raises:
      ValueError: when a method is called: as `colocated_python`.
    Differentiable: no; the arguments must be known.
    Example:
      >>> from pullback.experimental.colocated_python import colocated_python_class
      >>> @colocated_python_class
      ... class Counter:
      ...     def __init__(self):
      ...         self.calls = 0
      ...     def count(self, x):
      ...         self.calls += 1
      ...         return x + self.calls
      >>> counter = Counter()
      >>> float(counter.count(jnp.float32(0))), float(counter.count(jnp.float32(0)))
      (1.0, 2.0)
    """

    class WrappedClass:
        def __init__(self, *args, **kwargs):
            self._made = _functools.cache(lambda: cls(*args, **kwargs))

    def method(name):
        @_functools.wraps(getattr(cls, name))
        def call(self, *args, **kwargs):
            # The object is made when the method runs, after its arguments were found to be good.
            return colocated_python(lambda *a, **k: getattr(self._made(), name)(*a, **k))(*args, **kwargs)

        return call

    for name, value in vars(cls).items():
        if callable(value) and not name.startswith("__"):
            setattr(WrappedClass, name, method(name))
        elif name == "__call__":
            setattr(WrappedClass, name, method(name))
    _functools.update_wrapper(WrappedClass, cls, updated=())
    if any("__getattr__" in vars(c) for c in cls.__mro__):
        raise _user_error(ValueError, f"{cls} finds its attributes at run time; a colocated class needs its methods declared")
    return WrappedClass
