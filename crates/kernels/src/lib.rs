//! Hand-tuned kernels that loops cannot say: matrix products and sorting.
