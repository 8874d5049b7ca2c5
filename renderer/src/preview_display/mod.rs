//! Preview sessions in the window: their frames, the positions of their instances, and the targets that can be previewed.
//!
//! Owns: the textures of frames, the latest instance boxes of each session, screens and devices, and the preview target of
//! a selection. Must not know: the preview process, how a page is drawn, panels. The content of frame memory is untrusted:
//! sizes come from main, and a frame that changes while it is copied is not shown.

mod device;
mod labels;
mod target;
mod textures;

pub(crate) use device::{PreviewDevice, PreviewZoom, screen_for, shown_size};
pub(crate) use labels::{state_words, target_label};
pub(crate) use target::{preview_target, routes};
pub(crate) use textures::{PreviewTextures, ShownPreviewFrame};
