//! The newest frame of each preview session as a texture, and the boxes of its instances.

use egui::{ColorImage, Context, TextureHandle, TextureOptions};
use frame_memory::{FrameCopyOutcome, FrameMemory, FrameMemoryError, FrameMemoryReader};
use shared_protocol::{
    preview_sessions::{PreviewId, PreviewInstanceBox},
    preview_wire::PreviewScreen,
};
use std::collections::BTreeMap;

/// Linear filtering, for frames that cannot be shown pixel for pixel.
const TEXTURE_OPTIONS: TextureOptions = TextureOptions::LINEAR;

#[derive(Default)]
pub(crate) struct PreviewTextures {
    sessions: BTreeMap<PreviewId, SessionFrames>,
    instances: BTreeMap<PreviewId, Vec<PreviewInstanceBox>>,
}

/// The maximum number of consecutive torn reads before the window waits for the next announcement. A correct preview
/// finishes a frame much sooner, and one that writes endlessly must not keep the window repainting.
const MAX_TORN_READS: u32 = 25;

#[derive(Clone, Copy)]
pub(crate) struct ShownPreviewFrame<'a> {
    pub(crate) texture: &'a TextureHandle,
    /// The screen that the frame was drawn for, possibly the previous one.
    pub(crate) screen: PreviewScreen,
}

struct SessionFrames {
    generation: u32,
    screen: PreviewScreen,
    reader: FrameMemoryReader,
    /// An announced frame has not been copied yet.
    is_due: bool,
    /// The number of consecutive torn reads.
    torn: u32,
    pixels: Vec<[u8; 4]>,
    texture: Option<(TextureHandle, PreviewScreen)>,
}

impl PreviewTextures {
    /// Adopts new frame memory. The last frame of the old memory stays visible until the new one has a frame.
    pub(crate) fn adopt(
        &mut self,
        session: PreviewId,
        generation: u32,
        screen: PreviewScreen,
        memory: &FrameMemory,
    ) -> Result<(), FrameMemoryError> {
        let reader = memory.reader()?;
        let before = self.sessions.remove(&session);
        let pixels = vec![[0; 4]; reader.width() * reader.height()];
        let shown = before.and_then(|before| before.texture);
        // The memory may already hold a frame.
        self.sessions.insert(
            session,
            SessionFrames { generation, screen, reader, is_due: true, torn: 0, pixels, texture: shown },
        );
        Ok(())
    }

    /// Marks a frame of this generation as due. Returns whether the window should repaint.
    pub(crate) fn record_generation(&mut self, session: PreviewId, generation: u32) -> bool {
        let frames = self.sessions.get_mut(&session).filter(|frames| frames.generation == generation);
        let announce = |frames: &mut SessionFrames| (frames.is_due, frames.torn) = (true, 0);
        frames.map(announce).is_some()
    }

    pub(crate) fn place(&mut self, session: PreviewId, instances: Vec<PreviewInstanceBox>) {
        self.instances.insert(session, instances);
    }

    /// Removes all sessions except these.
    pub(crate) fn retain(&mut self, sessions: &[PreviewId]) {
        self.sessions.retain(|session, _| sessions.contains(session));
        self.instances.retain(|session, _| sessions.contains(session));
    }

    pub(crate) fn instances(&self, session: PreviewId) -> &[PreviewInstanceBox] {
        self.instances.get(&session).map_or(&[], Vec::as_slice)
    }

    /// Returns the newest frame. Copies it only when a new one is due, and uploads only the changed rows.
    pub(crate) fn newest_frame(
        &mut self,
        context: &Context,
        session: PreviewId,
    ) -> Option<ShownPreviewFrame<'_>> {
        let frames = self.sessions.get_mut(&session)?;
        if std::mem::take(&mut frames.is_due) {
            frames.upload_frame(context);
        }
        let (texture, screen) = frames.texture.as_ref()?;
        Some(ShownPreviewFrame { texture, screen: *screen })
    }
}

impl SessionFrames {
    fn upload_frame(&mut self, context: &Context) {
        let size = [self.reader.width(), self.reader.height()];
        let fresh = self.texture.as_ref().is_none_or(|(texture, _)| texture.size() != size);
        let before = if fresh { Vec::new() } else { self.pixels.clone() };
        match self.reader.copy_frame(&mut self.pixels) {
            FrameCopyOutcome::NoNewFrame => return,
            FrameCopyOutcome::Torn => {
                self.pixels.clone_from(&before);
                self.torn += 1;
                // The preview is writing this frame; the next read finds it or a newer one.
                if self.torn < MAX_TORN_READS {
                    self.is_due = true;
                    context.request_repaint_after(std::time::Duration::from_millis(8));
                }
                return;
            }
            FrameCopyOutcome::Frame => {}
        }
        match &mut self.texture {
            Some((texture, screen)) if !fresh => {
                *screen = self.screen;
                if let Some((from, rows)) = changed_rows(&before, &self.pixels, size[0]) {
                    texture.set_partial(
                        [0, from],
                        image([size[0], rows.len() / size[0].max(1)], rows),
                        TEXTURE_OPTIONS,
                    );
                }
            }
            _ => {
                let texture = context.load_texture("preview", image(size, &self.pixels), TEXTURE_OPTIONS);
                self.texture = Some((texture, self.screen));
            }
        }
    }
}

