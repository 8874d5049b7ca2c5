//! The role: locks itself in, says hello, then does what it is told until the channel ends.

use crate::{
    sandbox::{self, SandboxError},
    session::{Session, SessionError},
};
use frame_memory::{Channel, ChannelError};
use shared_protocol::{
    frame::{FrameError, decode_json, encode_json},
    preview::{FromPreview, MAX_FROM_PREVIEW, MAX_TO_PREVIEW, PREVIEW_PROTOCOL, ToPreview},
};
use std::os::unix::net::UnixStream;

/// Why the preview ended. Goes to standard error, which main reads.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("this kernel cannot filter system calls, so nobody's components are shown here")]
    Refused,
    #[error(transparent)]
    Channel(#[from] ChannelError),
    #[error("a message from main was not understood: {0}")]
    Message(#[from] FrameError),
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Runs until the channel ends. Nothing is read from it before the sandbox is closed.
pub fn serve(stream: UnixStream, build: &str) -> Result<(), ServeError> {
    let mut channel = Channel::new(stream, MAX_TO_PREVIEW);
    #[cfg(feature = "probe")]
    let asked = crate::probe::asked(&mut channel);
    #[cfg(feature = "probe")]
    let report = asked.as_ref().map_or_else(sandbox::enter, crate::probe::Asked::enter)?;
    #[cfg(not(feature = "probe"))]
    let report = sandbox::enter()?;
    let locked = report.system_calls;
    send(
        &channel,
        &FromPreview::Hello { protocol: PREVIEW_PROTOCOL, build: build.to_owned(), sandbox: report },
    )?;
    #[cfg(feature = "probe")]
    if let Some(asked) = asked {
        let (level, message) = (shared_protocol::v0::PreviewLogLevel::Info, asked.attempt());
        return send(&channel, &FromPreview::Log { level, message });
    }
    if !locked {
        return Err(ServeError::Refused);
    }
    match converse(&mut channel) {
        // Main may go at any moment, also while a frame is made.
        Err(ServeError::Channel(ChannelError::Ended)) => Ok(()),
        ended => ended,
    }
}

/// Never ends well by itself.
fn converse(channel: &mut Channel) -> Result<(), ServeError> {
    let mut session = Session::default();
    loop {
        // Nothing is painted while messages wait: of ten changes at once, one frame is seen.
        let first = channel.receive()?;
        sandbox::within_deadline(|| -> Result<(), ServeError> {
            take(&mut session, channel, &first)?;
            while let Some(message) = channel.try_receive()? {
                take(&mut session, channel, &message)?;
            }
            Ok(session.settle()?)
        })?;
        for message in session.drain() {
            send(channel, &message)?;
        }
    }
}

fn take(session: &mut Session, channel: &mut Channel, message: &[u8]) -> Result<(), ServeError> {
    let message: ToPreview = decode_json(message)?;
    let has_descriptor = matches!(message, ToPreview::Screen { .. } | ToPreview::Font { .. });
    let descriptor = if has_descriptor { channel.take_descriptor() } else { None };
    Ok(session.take(message, descriptor)?)
}

fn send(channel: &Channel, message: &FromPreview) -> Result<(), ServeError> {
    Ok(channel.send(&encode_json(message, MAX_FROM_PREVIEW)?, None)?)
}
