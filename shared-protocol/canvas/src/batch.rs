//! Many plain shapes as one mesh with anti-aliased edges. The painter tessellates its own shapes one by one; a batch is
//! cheaper for thousands of lines and blocks, and reuses its buffer in the next frame.

use crate::draw::rounded_frame;
use egui::{
    Color32, Mesh, Pos2, Rect, Shape, Stroke, Vec2,
    epaint::{Vertex, WHITE_UV},
    pos2, vec2,
};
use std::sync::Arc;

/// The maximum length of a mitre relative to the line width; a longer one would be a spike.
const MAX_MITRE_RATIO: f32 = 2.0;

/// The number of corners of a disc, enough for a radius of a dozen pixels.
const DISC_STEPS: u32 = 20;

#[derive(Default)]
pub(crate) struct ShapeBatch {
    mesh: Arc<Mesh>,
    /// The width of the anti-aliased border: one pixel.
    feather: f32,
}

impl ShapeBatch {
    /// Clears the batch; reuses its memory if the painter has released it.
    pub(crate) fn begin_frame(&mut self, pixels_per_point: f32) {
        self.feather = 1.0 / pixels_per_point.max(0.1);
        match Arc::get_mut(&mut self.mesh) {
            Some(mesh) => mesh.clear(),
            None => self.mesh = Arc::default(),
        }
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::Mesh(Arc::clone(&self.mesh))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.mesh.indices.is_empty()
    }

    fn mesh(&mut self) -> &mut Mesh {
        // Not shared since the frame began, so nothing is copied.
        Arc::make_mut(&mut self.mesh)
    }

    /// A rectangle with hard edges.
    pub(crate) fn block(&mut self, rect: Rect, colour: Color32) {
        quad(self.mesh(), rect, colour);
    }

    /// A row of rectangles with hard edges, one at each of `lefts`.
    pub(crate) fn blocks(&mut self, lefts: &[f32], top: f32, size: Vec2, colour: Color32) {
        let mesh = self.mesh();
        mesh.reserve_vertices(lefts.len() * 4);
        mesh.reserve_triangles(lefts.len() * 2);
        for &left in lefts {
            quad(mesh, Rect::from_min_size(pos2(left, top), size), colour);
        }
    }

    /// Adds an anti-aliased line through the points.
    pub(crate) fn line(&mut self, points: &[Pos2], width: f32, colour: Color32) {
        let feather = self.feather;
        line(self.mesh(), points, false, width, feather, colour);
    }

    /// Adds a rounded rectangle on whole pixels, with its line inside.
    pub(crate) fn frame(&mut self, rect: Rect, radius: f32, fill: Color32, line: Stroke) {
        let feather = self.feather;
        let rect = rounded_frame::on_pixels(rect, feather);
        if rect.is_positive() {
            rounded_frame::append(self.mesh(), rect, radius, fill, line, feather);
        }
    }

    /// A small disc with a soft edge.
    pub(crate) fn disc(&mut self, centre: Pos2, radius: f32, colour: Color32) {
        let soft = self.feather / 2.0;
        let mesh = self.mesh();
        let first = mesh.vertices.len() as u32;
        for step in 0..DISC_STEPS {
            let (sine, cosine) = (step as f32 / DISC_STEPS as f32 * std::f32::consts::TAU).sin_cos();
            let out = vec2(cosine, sine);
            for (reach, color) in [(radius - soft, colour), (radius + soft, Color32::TRANSPARENT)] {
                mesh.vertices.push(Vertex { pos: centre + out * reach, uv: WHITE_UV, color });
            }
        }
        for step in 0..DISC_STEPS {
            let (a, b) = (first + 2 * step, first + 2 * ((step + 1) % DISC_STEPS));
            mesh.indices.extend_from_slice(&[a, a + 1, b + 1, a, b + 1, b]);
        }
        for step in 1..DISC_STEPS - 1 {
            mesh.indices.extend_from_slice(&[first, first + 2 * step, first + 2 * (step + 1)]);
        }
    }

    /// A triangle with soft edges.
    pub(crate) fn triangle(&mut self, corners: [Pos2; 3], colour: Color32) {
        let feather = self.feather;
        let centre = corners[0] + ((corners[1] - corners[0]) + (corners[2] - corners[0])) / 3.0;
        let mesh = self.mesh();
        let first = mesh.vertices.len() as u32;
        for corner in corners {
            let outwards = (corner - centre).normalized() * feather;
            mesh.vertices.push(Vertex { pos: corner - outwards / 2.0, uv: WHITE_UV, color: colour });
            mesh.vertices.push(Vertex { pos: corner + outwards, uv: WHITE_UV, color: Color32::TRANSPARENT });
        }
        mesh.indices.extend_from_slice(&[first, first + 2, first + 4]);
        for (a, b) in [(0, 2), (2, 4), (4, 0)] {
            let (a, b) = (first + a, first + b);
            mesh.indices.extend_from_slice(&[a, a + 1, b + 1, a, b + 1, b]);
        }
    }
}