fn image(size: [usize; 2], pixels: &[[u8; 4]]) -> ColorImage {
    ColorImage::from_rgba_premultiplied(size, pixels.as_flattened())
}

/// Returns the index of the first changed row and all rows up to the last changed one, or `None` when nothing changed.
fn changed_rows<'p>(before: &[[u8; 4]], now: &'p [[u8; 4]], width: usize) -> Option<(usize, &'p [[u8; 4]])> {
    if before.len() != now.len() || width == 0 {
        return Some((0, now));
    }
    // Compares rows as bytes, which is vectorised.
    let rows = || before.as_flattened().chunks(width * 4).zip(now.as_flattened().chunks(width * 4));
    let first = rows().position(|(old, new)| old != new)?;
    let last = rows().count() - 1 - rows().rev().position(|(old, new)| old != new)?;
    Some((first, now.get(first * width..(last + 1) * width)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use frame_memory::FrameMemoryWriter;
    use std::os::fd::AsFd;

    const SESSION: PreviewId = PreviewId(1);

    fn screen() -> PreviewScreen {
        PreviewScreen::new(4, 4, 1.0, false).unwrap()
    }

    fn memory() -> (FrameMemory, FrameMemoryWriter) {
        let memory = FrameMemory::new(4, 4).unwrap();
        let writer = FrameMemoryWriter::new(memory.as_fd().try_clone_to_owned().unwrap(), 4, 4).unwrap();
        (memory, writer)
    }

    #[test]
    fn a_frame_is_taken_once_and_the_texture_is_kept() {
        let (memory, mut writer) = memory();
        let (context, mut screens) = (Context::default(), PreviewTextures::default());
        screens.adopt(SESSION, 1, screen(), &memory).unwrap();
        assert!(screens.newest_frame(&context, SESSION).is_none(), "nothing was drawn yet");
        writer.write_frame(&[[9, 9, 9, 255]; 16]);
        assert!(!screens.record_generation(SESSION, 2), "of another memory");
        assert!(screens.newest_frame(&context, SESSION).is_none(), "not announced");
        assert!(screens.record_generation(SESSION, 1));
        let first = screens.newest_frame(&context, SESSION).unwrap().texture.id();
        writer.write_frame(&[[8, 8, 8, 255]; 16]);
        screens.record_generation(SESSION, 1);
        assert_eq!(screens.newest_frame(&context, SESSION).unwrap().texture.id(), first);
        screens.retain(&[]);
        assert!(screens.newest_frame(&context, SESSION).is_none());
    }

    #[test]
    fn the_last_frame_stays_until_the_new_memory_has_one() {
        let (old, mut writer) = memory();
        let (context, mut screens) = (Context::default(), PreviewTextures::default());
        screens.adopt(SESSION, 1, screen(), &old).unwrap();
        writer.write_frame(&[[9, 9, 9, 255]; 16]);
        screens.record_generation(SESSION, 1);
        assert!(screens.newest_frame(&context, SESSION).is_some());
        let dark = PreviewScreen { dark: true, ..screen() };
        let (new, mut writer) = memory();
        screens.adopt(SESSION, 2, dark, &new).unwrap();
        assert!(!screens.newest_frame(&context, SESSION).unwrap().screen.dark);
        writer.write_frame(&[[1, 1, 1, 255]; 16]);
        screens.record_generation(SESSION, 2);
        assert!(screens.newest_frame(&context, SESSION).unwrap().screen.dark);
    }

    #[test]
    fn only_rows_that_differ_are_handed_on() {
        let row = |value: u8| [[value; 4]; 4];
        let before = [row(1), row(2), row(3), row(4)].concat();
        let now = [row(1), row(9), row(8), row(4)].concat();
        let (from, rows) = changed_rows(&before, &now, 4).unwrap();
        assert_eq!((from, rows), (1, [row(9), row(8)].concat().as_slice()));
        assert!(changed_rows(&now, &now, 4).is_none());
        assert_eq!(changed_rows(&[], &now, 4).unwrap().1.len(), 16);
    }
}
