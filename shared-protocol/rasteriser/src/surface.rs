//! The pixel buffer, the clip range of a primitive, and PNG encoding.

use crate::RasterError;
use crate::blend::{self, Pixel};
use egui::{Color32, Rect};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder as _};
use std::ops::Range;

/// The maximum width and height of a [`PixelSurface`], in pixels.
pub const MAX_SIDE: usize = 16_384;

/// The maximum number of pixels of a [`PixelSurface`] (256 MiB).
pub const MAX_PIXELS: usize = 64 * 1024 * 1024;

/// An image in memory: rows from top to bottom, each pixel red, green, blue and alpha, premultiplied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PixelSurface {
    width: usize,
    height: usize,
    /// Always `width × height` of them.
    pixels: Vec<[u8; 4]>,
}

impl PixelSurface {
    pub fn new(width: usize, height: usize, background: Color32) -> Result<Self, RasterError> {
        if width == 0 || height == 0 {
            return Err(RasterError::Empty { width, height });
        }
        if width > MAX_SIDE || height > MAX_SIDE || width * height > MAX_PIXELS {
            return Err(RasterError::TooLarge { width, height });
        }
        let mut pixels = Vec::new();
        pixels
            .try_reserve_exact(width * height)
            .map_err(|_no_memory| RasterError::OutOfMemory { width, height })?;
        pixels.resize(width * height, background.to_array());
        Ok(Self { width, height, pixels })
    }

    /// Creates a surface from premultiplied pixels, rows from the top. Missing pixels are transparent.
    pub fn from_pixels(width: usize, height: usize, pixels: &[[u8; 4]]) -> Result<Self, RasterError> {
        let mut surface = Self::new(width, height, Color32::TRANSPARENT)?;
        for (to, from) in surface.pixels.iter_mut().zip(pixels) {
            *to = *from;
        }
        Ok(surface)
    }

    /// Fills the surface with `background`, reusing its memory for the next frame.
    pub fn clear(&mut self, background: Color32) {
        self.pixels.fill(background.to_array());
    }

