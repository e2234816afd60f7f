"""Sparse arrays of any format."""


def _format(name):
    from pullback.experimental import sparse

    return {"bcoo": sparse.BCOO, "coo": sparse.COO, "csr": sparse.CSR, "csc": sparse.CSC}[name]


def empty(shape, dtype=None, index_dtype="int32", sparse_format="bcoo", **kwds):
    """A sparse array that stores nothing.

    Args:
      shape: its shape.
      dtype: the type of its elements, by default float32.
      index_dtype: the type of its indices.
      sparse_format: "bcoo", "coo", "csr" or "csc".
      kwds: for "bcoo" `n_batch`, `n_dense` and `nse`.
    Returns: a sparse array.
    Raises:
      KeyError: there is no such format.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.empty((2, 3))
      BCOO(float32[2, 3], nse=0)
    """
    return _format(sparse_format)._empty(shape, dtype=dtype, index_dtype=index_dtype, **kwds)


def eye(N, M=None, k=0, dtype=None, index_dtype="int32", sparse_format="bcoo", **kwds):
    """A sparse matrix with ones on a diagonal.

    Args:
      N, M: its rows and columns, by default as many.
      k: which diagonal: 0 for the main one, above it if positive.
      dtype: the type of its elements, by default float32.
      index_dtype: the type of its indices.
      sparse_format: "bcoo", "coo", "csr" or "csc".
      kwds: for "bcoo" `n_batch` and `n_dense`.
    Returns: a sparse matrix.
    Raises:
      KeyError: there is no such format.
    Differentiable: no; it takes no arrays.
    Example:
      >>> from pullback.experimental import sparse
      >>> sparse.eye(2, 3, k=1).indices.tolist()
      [[0, 1], [1, 2]]
    """
    return _format(sparse_format)._eye(N, N if M is None else M, k, dtype=dtype, index_dtype=index_dtype, **kwds)
