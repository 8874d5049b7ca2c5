//! A board on the screen: drawing, hit testing, and turning gestures into commands.
//!
//! Owns: the camera, levels of detail, the spatial index of one board, every shape on a board, gestures, inline
//! renaming, and drawing without a window (for export as picture, SVG or Markdown).
//! Must not know: processes, files, panels, menus. It never changes a board: it returns the requested command
//! ([`CanvasEvent::Run`]) and draws the next snapshot that it is given.
//!
//! ```text
//! Scene (snapshot, selection, …) ─► Canvas::show ─► Vec<CanvasEvent>
//!                                      │ BoardIndex   positions of nodes and edges, updated from changes
//!                                      │ Camera       board ↔ screen, in f64, snapped to pixels
//!                                      │ draw/*       one file per kind of element, by level of detail
//!                                      │ gesture/*    one file per gesture; at most one is active
//! ```
//!
//! The cost of a frame depends on the visible elements only. Zoomed out to the whole board, all nodes are one cached
//! mesh.

mod a11y;
mod batch;
mod camera;
mod canvas;
mod draw;
mod gesture;
mod hit;
mod icons;
mod index;
mod lod;
mod markdown;
mod proposed;
mod rename;
mod scene;
mod standing;
mod svg;
mod text;
pub mod theme;

pub use camera::{Camera, MAX_ZOOM, MIN_ZOOM};
pub use canvas::Canvas;
pub use draw::{
    draw_board,
    standing::{action_colour, deployment_colour, legend_ui, paint_action, paint_deployment, paint_drift},
};
pub use icons::paint_icon;
pub use index::board_bounds;
pub use markdown::to_markdown;
pub use proposed::{Layer, ProposedBoard, ShownProposal, Sign, paint_sign};
pub use scene::{CanvasEvent, Scene};
pub use standing::{Standing, Standings, planned_words};
pub use svg::to_svg;
pub use theme::Theme;
