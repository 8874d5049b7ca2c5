//! System fonts for characters that the bundled fonts do not cover: Chinese, Arabic, Devanagari, symbols and so on.
//!
//! Owns: the choice of a system font for a character ([`SystemFontList`], with the feature `discover`), and the font provider
//! that egui calls during text layout ([`FallbackFonts`]). Must not know: boards, windows, processes. Fonts come from
//! the font folders of the system and of the user, never from a workspace.
//!
//! egui requests one character at a time during a frame and must not wait for a disk. So the provider only records
//! missing characters; its owner finds the fonts outside the frame, adds them and draws again:
//!
//! ```text
//! a frame ─▶ FallbackFonts: no font covers 日 ─▶ draws a box and records 日
//!            take_wanted() ─▶ SystemFontList::find ─▶ FontFile::load ─▶ add() ─▶ the next frame shows 日
//! window: on its own thread    export: between two passes    preview: in main, sent as a descriptor
//! ```

#[cfg(feature = "discover")]
mod discover;
mod fallback;
mod font;
#[cfg(feature = "discover")]
mod scripts;

#[cfg(feature = "discover")]
pub use discover::SystemFontList;
pub use fallback::FallbackFonts;
pub use font::{FontError, FontFile, LoadedFont};
#[cfg(feature = "discover")]
pub use scripts::{SCRIPT_SAMPLES, ScriptFontSample};

/// The maximum bytes of one font file. The largest in use, collections for Chinese, Japanese and Korean, have 20 to 40
/// MB.
pub const MAX_FONT_BYTES: u64 = 64 << 20;
/// The maximum bytes of all fonts in one process.
pub const MAX_TOTAL_FONT_BYTES: u64 = 160 << 20;
/// The maximum number of fonts in one process: one for each of a few scripts on one screen.
pub const MAX_FONTS: usize = 24;
/// The maximum number of recorded missing characters. Further characters are recorded in the next frame.
pub const MAX_MISSING_CHARS: usize = 512;
