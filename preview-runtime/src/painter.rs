//! Paints a frame: layout, shapes, tessellation, pixels.

use crate::{
    damage,
    draw::PageDrawContext,
    galley_cache::GalleyCache,
    layout::{LayoutArea, LayoutEngine, PageFit, PageLayout, PageLayoutError},
    look::{self, PreviewTheme},
    pictures::{PictureError, PictureTextures},
    scene::{ElementTree, PreviewScene},
    sprites::SpriteCache,
};
use components::ColourToken;
use egui::{
    Rect, TextureId,
    epaint::{TessellationOptions, Tessellator, text::Fonts, textures::TexturesDelta},
    pos2, vec2,
};
use rasteriser::{PixelSurface, RasterError, Rasteriser};
use shared_protocol::preview_wire::{PreviewScreen, SceneTarget};
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
    Layout(#[from] PageLayoutError),
}

#[derive(Debug, Clone, Copy, Default)]
pub struct PaintTimings {
    pub layout: Duration,
    pub shapes: Duration,
    pub tessellate: Duration,
    pub rasterise: Duration,
}

pub struct PaintedFrame {
    pub(crate) layout: Arc<PageLayout>,
    pub phases: PaintTimings,
}

impl PaintedFrame {
    /// The height of the page in points.
    pub fn height(&self) -> f32 {
        self.layout.height
    }
}

/// Fonts, textures and a surface, reused between frames.
pub struct PagePainter {
    fonts: Fonts,
    fallback: FallbackFonts,
    rasteriser: Rasteriser,
    surface: PixelSurface,
    screen: PreviewScreen,
    pictures: PictureTextures,
    sprites: SpriteCache,
    texts: GalleyCache,
    layouter: LayoutEngine,
    last: Option<(Arc<ElementTree>, Arc<PageLayout>)>,
}

impl PagePainter {
    pub fn new(screen: PreviewScreen) -> Result<Self, PaintError> {
        let fallback = FallbackFonts::default();
        Ok(Self {
            fonts: look::fonts(&fallback),
            fallback,
            rasteriser: Rasteriser::new(),
            surface: surface(screen)?,
            screen,
            pictures: PictureTextures::default(),
            sprites: SpriteCache::default(),
            texts: GalleyCache::default(),
            layouter: LayoutEngine::default(),
            last: None,
        })
    }

    pub fn set_screen(&mut self, screen: PreviewScreen) -> Result<(), PaintError> {
        if self.screen.pixels() != screen.pixels() {
            self.surface = surface(screen)?;
        }
        if self.screen.quarters != screen.quarters {
            self.texts.clear();
        }
        self.discard_layout();
        self.screen = screen;
        Ok(())
    }

    pub fn screen(&self) -> PreviewScreen {
        self.screen
    }

    pub(crate) fn put_picture(&mut self, path: &str, png: &[u8]) -> Result<(), PictureError> {
        // The picture may be shown anywhere, so the whole frame is redrawn.
        self.last = None;
        self.pictures.insert(path, png)
    }

    /// Adds a font for missing characters. The next frame uses it.
    pub(crate) fn add_font(&mut self, font: LoadedFont) {
        if self.fallback.add(font) {
            self.fonts = look::fonts(&self.fallback);
            self.texts.clear();
            self.discard_layout();
        }
    }

    /// Returns the characters that no font has and that were not reported before.
    pub(crate) fn take_missing(&self) -> BTreeSet<char> {
        self.fallback.take_requested()
    }

    pub fn paint(
        &mut self,
        tree: &Arc<ElementTree>,
        scene: &PreviewScene,
        scroll: f32,
    ) -> Result<PaintedFrame, PaintError> {
        let mut clock = LapTimer(Instant::now());
        let mut phases = PaintTimings::default();
        let scale = self.screen.scale();
        let theme = PreviewTheme { dark: self.screen.dark };
        let size = vec2(self.screen.width as f32, self.screen.height as f32);
        // A nearly full atlas is rebuilt, which moves the glyphs.
        if self.fonts.font_atlas_fill_ratio() > 0.7 {
            self.texts.clear();
        }
        self.fonts.begin_pass(*self.fonts.options(), Default::default());
        let mut fonts = self.fonts.with_pixels_per_point(scale);
        let page =
            if matches!(scene.target, SceneTarget::Route { .. }) { PageFit::Whole } else { PageFit::Middle };
        let room = LayoutArea { screen: size, scroll, page };
        let layout = Arc::new(self.layouter.layout(tree, &mut fonts, &mut self.texts, room)?);
        phases.layout = clock.lap();
        self.sprites.make_room();
        let whole = Rect::from_min_size(pos2(0.0, 0.0), size);
        let last = self.last.take();
        let damage = last.and_then(|(old, boxes)| damage::changed_area((&old, &boxes), (tree, &layout)));
        let part = damage.map_or(whole, |damage| on_pixels(damage.intersect(whole), scale));
        let mut drawing = PageDrawContext {
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
        self.surface.clear_in(part * scale, theme.token(ColourToken::Background));
        self.rasteriser.draw(&mut self.surface, &primitives, scale);
        self.rasteriser.free_textures(&mut changes);
        phases.rasterise = clock.lap();
        self.last = Some((Arc::clone(tree), Arc::clone(&layout)));
        Ok(PaintedFrame { layout, phases })
    }

    /// Discards the last layout, so that the next frame is drawn from scratch.
    pub fn discard_layout(&mut self) {
        self.layouter.discard();
        self.last = None;
    }

    fn take_glyphs(&mut self, changes: &mut TexturesDelta) {
        if let Some(delta) = self.fonts.font_image_delta() {
            changes.set.entry(TextureId::default()).or_default().push(delta);
        }
    }

    pub fn surface(&self) -> &PixelSurface {
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

struct LapTimer(Instant);

impl LapTimer {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

fn surface(screen: PreviewScreen) -> Result<PixelSurface, RasterError> {
    let [width, height] = screen.pixels();
    PixelSurface::new(width, height, egui::Color32::BLACK)
}
