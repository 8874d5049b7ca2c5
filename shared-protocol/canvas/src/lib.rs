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
mod deploy_status;
mod draw;
mod gesture;
mod hit;
mod icons;
mod index;
mod label_editor;
mod lod;
mod markdown;
mod proposed_board;
mod scene;
mod svg;
mod text;
pub mod theme;

pub use camera::{Camera, MAX_ZOOM, MIN_ZOOM};
pub use canvas::Canvas;
pub use deploy_status::{BoardDeployStatus, NodeDeployStatus, planned_words};
pub use draw::{
    deploy_signs::{
        action_colour, deployment_colour, legend_ui, paint_action, paint_deployment, paint_drift,
    },
    draw_board,
};
pub use icons::paint_icon;
pub use index::board_bounds;
pub use markdown::to_markdown;
pub use proposed_board::{CanvasProposal, ProposalLayer, ProposedBoard, ProposedChangeSign, paint_sign};
pub use scene::{BoardScene, CanvasEvent};
pub use svg::to_svg;
pub use theme::WorkbenchTheme;
