//! The text format of `boards/<name>.board.json`: sorted by id, one element per line, so that diffs are readable.
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
//! The file name is the board name; renaming the file renames the board.

mod check;
mod json_text;
mod read;
mod strict;
mod write;

pub use read::read_board;
pub use write::write_board;

/// The format version that this build writes, and the newest that it reads.
pub const BOARD_FORMAT: u32 = 1;

/// The maximum size of a workspace file that is read.
pub const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;
