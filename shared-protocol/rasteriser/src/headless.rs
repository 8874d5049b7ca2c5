//! Renders an interface that a closure builds, without a window.

use crate::{PixelSurface, RasterError, Rasteriser};
use egui::{Color32, Context, FullOutput, Pos2, RawInput, Rect, Ui, Vec2, ViewportId};

/// The minimum scale of [`render_ui`].
pub const MIN_PIXELS_PER_POINT: f32 = 0.125;

/// The maximum scale of [`render_ui`]. Text of 100 points is still drawn at this scale; egui skips glyphs of
/// more than 1024 pixels.
pub const MAX_PIXELS_PER_POINT: f32 = 8.0;

/// The minimum number of passes. The first pass measures and requests glyphs; the second has the final layout.
const MIN_PASSES: u32 = 2;

/// The maximum number of passes. An interface that keeps requesting repaints (a spinner, for example) is drawn
/// in its state after this many.
const MAX_PASSES: u32 = 8;

/// The maximum texture side in pixels, large enough for large text at [`MAX_PIXELS_PER_POINT`] and for images.
const MAX_TEXTURE_SIDE_PIXELS: usize = 8192;

/// Draws the interface that `ui` builds, `size` points large, over `background`.
///
/// Calls `ui` at least twice, until it requests no further pass. Animations are off and the time advances by
/// one second per pass, so that the same closure yields the same pixels. The interface uses egui's fonts and
/// dark theme unless `ui` sets others; use [`render_ui_in`] to set them in advance.
pub fn render_ui(
    size: Vec2,
    pixels_per_point: f32,
    background: Color32,
    ui: impl FnMut(&mut Ui),
) -> Result<PixelSurface, RasterError> {
    render_ui_in(&Context::default(), size, pixels_per_point, background, ui)
}

/// Like [`render_ui`], in a context with fonts, styles and image loaders that the caller set up.
///
/// The context must not have been used before: it sends its font texture only once.
pub fn render_ui_in(
    context: &Context,
    size: Vec2,
    pixels_per_point: f32,
    background: Color32,
    mut ui: impl FnMut(&mut Ui),
) -> Result<PixelSurface, RasterError> {
    if !(MIN_PIXELS_PER_POINT..=MAX_PIXELS_PER_POINT).contains(&pixels_per_point) {
        return Err(RasterError::Scale(pixels_per_point));
    }
    let mut surface = surface_for(size, pixels_per_point, background)?;
    let mut rasteriser = Rasteriser::new();
    context.all_styles_mut(|style| style.animation_time = 0.0);
    for pass in 1..=MAX_PASSES {
        let mut output = context.run_ui(input(size, pixels_per_point, pass), &mut ui);
        rasteriser.update_textures(&mut output.textures_delta);
        let is_last = pass == MAX_PASSES || (pass >= MIN_PASSES && !needs_another_pass(&output));
        if is_last {
            let shapes = std::mem::take(&mut output.shapes);
            let primitives = context.tessellate(shapes, output.pixels_per_point);
            rasteriser.draw(&mut surface, &primitives, output.pixels_per_point);
        }
        // Also empties the delta, which egui requires before it is dropped.
        rasteriser.free_textures(&mut output.textures_delta);
        if is_last {
            break;
        }
    }
    Ok(surface)
}

/// Creates a surface for a size in points. Sizes that are not finite numbers are rejected as empty or too large.
pub(crate) fn surface_for(
    size: Vec2,
    pixels_per_point: f32,
    background: Color32,
) -> Result<PixelSurface, RasterError> {
    let pixels = |points: f32| (points * pixels_per_point).round() as usize;
    PixelSurface::new(pixels(size.x), pixels(size.y), background)
}

fn input(size: Vec2, pixels_per_point: f32, pass: u32) -> RawInput {
    let mut input = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
        time: Some(f64::from(pass)),
        max_texture_side: Some(MAX_TEXTURE_SIDE_PIXELS),
        focused: false,
        ..RawInput::default()
    };
    input.viewports.entry(ViewportId::ROOT).or_default().native_pixels_per_point = Some(pixels_per_point);
    input
}

fn needs_another_pass(output: &FullOutput) -> bool {
    output.viewport_output.get(&ViewportId::ROOT).is_some_and(|viewport| viewport.repaint_delay.is_zero())
}
