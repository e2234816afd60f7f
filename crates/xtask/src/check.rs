//! All checks of the tree that are not tests. Each runs, whatever became of the others.

use crate::process::{cargo, python};
use crate::{Outcome, generate, tidy};

/// A name to report, and what to do.
type Step = (&'static str, fn() -> Outcome);

const STEPS: [Step; 4] =
    [("format", format), ("tidy", tidy::tidy), ("generated files", || generate::generate(true)), ("clippy", clippy)];

pub(crate) fn check() -> Outcome {
    let mut failed = Vec::new();
    for (name, step) in STEPS {
        println!("==> {name}");
        if let Err(why) = step() {
            println!("{why}");
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("check failed: {}", failed.join(", "))) }
}

fn format() -> Outcome {
    cargo("fmt").args(["--all", "--", "--check"]).run()
}

/// The Python crate cannot be checked without an interpreter; where there is none, it is left out and that is said.
fn clippy() -> Outcome {
    let clippy = cargo("clippy").args(["--quiet", "--keep-going", "--workspace", "--all-targets"]);
    let clippy = match python() {
        Ok(python) => clippy.env("PYO3_PYTHON", python),
        Err(why) => {
            println!("clippy leaves out pullback-python: {why}");
            clippy.args(["--exclude", "pullback-python"])
        }
    };
    clippy.args(["--", "-D", "warnings"]).run()
}
