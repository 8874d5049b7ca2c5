//! Fonts of the system for characters that the bundled fonts lack: Chinese, Arabic, Devanagari, symbols and so on.
//!
//! Owns: which font of the system has a character ([`FontList`], with the feature `discover`), and the fallback that egui
//! asks while it lays text out ([`FallbackFonts`]). Must not know: boards, windows, processes. Fonts come from the font
//! folders of the system and of the user, never from a workspace.
//!
//! egui asks for one character at a time, in the middle of a frame, and must not wait for a disk. So the fallback only
//! notes what is missing; whoever owns it finds the fonts elsewhere, adds them and draws again:
//!
//! ```text
//! a frame ─▶ FallbackFonts: no font has 日 ─▶ a box, and 日 is wanted
//!            take_wanted() ─▶ FontList::find ─▶ FontFile::load ─▶ add() ─▶ the next frame shows 日
//! window:  on a thread of its own    export: between two passes    preview: in main, sent as a descriptor
//! ```

mod fallback;
#[cfg(feature = "discover")]
mod find;
mod font;
#[cfg(feature = "discover")]
mod scripts;

pub use fallback::FallbackFonts;
#[cfg(feature = "discover")]
pub use find::FontList;
pub use font::{FontError, FontFile, LoadedFont};
#[cfg(feature = "discover")]
pub use scripts::{SCRIPTS, Script};

/// Bytes of one font file. The largest in use, collections for Chinese, Japanese and Korean, have 20 MB to 40 MB.
pub const MAX_FONT_BYTES: u64 = 64 << 20;
/// Bytes of all fonts that one process holds.
pub const MAX_ALL_BYTES: u64 = 160 << 20;
/// Fonts that one process holds: a few scripts on one screen, each with its own.
pub const MAX_FONTS: usize = 24;
/// Characters that may be wanted at once. A text of more scripts gets the rest with the next frame.
pub const MAX_WANTED_CHARS: usize = 512;
