//! A compiled program on the devices of a client.

use std::ptr::null_mut;

use pullback_base::Result;
use smallvec::SmallVec;

use crate::abi::{
    CompiledMemory as MemoryArgs, CountedValues, Execute, ExecuteOptions, Optimized, Program, Ptr, Serialize, Size,
    slot,
};
use crate::api::{Plugin, bytes_as_text, named_values, slice_of};
use crate::buffer::DeviceBuffer;
use crate::client::Client;
use crate::event::Event;
use crate::options::Setting;

/// A program that can run.
pub struct Executable {
    client: Client,
    raw: Ptr,
    program: CompiledProgram,
    n_results: usize,
}

// SAFETY: executables may run from any thread.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

/// Bytes of one run of an executable on one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompiledMemory {
    /// Of the machine code.
    pub code: i64,
    /// Of the arguments.
    pub arguments: i64,
    /// Of the results.
    pub results: i64,
    /// Of results that lie in the memory of donated arguments.
    pub aliases: i64,
    /// Of temporaries.
    pub temporaries: i64,
    /// The most at one time; 0 where the plugin is too old to say.
    pub peak: i64,
}

/// What is known of a compiled program, whether it is loaded or not.
pub(crate) struct CompiledProgram {
    plugin: Plugin,
    raw: Ptr,
}

impl Drop for CompiledProgram {
    fn drop(&mut self) {
        self.plugin.free(slot::EXECUTABLE_FREE, self.raw);
    }
}

impl CompiledProgram {
    pub(crate) fn new(plugin: &Plugin, raw: Ptr) -> CompiledProgram {
        CompiledProgram { plugin: plugin.clone(), raw }
    }

    pub(crate) fn name(&self) -> Result<String> {
        self.plugin.text(slot::EXECUTABLE_NAME, self.raw)
    }

    pub(crate) fn n_results(&self) -> Result<usize> {
        let mut args = Size { object: self.raw, ..Size::default() };
        self.plugin.call(slot::EXECUTABLE_N_RESULTS, &mut args)?;
        Ok(args.out)
    }

    pub(crate) fn serialize(&self) -> Result<Vec<u8>> {
        let mut args = Serialize { executable: self.raw, ..Serialize::default() };
        self.plugin.call(slot::EXECUTABLE_SERIALIZE, &mut args)?;
        // SAFETY: the plugin gave so many bytes, which its owner holds until it is freed below.
        let bytes = unsafe { slice_of(args.bytes, args.n) }.to_vec();
        if let Some(free) = args.free {
            free(args.owner);
        }
        Ok(bytes)
    }

    pub(crate) fn cost(&self) -> Result<Vec<(String, Setting)>> {
        let mut args = CountedValues { object: self.raw, ..CountedValues::default() };
        self.plugin.call(slot::EXECUTABLE_COST, &mut args)?;
        // SAFETY: the plugin gave so many, which live as long as the executable.
        Ok(unsafe { named_values(args.items, args.n) })
    }

    pub(crate) fn memory(&self) -> Result<CompiledMemory> {
        let mut args = MemoryArgs { executable: self.raw, ..MemoryArgs::default() };
        self.plugin.call(slot::EXECUTABLE_MEMORY, &mut args)?;
        let MemoryArgs { code, arguments, results, aliases, temporaries, peak, .. } = args;
        Ok(CompiledMemory { code, arguments, results, aliases, temporaries, peak })
    }

    /// The program after all passes, and its format: "hlo" (a message), "hlo_with_config" or "mlir".
    pub(crate) fn optimized(&self) -> Result<(Vec<u8>, String)> {
        let mut program = Program::default();
        let mut args = Optimized { executable: self.raw, program: &mut program, ..Optimized::default() };
        // Asked once for the size, and once for the bytes.
        self.plugin.call(slot::EXECUTABLE_OPTIMIZED, &mut args)?;
        let mut bytes = vec![0u8; program.code_size];
        program.code = bytes.as_mut_ptr();
        let mut args = Optimized { executable: self.raw, program: &mut program, ..Optimized::default() };
        self.plugin.call(slot::EXECUTABLE_OPTIMIZED, &mut args)?;
        // SAFETY: the plugin names a constant.
        Ok((bytes, unsafe { bytes_as_text(program.format, program.format_size) }))
    }
}

impl Executable {
    pub(crate) fn new(client: &Client, raw: Ptr) -> Result<Executable> {
        let program = CompiledProgram::new(client.plugin(), client.plugin().one(slot::LOADED_EXECUTABLE, raw)?);
        let n_results = program.n_results()?;
        Ok(Executable { client: client.clone(), raw, program, n_results })
    }

