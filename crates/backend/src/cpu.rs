//! The CPU: loop programs to native code, run on arrays with outputs in pooled memory.

use pullback_base::array::{Buffer, BufferMut};
use pullback_base::{Array, Aval, Result};
use pullback_compile::{Options, Output, compile_donating};
use pullback_ir::JaxprRef;
use pullback_runtime::{Restart, detached};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::shards::is_device;
use crate::{Backend, Code, disk};

/// The CPU of this machine.
pub struct CpuBackend;

impl Backend for CpuBackend {
    fn name(&self) -> &str {
        "cpu"
    }

    fn compile(&self, jaxpr: &JaxprRef, donated: &[bool]) -> Result<Box<dyn Code>> {
        Ok(Box::new(disk::compiled(jaxpr, donated, || CpuCode::compile(jaxpr, donated))?))
    }
}

impl CpuCode {
    fn compile(jaxpr: &JaxprRef, donated: &[bool]) -> Result<CpuCode> {
        let lowered = compile_donating(jaxpr, &Options::default(), donated)?;
        let out_avals = jaxpr.out_avals();
        let mut filled_bytes = vec![];
        for (output, aval) in lowered.outputs.iter().zip(&out_avals) {
            if let Output::Program(number) = *output {
                filled_bytes.resize(filled_bytes.len().max(number + 1), 0);
                filled_bytes[number] = aval.size_bytes();
            }
        }
        // A jaxpr whose results are all known runs nothing.
        let is_idle = filled_bytes.is_empty() && jaxpr.effects().is_none();
        let native =
            if is_idle { None } else { Some(pullback_codegen::compile(&lowered.program, &Default::default())?) };
        let restart = if jaxpr.effects().is_none() { Restart::Yes } else { Restart::No };
        let mut is_taken = vec![false; jaxpr.invars.len()];
        lowered.taken.iter().flatten().for_each(|&at| is_taken[at] = true);
        let filled = filled_bytes.into_iter().zip(lowered.taken).collect();
        Ok(CpuCode { native, outputs: lowered.outputs, out_avals, filled, is_taken, restart })
    }
}

pub(crate) struct CpuCode {
    pub(crate) native: Option<pullback_codegen::Executable>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) out_avals: Vec<Aval>,
    /// Bytes of each output that the program fills, and the argument whose memory it takes over.
    pub(crate) filled: Vec<(usize, Option<usize>)>,
    /// For each argument, whether an output takes over its memory.
    pub(crate) is_taken: Vec<bool>,
    pub(crate) restart: Restart,
}

impl Code for CpuCode {
    fn run(&self, args: &[Array], donated: &[bool]) -> Result<Vec<Array>> {
        // Memory that others see is not given away, and its array stays.
        let given = args.iter().zip(donated).filter(|(arg, donated)| **donated && !arg.is_shared());
        let given: SmallVec<[&Array; 8]> = given.map(|(arg, _)| arg).collect();
        let (taken, mut filled) = self.outputs_of(args, donated)?;
        // What a taken argument held is overwritten: the run cannot begin again.
        let restart = if taken { Restart::No } else { self.restart };
        let in_place = |(arg, &is_taken): (&Array, &bool)| if is_taken { Ok(None) } else { arg.buffer().map(Some) };
        let ins = args.iter().zip(&self.is_taken).map(in_place).collect::<Result<SmallVec<[Option<Buffer>; 8]>>>()?;
        if let Some(native) = &self.native {
            let ins: SmallVec<[&[u8]; 8]> = ins.iter().map(|ins| ins.as_ref().map_or(&[][..], Buffer::bytes)).collect();
            let mut outs: SmallVec<[&mut [u8]; 4]> = filled.iter_mut().map(BufferMut::bytes_mut).collect();
            run_politely(native, restart, &[], &ins, &mut outs)?;
        }
        let filled: SmallVec<[Buffer; 4]> = filled.into_iter().map(BufferMut::freeze).collect();
        let results = self.outputs.iter().zip(&self.out_avals);
        let results = results.map(|(output, &aval)| self.result(output, aval, &ins, &filled)).collect();
        given.into_iter().for_each(Array::delete);
        results
    }

    fn size_bytes(&self) -> usize {
        self.native.as_ref().map_or(0, pullback_codegen::Executable::size_bytes)
    }
}

impl CpuCode {
    /// Memory for the outputs, and whether some argument's was taken over: that of donated ones that nobody else sees and
    /// that are one argument only, which are deleted by that. Of others that a program overwrites it is a copy.
    fn outputs_of(&self, args: &[Array], donated: &[bool]) -> Result<(bool, SmallVec<[BufferMut; 4]>)> {
        let mut taken = false;
        let takes = self.is_taken.contains(&true);
        let repeated = if takes { repeated(args) } else { FxHashSet::default() };
        if takes {
            // Before any is gone: all are there.
            args.iter().try_for_each(|arg| arg.buffer().map(drop))?;
        }
        let mut memory = |(size_bytes, from): &(usize, Option<usize>)| {
            let Some(at) = *from else { return Buffer::allocate(*size_bytes) };
            let may_take = donated.get(at) == Some(&true) && !repeated.contains(&args[at].address());
            let own = if may_take { args[at].donate() } else { None };
            taken |= own.is_some();
            own.map_or_else(|| copy_of(&args[at]), Ok)
        };
        let filled = self.filled.iter().map(&mut memory).collect::<Result<_>>()?;
        Ok((taken, filled))
    }
}

/// The addresses of arrays that are several arguments.
fn repeated(args: &[Array]) -> FxHashSet<usize> {
    let mut seen = FxHashSet::default();
    args.iter().map(Array::address).filter(|&address| !seen.insert(address)).collect()
}

fn copy_of(array: &Array) -> Result<BufferMut> {
    let from = array.buffer()?;
    let mut copy = Buffer::allocate(array.aval().size_bytes())?;
    let n = array.aval().size_bytes();
    copy.bytes_mut()[..n].copy_from_slice(&from.bytes()[..n]);
    Ok(copy)
}

/// Runs a program; what may take long lets others run meanwhile.
pub(crate) fn run_politely(
    native: &pullback_codegen::Executable,
    restart: Restart,
    sizes: &[i64],
    ins: &[&[u8]],
    outs: &mut [&mut [u8]],
) -> Result<()> {
    if native.is_long() && !is_device() {
        return detached(restart, || native.run_on(sizes, ins, outs));
    }
    native.run_on(sizes, ins, outs)
}

impl CpuCode {
    fn result(&self, output: &Output, aval: Aval, ins: &[Option<Buffer>], filled: &[Buffer]) -> Result<Array> {
        match output {
            Output::Program(number) => Ok(Array::new(aval, filled[*number].clone())),
            Output::Input(number) => {
                let kept = ins[*number].clone().expect("no result takes over what is a result itself");
                Ok(Array::new(aval, kept))
            }
            Output::Const(array) => array.reinterpret(aval)?.twin(),
            Output::Literal(scalar) => Array::scalar(*scalar).reinterpret(aval),
        }
    }
}
