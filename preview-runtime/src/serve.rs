//! The preview process: enters the sandbox, sends its hello, then handles messages until the channel closes.

use crate::{
    sandbox::{self, SandboxError},
    session::{PreviewRuntimeError, PreviewRuntimeSession},
};
use frame_memory::{DescriptorChannel, DescriptorChannelError};
use shared_protocol::{
    framing::{FramingError, decode_json, encode_json},
    preview_wire::{
        FromPreview, MAX_FROM_PREVIEW_BYTES, MAX_TO_PREVIEW_BYTES, PREVIEW_PROTOCOL_VERSION, ToPreview,
    },
};
use std::os::unix::net::UnixStream;

/// The reason why the preview process ended. Written to standard error, which main reads.
#[derive(Debug, thiserror::Error)]
pub enum PreviewServeError {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("this kernel cannot filter system calls, so previews are not available")]
    Refused,
    #[error(transparent)]
    Channel(#[from] DescriptorChannelError),
    #[error("cannot decode a message from the main process: {0}")]
    Message(#[from] FramingError),
    #[error(transparent)]
    Session(#[from] PreviewRuntimeError),
}

/// Runs until the channel closes. Reads nothing from the channel before the sandbox is active.
pub fn serve(stream: UnixStream, build: &str) -> Result<(), PreviewServeError> {
    let mut channel = DescriptorChannel::new(stream, MAX_TO_PREVIEW_BYTES);
    #[cfg(feature = "probe")]
    let asked = crate::probe::read_order(&mut channel);
    #[cfg(feature = "probe")]
    let report = asked.as_ref().map_or_else(sandbox::enter, crate::probe::ProbeCommand::enter)?;
    #[cfg(not(feature = "probe"))]
    let report = sandbox::enter()?;
    let locked = report.system_calls;
    send(
        &channel,
        &FromPreview::Hello { protocol: PREVIEW_PROTOCOL_VERSION, build: build.to_owned(), sandbox: report },
    )?;
    #[cfg(feature = "probe")]
    if let Some(asked) = asked {
        let (level, message) = (shared_protocol::v0::PreviewLogLevel::Info, asked.attempt());
        return send(&channel, &FromPreview::Log { level, message });
    }
    if !locked {
        return Err(PreviewServeError::Refused);
    }
    match run_message_loop(&mut channel) {
        // Main may exit at any moment, even while a frame is painted.
        Err(PreviewServeError::Channel(DescriptorChannelError::Ended)) => Ok(()),
        ended => ended,
    }
}

/// Runs the message loop. Returns only on an error.
fn run_message_loop(channel: &mut DescriptorChannel) -> Result<(), PreviewServeError> {
    let mut session = PreviewRuntimeSession::default();
    loop {
        // Painting waits until all queued messages are handled, so several changes produce one frame.
        let first = channel.receive()?;
        sandbox::within_deadline(|| -> Result<(), PreviewServeError> {
            handle_message(&mut session, channel, &first)?;
            while let Some(message) = channel.try_receive()? {
                handle_message(&mut session, channel, &message)?;
            }
            Ok(session.paint_if_changed()?)
        })?;
        for message in session.drain() {
            send(channel, &message)?;
        }
    }
}

fn handle_message(
    session: &mut PreviewRuntimeSession,
    channel: &mut DescriptorChannel,
    message: &[u8],
) -> Result<(), PreviewServeError> {
    let message: ToPreview = decode_json(message)?;
    let has_descriptor = matches!(message, ToPreview::Screen { .. } | ToPreview::Font { .. });
    let descriptor = if has_descriptor { channel.take_descriptor() } else { None };
    Ok(session.handle_message(message, descriptor)?)
}

fn send(channel: &DescriptorChannel, message: &FromPreview) -> Result<(), PreviewServeError> {
    Ok(channel.send(&encode_json(message, MAX_FROM_PREVIEW_BYTES)?, None)?)
}
