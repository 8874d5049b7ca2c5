//! Previews as the window knows them: the frames that a sandboxed process draws, where things are in them, and what of
//! the workspace can be shown.
//!
//! Owns: the textures of frames, the last list of boxes of each session, screens and devices, what a selection means for a
//! preview. Must not know: the process, how a page is drawn, panels. Nothing that lies in a frame's memory is believed:
//! sizes are main's, and a frame that changes while it is copied is not shown.

mod device;
mod screens;
mod showable;
mod words;

pub(crate) use device::{Device, Zoom, screen_for, shown_size};
pub(crate) use screens::{Screens, Shot};
pub(crate) use showable::{routes, showable};
pub(crate) use words::{shown_words, state_words};
