//! A board on the screen: drawing it, finding what is under the pointer, and turning gestures into commands.
//!
//! Owns: the camera, levels of detail, the spatial index of one board, every shape on a board, gestures, inline
//! renaming, and the same drawing without a window (for export as picture, SVG or Markdown).
//! Must not know: processes, files, panels, menus. It never changes a board: it says what a person asked for
//! ([`CanvasEvent::Run`]) and draws whatever snapshot it is given next.
//!
//! ```text
//! Scene (snapshot, selection, …) ─► Canvas::show ─► Vec<CanvasEvent>
//!                                      │ BoardIndex   what is where, kept from changes
//!                                      │ Camera       board ↔ screen, by f64, snapped to pixels
//!                                      │ draw/*       one file per kind of thing, by level of detail
//!                                      │ gesture/*    one file per gesture; at most one is under way
//! ```
//!
//! Costs follow what is visible: nothing here looks at a hidden node while drawing a frame, except where all nodes
//! are in view, and then they are one cached mesh.

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
