//! What the page says of the Python front: public names against JAX's, and how many tests compare with JAX.
//!
//! Read from the files by which the Python tests hold the package to its promises, so that the page says what they check.
//! It looks at no Python module itself.

use std::collections::BTreeMap;
use std::path::Path;

/// A table of public names and what is missing, then one of tests.
pub(super) fn sections() -> String {
    let (known, gaps) = (golden("inventory.json"), golden("inventory_gaps.txt"));
    format!("{}\n\n{}", names(&inventory(&known), &gaps), tests(&golden("differential_counts.txt")))
}

fn golden(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/py/golden").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Modules and their names, each with whether JAX shows a signature. The file has one name on a line.
fn inventory(text: &str) -> BTreeMap<&str, BTreeMap<&str, bool>> {
    let mut modules: BTreeMap<&str, BTreeMap<&str, bool>> = BTreeMap::new();
    let mut module = "";
    for (key, value) in text.lines().filter_map(|line| line.trim().strip_prefix('"')?.split_once("\": ")) {
        if value.starts_with('{') {
            module = key;
            modules.entry(module).or_default();
        } else {
            modules.entry(module).or_default().insert(key, !value.starts_with("null"));
        }
    }
    modules
}

fn names(modules: &BTreeMap<&str, BTreeMap<&str, bool>>, gaps: &str) -> String {
    let rows: Vec<String> = modules.iter().map(|(module, names)| row(module, names, gaps)).collect();
    let (missing, differing) = (listed(gaps, "missing"), listed(gaps, "signature"));
    let n_names: usize = modules.values().map(BTreeMap::len).sum();
    format!(
        "## Public names\n\n\
         {} of JAX's {n_names} public names are here. Of those that show a signature in JAX, the last column counts the ones \
         that show the same here, type annotations aside.\n\n\
         | module | names in JAX | here | with a signature in JAX | the same here |\n|---|---|---|---|---|\n{}\n\n\
         Missing: {}.\n\nWith another signature: {}.",
        n_names - missing.len(),
        rows.join("\n"),
        quoted(&missing),
        quoted(&differing)
    )
}

fn row(module: &str, names: &BTreeMap<&str, bool>, gaps: &str) -> String {
    let is_listed = |kind: &str, name: &str| listed(gaps, kind).contains(&format!("{module}.{name}").as_str());
    let here = names.keys().filter(|name| !is_listed("missing", name)).count();
    let shown = names.values().filter(|is_shown| **is_shown).count();
    let same = |name: &str| !is_listed("missing", name) && !is_listed("signature", name);
    let n_same = names.iter().filter(|(name, is_shown)| **is_shown && same(name)).count();
    format!("| `{module}` | {} | {here} | {shown} | {n_same} |", names.len())
}

/// The names that a list of gaps has of one kind.
fn listed<'a>(gaps: &'a str, kind: &str) -> Vec<&'a str> {
    gaps.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' ')).collect()
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

fn tests(counts: &str) -> String {
    let rows: Vec<Vec<&str>> = counts.lines().map(|line| line.split(' ').collect()).collect();
    let total: usize = rows.iter().filter_map(|row| row.get(2)?.parse::<usize>().ok()).sum();
    let rows: Vec<String> = rows.iter().map(|row| table_row(row)).collect();
    format!(
        "## Comparisons with JAX\n\n\
         At least {total} cases of `tests/py` compare a result with JAX's: *live*, as the test runs, or *recorded* from JAX \
         before. Counts are rounded down to hundreds, below a hundred to tens; a test that loops over cases of its own counts \
         as one, and files with fewer than ten are left out.\n\n\
         | file | answers | cases |\n|---|---|---|\n{}",
        rows.join("\n")
    )
}

fn table_row(row: &[&str]) -> String {
    format!("| `{}` | {} |", row[0], row[1..].join(" | "))
}