/// Adds a line through the points, closed if requested, that fades over `feather` at its sides.
pub(crate) fn line(
    mesh: &mut Mesh,
    points: &[Pos2],
    closed: bool,
    width: f32,
    feather: f32,
    colour: Color32,
) {
    let count = points.len();
    if count < 2 {
        return;
    }
    // A line thinner than a pixel is drawn one pixel wide and more transparent.
    let colour = if width < feather { colour.gamma_multiply(width / feather) } else { colour };
    let (inner, outer) = (((width - feather) / 2.0).max(0.0), (width.max(feather) + feather) / 2.0);
    let first = mesh.vertices.len() as u32;
    for (place, &point) in points.iter().enumerate() {
        let (before, after) = if closed {
            (Some(points[(place + count - 1) % count]), Some(points[(place + 1) % count]))
        } else {
            (place.checked_sub(1).map(|before| points[before]), points.get(place + 1).copied())
        };
        let across = mitre(before, point, after);
        for (reach, colour) in
            [(outer, Color32::TRANSPARENT), (inner, colour), (-inner, colour), (-outer, Color32::TRANSPARENT)]
        {
            mesh.vertices.push(Vertex { pos: point + across * reach, uv: WHITE_UV, color: colour });
        }
    }
    let count = count as u32;
    for place in 0..(if closed { count } else { count - 1 }) {
        let (here, next) = (first + place * 4, first + (place + 1) % count * 4);
        for column in 0..3 {
            let (a, b) = (here + column, next + column);
            mesh.indices.extend_from_slice(&[a, a + 1, b, a + 1, b + 1, b]);
        }
    }
}

/// Returns the vector across a line at a point, scaled so that both segments keep their width.
fn mitre(before: Option<Pos2>, at: Pos2, after: Option<Pos2>) -> Vec2 {
    let normal = |from: Pos2, to: Pos2| {
        let along = (to - from).normalized();
        vec2(along.y, -along.x)
    };
    match (before, after) {
        (Some(before), Some(after)) => {
            let (a, b) = (normal(before, at), normal(at, after));
            let middle = a + b;
            let length = middle.length_sq();
            if length < 1e-6 { a } else { middle * (2.0 / length).min(MAX_MITRE_RATIO) }
        }
        (Some(before), None) => normal(before, at),
        (None, Some(after)) => normal(at, after),
        (None, None) => Vec2::ZERO,
    }
}

pub(crate) fn quad(mesh: &mut Mesh, rect: Rect, colour: Color32) {
    let corners = [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()];
    let first = mesh.vertices.len() as u32;
    mesh.vertices.extend(corners.map(|pos| Vertex { pos, uv: WHITE_UV, color: colour }));
    mesh.indices.extend_from_slice(&[first, first + 1, first + 2, first, first + 2, first + 3]);
}

/// Replaces the corners of a polyline by arcs.
pub(crate) fn rounded(points: &[Pos2], radius: f32, out: &mut Vec<Pos2>) {
    /// Sine and cosine of the points of a quarter circle, both ends included.
    const ARC: [(f32, f32); 6] = [
        (0.0, 1.0),
        (0.309_017, 0.951_056_5),
        (0.587_785_25, 0.809_017),
        (0.809_017, 0.587_785_25),
        (0.951_056_5, 0.309_017),
        (1.0, 0.0),
    ];
    out.clear();
    for (place, &point) in points.iter().enumerate() {
        let (Some(before), Some(&after)) = (place.checked_sub(1).map(|at| points[at]), points.get(place + 1))
        else {
            out.push(point);
            continue;
        };
        let room = (point.distance(before) / 2.0).min(point.distance(after) / 2.0);
        let radius = radius.min(room);
        if radius < 0.75 {
            out.push(point);
            continue;
        }
        let (start, end) =
            (point + (before - point).normalized() * radius, point + (after - point).normalized() * radius);
        // A quarter circle for a right angle; an ellipse for any other, which is as smooth.
        let centre = start + (end - point);
        for (sine, cosine) in ARC {
            let next = centre + (start - centre) * cosine + (end - centre) * sine;
            // Adjacent arcs share a point; a duplicate has no direction.
            if out.last().is_none_or(|last| last.distance_sq(next) > 0.01) {
                out.push(next);
            }
        }
    }
}
