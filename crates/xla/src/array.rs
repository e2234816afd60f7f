//! Arrays in buffers of a plugin.

use std::sync::Arc;

use pullback_base::array::place::{Layout, write_region};
use pullback_base::array::{Buffer, Held};
use pullback_base::{Aval, DType, Result};
use pullback_pjrt::{DeviceBuffer, Event};
use pullback_runtime::{Restart, detached};
use smallvec::SmallVec;

/// Buffers, one for each device.
pub(crate) type Buffers = SmallVec<[Arc<DeviceBuffer>; 1]>;

/// The elements of one array, a buffer for each device of its layout.
pub(crate) struct DeviceArray {
    pub(crate) buffers: Buffers,
    pub(crate) aval: Aval,
    pub(crate) layout: Layout,
}

/// The shape of an array's part in a plugin's terms: keys are their words.
pub(crate) fn plugin_shape(dtype: DType, shape: &[usize]) -> Vec<i64> {
    let words = dtype.is_key().then(|| dtype.size_bytes() as i64 / 4);
    shape.iter().map(|&size| size as i64).chain(words).collect()
}

impl DeviceArray {
    fn is_whole(&self) -> bool {
        self.layout.is_replicated()
    }
}

impl Held for DeviceArray {
    fn read(&self) -> Result<Buffer> {
        let size = self.aval.size_bytes();
        // Narrower elements may be packed on the device.
        if self.is_whole()
            && self.aval.dtype.bits() >= 8
            && let Some(view) = detached(Restart::Yes, || self.buffers[0].host_view(size))?
        {
            return Ok(view);
        }
        let mut whole = Buffer::allocate(size)?;
        detached(Restart::Yes, || {
            if self.is_whole() {
                return self.buffers[0].to_host(&mut whole.bytes_mut()[..size]);
            }
            for (position, buffer) in self.buffers.iter().enumerate() {
                if self.layout.is_first_holder(position) {
                    let region = self.layout.region(&self.aval.shape, position);
                    let n: usize = region.iter().map(ExactSizeIterator::len).product();
                    let mut part = Buffer::allocate(n * self.aval.dtype.size_bytes())?;
                    let part = &mut part.bytes_mut()[..n * self.aval.dtype.size_bytes()];
                    buffer.to_host(part)?;
                    let element = self.aval.dtype.size_bytes();
                    write_region(whole.bytes_mut(), &self.aval.shape, &region, element, part);
                }
            }
            Ok(())
        })?;
        Ok(whole.freeze())
    }

    fn wait(&self) -> Result<()> {
        let events =
            self.buffers.iter().map(|buffer| buffer.ready()).collect::<Result<SmallVec<[Option<Event>; 1]>>>()?;
        if events.iter().flatten().all(Event::is_ready) {
            // Nothing to wait for, but a failure to tell.
            return events.iter().flatten().try_for_each(Event::wait);
        }
        detached(Restart::Yes, || events.iter().flatten().try_for_each(Event::wait))
    }

    fn is_ready(&self) -> bool {
        let is_ready = |buffer: &Arc<DeviceBuffer>| match buffer.ready() {
            Ok(event) => event.is_none_or(|event| event.is_ready()),
            Err(_) => true,
        };
        self.buffers.iter().all(is_ready)
    }

    fn is_deleted(&self) -> bool {
        self.buffers.iter().any(|buffer| buffer.is_deleted())
    }

    fn part(&self, position: usize) -> Option<Arc<dyn Held>> {
        let buffers = Buffers::from_buf([self.buffers.get(position)?.clone()]);
        let region = self.layout.region(&self.aval.shape, position);
        let shape: Vec<usize> = region.iter().map(ExactSizeIterator::len).collect();
        let layout = Layout::Device(*self.layout.devices().get(position)?);
        Some(Arc::new(DeviceArray { buffers, aval: self.aval.with_shape(&shape), layout }))
    }

    fn address(&self, position: usize) -> Result<usize> {
        self.buffers[position].address()
    }
}
