//! The fast path for most of an interface: upright rectangles of one colour. They are plain, show a texture texel for
//! pixel (glyphs), or stretch one row or column of a texture (sides of boxes).

use crate::blend;
use crate::surface::{ClipRange, PixelSurface, covered_pixels};
use crate::textures::{TexelPosition, Texture};
use crate::triangles::{Triangle, TriangleCorner};
use egui::{Color32, Pos2, pos2};
use std::ops::Range;

/// The maximum offset in pixels between texels and pixels that are still copied one to one.
const MAX_MISALIGNMENT_PIXELS: f64 = 1.0 / 64.0;

/// An upright rectangle of one colour. Its texture, if any, is neither rotated nor skewed.
pub(crate) struct Quad {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    uv_left_top: Pos2,
    uv_right_bottom: Pos2,
    colour: Color32,
}

impl Quad {
    /// Returns the rectangle that two triangles form together, if any.
    #[inline]
    pub(crate) fn from_triangles(first: &Triangle, second: &Triangle) -> Option<Self> {
        let colour = first.corners[0].colour;
        let corners = || first.corners.iter().chain(&second.corners);
        if corners().any(|corner| corner.colour != colour) {
            return None;
        }
        let (mut left_top, mut right_bottom) = (&first.corners[0], &first.corners[0]);
        for corner in corners() {
            if corner.x <= left_top.x && corner.y <= left_top.y {
                left_top = corner;
            }
            if corner.x >= right_bottom.x && corner.y >= right_bottom.y {
                right_bottom = corner;
            }
        }
        let quad = Self {
            left: left_top.x,
            top: left_top.y,
            right: right_bottom.x,
            bottom: right_bottom.y,
            uv_left_top: left_top.uv,
            uv_right_bottom: right_bottom.uv,
            colour,
        };
        let (missing_in_first, missing_in_second) =
            (quad.missing_corner(first)?, quad.missing_corner(second)?);
        (missing_in_first == missing_in_second.opposite()).then_some(quad)
    }

    /// Returns the rectangle corner that the triangle lacks, or `None` unless it has exactly the other three.
    fn missing_corner(&self, triangle: &Triangle) -> Option<QuadCorner> {
        let [a, b, c] = &triangle.corners;
        let places = [self.place(a)?, self.place(b)?, self.place(c)?];
        let mut missing = QuadCorner::ALL.into_iter().filter(|place| !places.contains(place));
        let only = missing.next()?;
        missing.next().is_none().then_some(only)
    }

    /// Returns which corner of the rectangle this is, if its position and texture coordinates match one.
    fn place(&self, corner: &TriangleCorner) -> Option<QuadCorner> {
        let place = QuadCorner { right: corner.x == self.right, bottom: corner.y == self.bottom };
        let x = if place.right { self.right } else { self.left };
        let y = if place.bottom { self.bottom } else { self.top };
        let u = if place.right { self.uv_right_bottom.x } else { self.uv_left_top.x };
        let v = if place.bottom { self.uv_right_bottom.y } else { self.uv_left_top.y };
        (corner.x == x && corner.y == y && corner.uv == pos2(u, v)).then_some(place)
    }

    /// Draws the rectangle. Returns `false`, without drawing, when it needs the general path.
    pub(crate) fn draw(&self, surface: &mut PixelSurface, clip: &ClipRange, texture: &Texture) -> bool {
        let columns = covered_pixels(self.left, self.right, &clip.columns);
        let rows = covered_pixels(self.top, self.bottom, &clip.rows);
        if columns.is_empty() || rows.is_empty() {
            return true;
        }
        if self.uv_left_top == self.uv_right_bottom {
            self.fill(surface, columns, rows, texture);
            return true;
        }
        if self.uv_left_top.x == self.uv_right_bottom.x || self.uv_left_top.y == self.uv_right_bottom.y {
            return self.stretch(surface, columns, rows, texture).is_some();
        }
        self.copy(surface, columns, rows, texture).is_some()
    }

    fn fill(&self, surface: &mut PixelSurface, columns: Range<usize>, rows: Range<usize>, texture: &Texture) {
        let colour = blend::multiply(self.colour.to_array(), texture.colour_at(self.uv_left_top));
        for y in rows {
            blend::paint_run(surface.run_mut(y, columns.clone()), colour);
        }
    }