    /// Its name.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn name(&self) -> Result<String> {
        self.program.name()
    }

    /// How many results a run gives on each device.
    pub fn n_results(&self) -> usize {
        self.n_results
    }

    /// Starts a run: for each device its arguments, in order; gives for each device its results, which may still be on
    /// their way. Arguments that the program donates are gone, but for those whose numbers are in `kept`.
    ///
    /// # Errors
    /// When an argument is gone or does not fit, or a device has no memory.
    ///
    /// # Panics
    /// If devices have unequal numbers of arguments: a bug of the caller.
    pub fn run(&self, arguments: &[Vec<&DeviceBuffer>], kept: &[i64]) -> Result<Vec<Vec<DeviceBuffer>>> {
        self.start(arguments, kept, None)
    }

    /// As [`Executable::run`] on one device, for programs that donate none but the arguments not in `kept`. This is the way
    /// of small programs: nothing is asked that the plugin need not say.
    ///
    /// # Errors
    /// As [`Executable::run`].
    pub fn run_on_one(&self, arguments: &[&DeviceBuffer], kept: &[i64]) -> Result<SmallVec<[DeviceBuffer; 4]>> {
        let raw: SmallVec<[Ptr; 16]> = arguments.iter().map(|buffer| buffer.raw()).collect();
        let mut results: SmallVec<[Ptr; 4]> = SmallVec::from_elem(null_mut(), self.n_results);
        let (list, result_list) = (raw.as_ptr(), results.as_mut_ptr());
        let options = ExecuteOptions { kept: kept.as_ptr(), n_kept: kept.len(), ..ExecuteOptions::default() };
        let mut args = Execute {
            executable: self.raw,
            options: &options,
            arguments: &list,
            n_devices: 1,
            n_arguments: raw.len(),
            results: &result_list,
            ..Execute::default()
        };
        self.client.plugin().call(slot::LOADED_EXECUTE, &mut args)?;
        Ok(results.into_iter().map(|raw| DeviceBuffer::new(&self.client, raw)).collect())
    }

    /// Starts a run; `done` takes an event for each device.
    fn start(
        &self,
        arguments: &[Vec<&DeviceBuffer>],
        kept: &[i64],
        done: Option<&mut Vec<Event>>,
    ) -> Result<Vec<Vec<DeviceBuffer>>> {
        let n_arguments = arguments.first().map_or(0, Vec::len);
        assert!(arguments.iter().all(|list| list.len() == n_arguments), "devices with unequal arguments");
        let raw: Vec<Vec<Ptr>> =
            arguments.iter().map(|list| list.iter().map(|buffer| buffer.raw()).collect()).collect();
        let lists: Vec<*const Ptr> = raw.iter().map(Vec::as_ptr).collect();
        let mut results = vec![vec![null_mut(); self.n_results]; arguments.len()];
        let result_lists: Vec<*mut Ptr> = results.iter_mut().map(Vec::as_mut_ptr).collect();
        // What someone reads where it lies is kept too.
        let is_viewed = |&at: &usize| arguments.iter().any(|list| list[at].is_viewed());
        let viewed = (0..n_arguments).filter(is_viewed).map(|at| at as i64);
        let kept: Vec<i64> = kept.iter().copied().chain(viewed).collect();
        let options = ExecuteOptions { kept: kept.as_ptr(), n_kept: kept.len(), ..ExecuteOptions::default() };
        let mut events = vec![null_mut(); arguments.len()];
        let mut args = Execute {
            executable: self.raw,
            options: &options,
            done: if done.is_some() { events.as_mut_ptr() } else { null_mut() },
            arguments: lists.as_ptr(),
            n_devices: arguments.len(),
            n_arguments,
            results: result_lists.as_ptr(),
            ..Execute::default()
        };
        self.client.plugin().call(slot::LOADED_EXECUTE, &mut args)?;
        if let Some(done) = done {
            done.extend(events.into_iter().filter_map(|raw| Event::new(self.client.plugin(), raw)));
        }
        let own = |raw: Ptr| DeviceBuffer::new(&self.client, raw);
        Ok(results.into_iter().map(|list| list.into_iter().map(own).collect()).collect())
    }

    /// As [`Executable::run`], and waits until all devices are done.
    ///
    /// # Errors
    /// As [`Executable::run`]; when the run fails.
    pub fn run_to_end(&self, arguments: &[Vec<&DeviceBuffer>], kept: &[i64]) -> Result<Vec<Vec<DeviceBuffer>>> {
        let mut done = vec![];
        let results = self.start(arguments, kept, Some(&mut done))?;
        // All are waited for before one is told of.
        let ends: Vec<Result<()>> = done.iter().map(Event::wait).collect();
        ends.into_iter().collect::<Result<()>>()?;
        Ok(results)
    }

    /// The executable as bytes, for [`Client::load`].
    ///
    /// # Errors
    /// When the plugin cannot.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        self.program.serialize()
    }

    /// What a run costs, by the plugin's estimate.
    ///
    /// # Errors
    /// When the plugin makes none.
    pub fn cost(&self) -> Result<Vec<(String, Setting)>> {
        self.program.cost()
    }

    /// Bytes of a run.
    ///
    /// # Errors
    /// When the plugin does not say.
    pub fn memory(&self) -> Result<CompiledMemory> {
        self.program.memory()
    }

    /// The program after all passes, as bytes of a format that is named.
    ///
    /// # Errors
    /// When the plugin does not show it.
    pub fn optimized(&self) -> Result<(Vec<u8>, String)> {
        self.program.optimized()
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        self.client.plugin().free(slot::LOADED_FREE, self.raw);
    }
}
