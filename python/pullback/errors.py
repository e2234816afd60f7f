"""Exceptions that JAX programs know by name."""


def _with_reference(self, text):
    """The text with the line that names the page of the class, as the last one."""
    reference = f'What to do: pullback.help("{type(self).__name__}")'
    return text if reference in text else f"{text}\n{reference}"


class JAXTypeError(TypeError):
    """Misuse of tracers: something was asked of a traced value that only a concrete one has."""

    def __init__(self, message=""):
        super().__init__(_with_reference(self, str(message)))


class JAXIndexError(IndexError):
    """An index that cannot be used while tracing."""

    def __init__(self, message=""):
        super().__init__(_with_reference(self, str(message)))


class ConcretizationTypeError(JAXTypeError):
    """A concrete value was needed of an abstract tracer."""

    def __init__(self, tracer="", context=""):
        text = tracer if isinstance(tracer, str) else f"Abstract tracer value encountered where concrete value is expected: {tracer}\n{context}"
        super().__init__(text)


class NonConcreteBooleanIndexError(JAXIndexError):
    """A boolean index whose elements are traced: the shape of the result would depend on them."""


class TracerArrayConversionError(JAXTypeError):
    """A NumPy array was asked of a traced value."""


class TracerIntegerConversionError(JAXTypeError):
    """A Python integer was asked of a traced value."""


class TracerBoolConversionError(ConcretizationTypeError):
    """A Python boolean was asked of a traced value."""


class UnexpectedTracerError(JAXTypeError):
    """A tracer was used after its trace had ended, or outside of it."""


class InconclusiveDimensionOperation(Exception):
    """The answer of an operation on symbolic dimensions depends on the values of their variables."""


class JaxprTypeError(TypeError):
    """A jaxpr whose equations do not fit together."""


class KeyReuseError(RuntimeError):
    """A random key was used twice."""


class JaxRuntimeError(RuntimeError):
    """The run of a program failed, or Pullback has a bug."""


class ShardingTypeError(Exception):
    """Shardings in types that do not fit, or leave open how a result is split: say it by `out_sharding`, or use `jax.reshard`."""


class TypePromotionError(ValueError):
    """No implicit promotion path leads from the dtypes to a common one."""


__all__ = [
    "InconclusiveDimensionOperation",
    "JaxRuntimeError",
    "JaxprTypeError",
    "JAXIndexError",
    "JAXTypeError",
    "ConcretizationTypeError",
    "KeyReuseError",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerIntegerConversionError",
    "TracerBoolConversionError",
    "UnexpectedTracerError",
]


# Names that modules of ours take from here, and that are not shown.
_UNSHOWN = {
    "ShardingTypeError",
    "TypePromotionError",
}


def __dir__():
    return sorted({*globals()} - _UNSHOWN)
