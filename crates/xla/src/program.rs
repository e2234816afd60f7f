//! Jaxprs compiled by a plugin.

use std::sync::Arc;

use pullback_backend::{DeviceCode, Program};
use pullback_base::array::Held;
use pullback_base::array::place::{Layout, Spec};
use pullback_base::{Aval, Error, Result};
use pullback_pjrt::{CompileOptions, DeviceBuffer, Executable};
use pullback_runtime::{Restart, detached, unlocked};
use pullback_stablehlo::{Division, Host, Options, donations, module_text};
use smallvec::SmallVec;

use crate::array::{Buffers, DeviceArray};
use crate::cache;
use crate::engine::XlaEngine;
use crate::host::HostFunctions;

/// A jaxpr as an executable of a plugin.
pub(crate) struct XlaProgram {
    executable: Executable,
    n_devices: usize,
    /// Operands that the program donates, by number.
    donated: Vec<usize>,
    outs: Vec<(Aval, Layout)>,
    /// The functions of this process that it calls.
    host: Option<Arc<HostFunctions>>,
}

fn spec_of(layout: &Layout) -> Spec {
    match layout {
        Layout::Device(_) => vec![],
        Layout::Split(_, spec) => spec.clone(),
    }
}

/// The text of a program for the devices of its operands, and which operands it donates.
fn text_of(program: &Program<'_>, host: Option<&Arc<HostFunctions>>) -> Result<(String, Vec<usize>)> {
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
    let name = format!("jit_{}", program.name);
    let host = host.map(|host| host.clone() as Arc<dyn Host>);
    let options = Options { name, donations, division, host, ..Options::default() };
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
        let host = engine.calls_host().then(Arc::<HostFunctions>::default);
        let (text, donated) = text_of(program, host.as_ref())?;
        let host = host.filter(|host| !host.is_empty());
        let devices = program.devices.iter().map(|&device| engine.plugin_id(device)).collect::<Result<_>>()?;
        let is_divided = program.outs.iter().chain(program.ins).any(|layout| matches!(layout, Layout::Split(..)));
        let options = CompileOptions { devices, is_divided, overrides: vec![] };
        let compile = || match host {
            // Numbers of functions mean nothing to another process.
            Some(_) => engine.client().compile(&text, &options),
            None => cache::compiled(engine, &text, &options),
        };
        let executable = detached(Restart::No, compile)?;
        let out_avals = program.jaxpr.out_avals();
        if executable.n_results() != out_avals.len() {
            let n = executable.n_results();
            return Err(Error::internal(format!("the plugin's program has {n} results, not {}", out_avals.len())));
        }
        let outs = out_avals.into_iter().zip(program.outs.iter().cloned()).collect();
        Ok(XlaProgram { executable, n_devices: program.devices.len(), donated, outs, host })
    }
}

fn device_array(held: &Arc<dyn Held>) -> Result<&DeviceArray> {
    held.downcast::<DeviceArray>().ok_or_else(|| Error::internal("an operand is held by another engine"))
}

impl XlaProgram {
    /// Donated operands that are not given away: whoever else holds one keeps it, be it as an array (the caller and its
    /// array are two) or as memory that is read where it lies.
    fn kept(&self, args: &[Arc<dyn Held>], arrays: &[&DeviceArray]) -> SmallVec<[i64; 8]> {
        let is_kept = |at: &&usize| {
            Arc::strong_count(&args[**at]) > 2 || arrays[**at].buffers.iter().any(|buffer| buffer.is_viewed())
        };
        self.donated.iter().filter(is_kept).map(|&at| at as i64).collect()
    }

    fn run_on_one(&self, arrays: &[&DeviceArray], kept: &[i64]) -> Result<Vec<Arc<dyn Held>>> {
        let buffers: SmallVec<[&DeviceBuffer; 8]> = arrays.iter().map(|array| &*array.buffers[0]).collect();
        let results = unlocked(|| self.executable.run_on_one(&buffers, kept))?;
        let held = |(buffer, (aval, layout)): (DeviceBuffer, &(Aval, Layout))| {
            let buffers = SmallVec::from_buf([Arc::new(buffer)]);
            Arc::new(DeviceArray { buffers, aval: *aval, layout: layout.clone() }) as Arc<dyn Held>
        };
        Ok(results.into_iter().zip(&self.outs).map(held).collect())
    }

    fn run_on_all(&self, arrays: &[&DeviceArray], kept: &[i64]) -> Result<Vec<Arc<dyn Held>>> {
        let of_device = |position: usize| arrays.iter().map(|array| &*array.buffers[position]).collect();
        let lists: Vec<Vec<&DeviceBuffer>> = (0..self.n_devices).map(of_device).collect();
        // Who calls the host is waited for: its effects are done when the call is, and what it raises is raised there.
        let results = unlocked(|| match self.host {
            Some(_) => self.executable.run_to_end(&lists, kept),
            None => self.executable.run(&lists, kept),
        })?;
        let mut columns: Vec<Buffers> = self.outs.iter().map(|_| Buffers::new()).collect();
        for list in results {
            for (column, buffer) in columns.iter_mut().zip(list) {
                column.push(Arc::new(buffer));
            }
        }
        let held = |(buffers, (aval, layout)): (Buffers, &(Aval, Layout))| {
            Arc::new(DeviceArray { buffers, aval: *aval, layout: layout.clone() }) as Arc<dyn Held>
        };
        Ok(columns.into_iter().zip(&self.outs).map(held).collect())
    }
}

impl DeviceCode for XlaProgram {
    fn run(&self, args: &[Arc<dyn Held>]) -> Result<Vec<Arc<dyn Held>>> {
        let arrays = args.iter().map(device_array).collect::<Result<SmallVec<[&DeviceArray; 8]>>>()?;
        let kept = self.kept(args, &arrays);
        match self.n_devices == 1 && self.host.is_none() {
            true => self.run_on_one(&arrays, &kept),
            false => self.run_on_all(&arrays, &kept),
        }
    }
}
