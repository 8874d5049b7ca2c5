//! A CPU renderer for `egui_kittest` snapshots: identical pixels on every machine.

use crate::Rasteriser;
use crate::headless::surface_for;
use egui::epaint::textures::TexturesDelta;
use egui::{Color32, Context, FullOutput};
use egui_kittest::TestRenderer;
use image::RgbaImage;

/// The renderer for `HarnessBuilder::renderer`.
#[derive(Default)]
pub struct SnapshotRenderer {
    rasteriser: Rasteriser,
    /// Textures that the latest frame freed but may still show. Its `set` is always empty.
    given_up: TexturesDelta,
    background: Color32,
}

impl SnapshotRenderer {
    /// Creates a renderer with a transparent background.
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_background(mut self, background: Color32) -> Self {
        self.background = background;
        self
    }
}

impl TestRenderer for SnapshotRenderer {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        self.rasteriser.free_textures(&mut self.given_up);
        self.rasteriser.update_textures(delta);
        self.given_up.free.extend(delta.free.drain());
    }

    fn render(&mut self, context: &Context, output: &FullOutput) -> Result<RgbaImage, String> {
        let scale = output.pixels_per_point;
        let mut surface = surface_for(context.content_rect().size(), scale, self.background)
            .map_err(|error| error.to_string())?;
        let primitives = context.tessellate(output.shapes.clone(), scale);
        self.rasteriser.draw(&mut surface, &primitives, scale);
        let (width, height) = (surface.width() as u32, surface.height() as u32);
        RgbaImage::from_raw(width, height, surface.into_unmultiplied_bytes())
            .ok_or_else(|| format!("the buffer of {width} × {height} pixels has the wrong number of bytes"))
    }
}

impl Drop for SnapshotRenderer {
    fn drop(&mut self) {
        // egui requires a delta to be empty when it is dropped.
        self.given_up.clear();
    }
}
