//! All checks of the tree that are not tests. Each runs, whatever became of the others.

use crate::process::{Process, cargo, python, root};
use crate::{Outcome, generate, tidy};

/// A name to report, and what to do.
type Step = (&'static str, fn() -> Outcome);

const STEPS: [Step; 4] = [
    ("format", || format(true)),
    ("tidy", tidy::tidy),
    ("generated files", || generate::generate(true)),
    ("clippy", clippy),
];

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

/// Folders whose files are modules by the words of a macro, where `cargo fmt` does not see them.
const NAMED_BY_MACROS: [&str; 3] = [
    "crates/core/src/prims/elementwise",
    "crates/core/src/prims/elementwise/special",
    "crates/core/src/prims/reduction",
];

/// Formats all files, or says which are not.
pub(crate) fn format(check: bool) -> Outcome {
    let check: &[&str] = if check { &["--check"] } else { &[] };
    cargo("fmt").args(["--all", "--"]).args(check).run()?;
    let mut files = vec![];
    for folder in NAMED_BY_MACROS {
        let entries = std::fs::read_dir(root().join(folder)).map_err(|error| format!("{folder}: {error}"))?;
        files.extend(
            entries
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|rs| rs == "rs") && !path.ends_with("mod.rs")),
        );
    }
    Process::new("rustfmt").args(["--edition", "2024"]).args(check).args(files).run()
}

/// Where the Rust front is to run beside the machine of whoever calls this. WebAssembly has the interpreter in place of
/// machine code.
const TARGETS: [&str; 4] =
    ["aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu", "aarch64-apple-darwin", "wasm32-unknown-unknown"];

/// Checks the Rust front for other targets. It is no part of [`check`]: it checks every crate anew for each of them.
pub(crate) fn targets() -> Outcome {
    Process::new("rustup").args(["target", "add"]).args(TARGETS).run()?;
    TARGETS.iter().try_for_each(|target| {
        println!("==> {target}");
        cargo("check").args(["--quiet", "--package", "pullback", "--package", "serve", "--target", target]).run()
    })
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
