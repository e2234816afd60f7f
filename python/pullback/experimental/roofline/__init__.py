"""What a program asks of a machine at least: floating-point operations, bytes of memory and of links between devices."""

from pullback.experimental.roofline._results import (
    RooflineResult as RooflineResult,
    RooflineRuleContext as RooflineRuleContext,
    RooflineShape as RooflineShape,
)
from pullback.experimental.roofline.roofline import (
    register_roofline as register_roofline,
    register_standard_roofline as register_standard_roofline,
    roofline as roofline,
    roofline_and_grad as roofline_and_grad,
)
