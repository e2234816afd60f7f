//! The buffers of one run, each access checked.

use std::borrow::Cow;

use pullback_base::{DType, Error, Result, bail};

use crate::half_width;
use crate::kernels::Kernels;
use crate::program::*;

enum Bytes<'a, 'b> {
    Read(Cow<'a, [u8]>),
    Output(&'a mut &'b mut [u8]),
    Temp(Vec<u8>),
}

impl Bytes<'_, '_> {
    fn read(&self) -> &[u8] {
        match self {
            Bytes::Read(bytes) => bytes,
            Bytes::Output(bytes) => bytes,
            Bytes::Temp(bytes) => bytes,
        }
    }

    fn write(&mut self) -> Result<&mut [u8]> {
        match self {
            Bytes::Read(_) => bail!(Internal, "a program stored to a buffer that is only read"),
            Bytes::Output(bytes) => Ok(bytes),
            Bytes::Temp(bytes) => Ok(bytes),
        }
    }
}

/// The bytes of every buffer.
pub(super) struct Memory<'a, 'b> {
    program: &'a Program,
    bytes: Vec<Bytes<'a, 'b>>,
    /// Which of `bytes` a buffer names now; swaps exchange them.
    slots: Vec<usize>,
}

impl<'a, 'b> Memory<'a, 'b> {
    pub(super) fn new(
        program: &'a Program,
        sizes: &[i64],
        inputs: &[&'a [u8]],
        outputs: &'a mut [&'b mut [u8]],
    ) -> Result<Memory<'a, 'b>> {
        let mut outputs: Vec<_> = outputs.iter_mut().map(Some).collect();
        let bytes = program.buffers.iter().map(|decl| bind(decl, sizes, inputs, &mut outputs));
        let bytes = bytes.collect::<Result<Vec<_>>>()?;
        Ok(Memory { program, slots: (0..bytes.len()).collect(), bytes })
    }

    fn range(&self, buffer: BufferId, position: i64, n: usize) -> Result<std::ops::Range<usize>> {
        let size = self.program.buffers[buffer.index()].dtype.size_bytes();
        let len = self.bytes[self.slots[buffer.index()]].read().len() / size;
        let start = usize::try_from(position).ok().filter(|start| start.checked_add(n).is_some_and(|end| end <= len));
        let Some(start) = start else {
            bail!(Internal, "{} accesses {n} elements at {position} of b{} of {len}", self.program.name, buffer.0)
        };
        Ok(start * size..(start + n) * size)
    }

    pub(super) fn load(&self, buffer: BufferId, position: i64) -> Result<u64> {
        let range = self.range(buffer, position, 1)?;
        let mut bits = [0; 8];
        bits[..range.len()].copy_from_slice(&self.bytes[self.slots[buffer.index()]].read()[range]);
        let bits = u64::from_le_bytes(bits);
        Ok(match self.program.buffers[buffer.index()].dtype {
            dtype @ (DType::F16 | DType::BF16) => half_width::widen(dtype, bits as u16).to_bits().into(),
            _ => bits,
        })
    }

    pub(super) fn store(&mut self, buffer: BufferId, position: i64, bits: u64) -> Result<()> {
        let range = self.range(buffer, position, 1)?;
        let bits = match self.program.buffers[buffer.index()].dtype {
            dtype @ (DType::F16 | DType::BF16) => half_width::narrow(dtype, f32::from_bits(bits as u32)).into(),
            _ => bits,
        };
        let n = range.len();
        self.bytes[self.slots[buffer.index()]].write()?[range].copy_from_slice(&bits.to_le_bytes()[..n]);
        Ok(())
    }

    pub(super) fn swap(&mut self, x: BufferId, y: BufferId) {
        self.slots.swap(x.index(), y.index());
    }

    /// Calls a kernel on copies of its operands, so that sharing of buffers cannot matter.
    pub(super) fn call(&mut self, kernel: &Kernel, args: &[(BufferId, i64)], kernels: &dyn Kernels) -> Result<()> {
        let spans = kernel.spans();
        let ranges = args.iter().zip(&spans).map(|(&(buffer, position), &n)| self.range(buffer, position, n));
        let ranges = ranges.collect::<Result<Vec<_>>>()?;
        let copy = |(&(buffer, _), range): (&(BufferId, i64), &std::ops::Range<usize>)| {
            self.bytes[self.slots[buffer.index()]].read()[range.clone()].to_vec()
        };
        let mut copies: Vec<Vec<u8>> = args.iter().zip(&ranges).map(copy).collect();
        let (ins, outs) = copies.split_at_mut(kernel.n_ins());
        let ins: Vec<&[u8]> = ins.iter().map(Vec::as_slice).collect();
        kernels.call(kernel, &ins, &mut outs.iter_mut().map(Vec::as_mut_slice).collect::<Vec<_>>())?;
        for (i, range) in ranges.into_iter().enumerate().skip(kernel.n_ins()) {
            self.bytes[self.slots[args[i].0.index()]].write()?[range].copy_from_slice(&copies[i]);
        }
        Ok(())
    }
}

fn bind<'a, 'b>(
    decl: &'a BufferDecl,
    sizes: &[i64],
    inputs: &[&'a [u8]],
    outputs: &mut [Option<&'a mut &'b mut [u8]>],
) -> Result<Bytes<'a, 'b>> {
    let n = match decl.len {
        Extent::Const(n) => n,
        Extent::Size(number) => sizes[number as usize],
    };
    let size_bytes = n as usize * decl.dtype.size_bytes();
    let missing =
        |what: &str, number: u32| Error::internal(format!("{what} {number} of {size_bytes} bytes is missing"));
    Ok(match &decl.role {
        Role::Input(number) => {
            let bytes = inputs.get(*number as usize).filter(|bytes| bytes.len() >= size_bytes);
            Bytes::Read(Cow::Borrowed(&bytes.ok_or_else(|| missing("input", *number))?[..size_bytes]))
        }
        Role::Output(number) => {
            let bytes = outputs.get_mut(*number as usize).and_then(Option::take);
            let bytes = bytes.filter(|bytes| bytes.len() >= size_bytes);
            Bytes::Output(bytes.ok_or_else(|| missing("output", *number))?)
        }
        Role::Temp => Bytes::Temp(vec![0; size_bytes]),
        Role::Const(array) => Bytes::Read(Cow::Owned(array.to_bytes()?)),
    })
}
