//! Paints a frame: layout, shapes, tessellation, pixels.

use crate::{
    damage,
    draw::Drawing,
    layout::{Layout, LayoutError, Layouter, Page, Room},
    look::{self, Theme},
    pictures::{PictureError, Pictures},
    scene::{Scene, Tree},
    sprites::Sprites,
    texts::Texts,
};
use components::Token;
use egui::{
    Rect, TextureId,
    epaint::{TessellationOptions, Tessellator, text::Fonts, textures::TexturesDelta},
    pos2, vec2,
};
use rasteriser::{RasterError, Rasteriser, Surface};
use shared_protocol::preview::{Screen, Target};
use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};
use system_fonts::{FallbackFonts, LoadedFont};

#[derive(Debug, thiserror::Error)]
pub enum PaintError {
    #[error(transparent)]
    Raster(#[from] RasterError),
    #[error(transparent)]
    Layout(#[from] LayoutError),
}

/// The duration of each phase of a frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct Phases {
    pub layout: Duration,
    pub shapes: Duration,
    pub tessellate: Duration,
    pub rasterise: Duration,
}

/// The result of painting a frame: its layout and timings.
pub struct Painted {
    pub(crate) layout: Arc<Layout>,
    pub phases: Phases,
}

impl Painted {
    /// The height of the page in points.
    pub fn height(&self) -> f32 {
        self.layout.height
    }
}

/// Fonts, textures and a surface, reused between frames.
pub struct Painter {
    fonts: Fonts,
    fallback: FallbackFonts,
    rasteriser: Rasteriser,
    surface: Surface,
    screen: Screen,
    pictures: Pictures,
    sprites: Sprites,
    texts: Texts,
    layouter: Layouter,
    /// The tree and layout on the surface.
    last: Option<(Arc<Tree>, Arc<Layout>)>,
}

impl Painter {
    pub fn new(screen: Screen) -> Result<Self, PaintError> {
        let fallback = FallbackFonts::default();
        Ok(Self {
            fonts: look::fonts(&fallback),
            fallback,
            rasteriser: Rasteriser::new(),
            surface: surface(screen)?,
            screen,
            pictures: Pictures::default(),
            sprites: Sprites::default(),
            texts: Texts::default(),
            layouter: Layouter::default(),
            last: None,
        })
    }

    pub fn set_screen(&mut self, screen: Screen) -> Result<(), PaintError> {
        if self.screen.pixels() != screen.pixels() {
            self.surface = surface(screen)?;
        }
        if self.screen.quarters != screen.quarters {
            self.texts.clear();
        }
        self.forget();
        self.screen = screen;
        Ok(())
    }

    pub fn screen(&self) -> Screen {
        self.screen
    }

    pub(crate) fn put_picture(&mut self, path: &str, png: &[u8]) -> Result<(), PictureError> {
        // The picture may be shown anywhere, so the whole frame is redrawn.
        self.last = None;
        self.pictures.put(path, png)
    }

    /// Adds a font for missing characters. The next frame uses it.
    pub(crate) fn add_font(&mut self, font: LoadedFont) {
        if self.fallback.add(font) {
            self.fonts = look::fonts(&self.fallback);
            self.texts.clear();
            self.forget();
        }
    }

    /// Returns the characters that no font has and that were not reported before.
    pub(crate) fn take_missing(&self) -> BTreeSet<char> {
        self.fallback.take_wanted()
    }

    pub fn paint(&mut self, tree: &Arc<Tree>, scene: &Scene, scroll: f32) -> Result<Painted, PaintError> {
        let mut clock = Clock(Instant::now());
        let mut phases = Phases::default();
        let scale = self.screen.scale();
        let theme = Theme { dark: self.screen.dark };
        let size = vec2(self.screen.width as f32, self.screen.height as f32);
        // A nearly full atlas is rebuilt, which moves the glyphs.
        if self.fonts.font_atlas_fill_ratio() > 0.7 {
            self.texts.clear();
        }
        self.fonts.begin_pass(*self.fonts.options(), Default::default());
        let mut fonts = self.fonts.with_pixels_per_point(scale);
        let page = if matches!(scene.target, Target::Route { .. }) { Page::Whole } else { Page::Middle };
        let room = Room { screen: size, scroll, page };
        let layout = Arc::new(self.layouter.layout(tree, &mut fonts, &mut self.texts, room)?);
        phases.layout = clock.lap();
        self.sprites.make_room();
        let whole = Rect::from_min_size(pos2(0.0, 0.0), size);
        let last = self.last.take();
        let damage = last.and_then(|(old, boxes)| damage::between((&old, &boxes), (tree, &layout)));
        let part = damage.map_or(whole, |damage| on_pixels(damage.intersect(whole), scale));
        let mut drawing = Drawing {
            tree,
            layout: &layout,
            fonts: &mut fonts,
            texts: &mut self.texts,
            theme,
            pictures: &self.pictures,
            sprites: &mut self.sprites,
            scale,
            part,
            shapes: Vec::new(),
        };
        drawing.page();
        let shapes = drawing.shapes;
        let mut changes = self.pictures.take_changes();
        self.sprites.take_changes(&mut changes);
        self.take_glyphs(&mut changes);
        self.rasteriser.update_textures(&mut changes);
        phases.shapes = clock.lap();
        let atlas = self.fonts.texture_atlas();
        let options = TessellationOptions::default();
        let mut tessellator = Tessellator::new(scale, options, atlas.size(), atlas.prepared_discs());
        let primitives = tessellator.tessellate_shapes(shapes);
        phases.tessellate = clock.lap();
        self.surface.clear_in(part * scale, theme.token(Token::Background));
        self.rasteriser.draw(&mut self.surface, &primitives, scale);
        self.rasteriser.free_textures(&mut changes);
        phases.rasterise = clock.lap();
        self.last = Some((Arc::clone(tree), Arc::clone(&layout)));
        Ok(Painted { layout, phases })
    }

    /// Discards the last layout, so that the next frame is drawn from scratch.
    pub fn forget(&mut self) {
        self.layouter.forget();
        self.last = None;
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

/// Expands the area to whole pixels, so that the cleared and the redrawn area match.
fn on_pixels(part: Rect, scale: f32) -> Rect {
    if !part.is_positive() {
        return Rect::from_min_max(pos2(0.0, 0.0), pos2(0.0, 0.0));
    }
    let out = Rect::from_min_max((part.min * scale).floor(), (part.max * scale).ceil());
    out / scale
}

struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

fn surface(screen: Screen) -> Result<Surface, RasterError> {
    let [width, height] = screen.pixels();
    Surface::new(width, height, egui::Color32::BLACK)
}
