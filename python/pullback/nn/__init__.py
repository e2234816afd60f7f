"""Activations, normalizations and initializers of neural networks."""

from pullback import _core
from pullback.nn import initializers as initializers
from pullback.nn._attention import dot_product_attention as dot_product_attention
from pullback.nn._scaled import get_scaled_dot_general_config as get_scaled_dot_general_config
from pullback.nn._scaled import scaled_dot_general as scaled_dot_general
from pullback.nn._scaled import scaled_matmul as scaled_matmul

__all__ = [
    "celu", "dot_product_attention", "elu", "gelu", "get_scaled_dot_general_config", "glu", "hard_sigmoid", "hard_silu",
    "hard_swish", "hard_tanh", "identity", "initializers", "leaky_relu", "log1mexp", "log_sigmoid", "log_softmax",
    "logmeanexp", "logsumexp", "mish", "one_hot", "relu", "relu6", "scaled_dot_general", "scaled_matmul", "selu",
    "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "standardize",
    "swish", "tanh",
]

globals().update({name: getattr(_core.nn, name) for name in __all__ if hasattr(_core.nn, name)})

for _name in ("dot_product_attention", "get_scaled_dot_general_config", "scaled_dot_general", "scaled_matmul"):
    globals()[_name].__module__ = "pullback.nn"
