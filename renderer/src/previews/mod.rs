//! Preview sessions in the window: their frames, the positions of their instances, and the targets that can be previewed.
//!
//! Owns: the textures of frames, the latest instance boxes of each session, screens and devices, and the preview target of
//! a selection. Must not know: the preview process, how a page is drawn, panels. The content of frame memory is untrusted:
//! sizes come from main, and a frame that changes while it is copied is not shown.

mod device;
mod screens;
mod showable;
mod words;

pub(crate) use device::{Device, Zoom, screen_for, shown_size};
pub(crate) use screens::{Screens, Shot};
pub(crate) use showable::{routes, showable};
pub(crate) use words::{shown_words, state_words};
