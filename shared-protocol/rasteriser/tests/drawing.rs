//! Pixel checks for drawn meshes.
#![allow(clippy::unwrap_used, reason = "a test may fail like this")]

mod common;

use common::{
    IMAGE, all_in, clipped, painted, rasteriser, send_texture, triangles, unclipped, vertex, white_surface,
};
use egui::epaint::{ColorImage, Mesh, Primitive, textures::TexturesDelta};
use egui::{Color32, Pos2, Rect, TextureOptions, pos2, vec2};
use rasteriser::PixelSurface;

const RED: Color32 = Color32::RED;
const HALF_RED: Color32 = Color32::from_rgba_premultiplied(128, 0, 0, 128);
const HALF_RED_ON_WHITE: Color32 = Color32::from_rgb(255, 127, 127);

fn rect(left: f32, top: f32, right: f32, bottom: f32) -> Rect {
    Rect::from_min_max(pos2(left, top), pos2(right, bottom))
}

fn coloured_rect(area: Rect, colour: Color32) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.add_colored_rect(area, colour);
    mesh
}

fn image_rect(area: Rect, uv: Rect) -> Mesh {
    let mut mesh = Mesh::with_texture(IMAGE);
    mesh.add_rect_with_uv(area, uv, Color32::WHITE);
    mesh
}

fn whole_texture() -> Rect {
    Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0))
}

fn drawn(meshes: impl IntoIterator<Item = Mesh>) -> PixelSurface {
    let mut surface = white_surface(20, 20);
    let primitives: Vec<_> = meshes.into_iter().map(unclipped).collect();
    rasteriser().draw(&mut surface, &primitives, 1.0);
    surface
}

/// The same triangles, each as its own mesh, so that none is drawn as half of a rectangle.
fn apart(mesh: &Mesh) -> Vec<Mesh> {
    let split = |indices: &[u32]| Mesh { indices: indices.to_vec(), ..mesh.clone() };
    mesh.indices.chunks(3).map(split).collect()
}

#[test]
fn a_filled_rectangle_covers_exactly_its_pixels() {
    let surface = drawn([coloured_rect(rect(3.0, 5.0, 9.0, 7.0), RED)]);
    assert_eq!(painted(&surface), all_in(3..9, 5..7));
    assert!(all_in(3..9, 5..7).iter().all(|(x, y)| surface.pixel(*x, *y) == Some(RED)));
}

#[test]
fn positions_are_points() {
    let mut surface = white_surface(20, 20);
    let primitive = clipped(rect(0.0, 0.0, 4.0, 10.0), coloured_rect(rect(1.0, 2.0, 5.0, 4.0), RED));
    rasteriser().draw(&mut surface, &[primitive], 2.0);
    assert_eq!(painted(&surface), all_in(2..8, 4..8));
}

#[test]
fn a_clip_cuts_a_rectangle_and_a_triangle_in_half() {
    let half = rect(0.0, 0.0, 6.0, 20.0);
    let square = coloured_rect(rect(2.0, 2.0, 10.0, 10.0), RED);
    for meshes in [vec![square.clone()], apart(&square)] {
        let mut surface = white_surface(20, 20);
        let primitives: Vec<_> = meshes.into_iter().map(|mesh| clipped(half, mesh)).collect();
        rasteriser().draw(&mut surface, &primitives, 1.0);
        assert_eq!(painted(&surface), all_in(2..6, 2..10));
    }
}

#[test]
fn see_through_colours_mix_exactly() {
    let square = coloured_rect(rect(2.0, 2.0, 10.0, 10.0), HALF_RED);
    for meshes in [vec![square.clone()], apart(&square)] {
        let surface = drawn(meshes);
        assert_eq!(surface.pixel(5, 5), Some(HALF_RED_ON_WHITE));
        assert_eq!(painted(&surface), all_in(2..10, 2..10));
    }
    let surface = drawn([square.clone(), square]);
    assert_eq!(surface.pixel(5, 5), Some(Color32::from_rgb(255, 63, 63)), "painted twice");
}

#[test]
fn a_fan_of_see_through_triangles_has_no_seams() {
    let centre = pos2(10.3, 9.7);
    let rim = |step: usize| {
        let angle = step as f32 * std::f32::consts::TAU / 11.0;
        let at = centre + 8.5 * vec2(angle.cos(), angle.sin());
        vertex(at.x, at.y, HALF_RED)
    };
    let corners: Vec<_> = (0..11)
        .flat_map(|step| [vertex(centre.x, centre.y, HALF_RED), rim(step), rim((step + 1) % 11)])
        .collect();
    let surface = drawn([triangles(&corners)]);
    let painted = painted(&surface);
    assert!(
        painted.iter().all(|(x, y)| surface.pixel(*x, *y) == Some(HALF_RED_ON_WHITE)),
        "some pixel painted twice"
    );
    for (x, y) in all_in(0..20, 0..20) {
        let distance = centre.distance(pos2(x as f32 + 0.5, y as f32 + 0.5));
        assert!(distance > 8.1 || painted.contains(&(x, y)), "a gap at {x}, {y}");
        assert!(distance < 8.6 || !painted.contains(&(x, y)), "too far out at {x}, {y}");
    }
}

#[test]
fn winding_order_does_not_matter() {
    let corners = [vertex(1.0, 1.0, RED), vertex(15.0, 4.0, RED), vertex(6.0, 17.0, RED)];
    let [a, b, c] = corners;
    assert_eq!(drawn([triangles(&[a, b, c])]), drawn([triangles(&[c, b, a])]));
}

