//! Rendering interfaces to pixels and PNG files.
#![allow(clippy::unwrap_used, reason = "a test may fail like this")]

use egui::{Align2, Color32, ColorImage, FontId, Rect, TextureOptions, Ui, Vec2, pos2, vec2};
use rasteriser::{PixelSurface, RasterError, render_ui, render_ui_in};

fn is_dark(surface: &PixelSurface, x: usize, y: usize) -> bool {
    surface.pixel(x, y).unwrap().r() < 100
}

/// The smallest rectangle around all dark pixels, as columns and rows counted from zero.
fn dark_bounds(surface: &PixelSurface) -> Option<Rect> {
    let positions = (0..surface.height()).flat_map(|y| (0..surface.width()).map(move |x| (x, y)));
    let dark = positions.filter(|(x, y)| is_dark(surface, *x, *y));
    dark.map(|(x, y)| Rect::from_min_size(pos2(x as f32, y as f32), Vec2::splat(1.0)))
        .reduce(|a, b| a.union(b))
}

fn text_at(ui: &Ui, clip: Rect) -> Rect {
    let painter = ui.painter().with_clip_rect(clip);
    painter.text(
        pos2(30.0, 20.0),
        Align2::LEFT_TOP,
        "Hamburgefonts",
        FontId::proportional(16.0),
        Color32::BLACK,
    )
}

#[test]
fn text_stays_within_its_bounds() {
    let mut bounds = Rect::NOTHING;
    let surface = render_ui(vec2(200.0, 60.0), 1.0, Color32::WHITE, |ui| {
        bounds = text_at(ui, Rect::EVERYTHING);
    })
    .unwrap();
    let dark = dark_bounds(&surface).expect("some of the text should be dark");
    assert!(bounds.expand(1.0).contains_rect(dark), "{dark} should be in {bounds}");
    assert!(dark.width() > 0.9 * bounds.width(), "{dark} should fill most of {bounds}");
    assert_eq!(surface.pixel(5, 5), Some(Color32::WHITE));
}

#[test]
fn text_stays_within_its_clip() {
    let clip = Rect::from_min_max(pos2(40.0, 0.0), pos2(70.0, 30.0));
    let surface = render_ui(vec2(200.0, 60.0), 1.0, Color32::WHITE, |ui| {
        text_at(ui, clip);
    })
    .unwrap();
    let dark = dark_bounds(&surface).expect("some of the text should be dark");
    assert!(clip.contains_rect(dark), "{dark} should be in {clip}");
    for (index, pixel) in surface.pixels().iter().enumerate() {
        let (x, y) = (index % surface.width(), index / surface.width());
        let inside = (40..70).contains(&x) && y < 30;
        assert!(inside || *pixel == [255; 4], "something at {x}, {y}");
    }
}

#[test]
fn the_scale_makes_more_pixels_of_the_same_interface() {
    let bounds_at = |scale| {
        let draw = |ui: &mut Ui| {
            text_at(ui, Rect::EVERYTHING);
        };
        let surface = render_ui(vec2(200.0, 60.0), scale, Color32::WHITE, draw).unwrap();
        let expected = [200.0 * scale, 60.0 * scale].map(|side| side as usize);
        assert_eq!([surface.width(), surface.height()], expected);
        dark_bounds(&surface).unwrap() * (1.0 / scale)
    };
    let (once, twice) = (bounds_at(1.0), bounds_at(2.0));
    assert!(
        once.expand(1.5).contains_rect(twice) && twice.expand(1.5).contains_rect(once),
        "{once} and {twice}"
    );
}

#[test]
fn a_painted_rectangle_has_crisp_edges() {
    let area = Rect::from_min_max(pos2(10.0, 8.0), pos2(30.0, 20.0));
    let surface = render_ui(vec2(40.0, 40.0), 1.0, Color32::WHITE, |ui| {
        ui.painter().rect_filled(area, 0, Color32::BLACK);
    })
    .unwrap();
    assert_eq!(dark_bounds(&surface), Some(area));
    let painted = surface.pixels().iter().filter(|pixel| **pixel == [0, 0, 0, 255]).count();
    let untouched = surface.pixels().iter().filter(|pixel| **pixel == [255; 4]).count();
    assert_eq!((painted, untouched), (20 * 12, 40 * 40 - 20 * 12), "nothing in between");
}

