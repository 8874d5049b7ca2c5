//! Texture storage and sampling.

use crate::blend::{Pixel, per_channel};
use egui::epaint::{ColorImage, ImageData, ImageDelta, WHITE_UV};
use egui::{Color32, Pos2, TextureFilter, TextureId, TextureOptions, TextureWrapMode};
use std::collections::HashMap;
use std::sync::Arc;

/// All textures received so far, by egui's ids.
#[derive(Default)]
pub(crate) struct TextureStore {
    textures: HashMap<TextureId, Texture>,
}

impl TextureStore {
    pub(crate) fn get(&self, id: TextureId) -> Option<&Texture> {
        self.textures.get(&id)
    }

    pub(crate) fn free(&mut self, id: TextureId) {
        self.textures.remove(&id);
    }

    /// Stores a whole texture or updates a part of one. Ignores invalid changes.
    pub(crate) fn apply(&mut self, id: TextureId, ImageDelta { image, options, pos }: ImageDelta) {
        let ImageData::Color(image) = image;
        if !is_consistent(&image) {
            return;
        }
        match pos {
            None => {
                let [width, height] = image.size;
                let texels = Arc::unwrap_or_clone(image).pixels;
                self.textures.insert(id, Texture { width, height, texels, options });
            }
            Some(position) => {
                if let Some(texture) = self.textures.get_mut(&id) {
                    texture.options = options;
                    texture.overwrite(position, &image);
                }
            }
        }
    }
}

/// Returns whether an image is non-empty and has as many pixels as its size requires.
fn is_consistent(image: &ColorImage) -> bool {
    let [width, height] = image.size;
    !image.pixels.is_empty() && width.checked_mul(height) == Some(image.pixels.len())
}

/// A position on a texture, in texels from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TexelPosition {
    pub(crate) x: f32,
    pub(crate) y: f32,
}

pub(crate) struct Texture {
    width: usize,
    height: usize,
    /// Always `width × height` of them.
    texels: Vec<Color32>,
    options: TextureOptions,
}

impl Texture {
    /// Writes `patch` at `position`, clipped to the texture.
    fn overwrite(&mut self, [left, top]: [usize; 2], patch: &ColorImage) {
        let [patch_width, patch_height] = patch.size;
        let columns = patch_width.min(self.width.saturating_sub(left));
        let rows = patch_height.min(self.height.saturating_sub(top));
        if columns == 0 || rows == 0 {
            return;
        }
        let targets = self.texels.chunks_exact_mut(self.width).skip(top);
        let sources = patch.pixels.chunks_exact(patch_width);
        for (target, source) in targets.zip(sources).take(rows) {
            target[left..left + columns].copy_from_slice(&source[..columns]);
        }
    }

    /// Converts egui's texture coordinates (0 to 1 across the texture) to texels.
    #[inline]
    pub(crate) fn position(&self, uv: Pos2) -> TexelPosition {
        TexelPosition { x: uv.x * self.width as f32, y: uv.y * self.height as f32 }
    }

    /// Returns the filter for an area of `texels` texels that covers `pixels` pixels of the surface.
    pub(crate) fn filter(&self, texels: f64, pixels: f64) -> TextureFilter {
        if texels > pixels { self.options.minification } else { self.options.magnification }
    }

    /// Returns the colour of a shape that uses a single point of the texture, as all untextured shapes do.
    #[inline]
    pub(crate) fn colour_at(&self, uv: Pos2) -> Pixel {
        if uv == WHITE_UV && self.options.wrap_mode == TextureWrapMode::ClampToEdge {
            return self.texel(0, 0);
        }
        self.sample(self.position(uv), self.options.magnification)
    }

    #[inline]
    pub(crate) fn sample(&self, position: TexelPosition, filter: TextureFilter) -> Pixel {
        match filter {
            TextureFilter::Nearest => self.nearest(position),
            TextureFilter::Linear => self.bilinear(position),
        }
    }

