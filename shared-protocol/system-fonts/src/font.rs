//! One face of one font file.

use crate::MAX_FONT_BYTES;
use egui::FontData;
use skrifa::MetadataProvider as _;
use std::{fs::File, io::Read as _, path::PathBuf, sync::Arc};

#[derive(Debug, thiserror::Error)]
pub enum FontError {
    #[error("could not read the font file: {0}")]
    Read(#[from] std::io::Error),
    #[error("the font file is larger than {} bytes", MAX_FONT_BYTES)]
    TooLarge,
    #[error("the font file does not contain the requested face")]
    NoFace,
}

/// The location of a face.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FontFile {
    /// The family, such as `Noto Sans Thai`.
    pub name: String,
    pub path: PathBuf,
    /// The index of the face in a font collection.
    pub index: u32,
}

impl FontFile {
    pub fn open(&self) -> Result<File, FontError> {
        Ok(File::open(&self.path)?)
    }

    pub fn load(&self) -> Result<LoadedFont, FontError> {
        LoadedFont::read(self.name.clone(), self.open()?, self.index)
    }
}

/// A face in memory. It is copied rather than mapped, because truncating a mapped file would crash the process.
#[derive(Clone)]
pub struct LoadedFont {
    name: String,
    data: FontData,
}

impl LoadedFont {
    /// Reads a whole file of at most [`MAX_FONT_BYTES`].
    pub fn read(name: String, file: File, index: u32) -> Result<Self, FontError> {
        let room = file.metadata().map_or(0, |about| about.len()).min(MAX_FONT_BYTES);
        let mut bytes = Vec::with_capacity(room as usize);
        file.take(MAX_FONT_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_FONT_BYTES {
            return Err(FontError::TooLarge);
        }
        skrifa::FontRef::from_index(&bytes, index).map_err(|_| FontError::NoFace)?;
        Ok(Self { name, data: FontData::from_blob(Arc::new(bytes), index) })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn bytes(&self) -> u64 {
        self.data.bytes().len() as u64
    }

    pub(crate) fn data(&self) -> &FontData {
        &self.data
    }

    pub fn has(&self, character: char) -> bool {
        covers(self.data.bytes(), self.data.index, character)
    }
}

/// Returns whether a face has a glyph for a character.
pub(crate) fn covers(bytes: &[u8], index: u32, character: char) -> bool {
    let Ok(font) = skrifa::FontRef::from_index(bytes, index) else { return false };
    font.charmap().map(character).is_some_and(|glyph| glyph != skrifa::GlyphId::NOTDEF)
}
