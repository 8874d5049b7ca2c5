//! Triangles of any shape, with colour and texture interpolated linearly between the corners.
//!
//! A pixel belongs to a triangle if its centre does. A centre on a side that two triangles share belongs to
//! exactly one of them, so that translucent meshes show no seams. Antialiasing needs no code here: egui sends
//! thin triangles that fade out. Positions are computed in `f64`, where no product of finite `f32` values
//! overflows.

use crate::blend::{self, Pixel, per_channel};
use crate::surface::{ClipRange, PixelSurface, covered_pixels};
use crate::textures::{TexelPosition, Texture};
use egui::epaint::{Mesh, Vertex};
use egui::{Color32, Pos2, TextureFilter};

/// A corner of a triangle, positioned in pixels. All values are finite.
#[derive(Clone, Copy)]
pub(crate) struct TriangleCorner {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) uv: Pos2,
    pub(crate) colour: Color32,
}

impl TriangleCorner {
    fn new(vertex: &Vertex, pixels_per_point: f32) -> Option<Self> {
        let position = vertex.pos * pixels_per_point;
        (position.is_finite() && vertex.uv.is_finite()).then_some(Self {
            x: f64::from(position.x),
            y: f64::from(position.y),
            uv: vertex.uv,
            colour: vertex.color,
        })
    }
}

pub(crate) struct Triangle {
    pub(crate) corners: [TriangleCorner; 3],
}

impl Triangle {
    /// Returns `None` if a corner is missing or not finite.
    #[inline]
    pub(crate) fn from_mesh(mesh: &Mesh, indices: [u32; 3], pixels_per_point: f32) -> Option<Self> {
        let corner = |index: u32| TriangleCorner::new(mesh.vertices.get(index as usize)?, pixels_per_point);
        Some(Self { corners: [corner(indices[0])?, corner(indices[1])?, corner(indices[2])?] })
    }

    pub(crate) fn draw(&self, surface: &mut PixelSurface, clip: &ClipRange, texture: &Texture) {
        let [a, b, c] = &self.corners;
        let rows = covered_pixels(a.y.min(b.y).min(c.y), a.y.max(b.y).max(c.y), &clip.rows);
        let columns = covered_pixels(a.x.min(b.x).min(c.x), a.x.max(b.x).max(c.x), &clip.columns);
        if rows.is_empty() || columns.is_empty() {
            return;
        }
        let Some(paint) = TrianglePaint::new(self, texture) else { return };
        let sides = [TriangleSide::new(a, b), TriangleSide::new(b, c), TriangleSide::new(c, a)];
        for y in rows {
            let Some((left, right)) = crossings(&sides, y as f64 + 0.5) else { continue };
            let columns = covered_pixels(left, right, &columns);
            if !columns.is_empty() {
                let first_x = columns.start;
                paint.apply(surface.run_mut(y, columns), first_x, y, texture);
            }
        }
    }

    /// Twice the area; the sign depends on the winding order.
    fn signed_area(&self) -> f64 {
        signed_area(self.corners.map(|corner| [corner.x, corner.y]))
    }
}

/// A side, always directed downwards, so that adjacent triangles compute the same crossings.
struct TriangleSide {
    top: f64,
    bottom: f64,
    x_at_top: f64,
    slope: f64,
}

impl TriangleSide {
    fn new(a: &TriangleCorner, b: &TriangleCorner) -> Self {
        let (upper, lower) = if (a.y, a.x) <= (b.y, b.x) { (a, b) } else { (b, a) };
        // A horizontal side divides by zero, but no row lies between its ends, so the slope is never used.
        let slope = (lower.x - upper.x) / (lower.y - upper.y);
        Self { top: upper.y, bottom: lower.y, x_at_top: upper.x, slope }
    }

    #[inline]
    fn crossing(&self, y: f64) -> Option<f64> {
        (self.top <= y && y < self.bottom).then_some(self.x_at_top + (y - self.top) * self.slope)
    }
}

/// Returns where the row through `y` enters and leaves the triangle.
#[inline]
fn crossings(sides: &[TriangleSide; 3], y: f64) -> Option<(f64, f64)> {
    let mut hits = sides.iter().filter_map(|side| side.crossing(y));
    let (first, second) = (hits.next()?, hits.next()?);
    Some((first.min(second), first.max(second)))
}

/// The method of colouring the pixels of a triangle.
enum TrianglePaint {
    /// A single colour.
    Solid(Pixel),
    /// Corners of different colours, and a single point of the texture.
    Gradient { colour: LinearRamp<4> },
    /// A part of the texture, tinted by the colours of the corners.
    Textured { colour: LinearRamp<4>, texel: LinearRamp<2>, filter: TextureFilter },
}

