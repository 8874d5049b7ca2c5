//! Pictures of what a session shows: the one case in which pixels come to main.

use super::PictureReply;
use crate::host::Reply;
use preview_link::{FrameMemory, Taken};
use shared_protocol::{Code, Refusal, messages::Answer, preview::Screen};
use std::{path::PathBuf, sync::Arc, time::Instant};

/// Copies that are tried while frames are being made.
const ATTEMPTS: usize = 50;

/// Somebody waits for a picture.
pub(super) struct Shot {
    pub(super) until: Instant,
    pub(super) to: To,
}

pub(super) enum To {
    File { path: PathBuf, reply: Reply },
    Bytes(PictureReply),
}

impl Shot {
    pub(super) fn refuse(self, refusal: Refusal) {
        match self.to {
            To::File { reply, .. } => reply(Err(refusal)),
            To::Bytes(reply) => reply(Err(refusal)),
        }
    }

    /// Copies the newest frame, then encodes and hands it out on a thread of its own.
    pub(super) fn take(self, memory: &Arc<FrameMemory>, screen: Screen) {
        let memory = Arc::clone(memory);
        let refusal = |what: String| Refusal::new(Code::Internal, format!("there is no picture: {what}"));
        let work = move || match picture(&memory, screen) {
            Ok(bytes) => self.deliver(bytes),
            Err(error) => self.refuse(refusal(error)),
        };
        if let Err(error) = std::thread::Builder::new().name("preview-shot".to_owned()).spawn(work) {
            tracing::error!(%error, "no thread for a picture of a preview");
        }
    }

    fn deliver(self, bytes: Vec<u8>) {
        match self.to {
            To::Bytes(reply) => reply(Ok(bytes)),
            To::File { path, reply } => reply(match std::fs::write(&path, &bytes) {
                Ok(()) => {
                    Ok(Answer::Exported { path: path.display().to_string(), bytes: bytes.len() as u64 })
                }
                Err(error) => {
                    let message = format!("{} could not be written: {error}", path.display());
                    Err(Refusal::new(Code::StorageError, message)
                        .hint("Choose another place, or free some space."))
                }
            }),
        }
    }
}

fn picture(memory: &FrameMemory, screen: Screen) -> Result<Vec<u8>, String> {
    let [width, height] = screen.pixels();
    if (memory.width(), memory.height()) != (width, height) {
        return Err("the screen changed meanwhile".to_owned());
    }
    let mut reader = memory.reader().map_err(|error| error.to_string())?;
    let mut pixels = vec![[0; 4]; width * height];
    for _ in 0..ATTEMPTS {
        match reader.take(&mut pixels) {
            Taken::Frame => return encode(width, height, &pixels),
            Taken::Torn | Taken::Nothing => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    }
    Err("the preview draws without end".to_owned())
}

fn encode(width: usize, height: usize, pixels: &[[u8; 4]]) -> Result<Vec<u8>, String> {
    let surface =
        rasteriser::Surface::from_pixels(width, height, pixels).map_err(|error| error.to_string())?;
    surface.into_png().map_err(|error| error.to_string())
}
