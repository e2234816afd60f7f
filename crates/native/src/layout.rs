//! Places of temporaries in the memory of one run.

use pullback_loops::{BufferDecl, Extent, Role};
use serde::{Deserialize, Serialize};

/// Alignment of temporaries.
const ALIGNMENT: usize = 64;

/// A number of bytes, up to where the next temporary may start.
pub fn aligned(size_bytes: usize) -> usize {
    size_bytes.next_multiple_of(ALIGNMENT)
}

/// Where each temporary of known size starts. Those of unknown size follow one another behind them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Layout {
    /// By buffer.
    pub offsets: Vec<Option<usize>>,
    /// Bytes of all temporaries of known size.
    pub known_bytes: usize,
}

impl Layout {
    /// The offset of each temporary for given sizes, and the bytes of all.
    pub fn lay_out(&self, buffers: &[BufferDecl], sizes: &[i64]) -> (Vec<Option<usize>>, usize) {
        let mut offsets = self.offsets.clone();
        let mut end = self.known_bytes;
        for (decl, offset) in buffers.iter().zip(&mut offsets) {
            if let (Role::Temp, Extent::Size(number)) = (&decl.role, decl.len) {
                *offset = Some(end);
                end += aligned(sizes[number as usize].max(0) as usize * decl.dtype.size_bytes());
            }
        }
        (offsets, end)
    }
}
