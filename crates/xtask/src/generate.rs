//! Files that are written by a program and committed: each generator is run, or asked whether its file is stale.
//!
//! The generators live where the knowledge is: the coverage table in `testkit`, the Python stubs beside the package.
//! One that does not exist yet is named, so that its absence is seen.

use crate::Outcome;
use crate::process::{Process, cargo, python, root};

pub(crate) fn generate(check: bool) -> Outcome {
    let outcomes = [coverage(check), facade(check), stubs(check)];
    let failures: Vec<String> = outcomes.into_iter().filter_map(Result::err).collect();
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

fn flag(check: bool) -> Option<&'static str> {
    check.then_some("--check")
}

/// `docs/coverage.md`: which primitive has which rule.
fn coverage(check: bool) -> Outcome {
    if !exists("crates/testkit/src/bin/coverage.rs") {
        return Ok(());
    }
    cargo("run").args(["--quiet", "--package", "pullback-testkit", "--bin", "coverage", "--"]).args(flag(check)).run()
}

/// The library's functions in the Rust front, from their declarations.
fn facade(check: bool) -> Outcome {
    if !exists("crates/testkit/src/bin/facade.rs") {
        return Ok(());
    }
    cargo("run").args(["--quiet", "--package", "pullback-testkit", "--bin", "facade", "--"]).args(flag(check)).run()
}

/// The `.pyi` files of the Python package.
fn stubs(check: bool) -> Outcome {
    let program = "scripts/gen_stubs.py";
    if !exists(program) {
        return Ok(());
    }
    Process::new(python()?).args([program]).args(flag(check)).run()
}

fn exists(generator: &str) -> bool {
    let found = root().join(generator).exists();
    if !found {
        println!("gen: there is no {generator} yet");
    }
    found
}
