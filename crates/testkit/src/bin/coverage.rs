//! Writes `docs/coverage.md`; with `--check` fails instead when it is stale.
#![allow(clippy::print_stdout, reason = "a command")]

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.md");
    let page = pullback_testkit::coverage::page();
    if std::env::args().any(|arg| arg == "--check") {
        if std::fs::read_to_string(&path).is_ok_and(|known| known == page) {
            return ExitCode::SUCCESS;
        }
        println!("docs/coverage.md is stale: run `cargo run -p pullback-testkit --bin coverage`");
        return ExitCode::FAILURE;
    }
    match std::fs::write(&path, page) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("docs/coverage.md cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}