#[test]
fn colours_fade_from_corner_to_corner() {
    let (black, white) = (Color32::BLACK, Color32::WHITE);
    let (left_top, right_top) = (vertex(0.0, 0.0, black), vertex(10.0, 0.0, white));
    let (left_bottom, right_bottom) = (vertex(0.0, 10.0, black), vertex(10.0, 10.0, white));
    let surface =
        drawn([triangles(&[left_top, right_top, left_bottom, left_bottom, right_top, right_bottom])]);
    for (x, y) in all_in(0..10, 0..10) {
        let expected = (255.0 * (x as f32 + 0.5) / 10.0).round() as u8;
        let [red, green, blue, alpha] = surface.pixel(x, y).unwrap().to_array();
        assert!(red.abs_diff(expected) <= 1, "{red} instead of {expected} at {x}, {y}");
        assert_eq!((red, red, 255), (green, blue, alpha));
    }
}

/// Four texels: red, green over blue, black.
fn four_texels() -> ColorImage {
    ColorImage::new([2, 2], vec![Color32::RED, Color32::GREEN, Color32::BLUE, Color32::BLACK])
}

fn drawn_with(image: ColorImage, options: TextureOptions, meshes: &[Mesh]) -> PixelSurface {
    let mut rasteriser = rasteriser();
    send_texture(&mut rasteriser, IMAGE, image, options);
    let mut surface = white_surface(20, 20);
    let primitives: Vec<_> = meshes.iter().cloned().map(unclipped).collect();
    rasteriser.draw(&mut surface, &primitives, 1.0);
    surface
}

#[test]
fn a_texture_at_its_own_size_is_copied_as_it_is() {
    let mesh = image_rect(rect(3.0, 4.0, 5.0, 6.0), whole_texture());
    for meshes in [vec![mesh.clone()], apart(&mesh)] {
        let surface = drawn_with(four_texels(), TextureOptions::LINEAR, &meshes);
        assert_eq!(painted(&surface), all_in(3..5, 4..6));
        let found = [(3, 4), (4, 4), (3, 5), (4, 5)].map(|(x, y)| surface.pixel(x, y).unwrap());
        assert_eq!(found.as_slice(), four_texels().pixels);
    }
}

#[test]
fn a_magnified_texture_is_sharp_or_smooth_as_it_asks() {
    let mesh = image_rect(rect(0.0, 0.0, 16.0, 16.0), whole_texture());
    let sharp = drawn_with(four_texels(), TextureOptions::NEAREST, std::slice::from_ref(&mesh));
    assert_eq!(sharp.pixel(7, 7), Some(Color32::RED));
    assert_eq!(sharp.pixel(8, 7), Some(Color32::GREEN));
    assert_eq!(sharp.pixel(7, 8), Some(Color32::BLUE));
    let smooth = drawn_with(four_texels(), TextureOptions::LINEAR, &[mesh]);
    assert_eq!(smooth.pixel(0, 0), Some(Color32::RED), "the border repeats the outermost texel");
    let [red, green, ..] = smooth.pixel(7, 0).unwrap().to_array();
    assert!(
        (130..150).contains(&red) && (105..125).contains(&green),
        "nearly half red, half green: {red} {green}"
    );
}

#[test]
fn a_mirrored_texture_is_mirrored() {
    let mesh = image_rect(rect(0.0, 0.0, 2.0, 2.0), rect(1.0, 0.0, 0.0, 1.0));
    let surface = drawn_with(four_texels(), TextureOptions::LINEAR, &[mesh]);
    assert_eq!([surface.pixel(0, 0), surface.pixel(1, 0)], [Some(Color32::GREEN), Some(Color32::RED)]);
}

#[test]
fn two_triangles_that_only_overlap_are_not_taken_for_a_rectangle() {
    let [left_top, right_top, left_bottom, right_bottom] =
        [(2.0, 2.0), (10.0, 2.0), (2.0, 10.0), (10.0, 10.0)].map(|(x, y)| vertex(x, y, RED));
    let mesh = triangles(&[left_top, right_top, left_bottom, left_top, right_top, right_bottom]);
    let surface = drawn([mesh.clone()]);
    assert_eq!(surface, drawn(apart(&mesh)));
    assert_eq!(surface.pixel(6, 9), Some(Color32::WHITE), "neither triangle reaches down there");
}

#[test]
fn a_texture_is_gone_once_freed() {
    let mut rasteriser = rasteriser();
    send_texture(&mut rasteriser, IMAGE, four_texels(), TextureOptions::LINEAR);
    let mut delta = TexturesDelta::default();
    delta.free(IMAGE);
    rasteriser.free_textures(&mut delta);
    assert!(delta.is_empty());
    let mut surface = white_surface(20, 20);
    rasteriser.draw(&mut surface, &[unclipped(image_rect(rect(0.0, 0.0, 9.0, 9.0), whole_texture()))], 1.0);
    assert_eq!(painted(&surface), []);
}

#[test]
fn paint_callbacks_are_skipped() {
    let mut surface = white_surface(20, 20);
    let callback = egui::epaint::PaintCallback { rect: Rect::EVERYTHING, callback: std::sync::Arc::new(()) };
    let mut primitive = unclipped(Mesh::default());
    primitive.primitive = Primitive::Callback(callback);
    rasteriser().draw(&mut surface, &[primitive], 1.0);
    assert_eq!(painted(&surface), []);
}
