//! The devices of a plugin as an engine.

use std::path::Path;
use std::sync::Arc;

use pullback_backend::{DeviceCode, Engine, Program, add_engine};
use pullback_base::array::Held;
use pullback_base::array::place::{DeviceId, Layout, read_region};
use pullback_base::{Array, Error, Result};
use pullback_pjrt::{Client, Device, DeviceBuffer, ElementType, KeyValueStore, MemoryStats, Plugin, Setting};
use pullback_runtime::{Restart, detached};

use crate::array::{Buffers, DeviceArray, plugin_shape};
use crate::program::XlaProgram;

/// What a front end shows of a device.
#[derive(Clone, Debug)]
pub struct DeviceFacts {
    /// Its number in places of arrays.
    pub number: DeviceId,
    /// Its number in the plugin.
    pub id: i32,
    /// Its number on this machine.
    pub hardware_id: i32,
    /// The number of its process.
    pub process_index: i32,
    /// What kind it is.
    pub kind: String,
    /// Its name in long.
    pub long_name: String,
    /// Its name in short.
    pub short_name: String,
    /// The kinds of memory that it reads.
    pub memory_kinds: Vec<String>,
    /// What the plugin says of it.
    pub attributes: Vec<(String, Setting)>,
}

/// An engine on a plugin.
pub struct XlaEngine {
    client: Client,
    /// As users call it.
    name: String,
    devices: Vec<Device>,
    ids: Vec<i32>,
    first: DeviceId,
    /// Whether programs can call functions of this process.
    calls_host: bool,
}

impl XlaEngine {
    /// Loads a plugin and adds its devices to those of this process; `store` is for clients of several processes.
    ///
    /// # Errors
    /// When the file is no plugin that can be used, or has no devices here.
    pub fn start(
        name: &str,
        path: &Path,
        options: &[(String, Setting)],
        store: Option<Arc<dyn KeyValueStore>>,
    ) -> Result<Arc<XlaEngine>> {
        let client = detached(Restart::No, || Client::create(&Plugin::load(path)?, options, store.clone()))?;
        let devices: Vec<Device> = client.devices()?;
        let name = name.to_string();
        let ids = devices.iter().map(Device::id).collect::<Result<_>>()?;
        // A plugin that refuses runs all programs but those that call the host, which say so.
        let calls_host = client.is_host() && client.plugin().register_host_calls().unwrap_or(false);
        Ok(add_engine(|first| Ok(Arc::new(XlaEngine { client, name, devices, ids, first, calls_host })))?.1)
    }

    /// The client, for what is asked of the plugin itself.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What is known of its devices.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn facts(&self) -> Result<Vec<DeviceFacts>> {
        let facts = |(position, device): (usize, &Device)| {
            let (long_name, short_name) = device.names()?;
            Ok(DeviceFacts {
                number: self.first + position as DeviceId,
                id: self.ids[position],
                hardware_id: device.hardware_id().unwrap_or(self.ids[position]),
                process_index: device.process_index()?,
                kind: device.kind()?,
                long_name,
                short_name,
                memory_kinds: device.memory_kinds().unwrap_or_default(),
                attributes: device.attributes().unwrap_or_default(),
            })
        };
        self.devices.iter().enumerate().map(facts).collect()
    }

    /// Counts of a device's memory.
    ///
    /// # Errors
    /// `NotImplemented` where the plugin keeps none.
    pub fn memory_stats(&self, device: DeviceId) -> Result<MemoryStats> {
        self.device(device)?.memory_stats()
    }

    /// Whether programs can call functions of this process.
    pub(crate) fn calls_host(&self) -> bool {
        self.calls_host
    }

    /// The number in the plugin of a device.
    pub(crate) fn plugin_id(&self, device: DeviceId) -> Result<i64> {
        let id = self.ids.get(device.wrapping_sub(self.first) as usize).copied();
        id.map(i64::from).ok_or_else(|| strange(device))
    }

    fn device(&self, device: DeviceId) -> Result<&Device> {
        self.devices.get(device.wrapping_sub(self.first) as usize).ok_or_else(|| strange(device))
    }

    /// An array's elements on the device number `position` of a layout.
    fn put_part(&self, array: &Array, layout: &Layout, position: usize, device: DeviceId) -> Result<Arc<DeviceBuffer>> {
        let (shape, dtype, buffer) = (array.shape(), array.dtype(), array.buffer()?);
        let region = layout.region(shape, position);
        let sizes: Vec<usize> = region.iter().map(ExactSizeIterator::len).collect();
        let is_whole = sizes == shape;
        let part = if is_whole { buffer } else { read_region(buffer.bytes(), shape, &region, dtype.size_bytes())? };
        let (kind, sizes) = (ElementType::of(dtype), plugin_shape(dtype, &sizes));
        let put = DeviceBuffer::from_host(&self.client, self.device(device)?, part, kind, &sizes)?;
        Ok(Arc::new(put))
    }
}

fn strange(device: DeviceId) -> Error {
    Error::value_error(format!("device {device} does not belong to the platform that was asked to use it"))
}

impl Engine for XlaEngine {
    fn platform(&self) -> &str {
        &self.name
    }

    fn put(&self, array: &Array, layout: &Layout) -> Result<Arc<dyn Held>> {
        if let (Some(moved), Layout::Device(to)) = (array.held(), layout)
            && let Some(from) = moved.downcast::<DeviceArray>()
            && let Layout::Device(_) = from.layout
            && self.owns(&from.layout)
        {
            // Between devices of the plugin, without the host.
            let copy = Arc::new(from.buffers[0].copy_to(self.device(*to)?)?);
            return Ok(Arc::new(DeviceArray {
                buffers: Buffers::from_buf([copy]),
                aval: array.aval(),
                layout: layout.clone(),
            }));
        }
        let devices = layout.devices();
        let part = |(position, &device): (usize, &DeviceId)| self.put_part(array, layout, position, device);
        let buffers = devices.iter().enumerate().map(part).collect::<Result<_>>()?;
        Ok(Arc::new(DeviceArray { buffers, aval: array.aval(), layout: layout.clone() }))
    }

    fn compile(&self, program: &Program<'_>) -> Result<Arc<dyn DeviceCode>> {
        Ok(Arc::new(XlaProgram::compile(self, program)?))
    }
}

impl XlaEngine {
    fn owns(&self, layout: &Layout) -> bool {
        layout.devices().iter().all(|device| (device.wrapping_sub(self.first) as usize) < self.devices.len())
    }
}
