//! Layers inside a crate: a root module may not use one that lies above it, whichever way the path is written.

use super::code::{code_only, without_tests};
use super::layers::Layers;
use super::{File, Problem};

/// Tests may use what lies above: they are not built into the crate.
pub(crate) fn check(file: &File, layers: &Layers) -> Vec<Problem> {
    let Some(order) = file.krate().and_then(|k| layers.modules.get(k)) else { return Vec::new() };
    let Some(module) = module_path(file).filter(|_| !file.is_test()) else { return Vec::new() };
    let Some(rank) = order.iter().position(|m| Some(m) == module.first()) else { return Vec::new() };
    let above = &order[rank + 1..];
    let code = without_tests(&code_only(&file.text));
    let used = root_modules(&code, module.len()).into_iter().filter(|(_, used)| above.contains(used));
    used.map(|(line, used)| {
        Problem::at(file, line, format!("`{}` may not use `crate::{used}`, which lies above it", order[rank]))
    })
    .collect()
}

/// The module that the file is, as a path from the root of its crate; the root itself has none.
fn module_path(file: &File) -> Option<Vec<String>> {
    let (_, inside) = file.path.split_once("/src/")?;
    let stem = inside.strip_suffix(".rs")?;
    let path = stem.strip_suffix("/mod").unwrap_or(stem);
    (path != "lib" && path != "main").then(|| path.split('/').map(str::to_owned).collect())
}

/// Root modules of the crate that `code`, a module `depth` deep, names, with their lines.
fn root_modules(code: &str, depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            name_roots(code, at + "crate::".len(), &mut found);
        }
    }
    let climb = "super::".repeat(depth);
    for (at, _) in code.match_indices(&climb) {
        name_roots(code, at + climb.len(), &mut found);
    }
    found
}

/// The first segments of the paths that begin at `at`: one, or those of a group in braces.
fn name_roots(code: &str, at: usize, found: &mut Vec<(usize, String)>) {
    let segment = |at: usize| code[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let line = |at: usize| code[..at].matches('\n').count() + 1;
    if !code[at..].starts_with('{') {
        found.push((line(at), segment(at)));
        return;
    }
    let mut depth = 0;
    let mut expects = false;
    for (offset, c) in code[at..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ if expects && depth == 1 && !c.is_whitespace() => found.push((line(at + offset), segment(at + offset))),
            _ => {}
        }
        if depth == 0 {
            return;
        }
        expects = depth == 1 && (matches!(c, '{' | ',') || (expects && c.is_whitespace()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, shown};
    use super::*;

    fn check(path: &str, code: &str, expect: &[&str]) {
        let layers = Layers::parse(
            "[crates]\n[modules]\ncore = ['prims', 'transforms', 'control']\n[unsafe]\ncrates = []\npaths = []",
        );
        let path = format!("crates/core/src/{path}");
        let problems = super::check(&file(&path, code), &layers.expect("well formed"));
        let places: Vec<String> =
            shown(&problems).iter().map(|p| p.replace(&path, "").replace(" which lies above it", "")).collect();
        assert_eq!(places, expect, "{path}: {code}");
    }

    #[test]
    fn what_lies_above_is_not_used() {
        check(
            "prims/unary/sin.rs",
            "use crate::prims::unary;\nuse crate::control::scan;",
            &[":2: `prims` may not use `crate::control`,"],
        );
        check("transforms/jvp.rs", "use crate::prims::sin;", &[]);
        check(
            "transforms/jvp.rs",
            "fn f() { crate::control::scan() }",
            &[":1: `transforms` may not use `crate::control`,"],
        );
        check("control/scan.rs", "use crate::{prims, transforms::jvp};", &[]);
        check("lib.rs", "use crate::control::scan;", &[]);
        check("registry.rs", "use crate::control::scan;", &[]);
    }

    #[test]
    fn however_it_is_written() {
        check(
            "prims/sin.rs",
            "use crate::{\n    prims::{self, control},\n    transforms::jvp, control\n};",
            &[":3: `prims` may not use `crate::transforms`,", ":3: `prims` may not use `crate::control`,"],
        );
        check(
            "prims/unary/sin.rs",
            "use super::super::super::control::scan;",
            &[":1: `prims` may not use `crate::control`,"],
        );
        check("prims/unary/sin.rs", "use super::control::x; use super::super::control::y;", &[]);
    }

    #[test]
    fn comments_and_tests_may_name_it() {
        check("prims/sin.rs", "//! See crate::control.\n// crate::control\n", &[]);
        check("prims/sin.rs", "#[cfg(test)]\nmod tests {\n    use crate::control::scan;\n}", &[]);
        check("prims/tests.rs", "use crate::control::scan;", &[]);
    }
}
