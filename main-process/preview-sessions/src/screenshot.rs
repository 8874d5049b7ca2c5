//! Screenshots of sessions: the only case in which main reads pixels.

use frame_memory::{FrameCopyOutcome, FrameMemory};
use safe_fs::PathProblem;
use shared_protocol::{
    Refusal, RefusalCode, preview_sessions::PreviewImage, preview_wire::PreviewScreen, request::Responder,
    requests::ExportedFile,
};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// Attempts to copy a frame while new ones are drawn.
const MAX_COPY_ATTEMPTS: usize = 50;
const COPY_PAUSE: Duration = Duration::from_millis(5);

/// A requested screenshot, taken once the session shows its page completely.
pub(crate) struct Screenshot {
    pub(crate) deadline: Instant,
    pub(crate) target: ScreenshotTarget,
}

pub(crate) enum ScreenshotTarget {
    File { path: PathBuf, responder: Responder<ExportedFile> },
    Pixels(Responder<PreviewImage>),
}

impl Screenshot {
    pub(crate) fn refuse(self, refusal: Refusal) {
        match self.target {
            ScreenshotTarget::File { responder, .. } => responder.send(Err(refusal)),
            ScreenshotTarget::Pixels(responder) => responder.send(Err(refusal)),
        }
    }

    /// Copies the newest frame and delivers it, on a thread of its own.
    pub(crate) fn capture(self, memory: &Arc<FrameMemory>, screen: PreviewScreen) {
        let memory = Arc::clone(memory);
        let work = move || match copy_frame(&memory, screen) {
            Ok(pixels) => self.deliver(pixels),
            Err(error) => self.refuse(no_picture(&error)),
        };
        // A thread that cannot start drops the responder, which sends a refusal.
        if let Err(error) = std::thread::Builder::new().name("preview-shot".to_owned()).spawn(work) {
            tracing::error!(%error, "no thread for a screenshot");
        }
    }

    fn deliver(self, pixels: PreviewImage) {
        match self.target {
            ScreenshotTarget::Pixels(responder) => responder.send(Ok(pixels)),
            ScreenshotTarget::File { path, responder } => {
                responder.send(png(&pixels).and_then(|bytes| save(&path, &bytes)));
            }
        }
    }
}

fn no_picture(why: &str) -> Refusal {
    Refusal::new(RefusalCode::Internal, format!("The screenshot failed: {why}"))
}

fn save(path: &Path, bytes: &[u8]) -> Result<ExportedFile, Refusal> {
    match safe_fs::replace_at(path, |file| Ok::<_, PathProblem>(file.write_all(bytes)?)) {
        Ok(()) => Ok(ExportedFile { path: path.display().to_string(), bytes: bytes.len() as u64 }),
        Err(problem) => {
            let message = format!("{} could not be written: {problem}", path.display());
            Err(Refusal::new(RefusalCode::StorageError, message))
        }
    }
}

fn copy_frame(memory: &FrameMemory, screen: PreviewScreen) -> Result<PreviewImage, String> {
    let [width, height] = screen.pixels();
    if (memory.width(), memory.height()) != (width, height) {
        return Err("the size of the screen changed".to_owned());
    }
    let mut reader = memory.reader().map_err(|error| error.to_string())?;
    let mut pixels = vec![[0; 4]; width * height];
    for _ in 0..MAX_COPY_ATTEMPTS {
        match reader.copy_frame(&mut pixels) {
            FrameCopyOutcome::Frame => {
                // A screen has at most some thousand pixels a side.
                let [width, height] = [width, height].map(|side| side as u32);
                return Ok(PreviewImage { width, height, rgba: pixels.into_flattened() });
            }
            FrameCopyOutcome::Torn | FrameCopyOutcome::NoNewFrame => std::thread::sleep(COPY_PAUSE),
        }
    }
    Err("the preview does not stop redrawing".to_owned())
}

/// Encodes a picture as a PNG file.
pub fn png(pixels: &PreviewImage) -> Result<Vec<u8>, Refusal> {
    let [width, height] = pixels.size().ok_or_else(|| no_picture("its size is wrong"))?;
    let (rows, _) = pixels.rgba.as_chunks::<4>();
    let surface = rasteriser::PixelSurface::from_pixels(width, height, rows);
    surface.and_then(rasteriser::PixelSurface::into_png).map_err(|error| no_picture(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screenshot_does_not_write_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (precious, link) = (folder.path().join("precious"), folder.path().join("page.png"));
        std::fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        let refusal = save(&link, b"pixels").unwrap_err();
        assert!(refusal.message.contains("symbolic link"), "{refusal}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "precious");
        assert_eq!(save(&folder.path().join("other.png"), b"pixels").unwrap().bytes, 6);
    }
}
