//! A stream of server-sent events with a size limit per event.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

pub(super) struct BoundedEventStream<B> {
    body: B,
    most: usize,
    since_blank_line: usize,
    after_line_break: bool,
}

impl<B> BoundedEventStream<B> {
    pub(super) fn new(body: B, most: usize) -> Self {
        Self { body, most, since_blank_line: 0, after_line_break: true }
    }

    /// Counts bytes and returns whether every event is within the limit.
    fn count(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            match byte {
                b'\n' if self.after_line_break => self.since_blank_line = 0,
                b'\n' => self.after_line_break = true,
                b'\r' => {}
                _ => self.after_line_break = false,
            }
            self.since_blank_line += 1;
            if self.since_blank_line > self.most {
                return false;
            }
        }
        true
    }
}

impl<B> Body for BoundedEventStream<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(io::Error::other(error)))),
            Some(Ok(frame)) => frame,
        };
        if let Some(bytes) = frame.data_ref()
            && !self.count(bytes)
        {
            let message = format!("an event is larger than {} bytes", self.most);
            return Poll::Ready(Some(Err(io::Error::new(io::ErrorKind::InvalidData, message))));
        }
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_is_counted_for_itself() {
        let mut events = BoundedEventStream::new((), 12);
        assert!(events.count(b"data: a\n\ndata: b\r\n\r\nda"));
        assert!(events.count(b"ta: c\n\n"));
        assert!(!events.count(b"data: 1234567"));
    }
}
