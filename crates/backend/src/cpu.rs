//! The CPU: loop programs to native code, run on arrays with outputs in pooled memory.

use pullback_base::{Array, Error, Result};
use pullback_compile::{Options, Output, compile_donating};
use pullback_ir::JaxprRef;
use pullback_native::{Code as NativeCode, Compiled};
use pullback_runtime::{Restart, detached};

use crate::shards::is_device;
use crate::{Backend, Code, disk};

/// The CPU of this machine.
pub struct CpuBackend;

impl Backend for CpuBackend {
    fn name(&self) -> &str {
        "cpu"
    }

    fn compile(&self, jaxpr: &JaxprRef, donated: &[bool]) -> Result<Box<dyn Code>> {
        Ok(Box::new(disk::compiled(jaxpr, donated, || made(jaxpr, donated))?))
    }
}

fn made(jaxpr: &JaxprRef, donated: &[bool]) -> Result<CpuCode> {
    let lowered = compile_donating(jaxpr, &Options::default(), donated)?;
    // A jaxpr whose results are all known runs nothing.
    let is_idle = lowered.taken.is_empty() && jaxpr.effects().is_none();
    let made = if is_idle { None } else { Some(pullback_codegen::compile(&lowered.program, &Default::default())?) };
    // Programs that run natively need not stay.
    let (code, interpreted) = match made {
        Some(made) if made.is_native() => (made.into_code(), None),
        made => (None, made),
    };
    let restart = if jaxpr.effects().is_none() { Restart::Yes } else { Restart::No };
    let outputs = lowered.outputs.into_iter().map(output).collect();
    let avals = [jaxpr.in_avals(), jaxpr.out_avals()];
    Ok(CpuCode { compiled: Compiled::new(avals, code, outputs, lowered.taken, restart), interpreted })
}

/// A jaxpr as machine code that can be saved to a file.
///
/// # Errors
/// `NotImplemented` for what cannot be compiled, has effects, or is interpreted.
pub fn native(jaxpr: &JaxprRef) -> Result<Compiled> {
    if !jaxpr.effects().is_none() {
        return Err(Error::not_implemented("a function with effects is compiled for this process alone"));
    }
    let alone = |jaxpr: &JaxprRef, donated: &[bool]| {
        let CpuCode { compiled, interpreted } = made(jaxpr, donated)?;
        match interpreted {
            None => Ok(compiled),
            Some(_) => Err(Error::not_implemented("the interpreter has no machine code")),
        }
    };
    detached(Restart::Yes, || crate::background::compile(jaxpr, &[], alone))
}

fn output(output: Output) -> pullback_native::Output {
    match output {
        Output::Program(number) => pullback_native::Output::Program(number),
        Output::Input(number) => pullback_native::Output::Input(number),
        Output::Const(array) => pullback_native::Output::Const(array),
        Output::Literal(scalar) => pullback_native::Output::Literal(scalar),
    }
}

pub(crate) struct CpuCode {
    pub(crate) compiled: Compiled,
    /// What runs instead where there is no machine code.
    pub(crate) interpreted: Option<pullback_codegen::Executable>,
}

impl Code for CpuCode {
    fn run(&self, args: &[Array], donated: &[bool]) -> Result<Vec<Array>> {
        self.compiled.run_with(args, donated, |code, restart, ins, outs| match (code, &self.interpreted) {
            (Some(code), _) => politely(code, restart, ins, outs),
            (None, Some(program)) => detached(restart, || program.run_on(&[], ins, outs)),
            (None, None) => Ok(()),
        })
    }

    fn size_bytes(&self) -> usize {
        self.compiled.size_bytes()
    }
}

/// Runs a program; what may take long lets others run meanwhile.
fn politely(code: &NativeCode, restart: Restart, ins: &[&[u8]], outs: &mut [&mut [u8]]) -> Result<()> {
    if code.is_long() && !is_device() {
        return detached(restart, || code.run_on(&[], ins, outs));
    }
    code.run_on(&[], ins, outs)
}
