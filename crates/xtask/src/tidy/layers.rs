//! The reader of `layers.toml`: which crate may use which, which modules are layered, where `unsafe` may stand.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

/// What `layers.toml` allows.
pub(crate) struct Layers {
    /// Per crate folder, the crate folders it depends on.
    pub(crate) crates: BTreeMap<String, BTreeSet<String>>,
    /// Per crate folder, its layered root modules, lowest first.
    pub(crate) modules: BTreeMap<String, Vec<String>>,
    unsafe_crates: Vec<String>,
    unsafe_paths: Vec<String>,
}

impl Layers {
    pub(crate) fn parse(text: &str) -> Result<Layers, String> {
        let table = parse_table("layers.toml", text)?;
        let unsafe_ = section(&table, "unsafe")?;
        Ok(Layers {
            crates: lists(section(&table, "crates")?)?.map(|(k, v)| (k, v.into_iter().collect())).collect(),
            modules: lists(section(&table, "modules")?)?.collect(),
            unsafe_crates: strings("unsafe.crates", unsafe_.get("crates"))?,
            unsafe_paths: strings("unsafe.paths", unsafe_.get("paths"))?,
        })
    }

    /// Whether the whole crate may hold `unsafe`.
    pub(crate) fn crate_may_be_unsafe(&self, krate: &str) -> bool {
        self.unsafe_crates.iter().any(|c| c == krate)
    }

    /// Whether some module of the crate, though not the whole, may hold `unsafe`.
    pub(crate) fn crate_has_unsafe_path(&self, krate: &str) -> bool {
        let prefix = format!("crates/{krate}/");
        self.unsafe_paths.iter().any(|p| p.starts_with(&prefix))
    }

    /// Whether the file lies in one of the paths that may hold `unsafe`: the module's file or its folder.
    pub(crate) fn path_may_be_unsafe(&self, path: &str) -> bool {
        let inside = |allowed: &String| {
            path.strip_prefix(allowed.as_str()).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        self.unsafe_paths.iter().any(inside)
    }
}

pub(crate) fn parse_table(path: &str, text: &str) -> Result<Table, String> {
    toml::from_str(text).map_err(|e| format!("{path}: {e}"))
}

fn section<'a>(table: &'a Table, name: &str) -> Result<&'a Table, String> {
    table.get(name).and_then(Value::as_table).ok_or_else(|| format!("layers.toml has no section [{name}]"))
}

fn lists(table: &Table) -> Result<impl Iterator<Item = (String, Vec<String>)>, String> {
    let entries = table.iter().map(|(key, value)| Ok((key.clone(), strings(key, Some(value))?)));
    Ok(entries.collect::<Result<Vec<_>, String>>()?.into_iter())
}

fn strings(key: &str, value: Option<&Value>) -> Result<Vec<String>, String> {
    let words = value.and_then(Value::as_array).and_then(|a| a.iter().map(|v| v.as_str().map(str::to_owned)).collect());
    words.ok_or_else(|| format!("layers.toml: `{key}` must be a list of strings"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_modules_not_prefixes() {
        let text = "[crates]\n[modules]\n[unsafe]\ncrates = ['runtime']\npaths = ['crates/base/src/array']";
        let layers = Layers::parse(text).expect("well formed");
        for (path, allowed) in [
            ("crates/base/src/array/pool.rs", true),
            ("crates/base/src/array.rs", true),
            ("crates/base/src/arrays.rs", false),
            ("crates/base/src/aval.rs", false),
        ] {
            assert_eq!(layers.path_may_be_unsafe(path), allowed, "{path}");
        }
        assert!(layers.crate_has_unsafe_path("base") && !layers.crate_has_unsafe_path("bas"));
    }

    #[test]
    fn errors_name_the_key() {
        let why = |text| Layers::parse(text).err().unwrap_or_default();
        assert_eq!(why("[crates]\na = 'b'\n[modules]\n[unsafe]"), "layers.toml: `a` must be a list of strings");
        assert_eq!(why("[crates]\n[unsafe]"), "layers.toml has no section [modules]");
    }
}
