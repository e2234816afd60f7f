//! Derivatives of primitives are, equation by equation, those of the reference.
//!
//! `data/derivatives.txt` holds pairs: a jaxpr of one equation on a line, then the reference's text of its derivative.

use pullback_core::find_primitive;
use pullback_core::transforms::jvp_jaxpr;
use pullback_ir::{JaxprRef, parse_jaxpr};

fn derivative(text: &str) -> String {
    let jaxpr = JaxprRef::new(parse_jaxpr(text, &find_primitive).unwrap_or_else(|error| panic!("{text}: {error}")));
    let nonzero = vec![true; jaxpr.invars.len()];
    jvp_jaxpr(&jaxpr, &nonzero, &vec![true; jaxpr.outs.len()]).expect("differentiable").jaxpr.to_string()
}

#[test]
fn derivatives_are_those_of_the_reference() {
    let mut differences = vec![];
    for pair in include_str!("../data/derivatives.txt").trim_end().split("\n\n") {
        let (primal, want) = pair.split_once('\n').expect("a jaxpr and its derivative");
        let got = derivative(primal);
        if got != want {
            differences.push(format!("{primal}\ngot {got}\nwant {want}"));
        }
    }
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n\n"));
}
