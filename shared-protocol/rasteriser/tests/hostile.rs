//! Invalid input draws nothing and never panics.
#![allow(clippy::unwrap_used, reason = "a test may fail like this")]

mod common;

use common::{
    IMAGE, WHITE_TEXTURE, all_in, clipped, painted, rasteriser, send_texture, triangles, unclipped, vertex,
    white_surface,
};
use egui::epaint::{ColorImage, Mesh, Vertex};
use egui::{Color32, Rect, TextureId, TextureOptions, pos2};
use rasteriser::{MAX_SIDE, PixelSurface, RasterError, Rasteriser};
use test_support::RandomSource;

const RED: Color32 = Color32::RED;

fn red_triangle() -> [Vertex; 3] {
    [vertex(0.0, 0.0, RED), vertex(18.0, 1.0, RED), vertex(2.0, 18.0, RED)]
}

fn draws_nothing(rasteriser: &Rasteriser, mesh: Mesh, scale: f32) {
    let mut surface = white_surface(20, 20);
    rasteriser.draw(&mut surface, &[unclipped(mesh)], scale);
    assert_eq!(painted(&surface), []);
}

#[test]
fn corners_that_are_no_numbers() {
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for corner in 0..3 {
            let mut corners = red_triangle();
            corners[corner].pos.x = value;
            draws_nothing(&rasteriser(), triangles(&corners), 1.0);
            let mut corners = red_triangle();
            corners[corner].uv.y = value;
            draws_nothing(&rasteriser(), triangles(&corners), 1.0);
        }
    }
}

#[test]
fn indices_past_the_end() {
    for indices in [vec![0, 1, 3], vec![u32::MAX; 3], vec![0, 1], vec![7]] {
        let mesh = Mesh { indices, ..triangles(&red_triangle()) };
        draws_nothing(&rasteriser(), mesh, 1.0);
    }
}

#[test]
fn a_good_triangle_between_bad_ones_is_drawn() {
    let alone = triangles(&red_triangle());
    let among = Mesh { indices: vec![0, 1, 9, 0, 1, 2, 2, 9, 0, 1], ..alone.clone() };
    let drawn = |mesh| {
        let mut surface = white_surface(20, 20);
        rasteriser().draw(&mut surface, &[unclipped(mesh)], 1.0);
        surface
    };
    assert!(!painted(&drawn(alone.clone())).is_empty());
    assert_eq!(drawn(among), drawn(alone));
}

#[test]
fn textures_that_were_never_sent() {
    for texture_id in [IMAGE, TextureId::User(3)] {
        draws_nothing(&rasteriser(), Mesh { texture_id, ..triangles(&red_triangle()) }, 1.0);
    }
    draws_nothing(&Rasteriser::new(), triangles(&red_triangle()), 1.0);
}

#[test]
fn scales_that_make_no_sense() {
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        draws_nothing(&rasteriser(), triangles(&red_triangle()), scale);
    }
}

#[test]
fn clips_that_make_no_sense() {
    let inside_out = Rect::from_min_max(pos2(9.0, 9.0), pos2(3.0, 3.0));
    let elsewhere = Rect::from_min_max(pos2(-50.0, -50.0), pos2(-1.0, -1.0));
    for clip in [Rect::NAN, Rect::NOTHING, inside_out, elsewhere] {
        let mut surface = white_surface(20, 20);
        rasteriser().draw(&mut surface, &[clipped(clip, triangles(&red_triangle()))], 1.0);
        assert_eq!(painted(&surface), []);
    }
}

#[test]
fn shapes_without_area() {
    let on_a_line = [vertex(0.0, 0.0, RED), vertex(8.0, 8.0, RED), vertex(16.0, 16.0, Color32::BLUE)];
    draws_nothing(&rasteriser(), triangles(&on_a_line), 1.0);
    draws_nothing(&rasteriser(), triangles(&[vertex(4.5, 4.5, RED); 3]), 1.0);
    draws_nothing(&rasteriser(), triangles(&[vertex(4.5, 4.5, RED); 6]), 1.0);
}

