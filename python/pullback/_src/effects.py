"""Effects and their registries under JAX's private path."""

from pullback._effects import (
    Effect as Effect,
    EffectTypeSet as EffectTypeSet,
    Effects as Effects,
    ErrorEffect as ErrorEffect,
    control_flow_allowed_effects as control_flow_allowed_effects,
    custom_derivatives_allowed_effects as custom_derivatives_allowed_effects,
    lowerable_effects as lowerable_effects,
    no_effects as no_effects,
    ordered_effects as ordered_effects,
    partial_eval_kept_effects as partial_eval_kept_effects,
    remat_allowed_effects as remat_allowed_effects,
    shardable_ordered_effects as shardable_ordered_effects,
)
