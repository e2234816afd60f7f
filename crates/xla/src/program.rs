//! Jaxprs compiled by a plugin.

use std::sync::Arc;

use pullback_backend::{DeviceCode, Program};
use pullback_base::array::Held;
use pullback_base::array::place::{Layout, Spec};
use pullback_base::{Aval, Error, Result};
use pullback_pjrt::{CompileOptions, DeviceBuffer, Executable};
use pullback_runtime::{Restart, detached};
use pullback_stablehlo::{Division, Options, donations, module_text};

use crate::array::DeviceArray;
use crate::cache;
use crate::engine::XlaEngine;

/// A jaxpr as an executable of a plugin.
pub(crate) struct XlaProgram {
    executable: Executable,
    n_devices: usize,
    /// Operands that the program donates, by number.
    donated: Vec<usize>,
    outs: Vec<(Aval, Layout)>,
}

fn spec_of(layout: &Layout) -> Spec {
    match layout {
        Layout::Device(_) => vec![],
        Layout::Split(_, spec) => spec.clone(),
    }
}

/// The text of a program for the devices of its operands, and which operands it donates.
fn text_of(program: &Program<'_>) -> Result<(String, Vec<usize>)> {
    let (ins, outs) = (program.jaxpr.in_avals(), program.jaxpr.out_avals());
    let (donations, _) = donations(program.donated, &ins, &outs);
    let donated = (0..ins.len()).filter(|&at| donations[at].is_some()).collect();
    let mesh = program.ins.iter().chain(program.outs).find_map(|layout| match layout {
        Layout::Split(mesh, _) => Some(mesh.clone()),
        Layout::Device(_) => None,
    });
    let division = mesh.map(|mesh| Division {
        mesh,
        ins: program.ins.iter().map(spec_of).collect(),
        outs: program.outs.iter().map(spec_of).collect(),
    });
    let options = Options { name: format!("jit_{}", program.name), donations, division, ..Options::default() };
    let text = module_text(program.jaxpr, &options)?.text;
    if text.contains(HOST_CALL) {
        let text = format!(
            "calls of functions of the host (callbacks, debug.print) inside of a program on a device of a plugin are not \
             implemented; {} has one. Call it outside of jit, or on the CPU.",
            program.name
        );
        return Err(Error::not_implemented(text));
    }
    Ok((text, donated))
}

/// By this name programs call functions of the host.
const HOST_CALL: &str = "\"pullback_host_callback\"";

impl XlaProgram {
    pub(crate) fn compile(engine: &XlaEngine, program: &Program<'_>) -> Result<XlaProgram> {
        let (text, donated) = text_of(program)?;
        let devices = program.devices.iter().map(|&device| engine.plugin_id(device)).collect::<Result<_>>()?;
        let is_divided = program.outs.iter().chain(program.ins).any(|layout| matches!(layout, Layout::Split(..)));
        let options = CompileOptions { devices, is_divided, overrides: vec![] };
        let executable = detached(Restart::No, || cache::compiled(engine, &text, &options))?;
        let out_avals = program.jaxpr.out_avals();
        if executable.n_results() != out_avals.len() {
            let n = executable.n_results();
            return Err(Error::internal(format!("the plugin's program has {n} results, not {}", out_avals.len())));
        }
        let outs = out_avals.into_iter().zip(program.outs.iter().cloned()).collect();
        Ok(XlaProgram { executable, n_devices: program.devices.len(), donated, outs })
    }
}

fn device_array(held: &Arc<dyn Held>) -> Result<&DeviceArray> {
    held.downcast::<DeviceArray>().ok_or_else(|| Error::internal("an operand is held by another engine"))
}

impl DeviceCode for XlaProgram {
    fn run(&self, args: &[Arc<dyn Held>]) -> Result<Vec<Arc<dyn Held>>> {
        let arrays = args.iter().map(device_array).collect::<Result<Vec<_>>>()?;
        // Whoever else holds a donated operand keeps it: the caller and its array are two.
        let is_shared = |at: &usize| Arc::strong_count(&args[*at]) > 2;
        let kept: Vec<i64> = self.donated.iter().filter(|at| is_shared(at)).map(|&at| at as i64).collect();
        let of_device = |position: usize| arrays.iter().map(|array| &*array.buffers[position]).collect();
        let lists: Vec<Vec<&DeviceBuffer>> = (0..self.n_devices).map(of_device).collect();
        let results = detached(Restart::No, || self.executable.run(&lists, &kept))?;
        let mut columns: Vec<Vec<Arc<DeviceBuffer>>> = self.outs.iter().map(|_| vec![]).collect();
        for list in results {
            for (column, buffer) in columns.iter_mut().zip(list) {
                column.push(Arc::new(buffer));
            }
        }
        let held = |(buffers, (aval, layout)): (Vec<Arc<DeviceBuffer>>, &(Aval, Layout))| {
            Arc::new(DeviceArray { buffers, aval: *aval, layout: layout.clone() }) as Arc<dyn Held>
        };
        Ok(columns.into_iter().zip(&self.outs).map(held).collect())
    }
}
