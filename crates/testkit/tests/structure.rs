//! Every primitive's rules make well-formed jaxprs whose text parses back.

use pullback_core::all_primitives;
use pullback_testkit::battery::cases;

/// Holes that are known, as their errors say.
const HOLES: &[&str] =
    &["the derivative of primitive 'digamma' is not implemented: it needs polygamma, which is not a primitive yet"];

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
