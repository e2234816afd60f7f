//! Rules for one Rust source: its page, `unsafe`, macros that are for development, and who knows Python.

use super::code::{code_only, without_tests, words};
use super::layers::Layers;
use super::{File, Problem};

/// Macros that must not stay in code that ships: they speak on the user's terminal, or are not finished.
const DEVELOPMENT: [&str; 7] = ["println", "print", "eprintln", "eprint", "dbg", "todo", "unimplemented"];

pub(crate) fn check(file: &File, layers: &Layers) -> Vec<Problem> {
    let code = code_only(&file.text);
    let rules = [
        page(file),
        forbids_unsafe(file, layers, &code),
        unsafe_code(file, layers, &code),
        development(file, &code),
        python(file, &code),
    ];
    rules.into_iter().flatten().collect()
}

/// Every module says first what it owns. Attributes of the crate may stand before.
fn page(file: &File) -> Vec<Problem> {
    let first = file.text.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
    let has_page = first.is_some_and(|line| line.starts_with("//!"));
    if has_page { Vec::new() } else { vec![Problem::of(file, "the module has no page: begin it with `//!`")] }
}

/// The root of a crate forbids what the crate may not do, so that the compiler sees it too.
fn forbids_unsafe(file: &File, layers: &Layers, code: &str) -> Vec<Problem> {
    let krate = match file.path.split('/').collect::<Vec<_>>()[..] {
        ["crates", krate, "src", "lib.rs" | "main.rs"] => krate,
        _ => return Vec::new(),
    };
    let exempt = layers.crate_may_be_unsafe(krate) || layers.crate_has_unsafe_path(krate);
    if exempt || code.contains("#![forbid(unsafe_code)]") {
        return Vec::new();
    }
    vec![Problem::of(file, "the crate lacks `#![forbid(unsafe_code)]`")]
}

fn unsafe_code(file: &File, layers: &Layers, code: &str) -> Vec<Problem> {
    let allowed = file.krate().is_some_and(|k| layers.crate_may_be_unsafe(k)) || layers.path_may_be_unsafe(&file.path);
    if allowed {
        return Vec::new();
    }
    let lines = words(code).filter(|(_, word, _)| *word == "unsafe").map(|(line, ..)| line);
    lines.map(|line| Problem::at(file, line, "`unsafe` outside the places that layers.toml allows")).collect()
}

fn development(file: &File, code: &str) -> Vec<Problem> {
    let speaks = file.krate() == Some("xtask")
        || file.is_test()
        || file.path.contains("/src/bin/")
        || file.path.ends_with("/build.rs");
    if speaks {
        return Vec::new();
    }
    let code = without_tests(code);
    let found = words(&code)
        .filter(|(_, word, rest)| DEVELOPMENT.contains(word) && rest.starts_with('!') && !rest.starts_with("!="));
    found.map(|(line, word, _)| Problem::at(file, line, format!("`{word}!` outside tests and examples"))).collect()
}

fn python(file: &File, code: &str) -> Vec<Problem> {
    if file.krate() == Some("python") {
        return Vec::new();
    }
    let lines = words(code).filter(|(_, word, _)| *word == "pyo3").map(|(line, ..)| line);
    lines.map(|line| Problem::at(file, line, "`pyo3` outside crates/python")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, shown};
    use super::*;

    /// The problems of the file, without its path.
    fn check(path: &str, code: &str, expect: &[&str]) {
        let layers = "[crates]\n[modules]\n[unsafe]\ncrates = ['runtime']\npaths = ['crates/base/src/array']";
        let problems = super::check(&file(path, code), &Layers::parse(layers).expect("well formed"));
        let found: Vec<String> = shown(&problems).iter().map(|p| p[path.len()..].to_owned()).collect();
        assert_eq!(found, expect, "{path}: {code}");
    }

    #[test]
    fn a_module_has_a_page() {
        let missing = [": the module has no page: begin it with `//!`"];
        check("crates/ir/src/jaxpr.rs", "//! Jaxprs.\n", &[]);
        check("crates/ir/src/jaxpr.rs", "#![allow(x)]\n\n//! Jaxprs.\n", &[]);
        check("crates/ir/src/jaxpr.rs", "// Jaxprs.\n", &missing);
        check("crates/ir/src/jaxpr.rs", "use x;\n//! Jaxprs.\n", &missing);
        check("crates/ir/src/jaxpr.rs", "", &missing);
    }

    #[test]
    fn unsafe_stands_where_it_may() {
        let refused = [":2: `unsafe` outside the places that layers.toml allows"];
        check("crates/ir/src/jaxpr.rs", "//! J.\nunsafe fn f() {}", &refused);
        check("crates/ir/tests/all.rs", "//! J.\nunsafe fn f() {}", &refused);
        check("crates/ir/src/jaxpr.rs", "//! unsafe.\n// unsafe\nfn f() { \"unsafe\"; unsafe_too() }", &[]);
        check("crates/runtime/src/pool.rs", "//! P.\nunsafe fn f() {}", &[]);
        check("crates/base/src/array/pool.rs", "//! P.\nunsafe fn f() {}", &[]);
        check("crates/base/src/aval.rs", "//! A.\nunsafe fn f() {}", &refused);
    }

    #[test]
    fn a_crate_forbids_unsafe() {
        check("crates/ir/src/lib.rs", "//! I.\n", &[": the crate lacks `#![forbid(unsafe_code)]`"]);
        check(
            "crates/ir/src/lib.rs",
            "//! I.\n// #![forbid(unsafe_code)]\n",
            &[": the crate lacks `#![forbid(unsafe_code)]`"],
        );
        check("crates/ir/src/lib.rs", "//! I.\n#![forbid(unsafe_code)]\n", &[]);
        check("crates/runtime/src/lib.rs", "//! R.\n", &[]);
        check("crates/base/src/lib.rs", "//! B.\n", &[]);
    }

    #[test]
    fn development_macros_do_not_ship() {
        check("crates/ir/src/a.rs", "//! A.\nfn f() { todo!() }", &[":2: `todo!` outside tests and examples"]);
        check(
            "crates/ir/src/a.rs",
            "//! A.\nfn f() { std::println!(\"\") }",
            &[":2: `println!` outside tests and examples"],
        );
        check("crates/ir/src/a.rs", "//! A.\nfn f() { g(\"todo!\", print!=1, my_dbg!(2)) }", &[]);
        check("crates/ir/src/a.rs", "//! A.\n#[cfg(test)]\nmod tests { fn f() { dbg!(1) } }", &[]);
        for path in ["crates/xtask/src/a.rs", "crates/ir/tests/a.rs", "examples/a.rs", "crates/testkit/src/bin/a.rs"] {
            check(path, "//! A.\nfn f() { println!() }", &[]);
        }
    }

    #[test]
    fn one_crate_knows_python() {
        check("crates/ir/src/a.rs", "//! A.\nuse pyo3::prelude;", &[":2: `pyo3` outside crates/python"]);
        check("crates/ir/src/a.rs", "//! Not pyo3.\n", &[]);
        check("crates/python/src/a.rs", "//! A.\nuse pyo3::prelude;", &[]);
    }
}
