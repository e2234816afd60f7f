//! The rules of the tree that no compiler checks. Each is a function from files to problems, so each is tested on
//! files made for it.
//!
//! Owns no opinion about formatting (rustfmt) or idiom (clippy). The facts it compares with are in `layers.toml`.

mod code;
mod compositions;
mod crates;
mod files;
mod layers;
mod modules;
mod sources;

use std::fs;

use crate::Outcome;
use crate::process::{Process, root};
use layers::Layers;

/// A text file of the tree.
pub(crate) struct File {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// The folder under `crates/` that the file belongs to.
    fn krate(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether a generator wrote the file and says so in its first lines.
    fn is_generated(&self) -> bool {
        self.text.lines().take(5).any(|line| line.contains("@generated"))
    }

    /// Whether the file holds only tests, benchmarks or examples.
    fn is_test(&self) -> bool {
        let (folders, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        name == "tests.rs" || folders.split('/').any(|f| ["tests", "benches", "examples"].contains(&f))
    }
}

/// A broken rule, and where.
#[derive(Debug, PartialEq)]
pub(crate) struct Problem {
    place: String,
    what: String,
}

impl Problem {
    fn of(file: &File, what: impl Into<String>) -> Problem {
        Problem { place: file.path.clone(), what: what.into() }
    }

    fn at(file: &File, line: usize, what: impl Into<String>) -> Problem {
        Problem { place: format!("{}:{line}", file.path), what: what.into() }
    }
}

/// Checks every text file that git knows or would know.
pub(crate) fn tidy() -> Outcome {
    let problems = problems(&tree()?)?;
    if problems.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = problems.iter().map(|p| format!("{}: {}", p.place, p.what)).collect();
    Err(format!("{}\ntidy: {} problems", lines.join("\n"), lines.len()))
}

fn problems(files: &[File]) -> Result<Vec<Problem>, String> {
    let layers = files.iter().find(|f| f.path == "layers.toml").ok_or("there is no layers.toml")?;
    let layers = Layers::parse(&layers.text)?;
    let mut problems = crates::check(files, &layers)?;
    for file in files {
        problems.extend(files::check(file));
        problems.extend(compositions::check(file));
        if file.is_rust() {
            problems.extend(sources::check(file, &layers));
            problems.extend(modules::check(file, &layers));
        }
    }
    Ok(problems)
}

fn tree() -> Result<Vec<File>, String> {
    let listed = Process::new("git").args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).output()?;
    let paths = listed.split_terminator('\0');
    Ok(paths.filter_map(read).collect())
}

/// The file at `path`, unless it was deleted or is not text.
fn read(path: &str) -> Option<File> {
    let text = fs::read_to_string(root().join(path)).ok()?;
    Some(File { path: path.to_owned(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    pub(super) fn shown(problems: &[Problem]) -> Vec<String> {
        problems.iter().map(|p| format!("{}: {}", p.place, p.what)).collect()
    }

    #[test]
    fn one_problem_of_each_kind_is_found() {
        let files = [
            file("layers.toml", "[crates]\na = []\n[modules]\na = ['low', 'high']\n[unsafe]\ncrates = []\npaths = []"),
            file("crates/a/Cargo.toml", "[package]\nname = 'pullback-a'\n"),
            file("crates/a/src/lib.rs", "//! A.\n#![forbid(unsafe_code)]\nmod low;"),
            file("crates/a/src/low.rs", "//! Low.\nuse crate::high::f;"),
            file("crates/a/src/utils.rs", "//! Bits."),
            file("crates/a/src/loud.rs", "fn f() { dbg!(1); }"),
        ];
        let found = problems(&files).expect("layers.toml is well formed");
        assert_eq!(
            shown(&found),
            [
                "crates/a/src/low.rs:2: `low` may not use `crate::high`, which lies above it",
                "crates/a/src/utils.rs: name the file for what it holds, not `utils`",
                "crates/a/src/loud.rs: the module has no page: begin it with `//!`",
                "crates/a/src/loud.rs:1: `dbg!` outside tests and examples",
            ]
        );
    }

    #[test]
    fn the_tree_is_read() {
        let files = tree().expect("git lists the tree");
        assert!(files.iter().any(|f| f.path == "crates/xtask/src/tidy/mod.rs" && f.text.contains("the_tree_is_read")));
        assert!(files.iter().all(|f| !f.path.ends_with(".png")), "what is not text is left out");
    }
}
