//! Scratch memory of a program: temporaries whose lifetimes are over are used again for others of the same declaration.
//!
//! Each use of a temporary is a lease with a number. Whoever reads a variable shows the lease under which it was stored,
//! so that a plan that ends a lifetime too early is an error and not a wrong value.

use std::collections::HashMap;

use pullback_base::{DType, Result, bail};
use pullback_ir::lower::{memory_dtype, values_per_element};
use pullback_loops::{BufferId, Builder, Extent, Role};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::view::View;

/// Temporaries that are free.
#[derive(Default)]
pub(crate) struct Temps {
    free: HashMap<(DType, i64), Vec<BufferId>, FxBuildHasher>,
    /// How often each temporary was given back.
    leases: FxHashMap<BufferId, u32>,
    /// A temporary that was read after its lease had ended.
    overdue: Option<BufferId>,
    pub(crate) n_declared: usize,
}

impl Temps {
    /// A temporary for a row-major array.
    pub(crate) fn take(&mut self, loops: &mut Builder, shape: &[usize], dtype: DType) -> View {
        let len = (shape.iter().product::<usize>() * values_per_element(dtype)) as i64;
        let buffer = self.buffer(loops, memory_dtype(dtype), len);
        View { lease: self.lease(buffer), ..View::whole(buffer, shape, dtype) }
    }

    fn buffer(&mut self, loops: &mut Builder, dtype: DType, len: i64) -> BufferId {
        if let Some(buffer) = self.free.get_mut(&(dtype, len)).and_then(Vec::pop) {
            return buffer;
        }
        self.n_declared += 1;
        loops.buffer(dtype, Extent::Const(len), Role::Temp)
    }

    fn lease(&self, buffer: BufferId) -> u32 {
        self.leases.get(&buffer).copied().unwrap_or(0)
    }

    /// Ends the use of a temporary.
    pub(crate) fn give(&mut self, loops: &Builder, buffer: BufferId) {
        let decl = loops.decl(buffer);
        let Extent::Const(len) = decl.len else { unreachable!("temporaries have constant sizes") };
        *self.leases.entry(buffer).or_default() += 1;
        self.free.entry((decl.dtype, len)).or_default().push(buffer);
    }

    /// Notes when memory is read that is no longer what it was when `view` was made.
    pub(crate) fn watch(&mut self, view: &View) {
        if self.lease(view.buffer) != view.lease {
            self.overdue = Some(view.buffer);
        }
    }

    /// # Errors
    /// `Internal` when a plan ended a lifetime before the last reader.
    pub(crate) fn check(&self) -> Result<()> {
        match self.overdue {
            None => Ok(()),
            Some(buffer) => {
                bail!(Internal, "the memory b{} was given to another variable before its last reader", buffer.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_after_the_end_of_a_lease_is_found() {
        let (mut temps, mut loops) = (Temps::default(), Builder::new("test"));
        let first = temps.take(&mut loops, &[2, 3], DType::F32);
        temps.watch(&first);
        assert!(temps.check().is_ok());
        temps.give(&loops, first.buffer);
        let second = temps.take(&mut loops, &[6], DType::F32);
        assert_eq!(first.buffer, second.buffer);
        temps.watch(&second);
        assert!(temps.check().is_ok());
        temps.watch(&first);
        assert!(temps.check().is_err());
    }
}
