//! Scratch memory of a program: temporaries whose lifetimes are over are used again for others of the same declaration.

use std::collections::HashMap;

use pullback_base::DType;
use pullback_loops::{BufferId, Builder, Extent, Role};
use rustc_hash::FxBuildHasher;

/// Temporaries that are free.
#[derive(Default)]
pub(crate) struct Temps {
    free: HashMap<(DType, i64), Vec<BufferId>, FxBuildHasher>,
    pub(crate) n_declared: usize,
}

impl Temps {
    /// A temporary of `len` values of `dtype`, the type in memory.
    pub(crate) fn take(&mut self, loops: &mut Builder, dtype: DType, len: i64) -> BufferId {
        if let Some(buffer) = self.free.get_mut(&(dtype, len)).and_then(Vec::pop) {
            return buffer;
        }
        self.n_declared += 1;
        loops.buffer(dtype, Extent::Const(len), Role::Temp)
    }

    /// Ends the use of a temporary.
    pub(crate) fn give(&mut self, loops: &Builder, buffer: BufferId) {
        let decl = loops.decl(buffer);
        let Extent::Const(len) = decl.len else { unreachable!("temporaries have constant sizes") };
        self.free.entry((decl.dtype, len)).or_default().push(buffer);
    }
}
