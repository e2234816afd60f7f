//! Writes what tells builds of the engine apart: code that one build saved is not run by another.

use std::io::Result;
use std::path::{Path, PathBuf};

/// The rooms whose sources decide what is compiled, and what compiled code finds of the host.
const ROOMS: [&str; 10] =
    ["base", "loops", "ir", "core", "runtime", "kernels", "native", "codegen", "compile", "backend"];

fn main() -> Result<()> {
    let rooms = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = vec![];
    for room in ROOMS {
        // Of a published crate the others are not there; their versions say what they are.
        let sources = rooms.join(room).join("src");
        if sources.is_dir() {
            println!("cargo::rerun-if-changed={}", sources.display());
            collect(&sources, &mut files)?;
        }
    }
    files.sort();
    let mut sum: u64 = 0xcbf2_9ce4_8422_2325;
    for file in files {
        for byte in std::fs::read(file)? {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=PULLBACK_SOURCES={sum:016x}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
