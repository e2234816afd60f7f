//! Writes the modules of the Rust front that bear Python's names, from the declarations of the library:
//! `cargo run -p pullback-testkit --bin facade [-- --check]`.

use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use pullback_testkit::facade;

fn main() -> io::Result<ExitCode> {
    let check = std::env::args().any(|argument| argument == "--check");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pullback/src/library");
    let mut stale = false;
    for (name, text) in facade::files() {
        let path = root.join(&name);
        if fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        stale = true;
        if check {
            eprintln!("{name} is stale: run cargo run -p pullback-testkit --bin facade");
        } else {
            fs::create_dir_all(&root)?;
            fs::write(&path, text)?;
        }
    }
    Ok(if check && stale { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
