//! Reading buffers back: one copy, one map.

use crate::buffers::Part;
use crate::device::Device;
use futures_channel::oneshot;
use palimpsest_plan::BackendError;

/// Reads parts of buffers, one after the other. Offsets and sizes are multiples of 4.
pub(crate) async fn read_parts(device: &Device, parts: &[Part]) -> Result<Vec<u8>, BackendError> {
    let size: u64 = parts.iter().map(|part| part.size).sum();
    if size == 0 {
        return Ok(Vec::new());
    }
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let staging = device.device.create_buffer(&wgpu::BufferDescriptor { label: Some("readback"), size, usage, mapped_at_creation: false });
    let mut encoder = device.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("readback") });
    let mut offset = 0;
    for part in parts {
        encoder.copy_buffer_to_buffer(&part.buffer, part.offset, &staging, offset, part.size);
        offset += part.size;
    }
    device.queue.submit([encoder.finish()]);
    let (send, receive) = oneshot::channel();
    staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
        // Nobody waits any more when the read was dropped.
        let _ = send.send(mapped);
    });
    device.wait(None)?;
    let mapped = receive.await;
    device.check()?;
    let refuse = |message: String| BackendError::Refused(format!("a read of {size} bytes failed: {message}"));
    match mapped {
        Ok(Ok(())) => {}
        Ok(Err(error)) => return Err(refuse(error.to_string())),
        Err(canceled) => return Err(refuse(canceled.to_string())),
    }
    let bytes = staging.get_mapped_range(..).map_err(|error| refuse(error.to_string()))?.to_vec();
    staging.unmap();
    Ok(bytes)
}

/// Reads one part as 4-byte numbers.
pub(crate) async fn read_numbers<T: bytemuck::Pod>(device: &Device, part: Part) -> Result<Vec<T>, BackendError> {
    let bytes = read_parts(device, &[part]).await?;
    Ok(bytemuck::pod_collect_to_vec(&bytes))
}
