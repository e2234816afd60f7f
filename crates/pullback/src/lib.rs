//! Composable transformations of array programs: grad, vmap, jit, scan.
#![forbid(unsafe_code)]
