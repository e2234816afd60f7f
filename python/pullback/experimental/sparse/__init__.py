"""Sparse arrays, functions of them, and functions of dense arrays made sparse.

What is stored takes part in derivatives: gradients with respect to a sparse array are sparse, with the same indices.
"""

from pullback._later import later as _later

_BASE = ("CuSparseEfficiencyWarning", "JAXSparse", "SparseEfficiencyError", "SparseEfficiencyWarning")
_BCOO = (
    "BCOO", "bcoo_dot_general", "bcoo_dot_general_sampled", "bcoo_extract", "bcoo_fromdense", "bcoo_multiply_dense",
    "bcoo_sort_indices", "bcoo_sum_duplicates", "bcoo_todense", "bcoo_transpose", "bcoo_update_layout",
)  # fmt: skip
_SHAPES = (
    "bcoo_broadcast_in_dim", "bcoo_concatenate", "bcoo_dynamic_slice", "bcoo_reduce_sum", "bcoo_reshape", "bcoo_rev", "bcoo_slice",
    "bcoo_squeeze",
)  # fmt: skip
_BCSR = (
    "BCSR", "bcsr_broadcast_in_dim", "bcsr_concatenate", "bcsr_dot_general", "bcsr_extract", "bcsr_fromdense", "bcsr_sum_duplicates",
    "bcsr_todense",
)  # fmt: skip
_PARTS = {
    "pullback.experimental.sparse._base": _BASE,
    "pullback.experimental.sparse.bcoo": ("bcoo", *_BCOO),
    "pullback.experimental.sparse.bcoo_products": ("bcoo_multiply_sparse",),
    "pullback.experimental.sparse.bcoo_shapes": _SHAPES,
    "pullback.experimental.sparse.bcsr": ("bcsr", *_BCSR),
    "pullback.experimental.sparse.coo": ("coo", "COO", "coo_fromdense", "coo_matmat", "coo_matvec", "coo_todense"),
    "pullback.experimental.sparse.csr": ("csr", "CSC", "CSR", "csr_fromdense", "csr_matmat", "csr_matvec", "csr_todense"),
    "pullback.experimental.sparse.transform": ("transform", "sparsify", "todense"),
    "pullback.experimental.sparse.ad": ("ad", "grad", "jacfwd", "jacobian", "jacrev", "value_and_grad"),
    "pullback.experimental.sparse.linalg": ("linalg",),
    "pullback.experimental.sparse.api": ("api", "empty", "eye"),
    "pullback.experimental.sparse.random": ("random", "random_bcoo"),
}
__getattr__, _NAMES = _later("pullback.experimental.sparse", _PARTS)


def __dir__():
    return sorted({*(name for name in globals() if name.startswith("__")), *_NAMES})
