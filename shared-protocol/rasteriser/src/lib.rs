//! Renders egui's output to pixels on the CPU.
//!
//! Owns: the step from egui's tessellated output (clipped meshes of coloured, textured triangles, and the
//! textures they refer to) to a [`PixelSurface`] of pixels, and from there to a PNG. It needs neither a window nor
//! a GPU, so it serves exported images, snapshot tests of the interface, and processes that may not open a
//! device. Must not know: boards, nodes, themes or files; only meshes, textures and sizes. It skips invalid
//! input (vertices that are not finite, indices past the end, textures that were never sent), draws the rest,
//! and never panics.
//!
//! [`render_ui`] goes all the way from a closure that builds an interface to pixels. [`Rasteriser`] is for
//! callers that run their own [`egui::Context`] and draw frame after frame.
//!
//! Not supported: paint callbacks (they are GPU code) and mipmaps (a texture drawn much smaller than its size
//! looks coarser than on a GPU).

mod blend;
mod error;
mod headless;
mod quads;
mod surface;
mod textures;
mod triangles;

#[cfg(feature = "kittest")]
mod kittest;

pub use error::RasterError;
pub use headless::{MAX_PIXELS_PER_POINT, MIN_PIXELS_PER_POINT, render_ui, render_ui_in};
pub use surface::{MAX_PIXELS, MAX_SIDE, PixelSurface};

#[cfg(feature = "kittest")]
pub use kittest::SnapshotRenderer;

use egui::epaint::{ClippedPrimitive, Mesh, Primitive, textures::TexturesDelta};
use quads::Quad;
use surface::ClipRange;
use textures::{Texture, TextureStore};
use triangles::Triangle;

/// Draws tessellated frames. It stores the textures that the frames refer to, as a graphics card would.
///
/// For each frame: [`update_textures`](Self::update_textures), [`draw`](Self::draw), then
/// [`free_textures`](Self::free_textures), because a frame may still show a texture that it frees.
#[derive(Default)]
pub struct Rasteriser {
    textures: TextureStore,
}

impl Rasteriser {
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the new and changed textures out of `delta`. Call it before drawing the frame that `delta` came with.
    ///
    /// Ignores invalid changes (pixels that do not match the size, a part of a texture that was never sent), and
    /// clips a part that reaches past its texture.
    pub fn update_textures(&mut self, delta: &mut TexturesDelta) {
        for (id, changes) in delta.set.drain() {
            for change in changes {
                self.textures.apply(id, change);
            }
        }
    }

    /// Removes the textures that `delta` frees. Call it after drawing the frame that `delta` came with.
    pub fn free_textures(&mut self, delta: &mut TexturesDelta) {
        for id in delta.free.drain() {
            self.textures.free(id);
        }
    }

    /// Paints the primitives, in order, over what the surface already shows.
    ///
    /// Silently skips meshes with an unknown texture, triangles with a missing or non-finite corner, paint
    /// callbacks, and everything when `pixels_per_point` is not a positive number.
    pub fn draw(&self, surface: &mut PixelSurface, primitives: &[ClippedPrimitive], pixels_per_point: f32) {
        if !(pixels_per_point.is_finite() && pixels_per_point > 0.0) {
            return;
        }
        for ClippedPrimitive { clip_rect, primitive } in primitives {
            let Primitive::Mesh(mesh) = primitive else { continue };
            let Some(texture) = self.textures.get(mesh.texture_id) else { continue };
            let Some(clip) = ClipRange::new(*clip_rect * pixels_per_point, surface) else { continue };
            draw_mesh(surface, &clip, texture, mesh, pixels_per_point);
        }
    }
}

/// Draws the triangles in order. Two consecutive ones that form an upright rectangle take the fast path.
fn draw_mesh(
    surface: &mut PixelSurface,
    clip: &ClipRange,
    texture: &Texture,
    mesh: &Mesh,
    pixels_per_point: f32,
) {
    let mut waiting: Option<Triangle> = None;
    let (corner_indices, _incomplete) = mesh.indices.as_chunks::<3>();
    for &indices in corner_indices {
        let Some(triangle) = Triangle::from_mesh(mesh, indices, pixels_per_point) else { continue };
        let Some(previous) = waiting.take() else {
            waiting = Some(triangle);
            continue;
        };
        let drawn =
            Quad::from_triangles(&previous, &triangle).is_some_and(|quad| quad.draw(surface, clip, texture));
        if !drawn {
            previous.draw(surface, clip, texture);
            waiting = Some(triangle);
        }
    }
    if let Some(last) = waiting {
        last.draw(surface, clip, texture);
    }
}
