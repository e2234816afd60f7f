//! The CPU: loop programs to native code, run on arrays with outputs in pooled memory.

use pullback_base::array::{Buffer, BufferMut};
use pullback_base::{Array, Aval, Result};
use pullback_compile::{Options, Output, compile};
use pullback_ir::JaxprRef;
use pullback_runtime::{Restart, detached};
use smallvec::SmallVec;

use crate::shards::is_device;
use crate::{Backend, Code};

/// The CPU of this machine.
pub struct CpuBackend;

impl Backend for CpuBackend {
    fn name(&self) -> &str {
        "cpu"
    }

    fn compile(&self, jaxpr: &JaxprRef) -> Result<Box<dyn Code>> {
        let lowered = compile(jaxpr, &Options::default())?;
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
        Ok(Box::new(CpuCode { native, outputs: lowered.outputs, out_avals, filled_bytes, restart }))
    }
}

struct CpuCode {
    native: Option<pullback_codegen::Executable>,
    outputs: Vec<Output>,
    out_avals: Vec<Aval>,
    /// Bytes of each output that the program fills.
    filled_bytes: Vec<usize>,
    restart: Restart,
}

impl Code for CpuCode {
    fn run(&self, args: &[Array], donated: &[bool]) -> Result<Vec<Array>> {
        // Memory that others see is not given away, and its array stays.
        let given = args.iter().zip(donated).filter(|(arg, donated)| **donated && !arg.is_shared());
        let given: SmallVec<[&Array; 8]> = given.map(|(arg, _)| arg).collect();
        let ins = args.iter().map(Array::buffer).collect::<Result<SmallVec<[Buffer; 8]>>>()?;
        let mut filled: SmallVec<[BufferMut; 4]> = self.filled_bytes.iter().map(|&n| Buffer::allocate(n)).collect();
        if let Some(native) = &self.native {
            let ins: SmallVec<[&[u8]; 8]> = ins.iter().map(Buffer::bytes).collect();
            let mut outs: SmallVec<[&mut [u8]; 4]> = filled.iter_mut().map(BufferMut::bytes_mut).collect();
            run_politely(native, self.restart, &[], &ins, &mut outs)?;
        }
        let filled: SmallVec<[Buffer; 4]> = filled.into_iter().map(BufferMut::freeze).collect();
        let results = self.outputs.iter().zip(&self.out_avals);
        let results = results.map(|(output, &aval)| self.result(output, aval, &ins, &filled)).collect();
        given.into_iter().for_each(Array::delete);
        results
    }
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
    fn result(&self, output: &Output, aval: Aval, ins: &[Buffer], filled: &[Buffer]) -> Result<Array> {
        match output {
            Output::Program(number) => Ok(Array::new(aval, filled[*number].clone())),
            Output::Input(number) => Ok(Array::new(aval, ins[*number].clone())),
            Output::Const(array) => array.reinterpret(aval),
            Output::Literal(scalar) => Array::scalar(*scalar).reinterpret(aval),
        }
    }
}
