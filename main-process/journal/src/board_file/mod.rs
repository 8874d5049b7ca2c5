//! The text form of `boards/<name>.board.json`: sorted by id, one element a line, so that a diff reads like a change.
//!
//! ```text
//! {
//!   "format": 1,
//!   "board": {"id":"b-…","kind":"infrastructure","title":"Main"},
//!   "nodes": {
//!     "n-…": {"type":"aws/compute/instance","name":"web","label":"Web","parent":"n-…","props":{…},"references":{…}}
//!   },
//!   "edges": {
//!     "e-…": {"from":"n-…:out","to":"n-…:in","label":"calls"}
//!   },
//!   "layout": {
//!     "n-…": [0,0,184,64]
//!   }
//! }
//! ```
//!
//! The board's name is not in the file but is the file's name, so that renaming the file renames the board.

mod check;
mod json_text;
mod read;
mod strict;
mod write;

pub use read::read_board;
pub use write::write_board;

/// The version of the format that this build writes and the newest it reads.
pub const BOARD_FORMAT: u32 = 1;

/// No file of the workspace is read beyond this.
pub const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;