impl TrianglePaint {
    /// Returns `None` if the triangle is invisible.
    fn new(triangle: &Triangle, texture: &Texture) -> Option<Self> {
        let [a, b, c] = &triangle.corners;
        let colours = [a, b, c].map(|corner| corner.colour);
        if colours == [Color32::TRANSPARENT; 3] {
            return None;
        }
        if a.uv == b.uv && b.uv == c.uv {
            let texel = texture.colour_at(a.uv);
            if colours[0] == colours[1] && colours[1] == colours[2] {
                return Some(Self::Solid(blend::multiply(colours[0].to_array(), texel)));
            }
            let tinted = colours.map(|colour| {
                let colour = colour.to_array();
                per_channel(|channel| f64::from(colour[channel]) * f64::from(texel[channel]) / 255.0)
            });
            return Some(Self::Gradient { colour: LinearRamp::new(triangle, tinted)? });
        }
        let texels = [a, b, c].map(|corner| {
            let TexelPosition { x, y } = texture.position(corner.uv);
            [f64::from(x), f64::from(y)]
        });
        let filter = texture.filter(signed_area(texels).abs(), triangle.signed_area().abs());
        let colours = colours.map(|colour| colour.to_array().map(f64::from));
        Some(Self::Textured {
            colour: LinearRamp::new(triangle, colours)?,
            texel: LinearRamp::new(triangle, texels)?,
            filter,
        })
    }

    /// Paints the run of pixels that starts at column `first_x` of row `y`.
    #[inline]
    fn apply(&self, run: &mut [Pixel], first_x: usize, y: usize, texture: &Texture) {
        match self {
            Self::Solid(colour) => blend::paint_run(run, *colour),
            Self::Gradient { colour } => {
                let colour = colour.at_row(first_x, y);
                for (step, target) in (0_u16..).zip(run) {
                    blend::paint_over(target, rounded(colour.value_at(step)));
                }
            }
            Self::Textured { colour, texel, filter } => {
                let colour = colour.at_row(first_x, y);
                let texel = texel.at_row(first_x, y);
                for (step, target) in (0_u16..).zip(run) {
                    let [x, y] = texel.value_at(step);
                    let sampled = texture.sample(TexelPosition { x, y }, *filter);
                    if sampled != blend::TRANSPARENT {
                        blend::paint_over(target, blend::multiply(rounded(colour.value_at(step)), sampled));
                    }
                }
            }
        }
    }
}

/// Twice the area of a triangle of points.
fn signed_area([a, b, c]: [[f64; 2]; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

#[inline]
fn rounded(colour: [f32; 4]) -> Pixel {
    // Casts from float saturate, so that values slightly outside the triangle cannot wrap around.
    per_channel(|channel| (colour[channel] + 0.5) as u8)
}

/// Values that vary linearly across the surface.
struct LinearRamp<const N: usize> {
    origin: [f64; 2],
    at_origin: [f64; N],
    per_column: [f64; N],
    per_row: [f64; N],
}

impl<const N: usize> LinearRamp<N> {
    /// Creates the ramp with these values at the corners. Returns `None` if the corners are collinear.
    fn new(triangle: &Triangle, values: [[f64; N]; 3]) -> Option<Self> {
        let [a, b, c] = &triangle.corners;
        let area = triangle.signed_area();
        if area == 0.0 {
            return None;
        }
        let [at_a, at_b, at_c] = values;
        let slope = |of_b: f64, of_c: f64| {
            std::array::from_fn(|n| ((at_b[n] - at_a[n]) * of_b + (at_c[n] - at_a[n]) * of_c) / area)
        };
        Some(Self {
            origin: [a.x, a.y],
            at_origin: at_a,
            per_column: slope(c.y - a.y, a.y - b.y),
            per_row: slope(a.x - c.x, b.x - a.x),
        })
    }

    /// Returns the values at pixel centres from column `first_x`.
    #[inline]
    fn at_row(&self, first_x: usize, y: usize) -> RowRamp<N> {
        let across = first_x as f64 + 0.5 - self.origin[0];
        let down = y as f64 + 0.5 - self.origin[1];
        RowRamp {
            start: std::array::from_fn(|n| {
                (self.at_origin[n] + across * self.per_column[n] + down * self.per_row[n]) as f32
            }),
            step: self.per_column.map(|value| value as f32),
        }
    }
}

/// A [`LinearRamp`] along one row, in single precision, which suffices for the small increments.
struct RowRamp<const N: usize> {
    start: [f32; N],
    step: [f32; N],
}

impl<const N: usize> RowRamp<N> {
    #[inline]
    fn value_at(&self, step: u16) -> [f32; N] {
        let step = f32::from(step);
        let mut values = self.start;
        for (value, per_step) in values.iter_mut().zip(&self.step) {
            *value += per_step * step;
        }
        values
    }
}
