//! Pictures of the workspace, decoded inside the sandbox and kept as textures.

use crate::scene::PictureFit;
use egui::{
    Color32, ColorImage, CornerRadius, ImageData, Rect, TextureId, TextureOptions,
    epaint::{ImageDelta, RectShape, textures::TexturesDelta},
    pos2, vec2,
};
use std::{collections::BTreeMap, io::Cursor};

/// The maximum number of pictures; below, the maximum side of one and the maximum pixels of all.
const MAX_PICTURES: usize = 200;
const MAX_PICTURE_SIDE_PIXELS: u32 = 4_096;
const MAX_PICTURE_PIXELS: usize = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub(crate) enum PictureError {
    #[error("cannot decode the PNG: {0}")]
    Decode(String),
    #[error("the page has too many pictures or too many pixels. Use fewer or smaller pictures")]
    TooMuch,
}

#[derive(Debug, Default)]
pub(crate) struct PictureTextures {
    by_path: BTreeMap<String, (u64, [usize; 2])>,
    next: u64,
    changes: TexturesDelta,
}

impl PictureTextures {
    pub(crate) fn insert(&mut self, path: &str, png: &[u8]) -> Result<(), PictureError> {
        let mut reader = image::ImageReader::with_format(Cursor::new(png), image::ImageFormat::Png);
        let mut limits = image::Limits::default();
        limits.max_image_width = Some(MAX_PICTURE_SIDE_PIXELS);
        limits.max_image_height = Some(MAX_PICTURE_SIDE_PIXELS);
        limits.max_alloc = Some(MAX_PICTURE_PIXELS as u64 * 4);
        reader.limits(limits);
        let decoded = reader.decode().map_err(|error| PictureError::Decode(error.to_string()))?.into_rgba8();
        let size = [decoded.width() as usize, decoded.height() as usize];
        let others: usize = self
            .by_path
            .iter()
            .filter(|(other, _)| *other != path)
            .map(|(_, (_, [width, height]))| width * height)
            .sum();
        let known = self.by_path.contains_key(path);
        if (self.by_path.len() >= MAX_PICTURES && !known) || others + size[0] * size[1] > MAX_PICTURE_PIXELS {
            return Err(PictureError::TooMuch);
        }
        if let Some((old, _)) = self.by_path.remove(path) {
            self.changes.free.insert(TextureId::User(old));
        }
        self.next += 1;
        let image = ColorImage::from_rgba_unmultiplied(size, decoded.as_raw());
        let delta = ImageDelta::full(ImageData::from(image), TextureOptions::LINEAR);
        self.changes.set.entry(TextureId::User(self.next)).or_default().push(delta);
        self.by_path.insert(path.to_owned(), (self.next, size));
        Ok(())
    }

    /// Takes the texture changes for the rasteriser, before the next frame.
    pub(crate) fn take_changes(&mut self) -> TexturesDelta {
        std::mem::take(&mut self.changes)
    }

    pub(crate) fn shape(
        &self,
        path: &str,
        fit: PictureFit,
        rect: Rect,
        corner: CornerRadius,
        opacity: f32,
    ) -> Option<RectShape> {
        let (id, [width, height]) = self.by_path.get(path)?;
        let picture = vec2(*width as f32, *height as f32);
        let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        let (x, y) = (rect.width() / picture.x, rect.height() / picture.y);
        let (rect, uv) = match fit {
            PictureFit::Fill => (rect, whole),
            PictureFit::Contain => (Rect::from_center_size(rect.center(), picture * x.min(y)), whole),
            PictureFit::Cover => {
                let shown = rect.size() / (picture * x.max(y));
                (rect, Rect::from_center_size(whole.center(), shown))
            }
        };
        let tint = Color32::WHITE.gamma_multiply(opacity);
        Some(RectShape::filled(rect, corner, tint).with_texture(TextureId::User(*id), uv))
    }
}

impl Drop for PictureTextures {
    fn drop(&mut self) {
        // `TexturesDelta` must be empty when it is dropped.
        self.changes.clear();
    }
}