#[test]
fn enormous_shapes_cover_everything() {
    for far in [1e6, 1e20, f32::MAX] {
        let mut rectangle = Mesh::default();
        rectangle.add_colored_rect(Rect::from_min_max(pos2(-far, -far), pos2(far, far)), RED);
        let corners = [vertex(-far, -far, RED), vertex(far, -far, RED), vertex(0.0, far, Color32::BLUE)];
        for mesh in [rectangle, triangles(&corners)] {
            let mut surface = white_surface(20, 20);
            rasteriser().draw(&mut surface, &[unclipped(mesh)], 1.0);
            assert_eq!(painted(&surface), all_in(0..20, 0..20), "as far as {far}");
        }
    }
}

#[test]
fn enormous_and_tiny_texture_coordinates() {
    let mut rasteriser = rasteriser();
    let extremes = [f32::MAX, f32::MIN, 1e30, -1e30, 1e-40, 0.0, 3.0];
    for options in
        [TextureOptions::LINEAR, TextureOptions::NEAREST_REPEAT, TextureOptions::LINEAR_MIRRORED_REPEAT]
    {
        send_texture(&mut rasteriser, IMAGE, ColorImage::filled([3, 5], RED), options);
        for from in extremes {
            for to in extremes {
                let mut mesh = Mesh::with_texture(IMAGE);
                let area = Rect::from_min_max(pos2(1.0, 1.0), pos2(9.5, 9.0));
                mesh.add_rect_with_uv(
                    area,
                    Rect::from_min_max(pos2(from, to), pos2(to, from)),
                    Color32::WHITE,
                );
                mesh.vertices[2].color = Color32::GRAY;
                rasteriser.draw(&mut white_surface(20, 20), &[unclipped(mesh)], 1.0);
            }
        }
    }
}

/// Pseudo-random numbers, including the extremes of `f32`, from a fixed seed.
#[test]
fn random_meshes_never_panic() {
    let special = [f32::NAN, f32::INFINITY, f32::MAX, f32::MIN, 0.0, -0.0, 1e-45, 0.5, 7.5, 20.0, 1e9, -1e9];
    let mut random = RandomSource::new(0);
    let mut next = move || random.number() as u32;
    let mut rasteriser = rasteriser();
    send_texture(&mut rasteriser, IMAGE, ColorImage::filled([3, 2], RED), TextureOptions::LINEAR_REPEAT);
    for _ in 0..3_000 {
        let mut number = || match next() {
            bits if bits % 3 == 0 => special[next() as usize % special.len()],
            bits if bits % 3 == 1 => f32::from_bits(next()),
            bits => (bits % 4000) as f32 / 100.0 - 10.0,
        };
        let mut point = || pos2(number(), number());
        let clip_rect = Rect::from_min_max(point(), point());
        let vertices: Vec<_> = (0..6).map(|_| Vertex { pos: point(), uv: point(), color: RED }).collect();
        let scale = if next() % 2 == 0 { 1.0 } else { f32::from_bits(next()) };
        let mesh = Mesh {
            indices: (0..12).map(|_| next() % 7).collect(),
            vertices,
            texture_id: if next() % 2 == 0 { WHITE_TEXTURE } else { IMAGE },
        };
        let mut surface = white_surface(20, 20);
        rasteriser.draw(&mut surface, &[clipped(clip_rect, mesh.clone()), unclipped(mesh)], scale);
    }
}

#[test]
fn sizes_out_of_range() {
    for (width, height) in [(0, 0), (0, 9), (9, 0)] {
        assert!(matches!(PixelSurface::new(width, height, RED), Err(RasterError::Empty { .. })));
    }
    for (width, height) in
        [(MAX_SIDE + 1, 1), (1, usize::MAX), (usize::MAX, usize::MAX), (MAX_SIDE, MAX_SIDE)]
    {
        assert!(matches!(PixelSurface::new(width, height, RED), Err(RasterError::TooLarge { .. })));
    }
    let message = PixelSurface::new(20_000, 10, RED).unwrap_err().to_string();
    assert_eq!(
        message,
        "an image of 20000 × 10 pixels is too large: at most 16384 pixels per side and 67108864 in total"
    );
    assert!(PixelSurface::new(MAX_SIDE, 1, RED).is_ok());
}
