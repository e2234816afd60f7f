//! Jaxprs of Pullback to loop programs: simplify, fuse, plan.
#![forbid(unsafe_code)]
