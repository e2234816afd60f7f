//! Every primitive's rules make well-formed jaxprs whose text parses back.

use pullback_core::all_primitives;
use pullback_testkit::battery::cases;

/// Holes that are known, as their errors say.
const HOLES: &[&str] = &[
    "Gradient of betainc with respect to a and b not supported.",
    "polygamma gradient with respect to m is not supported",
    "scatter_mul gradients are only implemented if `unique_indices=True`",
    "the derivative of primitive 'geqp3' is not implemented: JAX has none either; differentiate qr",
    "the derivative of primitive 'geqrf' is not implemented: JAX has none either; differentiate qr",
    "the derivative of primitive 'hessenberg' is not implemented: JAX has none either",
    "the derivative of primitive 'householder_product' is not implemented: JAX has none either; differentiate qr",
    "the derivative of primitive 'igamma_grad_a' is not implemented: it has none in the reference either",
    "the derivative of primitive 'ormqr' is not implemented: JAX has none either; differentiate qr",
    "the derivative of primitive 'pmax' is not implemented: Differentiation rule for 'pmax' not implemented",
    "the derivative of primitive 'pmin' is not implemented: Differentiation rule for 'pmin' not implemented",
    "the derivative of primitive 'random_gamma_grad' is not implemented: the second derivative of a sample is not written",
    "the derivative of primitive 'tridiagonal' is not implemented: JAX has none either",
    "the derivative of primitive 'zeta' is not implemented: it has none in the reference either",
];

#[test]
fn rules_make_wellformed_jaxprs() {
    let (mut failures, mut holes) = (vec![], vec![]);
    for case in all_primitives().flat_map(cases) {
        let found = case.structure();
        failures.extend(found.failures);
        holes.extend(found.holes);
    }
    holes.sort();
    holes.dedup();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(holes, HOLES);
}

#[test]
fn the_page_of_coverage_is_not_stale() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.md");
    let known = std::fs::read_to_string(path).expect("docs/coverage.md is there");
    let text = "docs/coverage.md is stale: run `cargo run -p pullback-testkit --bin coverage`";
    assert!(known == pullback_testkit::coverage::page(), "{text}");
}
