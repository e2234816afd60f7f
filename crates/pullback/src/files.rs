//! Trees of arrays in files of the safetensors format, which other libraries and languages read too.
//!
//! ```
//! use pullback::prelude::*;
//! use pullback::files::{load, load_into, save};
//!
//! #[derive(Tree)]
//! struct Dense { weights: Array, bias: Array }
//!
//! let dense = Dense { weights: arr![[1.0, 2.0]], bias: arr![f64; 0.1, 0.2] };
//! let path = std::env::temp_dir().join(format!("dense-{}.safetensors", std::process::id()));
//! save(&path, &dense)?;
//! let again = load_into(&path, &dense)?;
//! assert_eq!((&again.weights, &again.bias), (&dense.weights, &dense.bias));
//! assert_eq!(load(&path)?["bias"].dtype(), DType::F64);
//! # std::fs::remove_file(path).ok();
//! # Ok::<(), pullback::Error>(())
//! ```

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use pullback_base::{Aval, DType, Error, ErrorKind, Result, bail};
use pullback_ir::Val;
use safetensors::tensor::{Dtype, TensorView};
use safetensors::{SafeTensors, serialize};

use crate::array::Array;
use crate::tree::{Tree, leaves_of};

/// The types that both sides have.
const TYPES: &[(DType, Dtype)] = &[
    (DType::Bool, Dtype::BOOL),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::F8E4M3FN, Dtype::F8_E4M3),
    (DType::F8E5M2, Dtype::F8_E5M2),
    (DType::F8E4M3FNUZ, Dtype::F8_E4M3FNUZ),
    (DType::F8E5M2FNUZ, Dtype::F8_E5M2FNUZ),
    (DType::F8E8M0FNU, Dtype::F8_E8M0),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
    (DType::C64, Dtype::C64),
];

fn failed(path: &Path, doing: &str, why: impl Display) -> Error {
    Error::new(ErrorKind::Runtime, format!("{} could not be {doing}: {why}", path.display()))
}

/// The names under which leaves are saved, each of them once.
fn names_of(tree: &impl Tree) -> Result<Vec<String>> {
    let mut names = vec![];
    tree.names("", &mut names);
    names.iter_mut().filter(|name| name.is_empty()).for_each(|name| *name = "array".into());
    let mut sorted = names.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => bail!(Value, "two leaves of the tree have the name {}", pair[0]),
        None => Ok(names),
    }
}

/// Writes the arrays of a tree to a file, each under its name ([`Tree::names`]). The file is whole or is not there: it is
/// written beside and then renamed.
///
/// # Errors
/// A `Type` error for a dtype that the format lacks, a `Concretization` error for an array that stands for an unknown value,
/// and a `Runtime` error when the file cannot be written.
#[track_caller]
pub fn save(path: impl AsRef<Path>, tree: &impl Tree) -> Result<()> {
    let path = path.as_ref();
    let mut held = vec![];
    for (name, leaf) in names_of(tree)?.into_iter().zip(leaves_of(tree)) {
        let array = leaf.known()?;
        let Some((_, dtype)) = TYPES.iter().find(|(ours, _)| *ours == array.dtype()) else {
            bail!(Type, "files of this format hold no {}, the type of {name}", array.dtype());
        };
        held.push((name, *dtype, array.shape().to_vec(), array.to_bytes()?));
    }
    let views =
        held.iter().map(|(name, dtype, shape, bytes)| Ok((name, TensorView::new(*dtype, shape.clone(), bytes)?)));
    let views: Result<Vec<_>, safetensors::SafeTensorError> = views.collect();
    let bytes = views.and_then(|views| serialize(views, None)).map_err(|why| failed(path, "written", why))?;
    write_whole(path, &bytes).map_err(|why| failed(path, "written", why))
}

fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(format!(".{}.partial", std::process::id()));
    let mut file = std::fs::File::create(&beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| std::fs::rename(&beside, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    written
}

/// The arrays of a file, by name.
///
/// # Errors
/// A `Runtime` error when the file cannot be read, is cut short or damaged, or holds a type that arrays do not have.
#[track_caller]
pub fn load(path: impl AsRef<Path>) -> Result<BTreeMap<String, Array>> {
    let path = path.as_ref();
    let bytes = std::fs::read(path).map_err(|why| failed(path, "read", why))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|why| failed(path, "read", why))?;
    let mut found = BTreeMap::new();
    for (name, view) in tensors.tensors() {
        let array = array_of(&view).map_err(|why| failed(path, "read", format!("{name}: {why}")))?;
        found.insert(name, array);
    }
    Ok(found)
}

fn array_of(view: &TensorView<'_>) -> Result<Array, String> {
    let Some((dtype, _)) = TYPES.iter().find(|(_, theirs)| *theirs == view.dtype()) else {
        return Err(format!("no array has the type {:?}", view.dtype()));
    };
    let bytes = view.data();
    if *dtype == DType::Bool && bytes.iter().any(|&byte| byte > 1) {
        return Err("a truth is neither 0 nor 1".into());
    }
    let aval = Aval::new(view.shape(), *dtype);
    if aval.size_bytes() != bytes.len() {
        return Err(format!("{} bytes are not {}", bytes.len(), aval.long()));
    }
    let array = pullback_base::Array::from_bytes(aval, bytes).map_err(|why| why.to_string())?;
    Ok(Array::from_val(Val::Array(array)))
}

/// A tree like `like` with the arrays of a file in place of its leaves.
///
/// # Errors
/// As [`load`]; a `Value` error when an array is missing, is left over, or is not of the shape and dtype of its leaf.
#[track_caller]
pub fn load_into<T: Tree>(path: impl AsRef<Path>, like: &T) -> Result<T> {
    let path = path.as_ref();
    let mut found = load(path)?;
    let mut leaves = vec![];
    for (name, leaf) in names_of(like)?.into_iter().zip(leaves_of(like)) {
        let Some(array) = found.remove(&name) else { bail!(Value, "{} has no array {name}", path.display()) };
        let (have, want) = (array.aval(), leaf.aval());
        if !crate::transforms::is_same_type(have, want) {
            let (have, want) = (have.weak(false).long(), want.weak(false).long());
            bail!(Value, "{name} of {} is of type {have}, where {want} is wanted", path.display());
        }
        leaves.push(array);
    }
    if let Some(name) = found.keys().next() {
        bail!(Value, "{} has an array {name}, for which there is no leaf", path.display());
    }
    Ok(like.with_leaves(&mut leaves.into_iter()))
}
