//! Finds all functions that are declared public, so that a declaration needs no second line anywhere: writes the list of
//! their declarations, which `src/declare` includes.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=src");
    let mut found = vec![];
    collect(Path::new("src"), &mut found)?;
    found.sort();
    let mut list = String::from("/// Every public function.\npub static DECLARATIONS: &[&Declaration] = &[\n");
    for path in &found {
        list += &format!("    &{path},\n");
    }
    list += "];\n";
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(PathBuf::from(out).join("declarations.rs"), list)
}

fn collect(folder: &Path, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = module_of(&path);
            let text = fs::read_to_string(&path)?;
            found.extend(declared_in(&text).map(|name| format!("{module}::declared_{name}")));
        }
    }
    Ok(())
}

/// `crate::numpy::reductions` for `src/numpy/reductions.rs`.
fn module_of(path: &Path) -> String {
    let parts: Vec<_> =
        path.with_extension("").iter().skip(1).map(|part| part.to_string_lossy().into_owned()).collect();
    let parts = parts.iter().filter(|part| *part != "mod" && *part != "lib");
    parts.fold("crate".to_string(), |module, part| format!("{module}::{part}"))
}

/// The names of the functions below the attribute, which stands alone on its line.
fn declared_in(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        lines.find(|line| line.trim_start().starts_with("#[public("))?;
        let (_, from_name) = lines.find_map(|line| line.split_once("fn "))?;
        from_name.split(|c: char| !c.is_alphanumeric() && c != '_').next()
    })
}
