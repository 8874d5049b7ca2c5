//! A rounded rectangle as a mesh with few corners. The painter's own has three times as many, and frames and tiles are
//! most of a board's vertices, whose memory traffic dominates the cost of a frame.

use egui::{
    Color32, Mesh, Painter, Rect, Shape, Stroke,
    epaint::{Vertex, WHITE_UV},
    pos2, vec2,
};

/// Returns the number of steps of a quarter circle that looks round, for a radius in pixels.
fn steps(radius: f32) -> u32 {
    match radius {
        radius if radius < 1.0 => 1,
        radius if radius < 3.0 => 2,
        radius if radius < 6.0 => 3,
        radius if radius < 16.0 => 5,
        _ => 8,
    }
}

/// Draws a rounded rectangle on whole pixels, with its line inside.
pub(super) fn draw(painter: &Painter, rect: Rect, radius: f32, fill: Color32, line: Stroke) {
    let feather = 1.0 / painter.pixels_per_point();
    let rect = on_pixels(rect, feather);
    if !rect.is_positive() || !rect.intersects(painter.clip_rect()) {
        return;
    }
    let mut mesh = Mesh::default();
    append(&mut mesh, rect, radius, fill, line, feather);
    painter.add(Shape::mesh(mesh));
}

/// Snaps a rectangle to pixels; `feather` is the size of a pixel.
pub(crate) fn on_pixels(rect: Rect, feather: f32) -> Rect {
    let whole = |at: egui::Pos2| pos2((at.x / feather).round() * feather, (at.y / feather).round() * feather);
    Rect::from_min_max(whole(rect.min), whole(rect.max))
}

/// Adds a rounded rectangle to a mesh.
pub(crate) fn append(mesh: &mut Mesh, rect: Rect, radius: f32, fill: Color32, line: Stroke, feather: f32) {
    let soft = feather / 2.0;
    let inside = (line.width.max(feather) + soft, fill);
    let rings: &[(f32, Color32)] = match line.width {
        width if width > feather => {
            &[(-soft, Color32::TRANSPARENT), (soft, line.color), (line.width - soft, line.color), inside]
        }
        width if width > 0.0 => &[(-soft, Color32::TRANSPARENT), (soft, line.color), inside],
        _ => &[(-soft, Color32::TRANSPARENT), (soft, fill)],
    };
    let radius = radius.min(rect.width() / 2.0).min(rect.height() / 2.0).max(0.0);
    let steps = steps(radius / feather);
    let round = 4 * (steps + 1);
    let first = mesh.vertices.len() as u32;
    mesh.reserve_vertices(rings.len() * round as usize);
    mesh.reserve_triangles(rings.len() * round as usize * 2);
    for (inset, colour) in rings {
        for corner in 0..4_u32 {
            let middle = match corner {
                0 => rect.right_bottom() + vec2(-radius, -radius),
                1 => rect.left_bottom() + vec2(radius, -radius),
                2 => rect.left_top() + vec2(radius, radius),
                _ => rect.right_top() + vec2(-radius, radius),
            };
            for step in 0..=steps {
                let quarter = corner as f32 + step as f32 / steps as f32;
                let (sine, cosine) = (quarter * std::f32::consts::FRAC_PI_2).sin_cos();
                // A corner without a radius extends along both sides.
                let away = middle - rect.center();
                let out =
                    if radius > 0.0 { vec2(cosine, sine) } else { vec2(away.x.signum(), away.y.signum()) };
                let pos = middle + out * (radius - inset);
                mesh.vertices.push(Vertex { pos, uv: WHITE_UV, color: *colour });
            }
        }
    }
    for ring in 0..rings.len() as u32 - 1 {
        for place in 0..round {
            let next = (place + 1) % round;
            let (a, b) = (first + ring * round + place, first + ring * round + next);
            mesh.indices.extend_from_slice(&[a, b, a + round, b, b + round, a + round]);
        }
    }
    let inner = first + (rings.len() as u32 - 1) * round;
    for place in 1..round - 1 {
        mesh.indices.extend_from_slice(&[inner, inner + place, inner + place + 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_covers_its_rectangle_with_few_corners() {
        let rect = Rect::from_min_max(pos2(10.0, 20.0), pos2(194.0, 84.0));
        for radius in [0.0, 2.5, 8.0, 400.0] {
            let mut mesh = Mesh::default();
            append(&mut mesh, rect, radius, Color32::WHITE, Stroke::new(1.0, Color32::BLACK), 1.0);
            let bounds = mesh.calc_bounds();
            assert!((bounds.min - rect.expand(0.5).min).length() < 0.01, "{radius}: {bounds:?}");
            assert!((bounds.max - rect.expand(0.5).max).length() < 0.01, "{radius}: {bounds:?}");
            assert!(mesh.is_valid() && mesh.vertices.len() <= 108, "{radius}: {}", mesh.vertices.len());
        }
    }
}
