//! Draws elements at their boxes as shapes.

use crate::{
    damage::MAX_OVERFLOW_POINTS,
    galley_cache::GalleyCache,
    layout::{self, PageLayout},
    look::{self, PreviewTheme},
    pictures::PictureTextures,
    scene::{ElementContent, ElementTree, SceneElement},
    sprites::{BoxSpriteStyle, SpriteCache},
};
use components::{ColourToken, StyleInsets};
use egui::{
    Color32, CornerRadius, Pos2, Rect, Shape, Stroke, StrokeKind, Vec2,
    epaint::{ClippedShape, RectShape, TextShape, text::FontsView},
    pos2,
};

pub(crate) struct PageDrawContext<'d, 'f> {
    pub(crate) tree: &'d ElementTree,
    pub(crate) layout: &'d PageLayout,
    pub(crate) fonts: &'d mut FontsView<'f>,
    pub(crate) texts: &'d mut GalleyCache,
    pub(crate) theme: PreviewTheme,
    pub(crate) pictures: &'d PictureTextures,
    pub(crate) sprites: &'d mut SpriteCache,
    /// Pixels per point.
    pub(crate) scale: f32,
    /// The area to draw: the whole screen or the damaged part.
    pub(crate) part: Rect,
    pub(crate) shapes: Vec<ClippedShape>,
}

impl PageDrawContext<'_, '_> {
    pub(crate) fn page(&mut self) {
        for index in &self.tree.roots {
            self.element(*index, 1.0);
        }
    }

    /// Recursion is bounded by the depth of the tree.
    fn element(&mut self, index: usize, opacity: f32) {
        let (Some(element), Some(&rect), Some(&clip)) =
            (self.tree.elements.get(index), self.layout.rects.get(index), self.layout.clips.get(index))
        else {
            return;
        };
        let clip = clip.intersect(self.part);
        let opacity = opacity * element.style.opacity.map_or(1.0, |opacity| opacity.0);
        if opacity <= 0.0 {
            return;
        }
        // Shadows and rings extend beyond the box.
        if clip.is_positive() && rect.expand(MAX_OVERFLOW_POINTS).intersects(clip) {
            self.frame(element, rect, clip, opacity);
            self.content(element, rect, clip, opacity);
        }
        for child in &element.children {
            self.element(*child, opacity);
        }
    }

    fn add(&mut self, clip: Rect, shape: impl Into<Shape>) {
        self.shapes.push(ClippedShape::new(clip, shape.into()));
    }

    fn frame(&mut self, element: &SceneElement, rect: Rect, clip: Rect, opacity: f32) {
        let style = &element.style;
        let corner = style.radius.map_or(0.0, |radius| look::corner(radius, rect.size()));
        let rounded = rounding(corner);
        for shadow in style.shadow.map_or_else(Vec::new, |shadow| look::shadows(shadow, self.theme.dark)) {
            let mut shape = shadow.as_shape(rect, rounded);
            shape.fill = shape.fill.gamma_multiply(opacity);
            self.rect(clip, shape);
        }
        if element.ring {
            let ring = Stroke::new(2.0, self.theme.token(ColourToken::Focus).gamma_multiply(opacity));
            let around =
                RectShape::stroke(rect.expand(2.0), rounding(corner + 2.0), ring, StrokeKind::Outside);
            self.add(clip, around);
        }
        let fill = style.background.map_or(Color32::TRANSPARENT, |colour| self.theme.colour(colour));
        let width = layout::border_width(style.border);
        let stroke = if width > 0.0 {
            let colour = style.border_colour.unwrap_or(components::Colour::Token(ColourToken::Border));
            Stroke::new(width, self.theme.colour(colour).gamma_multiply(opacity))
        } else {
            Stroke::NONE
        };
        if fill != Color32::TRANSPARENT || !stroke.is_empty() {
            let fill = fill.gamma_multiply(opacity);
            self.rect(clip, RectShape::new(rect, rounded, fill, stroke, StrokeKind::Inside));
        }
    }