    /// Returns `length` texels of row `y` from `left`, or `None` unless all of them lie inside the texture.
    #[inline]
    pub(crate) fn run(&self, left: i64, y: i64, length: usize) -> Option<&[Color32]> {
        let (left, y) = (usize::try_from(left).ok()?, usize::try_from(y).ok()?);
        let right = left.checked_add(length).filter(|right| *right <= self.width)?;
        let row_start = y.checked_mul(self.width)?;
        self.texels.get(row_start.checked_add(left)?..row_start.checked_add(right)?)
    }

    /// Returns `length` texels from `left` of the row at `y` if the texture uses nearest filtering.
    pub(crate) fn nearest_run(&self, left: i64, y: f32, length: usize) -> Option<&[Color32]> {
        (self.options.magnification == TextureFilter::Nearest).then_some(())?;
        self.run(left, floor(y), length)
    }

    /// Returns the texel of row `y` in the column at `x` if the texture uses nearest filtering.
    #[inline]
    pub(crate) fn nearest_column(&self, x: f32, y: i64) -> Option<Color32> {
        (self.options.magnification == TextureFilter::Nearest).then_some(())?;
        self.run(floor(x), y, 1)?.first().copied()
    }

    fn nearest(&self, TexelPosition { x, y }: TexelPosition) -> Pixel {
        self.texel(self.wrap(floor(x), self.width), self.wrap(floor(y), self.height))
    }

    /// Interpolates between the four texels around the position, in steps of 1/256.
    fn bilinear(&self, TexelPosition { x, y }: TexelPosition) -> Pixel {
        let (left, right_share) = split(x - 0.5);
        let (top, bottom_share) = split(y - 0.5);
        let columns = [self.wrap(left, self.width), self.wrap(left + 1, self.width)];
        let rows = [self.wrap(top, self.height), self.wrap(top + 1, self.height)];
        let upper = mix(self.texel(columns[0], rows[0]), self.texel(columns[1], rows[0]), right_share);
        let lower = mix(self.texel(columns[0], rows[1]), self.texel(columns[1], rows[1]), right_share);
        per_channel(|channel| {
            let sum = upper[channel] * (256 - bottom_share) + lower[channel] * bottom_share;
            ((sum + (1 << 15)) >> 16) as u8
        })
    }

    #[inline]
    fn texel(&self, x: usize, y: usize) -> Pixel {
        self.texels.get(y * self.width + x).copied().unwrap_or_default().to_array()
    }

    /// Maps a column or row index into the texture according to its wrap mode.
    #[inline]
    fn wrap(&self, index: i64, size: usize) -> usize {
        let size = size as i64;
        let inside = match self.options.wrap_mode {
            TextureWrapMode::ClampToEdge => index.max(0).min(size - 1),
            TextureWrapMode::Repeat => index.rem_euclid(size),
            TextureWrapMode::MirroredRepeat => {
                let there_and_back = index.rem_euclid(2 * size);
                there_and_back.min(2 * size - 1 - there_and_back)
            }
        };
        inside as usize
    }
}

/// Rounds down. Saturates at the limits of `i32` far outside any texture, so that neighbouring indices do not
/// overflow.
#[inline]
fn floor(value: f32) -> i64 {
    let towards_zero = value as i32;
    i64::from(towards_zero) - i64::from(towards_zero as f32 > value)
}

/// Splits a value into its floor and the fraction in 256ths.
#[inline]
fn split(value: f32) -> (i64, u32) {
    let whole = floor(value);
    let rest = (value - whole as f32) * 256.0 + 0.5;
    (whole, (rest as u32).min(256))
}

