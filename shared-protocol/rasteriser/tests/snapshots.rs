//! The rasteriser as a renderer for `egui_kittest`.
#![cfg(feature = "kittest")]

use egui::{Color32, ColorImage, TextureOptions, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use rasteriser::SnapshotRenderer;

#[test]
fn a_harness_draws_and_sees_changes() {
    let mut harness = Harness::builder()
        .with_size(vec2(200.0, 100.0))
        .with_pixels_per_point(2.0)
        .renderer(SnapshotRenderer::new().with_background(Color32::WHITE))
        .build_ui_state(
            |ui, pressed: &mut bool| {
                *pressed |= ui.button("Press").clicked();
                ui.label(if *pressed { "pressed" } else { "waiting" });
            },
            false,
        );
    harness.run();
    let before = harness.render().unwrap();
    assert_eq!(before.dimensions(), (400, 200));
    assert!(before.pixels().any(|pixel| pixel.0 != before.get_pixel(399, 199).0), "nothing was drawn");
    harness.get_by_label("Press").click();
    harness.run();
    assert!(*harness.state());
    assert_ne!(harness.render().unwrap(), before);
}

#[test]
fn a_frame_still_shows_the_texture_it_gives_up() {
    let mut harness =
        Harness::builder().with_size(vec2(50.0, 50.0)).renderer(SnapshotRenderer::new()).build_ui(|ui| {
            let image = ColorImage::filled([2, 2], Color32::RED);
            let dropped_at_once = ui.ctx().load_texture("short-lived", image, TextureOptions::NEAREST);
            ui.image((dropped_at_once.id(), vec2(20.0, 20.0)));
        });
    harness.step();
    let image = harness.render().unwrap();
    assert!(image.pixels().any(|pixel| pixel.0 == [255, 0, 0, 255]));
}
