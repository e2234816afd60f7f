//! A client: the devices of a plugin, and what compiles for them.

use std::sync::Arc;

use pullback_base::Result;

use crate::abi::{
    Bool, ClientCompile, ClientCreate, CountedValues, Deserialize, DeviceMemory, Int, Program, Ptr, slot,
};
use crate::api::{Plugin, named_values};
use crate::executable::Executable;
use crate::options::{CompileOptions, Setting, named};
use crate::store::{self, KeyValueStore};

struct Inner {
    plugin: Plugin,
    raw: Ptr,
    is_host: bool,
    /// What callbacks of the client read; it stays where it is.
    _store: Option<store::Shared>,
}

// SAFETY: clients may be used from any thread.
unsafe impl Send for Inner {}
// SAFETY: as above.
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        self.plugin.free(slot::CLIENT_FREE, self.raw);
    }
}

/// The devices of a plugin. Copies are free; the devices stay while one is held.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

/// One device of a client.
#[derive(Clone)]
pub struct Device {
    client: Client,
    raw: Ptr,
    description: Ptr,
}

// SAFETY: devices live as long as their client, which is held, and may be asked from any thread.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

/// Counts of a device's memory by name, as the plugin keeps them.
pub type MemoryStats = Vec<(&'static str, i64)>;

impl Client {
    /// Makes the client of a plugin, which takes possession of its devices; `store` is what clients of several processes
    /// find each other by.
    ///
    /// # Errors
    /// What the plugin raises: a driver or a device that is missing, an unknown option.
    pub fn create(
        plugin: &Plugin,
        options: &[(String, Setting)],
        store: Option<Arc<dyn KeyValueStore>>,
    ) -> Result<Client> {
        let options = named(options);
        let mut args = ClientCreate { options: options.as_ptr(), n: options.len(), ..ClientCreate::default() };
        let mut store: Option<store::Shared> = store.map(Box::new);
        if let Some(store) = &mut store {
            let address: Ptr = (&raw mut **store).cast();
            (args.get, args.get_arg) = (store::get as *mut _, address);
            (args.put, args.put_arg) = (store::put as *mut _, address);
            (args.try_get, args.try_get_arg) = (store::try_get as *mut _, address);
        }
        plugin.call(slot::CLIENT_CREATE, &mut args)?;
        let is_host = plugin.text(slot::CLIENT_PLATFORM, args.client)? == "cpu";
        Ok(Client(Arc::new(Inner { plugin: plugin.clone(), raw: args.client, is_host, _store: store })))
    }

    /// The plugin.
    pub fn plugin(&self) -> &Plugin {
        &self.0.plugin
    }

    pub(crate) fn raw(&self) -> Ptr {
        self.0.raw
    }

    /// Whether the devices have the memory of the host.
    pub fn is_host(&self) -> bool {
        self.0.is_host
    }

    /// The name of the platform: "cpu", "cuda", "tpu".
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn platform(&self) -> Result<String> {
        self.plugin().text(slot::CLIENT_PLATFORM, self.raw())
    }

    /// The version of the platform, in the plugin's words.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn platform_version(&self) -> Result<String> {
        self.plugin().text(slot::CLIENT_VERSION, self.raw())
    }

    /// The number of this process among those that the client knows.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn process_index(&self) -> Result<i32> {
        let mut args = Int { object: self.raw(), ..Int::default() };
        self.plugin().call(slot::CLIENT_PROCESS, &mut args)?;
        Ok(args.out)
    }

    /// All devices, those of other processes included.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn devices(&self) -> Result<Vec<Device>> {
        let device = |raw: Ptr| {
            let description = self.plugin().one(slot::DEVICE_DESCRIPTION, raw)?;
            Ok(Device { client: self.clone(), raw, description })
        };
        self.plugin().list(slot::CLIENT_DEVICES, self.raw())?.into_iter().map(device).collect()
    }

    /// Compiles the text of a StableHLO module.
    ///
    /// # Errors
    /// What the compiler raises.
    pub fn compile(&self, text: &str, options: &CompileOptions) -> Result<Executable> {
        let program = program_of(text);
        let options = options.encode();
        let mut args = ClientCompile {
            client: self.raw(),
            program: &program,
            options: options.as_ptr(),
            options_size: options.len(),
            ..ClientCompile::default()
        };
        self.plugin().call(slot::CLIENT_COMPILE, &mut args)?;
        Executable::new(self, args.executable)
    }

    /// An executable from the bytes that [`Executable::serialize`] gave, of the same plugin on the same kind of device.
    ///
    /// # Errors
    /// When the bytes are none of the plugin's, or for another device.
    pub fn load(&self, bytes: &[u8], options: &CompileOptions) -> Result<Executable> {
        let options = options.encode();
        let mut args = Deserialize {
            client: self.raw(),
            bytes: bytes.as_ptr(),
            n: bytes.len(),
            options: options.as_ptr(),
            options_size: options.len(),
            ..Deserialize::default()
        };
        self.plugin().call(slot::DESERIALIZE, &mut args)?;
        Executable::new(self, args.executable)
    }
}