/// Mixes two texels by weight, scaled by 256.
#[inline]
fn mix(first: Pixel, second: Pixel, second_share: u32) -> [u32; 4] {
    per_channel(|channel| {
        u32::from(first[channel]) * (256 - second_share) + u32::from(second[channel]) * second_share
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    const BLACK: Pixel = [0, 0, 0, 255];
    const WHITE: Pixel = [255; 4];

    /// Two texels side by side: black, white.
    fn black_white(wrap_mode: TextureWrapMode) -> Texture {
        let options = TextureOptions { wrap_mode, ..TextureOptions::LINEAR };
        Texture { width: 2, height: 1, texels: vec![Color32::BLACK, Color32::WHITE], options }
    }

    fn at(x: f32) -> TexelPosition {
        TexelPosition { x, y: 0.5 }
    }

    #[test]
    fn bilinear_is_exact_on_texel_centres_and_half_way_between() {
        let texture = black_white(TextureWrapMode::ClampToEdge);
        assert_eq!(texture.bilinear(at(0.5)), BLACK);
        assert_eq!(texture.bilinear(at(1.5)), WHITE);
        assert_eq!(texture.bilinear(at(1.0)), [128, 128, 128, 255]);
        assert_eq!(texture.bilinear(at(-7.0)), BLACK);
    }

    #[test]
    fn wrapping() {
        let colours = |mode, positions: [f32; 6]| {
            let texture = black_white(mode);
            positions.map(|x| texture.nearest(at(x)) == WHITE)
        };
        let positions = [-1.5, -0.5, 0.5, 1.5, 2.5, 3.5];
        let (b, w) = (false, true);
        assert_eq!(colours(TextureWrapMode::ClampToEdge, positions), [b, b, b, w, w, w]);
        assert_eq!(colours(TextureWrapMode::Repeat, positions), [b, w, b, w, b, w]);
        assert_eq!(colours(TextureWrapMode::MirroredRepeat, positions), [w, b, b, w, w, b]);
    }

    #[test]
    fn absurd_positions_still_give_a_texel() {
        for mode in [TextureWrapMode::ClampToEdge, TextureWrapMode::Repeat, TextureWrapMode::MirroredRepeat] {
            let texture = black_white(mode);
            for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 1e30] {
                let position = TexelPosition { x: value, y: value };
                assert_eq!(texture.nearest(position)[3], 255);
                assert_eq!(texture.bilinear(position)[3], 255);
            }
        }
    }

    #[test]
    fn a_part_is_written_as_far_as_it_fits() {
        let mut store = TextureStore::default();
        let id = TextureId::Managed(0);
        let filled = |size, colour| ColorImage::filled(size, colour);
        store.apply(id, ImageDelta::full(filled([3, 3], Color32::BLACK), TextureOptions::LINEAR));
        store.apply(id, ImageDelta::partial([2, 1], filled([5, 5], Color32::WHITE), TextureOptions::LINEAR));
        for position in [[3, 0], [0, 3], [usize::MAX, 0], [0, usize::MAX]] {
            store.apply(
                id,
                ImageDelta::partial(position, filled([2, 2], Color32::RED), TextureOptions::LINEAR),
            );
        }
        let (b, w) = (Color32::BLACK, Color32::WHITE);
        assert_eq!(store.get(id).unwrap().texels, [b, b, b, b, b, w, b, b, w]);
    }

    #[test]
    fn wrong_images_are_left_out() {
        let mut store = TextureStore::default();
        let id = TextureId::Managed(0);
        let mut short = ColorImage::filled([4, 4], Color32::WHITE);
        short.pixels.truncate(3);
        store.apply(id, ImageDelta::full(short.clone(), TextureOptions::LINEAR));
        store.apply(id, ImageDelta::full(ColorImage::filled([0, 0], Color32::WHITE), TextureOptions::LINEAR));
        short.size = [usize::MAX, usize::MAX];
        store.apply(id, ImageDelta::full(short, TextureOptions::LINEAR));
        let part = ColorImage::filled([1, 1], Color32::WHITE);
        store.apply(id, ImageDelta::partial([0, 0], part, TextureOptions::LINEAR));
        assert!(store.get(id).is_none());
    }

    #[test]
    fn runs_stay_inside() {
        let texture = black_white(TextureWrapMode::ClampToEdge);
        assert_eq!(texture.run(0, 0, 2), Some([Color32::BLACK, Color32::WHITE].as_slice()));
        for (left, y, length) in
            [(-1, 0, 1), (1, 0, 2), (0, 1, 1), (0, -1, 1), (i64::MAX, i64::MAX, usize::MAX)]
        {
            assert_eq!(texture.run(left, y, length), None);
        }
        assert_eq!(texture.colour_at(pos2(0.0, 0.0)), BLACK);
    }
}
