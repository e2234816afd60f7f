//! Compiled functions in files.

use std::panic::Location;
use std::path::Path;

use pullback_base::{DType, Error, ErrorKind, Result, Span};
use pullback_ir::{JaxprRef, Val};
use pullback_native::Compiled;

use crate::array::Array;
use crate::transforms::{Output, traced_at, vals};
use crate::tree::{Tree, leaves_of};

/// A function that is compiled for arguments of fixed types, and can be saved to a file and loaded from it: also by a program
/// that has neither tracer nor compiler (the crate `pullback-native` alone), and from Python
/// (`jax.jit(f).lower(...).compile().save(path)`).
///
/// It is `Send + Sync`. What the function closed over is part of it. A file is for machines of one kind and one version of
/// this crate, and is a program: who loads one trusts who made it.
///
/// ```
/// use pullback::prelude::*;
/// use pullback::Executable;
///
/// let weights = arr![[1.0, 2.0], [3.0, 4.0]];
/// let predict = move |x: &Array| x.matmul(&weights).tanh();
/// let path = std::env::temp_dir().join(format!("predict-{}.pullback", std::process::id()));
/// Executable::new(&predict, &zeros(&[2]))?.save(&path)?;
///
/// let loaded = Executable::load(&path)?;
/// assert_eq!(loaded.call(&arr![0.1, 0.2])?, [predict(&arr![0.1, 0.2])]);
/// assert_eq!(loaded.argument_types(), [(vec![2], DType::F32)]);
/// # std::fs::remove_file(path).ok();
/// # Ok::<(), pullback::Error>(())
/// ```
pub struct Executable(Compiled);

impl Executable {
    /// Compiles `f` for arguments of the structure, shapes and dtypes of `like`.
    ///
    /// # Errors
    /// What waits in an operation of `f`; `NotImplemented` for a function with callbacks.
    #[track_caller]
    pub fn new<A: Tree, R: Output>(f: impl Fn(&A) -> R, like: &A) -> Result<Executable> {
        Span::of(Location::caller()).scope(|| {
            let (traced, _) = traced_at(&f, like, &vals(like)?)?;
            let known: Option<Vec<_>> = traced.captured.iter().map(Val::to_array).collect();
            let known = known.ok_or_else(|| {
                let text = "a function that uses a value of a transformation around it is no program of its own";
                Error::type_error(text)
            })?;
            Ok(Executable(pullback_backend::native(&JaxprRef::new(traced.jaxpr.closed_over(&known)))?))
        })
    }

    /// Runs on the leaves of an argument; gives the leaves of the result.
    ///
    /// # Errors
    /// `Type` when the leaves have other shapes or dtypes than it was compiled for.
    pub fn call(&self, arg: &impl Tree) -> Result<Vec<Array>> {
        let array = |leaf: &Array| {
            let unknown = || Error::type_error("a compiled function takes arrays and no values of a transformation");
            leaf.val()?.to_array().ok_or_else(unknown)
        };
        let args = leaves_of(arg).into_iter().map(array).collect::<Result<Vec<_>>>()?;
        Ok(self.0.run(&args)?.into_iter().map(|out| Array::from_val(Val::Array(out))).collect())
    }

    /// Shapes and dtypes of the leaves of the argument.
    pub fn argument_types(&self) -> Vec<(Vec<usize>, DType)> {
        self.0.in_avals().iter().map(|aval| (aval.shape.to_vec(), aval.dtype)).collect()
    }

    /// Shapes and dtypes of the leaves of the result.
    pub fn result_types(&self) -> Vec<(Vec<usize>, DType)> {
        self.0.out_avals().iter().map(|aval| (aval.shape.to_vec(), aval.dtype)).collect()
    }

    /// As bytes, for [`Executable::from_bytes`].
    ///
    /// # Errors
    /// `NotImplemented` for a function with callbacks, and on machines that are not x86-64 with AVX2.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.0.save()
    }

    /// Of bytes that [`Executable::to_bytes`] gave, or a file holds.
    ///
    /// # Errors
    /// `Value` for other bytes, such as were cut short or changed, and for code that this machine or version does not run.
    pub fn from_bytes(bytes: &[u8]) -> Result<Executable> {
        Compiled::load(bytes).map(Executable)
    }

    /// Writes it to a file, which is whole or is not there.
    ///
    /// # Errors
    /// As [`Executable::to_bytes`]; `Runtime` when the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        pullback_native::write_whole(path, &self.to_bytes()?).map_err(|error| failed(path, "written", &error))
    }

    /// Reads it from a file.
    ///
    /// # Errors
    /// As [`Executable::from_bytes`]; `Runtime` when the file cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<Executable> {
        let path = path.as_ref();
        Executable::from_bytes(&std::fs::read(path).map_err(|error| failed(path, "read", &error))?)
    }
}

fn failed(path: &Path, doing: &str, error: &std::io::Error) -> Error {
    Error::new(ErrorKind::Runtime, format!("{} could not be {doing}: {error}", path.display()))
}
