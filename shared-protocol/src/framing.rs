//! Message framing: a length of four bytes, then the message. The reader accepts bytes in any portions and returns
//! whole frames, so it works with any stream and can be tested without one. After an error the stream must be closed.

use crate::{Refusal, RefusalCode};
use serde::{Serialize, de::DeserializeOwned};

const HEADER_BYTES: usize = 4;

/// The maximum frame size from a renderer: large enough for a pasted fragment.
pub const MAX_FROM_RENDERER_BYTES: usize = 8 << 20;
/// The maximum frame size to a renderer: large enough for the largest workspace.
pub const MAX_TO_RENDERER_BYTES: usize = 512 << 20;
/// The bytes of a frame around a response.
const MAX_RESPONSE_HEADER_BYTES: usize = 64;
/// The maximum frame size between main and a terminal, in both directions.
pub const MAX_TERMINAL_FRAME_BYTES: usize = 64 << 20;

#[derive(Debug, thiserror::Error)]
pub enum FramingError {
    #[error("the frame has {length} bytes, more than the limit of {most}")]
    TooLarge { length: usize, most: usize },
    #[error("the frame is empty")]
    Empty,
    #[error("the connection closed inside a frame, {missing} bytes short")]
    Truncated { missing: usize },
    #[error("the frame is not a valid message: {0}")]
    Malformed(String),
}

/// Prefixes a payload with its length.
pub fn frame(payload: &[u8], most: usize) -> Result<Vec<u8>, FramingError> {
    let too_large = FramingError::TooLarge { length: payload.len(), most };
    if payload.len() > most {
        return Err(too_large);
    }
    let length = u32::try_from(payload.len()).map_err(|_| too_large)?;
    let mut framed = Vec::with_capacity(HEADER_BYTES + payload.len());
    framed.extend_from_slice(&length.to_be_bytes());
    framed.extend_from_slice(payload);
    Ok(framed)
}

/// Splits a byte stream into frames.
#[derive(Debug)]
pub struct FrameDecoder {
    buffer: Vec<u8>,
    most: usize,
}

impl FrameDecoder {
    pub fn new(most: usize) -> Self {
        Self { buffer: Vec::new(), most }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete frame, if there is one. Refuses an oversized frame as soon as its header arrives.
    pub fn next_frame(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        let Some(length) = self.announced_length() else { return Ok(None) };
        if length == 0 {
            return Err(FramingError::Empty);
        }
        if length > self.most {
            return Err(FramingError::TooLarge { length, most: self.most });
        }
        if self.buffer.len() < HEADER_BYTES + length {
            return Ok(None);
        }
        let rest = self.buffer.split_off(HEADER_BYTES + length);
        let mut frame = std::mem::replace(&mut self.buffer, rest);
        frame.drain(..HEADER_BYTES);
        Ok(Some(frame))
    }

    /// Returns true when a frame has arrived only in part.
    pub fn is_mid_frame(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Handles the end of the stream: returns an error when it is inside a frame.
    pub fn finish(&self) -> Result<(), FramingError> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let expected = self.announced_length().map_or(HEADER_BYTES, |length| HEADER_BYTES + length);
        Err(FramingError::Truncated { missing: expected.saturating_sub(self.buffer.len()) })
    }

    fn announced_length(&self) -> Option<usize> {
        let header = self.buffer.first_chunk::<HEADER_BYTES>()?;
        Some(u32::from_be_bytes(*header) as usize)
    }
}

/// Encodes a message for another process of the same build.
pub fn encode<T: Serialize>(message: &T, most: usize) -> Result<Vec<u8>, FramingError> {
    let payload = postcard::to_stdvec(message).map_err(|error| FramingError::Malformed(error.to_string()))?;
    frame(&payload, most)
}

/// Encodes the response of one request, which travels within a message.
pub fn encode_response<T: Serialize>(response: &T) -> Result<Vec<u8>, Refusal> {
    let most = MAX_TO_RENDERER_BYTES - MAX_RESPONSE_HEADER_BYTES;
    let encoded = postcard::to_stdvec(response).map_err(|error| FramingError::Malformed(error.to_string()));
    let bounded = encoded.and_then(|bytes| match bytes.len() {
        length if length > most => Err(FramingError::TooLarge { length, most }),
        _ => Ok(bytes),
    });
    bounded.map_err(|error| {
        Refusal::new(RefusalCode::LimitExceeded, format!("the response cannot be sent: {error}"))
            .hint("Request a smaller part.")
    })
}

/// Decodes a message strictly: every byte of the frame must belong to it.
pub fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, FramingError> {
    match postcard::take_from_bytes(payload) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => Err(FramingError::Malformed(format!("{} trailing bytes", rest.len()))),
        Err(error) => Err(FramingError::Malformed(error.to_string())),
    }
}

/// Encodes a message as JSON for another program.
pub fn encode_json<T: Serialize>(message: &T, most: usize) -> Result<Vec<u8>, FramingError> {
    let payload = serde_json::to_vec(message).map_err(|error| FramingError::Malformed(error.to_string()))?;
    frame(&payload, most)
}

pub fn decode_json<T: DeserializeOwned>(payload: &[u8]) -> Result<T, FramingError> {
    serde_json::from_slice(payload).map_err(|error| FramingError::Malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn limits_hold_from_the_header_alone() {
        let mut reader = FrameDecoder::new(1024);
        reader.push(&u32::MAX.to_be_bytes());
        assert!(matches!(reader.next_frame(), Err(FramingError::TooLarge { .. })));
        let mut reader = FrameDecoder::new(1024);
        reader.push(&[0, 0, 0, 0]);
        assert!(matches!(reader.next_frame(), Err(FramingError::Empty)));
        assert!(frame(&[0; 2048], 1024).is_err());
    }

    #[test]
    fn an_end_inside_a_frame_is_told() {
        let mut reader = FrameDecoder::new(1024);
        reader.push(&[0, 0, 0, 9, 1, 2]);
        assert!(reader.next_frame().unwrap().is_none());
        assert!(matches!(reader.finish(), Err(FramingError::Truncated { missing: 7 })));
    }

    proptest! {
        #[test]
        fn any_cut_of_the_stream_gives_the_same_frames(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..200), 0..10),
            cuts in prop::collection::vec(1usize..50, 1..40),
        ) {
            let stream: Vec<u8> = payloads.iter().flat_map(|payload| frame(payload, 1024).unwrap()).collect();
            let (mut reader, mut frames, mut rest, mut cuts) = (FrameDecoder::new(1024), vec![], &stream[..], cuts.iter().cycle());
            while !rest.is_empty() {
                let (now, later) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                reader.push(now);
                while let Some(frame) = reader.next_frame().unwrap() { frames.push(frame); }
                rest = later;
            }
            prop_assert_eq!(frames, payloads);
            prop_assert!(reader.finish().is_ok());
        }

        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
            let _ = decode::<crate::messages::FromRenderer>(&bytes);
            let _ = decode::<crate::messages::ToRenderer>(&bytes);
            let _ = decode_json::<crate::messages::FromTerminal>(&bytes);
        }
    }
}
