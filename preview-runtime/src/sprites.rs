//! Sprites: cached images of icons and of rounded boxes, which are stretched from their middle.
//!
//! An icon or a rounded box with a border consists of hundreds of thin triangles. As a sprite, an icon is one rectangle
//! and a box nine. Sprites are drawn by the same tessellator and rasteriser, once for each size and colour.

use crate::look::{IconPathStroke as IconStroke, IconStrokes};
use egui::{
    Color32, ColorImage, CornerRadius, ImageData, Pos2, Rect, Shape, Stroke, StrokeKind, TextureId,
    TextureOptions, Vec2,
    epaint::{
        CircleShape, ClippedShape, ImageDelta, Mesh, PathShape, PathStroke, RectShape, TessellationOptions,
        Tessellator, textures::TexturesDelta,
    },
    pos2, vec2,
};
use rasteriser::{PixelSurface, Rasteriser};
use std::collections::BTreeMap;

/// The maximum number of sprites. Exceeding it clears the cache.
const MAX_SPRITES: usize = 600;
/// The maximum side of a sprite in pixels. Larger shapes are drawn directly.
const MAX_SPRITE_SIDE_PIXELS: u32 = 160;
/// The size of the icon grid; below, the stroke thickness on it.
const ICON_GRID: f32 = 24.0;
const ICON_STROKE_WIDTH: f32 = 1.9;

/// The appearance of a box, in pixels and colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BoxSpriteStyle {
    pub(crate) radius: u16,
    pub(crate) border: u16,
    pub(crate) blur: u16,
    pub(crate) fill: [u8; 4],
    pub(crate) stroke: [u8; 4],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SpriteKey {
    /// An icon, identified by the address of its static strokes.
    Icon {
        strokes: usize,
        side: u16,
    },
    Box(BoxSpriteStyle),
    /// A box that is too small to be stretched, such as a pill or a disc, with its size.
    Whole(BoxSpriteStyle, [u16; 2]),
}

#[derive(Default)]
pub(crate) struct SpriteCache {
    by_key: BTreeMap<SpriteKey, u64>,
    made: u64,
    changes: TexturesDelta,
}

/// Sprite ids start above the ids of workspace pictures.
const FIRST_SPRITE_ID: u64 = 1 << 32;

impl SpriteCache {
    /// Clears an oversized cache. Called before a frame.
    pub(crate) fn make_room(&mut self) {
        if self.by_key.len() > MAX_SPRITES {
            let given_up = std::mem::take(&mut self.by_key);
            self.changes.free.extend(given_up.into_values().map(TextureId::User));
        }
    }

    /// Takes the texture changes for the rasteriser, before the frame.
    pub(crate) fn take_changes(&mut self, into: &mut TexturesDelta) {
        into.set.extend(self.changes.set.drain());
        into.free.extend(self.changes.free.drain());
    }

