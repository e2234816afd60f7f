//! Functions to bytes: their code one after the other, the constant pool behind, and the listing.

mod body;

use rustc_hash::FxHashMap;

use super::allocate::allocate;
use super::encode::{Encoder, Label};
use super::inst::Function;
use crate::host::Relocation;
use body::Body;

/// Bytes of a frame on the stack: threads of the host have two megabytes, and code does not probe the pages in between.
const MOST_FRAME: i32 = 1 << 16;

/// Where a function keeps what does not fit into registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Frame {
    /// On the stack.
    Stack,
    /// In memory that the host gives to a run: the entry of the table that points there. Only the function that runs
    /// once can have it.
    Given(usize),
}

/// At the end of a given frame, where the stack pointer is kept.
pub(crate) const STACK_POINTER_BYTES: i32 = 64;

/// An entry of the constant pool.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Entry {
    Element { bits: u64, size_bytes: u8 },
    Bytes(Vec<u8>),
}

impl Entry {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Entry::Element { bits, size_bytes } => bits.to_le_bytes()[..*size_bytes as usize].to_vec(),
            Entry::Bytes(bytes) => bytes.clone(),
        }
    }
}

/// The functions of a program as bytes.
pub(crate) struct Assembler {
    pub(crate) encoder: Encoder,
    entries: Vec<Entry>,
    known: FxHashMap<Entry, u32>,
    has_avx512: bool,
    /// Where the functions of outlined loops start.
    pieces: Vec<Label>,
}

impl Assembler {
    pub(crate) fn new(has_avx512: bool) -> Assembler {
        Assembler {
            encoder: Encoder::default(),
            entries: vec![],
            known: FxHashMap::default(),
            has_avx512,
            pieces: vec![],
        }
    }

    fn entry(&mut self, entry: Entry) -> u32 {
        if let Some(&number) = self.known.get(&entry) {
            return number;
        }
        let number = self.entries.len() as u32;
        self.known.insert(entry.clone(), number);
        self.entries.push(entry);
        number
    }

    /// The label of the function with this number.
    pub(crate) fn piece(&mut self, number: usize) -> Label {
        while self.pieces.len() <= number {
            let label = self.encoder.label();
            self.pieces.push(label);
        }
        self.pieces[number]
    }

    /// Says that the function with this label comes next.
    pub(crate) fn start(&mut self, label: Label) {
        self.encoder.align(16);
        self.encoder.bind(label);
    }

    /// Appends a function whose frame may be `given` when it is too large for the stack; gives the bytes of that frame,
    /// and `None` when the function can have none.
    #[must_use]
    pub(crate) fn function(&mut self, mut function: Function, given: Option<Frame>) -> Option<usize> {
        let insts = function.flatten();
        let allocation = allocate(&function, &insts, self.has_avx512);
        let frame = if allocation.frame_bytes > MOST_FRAME { given? } else { Frame::Stack };
        let frame_bytes = match frame {
            Frame::Stack => 0,
            Frame::Given(_) => (allocation.frame_bytes + STACK_POINTER_BYTES) as usize,
        };
        Body::new(self, &function, allocation, frame).emit(&insts);
        Some(frame_bytes)
    }

    /// Appends the constant pool and fills in every reference. Gives the bytes, the addresses of the host in them, and
    /// their text if it was asked for.
    pub(crate) fn finish(mut self) -> (Vec<u8>, Vec<Relocation>, Option<String>) {
        let mut order: Vec<usize> = (0..self.entries.len()).collect();
        let contents: Vec<Vec<u8>> = self.entries.iter().map(Entry::bytes).collect();
        // The largest first, so that each is aligned by its size.
        order.sort_by_key(|&number| std::cmp::Reverse(contents[number].len()));
        let mut places = vec![0; contents.len()];
        let padding = self.encoder.bytes.len().next_multiple_of(64);
        self.encoder.bytes.resize(padding, 0xcc);
        for number in order {
            places[number] = self.encoder.bytes.len();
            self.encoder.bytes.extend(&contents[number]);
        }
        self.encoder.resolve(&places);
        let listing = self.encoder.listing.take().map(|lines| self.listing(&lines));
        (self.encoder.bytes, self.encoder.relocations, listing)
    }
}

impl Assembler {
    fn listing(&self, lines: &[(usize, String)]) -> String {
        let mut text = String::new();
        for (at, line) in lines {
            let indent = if line.ends_with(':') { "" } else { "  " };
            text.push_str(&format!("{at:6x} {indent}{line}\n"));
        }
        for (number, entry) in self.entries.iter().enumerate() {
            text.push_str(&format!("constant {number}: {:02x?}\n", entry.bytes()));
        }
        text
    }
}
