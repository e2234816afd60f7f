//! Elementwise kernels whose size is given when they run: one for each primitive, params, dtypes and layout class, and
//! for small and for large arrays.
//!
//! The layout class says which operands are scalars; the others have the shape of the result. The kernel is made of the
//! same scalar form as compiled programs, so both give the same bits.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use pullback_base::array::Buffer;
use pullback_base::{Array, Aval, DType, Error, ErrorKind, Result};
use pullback_ir::lower::{Elem, ScalarFn, is_computable, loaded, memory_dtype, stored, values_per_element};
use pullback_ir::{Params, PrimRef, Val};
use pullback_loops::*;
use pullback_runtime::{Restart, detached};
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

/// Most operands of a kernel.
const MAX_OPERANDS: usize = 4;
/// Elements of one task when a kernel runs in parallel.
const BLOCK: i64 = 8192;
/// Elements from which a kernel runs in parallel.
const PARALLEL_SIZE: i64 = 1 << 16;

// Size parameters of a kernel.
const N_BLOCKS: u32 = 0;
const REST: u32 = 1;
const LEN: u32 = 2;
const LEN_OF_PAIRS: u32 = 3;
const REST_START: u32 = 4;

/// An elementwise kernel: one loop, or blocks in parallel and then a rest.
pub(super) struct Pointwise {
    code: pullback_codegen::Executable,
    is_large: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    prim: PrimRef,
    params: Params,
    operands: SmallVec<[(DType, bool); MAX_OPERANDS]>,
    is_large: bool,
}

/// Kernels before all are forgotten; plans that use them hold them.
const MAX_KERNELS: usize = 4096;

static KERNELS: LazyLock<Mutex<HashMap<Key, Arc<Pointwise>, FxBuildHasher>>> = LazyLock::new(Mutex::default);