    /// Returns the icon with its top left corner at `corner`, `side` points wide. Returns `None` when it is too large for a
    /// sprite.
    pub(crate) fn icon(
        &mut self,
        icon: &'static IconStrokes,
        corner: Pos2,
        side: f32,
        colour: Color32,
        scale: f32,
    ) -> Option<Mesh> {
        let pixels = (side * scale).round();
        let key = SpriteKey::Icon {
            strokes: std::ptr::from_ref(icon) as usize,
            side: whole_pixels(pixels, MAX_SPRITE_SIDE_PIXELS)?,
        };
        let side = pixels as u32;
        let id = self.sprite(key, [side; 2], || icon_shapes(icon, pixels))?;
        let at = pos2((corner.x * scale).round(), (corner.y * scale).round());
        let mut mesh = Mesh::with_texture(TextureId::User(id));
        let rect = Rect::from_min_size(at, vec2(side as f32, side as f32)) / scale;
        mesh.add_rect_with_uv(rect, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), colour);
        Some(mesh)
    }

    /// Returns a box with fixed corners and stretched sides. Returns `None` when it is too large for a sprite.
    pub(crate) fn nine_patch_mesh(&mut self, look: BoxSpriteStyle, rect: Rect, scale: f32) -> Option<Mesh> {
        let around = u32::from(look.blur).div_ceil(2) + u32::from(look.blur > 0);
        // Corner, one pixel of side, corner. A blur extends inwards as far as outwards.
        let corner =
            u32::from(look.radius).max(u32::from(look.border)).max(u32::from(look.blur).div_ceil(2)) + 1;
        let side = 2 * corner + 1;
        let whole_side = side + 2 * around;
        let rect = Rect::from_min_max(
            pos2((rect.min.x * scale).round(), (rect.min.y * scale).round()),
            pos2((rect.max.x * scale).round(), (rect.max.y * scale).round()),
        );
        if rect.width() < side as f32 || rect.height() < side as f32 {
            return self.whole_mesh(look, rect, around, scale);
        }
        if whole_side > MAX_SPRITE_SIDE_PIXELS {
            return None;
        }
        let sides = vec2(side as f32, side as f32);
        let id =
            self.sprite(SpriteKey::Box(look), [whole_side; 2], || box_shapes(look, around as f32, sides))?;
        let edge = (corner + around) as f32;
        let outer = rect.expand(around as f32);
        let cuts = |from: f32, to: f32| [from, from + edge, to - edge, to];
        let (xs, ys) = (cuts(outer.min.x, outer.max.x), cuts(outer.min.y, outer.max.y));
        let part = 1.0 / whole_side as f32;
        let middle = (edge + 0.5) * part;
        // The middle row and column have one colour, so one texel suffices.
        let us = [(0.0, edge * part), (middle, middle), ((edge + 1.0) * part, 1.0)];
        let mut mesh = Mesh::with_texture(TextureId::User(id));
        for (row, (v0, v1)) in us.iter().enumerate() {
            for (column, (u0, u1)) in us.iter().enumerate() {
                let (Some(&[x0, x1]), Some(&[y0, y1])) = (
                    xs.windows(2).nth(column).and_then(|cut| cut.first_chunk()),
                    ys.windows(2).nth(row).and_then(|cut| cut.first_chunk()),
                ) else {
                    continue;
                };
                let rect = Rect::from_min_max(pos2(x0, y0), pos2(x1, y1)) / scale;
                if rect.is_positive() {
                    mesh.add_rect_with_uv(
                        rect,
                        Rect::from_min_max(pos2(*u0, *v0), pos2(*u1, *v1)),
                        Color32::WHITE,
                    );
                }
            }
        }
        Some(mesh)
    }

    /// Returns a box without stretching, in whole pixels.
    fn whole_mesh(&mut self, look: BoxSpriteStyle, rect: Rect, around: u32, scale: f32) -> Option<Mesh> {
        let size = [
            whole_pixels(rect.width(), MAX_SPRITE_SIDE_PIXELS)?,
            whole_pixels(rect.height(), MAX_SPRITE_SIDE_PIXELS)?,
        ];
        let picture = size.map(|side| u32::from(side) + 2 * around);
        let sides = rect.size();
        let id =
            self.sprite(SpriteKey::Whole(look, size), picture, || box_shapes(look, around as f32, sides))?;
        let mut mesh = Mesh::with_texture(TextureId::User(id));
        let all = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        mesh.add_rect_with_uv(rect.expand(around as f32) / scale, all, Color32::WHITE);
        Some(mesh)
    }

    fn sprite(&mut self, key: SpriteKey, size: [u32; 2], shapes: impl FnOnce() -> Vec<Shape>) -> Option<u64> {
        if let Some(found) = self.by_key.get(&key) {
            return Some(*found);
        }
        let image = draw(shapes(), size)?;
        self.made += 1;
        let id = FIRST_SPRITE_ID + self.made;
        let delta = ImageDelta::full(ImageData::from(image), TextureOptions::NEAREST);
        self.changes.set.entry(TextureId::User(id)).or_default().push(delta);
        self.by_key.insert(key, id);
        Some(id)
    }
}

