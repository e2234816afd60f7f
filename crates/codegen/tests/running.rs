//! What running a program promises beyond bits: threads, interrupts, errors, memory.

use std::sync::Arc;

use pullback_base::{DType, Error, ErrorKind, Result, Scalar};
use pullback_codegen::{Engine, Executable, Options, compile};
use pullback_loops::*;

fn at(terms: &[(LoopId, i64)]) -> Addr {
    Addr { terms: terms.iter().map(|&(id, stride)| (id, Extent::Const(stride))).collect(), ..Addr::default() }
}

/// Sums of `exp` over rows, rows in parallel.
fn rows(n: i64, width: i64) -> Program {
    let mut b = Builder::new("rows");
    let x = b.buffer(DType::F32, Extent::Const(n * width), Role::Input(0));
    let y = b.buffer(DType::F32, Extent::Const(n), Role::Output(0));
    b.for_loop(Extent::Const(n), LoopKind::Parallel, &[], |b, i, _| {
        let zero = b.constant(Scalar::f32(0.0));
        let sum = b.for_loop(Extent::Const(width), LoopKind::Lanes, &[(zero, Some(Combine::Add))], |b, j, carries| {
            let value = b.load(x, at(&[(i, width), (j, 1)]));
            let value = b.unary(Unary::Exp, value);
            vec![b.binary(Binary::Add, carries[0], value)]
        });
        b.store(y, at(&[(i, 1)]), sum[0]);
        vec![]
    });
    b.finish()
}

fn run_f32(executable: &Executable, input: &[f32], n: usize) -> Result<Vec<f32>> {
    let mut out = vec![0f32; n];
    // SAFETY: the tests pass as many elements as the program declares.
    unsafe { executable.run(&[], &[input.as_ptr().cast()], &[out.as_mut_ptr().cast()]) }?;
    Ok(out)
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let executable = compile(&rows(64, 1037), &Options::default()).expect("it compiles");
    let input: Vec<f32> = (0..64 * 1037).map(|i| (i % 977) as f32 / 100.0).collect();
    let results = [1, 2, 5].map(|n_threads| {
        pullback_runtime::set_threads(n_threads);
        run_f32(&executable, &input, 64).expect("it runs")
    });
    pullback_runtime::set_threads(0);
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    let want: f64 = input[..1037].iter().map(|&x| f64::from(x).exp()).sum();
    assert!((f64::from(results[0][0]) / want - 1.0).abs() < 1e-6);
}

#[test]
fn endless_loops_stop_when_interrupted() {
    let mut b = Builder::new("endless");
    let y = b.buffer(DType::I64, Extent::Const(1), Role::Output(0));
    let zero = b.int(0);
    let end = b.while_loop(
        &[zero],
        |b, carries| {
            let least = b.int(0);
            b.compare(Comparison::Ge, carries[0], least)
        },
        |b, carries| {
            let (one, mask) = (b.int(1), b.int(255));
            let next = b.binary(Binary::Add, carries[0], one);
            vec![b.binary(Binary::And, next, mask)]
        },
    );
    b.store(y, Addr::default(), end[0]);
    let executable = compile(&b.finish(), &Options::default()).expect("it compiles");
    let raiser = std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        pullback_runtime::interrupt::raise();
    });
    let mut out = 0i64;
    // SAFETY: the output has one element.
    let result = unsafe { executable.run(&[], &[], &[(&raw mut out).cast()]) };
    raiser.join().expect("the raiser ends");
    pullback_runtime::interrupt::clear();
    assert_eq!(result.expect_err("stopped").kind(), ErrorKind::Interrupt);
}

struct Failing;

impl HostCall for Failing {
    fn call(&self, _: &[&[u8]], _: &mut [&mut [u8]]) -> Result<()> {
        Err(Error::value_error("not today"))
    }

    fn name(&self) -> String {
        "failing".into()
    }
}

/// A program that calls a kernel from its input to its output.
fn calling(kernel: Kernel, n: i64) -> Program {
    let mut b = Builder::new("calling");
    let x = b.buffer(DType::F32, Extent::Const(n), Role::Input(0));
    let y = b.buffer(DType::F32, Extent::Const(n), Role::Output(0));
    let args = vec![(x, Addr::default()), (y, Addr::default())];
    b.push(Op::Call(Box::new(Call { kernel, args })));
    b.finish()
}

#[test]
fn kernels_run_and_their_errors_come_back() {
    let input = [3.0, 1.0, 2.0, 0.0];
    let run = |kernel| {
        let executable = compile(&calling(kernel, 4), &Options::default()).expect("it compiles");
        run_f32(&executable, &input, 4)
    };
    assert_eq!(run(Kernel::Copy(4)).expect("it runs"), input);
    let sort = Sort { dtypes: vec![DType::F32], sizes: [1, 4, 1], n_keys: 1 };
    assert_eq!(run(Kernel::Sort(sort)).expect("it runs"), [0.0, 1.0, 2.0, 3.0]);
    let host = Kernel::Host(Arc::new(Failing), 1, vec![4, 4]);
    assert_eq!(run(host).expect_err("it fails").message(), "not today");
}

#[test]
fn code_is_kept_while_it_may_run_and_reads_as_text() {
    let options = Options { disassemble: true, ..Options::default() };
    let executable = compile(&rows(4, 16), &options).expect("it compiles");
    assert!(!executable.machine_code().is_empty());
    // Many programs one after the other: memory of dropped ones goes back.
    for _ in 0..300 {
        let executable = compile(&rows(4, 16), &Options::default()).expect("it compiles");
        assert_eq!(run_f32(&executable, &[0.0; 64], 4).expect("it runs"), [16.0; 4]);
    }
}