/// A program as plugins take it; it borrows the text.
pub(crate) fn program_of(text: &str) -> Program {
    const FORMAT: &str = "mlir";
    Program {
        code: text.as_ptr(),
        code_size: text.len(),
        format: FORMAT.as_ptr(),
        format_size: FORMAT.len(),
        ..Program::default()
    }
}

impl Device {
    /// Its client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    fn plugin(&self) -> &Plugin {
        self.client.plugin()
    }

    pub(crate) fn raw(&self) -> Ptr {
        self.raw
    }

    fn int(&self, number: usize, object: Ptr) -> Result<i32> {
        let mut args = Int { object, ..Int::default() };
        self.plugin().call(number, &mut args)?;
        Ok(args.out)
    }

    /// Its number, unique among the devices of all processes.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn id(&self) -> Result<i32> {
        self.int(slot::DESCRIPTION_ID, self.description)
    }

    /// The number of its process.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn process_index(&self) -> Result<i32> {
        self.int(slot::DESCRIPTION_PROCESS, self.description)
    }

    /// Its number on this machine.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn hardware_id(&self) -> Result<i32> {
        self.int(slot::DEVICE_HARDWARE_ID, self.raw)
    }

    /// What kind of device it is, for example "NVIDIA H200".
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn kind(&self) -> Result<String> {
        self.plugin().text(slot::DESCRIPTION_KIND, self.description)
    }

    /// Its name in long and in short.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn names(&self) -> Result<(String, String)> {
        let long = self.plugin().text(slot::DESCRIPTION_LONG, self.description)?;
        Ok((long, self.plugin().text(slot::DESCRIPTION_SHORT, self.description)?))
    }

    /// What the plugin says of it: cores, coordinates, compute capability.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn attributes(&self) -> Result<Vec<(String, Setting)>> {
        let mut args = CountedValues { object: self.description, ..CountedValues::default() };
        self.plugin().call(slot::DESCRIPTION_ATTRIBUTES, &mut args)?;
        // SAFETY: the plugin gave so many.
        Ok(unsafe { named_values(args.items, args.n) })
    }

    /// Whether this process reaches it.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn is_addressable(&self) -> Result<bool> {
        let mut args = Bool { object: self.raw, ..Bool::default() };
        self.plugin().call(slot::DEVICE_IS_ADDRESSABLE, &mut args)?;
        Ok(args.out)
    }

    /// The kinds of memory that it reads.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn memory_kinds(&self) -> Result<Vec<String>> {
        let memories = self.plugin().list(slot::DEVICE_MEMORIES, self.raw)?;
        memories.into_iter().map(|memory| self.plugin().text(slot::MEMORY_KIND, memory)).collect()
    }

    /// Counts of its memory; `NotImplemented` where the plugin keeps none.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn memory_stats(&self) -> Result<MemoryStats> {
        let mut args = DeviceMemory { device: self.raw, ..DeviceMemory::default() };
        self.plugin().call(slot::DEVICE_MEMORY_STATS, &mut args)?;
        let counts = [
            ("peak_bytes_in_use", args.peak, args.peak_is_set),
            ("num_allocs", args.n_allocations, args.n_allocations_is_set),
            ("largest_alloc_size", args.largest, args.largest_is_set),
            ("bytes_limit", args.limit, args.limit_is_set),
            ("bytes_reserved", args.reserved, args.reserved_is_set),
            ("peak_bytes_reserved", args.peak_reserved, args.peak_reserved_is_set),
            ("bytes_reservable_limit", args.reservable, args.reservable_is_set),
            ("largest_free_block_bytes", args.largest_free, args.largest_free_is_set),
            ("pool_bytes", args.pool, args.pool_is_set),
            ("peak_pool_bytes", args.peak_pool, args.peak_pool_is_set),
        ];
        let kept = counts.into_iter().filter(|(_, _, is_set)| *is_set).map(|(name, count, _)| (name, count));
        Ok(std::iter::once(("bytes_in_use", args.in_use)).chain(kept).collect())
    }
}