    /// Stretches a row or a column of texels along the other axis. Returns `None`, without painting, when it is neither.
    fn stretch(
        &self,
        surface: &mut PixelSurface,
        columns: Range<usize>,
        rows: Range<usize>,
        texture: &Texture,
    ) -> Option<()> {
        let from = texture.position(self.uv_left_top);
        let to = texture.position(self.uv_right_bottom);
        let colour = self.colour.to_array();
        if from.y == to.y {
            let left = columns.start as i64 + whole_offset((self.left, from.x), (self.right, to.x))?;
            let texels = texture.nearest_run(left, from.y, columns.len())?;
            for y in rows {
                paint_texels(surface.run_mut(y, columns.clone()), texels, colour);
            }
            return Some(());
        }
        let down = whole_offset((self.top, from.y), (self.bottom, to.y))?;
        let texel = |y: usize| texture.nearest_column(from.x, y as i64 + down);
        // If the first and the last row are inside the texture, so are those between.
        texel(rows.start)?;
        texel(rows.end - 1)?;
        for y in rows {
            blend::paint_run(
                surface.run_mut(y, columns.clone()),
                blend::multiply(colour, texel(y)?.to_array()),
            );
        }
        Some(())
    }

    /// Paints one texel per pixel. Returns `None`, without painting, when texels and pixels do not align or the
    /// rectangle reaches past the texture.
    fn copy(
        &self,
        surface: &mut PixelSurface,
        columns: Range<usize>,
        rows: Range<usize>,
        texture: &Texture,
    ) -> Option<()> {
        let TexelPosition { x: texel_left, y: texel_top } = texture.position(self.uv_left_top);
        let TexelPosition { x: texel_right, y: texel_bottom } = texture.position(self.uv_right_bottom);
        let texel_left =
            columns.start as i64 + whole_offset((self.left, texel_left), (self.right, texel_right))?;
        let down = whole_offset((self.top, texel_top), (self.bottom, texel_bottom))?;
        // If the first and the last row are inside the texture, so are those between.
        texture.run(texel_left, rows.start as i64 + down, columns.len())?;
        texture.run(texel_left, rows.end as i64 - 1 + down, columns.len())?;
        let colour = self.colour.to_array();
        for y in rows {
            let texels = texture.run(texel_left, y as i64 + down, columns.len())?;
            paint_texels(surface.run_mut(y, columns.clone()), texels, colour);
        }
        Some(())
    }
}

#[inline]
fn paint_texels(run: &mut [blend::Pixel], texels: &[Color32], colour: blend::Pixel) {
    for (target, texel) in run.iter_mut().zip(texels) {
        if *texel != Color32::TRANSPARENT {
            blend::paint_over(target, blend::multiply(colour, texel.to_array()));
        }
    }
}

/// One of the four corners of a rectangle.
#[derive(Clone, Copy, PartialEq, Eq)]
struct QuadCorner {
    right: bool,
    bottom: bool,
}

impl QuadCorner {
    const ALL: [Self; 4] = [
        Self { right: false, bottom: false },
        Self { right: true, bottom: false },
        Self { right: false, bottom: true },
        Self { right: true, bottom: true },
    ];

    fn opposite(self) -> Self {
        Self { right: !self.right, bottom: !self.bottom }
    }
}

/// Returns the offset from a pixel to its texel if it is the same whole number at both ends of a side.
fn whole_offset((pixel_start, texel_start): (f64, f32), (pixel_end, texel_end): (f64, f32)) -> Option<i64> {
    let (at_start, at_end) = (f64::from(texel_start) - pixel_start, f64::from(texel_end) - pixel_end);
    let whole = at_start.round();
    let is_close = |offset: f64| (offset - whole).abs() <= MAX_MISALIGNMENT_PIXELS;
    // No surface or texture is larger, and adding to a column could overflow.
    let is_plausible = whole.abs() < f64::from(i32::MAX);
    (is_close(at_start) && is_close(at_end) && is_plausible).then_some(whole as i64)
}
