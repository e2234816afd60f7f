//! Rules for any text file: its name, its length, and words that must not stay in it.

use super::{File, Problem};

const LONGEST: usize = 900;
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "helpers", "helper", "common", "misc"];

// Spelled in two halves, so that this file keeps its own rules.
const UNFINISHED: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
const MACHINE_PATHS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

pub(crate) fn check(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    problems.extend(machine_paths(file));
    if is_source(&file.path) {
        problems.extend(name(file));
        problems.extend(length(file));
        problems.extend(unfinished(file));
    }
    problems
}

/// Whether people write code in the file; prose and recorded data have no such limits.
fn is_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map(|(_, e)| e);
    extension
        .map_or(name == "Makefile" || path.starts_with("scripts/"), |e| ["rs", "py", "pyi", "sh", "toml"].contains(&e))
}

/// The modules that libraries import from the inside of JAX: their names are JAX's.
const NAMED_BY_JAX: &str = "python/pullback/_src/";

/// A file is named for a concept; these names are for what has none.
fn name(file: &File) -> Option<Problem> {
    if file.path.starts_with(NAMED_BY_JAX) {
        return None;
    }
    let stem = file.path.rsplit_once('.').map_or(&*file.path, |(stem, _)| stem);
    let bad = stem.split('/').map(|part| part.trim_start_matches('_')).find(|part| EMPTY_NAMES.contains(part))?;
    Some(Problem::of(file, format!("name the file for what it holds, not `{bad}`")))
}

fn length(file: &File) -> Option<Problem> {
    let lines = file.text.lines().count();
    (lines > LONGEST && !file.is_generated())
        .then(|| Problem::of(file, format!("{lines} lines, more than {LONGEST}: split it")))
}

/// What is to be done is an issue; the mark in the code names it, as `(#12)`.
fn unfinished(file: &File) -> Vec<Problem> {
    let found = lines(file)
        .filter_map(|(at, line)| UNFINISHED.into_iter().find(|mark| is_unnumbered(line, mark)).map(|mark| (at, mark)));
    found.map(|(at, mark)| Problem::at(file, at, format!("`{mark}` without the number of its issue"))).collect()
}

fn is_unnumbered(line: &str, mark: &str) -> bool {
    let numbered = |rest: &str| rest.strip_prefix("(#").is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    let word = |at: usize| {
        !line[..at].ends_with(char::is_alphanumeric) && !line[at + mark.len()..].starts_with(char::is_alphanumeric)
    };
    line.match_indices(mark).any(|(at, _)| word(at) && !numbered(&line[at + mark.len()..]))
}

/// A path of someone's machine says nothing to the next reader.
fn machine_paths(file: &File) -> Vec<Problem> {
    let found = lines(file).filter_map(|(at, line)| {
        MACHINE_PATHS.into_iter().find(|path| has_absolute(line, path)).map(|path| (at, path))
    });
    found.map(|(at, path)| Problem::at(file, at, format!("a machine's own path (`{path}…`)"))).collect()
}

/// Whether `path` stands in `line` as the beginning of a path, not inside a longer one or a URL.
fn has_absolute(line: &str, path: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "_-.~}/".contains(c);
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(inside))
}

fn lines(file: &File) -> impl Iterator<Item = (usize, &str)> {
    file.text.lines().enumerate().map(|(at, line)| (at + 1, line))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{file, shown};
    use super::*;

    fn check(path: &str, text: &str, expect: &[&str]) {
        let found: Vec<String> =
            shown(&super::check(&file(path, text))).iter().map(|p| p[path.len()..].to_owned()).collect();
        assert_eq!(found, expect, "{path}: {}", &text[..text.len().min(80)]);
    }

    #[test]
    fn names() {
        check("crates/ir/src/helpers.rs", "", &[": name the file for what it holds, not `helpers`"]);
        check("crates/ir/src/common/mod.rs", "", &[": name the file for what it holds, not `common`"]);
        check("python/pullback/_utils.py", "", &[": name the file for what it holds, not `utils`"]);
        check("crates/ir/src/commons.rs", "", &[]);
        check("docs/misc.md", "", &[]);
        check("python/pullback/_src/util.py", "", &[]);
    }

    #[test]
    fn lengths() {
        check("crates/ir/src/a.rs", &"x\n".repeat(900), &[]);
        check("crates/ir/src/a.rs", &"x\n".repeat(901), &[": 901 lines, more than 900: split it"]);
        check("python/pullback/a.pyi", &format!("# @generated\n{}", "x\n".repeat(901)), &[]);
        check("tests/files/a.jaxpr", &"x\n".repeat(901), &[]);
    }

    #[test]
    fn marks_have_numbers() {
        let [todo, fixme] = UNFINISHED;
        check("a.rs", &format!("// {todo}(#12): more"), &[]);
        check("a.rs", &format!("x\n// {todo}: more"), &[&format!(":2: `{todo}` without the number of its issue")]);
        check("a.py", &format!("# {fixme}(me)"), &[&format!(":1: `{fixme}` without the number of its issue")]);
        check("a.rs", &format!("// {todo}S are words"), &[]);
        check("docs/a.md", &format!("{todo}: prose"), &[]);
    }

    #[test]
    fn machine_paths_are_refused_everywhere() {
        for path in MACHINE_PATHS {
            check("docs/a.md", &format!("see `{path}x`"), &[&format!(":1: a machine's own path (`{path}…`)")]);
            check("docs/a.md", &format!("https://example.org{path}x and ~{path} and a{path}b"), &[]);
        }
    }
}
