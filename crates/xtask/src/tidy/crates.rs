//! Edges between crates: what the Cargo.tomls say equals what `layers.toml` allows, and only one crate knows Python.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::layers::{Layers, parse_table};
use super::{File, Problem};

/// The crate that may use PyO3, and the packages that come with it.
const PYTHON_CRATE: &str = "python";
const PYTHON_PACKAGES: [&str; 3] = ["pyo3", "numpy", "pyo3-ffi"];

struct Manifest<'a> {
    file: &'a File,
    krate: &'a str,
    table: Table,
}

pub(crate) fn check(files: &[File], layers: &Layers) -> Result<Vec<Problem>, String> {
    let manifests = manifests(files)?;
    let folder_of: BTreeMap<&str, &str> =
        manifests.iter().filter_map(|m| Some((package_name(&m.table)?, m.krate))).collect();
    let mut problems: Vec<Problem> = manifests.iter().flat_map(|m| check_manifest(m, &folder_of, layers)).collect();
    let unknown = layers.crates.keys().filter(|k| manifests.iter().all(|m| m.krate != *k));
    problems.extend(unknown.map(|k| Problem { place: "layers.toml".into(), what: format!("there is no crate `{k}`") }));
    Ok(problems)
}

fn manifests(files: &[File]) -> Result<Vec<Manifest<'_>>, String> {
    let of_crate = |file: &File| {
        file.path.starts_with("crates/") && file.path.matches('/').count() == 2 && file.path.ends_with("/Cargo.toml")
    };
    let parse = |file| {
        Ok(Manifest {
            file,
            krate: File::krate(file).expect("under crates/"),
            table: parse_table(&file.path, &file.text)?,
        })
    };
    files.iter().filter(|f| of_crate(f)).map(parse).collect()
}

fn package_name(manifest: &Table) -> Option<&str> {
    manifest.get("package")?.get("name")?.as_str()
}

fn check_manifest(manifest: &Manifest, folder_of: &BTreeMap<&str, &str>, layers: &Layers) -> Vec<Problem> {
    let packages = dependencies(&manifest.table);
    let edges: BTreeSet<String> =
        packages.iter().filter_map(|p| folder_of.get(p.as_str())).map(|s| s.to_string()).collect();
    let problem = |what: String| Problem::of(manifest.file, what);
    let mut problems = Vec::new();
    match layers.crates.get(manifest.krate) {
        None => problems.push(problem(format!("layers.toml does not know the crate `{}`", manifest.krate))),
        Some(allowed) => {
            problems.extend(edges.difference(allowed).map(|to| problem(format!("layers.toml has no edge to `{to}`"))));
            problems.extend(
                allowed
                    .difference(&edges)
                    .map(|to| problem(format!("layers.toml has an edge to `{to}`, which is not used"))),
            );
        }
    }
    if manifest.krate != PYTHON_CRATE {
        let python = packages.iter().filter(|p| PYTHON_PACKAGES.contains(&p.as_str()));
        problems.extend(python.map(|p| problem(format!("only crates/{PYTHON_CRATE} may depend on `{p}`"))));
    }
    problems
}

/// Names of the packages that the crate's own code is built with, on any target.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables =
        std::iter::once(manifest).chain(targets.into_iter().flat_map(|t| t.values()).filter_map(Value::as_table));
    let lists = tables.flat_map(|t| ["dependencies", "build-dependencies"].map(|key| t.get(key))).flatten();
    lists.filter_map(Value::as_table).flat_map(|list| list.iter().map(|(name, value)| real_name(name, value))).collect()
}

fn real_name(key: &str, dependency: &Value) -> String {
    dependency.get("package").and_then(Value::as_str).unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, shown};
    use super::*;

    fn check(manifest_of_ir: &str, expect: &[&str]) {
        let layers = Layers::parse("[crates]\nbase = []\nir = ['base']\n[modules]\n[unsafe]\ncrates = []\npaths = []")
            .expect("well formed");
        let files = [
            file("crates/base/Cargo.toml", "[package]\nname = 'pullback-base'"),
            file("crates/ir/Cargo.toml", &format!("[package]\nname = 'pullback-ir'\n{manifest_of_ir}")),
        ];
        assert_eq!(shown(&super::check(&files, &layers).expect("manifests parse")), expect);
    }

    #[test]
    fn edges_are_those_of_the_table() {
        check("[dependencies]\npullback-base.workspace = true\nsmallvec = '1'", &[]);
        check("[target.'cfg(unix)'.dependencies]\nb = { package = 'pullback-base', path = '../base' }", &[]);
        check("", &["crates/ir/Cargo.toml: layers.toml has an edge to `base`, which is not used"]);
        check("[dependencies]\npullback-base.workspace = true\n[dev-dependencies]\npyo3 = '1'", &[]);
        check(
            "[dependencies]\npullback-base.workspace = true\npullback-ir.workspace = true",
            &["crates/ir/Cargo.toml: layers.toml has no edge to `ir`"],
        );
        check(
            "[dependencies]\npullback-base.workspace = true\npyo3 = '1'",
            &["crates/ir/Cargo.toml: only crates/python may depend on `pyo3`"],
        );
    }

    #[test]
    fn both_sides_know_the_same_crates() {
        let layers =
            Layers::parse("[crates]\nold = []\n[modules]\n[unsafe]\ncrates = []\npaths = []").expect("well formed");
        let files = [file("crates/new/Cargo.toml", "[package]\nname = 'pullback-new'")];
        assert_eq!(
            shown(&super::check(&files, &layers).expect("manifests parse")),
            [
                "crates/new/Cargo.toml: layers.toml does not know the crate `new`",
                "layers.toml: there is no crate `old`"
            ]
        );
    }
}