    /// Draws a box with its border inside, from a stretched sprite when the result is identical.
    fn rect(&mut self, clip: Rect, shape: RectShape) {
        let pixels = |points: f32| (points * self.scale).round().clamp(0.0, 1_000.0) as u16;
        let look = BoxSpriteStyle {
            radius: pixels(f32::from(shape.corner_radius.nw)),
            border: pixels(shape.stroke.width),
            blur: pixels(shape.blur_width),
            fill: shape.fill.to_array(),
            stroke: if shape.stroke.is_empty() { [0; 4] } else { shape.stroke.color.to_array() },
        };
        match self.sprites.nine_patch_mesh(look, shape.rect, self.scale) {
            Some(mesh) => self.add(clip, mesh),
            None => self.add(clip, shape),
        }
    }

    fn content(&mut self, element: &SceneElement, rect: Rect, clip: Rect, opacity: f32) {
        let colour = self.theme.colour(element.colour).gamma_multiply(opacity);
        match &element.content {
            ElementContent::Box(_) => {}
            ElementContent::Text(text) => {
                let inner = inset(rect, element.style.padding);
                let room = if element.style.lines.is_some() { inner.width() } else { inner.width() + 0.5 };
                let galley = self.texts.set(self.fonts, element, text, room);
                let x = match galley.job.halign {
                    egui::Align::LEFT => inner.left(),
                    egui::Align::Center => inner.center().x,
                    egui::Align::RIGHT => inner.right(),
                };
                self.add(clip, TextShape::new(pos2(x, inner.top()), galley, colour));
            }
            ElementContent::Icon(icon) => {
                let inner = inset(rect, element.style.padding);
                let side = inner.width().min(inner.height());
                let corner = inner.center() - Vec2::splat(side / 2.0);
                self.icon(icon, corner, side, colour, clip);
            }
            ElementContent::Picture { path, fit } => {
                let corner = element.style.radius.map_or(0.0, |radius| look::corner(radius, rect.size()));
                match self.pictures.shape(path, *fit, rect, rounding(corner), opacity) {
                    Some(shape) => self.add(clip, shape),
                    None => self.missing_picture(rect, corner, clip, opacity),
                }
            }
        }
    }

    /// The placeholder for a picture that has not arrived.
    fn missing_picture(&mut self, rect: Rect, corner: f32, clip: Rect, opacity: f32) {
        let ground = self.theme.token(ColourToken::Sunken).gamma_multiply(opacity);
        self.add(clip, RectShape::filled(rect, rounding(corner), ground));
        let side = (rect.width().min(rect.height()) * 0.4).min(32.0);
        let faint = self.theme.token(ColourToken::Faint).gamma_multiply(opacity);
        if let (Some(icon), true) = (look::icon("image"), side >= 8.0) {
            self.icon(icon, rect.center() - Vec2::splat(side / 2.0), side, faint, clip);
        }
    }

    fn icon(
        &mut self,
        icon: &'static look::IconStrokes,
        corner: Pos2,
        side: f32,
        colour: Color32,
        clip: Rect,
    ) {
        if let Some(mesh) = self.sprites.icon(icon, corner, side, colour, self.scale) {
            self.add(clip, mesh);
            return;
        }
        // Too large for a sprite: draws the strokes directly.
        for mut shape in crate::sprites::icon_shapes(icon, side) {
            shape.translate(corner.to_vec2());
            egui::epaint::shape_transform::adjust_colors(&mut shape, move |own| *own = colour);
            self.add(clip, shape);
        }
    }
}

fn rounding(radius: f32) -> CornerRadius {
    CornerRadius::same(radius.round().clamp(0.0, 255.0) as u8)
}

fn inset(rect: Rect, padding: Option<StyleInsets>) -> Rect {
    let sides = padding.unwrap_or_default();
    Rect::from_min_max(
        rect.min + Vec2::new(sides.left, sides.top),
        (rect.max - Vec2::new(sides.right, sides.bottom)).max(rect.min),
    )
}
