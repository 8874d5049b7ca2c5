//! Framed messages over an inherited socket, each with at most one descriptor.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use shared_protocol::framing::{FrameDecoder, FramingError};
use std::{
    collections::VecDeque,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    os::unix::net::UnixStream,
};

/// The maximum number of received descriptors that no message has claimed yet. A correct peer sends no more.
const MAX_UNCLAIMED_DESCRIPTORS: usize = 2;
const RECEIVE_CHUNK_BYTES: usize = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum DescriptorChannelError {
    #[error("the channel was closed")]
    Ended,
    #[error("the channel failed: {0}")]
    System(#[from] io::Error),
    #[error(transparent)]
    Frame(#[from] FramingError),
    #[error("received more descriptors than messages that carry one")]
    Descriptors,
}

/// One end of the channel.
#[derive(Debug)]
pub struct DescriptorChannel {
    stream: UnixStream,
    incoming: FrameDecoder,
    descriptors: VecDeque<OwnedFd>,
}

impl DescriptorChannel {
    /// Creates a channel that accepts messages of at most `most` bytes.
    pub fn new(stream: UnixStream, most: usize) -> Self {
        Self { stream, incoming: FrameDecoder::new(most), descriptors: VecDeque::new() }
    }

    /// Sends a frame in the format of [`shared_protocol::framing`], with the optional descriptor on its first byte.
    pub fn send(
        &self,
        frame: &[u8],
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<(), DescriptorChannelError> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<BorrowedFd<'_>> = descriptor.into_iter().collect();
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let mut rest = frame;
        while !rest.is_empty() {
            match sendmsg(&self.stream, &[IoSlice::new(rest)], &mut control, SendFlags::NOSIGNAL) {
                Ok(sent) => {
                    rest = rest.get(sent..).unwrap_or_default();
                    control.clear();
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => {
                    return Err(DescriptorChannelError::Ended);
                }
                Err(error) => return Err(DescriptorChannelError::System(error.into())),
            }
        }
        Ok(())
    }

    /// Sends as much of a frame as fits without blocking, with the optional descriptor on its first byte. Returns the
    /// number of bytes sent. The caller keeps the rest; the descriptor was sent if at least one byte was.
    pub fn try_send(
        &self,
        bytes: &[u8],
        descriptor: Option<BorrowedFd<'_>>,
    ) -> Result<usize, DescriptorChannelError> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<BorrowedFd<'_>> = descriptor.into_iter().collect();
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        match sendmsg(&self.stream, &[IoSlice::new(bytes)], &mut control, flags) {
            Ok(sent) => Ok(sent),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(0),
            Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => Err(DescriptorChannelError::Ended),
            Err(error) => Err(DescriptorChannelError::System(error.into())),
        }
    }

    /// Blocks until the next whole frame arrives and returns it.
    pub fn receive(&mut self) -> Result<Vec<u8>, DescriptorChannelError> {
        loop {
            if let Some(frame) = self.incoming.next_frame()? {
                return Ok(frame);
            }
            self.fill(RecvFlags::empty())?;
        }
    }

    /// Returns the next whole frame, or `None` when it has not arrived yet.
    pub fn try_receive(&mut self) -> Result<Option<Vec<u8>>, DescriptorChannelError> {
        loop {
            if let Some(frame) = self.incoming.next_frame()? {
                return Ok(Some(frame));
            }
            if !self.fill(RecvFlags::DONTWAIT)? {
                return Ok(None);
            }
        }
    }

    /// Returns the oldest received descriptor. Call it for messages that carry one.
    pub fn take_descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }

    /// Receives more bytes. Returns `false` when none are available and `flags` forbid blocking.
    fn fill(&mut self, flags: RecvFlags) -> Result<bool, DescriptorChannelError> {
        let mut bytes = vec![0; RECEIVE_CHUNK_BYTES];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_UNCLAIMED_DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = flags | RecvFlags::CMSG_CLOEXEC;
        let received = match recvmsg(&self.stream, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(rustix::io::Errno::AGAIN) => return Ok(false),
            Err(rustix::io::Errno::CONNRESET) => 0,
            Err(error) => return Err(DescriptorChannelError::System(error.into())),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        if self.descriptors.len() > MAX_UNCLAIMED_DESCRIPTORS {
            return Err(DescriptorChannelError::Descriptors);
        }
        if received == 0 {
            self.incoming.finish()?;
            return Err(DescriptorChannelError::Ended);
        }
        self.incoming.push(bytes.get(..received).unwrap_or_default());
        Ok(true)
    }
}

impl AsFd for DescriptorChannel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
