//! The preview runtime: renders untrusted components in a sandboxed process.
//!
//! Owns: the sandbox of that process, building elements from components and a scene, layout, drawing, frames, and the
//! preview side of the protocol with main. Must not know: files, the workspace, the network, the window. It receives data
//! and returns pixels.

mod damage;
mod draw;
mod galley_cache;
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

pub use look::ICONS;
pub use painter::{PagePainter, PaintError, PaintTimings, PaintedFrame};
pub use serve::{PreviewServeError, serve};
