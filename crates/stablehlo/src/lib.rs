//! StableHLO text from jaxprs.
