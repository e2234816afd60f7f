"""Statistics and losses over the valid part of arrays: right values and finite gradients, also where nothing is valid.

In each function `mask` is true where an element counts, and has a shape that broadcasts to that of the array; `None` counts all. What is
not valid may hold anything, NaN and infinity too: neither the value nor the gradient sees it. The gradients need no setting.
"""

from pullback._core.masked import (
    cosine_similarity as cosine_similarity,
    cross_entropy as cross_entropy,
    logsumexp as logsumexp,
    mean as mean,
    norm as norm,
    softmax as softmax,
    std as std,
    var as var,
)

__all__ = ["cosine_similarity", "cross_entropy", "logsumexp", "mean", "norm", "softmax", "std", "var"]
