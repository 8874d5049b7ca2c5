//! Pictures of what a session shows: the one case in which pixels come to main.

use super::PictureReply;
use crate::host::Reply;
use frame_memory::{FrameMemory, Taken};
use shared_protocol::{Code, Refusal, messages::Answer, preview::Screen, previews::Pixels};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

/// Copies that are tried while frames are being made.
const ATTEMPTS: usize = 50;

/// Somebody waits for a picture.
pub(super) struct Shot {
    pub(super) until: Instant,
    pub(super) to: To,
}

pub(super) enum To {
    File { path: PathBuf, reply: Reply },
    Pixels(PictureReply),
}

impl Shot {
    pub(super) fn refuse(self, refusal: Refusal) {
        match self.to {
            To::File { reply, .. } => reply(Err(refusal)),
            To::Pixels(reply) => reply(Err(refusal)),
        }
    }

    /// Copies the newest frame and hands it out, on a thread of its own.
    pub(super) fn take(self, memory: &Arc<FrameMemory>, screen: Screen) {
        let memory = Arc::clone(memory);
        let work = move || match picture(&memory, screen) {
            Ok(pixels) => self.deliver(pixels),
            Err(error) => self.refuse(no_picture(&error)),
        };
        if let Err(error) = std::thread::Builder::new().name("preview-shot".to_owned()).spawn(work) {
            tracing::error!(%error, "no thread for a picture of a preview");
        }
    }

    fn deliver(self, pixels: Pixels) {
        match self.to {
            To::Pixels(reply) => reply(Ok(pixels)),
            To::File { path, reply } => reply(png(&pixels).and_then(|bytes| write(&path, &bytes))),
        }
    }
}

fn no_picture(why: &str) -> Refusal {
    Refusal::new(Code::Internal, format!("there is no picture: {why}"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<Answer, Refusal> {
    match std::fs::write(path, bytes) {
        Ok(()) => Ok(Answer::Exported { path: path.display().to_string(), bytes: bytes.len() as u64 }),
        Err(error) => {
            let message = format!("{} could not be written: {error}", path.display());
            Err(Refusal::new(Code::StorageError, message).hint("Choose another place, or free some space."))
        }
    }
}

fn picture(memory: &FrameMemory, screen: Screen) -> Result<Pixels, String> {
    let [width, height] = screen.pixels();
    if (memory.width(), memory.height()) != (width, height) {
        return Err("the screen changed meanwhile".to_owned());
    }
    let mut reader = memory.reader().map_err(|error| error.to_string())?;
    let mut pixels = vec![[0; 4]; width * height];
    for _ in 0..ATTEMPTS {
        match reader.take(&mut pixels) {
            Taken::Frame => {
                // A screen has no more than some thousand of each.
                let [width, height] = [width, height].map(|side| side as u32);
                return Ok(Pixels { width, height, rgba: pixels.into_flattened() });
            }
            Taken::Torn | Taken::Nothing => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    }
    Err("the preview draws without end".to_owned())
}

/// As a file has it.
pub(crate) fn png(pixels: &Pixels) -> Result<Vec<u8>, Refusal> {
    let [width, height] = pixels.size().ok_or_else(|| no_picture("its size is wrong"))?;
    let (rows, _) = pixels.rgba.as_chunks::<4>();
    let surface = rasteriser::Surface::from_pixels(width, height, rows);
    surface.and_then(rasteriser::Surface::into_png).map_err(|error| no_picture(&error.to_string()))
}
