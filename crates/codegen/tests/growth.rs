//! How the work of the whole way from jaxpr to machine code grows with the jaxpr: allocations are counted, not seconds,
//! so that the test is the same on every machine and under any load.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use pullback_base::{Aval, DType};
use pullback_core::prims::{ADD, DOT_GENERAL, DotDimensions, DotGeneral, MUL, NEG, REDUCE_SUM, ReduceSum};
use pullback_ir::{Builder, Emit, JaxprRef, Params, PrimRef, Val};

thread_local! {
    /// Allocations of this thread, each with a share for its size.
    static WORK: Cell<f64> = const { Cell::new(0.0) };
}

struct Counting;

// SAFETY: every request goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // The thread may be ending and its counter gone.
        let _ = WORK.try_with(|work| work.set(work.get() + 1.0 + layout.size() as f64 / 256.0));
        // SAFETY: by contract of the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: by contract of the caller.
        unsafe { System.dealloc(start, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn bind(builder: &Builder, prim: PrimRef, params: &Params, ins: &[&Val]) -> Val {
    let ins: Vec<Val> = ins.iter().map(|&val| val.clone()).collect();
    builder.bind(prim, params, &ins).expect("operands fit")[0].clone()
}

/// One long nest.
fn chain(n: usize) -> JaxprRef {
    let builder = Builder::new();
    let x = builder.input(Aval::new(&[8], DType::F32));
    let mut last = x.clone();
    for i in 0..n {
        let none = &Params::NONE;
        last = if i % 2 == 0 { bind(&builder, NEG, none, &[&last]) } else { bind(&builder, MUL, none, &[&last, &x]) };
    }
    JaxprRef::new(builder.finish(&[last], None).0)
}

/// Many nests with totals between them.
fn steps(n: usize) -> JaxprRef {
    let builder = Builder::new();
    let x = builder.input(Aval::new(&[4, 8], DType::F32));
    let axes = Params::new(ReduceSum { axes: vec![0, 1], out_sharding: None });
    let mut last = x.clone();
    for _ in 0..n / 3 {
        let total = bind(&builder, REDUCE_SUM, &axes, &[&last]);
        let scaled = bind(&builder, MUL, &Params::NONE, &[&x, &total]);
        last = bind(&builder, ADD, &Params::NONE, &[&scaled, &last]);
    }
    JaxprRef::new(builder.finish(&[last], None).0)
}

/// Products whose results all live until the end, as those of a gradient do.
fn products(n: usize) -> JaxprRef {
    let builder = Builder::new();
    let x = builder.input(Aval::new(&[16, 16], DType::F32));
    let dimension_numbers = DotDimensions { contract: [vec![1], vec![0]], batch: [vec![], vec![]] };
    let dot = Params::new(DotGeneral {
        dimension_numbers,
        precision: None,
        preferred_element_type: Some(DType::F32),
        out_sharding: None,
    });
    let mut made = vec![x.clone()];
    for _ in 0..n / 2 {
        let last = made.last().expect("the input").clone();
        made.push(bind(&builder, DOT_GENERAL, &dot, &[&last, &x]));
    }
    let mut sum = x;
    for product in made.into_iter().rev() {
        sum = bind(&builder, ADD, &Params::NONE, &[&sum, &product]);
    }
    JaxprRef::new(builder.finish(&[sum], None).0)
}

fn work_of_compiling(jaxpr: &JaxprRef) -> f64 {
    let before = WORK.get();
    let lowered = pullback_compile::compile(jaxpr, &pullback_compile::Options::default()).expect("it compiles");
    let options = pullback_codegen::Options::default();
    pullback_codegen::compile(&lowered.program, &options).expect("it compiles");
    WORK.get() - before
}

#[test]
fn work_grows_with_the_jaxpr() {
    let sizes = [10, 100, 1000, 10_000];
    for (name, make) in [("chain", chain as fn(usize) -> JaxprRef), ("steps", steps), ("products", products)] {
        let works: Vec<f64> = sizes.iter().map(|&n| work_of_compiling(&make(n))).collect();
        for pair in works.windows(2) {
            let slope = (pair[1] / pair[0]).log10();
            assert!(slope <= 1.1, "{name}: work {works:?} for {sizes:?} equations, slope {slope}");
        }
    }
}
