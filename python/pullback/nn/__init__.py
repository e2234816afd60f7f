"""Activations, normalizations and initializers of neural networks."""

from pullback import _core
from pullback.nn import initializers as initializers

__all__ = [
    "celu", "dot_product_attention", "elu", "gelu", "get_scaled_dot_general_config", "glu", "hard_sigmoid", "hard_silu",
    "hard_swish", "hard_tanh", "identity", "initializers", "leaky_relu", "log1mexp", "log_sigmoid", "log_softmax",
    "logmeanexp", "logsumexp", "mish", "one_hot", "relu", "relu6", "scaled_dot_general", "scaled_matmul", "selu",
    "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus", "standardize",
    "swish", "tanh",
]

globals().update({name: getattr(_core.nn, name) for name in __all__ if hasattr(_core.nn, name)})

swish = _core.nn.silu
hard_swish = _core.nn.hard_silu


def _missing(name):
    raise NotImplementedError(f"jax.nn.{name} is not implemented")


def dot_product_attention(
    query, key, value, bias=None, mask=None, *, scale=None, is_causal=False, query_seq_lengths=None,
    key_value_seq_lengths=None, local_window_size=None, implementation=None, return_residual=False,
):
    """Values weighted by the softmax of the products of queries and keys."""
    _missing("dot_product_attention")


def get_scaled_dot_general_config(mode, global_scale=None):
    """How operands of a scaled contraction are quantized."""
    _missing("get_scaled_dot_general_config")


def scaled_dot_general(
    lhs, rhs, dimension_numbers, preferred_element_type=None, configs=None, implementation=None
):
    """A contraction of operands in blocks with scales."""
    _missing("scaled_dot_general")


def scaled_matmul(lhs, rhs, lhs_scales, rhs_scales, preferred_element_type=None):
    """A matrix product of operands in blocks with scales."""
    _missing("scaled_matmul")
