//! Surfaces, meshes and textures for the tests.
#![allow(clippy::unwrap_used, reason = "a test may fail like this")]

use egui::epaint::{
    ClippedPrimitive, ColorImage, ImageDelta, Mesh, Primitive, Vertex, textures::TexturesDelta,
};
use egui::{Color32, Pos2, Rect, TextureId, TextureOptions};
use rasteriser::{PixelSurface, Rasteriser};

pub(crate) const WHITE_TEXTURE: TextureId = TextureId::Managed(0);
pub(crate) const IMAGE: TextureId = TextureId::Managed(1);

/// A rasteriser with a texture of one white texel, as untextured shapes use it.
pub(crate) fn rasteriser() -> Rasteriser {
    let mut rasteriser = Rasteriser::new();
    send_texture(
        &mut rasteriser,
        WHITE_TEXTURE,
        ColorImage::filled([1, 1], Color32::WHITE),
        TextureOptions::LINEAR,
    );
    rasteriser
}

pub(crate) fn send_texture(
    rasteriser: &mut Rasteriser,
    id: TextureId,
    image: ColorImage,
    options: TextureOptions,
) {
    let mut delta = TexturesDelta::default();
    delta.push(id, ImageDelta::full(image, options));
    rasteriser.update_textures(&mut delta);
    assert!(delta.is_empty());
}

pub(crate) fn white_surface(width: usize, height: usize) -> PixelSurface {
    PixelSurface::new(width, height, Color32::WHITE).unwrap()
}

pub(crate) fn vertex(x: f32, y: f32, color: Color32) -> Vertex {
    Vertex::untextured(Pos2::new(x, y), color)
}

/// Untextured triangles, three vertices each.
pub(crate) fn triangles(vertices: &[Vertex]) -> Mesh {
    let indices = (0..vertices.len() as u32).collect();
    Mesh { indices, vertices: vertices.to_vec(), texture_id: WHITE_TEXTURE }
}

pub(crate) fn unclipped(mesh: Mesh) -> ClippedPrimitive {
    clipped(Rect::EVERYTHING, mesh)
}

pub(crate) fn clipped(clip_rect: Rect, mesh: Mesh) -> ClippedPrimitive {
    ClippedPrimitive { clip_rect, primitive: Primitive::Mesh(mesh) }
}

/// The columns and rows of all pixels that differ from white.
pub(crate) fn painted(surface: &PixelSurface) -> Vec<(usize, usize)> {
    let positions = (0..surface.height()).flat_map(|y| (0..surface.width()).map(move |x| (x, y)));
    positions.filter(|(x, y)| surface.pixel(*x, *y) != Some(Color32::WHITE)).collect()
}

pub(crate) fn all_in(columns: std::ops::Range<usize>, rows: std::ops::Range<usize>) -> Vec<(usize, usize)> {
    rows.flat_map(|y| columns.clone().map(move |x| (x, y))).collect()
}