pub(super) fn clear() {
    KERNELS.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// Whether a kernel can do it: operands are scalars or of the result's shape, of dtypes that programs hold.
pub(super) fn fits(ins: &[Aval], out: Aval) -> bool {
    let fits = |aval: &Aval| (aval.rank() == 0 || aval.shape == out.shape) && is_computable(*aval);
    !ins.is_empty() && ins.len() <= MAX_OPERANDS && ins.iter().all(fits) && is_computable(out)
}

/// The kernel of an application.
pub(super) fn kernel(
    prim: PrimRef,
    params: &Params,
    ins: &[Aval],
    out: Aval,
    form: &ScalarFn,
) -> Result<Arc<Pointwise>> {
    let operands = ins.iter().map(|aval| (aval.dtype, aval.rank() == 0 && out.rank() > 0)).collect();
    let is_large = out.size() as i64 >= PARALLEL_SIZE;
    let key = Key { prim, params: params.clone(), operands, is_large };
    let kernels = || KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kernels().get(&key) {
        return Ok(known.clone());
    }
    let program = program(prim.name(), &key.operands, out.dtype, form, is_large);
    let code = pullback_codegen::compile(&program, &Default::default())?;
    let made = Arc::new(Pointwise { code, is_large });
    let mut kernels = kernels();
    let old = if kernels.len() >= MAX_KERNELS { std::mem::take(&mut *kernels) } else { HashMap::default() };
    let known = kernels.entry(key).or_insert(made).clone();
    drop(kernels);
    // Params may hold functions of a front end: outside of the lock.
    drop(old);
    Ok(known)
}

impl Pointwise {
    /// Runs on values whose avals are those that the kernel was asked for with.
    pub(super) fn run(&self, ins: &[Val], out: Aval) -> Result<Array> {
        let len = out.size() as i64;
        let mut result = Buffer::allocate(out.size_bytes())?;
        let mut scalars: SmallVec<[[u8; 16]; MAX_OPERANDS]> = SmallVec::new();
        let mut buffers: SmallVec<[Option<Buffer>; MAX_OPERANDS]> = SmallVec::new();
        for val in ins {
            let (bytes, buffer) = match val {
                Val::Literal(scalar) => (scalar.to_bits().to_le_bytes(), None),
                Val::Array(array) => ([0; 16], Some(array.buffer()?)),
                Val::Tracer(tracer) => {
                    let text = format!("a leaked tracer of type {} was used outside of its trace", tracer.aval);
                    return Err(Error::new(ErrorKind::UnexpectedTracer, text));
                }
            };
            scalars.push(bytes);
            buffers.push(buffer);
        }
        let operands: SmallVec<[&[u8]; MAX_OPERANDS]> = (buffers.iter().zip(&scalars))
            .map(|(buffer, bytes)| buffer.as_ref().map_or(&bytes[..], Buffer::bytes))
            .collect();
        let (n_blocks, rest) = if self.is_large { (len / BLOCK, len % BLOCK) } else { (0, len) };
        let sizes = [n_blocks, rest, len, 2 * len, n_blocks * BLOCK];
        if self.is_large {
            let mut outs = [result.bytes_mut()];
            detached(Restart::Yes, || self.code.run_on(&sizes, &operands, &mut outs))?;
        } else {
            self.code.run_on(&sizes, &operands, &mut [result.bytes_mut()])?;
        }
        Ok(Array::new(out, result.freeze()))
    }
}

/// A buffer of a kernel.
#[derive(Clone, Copy)]
struct Operand {
    buffer: BufferId,
    dtype: DType,
    is_pair: bool,
    is_scalar: bool,
}

fn declare(loops: &mut Builder, dtype: DType, is_scalar: bool, role: Role) -> Operand {
    let is_pair = values_per_element(dtype) == 2;
    let len = match (is_scalar, is_pair) {
        (true, _) => Extent::Const(if is_pair { 2 } else { 1 }),
        (false, false) => Extent::Size(LEN),
        (false, true) => Extent::Size(LEN_OF_PAIRS),
    };
    Operand { buffer: loops.buffer(memory_dtype(dtype), len, role), dtype, is_pair, is_scalar }
}

/// A position in elements, and the computed part of it in halves of pairs.
#[derive(Default)]
struct Position {
    addr: Addr,
    doubled: Option<ValueId>,
}

impl Operand {
    fn addr(self, Position { addr: at, doubled }: &Position) -> Addr {
        match (self.is_scalar, self.is_pair) {
            (true, _) => Addr::default(),
            (false, false) => at.clone(),
            (false, true) => {
                let twice = |&(id, stride): &(LoopId, Extent)| match stride {
                    Extent::Const(stride) => (id, Extent::Const(2 * stride)),
                    Extent::Size(_) => unreachable!("strides are constants"),
                };
                Addr { base: 2 * at.base, terms: at.terms.iter().map(twice).collect(), offset: *doubled }
            }
        }
    }

    fn load(self, loops: &mut Builder, at: &Position) -> Elem {
        let addr = self.addr(at);
        let first = loops.load(self.buffer, addr.clone());
        if !self.is_pair {
            return Elem::One(loaded(loops, self.dtype, first));
        }
        Elem::Two(first, loops.load(self.buffer, Addr { base: addr.base + 1, ..addr }))
    }

    fn store(self, loops: &mut Builder, at: &Position, elem: Elem) {
        let addr = self.addr(at);
        match elem {
            Elem::One(value) => {
                let value = stored(loops, self.dtype, value);
                loops.store(self.buffer, addr, value);
            }
            Elem::Two(first, second) => {
                loops.store(self.buffer, addr.clone(), first);
                loops.store(self.buffer, Addr { base: addr.base + 1, ..addr }, second);
            }
        }
    }
}

fn program(name: &str, operands: &[(DType, bool)], out: DType, form: &ScalarFn, is_large: bool) -> Program {
    let mut loops = Builder::new(name);
    for number in 0..=REST_START {
        let made = loops.size_param();
        debug_assert_eq!(made, number);
    }
    let operands: Vec<Operand> = (operands.iter().enumerate())
        .map(|(i, &(dtype, is_scalar))| declare(&mut loops, dtype, is_scalar, Role::Input(i as u32)))
        .collect();
    let result = declare(&mut loops, out, false, Role::Output(0));
    // Scalars are read once.
    let scalars: Vec<Option<Elem>> = (operands.iter())
        .map(|operand| operand.is_scalar.then(|| operand.load(&mut loops, &Position::default())))
        .collect();
    let element = |loops: &mut Builder, at: &Position| {
        let ins: Vec<Elem> = (operands.iter().zip(&scalars))
            .map(|(operand, scalar)| scalar.unwrap_or_else(|| operand.load(loops, at)))
            .collect();
        let elem = form(loops, &ins);
        result.store(loops, at, elem);
    };
    let step = |id: LoopId, stride: i64| (id, Extent::Const(stride));
    if is_large {
        loops.for_loop(Extent::Size(N_BLOCKS), LoopKind::Parallel, &[], |loops, block, _| {
            loops.for_loop(Extent::Const(BLOCK), LoopKind::Lanes, &[], |loops, id, _| {
                let terms = [step(block, BLOCK), step(id, 1)].into_iter().collect();
                element(loops, &Position { addr: Addr { terms, ..Addr::default() }, doubled: None });
                vec![]
            })
        });
    }
    let start = is_large.then(|| loops.size(REST_START));
    let doubled = start.map(|start| {
        let two = loops.int(2);
        loops.binary(Binary::Mul, start, two)
    });
    loops.for_loop(Extent::Size(REST), LoopKind::Lanes, &[], |loops, id, _| {
        let addr = Addr { terms: [step(id, 1)].into_iter().collect(), offset: start, ..Addr::default() };
        element(loops, &Position { addr, doubled });
        vec![]
    });
    loops.finish()
}
