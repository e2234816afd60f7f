//! StableHLO text from jaxprs.
#![forbid(unsafe_code)]
