//! Functions through Cranelift into executable memory.

use std::mem::ManuallyDrop;
use std::sync::{Arc, OnceLock};

use cranelift_codegen::ir::{self, AbiParam, types};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_codegen::{CodegenError, Context};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, default_libcall_names};
use pullback_base::{Error, Result};
use pullback_loops::Program;
use pullback_native::{Machine, Main};
use pullback_runtime::FlushSubnormals;

use super::Emitter;
use crate::analysis::{Outlined, Shared};
use crate::executable::{CalledKernel, Made, Options};

/// Keeps the memory of code, and frees it when dropped.
struct Finished(ManuallyDrop<JITModule>);

// SAFETY: after building, the module is only kept to be freed; the code has no state of its own.
unsafe impl Send for Finished {}
// SAFETY: as above.
unsafe impl Sync for Finished {}

impl Drop for Finished {
    fn drop(&mut self) {
        // SAFETY: taken once, here; nobody runs the code any more, as who runs it borrows what keeps this.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() }
    }
}

fn failed(what: &str, error: impl std::fmt::Debug) -> Error {
    Error::internal(format!("code generation: {what}: {error:?}"))
}

/// The machine this process runs on.
fn machine() -> Result<OwnedTargetIsa> {
    static MACHINE: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    let machine = MACHINE.get_or_init(|| {
        let mut flags = settings::builder();
        // The loop IR is simplified before it comes here: Cranelift's own optimizer costs 40 % of the time to compile and
        // gains nothing that was measured (docs/performance.md).
        let verifier = if cfg!(debug_assertions) { "true" } else { "false" };
        for (name, value) in [("opt_level", "none"), ("is_pic", "false"), ("enable_verifier", verifier)] {
            flags.set(name, value).map_err(|error| format!("{error:?}"))?;
        }
        let builder = cranelift_native::builder()?;
        builder.finish(settings::Flags::new(flags)).map_err(|error| format!("{error:?}"))
    });
    machine.as_ref().map(Arc::clone).map_err(|text| Error::not_implemented(format!("no native code here: {text}")))
}

/// Compiles an expanded program.
pub(crate) fn compile(program: &Program, options: &Options) -> Result<Made> {
    // Constants fold under the mode in which the program runs.
    let _flush = FlushSubnormals::new();
    let isa = machine()?;
    let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let mut compiler = Compiler {
        module,
        context: Context::new(),
        builder: FunctionBuilderContext::new(),
        pieces: vec![],
        disassembly: options.disassemble.then(String::new),
        n_bytes: 0,
    };
    match compiler.program(program, options.shared_work) {
        Ok((main, kernels)) => {
            // SAFETY: the function was compiled with the signature of `Main`.
            let main = unsafe { std::mem::transmute::<*const u8, Main>(compiler.module.get_finalized_function(main)) };
            let machine =
                Machine::other(main, compiler.n_bytes, Box::new(Finished(ManuallyDrop::new(compiler.module))));
            Ok(Made { machine, kernels, disassembly: compiler.disassembly })
        }
        Err(error) => {
            // SAFETY: nothing of the module was ever run.
            unsafe { compiler.module.free_memory() };
            Err(error)
        }
    }
}

struct Compiler {
    module: JITModule,
    context: Context,
    builder: FunctionBuilderContext,
    /// Functions of shared loops, as declared.
    pieces: Vec<FuncId>,
    disassembly: Option<String>,
    /// Bytes of the code so far.
    n_bytes: usize,
}

impl Compiler {
    fn program(&mut self, program: &Program, shared_work: Option<i64>) -> Result<(FuncId, Vec<CalledKernel>)> {
        let mut shared = Shared::new(program, shared_work);
        let main = self.declare("main", 1)?;
        self.define(main, 1, &mut shared, None)?;
        // Bodies of shared loops share nothing inside, so the list is complete.
        for (number, piece) in std::mem::take(&mut shared.outlined).iter().enumerate() {
            self.define(self.pieces[number], 4, &mut shared, Some(piece))?;
        }
        self.module.finalize_definitions().map_err(|error| failed("linking", error))?;
        Ok((main, shared.kernels))
    }

    fn signature(&self, n_params: usize) -> ir::Signature {
        let mut signature = self.module.make_signature();
        signature.params = vec![AbiParam::new(types::I64); n_params];
        signature.returns.push(AbiParam::new(types::I32));
        signature
    }

    fn declare(&mut self, name: &str, n_params: usize) -> Result<FuncId> {
        let signature = self.signature(n_params);
        self.module.declare_function(name, Linkage::Local, &signature).map_err(|error| failed(name, error))
    }

    fn define<'a>(
        &mut self,
        id: FuncId,
        n_params: usize,
        shared: &mut Shared<'a>,
        outlined: Option<&Outlined<'a>>,
    ) -> Result<()> {
        self.context.clear();
        self.context.func.signature = self.signature(n_params);
        self.context.set_disasm(self.disassembly.is_some());
        let target = self.module.target_config();
        let call_conv = target.default_call_conv;
        let piece_signature = self.signature(4);
        let (module, pieces) = (&mut self.module, &mut self.pieces);
        let mut declare = |func: &mut ir::Function, number: usize| -> Result<ir::FuncRef> {
            let name = format!("piece{number}");
            let id = module.declare_function(&name, Linkage::Local, &piece_signature);
            let id = id.map_err(|error| failed(&name, error))?;
            if number == pieces.len() {
                pieces.push(id);
            }
            Ok(module.declare_func_in_func(id, func))
        };
        let program = shared.program;
        let fb = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let emitter = Emitter::new(fb, shared, call_conv, &mut declare);
        match outlined {
            None => emitter.function(&program.body, target)?,
            Some(outlined) => emitter.outlined_function(outlined, target)?,
        }
        self.module.define_function(id, &mut self.context).map_err(|error| match error {
            ModuleError::Compilation(CodegenError::Verifier(errors)) => {
                failed("verifier", format!("{errors}\n{}", self.context.func.display()))
            }
            error => failed("compiling", error),
        })?;
        self.n_bytes += self.context.compiled_code().map_or(0, |code| code.code_buffer().len());
        let code = self.context.compiled_code().and_then(|code| code.vcode.as_ref());
        if let (Some(text), Some(code)) = (&mut self.disassembly, code) {
            text.push_str(code);
        }
        Ok(())
    }
}
