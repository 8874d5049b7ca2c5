//! The preview: shows components that others wrote, in a process that can do no harm.
//!
//! Owns: the sandbox of that process, building elements from components and a scene, layout, drawing, frames, and the
//! conversation with main from the preview's side. Must not know: files, the workspace, the network, the window. It gets
//! data and gives pixels.

mod damage;
mod draw;
mod layout;
mod look;
mod painter;
mod pictures;
#[cfg(feature = "probe")]
pub mod probe;
pub mod sandbox;
pub mod scene;
mod serve;
pub mod session;
mod sprites;
mod texts;

pub use look::ICONS;
pub use painter::{PaintError, Painted, Painter, Phases};
pub use serve::{ServeError, serve};
