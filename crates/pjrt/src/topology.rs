//! Machines that are described but not there, to compile for.

use std::ptr::null_mut;

use pullback_base::Result;

use crate::abi::{Compile, List, Ptr, TopologyCreate, slot};
use crate::api::{Plugin, slice_of};
use crate::client::program_of;
use crate::executable::{CompiledMemory, CompiledProgram};
use crate::options::{CompileOptions, Setting, named};

/// A described machine.
pub struct Topology {
    plugin: Plugin,
    raw: Ptr,
}

// SAFETY: descriptions may be used from any thread.
unsafe impl Send for Topology {}
// SAFETY: as above.
unsafe impl Sync for Topology {}

/// A program compiled for a described machine.
pub struct AotExecutable(CompiledProgram);

impl Topology {
    /// The machine of a name, such as `v5e:2x4`, with options of the plugin's.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn create(plugin: &Plugin, name: &str, options: &[(String, Setting)]) -> Result<Topology> {
        let options = named(options);
        let mut args = TopologyCreate {
            name: name.as_ptr(),
            name_size: name.len(),
            options: options.as_ptr(),
            n: options.len(),
            ..TopologyCreate::default()
        };
        plugin.call(slot::TOPOLOGY_CREATE, &mut args)?;
        Ok(Topology { plugin: plugin.clone(), raw: args.topology })
    }

    /// The name of its platform.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn platform(&self) -> Result<String> {
        self.plugin.text(slot::TOPOLOGY_PLATFORM, self.raw)
    }

    /// The kinds of its devices, one for each.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn device_kinds(&self) -> Result<Vec<String>> {
        let mut args = List { object: self.raw, ..List::default() };
        self.plugin.call(slot::TOPOLOGY_DEVICES, &mut args)?;
        // SAFETY: the plugin gave so many.
        let devices = unsafe { slice_of(args.items, args.n) };
        devices.iter().map(|&device| self.plugin.text(slot::DESCRIPTION_KIND, device)).collect()
    }

    /// Compiles the text of a StableHLO module for the machine.
    ///
    /// # Errors
    /// What the compiler raises.
    pub fn compile(&self, text: &str, options: &CompileOptions) -> Result<AotExecutable> {
        let (program, options) = (program_of(text), options.encode());
        let mut args = Compile {
            topology: self.raw,
            program: &program,
            options: options.as_ptr(),
            options_size: options.len(),
            client: null_mut(),
            ..Compile::default()
        };
        self.plugin.call(slot::COMPILE, &mut args)?;
        Ok(AotExecutable(CompiledProgram::new(&self.plugin, args.executable)))
    }
}

impl Drop for Topology {
    fn drop(&mut self) {
        self.plugin.free(slot::TOPOLOGY_FREE, self.raw);
    }
}

impl AotExecutable {
    /// The executable as bytes, for the plugin on such a machine.
    ///
    /// # Errors
    /// When the plugin cannot.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        self.0.serialize()
    }

    /// Bytes of a run.
    ///
    /// # Errors
    /// When the plugin does not say.
    pub fn memory(&self) -> Result<CompiledMemory> {
        self.0.memory()
    }
}
