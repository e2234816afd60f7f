//! Every stage of a jaxpr on its way to machine code, as text.

use std::fmt;

use pullback_base::Result;
use pullback_compile::{Options, compile, simplified};
use pullback_ir::JaxprRef;
use pullback_loops::Program;

use crate::kernels::kernel_costs;

/// The stages of one compilation.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The jaxpr.
    pub jaxpr: String,
    /// The jaxpr after laws, inlining and dead code elimination.
    pub simplified: String,
    /// The program with every equation in a nest of its own.
    pub before: String,
    /// The program that runs.
    pub after: String,
    /// What became of the equations.
    pub report: String,
    /// Disassembly, where the engine gives one.
    pub machine_code: String,
    program: Program,
}

impl Inspection {
    /// Each kernel's time, bytes, operations and part of the machine's roof, a line each; they are run for it.
    ///
    /// # Errors
    /// When a kernel cannot be compiled by itself.
    pub fn kernels(&self) -> Result<String> {
        let costs = kernel_costs(&self.program)?;
        Ok(costs.iter().map(|cost| format!("{cost}\n")).collect())
    }
}

/// Compiles a jaxpr and shows every stage.
///
/// # Errors
/// `NotImplemented` for what cannot be compiled.
pub fn inspect(jaxpr: &JaxprRef) -> Result<Inspection> {
    let options = Options::default();
    let (before, after) = (compile(jaxpr, &Options::unfused())?, compile(jaxpr, &options)?);
    let native = pullback_codegen::Options { disassemble: true, ..Default::default() };
    let native = pullback_codegen::compile(&after.program, &native)?;
    Ok(Inspection {
        jaxpr: jaxpr.to_string(),
        simplified: simplified(jaxpr, &options)?.to_string(),
        before: before.program.to_string(),
        after: after.program.to_string(),
        report: after.report.to_string(),
        machine_code: native.machine_code(),
        program: after.program,
    })
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inspection { jaxpr, simplified, before, after, report, machine_code, program: _ } = self;
        writeln!(f, "jaxpr:\n{jaxpr}\n\nsimplified:\n{simplified}\n\nbefore fusion:\n{before}")?;
        writeln!(f, "after fusion ({report}):\n{after}\nmachine code:\n{machine_code}")
    }
}
