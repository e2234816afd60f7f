//! Programs of one function, threads that run them, and the worst that was found.

use std::sync::atomic::{AtomicU64, Ordering};

use pullback_base::DType;
use pullback_codegen::{Executable, Options, compile};
use pullback_loops::*;

use crate::functions::Function;

/// Inputs of one run of a program: few enough that all stay in the second-level cache.
pub(crate) const CHUNK: usize = 1 << 14;

/// The worst of what was measured, and how many were beyond the bound.
#[derive(Clone, Copy, Default)]
pub(crate) struct Found {
    pub(crate) ulp: f64,
    pub(crate) at: [f64; 2],
    pub(crate) beyond: u64,
    pub(crate) counted: u64,
}

impl Found {
    /// One input more. Those that are not worth a look are counted by the chunk.
    pub(crate) fn take(&mut self, ulp: f64, at: [f64; 2], bound: f64) {
        self.beyond += u64::from(ulp > bound);
        if ulp > self.ulp {
            (self.ulp, self.at) = (ulp, at);
        }
    }

    pub(crate) fn join(mut self, other: Found) -> Found {
        (self.counted, self.beyond) = (self.counted + other.counted, self.beyond + other.beyond);
        if other.ulp > self.ulp {
            (self.ulp, self.at) = (other.ulp, other.at);
        }
        self
    }
}

fn at(id: LoopId) -> Addr {
    Addr { terms: [(id, Extent::Const(1))].into_iter().collect(), ..Addr::default() }
}

/// The function over [`CHUNK`] numbers of a type, and after it that of the same numbers in `also`.
pub(crate) fn program(function: &Function, dtype: DType, also: Option<DType>) -> Executable {
    let mut b = Builder::new("ulp");
    let len = Extent::Const(CHUNK as i64);
    let n_ins = function.n_ins() as u32;
    let ins: Vec<BufferId> = (0..n_ins).map(|number| b.buffer(dtype, len, Role::Input(number))).collect();
    let out = b.buffer(dtype, len, Role::Output(0));
    let wide_out = also.map(|dtype| (dtype, b.buffer(dtype, len, Role::Output(1))));
    b.for_loop(len, LoopKind::Lanes, &[], |b, id, _| {
        let values: Vec<ValueId> = ins.iter().map(|&buffer| b.load(buffer, at(id))).collect();
        let result = function.apply(b, &values);
        b.store(out, at(id), result);
        if let Some((dtype, out)) = wide_out {
            let wide: Vec<ValueId> = values.iter().map(|&x| b.convert(dtype, x)).collect();
            let result = function.apply(b, &wide);
            b.store(out, at(id), result);
        }
        vec![]
    });
    compile(&b.finish(), &Options::default()).expect("it compiles")
}

/// Runs `chunk` on the numbers of all chunks, on all cores; each thread folds into a state of its own.
pub(crate) fn over_chunks<S: Default + Send>(n_chunks: u64, chunk: impl Fn(u64, &mut S) + Sync) -> Vec<S> {
    let next = AtomicU64::new(0);
    let work = || {
        let mut state = S::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= n_chunks {
                return state;
            }
            chunk(number, &mut state);
        }
    };
    let n_threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}
