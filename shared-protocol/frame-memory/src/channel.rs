//! Framed messages over an inherited socket, each with at most one descriptor.

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use shared_protocol::frame::{FrameError, FrameReader};
use std::{
    collections::VecDeque,
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    os::unix::net::UnixStream,
};

/// Descriptors that wait for their message. The other side has no reason to send more.
const MAX_WAITING: usize = 2;
const CHUNK: usize = 64 << 10;

#[derive(Debug, thiserror::Error)]
pub enum ChannelError {
    #[error("the channel ended")]
    Ended,
    #[error("the channel failed: {0}")]
    System(#[from] io::Error),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("more descriptors came than messages that want one")]
    Descriptors,
}

/// One end.
#[derive(Debug)]
pub struct Channel {
    stream: UnixStream,
    incoming: FrameReader,
    descriptors: VecDeque<OwnedFd>,
}

impl Channel {
    /// Takes messages of at most so many bytes.
    pub fn new(stream: UnixStream, most: usize) -> Self {
        Self { stream, incoming: FrameReader::new(most), descriptors: VecDeque::new() }
    }

    /// A frame as [`shared_protocol::frame`] makes them, with a descriptor on its first byte if there is one.
    pub fn send(&self, frame: &[u8], descriptor: Option<BorrowedFd<'_>>) -> Result<(), ChannelError> {
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
                    return Err(ChannelError::Ended);
                }
                Err(error) => return Err(ChannelError::System(error.into())),
            }
        }
        Ok(())
    }

    /// Sends as much of a frame as fits without waiting, with a descriptor on its first byte if there is one, and gives how
    /// much that was. The caller keeps the rest; the descriptor has gone if anything has.
    pub fn try_send(&self, bytes: &[u8], descriptor: Option<BorrowedFd<'_>>) -> Result<usize, ChannelError> {
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
            Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => Err(ChannelError::Ended),
            Err(error) => Err(ChannelError::System(error.into())),
        }
    }

    /// The next whole frame. Waits for it.
    pub fn receive(&mut self) -> Result<Vec<u8>, ChannelError> {
        loop {
            if let Some(frame) = self.incoming.next_frame()? {
                return Ok(frame);
            }
            self.fill(RecvFlags::empty())?;
        }
    }

    /// The next whole frame, if it is there.
    pub fn try_receive(&mut self) -> Result<Option<Vec<u8>>, ChannelError> {
        loop {
            if let Some(frame) = self.incoming.next_frame()? {
                return Ok(Some(frame));
            }
            if !self.fill(RecvFlags::DONTWAIT)? {
                return Ok(None);
            }
        }
    }

    /// The descriptor that came with a message that wants one.
    pub fn take_descriptor(&mut self) -> Option<OwnedFd> {
        self.descriptors.pop_front()
    }

    /// False if nothing is there and nobody should wait.
    fn fill(&mut self, flags: RecvFlags) -> Result<bool, ChannelError> {
        let mut bytes = vec![0; CHUNK];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_WAITING))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = flags | RecvFlags::CMSG_CLOEXEC;
        let received = match recvmsg(&self.stream, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags) {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::INTR) => return Ok(true),
            Err(rustix::io::Errno::AGAIN) => return Ok(false),
            Err(rustix::io::Errno::CONNRESET) => 0,
            Err(error) => return Err(ChannelError::System(error.into())),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                self.descriptors.extend(descriptors);
            }
        }
        if self.descriptors.len() > MAX_WAITING {
            return Err(ChannelError::Descriptors);
        }
        if received == 0 {
            self.incoming.finish()?;
            return Err(ChannelError::Ended);
        }
        self.incoming.push(bytes.get(..received).unwrap_or_default());
        Ok(true)
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
