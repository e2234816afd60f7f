//! Elements in the memory of a device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pullback_base::array::Buffer;
use pullback_base::{DType, Result};

use crate::abi::{Bool, CopyTo, Dims, FromHost, HostLayout, Int, Ptr, Size, ToHost, slot};
use crate::api::{Plugin, slice_of};
use crate::client::{Client, Device};
use crate::event::Event;

/// The plugin's number of an element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementType(pub i32);

impl ElementType {
    /// The element type of a dtype. Keys are their words, and what has no elements is bytes of truth.
    pub fn of(dtype: DType) -> ElementType {
        let number = match dtype {
            DType::Bool | DType::Float0 => 1,
            DType::I8 => 2,
            DType::I16 => 3,
            DType::I32 => 4,
            DType::I64 => 5,
            DType::U8 => 6,
            DType::U16 => 7,
            DType::U32 | DType::KeyFry | DType::KeyRbg | DType::KeyUnsafeRbg => 8,
            DType::KeyPhilox2 | DType::KeyPhilox4 | DType::KeyFry4 => 8,
            DType::U64 => 9,
            DType::F16 => 10,
            DType::F32 => 11,
            DType::F64 => 12,
            DType::BF16 => 13,
            DType::C64 => 14,
            DType::C128 => 15,
            DType::F8E5M2 => 16,
            DType::F8E4M3FN => 17,
            DType::F8E4M3B11FNUZ => 18,
            DType::F8E5M2FNUZ => 19,
            DType::F8E4M3FNUZ => 20,
            DType::I4 => 21,
            DType::U4 => 22,
            DType::I2 => 24,
            DType::U2 => 25,
            DType::F8E4M3 => 26,
            DType::F8E3M4 => 27,
            DType::F8E8M0FNU => 28,
            DType::F4E2M1FN => 29,
        };
        ElementType(number)
    }
}

/// Elements on a device. They may still be on their way; what waits says when they are not to come.
pub struct DeviceBuffer {
    plugin: Plugin,
    raw: Ptr,
    /// Whether the memory is that of the host.
    is_host: bool,
    /// Whether someone reads the memory where it lies.
    is_viewed: AtomicBool,
}

// SAFETY: buffers may be used from any thread; the address never changes.
unsafe impl Send for DeviceBuffer {}
// SAFETY: as above.
unsafe impl Sync for DeviceBuffer {}

impl DeviceBuffer {
    pub(crate) fn new(client: &Client, raw: Ptr) -> DeviceBuffer {
        let (plugin, is_host) = (client.plugin().clone(), client.is_host());
        DeviceBuffer { plugin, raw, is_host, is_viewed: AtomicBool::new(false) }
    }

    /// Whether someone reads the memory where it lies, so that no run may write there.
    pub fn is_viewed(&self) -> bool {
        self.is_viewed.load(Ordering::Acquire)
    }

    pub(crate) fn raw(&self) -> Ptr {
        self.raw
    }

    /// Copies elements, dense and row-major, to a device. The memory of the host is kept, and may be read by the device,
    /// until the device no longer needs it.
    ///
    /// # Errors
    /// When the device has no memory for it.
    pub fn from_host(
        client: &Client,
        device: &Device,
        memory: Buffer,
        kind: ElementType,
        shape: &[i64],
    ) -> Result<DeviceBuffer> {
        const IMMUTABLE_ZERO_COPY: i32 = 2;
        let plugin = client.plugin();
        let mut args = FromHost {
            client: client.raw(),
            data: memory.as_ptr().cast(),
            kind: kind.0,
            dims: shape.as_ptr(),
            n_dims: shape.len(),
            semantics: IMMUTABLE_ZERO_COPY,
            device: device.raw(),
            ..FromHost::default()
        };
        plugin.call(slot::FROM_HOST, &mut args)?;
        let buffer = DeviceBuffer::new(client, args.buffer);
        if let Some(done) = Event::new(plugin, args.done) {
            done.keep_until_ready(Box::new(memory))?;
        }
        Ok(buffer)
    }

    /// Bytes that the elements take on the host, dense and row-major.
    ///
    /// # Errors
    /// When the buffer is gone.
    pub fn host_bytes(&self) -> Result<usize> {
        let order = self.order()?;
        let layout = HostLayout::of_axes(&order);
        let mut args = ToHost { buffer: self.raw(), layout: &layout, ..ToHost::default() };
        self.plugin.call(slot::BUFFER_TO_HOST, &mut args)?;
        Ok(args.size)
    }