    /// Fills the pixels whose centres lie in `rect` with `background`, for a frame with few changes.
    pub fn clear_in(&mut self, rect: Rect, background: Color32) {
        let Some(clip) = ClipRange::new(rect, self) else { return };
        for y in clip.rows.clone() {
            self.run_mut(y, clip.columns.clone()).fill(background.to_array());
        }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[[u8; 4]] {
        &self.pixels
    }

    /// All pixels as bytes, row by row; `pixels().len() × 4` of them.
    pub fn as_bytes(&self) -> &[u8] {
        self.pixels.as_flattened()
    }

    /// The pixel at this column and row, if there is one.
    pub fn pixel(&self, x: usize, y: usize) -> Option<Color32> {
        let [red, green, blue, alpha] = *self.row(y)?.get(x)?;
        Some(Color32::from_rgba_premultiplied(red, green, blue, alpha))
    }

    /// Returns the bytes of all pixels with alpha divided out, as image encoders expect them.
    pub fn into_unmultiplied_bytes(mut self) -> Vec<u8> {
        for pixel in &mut self.pixels {
            *pixel = blend::unmultiply(*pixel);
        }
        self.pixels.into_flattened()
    }

    /// Encodes the image as PNG. Opaque pixels keep their exact colours.
    pub fn into_png(self) -> Result<Vec<u8>, RasterError> {
        // Both sides are at most `MAX_SIDE`.
        let (width, height) = (self.width as u32, self.height as u32);
        let bytes = self.into_unmultiplied_bytes();
        let mut png = Vec::new();
        PngEncoder::new(&mut png).write_image(&bytes, width, height, ExtendedColorType::Rgba8)?;
        Ok(png)
    }

    fn row(&self, y: usize) -> Option<&[Pixel]> {
        self.pixels.chunks_exact(self.width).nth(y)
    }

    /// The pixels of row `y` in `columns`; empty unless the range lies entirely on the surface.
    #[inline]
    pub(crate) fn run_mut(&mut self, y: usize, columns: Range<usize>) -> &mut [Pixel] {
        if columns.end > self.width || y >= self.height {
            return &mut [];
        }
        let row_start = y * self.width;
        self.pixels.get_mut(row_start + columns.start..row_start + columns.end).unwrap_or_default()
    }
}

/// The columns and rows that a primitive may paint. Both ranges are non-empty and lie on the surface.
pub(crate) struct ClipRange {
    pub(crate) columns: Range<usize>,
    pub(crate) rows: Range<usize>,
}

impl ClipRange {
    /// Returns the pixels inside `rect` with its sides rounded, as egui's GPU backends do.
    pub(crate) fn new(rect: Rect, surface: &PixelSurface) -> Option<Self> {
        if rect.any_nan() {
            return None;
        }
        // Casts from float saturate: below zero becomes zero.
        let round = |side: f32, limit: usize| (side.round() as usize).min(limit);
        let columns = round(rect.min.x, surface.width)..round(rect.max.x, surface.width);
        let rows = round(rect.min.y, surface.height)..round(rect.max.y, surface.height);
        (!columns.is_empty() && !rows.is_empty()).then_some(Self { columns, rows })
    }
}

/// Returns the pixels within `limits` whose centres lie in `from..to`. Adjacent shapes share no pixel and leave no
/// gap.
#[inline]
pub(crate) fn covered_pixels(from: f64, to: f64, limits: &Range<usize>) -> Range<usize> {
    first_centre(from, limits)..first_centre(to, limits)
}

/// Returns the first pixel whose centre is at or after `position`, clamped to `limits`.
#[inline]
fn first_centre(position: f64, limits: &Range<usize>) -> usize {
    let centre = position - 0.5;
    let floor = centre as usize;
    let ceiling = if floor as f64 >= centre { floor } else { floor.saturating_add(1) };
    ceiling.max(limits.start).min(limits.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Pos2, pos2};

    #[test]
    fn coverage_counts_centres() {
        let limits = 2..10;
        assert_eq!(covered_pixels(3.0, 6.0, &limits), 3..6);
        assert_eq!(
            covered_pixels(3.5, 6.5, &limits),
            3..6,
            "a centre on the left side counts, on the right side not"
        );
        assert_eq!(covered_pixels(3.51, 6.51, &limits), 4..7);
        assert_eq!(covered_pixels(-1e30, 1e30, &limits), 2..10);
        assert_eq!(covered_pixels(f64::NEG_INFINITY, f64::INFINITY, &limits), 2..10);
        assert!(covered_pixels(f64::NAN, f64::NAN, &limits).is_empty());
        assert!(covered_pixels(20.0, 30.0, &limits).is_empty());
    }

    #[test]
    fn a_run_off_the_surface_is_empty() {
        let mut surface = PixelSurface::new(4, 2, Color32::BLACK).unwrap();
        assert_eq!(surface.run_mut(1, 1..4).len(), 3);
        assert!(surface.run_mut(0, 1..5).is_empty());
        assert!(surface.run_mut(2, 0..1).is_empty());
    }

    #[test]
    fn clips_stay_on_the_surface() {
        let surface = PixelSurface::new(8, 8, Color32::BLACK).unwrap();
        let clip = ClipRange::new(Rect::EVERYTHING, &surface).unwrap();
        assert_eq!((clip.columns, clip.rows), (0..8, 0..8));
        let clip = ClipRange::new(Rect::from_min_max(pos2(-3.0, 1.4), pos2(4.6, 99.0)), &surface).unwrap();
        assert_eq!((clip.columns, clip.rows), (0..5, 1..8));
        assert!(ClipRange::new(Rect::NOTHING, &surface).is_none());
        assert!(ClipRange::new(Rect::NAN, &surface).is_none());
        assert!(ClipRange::new(Rect::from_min_max(pos2(9.0, 0.0), pos2(12.0, 8.0)), &surface).is_none());
        assert!(ClipRange::new(Rect::from_min_max(Pos2::ZERO, pos2(0.4, 8.0)), &surface).is_none());
    }
}