/// Bytes that end where memory ends: the page behind them may not be touched.
struct AtTheEnd {
    memory: region::Allocation,
    size_bytes: usize,
}

impl AtTheEnd {
    fn new(size_bytes: usize) -> AtTheEnd {
        let page = region::page::size();
        let mut memory = region::alloc(2 * page, region::Protection::READ_WRITE).expect("two pages");
        // SAFETY: the second page is part of the allocation, and nobody refers to it.
        unsafe { region::protect(memory.as_mut_ptr::<u8>().add(page), page, region::Protection::NONE) }
            .expect("a guard");
        AtTheEnd { memory, size_bytes }
    }

    fn start(&mut self) -> *mut u8 {
        // SAFETY: the place is in the first page.
        unsafe { self.memory.as_mut_ptr::<u8>().add(region::page::size() - self.size_bytes) }
    }
}

/// Loops of every length and type read and write their own elements and no others, backwards and by steps too.
#[test]
fn nothing_beyond_the_ends_is_touched() {
    use DType::*;
    for engine in Engine::of_this_machine() {
        for dtype in [Bool, I8, U16, I32, U64, F32, F64, F16, BF16] {
            for (n, stride) in (1..=35).map(|n| (n, 1)).chain([(1, 3), (5, 3), (19, 2), (33, 3)]) {
                let mut b = Builder::new("ends");
                let len = (n - 1) * stride + 1;
                let x = b.buffer(dtype, Extent::Const(len), Role::Input(0));
                let y = b.buffer(dtype, Extent::Const(len), Role::Output(0));
                b.for_loop(Extent::Const(n), LoopKind::Lanes, &[], |b, i, _| {
                    let value = b.load(x, at(&[(i, stride)]));
                    b.store(y, at(&[(i, stride)]), value);
                    vec![]
                });
                let options = Options { engine: Some(engine), ..Options::default() };
                let executable = compile(&b.finish(), &options).expect("it compiles");
                let size_bytes = len as usize * dtype.size_bytes();
                let (mut from, mut to) = (AtTheEnd::new(size_bytes), AtTheEnd::new(size_bytes));
                // SAFETY: both have as many bytes as the program declares.
                unsafe {
                    from.start().write_bytes(1, size_bytes);
                    executable.run(&[], &[from.start()], &[to.start()]).expect("it runs");
                    for i in (0..size_bytes).step_by(stride as usize * dtype.size_bytes()) {
                        assert_eq!(*to.start().add(i), 1, "{engine:?} {dtype} {n} by {stride}: byte {i}");
                    }
                    assert_eq!(*to.start().sub(1), 0, "{engine:?} {dtype} {n} by {stride}: the byte before");
                }
            }
        }
    }
}

/// More values alive at once than fit on the stack: they lie in memory of the run, and the engine is the same.
#[test]
fn very_many_values_may_be_alive() {
    const N: usize = 20_000;
    let mut b = Builder::new("wide");
    let x = b.buffer(DType::F32, Extent::Const(N as i64), Role::Input(0));
    let y = b.buffer(DType::F32, Extent::Const(1), Role::Output(0));
    let place = |position: usize| Addr { base: position as i64, ..Addr::default() };
    let mut values = vec![b.load(x, place(0))];
    for position in 1..N {
        let next = b.load(x, place(position));
        values.push(b.binary(Binary::Add, values[position - 1], next));
    }
    // All are read in the other order, so that each lives until the end.
    let sum = values.iter().rev().skip(1).fold(values[N - 1], |sum, &value| b.binary(Binary::Sub, sum, value));
    b.store(y, place(0), sum);
    let program = b.finish();
    let input: Vec<u8> = (0..N).flat_map(|i| ((i % 17) as f32 * 0.25).to_le_bytes()).collect();
    let run = |engine: Engine| {
        let options = Options { engine: Some(engine), ..Options::default() };
        let executable = compile(&program, &options).expect("it compiles");
        let mut out = [0_u8; 4];
        executable.run_on(&[], &[&input], &mut [&mut out]).expect("it runs");
        out
    };
    let want = run(Engine::Interpret);
    for engine in Engine::of_this_machine().into_iter().filter(|&engine| engine != Engine::Cranelift) {
        assert_eq!(run(engine), want, "{engine:?}");
    }
}

/// As above, in a loop that threads would share: without Cranelift one thread runs it, as here.
#[test]
fn very_many_values_may_be_alive_in_a_loop() {
    const N: i64 = 10_000;
    let mut b = Builder::new("wide loop");
    let x = b.buffer(DType::F32, Extent::Const(N + 8), Role::Input(0));
    let y = b.buffer(DType::F32, Extent::Const(8), Role::Output(0));
    b.for_loop(Extent::Const(8), LoopKind::Parallel, &[], |b, i, _| {
        let values: Vec<ValueId> = (0..N).map(|base| b.load(x, Addr { base, ..at(&[(i, 1)]) })).collect();
        let sum = values.iter().rev().skip(1).fold(values[0], |sum, &value| b.binary(Binary::Sub, sum, value));
        b.store(y, at(&[(i, 1)]), sum);
        vec![]
    });
    let program = b.finish();
    let input: Vec<f32> = (0..N + 8).map(|i| (i % 17) as f32 * 0.25).collect();
    let run = |engine: Engine| {
        let options = Options { engine: Some(engine), shared_work: Some(i64::MAX), ..Options::default() };
        run_f32(&compile(&program, &options).expect("it compiles"), &input, 8).expect("it runs")
    };
    let want = run(Engine::Interpret);
    for engine in Engine::of_this_machine().into_iter().filter(|&engine| engine != Engine::Cranelift) {
        assert_eq!(run(engine), want, "{engine:?}");
    }
}