    /// The axes from the fastest to the slowest, row-major.
    fn order(&self) -> Result<Vec<i64>> {
        Ok((0..self.shape()?.len() as i64).rev().collect())
    }

    /// Copies the elements to the host and waits for that.
    ///
    /// # Errors
    /// When the computation of them failed, or they are gone.
    pub fn to_host(&self, to: &mut [u8]) -> Result<()> {
        let order = self.order()?;
        let layout = HostLayout::of_axes(&order);
        let size = to.len();
        let mut args =
            ToHost { buffer: self.raw(), layout: &layout, to: to.as_mut_ptr().cast(), size, ..ToHost::default() };
        self.plugin.call(slot::BUFFER_TO_HOST, &mut args)?;
        match Event::new(&self.plugin, args.event) {
            Some(event) => event.wait(),
            None => Ok(()),
        }
    }

    /// The elements where they lie, on a platform whose devices have the memory of the host and lay arrays out dense
    /// and row-major; `None` on others, and when they take fewer bytes than `size`. Waits for them. The buffer
    /// is neither donated nor deleted any more.
    ///
    /// # Errors
    /// When the computation of them failed, or they are gone.
    pub fn host_view(self: &Arc<DeviceBuffer>, size: usize) -> Result<Option<Buffer>> {
        if !self.is_host || size == 0 || self.is_deleted() {
            return Ok(None);
        }
        self.is_viewed.store(true, Ordering::Release);
        if let Some(event) = self.ready()? {
            event.wait()?;
        }
        if self.device_bytes()? < size {
            return Ok(None);
        }
        let start = self.address()? as *const u8;
        // SAFETY: the elements are there, and the buffer, which is the keeper, is never given to a run that may write.
        Ok((!start.is_null()).then(|| unsafe { Buffer::foreign(start, size, Box::new(self.clone())) }))
    }

    /// Sizes of the axes.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn shape(&self) -> Result<Vec<i64>> {
        let mut args = Dims { object: self.raw(), ..Dims::default() };
        self.plugin.call(slot::BUFFER_DIMS, &mut args)?;
        // SAFETY: the plugin gave so many.
        Ok(unsafe { slice_of(args.items, args.n) }.to_vec())
    }

    /// The element type.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn element_type(&self) -> Result<ElementType> {
        let mut args = Int { object: self.raw(), ..Int::default() };
        self.plugin.call(slot::BUFFER_TYPE, &mut args)?;
        Ok(ElementType(args.out))
    }

    /// Bytes that the elements take on the device.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn device_bytes(&self) -> Result<usize> {
        let mut args = Size { object: self.raw(), ..Size::default() };
        self.plugin.call(slot::BUFFER_BYTES, &mut args)?;
        Ok(args.out)
    }

    /// The address on the device. It is valid while the buffer lives.
    ///
    /// # Errors
    /// When the plugin gives none.
    pub fn address(&self) -> Result<usize> {
        Ok(self.plugin.one(slot::BUFFER_ADDRESS, self.raw())? as usize)
    }

    /// When the elements are there.
    ///
    /// # Errors
    /// When the buffer is gone.
    pub fn ready(&self) -> Result<Option<Event>> {
        Ok(Event::new(&self.plugin, self.plugin.one(slot::BUFFER_READY, self.raw())?))
    }

    /// The same elements on another device of the plugin.
    ///
    /// # Errors
    /// What the plugin raises.
    pub fn copy_to(&self, device: &Device) -> Result<DeviceBuffer> {
        let mut args = CopyTo { buffer: self.raw(), device: device.raw(), ..CopyTo::default() };
        self.plugin.call(slot::BUFFER_COPY_TO_DEVICE, &mut args)?;
        Ok(DeviceBuffer::new(device.client(), args.copy))
    }

    /// Frees the elements, unless someone reads them where they lie; the buffer stays, without them.
    pub fn delete(&self) {
        if self.is_viewed() {
            return;
        }
        let _ = self.plugin.one(slot::BUFFER_DELETE, self.raw());
    }

    /// Whether the elements are gone: deleted, or given to a run.
    pub fn is_deleted(&self) -> bool {
        let mut args = Bool { object: self.raw(), ..Bool::default() };
        self.plugin.call(slot::BUFFER_IS_DELETED, &mut args).is_err() || args.out
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        self.plugin.free(slot::BUFFER_FREE, self.raw());
    }
}
