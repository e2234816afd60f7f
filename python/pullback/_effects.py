"""What equations do besides computing, as objects, and which kinds of them may be where.

The core knows only that an equation has an effect, and whether in order. Here are the objects: one for each kind that the
core's own primitives have, and whatever the rules of primitives defined in Python give.
"""

from pullback._core import user_error as _user_error


class Effect:
    """What an equation does besides computing. Kinds are subclasses; each is registered where it may be."""


Effects = frozenset[Effect]
no_effects = frozenset()


class EffectTypeSet:
    """Kinds of effects, by class: an effect belongs to the set when its class, or a class above it, was added."""

    def __init__(self):
        self._types = set()

    def add_type(self, effect_type):
        """Adds a kind: a subclass of `Effect`."""
        self._types.add(effect_type)

    def contains(self, effect):
        """Whether an effect is of one of the kinds."""
        return isinstance(effect, tuple(self._types))

    def filter_in(self, effects):
        """The effects that are of one of the kinds, as a list."""
        return [effect for effect in effects if self.contains(effect)]

    def filter_not_in(self, effects):
        """The effects that are of none of the kinds, as a list."""
        return [effect for effect in effects if not self.contains(effect)]


ordered_effects = EffectTypeSet()
shardable_ordered_effects = EffectTypeSet()
lowerable_effects = EffectTypeSet()
control_flow_allowed_effects = EffectTypeSet()
custom_derivatives_allowed_effects = EffectTypeSet()
remat_allowed_effects = EffectTypeSet()
partial_eval_kept_effects = EffectTypeSet()


class DebugEffect(Effect):
    """A print or another call that only looks."""

    __str__ = lambda self: "Debug"


class OrderedDebugEffect(Effect):
    """A call that only looks, in the program's order."""

    __str__ = lambda self: "OrderedDebug"


class IOEffect(Effect):
    """A call of a function of the host that may change things."""

    __str__ = lambda self: "IO"


class OrderedIOEffect(Effect):
    """A call that may change things, in the program's order."""

    __str__ = lambda self: "OrderedIO"


class ErrorEffect(Effect):
    """A check of `checkify` that was not turned into values yet."""

    __str__ = lambda self: "Error"


debug_effect, ordered_debug_effect, error_effect = DebugEffect(), OrderedDebugEffect(), ErrorEffect()
io_effect, ordered_io_effect = IOEffect(), OrderedIOEffect()

for _kind in (OrderedDebugEffect, OrderedIOEffect):
    ordered_effects.add_type(_kind)
for _kind in (DebugEffect, OrderedDebugEffect, IOEffect, OrderedIOEffect):
    lowerable_effects.add_type(_kind)
    control_flow_allowed_effects.add_type(_kind)
    custom_derivatives_allowed_effects.add_type(_kind)
for _kind in (DebugEffect, OrderedDebugEffect):
    remat_allowed_effects.add_type(_kind)
control_flow_allowed_effects.add_type(ErrorEffect)
custom_derivatives_allowed_effects.add_type(ErrorEffect)

_OF_CORE = {
    ("debug_print", False): debug_effect, ("debug_print", True): ordered_debug_effect,
    ("io_callback", False): io_effect, ("io_callback", True): ordered_io_effect,
}  # fmt: skip


class _OtherEffect(Effect):
    """An effect of a primitive that has no kind of its own here."""

    def __init__(self, primitive):
        self.primitive = primitive

    def __str__(self):
        return self.primitive

    __repr__ = __str__


_OTHERS = {}


def of_core(primitive, is_ordered):
    """The effect of one of the core's primitives, always the same object."""
    known = _OF_CORE.get((primitive, is_ordered))
    if known is None and primitive == "check":
        return error_effect
    return known or _OTHERS.setdefault((primitive, is_ordered), _OtherEffect(primitive))


def has_ordered(effects):
    """Whether any of some effects must keep the program's order."""
    return any(map(ordered_effects.contains, effects))


def check_allowed(what, effects):
    """Refuses effects of kinds that are not registered for control flow."""
    # What has no kind here is the core's own, which knows where it may be.
    refused = [e for e in control_flow_allowed_effects.filter_not_in(effects) if not isinstance(e, _OtherEffect)]
    if refused:
        raise _user_error(NotImplementedError, f"Effects not supported in `{what}`: {refused}")


def check_lowerable(effects):
    """Refuses effects of kinds that cannot be compiled; gives the effects back."""
    refused = {e for e in lowerable_effects.filter_not_in(effects) if not isinstance(e, (_OtherEffect, ErrorEffect))}
    if refused:
        raise _user_error(ValueError, f"Cannot lower jaxpr with effects: {refused}")
    return effects
