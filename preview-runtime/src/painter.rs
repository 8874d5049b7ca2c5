//! One frame: elements, layout, shapes, pixels.

use crate::{
    draw::Drawing,
    layout::{self, Layout, LayoutError, Page},
    look::{self, Theme},
    pictures::{PictureError, Pictures},
    scene::{Scene, Tree},
    sprites::Sprites,
};
use components::Token;
use egui::{
    Rect, TextureId,
    epaint::{TessellationOptions, Tessellator, text::Fonts, textures::TexturesDelta},
    pos2, vec2,
};
use rasteriser::{RasterError, Rasteriser, Surface};
use shared_protocol::preview::{Screen, Target};

#[derive(Debug, thiserror::Error)]
pub enum PaintError {
    #[error(transparent)]
    Raster(#[from] RasterError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// What was painted, and where things are in it.
pub struct Painted {
    pub(crate) layout: Layout,
}

impl Painted {
    /// How tall the page is, in points.
    pub fn height(&self) -> f32 {
        self.layout.height
    }
}

/// Fonts, textures and a surface, kept from frame to frame.
pub struct Painter {
    fonts: Fonts,
    rasteriser: Rasteriser,
    surface: Surface,
    screen: Screen,
    pictures: Pictures,
    sprites: Sprites,
}

impl Painter {
    pub fn new(screen: Screen) -> Result<Self, PaintError> {
        Ok(Self {
            fonts: look::fonts(),
            rasteriser: Rasteriser::new(),
            surface: surface(screen)?,
            screen,
            pictures: Pictures::default(),
            sprites: Sprites::default(),
        })
    }

    pub fn set_screen(&mut self, screen: Screen) -> Result<(), PaintError> {
        if self.screen.pixels() != screen.pixels() {
            self.surface = surface(screen)?;
        }
        self.screen = screen;
        Ok(())
    }

    pub fn screen(&self) -> Screen {
        self.screen
    }

    pub(crate) fn put_picture(&mut self, path: &str, png: &[u8]) -> Result<(), PictureError> {
        self.pictures.put(path, png)
    }

    pub fn paint(&mut self, tree: &Tree, scene: &Scene, scroll: f32) -> Result<Painted, PaintError> {
        let scale = self.screen.scale();
        let theme = Theme { dark: self.screen.dark };
        let size = vec2(self.screen.width as f32, self.screen.height as f32);
        self.fonts.begin_pass(*self.fonts.options(), Default::default());
        let mut fonts = self.fonts.with_pixels_per_point(scale);
        let page = if matches!(scene.target, Target::Route { .. }) { Page::Whole } else { Page::Middle };
        let layout = layout::layout(tree, &mut fonts, size, scroll, page)?;
        self.sprites.make_room();
        let mut drawing = Drawing {
            tree,
            layout: &layout,
            fonts: &mut fonts,
            theme,
            pictures: &self.pictures,
            sprites: &mut self.sprites,
            scale,
            screen: Rect::from_min_size(pos2(0.0, 0.0), size),
            shapes: Vec::with_capacity(tree.len() * 2),
        };
        drawing.page();
        let shapes = drawing.shapes;
        let mut changes = self.pictures.take_changes();
        self.sprites.take_changes(&mut changes);
        self.take_glyphs(&mut changes);
        self.rasteriser.update_textures(&mut changes);
        let atlas = self.fonts.texture_atlas();
        let options = TessellationOptions::default();
        let mut tessellator = Tessellator::new(scale, options, atlas.size(), atlas.prepared_discs());
        let primitives = tessellator.tessellate_shapes(shapes);
        self.surface.clear(theme.token(Token::Background));
        self.rasteriser.draw(&mut self.surface, &primitives, scale);
        self.rasteriser.free_textures(&mut changes);
        Ok(Painted { layout })
    }

    fn take_glyphs(&mut self, changes: &mut TexturesDelta) {
        if let Some(delta) = self.fonts.font_image_delta() {
            changes.set.entry(TextureId::default()).or_default().push(delta);
        }
    }

    /// The latest frame.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }
}

fn surface(screen: Screen) -> Result<Surface, RasterError> {
    let [width, height] = screen.pixels();
    Surface::new(width, height, egui::Color32::BLACK)
}