impl Drop for SpriteCache {
    fn drop(&mut self) {
        // `TexturesDelta` must be empty when it is dropped.
        self.changes.clear();
    }
}

fn whole_pixels(pixels: f32, most: u32) -> Option<u16> {
    (pixels >= 1.0 && pixels <= most as f32).then_some(pixels as u16)
}

/// Rasterises shapes at one pixel per point.
fn draw(shapes: Vec<Shape>, [width, height]: [u32; 2]) -> Option<ColorImage> {
    let everything = Rect::from_min_size(pos2(0.0, 0.0), vec2(width as f32, height as f32));
    let (width, height) = (width as usize, height as usize);
    let mut tessellator = Tessellator::new(1.0, TessellationOptions::default(), [1, 1], Vec::new());
    let shapes = shapes.into_iter().map(|shape| ClippedShape::new(everything, shape)).collect();
    let primitives = tessellator.tessellate_shapes(shapes);
    let mut rasteriser = Rasteriser::new();
    let mut white = TexturesDelta::default();
    let texel = ImageDelta::full(ColorImage::filled([1, 1], Color32::WHITE), TextureOptions::NEAREST);
    white.set.entry(TextureId::default()).or_default().push(texel);
    rasteriser.update_textures(&mut white);
    let mut surface = PixelSurface::new(width, height, Color32::TRANSPARENT).ok()?;
    rasteriser.draw(&mut surface, &primitives, 1.0);
    let pixels = surface
        .pixels()
        .iter()
        .map(|[r, g, b, a]| Color32::from_rgba_premultiplied(*r, *g, *b, *a))
        .collect();
    Some(ColorImage::new([width, height], pixels))
}

fn box_shapes(look: BoxSpriteStyle, around: f32, size: Vec2) -> Vec<Shape> {
    let colour = |[r, g, b, a]: [u8; 4]| Color32::from_rgba_premultiplied(r, g, b, a);
    let rect = Rect::from_min_size(pos2(around, around), size);
    let stroke =
        if look.border > 0 { Stroke::new(f32::from(look.border), colour(look.stroke)) } else { Stroke::NONE };
    let corner = CornerRadius::same(look.radius.min(255) as u8);
    let shape = RectShape::new(rect, corner, colour(look.fill), stroke, StrokeKind::Inside);
    vec![shape.with_blur_width(f32::from(look.blur)).into()]
}

/// Returns the shapes of an icon in white, to be tinted.
pub(crate) fn icon_shapes(icon: &IconStrokes, side: f32) -> Vec<Shape> {
    let (scale, white) = (side / ICON_GRID, Color32::WHITE);
    let width = (ICON_STROKE_WIDTH * scale).max(1.0);
    let at = |point: &Pos2| pos2(point.x * scale, point.y * scale);
    let mut shapes: Vec<Shape> = Vec::new();
    for stroke in icon {
        match stroke {
            IconStroke::Line { points, closed } => {
                let points: Vec<Pos2> = points.iter().map(at).collect();
                let ends = [points.first().copied(), points.last().copied()];
                let stroke = PathStroke::new(width, white);
                if *closed {
                    shapes.push(PathShape::closed_line(points, stroke).into());
                } else {
                    shapes.push(PathShape::line(points, stroke).into());
                    // Adds round line ends when the line is thick enough to show them.
                    let ends = ends.into_iter().flatten().filter(|_| width > 1.4);
                    shapes.extend(ends.map(|end| CircleShape::filled(end, width / 2.0, white).into()));
                }
            }
            IconStroke::Circle { centre, radius, filled: true } => {
                shapes
                    .push(CircleShape::filled(at(centre), (radius * scale).max(width * 0.55), white).into());
            }
            IconStroke::Circle { centre, radius, filled: false } => {
                shapes
                    .push(CircleShape::stroke(at(centre), radius * scale, Stroke::new(width, white)).into());
            }
        }
    }
    shapes
}