#[test]
fn a_painted_disc_is_round_with_smooth_edges() {
    let surface = render_ui(vec2(40.0, 40.0), 1.0, Color32::WHITE, |ui| {
        ui.painter().circle_filled(pos2(20.0, 20.0), 15.0, Color32::BLACK);
    })
    .unwrap();
    let ink: f32 = surface.pixels().iter().map(|[red, ..]| 1.0 - f32::from(*red) / 255.0).sum();
    let area = std::f32::consts::PI * 15.0 * 15.0;
    assert!((ink - area).abs() < 0.01 * area, "{ink} of ink for an area of {area}");
    assert!(surface.pixels().iter().any(|[red, ..]| (60..200).contains(red)), "no smooth edge");
}

#[test]
fn a_label_and_a_button() {
    let surface = render_ui(vec2(160.0, 60.0), 2.0, Color32::from_gray(27), |ui| {
        ui.label("A label");
        let _unpressed = ui.button("A button");
    })
    .unwrap();
    let colours: std::collections::HashSet<_> = surface.pixels().iter().collect();
    assert!(colours.len() > 20, "text, button and background make more than {} colours", colours.len());
    assert_eq!(surface.pixel(319, 119), Some(Color32::from_gray(27)));
}

#[test]
fn the_same_interface_gives_the_same_pixels() {
    let draw = || {
        render_ui(vec2(300.0, 200.0), 1.5, Color32::BLACK, |ui| {
            ui.spinner();
            egui::Window::new("A window")
                .show(ui.ctx(), |ui| ui.label("that is measured before it is shown"));
        })
        .unwrap()
    };
    assert_eq!(draw(), draw());
}

#[test]
fn pictures_loaded_by_the_interface_are_drawn() {
    let context = egui::Context::default();
    let picture =
        context.load_texture("a picture", ColorImage::filled([4, 4], Color32::RED), TextureOptions::LINEAR);
    let surface = render_ui_in(&context, vec2(40.0, 40.0), 1.0, Color32::WHITE, |ui| {
        let area = Rect::from_min_max(pos2(8.0, 8.0), pos2(24.0, 24.0));
        let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter().image(picture.id(), area, uv, Color32::WHITE);
    })
    .unwrap();
    assert_eq!(surface.pixels().iter().filter(|pixel| **pixel == [255, 0, 0, 255]).count(), 16 * 16);
}

#[test]
fn a_png_keeps_opaque_colours_exactly_and_divides_alpha_out() {
    let opaque = PixelSurface::new(3, 2, Color32::from_rgb(12, 34, 56)).unwrap();
    let image = image::load_from_memory(&opaque.into_png().unwrap()).unwrap().into_rgba8();
    assert_eq!(image.dimensions(), (3, 2));
    assert!(image.pixels().all(|pixel| pixel.0 == [12, 34, 56, 255]));

    let glass = PixelSurface::new(1, 1, Color32::from_rgba_premultiplied(64, 0, 128, 128)).unwrap();
    let image = image::load_from_memory(&glass.into_png().unwrap()).unwrap().into_rgba8();
    assert_eq!(image.get_pixel(0, 0).0, [128, 0, 255, 128]);
}

#[test]
fn a_whole_frame_survives_the_png() {
    let surface = render_ui(vec2(120.0, 40.0), 1.0, Color32::WHITE, |ui| {
        text_at(ui, Rect::EVERYTHING);
    })
    .unwrap();
    let bytes = surface.as_bytes().to_vec();
    let image = image::load_from_memory(&surface.into_png().unwrap()).unwrap().into_rgba8();
    assert_eq!(image.into_raw(), bytes);
}

#[test]
fn impossible_sizes_and_scales_are_errors() {
    let render = |size, scale| render_ui(size, scale, Color32::WHITE, |_| {});
    for size in [Vec2::ZERO, vec2(-5.0, 10.0), vec2(f32::NAN, 10.0), vec2(0.2, 10.0)] {
        assert!(matches!(render(size, 1.0), Err(RasterError::Empty { .. })), "{size}");
    }
    for size in [vec2(1e9, 1.0), Vec2::INFINITY, vec2(16_000.0, 16_000.0)] {
        assert!(matches!(render(size, 1.0), Err(RasterError::TooLarge { .. })), "{size}");
    }
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 9.0] {
        assert!(matches!(render(vec2(10.0, 10.0), scale), Err(RasterError::Scale(_))), "{scale}");
    }
}
