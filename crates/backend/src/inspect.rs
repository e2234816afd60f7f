//! Every stage of a jaxpr on its way to machine code, as text.

use std::fmt;

use pullback_base::Result;
use pullback_compile::{Options, compile, simplified};
use pullback_ir::JaxprRef;
use pullback_loops::Program;

use crate::kernels::{kernel_costs, kernel_names};

/// The stages of one compilation. It prints as a summary; each stage has its text, and [`Inspection::details`] is all of it.
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
    n_equations: usize,
    n_simplified: usize,
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

    /// All stages, one after the other.
    pub fn details(&self) -> String {
        let Inspection { jaxpr, simplified, before, after, report, machine_code, .. } = self;
        format!(
            "jaxpr:\n{jaxpr}\n\nsimplified:\n{simplified}\n\nbefore fusion:\n{before}\nafter fusion ({report}):\n{after}\n\
             machine code:\n{machine_code}\n"
        )
    }

    /// The name by which a user asks for each stage, what it is, and its text.
    fn stages(&self) -> [(&'static str, &'static str, &str); 5] {
        [
            ("jaxpr", "the operations as traced", &self.jaxpr),
            ("simplified", "after laws, inlining and what nobody uses", &self.simplified),
            ("before", "each operation as a loop of its own", &self.before),
            ("after", "loops after fusion, as they run", &self.after),
            ("machine_code", "the instructions", &self.machine_code),
        ]
    }

    fn headline(&self) -> String {
        let Inspection { n_equations, n_simplified, program, .. } = self;
        let n_kernels = kernel_names(program).len();
        let equations = if *n_equations == 1 { "equation" } else { "equations" };
        let kernels = if n_kernels == 1 { "kernel" } else { "kernels" };
        format!("{n_equations} {equations}, {n_simplified} after simplification, {n_kernels} {kernels}")
    }

    /// The summary with each stage to unfold, as HTML.
    pub fn html(&self) -> String {
        let mut text = format!("<b>{}</b><pre>{}</pre>", escaped(&self.headline()), escaped(&self.report));
        text += &format!("<pre>{}</pre>", escaped(&kernel_names(&self.program).join("\n")));
        for (name, what, stage) in self.stages() {
            let n_lines = stage.lines().count();
            let head = format!("<summary><code>.{name}</code>: {} ({n_lines} lines)</summary>", escaped(what));
            text += &format!("<details>{head}<pre>{}</pre></details>", escaped(stage));
        }
        text
    }
}

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
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
    let simple = simplified(jaxpr, &options)?;
    Ok(Inspection {
        n_equations: jaxpr.eqns.len(),
        n_simplified: simple.eqns.len(),
        jaxpr: jaxpr.to_string(),
        simplified: simple.to_string(),
        before: before.program.to_string(),
        after: after.program.to_string(),
        report: after.report.to_string(),
        machine_code: native.machine_code(),
        program: after.program,
    })
}

/// Lines of kernels, and of the jaxpr, that a summary shows; so that it fits a screen.
const SHOWN: usize = 12;

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}", self.headline(), self.report)?;
        if self.jaxpr.lines().count() <= SHOWN {
            writeln!(f, "\n{}", self.jaxpr)?;
        }
        let kernels = kernel_names(&self.program);
        writeln!(f, "\nkernels, in their order (.kernels times each of them):")?;
        kernels.iter().take(SHOWN).try_for_each(|name| writeln!(f, "  {name}"))?;
        if kernels.len() > SHOWN {
            writeln!(f, "  … and {} more", kernels.len() - SHOWN)?;
        }
        writeln!(f, "\nstages:")?;
        for (name, what, stage) in self.stages() {
            writeln!(f, "  {:<14} {:>5} lines: {what}", format!(".{name}"), stage.lines().count())?;
        }
        writeln!(f, "  .details       all of them")
    }
}
