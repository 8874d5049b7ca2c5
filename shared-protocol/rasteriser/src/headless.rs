//! From a closure that builds an interface to pixels, without a window.

use crate::{RasterError, Rasteriser, Surface};
use egui::{Color32, Context, FullOutput, Pos2, RawInput, Rect, Ui, Vec2, ViewportId};

/// The least detail [`render_ui`] draws in.
pub const MIN_PIXELS_PER_POINT: f32 = 0.125;

/// The most detail [`render_ui`] draws in. Text of 100 points still shows at this scale; egui leaves out glyphs
/// of more than 1024 pixels.
pub const MAX_PIXELS_PER_POINT: f32 = 8.0;

/// The first pass measures and asks for glyphs; only the second one has everything in its place.
const MIN_PASSES: u32 = 2;

/// An interface that keeps asking for one more pass (it shows a spinner, say) is drawn as it is after this
/// many.
const MAX_PASSES: u32 = 8;

/// Room for the glyphs of large text at [`MAX_PIXELS_PER_POINT`], and for large pictures.
const MAX_TEXTURE_SIDE: usize = 8192;

/// Draws the interface that `ui` builds, `size` points large, over `background`.
///
/// `ui` is called two times or more, as egui does, until it asks for no further pass. Animations are off and
/// time stands a second later in each pass, so that the same closure gives the same pixels. The interface has
/// egui's own fonts and its dark look unless `ui` sets others; see [`render_ui_in`] for setting them
/// beforehand.
pub fn render_ui(
    size: Vec2,
    pixels_per_point: f32,
    background: Color32,
    ui: impl FnMut(&mut Ui),
) -> Result<Surface, RasterError> {
    render_ui_in(&Context::default(), size, pixels_per_point, background, ui)
}

/// Like [`render_ui`], in a context whose fonts, styles and image loaders the caller has set up.
///
/// The context must not have been shown anywhere else: it sends its font texture only once.
pub fn render_ui_in(
    context: &Context,
    size: Vec2,
    pixels_per_point: f32,
    background: Color32,
    mut ui: impl FnMut(&mut Ui),
) -> Result<Surface, RasterError> {
    if !(MIN_PIXELS_PER_POINT..=MAX_PIXELS_PER_POINT).contains(&pixels_per_point) {
        return Err(RasterError::Scale(pixels_per_point));
    }
    let mut surface = surface_for(size, pixels_per_point, background)?;
    let mut rasteriser = Rasteriser::new();
    context.all_styles_mut(|style| style.animation_time = 0.0);
    for pass in 1..=MAX_PASSES {
        let mut output = context.run_ui(input(size, pixels_per_point, pass), &mut ui);
        rasteriser.update_textures(&mut output.textures_delta);
        let is_last = pass == MAX_PASSES || (pass >= MIN_PASSES && !wants_another_pass(&output));
        if is_last {
            let shapes = std::mem::take(&mut output.shapes);
            let primitives = context.tessellate(shapes, output.pixels_per_point);
            rasteriser.draw(&mut surface, &primitives, output.pixels_per_point);
        }
        // Also empties the delta, which must not be dropped with anything in it.
        rasteriser.free_textures(&mut output.textures_delta);
        if is_last {
            break;
        }
    }
    Ok(surface)
}

/// A surface for so many points. Sizes that are no numbers count as nothing, or as too much.
pub(crate) fn surface_for(
    size: Vec2,
    pixels_per_point: f32,
    background: Color32,
) -> Result<Surface, RasterError> {
    let pixels = |points: f32| (points * pixels_per_point).round() as usize;
    Surface::new(pixels(size.x), pixels(size.y), background)
}

fn input(size: Vec2, pixels_per_point: f32, pass: u32) -> RawInput {
    let mut input = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
        time: Some(f64::from(pass)),
        max_texture_side: Some(MAX_TEXTURE_SIDE),
        focused: false,
        ..RawInput::default()
    };
    input.viewports.entry(ViewportId::ROOT).or_default().native_pixels_per_point = Some(pixels_per_point);
    input
}

fn wants_another_pass(output: &FullOutput) -> bool {
    output.viewport_output.get(&ViewportId::ROOT).is_some_and(|viewport| viewport.repaint_delay.is_zero())
}
